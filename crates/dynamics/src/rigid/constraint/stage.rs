//! The constrained acceleration of a state and its derivatives: rows, solve, implicit function
//! theorem, rows again.

use costate_num::DualN;
use costate_num::spatial::Motion;

use super::build::{Constraints, RowInputs, Source};
use super::contact_pullback::{self, TouchBar};
use super::derivative::{Multipliers, ProblemTangents};
use super::law_tangents::LawTangents;
use super::pullback::{RowAdjoints, RowSeeds, TendonAdjoint};
use super::rows::Rows;
use super::solver::{Problem, Solved, Solver, SolverOptions};
use super::symmetric::SymmetricRows;
use crate::rigid::adjoint::{Adjoint, Place};
use crate::rigid::inverse::{accelerations, twists};
use crate::rigid::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use crate::rigid::tree::EqualityKind;

/// Rows, solver and the memory of their derivatives.
#[derive(Clone, Debug, Default)]
pub struct ConstraintStage {
    /// The rows.
    pub constraints: Constraints,
    /// The solver and what it found.
    pub solver: Solver,
    multipliers: Multipliers,
    pub(super) law: LawTangents,
    pub(super) bodies: Vec<BodyAdjoint>,
    pub(super) transport: Transport,
    velocity: Vec<Motion<f64>>,
    acceleration: Vec<Motion<f64>>,
    pub(super) lambda_twist: Vec<Motion<f64>>,
    push_twist: Vec<Motion<f64>>,
    /// Tangents of the forces of rows, direction after direction.
    force_dot: Vec<f64>,
    pub(super) tendons: Vec<TendonAdjoint>,
    /// Of rows of a step: the adjoints of the diagonals of M and of A.
    pub(in crate::rigid) by_diagonals: [Vec<f64>; 2],
    /// Adjoints of the rows' exact diagonals, where masses follow from these; empty otherwise.
    pub(super) diagonal: Vec<f64>,
}

impl ConstraintStage {
    /// Finds a with M a = τ + Jᵀ f: builds the rows of the state and solves. `inertia` is M
    /// with what an integrator adds to it; `starts` as in [`Solver::solve`], the unconstrained
    /// acceleration first, which is the answer where there are no rows.
    pub fn solve(
        &mut self,
        at: RowInputs<f64>,
        inertia: SymmetricRows,
        force: &[f64],
        starts: &[&[f64]],
        options: SolverOptions,
    ) -> Solved {
        self.constraints.update(at);
        let rows = &self.constraints.rows;
        self.solver.solve(Problem { inertia, force, rows }, starts, options)
    }

    /// Adds what contacts of the state have of the adjoints of their geometry and parameters.
    pub(in crate::rigid) fn pull_touches(
        &mut self,
        at: RowInputs<f64>,
        bars: &[TouchBar],
        out: &mut Adjoint,
    ) {
        if bars.is_empty() {
            return;
        }
        let (n, nv) = (at.tree.bodies.len(), at.tree.nv);
        self.bodies.clear();
        self.bodies.resize(n, BodyAdjoint::zero());
        let (still, zeros) = (vec![Motion::zero(); n], vec![0.0; nv]);
        let (bodies, tendons) = (&mut self.bodies, &mut self.tendons);
        let Adjoint { q, v, c, .. } = &mut *out;
        let mut row_bar = RowAdjoints { q, v, c, bodies, tendons, diagonal: &mut [] };
        for by in bars {
            contact_pullback::pull_touch(&self.constraints, at, by, &mut row_bar);
        }
        let motions = Motions {
            v: &zeros,
            a: &zeros,
            lambda: &zeros,
            velocity: &still,
            acceleration: &still,
            lambda_twist: &still,
            push_twist: &still,
        };
        let k = &at.dynamics.kinematics;
        let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
        self.transport.run(at.tree, at.layout, at.c, k, at.qpos, motions, &self.bodies, &mut bar);
    }

    /// Forgets the rows of the last state.
    pub(in crate::rigid) fn clear(&mut self) {
        let Constraints { rows, items, contacts, .. } = &mut self.constraints;
        rows.clear();
        items.clear();
        contacts.clear();
    }

    /// Builds the rows of a state and takes the acceleration that is known to solve them.
    pub(in crate::rigid) fn accept(&mut self, at: RowInputs<f64>, acceleration: &[f64]) {
        self.constraints.update(at);
        self.solver.accept(&self.constraints.rows, acceleration);
    }

    /// Whether the last state has any rows.
    pub fn has_rows(&self) -> bool {
        !self.constraints.rows.is_empty()
    }

    /// λ = H⁻¹ ā at the solution, from the adjoint ā of the acceleration and those of the forces of rows (empty
    /// for none). λ is the adjoint of τ; that of M is −λ aᵀ. None where H could not be factorised.
    pub fn multipliers(
        &mut self,
        inertia: SymmetricRows,
        force: &[f64],
        a_bar: &[f64],
        force_bar: &[f64],
    ) -> Option<&[f64]> {
        let rows = &self.constraints.rows;
        let problem = Problem { inertia, force, rows };
        let found = self.solver.multipliers(problem, a_bar, force_bar, &mut self.multipliers);
        found.then_some(&self.multipliers.lambda)
    }

    /// Adds the adjoints of what the rows are a function of, by configuration, velocity and constants,
    /// after [`multipliers`](Self::multipliers). `mass_bar` (empty for zero) has adjoints of the rows' masses of
    /// which all but the share through the ratio of a step's diagonals has been added; the adjoints of these
    /// diagonals are left in `by_diagonals`. Those of exact diagonals, which `diagonal_bar` (empty for zero) is
    /// added to, are kept for `pull_diagonals`.
    pub fn pullback(
        &mut self,
        at: RowInputs<f64>,
        mass_bar: &[f64],
        diagonal_bar: &[f64],
        out: &mut Adjoint,
    ) {
        let rows = &self.constraints.rows;
        let (m, cones) = (rows.len(), rows.cones.len());
        self.diagonal.clear();
        if at.tree.options.exact_diagonal {
            self.diagonal.extend_from_slice(diagonal_bar);
            self.diagonal.resize(m, 0.0);
        }
        if m == 0 {
            return;
        }
        let between_bodies = self.between_bodies(at);
        let law = &mut self.law;
        for numbers in [&mut law.mass, &mut law.loss] {
            numbers.clear();
            numbers.resize(m, 0.0);
        }
        law.mu.clear();
        law.mu.resize(cones, 0.0);
        law.friction.clear();
        law.friction.resize(cones, [0.0; 5]);
        self.solver.pull_law(rows, &self.multipliers, law);

        let n = if between_bodies { at.tree.bodies.len() } else { 0 };
        self.bodies.clear();
        self.bodies.resize(n, BodyAdjoint::zero());
        let (velocity, acceleration) = (&mut self.velocity, &mut self.acceleration);
        for motions in [velocity, acceleration, &mut self.lambda_twist, &mut self.push_twist] {
            motions.clear();
            motions.resize(n, Motion::zero());
        }
        let (a, lambda) = (&self.solver.acceleration, &self.multipliers.lambda);
        let k = &at.dynamics.kinematics;
        if between_bodies {
            let world = at.dynamics.acceleration[0];
            let (v_out, a_out) = (&mut self.velocity, &mut self.acceleration);
            accelerations(at.tree, &k.subspace, at.qvel, a, world, v_out, a_out);
            twists(at.tree, &k.subspace, lambda, &mut self.lambda_twist);
            twists(at.tree, &k.subspace, a, &mut self.push_twist);
        }
        let motions = Motions {
            v: at.qvel,
            a,
            lambda,
            velocity: &self.velocity,
            acceleration: &self.acceleration,
            lambda_twist: &self.lambda_twist,
            push_twist: &self.push_twist,
        };
        let seeds = RowSeeds {
            force: &self.solver.force,
            weight: &self.multipliers.weight,
            mass: &law.mass,
            loss: &law.loss,
            mu: &law.mu,
            friction: &law.friction,
            position: &[],
            rate: &[],
        };
        let (bodies, tendons) = (&mut self.bodies, &mut self.tendons);
        let Adjoint { q, v, c, .. } = &mut *out;
        let diagonal = &mut self.diagonal[..];
        let mut row_bar = RowAdjoints { q, v, c, bodies, tendons, diagonal };
        self.constraints.pullback(at, motions, seeds, &mut row_bar);
        pull_spatial_tendons(at, tendons, out);
        if between_bodies {
            let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
            // What the rows have of the world's acceleration cancels.
            self.transport.run(
                at.tree,
                at.layout,
                at.c,
                k,
                at.qpos,
                motions,
                &self.bodies,
                &mut bar,
            );
        }
        if self.constraints.is_discrete() {
            self.pull_ratios(at, mass_bar, out);
        }
    }

    /// Whether any row acts between bodies, not along degrees of freedom or tendons.
    fn between_bodies(&self, at: RowInputs<f64>) -> bool {
        self.constraints.items.iter().any(|item| match item.source {
            Source::Equality(e) => !matches!(
                at.tree.equalities[e].kind,
                EqualityKind::Joint { .. } | EqualityKind::Tendon { .. }
            ),
            Source::Contact(_) => true,
            _ => false,
        })
    }

    /// Tangents of the acceleration along `K` directions at once: `rows` are the constraints built on
    /// dual numbers, `force_dot` the tangents of τ − M a at fixed a (direction after direction),
    /// `a_dot` receives those of a. Returns false where H could not be factorised.
    pub fn pushforward<const K: usize>(
        &mut self,
        inertia: SymmetricRows,
        force: &[f64],
        rows: &Rows<DualN<f64, K>>,
        force_dot: &[f64],
        a_dot: &mut [f64],
    ) -> bool {
        let n = force.len();
        let problem = Problem { inertia, force, rows: &self.constraints.rows };
        let mut dot = ProblemTangents::zeros(problem);
        dot.inertia.clear();
        let m = self.constraints.rows.len();
        self.force_dot.clear();
        self.force_dot.resize(K * m, 0.0);
        for k in 0..K {
            dot.force.copy_from_slice(&force_dot[k * n..(k + 1) * n]);
            dot.set_rows(rows, k);
            let (a, f) = (k * n..(k + 1) * n, k * m..(k + 1) * m);
            if !self.solver.pushforward(problem, &dot, &mut a_dot[a], &mut self.force_dot[f]) {
                return false;
            }
        }
        true
    }

    /// Tangent of the force of a row along direction `k` of the last [`pushforward`](Self::pushforward).
    pub fn force_tangent(&self, row: usize, k: usize) -> f64 {
        self.force_dot[k * self.constraints.rows.len() + row]
    }
}

/// Adds the adjoints of the paths of spatial tendons that rows have left, and clears them.
pub(super) fn pull_spatial_tendons(
    at: RowInputs<f64>,
    tendons: &mut Vec<TendonAdjoint>,
    out: &mut Adjoint,
) {
    let RowInputs { tree, layout, c, dynamics, qpos, .. } = at;
    let place = Place { tree, layout, c, k: &dynamics.kinematics };
    for TendonAdjoint { tendon, length, jacobian } in tendons.drain(..) {
        place.pull_tendon(&dynamics.tendons, tendon, qpos, length, &jacobian, out);
    }
}

impl ProblemTangents {
    /// Takes the tangents of rows along direction `k` of dual numbers.
    fn set_rows<const K: usize>(&mut self, rows: &Rows<DualN<f64, K>>, k: usize) {
        for r in 0..rows.len() {
            for (at, value) in rows.entries(r).zip(rows.row(r).1) {
                self.jacobian[at] = value.tangent[k];
            }
            self.reference[r] = rows.reference[r].tangent[k];
            self.law.mass[r] = rows.mass[r].tangent[k];
            self.law.loss[r] = rows.loss[r].tangent[k];
        }
        for (c, cone) in rows.cones.iter().enumerate() {
            self.law.mu[c] = cone.mu.tangent[k];
            for (slot, mu) in self.law.friction[c].iter_mut().zip(&cone.friction) {
                *slot = mu.tangent[k];
            }
        }
    }
}
