//! Position and velocity of a slide or hinge.

use costate_model::rigid::JointKind;

use super::compile::{Compiler, invalid};
use super::local::{Local, Moment, Observable};
use crate::error::DynamicsError;

/// Position of a slide (m) or hinge (rad), by its degree of freedom.
pub(super) struct JointPosition(pub u32);

impl Observable for JointPosition {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        out.value[0] = at.joint_q(self.0);
        if at.derivatives {
            out.joint_q.push((self.0, [1.0, 0.0, 0.0]));
        }
    }
}

/// Velocity of a slide (m/s) or hinge (rad/s), by its degree of freedom.
pub(super) struct JointVelocity(pub u32);

impl Observable for JointVelocity {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        out.value[0] = at.joint_v(self.0);
        if at.derivatives {
            out.joint_v.push((self.0, [1.0, 0.0, 0.0]));
        }
    }
}

impl Compiler<'_> {
    /// The degree of freedom of a slide or hinge.
    pub(super) fn joint(&self, name: &str, slide: bool) -> Result<u32, DynamicsError> {
        let element = format!("joint.{name}");
        let articulation = self.model().articulation.as_ref();
        let found = articulation.and_then(|a| Some((a, a.joint(name)?)));
        let Some((a, j)) = found else {
            let known: Vec<&str> =
                articulation.iter().flat_map(|a| &a.joints).map(|j| &*j.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(invalid(&element, format!("there is no such joint; known: {known}")));
        };
        let kind = a.joints[j].kind;
        if !kind.is_scalar() || (kind == JointKind::Slide) != slide {
            let wanted = if slide { "slide" } else { "hinge" };
            let message = format!("it is a {} joint, not a {wanted}", kind.name());
            return Err(invalid(&element, message));
        }
        let dof = a.joints[..j].iter().map(|j| j.kind.nv()).sum::<usize>();
        Ok((self.system.soft_len() + dof) as u32)
    }
}
