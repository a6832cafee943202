//! Joints.

use super::Articulation;
use super::leaves::{Maker, SOLIMP, SOLREF};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// How a body moves against its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointKind {
    /// Freely: position and quaternion in the world.
    Free,
    /// By rotations about a point: a quaternion.
    Ball,
    /// Along an axis, m.
    Slide,
    /// About an axis, rad.
    #[default]
    Hinge,
}

impl JointKind {
    /// Numbers in qpos.
    pub const fn nq(self) -> usize {
        match self {
            Self::Free => 7,
            Self::Ball => 4,
            Self::Slide | Self::Hinge => 1,
        }
    }
    /// Numbers in qvel.
    pub const fn nv(self) -> usize {
        match self {
            Self::Free => 6,
            Self::Ball => 3,
            Self::Slide | Self::Hinge => 1,
        }
    }
    /// MJCF's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Ball => "ball",
            Self::Slide => "slide",
            Self::Hinge => "hinge",
        }
    }
    /// Whether it has one degree of freedom, and so an axis.
    pub const fn is_scalar(self) -> bool {
        matches!(self, Self::Slide | Self::Hinge)
    }
}

/// A joint between a body and its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name; leaves are `joint.NAME.…`.
    pub name: String,
    /// Index of the body that moves.
    pub body: usize,
    /// Kind.
    pub kind: JointKind,
    /// Anchor in the body's frame, `pos`, m; none for a free joint.
    pub pos: Option<LeafId>,
    /// Axis in the body's frame, `axis`, normalised before use; slides and hinges.
    pub axis: Option<LeafId>,
    /// Value in the pose that the file describes, `ref`; slides and hinges.
    pub reference: Option<LeafId>,
    /// Value at which the spring is relaxed, `springref`; slides and hinges.
    pub springref: Option<LeafId>,
    /// Stiffness, `stiffness`: one number, or three with the terms of second and third order.
    pub stiffness: LeafId,
    /// Damping, `damping`: one number, or three with the terms of second and third order.
    pub damping: LeafId,
    /// Time constant and damping ratio, `springdamper`, that give stiffness and damping instead where
    /// both are positive.
    pub springdamper: Option<LeafId>,
    /// Inertia of the motor, `armature`.
    pub armature: LeafId,
    /// Dry friction, `frictionloss`.
    pub frictionloss: LeafId,
    /// Whether `range` limits it.
    pub limited: bool,
    /// Limits, `range`; for a ball joint the second is the largest angle.
    pub range: LeafId,
    /// Distance to the limit at which its constraint starts, `margin`.
    pub margin: LeafId,
    /// Constraint of the limit, `solreflimit`.
    pub solref_limit: LeafId,
    /// Impedance of the limit, `solimplimit`.
    pub solimp_limit: LeafId,
    /// Constraint of dry friction, `solreffriction`.
    pub solref_friction: LeafId,
    /// Impedance of dry friction, `solimpfriction`.
    pub solimp_friction: LeafId,
    /// Limits of the sum of actuator forces, `actuatorfrcrange`, where there are any.
    pub actuator_force_range: Option<LeafId>,
    /// Whether gravity compensation counts as an actuator's force.
    pub actuator_gravcomp: bool,
}

/// A [`Joint`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSettings {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: JointKind,
    /// Anchor in the body's frame, m.
    pub pos: [f64; 3],
    /// Axis in the body's frame.
    pub axis: [f64; 3],
    /// Value in the pose that the file describes, m or rad.
    pub reference: f64,
    /// Value at which the spring is relaxed, m or rad.
    pub springref: f64,
    /// Stiffness with its terms of second and third order.
    pub stiffness: [f64; 3],
    /// Damping with its terms of second and third order.
    pub damping: [f64; 3],
    /// Time constant, s, and damping ratio; in force where both are positive.
    pub springdamper: [f64; 2],
    /// Inertia of the motor, kg m² or kg.
    pub armature: f64,
    /// Dry friction, N m or N.
    pub frictionloss: f64,
    /// Whether `range` limits it.
    pub limited: bool,
    /// Limits, rad or m.
    pub range: [f64; 2],
    /// Distance to the limit at which its constraint starts, rad or m.
    pub margin: f64,
    /// Constraint of the limit.
    pub solref_limit: [f64; 2],
    /// Impedance of the limit.
    pub solimp_limit: [f64; 5],
    /// Constraint of dry friction.
    pub solref_friction: [f64; 2],
    /// Impedance of dry friction.
    pub solimp_friction: [f64; 5],
    /// Limits of the sum of actuator forces, N m or N.
    pub actuator_force_range: Option<[f64; 2]>,
    /// Whether gravity compensation counts as an actuator's force.
    pub actuator_gravcomp: bool,
}

/// MuJoCo's default solref.
pub(super) const SOLREF_DEFAULT: [f64; 2] = [0.02, 1.0];
/// MuJoCo's default solimp.
pub(super) const SOLIMP_DEFAULT: [f64; 5] = [0.9, 0.95, 0.001, 0.5, 2.0];

impl Default for JointSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: JointKind::Hinge,
            pos: [0.0; 3],
            axis: [0.0, 0.0, 1.0],
            reference: 0.0,
            springref: 0.0,
            stiffness: [0.0; 3],
            damping: [0.0; 3],
            springdamper: [0.0; 2],
            armature: 0.0,
            frictionloss: 0.0,
            limited: false,
            range: [0.0; 2],
            margin: 0.0,
            solref_limit: SOLREF_DEFAULT,
            solimp_limit: SOLIMP_DEFAULT,
            solref_friction: SOLREF_DEFAULT,
            solimp_friction: SOLIMP_DEFAULT,
            actuator_force_range: None,
            actuator_gravcomp: false,
        }
    }
}

impl Articulation {
    /// Adds a joint to body `body` and returns its index.
    ///
    /// # Errors
    /// A joint on the world, a free joint on a body that is not a child of the world or has other
    /// joints, a zero axis, a name that is taken, a negative armature or friction.
    pub fn add_joint(
        &mut self,
        leaves: &mut Leaves,
        body: usize,
        s: &JointSettings,
    ) -> Result<usize, ModelError> {
        let wrong = |why: &str| Err(ModelError::invalid(format!("joint.{}", s.name), why));
        if body == 0 {
            return wrong("the world cannot have joints");
        }
        let alone = !self.joints.iter().any(|j| j.body == body);
        let after_free = self.joints.iter().any(|j| j.body == body && j.kind == JointKind::Free);
        if (s.kind == JointKind::Free && !alone) || after_free {
            return wrong("a free joint must be the only joint of its body");
        }
        if s.kind == JointKind::Free && self.bodies[body].parent != 0 {
            return wrong("a free joint must be on a child of the world");
        }
        if s.kind.is_scalar() && s.axis.iter().map(|x| x * x).sum::<f64>() < 1e-30 {
            return wrong("the axis is zero");
        }
        let (linear, k, d, m, f) = match s.kind {
            JointKind::Slide => ("m", "N/m", "N s/m", "kg", "N"),
            JointKind::Hinge | JointKind::Ball => ("rad", "N m/rad", "N m s/rad", "kg m^2", "N m"),
            JointKind::Free => ("", "", "", "", ""),
        };
        let scalar = s.kind.is_scalar();
        let mut make = Maker::new(leaves, "joint", &s.name);
        let pos = if s.kind == JointKind::Free {
            None
        } else {
            Some(make.pos(s.pos, "anchor in the body's frame")?)
        };
        let axis = if scalar {
            Some(make.vector(
                "axis",
                &s.axis,
                "",
                "axis in the body's frame, normalised before use",
            )?)
        } else {
            None
        };
        let (reference, springref) = if scalar {
            let about = "value in the pose that the file describes";
            let reference = make.scalar("ref", s.reference, linear, Bounds::ANY, about)?;
            let about = "value at which the spring is relaxed";
            let springref = make.scalar("springref", s.springref, linear, Bounds::ANY, about)?;
            (Some(reference), Some(springref))
        } else {
            (None, None)
        };
        let stiffness =
            make.polynomial("stiffness", s.stiffness, k, Bounds::NON_NEGATIVE, "stiffness")?;
        let damping = make.polynomial("damping", s.damping, d, Bounds::NON_NEGATIVE, "damping")?;
        let springdamper = if s.springdamper[0] > 0.0 && s.springdamper[1] > 0.0 {
            let about = "time constant (s) and damping ratio that give stiffness and damping";
            let bounds = Bounds::POSITIVE;
            Some(make.bounded("springdamper", &s.springdamper, "", bounds, about)?)
        } else {
            None
        };
        let about = "inertia of the motor, added to the diagonal of the mass matrix";
        let armature = make.scalar("armature", s.armature, m, Bounds::NON_NEGATIVE, about)?;
        let about = "dry friction";
        let frictionloss =
            make.scalar("frictionloss", s.frictionloss, f, Bounds::NON_NEGATIVE, about)?;
        let range = make.vector("range", &s.range, linear, "lower and upper limit")?;
        let about = "distance to the limit at which its constraint starts";
        let margin = make.scalar("margin", s.margin, linear, Bounds::ANY, about)?;
        let solref_limit = make.vector("solreflimit", &s.solref_limit, "", SOLREF)?;
        let solimp_limit = make.vector("solimplimit", &s.solimp_limit, "", SOLIMP)?;
        let solref_friction = make.vector("solreffriction", &s.solref_friction, "", SOLREF)?;
        let solimp_friction = make.vector("solimpfriction", &s.solimp_friction, "", SOLIMP)?;
        let actuator_force_range = match s.actuator_force_range {
            Some(range) => {
                let about = "limits of the sum of actuator forces";
                Some(make.vector("actuatorfrcrange", &range, f, about)?)
            }
            None => None,
        };
        self.joints.push(Joint {
            name: s.name.clone(),
            body,
            kind: s.kind,
            pos,
            axis,
            reference,
            springref,
            stiffness,
            damping,
            springdamper,
            armature,
            frictionloss,
            limited: s.limited,
            range,
            margin,
            solref_limit,
            solimp_limit,
            solref_friction,
            solimp_friction,
            actuator_force_range,
            actuator_gravcomp: s.actuator_gravcomp,
        });
        Ok(self.joints.len() - 1)
    }
}
