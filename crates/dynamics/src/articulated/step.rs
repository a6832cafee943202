//! The part of a system's step that belongs to articulated bodies, its tangent and its adjoint.

use costate_model::State;

use super::{DrivenBodies, RigidScratch};
use crate::constants::Constants;
use crate::coupling::applied;
use crate::error::DynamicsError;
use crate::rigid::integrate::{lift_tangent, lower_adjoint};
use crate::rigid::{At, ConstantTangents, DriveTangents, Evaluation, Mechanism, StepRecord};
use crate::step::{InputAdjoints, StateAdjoint, StateTangents, StepInputs};
use crate::system::{System, Workspace};

/// Parts of a system's state, without forces from outside.
fn at<'a>(system: &System, state: &'a State, ctrl: &'a [f64]) -> At<'a, f64> {
    let soft = system.soft_len();
    let act = &state.act[..system.actuator_activation_len()];
    At { qpos: &state.q[soft..], qvel: &state.v[soft..], act, ctrl, applied: &[] }
}

impl System {
    /// The coordinate of a degree of freedom of a slide or hinge, both counted among all.
    pub(crate) fn coordinate_of(&self, dof: usize) -> usize {
        let soft = self.soft_len();
        match &self.articulated {
            Some(a) if dof >= soft => {
                let tree = a.tree();
                let joint = &tree.joints[tree.dof_joint[dof - soft]];
                soft + joint.qpos + (dof - soft - joint.dof)
            }
            _ => dof,
        }
    }

    /// The tangent of positions by their coordinates, from the tangent space: that of an orientation
    /// is q ⊗ (0, ω/2).
    pub fn lift_positions(&self, q: &[f64], q_dot: &[f64]) -> Vec<f64> {
        let soft = self.soft_len();
        let mut out = q_dot[..soft].to_vec();
        if let Some(a) = &self.articulated {
            out.resize(q.len(), 0.0);
            lift_tangent(a.tree(), &q[soft..], &q_dot[soft..], &mut out[soft..]);
        }
        out
    }

    /// Adds the adjoint of positions in tangent space for one by their coordinates: the transpose
    /// of [`lift_positions`](Self::lift_positions).
    pub fn lower_positions(&self, q: &[f64], by_q: &[f64], q_bar: &mut [f64]) {
        let soft = self.soft_len();
        q_bar[..soft].iter_mut().zip(by_q).for_each(|(a, b)| *a += b);
        if let Some(a) = &self.articulated {
            lower_adjoint(a.tree(), &q[soft..], &by_q[soft..], &mut q_bar[soft..]);
        }
    }

    /// Controls and constants that articulated bodies read at a state, with tangents: what actuators and
    /// the control make of inputs.
    pub(crate) fn driven<'a>(
        &self,
        c: &'a Constants,
        state: &State,
        u: &[f64],
        tangents: &StateTangents,
        c_dot: &[f64],
        ws: &'a mut Workspace,
    ) -> DrivenBodies<'a> {
        let rigid = self.layout.rigid.clone();
        let mut constants = &c.values[rigid.clone()];
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else {
            return DrivenBodies { constants, ctrl: &[], constants_dot: &[], ctrl_dot: &[] };
        };
        let RigidScratch { ctrl, ctrl_dot, c_dot: rigid_dot, driven, .. } = &mut **scratch;
        a.read_controls(u, ctrl);
        ctrl_dot.clear();
        ctrl_dot.resize(tangents.columns * ctrl.len(), 0.0);
        rigid_dot.clear();
        for column in c_dot.chunks_exact(self.layout.len) {
            rigid_dot.extend_from_slice(&column[rigid.clone()]);
        }
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u, ctrl);
            let set = [&mut **ctrl_dot, &mut **rigid_dot];
            driven.pushforward(self, (a, control), c, state, u, tangents, [c_dot, &[]], set);
            constants = &driven.c;
        }
        DrivenBodies { constants, ctrl, constants_dot: rigid_dot, ctrl_dot }
    }

    /// One evaluation of the dynamics of articulated bodies with the acceleration that constraints leave,
    /// and the controls as they act, under the applied forces that `ws` holds.
    pub(crate) fn evaluate_rigid(
        &self,
        c: &Constants,
        state: &State,
        u: &[f64],
        ws: &mut Workspace,
    ) -> Result<(Option<Evaluation>, Vec<f64>), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else {
            return Ok((None, Vec::new()));
        };
        let applied = applied(&ws.coupling);
        let RigidScratch { workspace, ctrl, driven, .. } = &mut **scratch;
        a.read_controls(u, ctrl);
        let mut constants = &c.values[self.layout.rigid.clone()];
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u, ctrl);
            constants = &driven.c;
        }
        let Mechanism { tree, layout, .. } = &a.mechanism;
        let evaluation = &mut workspace.evaluation;
        let step = (state.time / self.timestep()).round() as usize;
        evaluation
            .update(tree, layout, constants, At { applied, ..at(self, state, ctrl) }, &[])
            .map_err(|error| a.error(&self.model, error, step, state.time))?;
        Ok((Some(evaluation.clone()), ctrl.clone()))
    }

    /// The part of the step that belongs to articulated bodies, under the applied forces that `ws` holds.
    pub(crate) fn step_rigid(
        &self,
        c: &Constants,
        state: &State,
        u: &[f64],
        step: usize,
        next: &mut State,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else { return Ok(()) };
        let applied = applied(&ws.coupling);
        let RigidScratch { workspace, next: moved, ctrl, driven, replay, .. } = &mut **scratch;
        let soft = self.soft_len();
        a.read_controls(u, ctrl);
        let mut constants = &c.values[self.layout.rigid.clone()];
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u, ctrl);
            constants = &driven.c;
        }
        let start = At { applied, ..at(self, state, ctrl) };
        let result = a.mechanism.step(constants, start, &[], moved, workspace);
        replay.record(a, workspace);
        next.q.truncate(soft);
        next.v.truncate(soft);
        next.q.extend_from_slice(&moved.qpos);
        next.v.extend_from_slice(&moved.qvel);
        next.act.clone_from(&moved.act);
        if let (Some(control), Some(driven)) = (&self.control, driven) {
            next.act.extend_from_slice(driven.remembered(control));
        }
        let time = (step + 1) as f64 * self.timestep();
        result.map_err(|error| a.error(&self.model, error, step + 1, time))
    }

    /// The part of the tangent of the step that belongs to articulated bodies, in place, under the applied
    /// forces and their tangents that `ws` holds.
    pub(crate) fn step_rigid_pushforward(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        tangents: &mut StateTangents,
        c_dot: &[f64],
        u_dot: StepInputs,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else { return Ok(()) };
        let applied = applied(&ws.coupling);
        let applied_dot = ws.coupling.as_ref().map_or(&[][..], |coupled| &coupled.applied_dot);
        let RigidScratch {
            workspace,
            push,
            next,
            ctrl,
            ctrl_dot,
            c_dot: rigid_dot,
            tangents: moved,
            driven,
            moved: moved_constants,
            ..
        } = &mut **scratch;
        let push = push.get_or_insert_with(|| a.mechanism.push_workspace());
        let (soft, n, columns) = (self.soft_len(), self.dof(), tangents.columns);
        a.read_controls(u.now, ctrl);
        ctrl_dot.clear();
        rigid_dot.clear();
        moved.columns = columns;
        for part in [&mut moved.q, &mut moved.v, &mut moved.act] {
            part.clear();
        }
        let (na, own) = (self.activation_len(), self.actuator_activation_len());
        for k in 0..columns {
            if !u_dot.now.is_empty() {
                let u_dot = &u_dot.now[k * self.input_len..];
                ctrl_dot.extend(a.inputs.iter().map(|i| i.map_or(0.0, |i| u_dot[i])));
            }
            if !c_dot.is_empty() && self.control.is_some() {
                let column = &c_dot[k * self.layout.len..(k + 1) * self.layout.len];
                rigid_dot.extend_from_slice(&column[self.layout.rigid.clone()]);
            }
            let column = k * n + soft..(k + 1) * n;
            moved.q.extend_from_slice(&tangents.q[column.clone()]);
            moved.v.extend_from_slice(&tangents.v[column]);
            moved.act.extend_from_slice(&tangents.act[k * na..k * na + own]);
        }
        let mut constants = &c.values[self.layout.rigid.clone()];
        let mut tangents_of_c = ConstantTangents {
            values: c_dot,
            offset: self.layout.rigid.start,
            stride: self.layout.len,
            len: constants.len(),
            moved: moved_constants.as_deref(),
        };
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            ctrl_dot.resize(columns * ctrl.len(), 0.0);
            rigid_dot.resize(columns * constants.len(), 0.0);
            driven.update(self, (a, control), c, state, u.now, ctrl);
            let given = [c_dot, u_dot.now];
            let set = [&mut **ctrl_dot, &mut **rigid_dot];
            driven.pushforward(self, (a, control), c, state, u.now, tangents, given, set);
            constants = &driven.c;
            // The control adds tangents of its own.
            tangents_of_c = ConstantTangents::dense(rigid_dot, constants.len());
        }
        let here = At { applied, ..at(self, state, ctrl) };
        let (m, given) = (a.differentiated(), tangents_of_c);
        let drive = DriveTangents { ctrl: ctrl_dot, applied: applied_dot };
        // The step's own evaluation is not that of relaxed contacts.
        let pushed = if std::mem::take(&mut ws.stepped) && std::ptr::eq(m, &a.mechanism) {
            m.push_evaluated(constants, here, moved, given, drive, workspace, push)
        } else {
            m.push_step(constants, here, &[], moved, given, drive, workspace, push)
        };
        pushed
            .and_then(|()| {
                if !self.model.options.saltation {
                    return Ok(());
                }
                let start = at(self, state, ctrl);
                a.mechanism.step(constants, start, &[], next, workspace)?;
                let end = next.with(ctrl);
                a.mechanism.push_jump(constants, end, moved, tangents_of_c, workspace, push)
            })
            .map_err(|error| a.error(&self.model, error, 0, state.time))?;
        let nv = n - soft;
        for k in 0..columns {
            let column = k * n + soft..(k + 1) * n;
            tangents.q[column.clone()].copy_from_slice(&moved.q[k * nv..(k + 1) * nv]);
            tangents.v[column].copy_from_slice(&moved.v[k * nv..(k + 1) * nv]);
            let act = &mut tangents.act[k * na..(k + 1) * na];
            act[..own].copy_from_slice(&moved.act[k * own..(k + 1) * own]);
            if let (Some(control), Some(driven)) = (&self.control, driven.as_ref()) {
                act[own..].copy_from_slice(driven.remembered_dot(control, k));
            }
        }
        Ok(())
    }

    /// The part of the adjoint of the step that belongs to articulated bodies, in place, under the applied
    /// forces that `ws` holds.
    pub(crate) fn step_rigid_pullback(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        adjoint: &mut StateAdjoint,
        inputs: &mut InputAdjoints,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else { return Ok(()) };
        let applied = applied(&ws.coupling);
        let RigidScratch { workspace, next, ctrl, bar, driven, replay, .. } = &mut **scratch;
        let (soft, own) = (self.soft_len(), self.actuator_activation_len());
        a.read_controls(u.now, ctrl);
        bar.q.copy_from_slice(&adjoint.q[soft..]);
        bar.v.copy_from_slice(&adjoint.v[soft..]);
        bar.act.copy_from_slice(&adjoint.act[..own]);
        bar.ctrl.fill(0.0);
        bar.applied.fill(0.0);
        let rigid = self.layout.rigid.clone();
        if !replay.summing {
            bar.c.copy_from_slice(&inputs.c[rigid.clone()]);
        }
        let mut constants = &c.values[rigid.clone()];
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u.now, ctrl);
            constants = &driven.c;
        }
        let state_at = At { applied, ..at(self, state, ctrl) };
        let result = match self.model.options.saltation {
            false => Ok(()),
            true => (a.mechanism.step(constants, state_at, &[], next, workspace)).and_then(|()| {
                a.mechanism.jump_pullback(constants, next.with(ctrl), bar, workspace)
            }),
        };
        let m = a.differentiated();
        let result = result.and_then(|()| {
            // Relaxed contacts have another solution than the step had.
            let own = std::ptr::eq(m, &a.mechanism);
            let record = if own { replay.next.get(m, 0) } else { StepRecord::default() };
            m.replay_pullback(constants, state_at, record, bar, workspace)
        });
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            let before = inputs.c[rigid.clone()].to_vec();
            let memory = &mut adjoint.act[own..];
            let pair = (a, control);
            driven.pullback(self, pair, c, state, u.now, &before, bar, memory, inputs);
        }
        if !replay.summing {
            inputs.c[rigid].copy_from_slice(&bar.c);
        }
        adjoint.q[soft..].copy_from_slice(&bar.q);
        adjoint.v[soft..].copy_from_slice(&bar.v);
        adjoint.act[..own].copy_from_slice(&bar.act);
        for (i, b) in a.inputs.iter().zip(&bar.ctrl) {
            if let Some(i) = i {
                inputs.now[*i] += b;
            }
        }
        result.map_err(|error| a.error(&self.model, error, 0, state.time))
    }
}
