//! What sensors measure at a state of the mechanism, with tangents and adjoints.

use super::adjoint::{Adjoint, Place};
use super::constraint::RowInputs;
use super::contact_sensor::ContactView;
use super::error::RigidError;
use super::forward::At;
use super::jacobian::ConstantTangents;
use super::pull_evaluation::EvaluationAdjoint;
use super::pull_sensors::{SensorScratch, pull};
use super::push::{D, DriveTangents, LANES, PushWorkspace, RigidTangents};
use super::sensors::{Measured, check, measure, measure_limits};
use super::step::{Mechanism, RigidWorkspace};
use super::touch::visit_rows;
use super::tree::SensorKind;

/// Memory of sensors.
#[derive(Clone, Debug)]
pub struct SensorWorkspace {
    scratch: SensorScratch,
    pushed: Measured<D>,
    values: Vec<D>,
    zeros: Vec<f64>,
}

impl Mechanism {
    /// Memory for sensors.
    pub fn sensor_workspace(&self) -> SensorWorkspace {
        let tree = &self.tree;
        SensorWorkspace {
            scratch: SensorScratch::new(tree),
            pushed: Measured::new(tree),
            values: vec![D::constant(0.0); self.sensor_values()],
            zeros: vec![0.0; tree.nv],
        }
    }

    /// How many numbers all sensors give.
    pub fn sensor_values(&self) -> usize {
        self.tree.sensors.iter().map(|s| s.data.end).max().unwrap_or(0)
    }

    /// What the sensors measure at a state and time, into `out`.
    ///
    /// # Errors
    /// As of [`step`](Self::step); [`RigidError::Unsupported`] for force sensors beside constraints between
    /// bodies.
    pub fn sense(
        &self,
        c: &[f64],
        at: At<f64>,
        time: f64,
        warm: &[f64],
        out: &mut Vec<f64>,
        ws: &mut RigidWorkspace,
        sensors: &mut SensorWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        ws.evaluation.update(tree, layout, c, at, warm)?;
        let evaluation = &ws.evaluation;
        check(tree, &evaluation.stage)?;
        out.clear();
        out.resize(self.sensor_values(), 0.0);
        let measured = &mut sensors.scratch.measured;
        let d = &evaluation.dynamics;
        measured.update(tree, layout, c, d, at.qvel, &evaluation.qacc);
        measure(tree, layout, c, d, measured, at, time, out);
        let stage = &evaluation.stage;
        measure_limits(tree, &stage.constraints, stage, &evaluation.qacc, out);
        for sensor in &tree.sensors {
            let (value, forces) = (&mut out[sensor.data.start], &stage.solver.force);
            visit_rows(tree, layout, c, d, stage, sensor.kind, |row| *value += forces[row]);
            if let SensorKind::Contact(of) = sensor.kind {
                let view = ContactView { tree, layout, c, dynamics: d, stage, sensor: of };
                view.measure(&mut out[sensor.data.clone()]);
            }
        }
        Ok(())
    }

    /// Adjoint of [`sense`](Self::sense): from that of the measured numbers, added to `bar`.
    ///
    /// # Errors
    /// As of [`sense`](Self::sense).
    pub fn sense_pullback(
        &self,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
        y_bar: &[f64],
        bar: &mut Adjoint,
        ws: &mut RigidWorkspace,
        sensors: &mut SensorWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        ws.evaluation.update(tree, layout, c, at, warm)?;
        let evaluation = &mut ws.evaluation;
        check(tree, &evaluation.stage)?;
        let SensorWorkspace { scratch, zeros, .. } = sensors;
        scratch.measured.update(tree, layout, c, &evaluation.dynamics, at.qvel, &evaluation.qacc);
        let place = Place { tree, layout, c, k: &evaluation.dynamics.kinematics };
        pull(place, evaluation, at, y_bar, scratch, bar);
        let d = &evaluation.dynamics;
        let inputs = RowInputs { tree, layout, c, dynamics: d, qpos: at.qpos, qvel: at.qvel };
        evaluation.stage.pull_touches(inputs, &scratch.touches, bar);
        let seeds = EvaluationAdjoint {
            qacc: &scratch.by_qacc,
            actuator_force: &scratch.by_effort,
            qfrc_actuator: &scratch.by_driven,
            row_force: &scratch.by_row,
            row_mass: &scratch.limits.mass,
            row_diagonal: &scratch.limits.diagonal,
            ..EvaluationAdjoint::of_step(zeros)
        };
        evaluation.pullback(tree, layout, c, at, seeds, self.wanted, bar)
    }

    /// Tangents of [`sense`](Self::sense), column after column, into `out`; those of constants and of what
    /// drives may be empty for zero.
    ///
    /// # Errors
    /// As of [`sense`](Self::sense).
    pub fn sense_pushforward(
        &self,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
        tangents: &RigidTangents,
        c_dot: &[f64],
        drive: DriveTangents,
        out: &mut Vec<f64>,
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
        sensors: &mut SensorWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        ws.evaluation.update(tree, layout, c, at, warm)?;
        check(tree, &ws.evaluation.stage)?;
        let (nv, na, ny) = (tree.nv, tree.na, self.sensor_values());
        out.clear();
        out.resize(tangents.columns * ny, 0.0);
        let SensorWorkspace { pushed, values, .. } = sensors;
        for first in (0..tangents.columns).step_by(LANES) {
            let lanes = LANES.min(tangents.columns - first);
            let c_dot = ConstantTangents::dense(c_dot, layout.len);
            push.lift_inputs(c, c_dot, at, drive, first, lanes);
            let (v, act) = (first * nv..(first + lanes) * nv, first * na..(first + lanes) * na);
            push.lift_state(tree, at, &tangents.q[v.clone()], &tangents.v[v], &tangents.act[act]);
            ws.evaluation.push_measured(self, push, lanes, pushed, values)?;
            let (d, stage) = (&ws.evaluation.dynamics, &ws.evaluation.stage);
            for sensor in &tree.sensors {
                let value = &mut values[sensor.data.start];
                visit_rows(tree, layout, c, d, stage, sensor.kind, |row| {
                    for lane in 0..lanes {
                        value.tangent[lane] += stage.force_tangent(row, lane);
                    }
                });
                if let SensorKind::Contact(of) = sensor.kind {
                    let force = |row: usize| {
                        let mut force = D::constant(stage.solver.force[row]);
                        for lane in 0..lanes {
                            force.tangent[lane] = stage.force_tangent(row, lane);
                        }
                        force
                    };
                    let view = ContactView { tree, layout, c, dynamics: d, stage, sensor: of };
                    let contacts = &push.constraints.contacts;
                    view.measure_on(contacts, force, &mut values[sensor.data.clone()]);
                }
            }
            for lane in 0..lanes {
                for (i, value) in values.iter().enumerate() {
                    out[(first + lane) * ny + i] = value.tangent[lane];
                }
            }
        }
        Ok(())
    }
}
