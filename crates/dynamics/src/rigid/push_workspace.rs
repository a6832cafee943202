//! Memory of tangents: states and constants as forward duals, some columns at once.

use costate_num::DualN;
use costate_num::spatial::{Force, Motion};

use super::adjoint::Adjoint;
use super::collision::Candidate;
use super::constants::Layout;
use super::constraint::{Constraints, RowInputs, depth};
use super::fluid::Slopes;
use super::forward::{At, Dynamics};
use super::integrate::lift_tangent;
use super::jacobian::{ConstantTangents, JacobianRows};
use super::metric::Metric;
use super::tree::Tree;

/// Columns carried at once.
pub(crate) const LANES: usize = 4;
pub(crate) type D = DualN<f64, LANES>;

/// Tangents of a state: `columns` of them, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidTangents {
    /// How many.
    pub columns: usize,
    /// Of the configuration, in its tangent space: `columns` times nv numbers.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub v: Vec<f64>,
    /// Of the activations.
    pub act: Vec<f64>,
}

impl RigidTangents {
    /// Zeros.
    pub fn zeros(tree: &Tree, columns: usize) -> Self {
        Self {
            columns,
            q: vec![0.0; columns * tree.nv],
            v: vec![0.0; columns * tree.nv],
            act: vec![0.0; columns * tree.na],
        }
    }

    /// Σ of products with an adjoint of the state, per column.
    pub fn dot(&self, bar: &Adjoint) -> Vec<f64> {
        let part = |dot: &[f64], bar: &[f64], k: usize| -> f64 {
            let n = bar.len();
            dot[k * n..(k + 1) * n].iter().zip(bar).map(|(x, y)| x * y).sum()
        };
        (0..self.columns)
            .map(|k| {
                part(&self.q, &bar.q, k) + part(&self.v, &bar.v, k) + part(&self.act, &bar.act, k)
            })
            .collect()
    }
}

/// Tangents of what drives a step: `columns` of each, one after the other, or empty for zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriveTangents<'a> {
    /// Of the controls.
    pub ctrl: &'a [f64],
    /// Of the applied forces.
    pub applied: &'a [f64],
}

/// Memory of tangents.
#[derive(Clone, Debug)]
pub struct PushWorkspace {
    pub(super) dynamics: Dynamics<D>,
    pub(super) metric: Metric<D>,
    pub(super) slopes: Slopes<D>,
    pub(super) constraints: Constraints<D>,
    pub(super) c: Vec<D>,
    pub(crate) qpos: Vec<D>,
    pub(crate) qvel: Vec<D>,
    pub(crate) act: Vec<D>,
    pub(super) ctrl: Vec<D>,
    pub(super) applied: Vec<D>,
    pub(super) scratch: [Vec<D>; 3],
    pub(super) velocity: Vec<Motion<D>>,
    pub(super) acceleration: Vec<Motion<D>>,
    pub(super) force: Vec<Force<D>>,
    pub(super) residual: Vec<D>,
    pub(super) force_dot: Vec<f64>,
    pub(super) column: Vec<f64>,
    /// Per lane and degree of freedom: tangent of the acceleration by which the velocity advances.
    pub(crate) step_acceleration: Vec<f64>,
    pub(super) by_coordinate: Vec<f64>,
    pub(super) rows: JacobianRows,
}

impl PushWorkspace {
    pub(super) fn new(tree: &Tree, constants: usize) -> Self {
        let zeros = |n: usize| vec![D::constant(0.0); n];
        let bodies = tree.bodies.len();
        Self {
            dynamics: Dynamics::new(tree),
            metric: Metric::new(tree),
            slopes: Slopes::new(tree),
            constraints: Constraints::default(),
            c: zeros(constants),
            qpos: zeros(tree.nq),
            qvel: zeros(tree.nv),
            act: zeros(tree.na),
            ctrl: zeros(tree.actuators.len()),
            applied: Vec::new(),
            scratch: [zeros(tree.nv), zeros(tree.nv), zeros(tree.nv)],
            velocity: vec![Motion::zero(); bodies],
            acceleration: vec![Motion::zero(); bodies],
            force: vec![Force::zero(); bodies],
            residual: zeros(tree.nv),
            force_dot: vec![0.0; LANES * tree.nv],
            column: vec![0.0; tree.nv],
            step_acceleration: vec![0.0; LANES * tree.nv],
            by_coordinate: vec![0.0; tree.nq],
            rows: JacobianRows::default(),
        }
    }

    /// Lifts constants, controls and applied forces: lane `n` of a batch that starts at column `first` of
    /// tangents that are empty for zero.
    pub(crate) fn lift_inputs(
        &mut self,
        c: &[f64],
        c_dot: ConstantTangents,
        at: At<f64>,
        drive: DriveTangents,
        first: usize,
        lanes: usize,
    ) {
        constants(c, &mut self.c);
        for n in 0..lanes {
            let column = c_dot.column(first + n);
            match c_dot.moved {
                _ if column.is_empty() => {}
                Some(moved) => moved.iter().for_each(|&i| self.c[i].tangent[n] = column[i]),
                None => {
                    for (slot, x) in self.c.iter_mut().zip(column) {
                        slot.tangent[n] = *x;
                    }
                }
            }
        }
        lift(at.ctrl, drive.ctrl, first, lanes, &mut self.ctrl);
        self.applied.resize(at.applied.len(), D::constant(0.0));
        lift(at.applied, drive.applied, first, lanes, &mut self.applied);
    }

    /// Lifts a state with tangents that lane `n` finds at column `n`.
    pub(crate) fn lift_state(
        &mut self,
        tree: &Tree,
        at: At<f64>,
        q: &[f64],
        v: &[f64],
        act: &[f64],
    ) {
        for (slot, &x) in self.qpos.iter_mut().zip(at.qpos) {
            *slot = D::constant(x);
        }
        let lanes = q.len().checked_div(tree.nv).unwrap_or(0);
        for n in 0..lanes {
            let q_dot = &q[n * tree.nv..(n + 1) * tree.nv];
            lift_tangent(tree, at.qpos, q_dot, &mut self.by_coordinate);
            for (slot, &x) in self.qpos.iter_mut().zip(&self.by_coordinate) {
                slot.tangent[n] = x;
            }
        }
        lift(at.qvel, v, 0, lanes, &mut self.qvel);
        lift(at.act, act, 0, lanes, &mut self.act);
    }

    /// Tangents of the activations' rates, or of the activations after the step.
    pub(crate) fn activations(&self, next: bool) -> &[D] {
        let actuation = &self.dynamics.actuation;
        if next { &actuation.act_next } else { &actuation.act_dot }
    }

    /// The lifted constants.
    pub(crate) fn constants(&self) -> &[D] {
        &self.c
    }
}

fn lift(x: &[f64], dot: &[f64], first: usize, lanes: usize, out: &mut [D]) {
    for (i, slot) in out.iter_mut().enumerate() {
        *slot = D::constant(x[i]);
        if !dot.is_empty() {
            for n in 0..lanes {
                slot.tangent[n] = dot[(first + n) * x.len() + i];
            }
        }
    }
}

/// Numbers without tangents.
pub(super) fn constants(x: &[f64], out: &mut [D]) {
    for (slot, &x) in out.iter_mut().zip(x) {
        *slot = D::constant(x);
    }
}

impl PushWorkspace {
    /// Tangents of the depths of contacts, onset after onset, at a state that is lifted.
    pub(crate) fn depths(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        points: &[(Candidate, usize)],
    ) -> Vec<[f64; LANES]> {
        let Self { dynamics, c, qpos, qvel, .. } = self;
        dynamics.update_position(tree, layout, c, qpos);
        let at = RowInputs { tree, layout, c, dynamics, qpos, qvel };
        let tangent = |&(candidate, index): &(Candidate, usize)| {
            depth(at, candidate, index).map_or([0.0; LANES], |depth| depth.tangent)
        };
        points.iter().map(tangent).collect()
    }
}
