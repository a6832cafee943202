//! The acceleration of a constrained system: the minimiser of
//! ½ aᵀ M a − τᵀ a + s(J a − a_ref), by Newton's method with exact line search.
//!
//! The function is strictly convex and once continuously differentiable, its gradient piecewise
//! smooth, so that Newton's method with an exact line search converges from anywhere and ends
//! with a full step on the piece that holds the minimum (MuJoCo's documentation, *Computation*,
//! *Constraint solver*).

use super::factor::Factor;
use super::islands::Islands;
use super::law::{self, Zone};
use super::rows::Rows;
use super::symmetric::SymmetricRows;

/// When the solver stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverOptions {
    /// Largest residual of M a = τ + Jᵀ f that counts as solved, relative to the largest of the terms
    /// it is the sum of; both over the root of the dof's own inertia.
    pub tolerance: f64,
    /// Most Newton steps.
    pub iterations: usize,
    /// Most evaluations in one line search.
    pub line_iterations: usize,
}

impl Default for SolverOptions {
    fn default() -> Self {
        Self { tolerance: 1e-14, iterations: 100, line_iterations: 60 }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Newton steps taken.
    pub iterations: usize,
    /// Largest residual, as the tolerance measures it.
    pub residual: f64,
    /// Whether the residual is within the tolerance, or at the rounding of the forces, below which
    /// no step reduces it. Where not, the iterations ran out.
    pub converged: bool,
}

/// A mass matrix, forces, and constraint rows.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// M, positive definite.
    pub inertia: SymmetricRows<'a>,
    /// τ: all forces but those of the constraints.
    pub force: &'a [f64],
    /// The rows.
    pub rows: &'a Rows,
}

/// Buffers of the solver, and what it found: kept between steps so that nothing is allocated.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    /// The acceleration a.
    pub acceleration: Vec<f64>,
    /// Force f of each row.
    pub force: Vec<f64>,
    /// Zone of each row.
    pub zone: Vec<Zone>,
    /// x = J a − a_ref of each row.
    pub(super) x: Vec<f64>,
    /// Factors of H = M + Jᵀ s″ J at the solution, where `factored`.
    pub(super) factor: Factor,
    pub(super) factored: bool,
    x_size: Vec<f64>,
    /// M a − τ.
    inertial: Vec<f64>,
    /// One over the root of each dof's own inertia: forces times it have one unit in all dofs.
    scale: Vec<f64>,
    gradient: Vec<f64>,
    size: Vec<f64>,
    parts_size: Vec<f64>,
    direction: Vec<f64>,
    /// M times the direction.
    product: Vec<f64>,
    along: Vec<f64>,
    /// Zones that the factors are of.
    factor_zone: Vec<Zone>,
    islands: Islands,
}

/// Below this residual, measured against what rounding can do to the forces, Newton's method needs
/// no line search, whose derivatives are rounding there.
const LOCAL: f64 = 1e-11;
/// A gradient below this part of the forces may be that of the solution: what it is made of is computed anew
/// before it is called so.
const NEAR: f64 = 1e-6;
/// A residual below that which so many steps in a row did not halve is at rounding.
const STALLS: usize = 2;

impl Solver {
    /// Solves from the better of the starts (the unconstrained acceleration, and a warm start where
    /// there is one); the solution does not depend on them beyond the tolerance. What neither inertia nor rows
    /// couple is solved apart.
    pub fn solve(&mut self, problem: Problem, starts: &[&[f64]], options: SolverOptions) -> Solved {
        let mut islands = std::mem::take(&mut self.islands);
        let solved = if islands.find(problem) > 1 {
            self.resize(problem.force.len(), problem.rows.len());
            islands.solve(problem, starts, options, self)
        } else {
            self.solve_whole(problem, starts, options)
        };
        self.islands = islands;
        solved
    }

    /// Solves all of a problem at once.
    pub(super) fn solve_whole(
        &mut self,
        problem: Problem,
        starts: &[&[f64]],
        options: SolverOptions,
    ) -> Solved {
        let n = problem.force.len();
        let m = problem.rows.len();
        self.resize(n, m);
        for (i, scale) in self.scale.iter_mut().enumerate() {
            *scale = 1.0 / problem.inertia.diagonal(i).max(f64::MIN_POSITIVE).sqrt();
        }
        self.start(problem, starts);
        let mut best = f64::INFINITY;
        let mut stalls = 0;
        let mut iterations = 0;
        // Whether a step on one piece of the penalties ends at its minimum, as it should.
        let mut exact = true;
        let mut held = false;
        loop {
            law::forces(problem.rows, &self.x, &mut self.force, &mut self.zone);
            let near = self.find_gradient(problem);
            exact &= near || !held;
            let mut local = false;
            if near || iterations == options.iterations {
                self.evaluate(problem.rows);
                law::forces(problem.rows, &self.x, &mut self.force, &mut self.zone);
                let (residual, rounding) = self.residual(problem);
                local = residual <= LOCAL * rounding.max(1.0);
                stalls = if residual > 0.5 * best { stalls + 1 } else { 0 };
                best = best.min(residual);
                let converged = residual <= options.tolerance || local && stalls >= STALLS;
                // A residual that is not a number ends the solve as well; the caller sees it.
                if converged || iterations == options.iterations || residual.is_nan() {
                    self.factored &= held && self.zone == self.factor_zone;
                    return Solved { iterations, residual, converged };
                }
            }
            if iterations == 0 {
                self.factor.analyse(problem.inertia, problem.rows);
            }
            if !self.factorise(problem) {
                let (residual, _) = self.residual(problem);
                return Solved { iterations, residual, converged: false };
            }
            iterations += 1;
            for (p, g) in self.direction.iter_mut().zip(&self.gradient) {
                *p = -g;
            }
            self.factor.solve(&mut self.direction);
            self.follow(problem);
            held = exact && law::holds(problem.rows, &self.x, &self.along, &self.zone);
            // Where the function is quadratic along the whole step, its minimum is the full step.
            let alpha = if local || held { 1.0 } else { self.line_search(problem, options) };
            advance(&mut self.acceleration, alpha, &self.direction);
            advance(&mut self.inertial, alpha, &self.product);
            advance(&mut self.x, alpha, &self.along);
        }
    }

    fn resize(&mut self, n: usize, m: usize) {
        self.acceleration.resize(n, 0.0);
        self.inertial.resize(n, 0.0);
        self.scale.resize(n, 0.0);
        self.gradient.resize(n, 0.0);
        self.size.resize(n, 0.0);
        self.parts_size.resize(n, 0.0);
        self.direction.resize(n, 0.0);
        self.product.resize(n, 0.0);
        self.factored = false;
        self.x.resize(m, 0.0);
        self.x_size.resize(m, 0.0);
        self.along.resize(m, 0.0);
        self.force.resize(m, 0.0);
        self.zone.resize(m, Zone::Satisfied);
    }

    /// Takes the start of least cost, the first on a tie; zero if there is none.
    fn start(&mut self, problem: Problem, starts: &[&[f64]]) {
        self.acceleration.fill(0.0);
        if let Some(first) = starts.first() {
            self.acceleration.copy_from_slice(first);
        }
        place(problem, &self.acceleration, &mut self.x, &mut self.inertial);
        if starts.len() < 2 {
            return;
        }
        let mut least = cost(problem, &self.acceleration, &self.x, &self.inertial);
        for &start in &starts[1..] {
            place(problem, start, &mut self.along, &mut self.product);
            let other = cost(problem, start, &self.along, &self.product);
            if other < least {
                least = other;
                self.acceleration.copy_from_slice(start);
                std::mem::swap(&mut self.x, &mut self.along);
                std::mem::swap(&mut self.inertial, &mut self.product);
            }
        }
    }

    /// x at the present acceleration, and the sizes of what it is a sum of.
    fn evaluate(&mut self, rows: &Rows) {
        for r in 0..rows.len() {
            let (dofs, values) = rows.row(r);
            let (mut sum, mut absolute) = (-rows.reference[r], rows.reference[r].abs());
            for (&dof, value) in dofs.iter().zip(values) {
                let term = value * self.acceleration[dof];
                sum += term;
                absolute += term.abs();
            }
            self.x[r] = sum;
            self.x_size[r] = absolute;
        }
    }

    /// The gradient M a − τ − Jᵀ f from its parts. Returns whether it is so small that it may be zero.
    fn find_gradient(&mut self, problem: Problem) -> bool {
        let Self { gradient, inertial, scale, force, .. } = self;
        gradient.copy_from_slice(inertial);
        for (r, &f) in force.iter().enumerate() {
            if f != 0.0 {
                problem.rows.add_transposed(r, -f, gradient);
            }
        }
        let (mut largest, mut forces) = (0.0f64, 0.0f64);
        let mut total = 0.0;
        for i in 0..gradient.len() {
            largest = largest.max(gradient[i].abs() * scale[i]);
            forces = forces.max(problem.force[i].abs().max(inertial[i].abs()) * scale[i]);
            total += gradient[i];
        }
        largest <= NEAR * forces || total.is_nan()
    }

    /// The gradient M a − τ − Jᵀ f. Returns its size relative to its terms, and that of the terms the
    /// forces are differences of: rounding of x = J a − a_ref is rounding of f, however small x is.
    fn residual(&mut self, problem: Problem) -> (f64, f64) {
        let n = self.acceleration.len();
        let Self { gradient, inertial, scale, size, parts_size, .. } = self;
        let (a, force, zone, x_size) = (&self.acceleration, &self.force, &self.zone, &self.x_size);
        parts_size.fill(0.0);
        for i in 0..n {
            gradient[i] = -problem.force[i];
            size[i] = problem.force[i].abs();
        }
        problem.inertia.multiply_sized(a, gradient, size);
        inertial.copy_from_slice(gradient);
        for r in 0..problem.rows.len() {
            if zone[r] != Zone::Satisfied {
                let (dofs, values) = problem.rows.row(r);
                let constant = matches!(zone[r], Zone::Bound(_));
                let parts = if constant { 0.0 } else { problem.rows.mass[r] * x_size[r] };
                for (&dof, value) in dofs.iter().zip(values) {
                    let term = value * force[r];
                    gradient[dof] -= term;
                    size[dof] += term.abs();
                    parts_size[dof] += value.abs() * parts;
                }
            }
        }
        let (mut largest, mut terms, mut parts) = (0.0f64, 0.0f64, 0.0f64);
        let mut total = 0.0;
        for i in 0..n {
            largest = largest.max(gradient[i].abs() * scale[i]);
            terms = terms.max(size[i] * scale[i]);
            parts = parts.max(parts_size[i] * scale[i]);
            total += gradient[i];
        }
        // `max` drops a NaN, the sum keeps it.
        if total.is_nan() {
            (f64::NAN, 0.0)
        } else if largest == 0.0 {
            (0.0, 0.0)
        } else {
            (largest / terms, parts / terms)
        }
    }

    /// Factorises H at the present zones.
    fn factorise(&mut self, problem: Problem) -> bool {
        self.factor.load(problem.inertia);
        law::add_hessian(problem.rows, &self.x, &self.zone, &mut self.factor);
        self.factor_zone.clone_from(&self.zone);
        self.factored = self.factor.factorise();
        self.factored
    }

    /// The factor of H at the solution, for derivatives. False where H is not positive.
    pub(super) fn ensure_factor(&mut self, problem: Problem) -> bool {
        if self.factored {
            return true;
        }
        self.factor.analyse(problem.inertia, problem.rows);
        self.factorise(problem)
    }

    /// What x and M a change by along the direction.
    fn follow(&mut self, problem: Problem) {
        for r in 0..problem.rows.len() {
            self.along[r] = problem.rows.dot(r, &self.direction);
        }
        self.product.fill(0.0);
        problem.inertia.multiply(&self.direction, &mut self.product);
    }

    /// The step α that minimises the function along the direction: the root of its derivative,
    /// which increases, by Newton's method held within a bracket.
    fn line_search(&self, problem: Problem, options: SolverOptions) -> f64 {
        let (mut quadratic, mut linear, mut at_start) = (0.0, 0.0, 0.0);
        for (i, p) in self.direction.iter().enumerate() {
            quadratic += p * self.product[i];
            linear += p * self.inertial[i];
            at_start += p * self.gradient[i];
        }
        let slope = |alpha: f64| {
            let (first, second) = law::slope(problem.rows, &self.x, &self.along, alpha);
            (linear + alpha * quadratic + first, quadratic + second)
        };
        if at_start >= 0.0 {
            // The direction is one of descent but for rounding; a full step is as good as any.
            return 1.0;
        }
        let enough = 1e-10 * at_start.abs();
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut alpha = 1.0;
        let mut width = f64::INFINITY;
        for _ in 0..options.line_iterations {
            let (first, second) = slope(alpha);
            if first.abs() <= enough || first.is_nan() {
                break;
            }
            if first < 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let newton = alpha - first / second;
            let inside = newton > low && newton < high;
            // Newton's steps between two kinks may shrink the bracket too slowly.
            let shrinks = high - low <= 0.5 * width || high == f64::INFINITY;
            width = high - low;
            alpha = if inside && shrinks {
                newton
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * alpha
            };
            if alpha == low || alpha == high {
                break;
            }
        }
        alpha
    }
}

/// x = J a − a_ref and M a − τ.
fn place(problem: Problem, a: &[f64], x: &mut [f64], inertial: &mut [f64]) {
    let Problem { inertia, force, rows } = problem;
    for (r, x) in x.iter_mut().enumerate() {
        *x = rows.dot(r, a) - rows.reference[r];
    }
    for (slot, force) in inertial.iter_mut().zip(force) {
        *slot = -force;
    }
    inertia.multiply(a, inertial);
}

/// The function that is minimised, from x and M a − τ.
fn cost(problem: Problem, a: &[f64], x: &[f64], inertial: &[f64]) -> f64 {
    let mut twice = 0.0;
    for i in 0..a.len() {
        twice += a[i] * (inertial[i] - problem.force[i]);
    }
    law::cost(problem.rows, x) + 0.5 * twice
}

fn advance(x: &mut [f64], alpha: f64, along: &[f64]) {
    for (x, p) in x.iter_mut().zip(along) {
        *x += alpha * p;
    }
}
