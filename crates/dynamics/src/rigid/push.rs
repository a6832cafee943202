//! Tangents of steps: forward duals of inverse dynamics at the accelerations found, and solves with the
//! matrices that found them. No solve is differentiated through.

use costate_num::spatial::Motion;
use costate_num::{Scalar, Vec3};

use super::armature::multiply_armature;
use super::constraint::{RowInputs, at_zero_loss};
use super::error::RigidError;
use super::evaluation::Evaluation;
use super::fluid::is_implicit;
use super::forward::{At, Dynamics};
use super::integrate::push_displace;
use super::inverse::{accelerations, body_forces, gather};
use super::jacobian::ConstantTangents;
use super::push_workspace::constants;
pub(crate) use super::push_workspace::{D, LANES};
pub use super::push_workspace::{DriveTangents, PushWorkspace, RigidTangents};
use super::sensors::{Measured, measure, measure_limits};
use super::step::{Mechanism, RigidWorkspace};
use super::tree::Integrator;
use super::turning::turns;

impl Evaluation {
    /// Leaves in `step_acceleration`: with rows the tangent of the acceleration (`plain`), or what
    /// [`push_rows`](Self::push_rows) says; without, that of τ − M a − c at the held step's acceleration,
    /// or (`plain`) at the held acceleration.
    fn push_residual(
        &mut self,
        mechanism: &Mechanism,
        ws: &mut PushWorkspace,
        lanes: usize,
        plain: bool,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        let n = tree.nv;
        let rows = self.stage.has_rows();
        let PushWorkspace {
            dynamics, c, scratch, residual, qpos, qvel, act, ctrl, applied, ..
        } = ws;
        let [a, x, y] = scratch;
        self.friction_acceleration(tree, &mut ws.column);
        constants(&ws.column, y);
        constants(if rows || plain { &self.qacc } else { &self.step_acceleration }, a);
        constants(&self.step_acceleration, x);
        let at = At { qpos, qvel, act, ctrl, applied };
        dynamics.update_position(tree, layout, c, qpos);
        dynamics.update_forces(tree, layout, c, at, a);
        for i in 0..n {
            residual[i] = dynamics.qfrc_smooth[i] - c[layout.dof_armature.at(i)] * a[i];
        }
        let inputs = RowInputs { tree, layout, c, dynamics, qpos, qvel };
        at_zero_loss(inputs, y, |loss, dofs, jacobian, push| {
            for k in 0..dofs.len() {
                residual[dofs[k]] += (c[loss] * jacobian[k]).scale(push);
            }
        });
        if rows && tree.options.integrator != Integrator::Discrete {
            return self.push_rows(mechanism, ws, lanes, plain);
        }
        for i in 0..n {
            for lane in 0..lanes {
                ws.step_acceleration[lane * n + i] = ws.residual[i].tangent[lane];
            }
        }
        Ok(())
    }

    /// Tangents of the acceleration by which the velocity advances, at the state of the last update, whose
    /// lifted state and constants `ws` holds.
    pub(crate) fn push(
        &mut self,
        mechanism: &Mechanism,
        ws: &mut PushWorkspace,
        lanes: usize,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        let n = tree.nv;
        let rows = self.stage.has_rows();
        self.push_residual(mechanism, ws, lanes, false)?;
        let PushWorkspace { dynamics, metric, c, scratch, residual, .. } = ws;
        let PushWorkspace { qpos, qvel, act, ctrl, applied, .. } = ws;
        let [_, x, y] = scratch;
        if !self.may_be_implicit(tree) && rows {
            return Ok(());
        }
        // −(hD x + hK(v + h x)) and the implicit inertial forces.
        let h = tree.options.timestep;
        let at = At { qpos, qvel, act, ctrl, applied };
        metric.update(tree, layout, c, at, &dynamics.tendons, &dynamics.actuation);
        residual.fill(D::constant(0.0));
        for i in 0..n {
            y[i] = qvel[i] + x[i].scale(h);
        }
        metric.subtract(tree, &dynamics.tendons, &dynamics.actuation, x, y, residual);
        if is_implicit(tree) {
            let (k, turns) = (&dynamics.kinematics, |b: usize| turns(&self.turning, tree, b));
            ws.slopes.update(tree, layout, c, k, &dynamics.velocity, turns);
            ws.slopes.subtract(tree, &k.subspace, x, None, residual);
        }
        for part in self.turning_dofs() {
            for sign in [1.0, -1.0] {
                y.fill(D::constant(0.0));
                for i in part.clone() {
                    y[i] = qvel[i] + x[i].scale(sign);
                }
                let subspace = &dynamics.kinematics.subspace;
                let (velocity, acceleration) = (&mut ws.velocity, &mut ws.acceleration);
                accelerations(tree, subspace, y, &[], Motion::zero(), velocity, acceleration);
                body_forces(&dynamics.inertias, velocity, acceleration, &mut ws.force);
                y.fill(D::constant(0.0));
                gather(tree, subspace, &mut ws.force, y);
                for i in part.clone() {
                    residual[i] += y[i].scale(-0.5 * sign * h);
                }
            }
        }
        for lane in 0..lanes {
            let out = &mut ws.step_acceleration[lane * n..(lane + 1) * n];
            for i in 0..n {
                out[i] += residual[i].tangent[lane];
            }
        }
        if rows && tree.options.integrator == Integrator::Discrete {
            return self.push_discrete_rows(mechanism, ws, lanes);
        }
        for lane in 0..lanes {
            let out = &mut ws.step_acceleration[lane * n..(lane + 1) * n];
            self.solve_step(tree, out, &mut ws.column);
        }
        Ok(())
    }

    /// Turns the tangents of τ − hKv − c − A x at held x, in `step_acceleration`, into those of x, which
    /// constraints are solved for with A.
    fn push_discrete_rows(
        &mut self,
        mechanism: &Mechanism,
        ws: &mut PushWorkspace,
        lanes: usize,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        let n = tree.nv;
        let PushWorkspace { dynamics, metric, c, constraints, .. } = ws;
        let PushWorkspace { qpos, qvel, act, ctrl, applied, .. } = ws;
        dynamics.update_forces(tree, layout, c, At { qpos, qvel, act, ctrl, applied }, &[]);
        dynamics.update_mass(tree, layout, c);
        let Dynamics { kinematics, mass, factors, tendons, actuation, .. } = dynamics;
        factors.entries.copy_from_slice(&mass.entries);
        metric.add_to(tree, tendons, actuation, factors);
        ws.slopes.add_to(tree, &kinematics.subspace, factors);
        let diagonal =
            |entries: &[D]| -> Vec<D> { tree.rows.iter().map(|row| entries[row.start]).collect() };
        let (inertia, whole) = (diagonal(&mass.entries), diagonal(&factors.entries));
        constraints.update(RowInputs { tree, layout, c, dynamics, qpos, qvel });
        constraints.discretise(tree.options.timestep, &inertia, &whole);
        let (rows, same) = (&constraints.rows, &self.stage.constraints.rows);
        if rows.len() != same.len() || rows.entry_count() != same.entry_count() {
            return Err(RigidError::Unsupported { what: "tangents of rows that come and go" });
        }
        ws.force_dot.copy_from_slice(&ws.step_acceleration);
        ws.force_dot[lanes * n..].fill(0.0);
        if !self.push_stage(tree, rows, &ws.force_dot, &mut ws.step_acceleration) {
            return Err(RigidError::NotConverged { residual: f64::NAN, iterations: 0 });
        }
        for lane in 0..lanes {
            self.solve_turning(
                &ws.force_dot[lane * n..(lane + 1) * n],
                &mut ws.step_acceleration[lane * n..(lane + 1) * n],
            );
        }
        Ok(())
    }

    /// Tangents of what the sensors measure, at the state of the last update, whose lifted state and
    /// constants `ws` holds.
    pub(crate) fn push_measured(
        &mut self,
        mechanism: &Mechanism,
        ws: &mut PushWorkspace,
        lanes: usize,
        measured: &mut Measured<D>,
        values: &mut [D],
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        let n = tree.nv;
        if tree.options.integrator == Integrator::Discrete {
            // Its acceleration is the step's.
            self.push(mechanism, ws, lanes)?;
        } else {
            self.push_residual(mechanism, ws, lanes, true)?;
            if !self.stage.has_rows() {
                for lane in 0..lanes {
                    let out = &mut ws.step_acceleration[lane * n..(lane + 1) * n];
                    self.dynamics.factors.solve(tree, out);
                }
            }
        }
        let PushWorkspace { dynamics, c, scratch, constraints, .. } = ws;
        let PushWorkspace { qpos, qvel, act, ctrl, applied, .. } = ws;
        let a = &mut scratch[0];
        for i in 0..n {
            a[i] = D::constant(self.qacc[i]);
            for lane in 0..lanes {
                a[i].tangent[lane] = ws.step_acceleration[lane * n + i];
            }
        }
        let at = At { qpos, qvel, act, ctrl, applied };
        measured.update(tree, layout, c, dynamics, qvel, a);
        values.fill(D::constant(0.0));
        measure(tree, layout, c, dynamics, measured, at, 0.0, values);
        if self.stage.has_rows() {
            measure_limits(tree, constraints, &self.stage, a, values);
        }
        Ok(())
    }

    /// With rows: leaves the tangent of M a − M x (x held) in `step_acceleration` where the integrator is
    /// implicit (and not `plain`), and that of a otherwise.
    fn push_rows(
        &mut self,
        mechanism: &Mechanism,
        ws: &mut PushWorkspace,
        lanes: usize,
        plain: bool,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        let n = tree.nv;
        let PushWorkspace { dynamics, c, constraints, .. } = ws;
        let PushWorkspace { qpos, qvel, act, ctrl, applied, .. } = ws;
        // The rows read accelerations at zero joint acceleration.
        let at = At { qpos, qvel, act, ctrl, applied };
        if tree.options.exact_diagonal {
            dynamics.evaluate(tree, layout, c, at);
        } else {
            dynamics.update_forces(tree, layout, c, at, &[]);
        }
        constraints.update(RowInputs { tree, layout, c, dynamics, qpos, qvel });
        let (rows, same) = (&constraints.rows, &self.stage.constraints.rows);
        if rows.len() != same.len() || rows.entry_count() != same.entry_count() {
            return Err(RigidError::Unsupported { what: "tangents of rows that come and go" });
        }
        for i in 0..n {
            for lane in 0..LANES {
                ws.force_dot[lane * n + i] = ws.residual[i].tangent[lane];
            }
        }
        if !self.push_stage(tree, rows, &ws.force_dot, &mut ws.step_acceleration) {
            return Err(RigidError::NotConverged { residual: f64::NAN, iterations: 0 });
        }
        let implicit = self.may_be_implicit(tree) && !plain;
        for lane in 0..lanes {
            let out = &mut ws.step_acceleration[lane * n..(lane + 1) * n];
            if implicit {
                self.dynamics.mass.multiply(tree, out, &mut ws.column);
                out.copy_from_slice(&ws.column);
            }
        }
        if implicit {
            // M (a − x) at held a and x.
            let [_, x, y] = &mut ws.scratch;
            for i in 0..n {
                y[i] = D::constant(self.qacc[i] - self.step_acceleration[i]);
            }
            x.fill(D::constant(0.0));
            let subspace = &ws.dynamics.kinematics.subspace;
            let (velocity, acceleration) = (&mut ws.velocity, &mut ws.acceleration);
            accelerations(tree, subspace, x, y, Motion::zero(), velocity, acceleration);
            body_forces(&ws.dynamics.inertias, velocity, acceleration, &mut ws.force);
            ws.residual.fill(D::constant(0.0));
            gather(tree, subspace, &mut ws.force, &mut ws.residual);
            let (tendons, residual) = (&ws.dynamics.tendons, &mut ws.residual);
            multiply_armature(tree, layout, &ws.c, tendons, y, residual);
            for i in 0..n {
                let total = ws.residual[i] + ws.c[layout.dof_armature.at(i)] * y[i];
                for lane in 0..lanes {
                    ws.step_acceleration[lane * n + i] += total.tangent[lane];
                }
            }
            constants(&self.step_acceleration, x);
        }
        Ok(())
    }
}

impl Mechanism {
    /// Memory for tangents.
    pub fn push_workspace(&self) -> PushWorkspace {
        PushWorkspace::new(&self.tree, self.layout.len)
    }

    /// Tangent of [`step`](Self::step): that of the state, in place; those of constants and of what drives may
    /// be empty for zero.
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn step_pushforward(
        &self,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
        tangents: &mut RigidTangents,
        c_dot: &[f64],
        drive: DriveTangents,
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
    ) -> Result<(), RigidError> {
        let c_dot = ConstantTangents::dense(c_dot, self.layout.len);
        self.push_step(c, at, warm, tangents, c_dot, drive, ws, push)
    }

    pub(crate) fn push_step(
        &self,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
        tangents: &mut RigidTangents,
        c_dot: ConstantTangents,
        drive: DriveTangents,
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
    ) -> Result<(), RigidError> {
        ws.evaluation.update_for(&self.tree, &self.layout, c, at, warm.into(), false)?;
        self.stages(c, at, ws)?;
        self.push_evaluated(c, at, tangents, c_dot, drive, ws, push)
    }

    /// As [`push_step`](Self::push_step) where `ws` holds the evaluation of the step.
    pub(crate) fn push_evaluated(
        &self,
        c: &[f64],
        at: At<f64>,
        tangents: &mut RigidTangents,
        c_dot: ConstantTangents,
        drive: DriveTangents,
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
    ) -> Result<(), RigidError> {
        let tree = &self.tree;
        if ws.later.is_none() && self.prefers_rows(tangents.columns) {
            let rows = &mut push.rows;
            return self.push_by_rows(c, at, tangents, c_dot, drive, ws, rows);
        }
        let (nv, na, h) = (tree.nv, tree.na, tree.options.timestep);
        for first in (0..tangents.columns).step_by(LANES) {
            let lanes = LANES.min(tangents.columns - first);
            push.lift_inputs(c, c_dot, at, drive, first, lanes);
            let (of_v, of_act) =
                (first * nv..(first + lanes) * nv, first * na..(first + lanes) * na);
            if ws.later.is_some() {
                let q = &mut tangents.q[of_v.clone()];
                let (v, act) = (&mut tangents.v[of_v], &mut tangents.act[of_act]);
                self.runge_kutta_pushforward(at, (q, v, act), lanes, ws, push)?;
                continue;
            }
            let (q, v) = (&tangents.q[of_v.clone()], &tangents.v[of_v]);
            push.lift_state(tree, at, q, v, &tangents.act[of_act]);
            ws.evaluation.push(self, push, lanes)?;
            for i in 0..nv {
                ws.displacement[i] = h * (at.qvel[i] + h * ws.evaluation.step_acceleration[i]);
            }
            for lane in 0..lanes {
                let of = (first + lane) * nv..(first + lane + 1) * nv;
                let v = &mut tangents.v[of.clone()];
                for i in 0..nv {
                    v[i] += h * push.step_acceleration[lane * nv + i];
                    ws.bar[i] = h * v[i];
                }
                push_displace(tree, &ws.displacement, &ws.bar, &mut tangents.q[of]);
                for a in 0..na {
                    tangents.act[(first + lane) * na + a] = push.activations(true)[a].tangent[lane];
                }
            }
        }
        Ok(())
    }
}

/// A vector of an array.
pub(crate) fn triple<S: Scalar>(v: &[S], at: usize) -> Vec3<S> {
    Vec3::new(v[at], v[at + 1], v[at + 2])
}
