//! Derivatives of the constrained acceleration, by the implicit function theorem.
//!
//! At the solution F = M a − τ − Jᵀ f(J a − a_ref) = 0 with ∂F/∂a = H = M + Jᵀ s″ J symmetric.
//! With H λ = ā, y = J λ and w = s″ y, the adjoints are τ̄ = λ, M̄ = −λ aᵀ, J̄ = f λᵀ − w aᵀ (row by
//! row), ā_ref = w, and those of the penalties' parameters are y · ∂f/∂(·). No iteration is
//! differentiated, so the result does not depend on how the solution was found.

use super::law;
use super::law_tangents::{self, LawTangents};
use super::rows::Rows;
use super::solver::{Problem, Solver};

/// Tangents or adjoints of what the acceleration is a function of.
///
/// The inertia matrix enters by the entries of its lower triangle, which stand for both triangles;
/// Jacobians by the entries of their rows (see [`Rows::entries`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProblemTangents {
    /// Of the entries of M; empty for zero tangents.
    pub inertia: Vec<f64>,
    /// Of τ.
    pub force: Vec<f64>,
    /// Of the entries of J.
    pub jacobian: Vec<f64>,
    /// Of a_ref.
    pub reference: Vec<f64>,
    /// Of the parameters of the penalties.
    pub law: LawTangents,
}

impl ProblemTangents {
    /// Zeros for a problem.
    pub fn zeros(problem: Problem) -> Self {
        let (n, m) = (problem.force.len(), problem.rows.len());
        let cones = problem.rows.cones.len();
        Self {
            inertia: vec![0.0; problem.inertia.entries.len()],
            force: vec![0.0; n],
            jacobian: vec![0.0; problem.rows.entry_count()],
            reference: vec![0.0; m],
            law: LawTangents {
                mass: vec![0.0; m],
                loss: vec![0.0; m],
                mu: vec![0.0; cones],
                friction: vec![[0.0; 5]; cones],
            },
        }
    }
}

/// The multipliers of a pullback: the adjoints of everything follow from them without a solve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multipliers {
    /// λ = H⁻¹ ā, the adjoint of τ.
    pub lambda: Vec<f64>,
    /// y = J λ, with the adjoints of forces.
    pub along: Vec<f64>,
    /// w = s″ y, the adjoint of a_ref.
    pub weight: Vec<f64>,
}

impl Solver {
    /// The multipliers of the adjoints of the acceleration and, where they are not empty, of the forces of rows:
    /// a loss f̄·f(J a − a_ref) adds −Jᵀ s″ f̄ to ā, and f̄ to y.
    ///
    /// Returns false where H could not be factorised; the multipliers are zero then.
    pub fn multipliers(
        &mut self,
        problem: Problem,
        a_bar: &[f64],
        force_bar: &[f64],
        out: &mut Multipliers,
    ) -> bool {
        let (n, m) = (problem.force.len(), problem.rows.len());
        out.lambda.clear();
        out.along.clear();
        out.along.resize(m, 0.0);
        out.weight.clear();
        out.weight.resize(m, 0.0);
        if !self.ensure_factor(problem) {
            out.lambda.resize(n, 0.0);
            return false;
        }
        out.lambda.extend_from_slice(a_bar);
        let Self { x, zone, .. } = &*self;
        if !force_bar.is_empty() {
            law::apply_curvature(problem.rows, x, zone, force_bar, &mut out.weight);
            for r in 0..m {
                problem.rows.add_transposed(r, -out.weight[r], &mut out.lambda);
            }
        }
        self.factor.solve(&mut out.lambda);
        for r in 0..m {
            out.along[r] = problem.rows.dot(r, &out.lambda);
        }
        for (along, bar) in out.along.iter_mut().zip(force_bar) {
            *along += bar;
        }
        law::apply_curvature(problem.rows, x, zone, &out.along, &mut out.weight);
        true
    }

    /// Adds the adjoints of the parameters of the penalties.
    pub fn pull_law(&self, rows: &Rows, multipliers: &Multipliers, bar: &mut LawTangents) {
        law_tangents::pull_parameters(rows, &self.x, &self.zone, &multipliers.along, bar);
    }

    /// Adjoint of the solve: from ā to the adjoints of everything, added to `bar`.
    ///
    /// Returns false, and adds nothing, where H could not be factorised.
    pub fn pullback(&mut self, problem: Problem, a_bar: &[f64], bar: &mut ProblemTangents) -> bool {
        let mut multipliers = Multipliers::default();
        if !self.multipliers(problem, a_bar, &[], &mut multipliers) {
            return false;
        }
        let n = problem.force.len();
        let a = &self.acceleration;
        for i in 0..n {
            bar.force[i] += multipliers.lambda[i];
            for at in problem.inertia.rows[i].clone() {
                let j = problem.inertia.columns[at];
                bar.inertia[at] -= multipliers.lambda[i] * a[j];
                if j != i {
                    bar.inertia[at] -= multipliers.lambda[j] * a[i];
                }
            }
        }
        for r in 0..problem.rows.len() {
            let (f, w) = (self.force[r], multipliers.weight[r]);
            let dofs = problem.rows.row(r).0;
            for (slot, &dof) in bar.jacobian[problem.rows.entries(r)].iter_mut().zip(dofs) {
                *slot += f * multipliers.lambda[dof] - w * a[dof];
            }
            bar.reference[r] += w;
        }
        self.pull_law(problem.rows, &multipliers, &mut bar.law);
        true
    }

    /// Tangent of the solve: ȧ, and that of the forces of rows, along the tangents of everything.
    ///
    /// Returns false, and zero, where H could not be factorised.
    pub fn pushforward(
        &mut self,
        problem: Problem,
        dot: &ProblemTangents,
        a_dot: &mut [f64],
        f_dot: &mut [f64],
    ) -> bool {
        let (n, m) = (problem.force.len(), problem.rows.len());
        a_dot.fill(0.0);
        f_dot.fill(0.0);
        if !self.ensure_factor(problem) {
            return false;
        }
        let a = &self.acceleration;
        a_dot.copy_from_slice(&dot.force);
        for i in 0..if dot.inertia.is_empty() { 0 } else { n } {
            for at in problem.inertia.rows[i].clone() {
                let j = problem.inertia.columns[at];
                a_dot[i] -= dot.inertia[at] * a[j];
                if j != i {
                    a_dot[j] -= dot.inertia[at] * a[i];
                }
            }
        }
        // Tangent of x at fixed a, then of f at fixed a.
        let mut x_dot = vec![0.0; m];
        for r in 0..m {
            let dofs = problem.rows.row(r).0;
            let jacobian = &dot.jacobian[problem.rows.entries(r)];
            let mut sum = -dot.reference[r];
            for k in 0..dofs.len() {
                sum += jacobian[k] * a[dofs[k]];
                a_dot[dofs[k]] += jacobian[k] * self.force[r];
            }
            x_dot[r] = sum;
        }
        law::apply_curvature(problem.rows, &self.x, &self.zone, &x_dot, f_dot);
        for f in f_dot.iter_mut() {
            *f = -*f;
        }
        law_tangents::push_parameters(problem.rows, &self.x, &self.zone, &dot.law, f_dot);
        for r in 0..m {
            problem.rows.add_transposed(r, f_dot[r], a_dot);
        }
        self.factor.solve(a_dot);
        // What the forces have of the acceleration.
        let mut curved = vec![0.0; m];
        for r in 0..m {
            x_dot[r] = problem.rows.dot(r, a_dot);
        }
        law::apply_curvature(problem.rows, &self.x, &self.zone, &x_dot, &mut curved);
        for (f, curved) in f_dot.iter_mut().zip(curved) {
            *f -= curved;
        }
        true
    }
}
