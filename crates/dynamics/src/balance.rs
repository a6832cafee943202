//! The balance of forces of articulated bodies on a motion that is given: inverse dynamics less all
//! forces that the model knows.

use costate_model::State;
use costate_num::{DualN, Scalar};

use crate::constants::Constants;
use crate::error::DynamicsError;
use crate::rigid::{At, Dynamics};
use crate::step::StateTangents;
use crate::system::{System, Workspace};

/// Columns carried at once.
const LANES: usize = 4;
type D = DualN<f64, LANES>;

/// The balance of forces on every degree of freedom: M a + c − τ, with τ the forces of springs, dampers,
/// gravity compensation, actuators and dry friction (frictionloss against the velocity). Zero where the
/// model explains the motion; it is linear in masses, first moments, inertia tensors at a fixed centre of
/// mass, damping, dry friction, armature, gains and offsets of forces.
///
/// Joint limits, equality constraints and contacts are not in it.
pub struct Balance<'a> {
    system: &'a System,
    workspace: Workspace,
    dynamics: Dynamics<D>,
    tangents: StateTangents,
}

/// A motion at one time.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// Coordinates of the articulation.
    pub q: &'a [f64],
    /// Velocities.
    pub v: &'a [f64],
    /// Accelerations.
    pub a: &'a [f64],
    /// Inputs of the system.
    pub u: &'a [f64],
}

impl<'a> Balance<'a> {
    /// Of a system of articulated bodies alone.
    ///
    /// # Errors
    /// No articulation, soft bodies, equality constraints, or a control or actuators that remember:
    /// their forces do not follow from the motion at one time.
    pub fn new(system: &'a System) -> Result<Self, DynamicsError> {
        let refuse =
            |what: &str| Err(DynamicsError::Invalid(format!("the balance of forces {what}")));
        let Some(a) = system.articulated() else {
            return refuse("needs articulated bodies");
        };
        if system.soft_len() > 0 {
            return refuse("is of articulated bodies alone, without soft ones");
        }
        if !a.tree().equalities.is_empty() {
            return refuse("does not know the forces of equality constraints");
        }
        if system.activation_len() > 0 {
            return refuse(
                "needs forces that follow from the motion at one time: no held or delayed controls, no \
                 actuators with activations; give the measured control as an input",
            );
        }
        let dynamics = Dynamics::new(a.tree());
        let tangents = system.zero_tangents(0);
        Ok(Self { system, workspace: system.workspace(), dynamics, tangents })
    }

    /// Writes the balance into `out` (one number per degree of freedom) and its derivatives by columns of
    /// constants `c_dot` into `out_dot` (column after column).
    pub fn evaluate(
        &mut self,
        c: &Constants,
        c_dot: &[f64],
        motion: Motion,
        out: &mut [f64],
        out_dot: &mut [f64],
    ) {
        let system = self.system;
        let Some(a) = system.articulated() else { return };
        let (tree, nv) = (a.tree(), a.tree().nv);
        let layout = &a.mechanism().layout;
        let columns = c_dot.len() / system.layout().len;
        if self.tangents.columns != columns {
            self.tangents = system.zero_tangents(columns);
        }
        let state =
            State { time: 0.0, q: motion.q.to_vec(), v: motion.v.to_vec(), act: Vec::new() };
        let driven = system.driven(c, &state, motion.u, &self.tangents, c_dot, &mut self.workspace);
        let (ctrl, constants) = (driven.ctrl, driven.constants);
        let lift = |x: &[f64], dot: &[f64], first: usize| -> Vec<D> {
            let lanes = columns.saturating_sub(first).min(LANES);
            (0..x.len())
                .map(|i| {
                    let mut value = D::constant(x[i]);
                    for lane in 0..lanes {
                        value.tangent[lane] = dot[(first + lane) * x.len() + i];
                    }
                    value
                })
                .collect()
        };
        let still = |x: &[f64]| x.iter().map(|&x| D::constant(x)).collect::<Vec<D>>();
        let (q, v, acceleration) = (still(motion.q), still(motion.v), still(motion.a));
        let mut first = 0;
        loop {
            let c = lift(constants, driven.constants_dot, first);
            let ctrl = lift(ctrl, driven.ctrl_dot, first);
            let at = At { qpos: &q, qvel: &v, act: &[], ctrl: &ctrl, applied: &[] };
            let d = &mut self.dynamics;
            d.update_position(tree, layout, &c, &q);
            d.update_forces(tree, layout, &c, at, &acceleration);
            for i in 0..nv {
                let direction = motion.v[i].partial_cmp(&0.0).map_or(0.0, |o| f64::from(o as i8));
                let e = c[layout.dof_armature.at(i)] * acceleration[i] - d.qfrc_smooth[i]
                    + c[layout.dof_frictionloss.at(i)].scale(direction);
                out[i] = e.value;
                for lane in 0..columns.saturating_sub(first).min(LANES) {
                    out_dot[(first + lane) * nv + i] = e.tangent[lane];
                }
            }
            first += LANES;
            if first >= columns {
                return;
            }
        }
    }
}
