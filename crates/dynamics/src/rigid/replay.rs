//! What steps leave for their adjoints, so that these need not evaluate all of a step again.
//!
//! A step leaves its acceleration a, the one x by which the velocity advances, and the factors of A: neither forces nor
//! a solve nor a factorisation are needed again, only places, inertias, efforts of actuators and rows. Where the integrator
//! is not that simple it leaves its acceleration alone, from which the constraint solver is done at once.

use super::adjoint::Adjoint;
use super::constants::Layout;
use super::constraint::RowInputs;
use super::error::RigidError;
use super::evaluation::{Evaluation, Start};
use super::fluid::is_implicit;
use super::forward::At;
use super::inverse::{accelerations, lift, twists};
use super::step::{Mechanism, RigidWorkspace};
use super::tree::{Integrator, Tree};

/// Records of steps, one after the other.
#[derive(Clone, Debug, Default)]
pub struct StepRecords {
    numbers: Vec<f64>,
    ends: Vec<usize>,
    /// Whether there were constraint rows.
    rows: Vec<bool>,
}

/// What one step has left for its adjoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepRecord<'a> {
    /// The acceleration; empty where it is not known.
    acceleration: &'a [f64],
    /// The acceleration by which the velocity advances, where the factors are here.
    advance: &'a [f64],
    /// Whether there were constraint rows.
    rows: bool,
    /// The factors of A; empty where the step is to be evaluated again.
    factors: &'a [f64],
}

impl StepRecords {
    /// The most numbers that a step leaves.
    pub fn width(tree: &Tree) -> usize {
        2 * tree.nv + tree.columns.len()
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all steps.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
        self.rows.clear();
    }

    /// Takes what the last step in a workspace has left.
    pub fn push(&mut self, m: &Mechanism, ws: &RigidWorkspace) {
        let evaluation = &ws.evaluation;
        self.numbers.extend_from_slice(&evaluation.qacc);
        if let Some(factors) = evaluation.recallable(&m.tree) {
            self.numbers.extend_from_slice(&evaluation.step_acceleration);
            self.numbers.extend_from_slice(factors);
        }
        self.rows.push(evaluation.stage.has_rows());
        self.ends.push(self.numbers.len());
    }

    /// Becomes step `i` of others alone; nothing where that is not there.
    pub(crate) fn copy(&mut self, m: &Mechanism, from: &Self, i: usize) {
        self.clear();
        let StepRecord { acceleration, advance, rows, factors } = from.get(m, i);
        for part in [acceleration, advance, factors] {
            self.numbers.extend_from_slice(part);
        }
        if !acceleration.is_empty() {
            self.rows.push(rows);
            self.ends.push(self.numbers.len());
        }
    }

    /// Step `i`; one that is not here has left nothing.
    pub fn get(&self, m: &Mechanism, i: usize) -> StepRecord<'_> {
        let start = if i == 0 { Some(&0) } else { self.ends.get(i - 1) };
        let (Some(&start), Some(&end)) = (start, self.ends.get(i)) else {
            return StepRecord::default();
        };
        let (acceleration, rest) = self.numbers[start..end].split_at(m.tree.nv);
        let (advance, factors) = rest.split_at(rest.len().min(m.tree.nv));
        StepRecord { acceleration, advance, rows: self.rows[i], factors }
    }
}

impl Mechanism {
    /// As [`step_pullback`](Self::step_pullback), with what that very step has left: of the same mechanism, constants
    /// and state.
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn replay_pullback(
        &self,
        c: &[f64],
        at: At<f64>,
        record: StepRecord,
        bar: &mut Adjoint,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        if record.factors.is_empty() {
            let start = Start { near: record.acceleration, solution: true };
            ws.evaluation.update_for(&self.tree, &self.layout, c, at, start, false)?;
            return self.pull_evaluated(c, at, bar, ws);
        }
        let zero_friction = self.wanted.zero_friction;
        ws.evaluation.recall(&self.tree, &self.layout, c, at, record, zero_friction);
        self.pull_evaluated(c, at, bar, ws)
    }
}

impl Evaluation {
    /// The factors of A, where they and the accelerations are enough for [`recall`](Self::recall).
    fn recallable(&self, tree: &Tree) -> Option<&[f64]> {
        let simple = !matches!(tree.options.integrator, Integrator::Discrete | Integrator::Rk4);
        let whole =
            simple && self.turning.is_empty() && !is_implicit(tree) && !tree.options.exact_diagonal;
        let factors = if self.implicit { &self.factors } else { &self.dynamics.factors };
        whole.then_some(&factors.entries)
    }

    /// What the adjoint of a step reads, from what the step has left.
    fn recall(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[f64],
        at: At<f64>,
        record: StepRecord,
        zero_friction: bool,
    ) {
        let Self { dynamics: d, metric, .. } = self;
        let x = record.advance;
        d.update_position(tree, layout, c, at.qpos);
        d.update_efforts(tree, layout, c, at);
        let world = lift(tree, layout, c);
        let (velocity, acceleration) = (&mut d.velocity, &mut d.acceleration);
        if record.rows {
            let subspace = &d.kinematics.subspace;
            accelerations(tree, subspace, at.qvel, &[], world, velocity, acceleration);
            d.update_mass(tree, layout, c);
        } else if tree.options.fluid {
            twists(tree, &d.kinematics.subspace, at.qvel, velocity);
        }
        self.implicit = metric.update(tree, layout, c, at, &d.tendons, &d.actuation);
        if self.implicit {
            self.factors.entries.copy_from_slice(record.factors);
            if zero_friction && !record.rows {
                // Dry friction asks for the acceleration that τ − c = A x gives without what is implicit.
                d.update_mass(tree, layout, c);
                d.mass.multiply(tree, x, &mut d.qfrc_smooth);
                for (slot, x) in self.scratch.held.iter_mut().zip(x) {
                    *slot = -x;
                }
                let (held, zeros) = (&self.scratch.held, &self.scratch.zeros);
                metric.subtract(tree, &d.tendons, &d.actuation, held, zeros, &mut d.qfrc_smooth);
            }
        } else {
            d.factors.entries.copy_from_slice(record.factors);
            d.qacc_smooth.copy_from_slice(x);
        }
        self.accelerated = !self.implicit;
        self.stage.clear();
        if record.rows {
            let dynamics = &self.dynamics;
            let inputs = RowInputs { tree, layout, c, dynamics, qpos: at.qpos, qvel: at.qvel };
            self.stage.accept(inputs, record.acceleration);
        }
        self.solved = None;
        self.qfrc_constraint.fill(0.0);
        self.qacc.copy_from_slice(record.acceleration);
        self.step_acceleration.copy_from_slice(x);
    }
}
