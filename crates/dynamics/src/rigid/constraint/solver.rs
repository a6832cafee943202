//! The acceleration of a constrained system: the minimiser of
//! ½ aᵀ M a − τᵀ a + s(J a − a_ref), by Newton's method with exact line search.
//!
//! The function is strictly convex and once continuously differentiable, its gradient piecewise
//! smooth, so that Newton's method with an exact line search converges from anywhere and ends
//! with a full step on the piece that holds the minimum (MuJoCo's documentation, *Computation*,
//! *Constraint solver*).

use super::factor::{Factor, SymmetricRows};
use super::islands::Islands;
use super::law::{self, Zone};
use super::rows::Rows;

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
    gradient: Vec<f64>,
    size: Vec<f64>,
    parts_size: Vec<f64>,
    direction: Vec<f64>,
    /// M times the direction.
    product: Vec<f64>,
    along: Vec<f64>,
    islands: Islands,
}

/// Below this residual, measured against what rounding can do to the forces, Newton's method needs
/// no line search, whose derivatives are rounding there.
const LOCAL: f64 = 1e-11;
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
        self.factor.analyse(problem.inertia, problem.rows);
        self.start(problem, starts);
        let mut best = f64::INFINITY;
        let mut stalls = 0;
        let mut iterations = 0;
        loop {
            law::forces(problem.rows, &self.x, &mut self.force, &mut self.zone);
            let (residual, rounding) = self.residual(problem);
            let local = residual <= LOCAL * rounding.max(1.0);
            stalls = if residual > 0.5 * best { stalls + 1 } else { 0 };
            best = best.min(residual);
            let converged = residual <= options.tolerance || local && stalls >= STALLS;
            // A residual that is not a number ends the solve as well; the caller sees it.
            if converged || iterations == options.iterations || residual.is_nan() {
                return Solved { iterations, residual, converged };
            }
            if !self.factorise(problem) {
                return Solved { iterations, residual, converged: false };
            }
            iterations += 1;
            for (p, g) in self.direction.iter_mut().zip(&self.gradient) {
                *p = -g;
            }
            self.factor.solve(&mut self.direction);
            let alpha = if local { 1.0 } else { self.line_search(problem, options) };
            for (a, p) in self.acceleration.iter_mut().zip(&self.direction) {
                *a += alpha * p;
            }
            self.factored = false;
            self.evaluate(problem.rows);
        }
    }

    fn resize(&mut self, n: usize, m: usize) {
        self.acceleration.resize(n, 0.0);
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
        match starts {
            [] => self.acceleration.fill(0.0),
            [only] => self.acceleration.copy_from_slice(only),
            [first, rest @ ..] => {
                self.acceleration.copy_from_slice(first);
                self.evaluate(problem.rows);
                let mut least = self.cost(problem, first);
                for &start in rest {
                    for r in 0..problem.rows.len() {
                        self.along[r] = problem.rows.dot(r, start) - problem.rows.reference[r];
                    }
                    std::mem::swap(&mut self.x, &mut self.along);
                    let cost = self.cost(problem, start);
                    if cost < least {
                        least = cost;
                        self.acceleration.copy_from_slice(start);
                    }
                }
            }
        }
        self.evaluate(problem.rows);
    }

    /// x at the present acceleration.
    fn evaluate(&mut self, rows: &Rows) {
        for r in 0..rows.len() {
            let (dofs, values) = rows.row(r);
            let (mut sum, mut absolute) = (-rows.reference[r], rows.reference[r].abs());
            for k in 0..dofs.len() {
                let term = values[k] * self.acceleration[dofs[k]];
                sum += term;
                absolute += term.abs();
            }
            self.x[r] = sum;
            self.x_size[r] = absolute;
        }
    }

    /// The function that is minimised, at `a`, whose rows are in `self.x`.
    fn cost(&self, problem: Problem, a: &[f64]) -> f64 {
        let mut total = law::cost(problem.rows, &self.x) + 0.5 * problem.inertia.form(a, a);
        for i in 0..a.len() {
            total -= a[i] * problem.force[i];
        }
        total
    }

    /// The gradient M a − τ − Jᵀ f. Returns its size relative to its terms, and that of the terms the
    /// forces are differences of: rounding of x = J a − a_ref is rounding of f, however small x is.
    fn residual(&mut self, problem: Problem) -> (f64, f64) {
        let n = self.acceleration.len();
        let Self { gradient, size, parts_size, acceleration: a, force, zone, x_size, .. } = self;
        parts_size.fill(0.0);
        for i in 0..n {
            gradient[i] = -problem.force[i];
            size[i] = problem.force[i].abs();
        }
        problem.inertia.multiply_sized(a, gradient, size);
        for r in 0..problem.rows.len() {
            if zone[r] != Zone::Satisfied {
                let (dofs, values) = problem.rows.row(r);
                let constant = matches!(zone[r], Zone::Bound(_));
                let parts = if constant { 0.0 } else { problem.rows.mass[r] * x_size[r] };
                for k in 0..dofs.len() {
                    let term = values[k] * force[r];
                    gradient[dofs[k]] -= term;
                    size[dofs[k]] += term.abs();
                    parts_size[dofs[k]] += values[k].abs() * parts;
                }
            }
        }
        // Forces over the root of the dof's inertia have one unit in all dofs.
        let (mut largest, mut scale, mut parts) = (0.0f64, 0.0f64, 0.0f64);
        let mut total = 0.0;
        for i in 0..n {
            let weight = problem.inertia.diagonal(i).max(f64::MIN_POSITIVE).sqrt();
            largest = largest.max(gradient[i].abs() / weight);
            scale = scale.max(size[i] / weight);
            parts = parts.max(parts_size[i] / weight);
            total += gradient[i];
        }
        // `max` drops a NaN, the sum keeps it.
        if total.is_nan() {
            (f64::NAN, 0.0)
        } else if largest == 0.0 {
            (0.0, 0.0)
        } else {
            (largest / scale, parts / scale)
        }
    }

    /// Factorises H at the present zones.
    fn factorise(&mut self, problem: Problem) -> bool {
        self.factor.load(problem.inertia);
        law::add_hessian(problem.rows, &self.x, &self.zone, &mut self.factor);
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

    /// The step α that minimises the function along the direction: the root of its derivative,
    /// which increases, by Newton's method held within a bracket.
    fn line_search(&mut self, problem: Problem, options: SolverOptions) -> f64 {
        for r in 0..problem.rows.len() {
            self.along[r] = problem.rows.dot(r, &self.direction);
        }
        let (direction, product) = (&self.direction, &mut self.product);
        product.fill(0.0);
        problem.inertia.multiply(direction, product);
        let (mut quadratic, mut linear) = (0.0, 0.0);
        for i in 0..direction.len() {
            quadratic += direction[i] * product[i];
            linear += self.acceleration[i] * product[i] - direction[i] * problem.force[i];
        }
        let slope = |alpha: f64| {
            let (first, second) = law::slope(problem.rows, &self.x, &self.along, alpha);
            (linear + alpha * quadratic + first, quadratic + second)
        };
        let at_start = slope(0.0).0;
        if at_start >= 0.0 {
            // The direction is one of descent but for rounding; a full step is as good as any.
            return 1.0;
        }
        // Where the function is quadratic along the whole step, its minimum is the full step.
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
