//! The jump (saltation) term of a step in which contacts close, for derivatives.

use super::adjoint::Adjoint;
use super::constraint::{Onset, RowInputs, TouchBar};
use super::error::RigidError;
use super::evaluation::Start;
use super::forward::At;
use super::jacobian::ConstantTangents;
use super::push::{DriveTangents, LANES, PushWorkspace, RigidTangents};
use super::step::{Mechanism, RigidWorkspace};
use super::tree::Integrator;

impl Mechanism {
    /// Finds the contacts of a state, with their speeds, and leaves them in the rows of `ws`; no force is
    /// solved for.
    pub(crate) fn look(
        &self,
        c: &[f64],
        at: At<f64>,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        if tree.options.exact_diagonal {
            // The rows read the factors of M.
            return ws.evaluation.update_for(tree, layout, c, at, Start::default(), false);
        }
        let evaluation = &mut ws.evaluation;
        let dynamics = &mut evaluation.dynamics;
        dynamics.update_position(tree, layout, c, at.qpos);
        dynamics.update_forces(tree, layout, c, at, &[]);
        let inputs = RowInputs { tree, layout, c, dynamics, qpos: at.qpos, qvel: at.qvel };
        evaluation.stage.constraints.update(inputs);
        Ok(())
    }

    /// The contacts that closed in the step that ended at this state. The evaluation of the state is left in
    /// `ws`.
    ///
    /// # Errors
    /// As of [`step`](Self::step), and under the discrete integrator, which solves for no acceleration.
    pub fn onsets(
        &self,
        c: &[f64],
        at: At<f64>,
        ws: &mut RigidWorkspace,
    ) -> Result<Vec<Onset>, RigidError> {
        if self.tree.options.integrator == Integrator::Discrete {
            let what = "the jump term at impacts under the discrete integrator";
            return Err(RigidError::Unsupported { what });
        }
        ws.evaluation.update_for(&self.tree, &self.layout, c, at, Start::default(), false)?;
        Ok(ws.evaluation.onsets(&self.tree, &self.layout, c, at))
    }

    /// Adds the jump term to the tangents of the state at the end of a step, which `at` is.
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn jump_pushforward(
        &self,
        c: &[f64],
        at: At<f64>,
        tangents: &mut RigidTangents,
        c_dot: &[f64],
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
    ) -> Result<(), RigidError> {
        let c_dot = ConstantTangents::dense(c_dot, self.layout.len);
        self.push_jump(c, at, tangents, c_dot, ws, push)
    }

    /// [`jump_pushforward`](Self::jump_pushforward) for columns within longer ones.
    pub(crate) fn push_jump(
        &self,
        c: &[f64],
        at: At<f64>,
        tangents: &mut RigidTangents,
        c_dot: ConstantTangents,
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
    ) -> Result<(), RigidError> {
        let onsets = self.onsets(c, at, ws)?;
        if onsets.is_empty() {
            return Ok(());
        }
        let (tree, layout) = (&self.tree, &self.layout);
        let contacts = &ws.evaluation.stage.constraints.contacts;
        let points: Vec<_> = onsets.iter().map(|o| contacts[o.contact].point()).collect();
        let (nv, na) = (tree.nv, tree.na);
        for first in (0..tangents.columns).step_by(LANES) {
            let lanes = LANES.min(tangents.columns - first);
            let (of_v, of_act) =
                (first * nv..(first + lanes) * nv, first * na..(first + lanes) * na);
            push.lift_inputs(c, c_dot, at, DriveTangents::default(), first, lanes);
            let (q, v) = (&tangents.q[of_v.clone()], &tangents.v[of_v]);
            push.lift_state(tree, at, q, v, &tangents.act[of_act]);
            let depths = push.depths(tree, layout, &points);
            for (onset, depth) in onsets.iter().zip(depths) {
                for lane in 0..lanes {
                    let factor = depth[lane] / onset.approach;
                    let v = &mut tangents.v[(first + lane) * nv..(first + lane + 1) * nv];
                    v.iter_mut().zip(&onset.jump).for_each(|(v, jump)| *v += factor * jump);
                }
            }
        }
        Ok(())
    }

    /// The adjoint of [`jump_pushforward`](Self::jump_pushforward), for the adjoint of the state at the
    /// end of a step.
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn jump_pullback(
        &self,
        c: &[f64],
        at: At<f64>,
        bar: &mut Adjoint,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        let onsets = self.onsets(c, at, ws)?;
        if onsets.is_empty() {
            return Ok(());
        }
        let by_depth = |onset: &Onset| {
            let dot: f64 = onset.jump.iter().zip(&bar.v).map(|(jump, v)| jump * v).sum();
            TouchBar::of_depth(onset.contact, dot / onset.approach)
        };
        let bars: Vec<TouchBar> = onsets.iter().map(by_depth).collect();
        let (tree, layout) = (&self.tree, &self.layout);
        let evaluation = &mut ws.evaluation;
        let dynamics = &evaluation.dynamics;
        let inputs = RowInputs { tree, layout, c, dynamics, qpos: at.qpos, qvel: at.qvel };
        evaluation.stage.pull_touches(inputs, &bars, bar);
        Ok(())
    }
}
