//! Levenberg-Marquardt with column scaling, gain-ratio damping and bounds.
//!
//! Scaling by the largest column norms so far is Moré's (1978), the update of the damping from the
//! gain ratio Nielsen's (1999), bounds are kept by an active set and projection (Kanzow, Yamashita,
//! Fukushima 2004).

use serde::{Deserialize, Serialize};

use super::problem::{Block, Failed, LeastSquares, Picture};

/// When to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct LmOptions {
    /// Iterations at most.
    pub max_iterations: usize,
    /// Stop where a full Gauss-Newton step would lower the cost by less than this share of it.
    pub cost_tolerance: f64,
    /// Stop where a full Gauss-Newton step changes no parameter by more than this share of it.
    pub step_tolerance: f64,
}

impl Default for LmOptions {
    fn default() -> Self {
        Self { max_iterations: 100, cost_tolerance: 1e-12, step_tolerance: 1e-12 }
    }
}

/// Everything that the next iteration follows from; saved, it continues to the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LmState {
    /// Parameters.
    pub p: Vec<f64>,
    /// Iterations done.
    pub iteration: usize,
    /// Damping λ.
    pub lambda: f64,
    /// Factor by which λ grows at the next rejection.
    pub growth: f64,
    /// Column scales D.
    pub scale: Vec<f64>,
    /// Iterations in a row that hardly lowered the cost.
    pub idle: usize,
    /// Residual evaluations so far.
    pub evaluations: usize,
    /// Linearisations so far.
    pub linearisations: usize,
    /// Trials that could not be evaluated (diverged, out of bounds).
    pub failed_trials: usize,
}

impl LmState {
    /// A fresh start.
    pub fn new(p: Vec<f64>) -> Self {
        let scale = vec![0.0; p.len()];
        Self {
            p,
            iteration: 0,
            lambda: 1e-3,
            growth: 2.0,
            scale,
            idle: 0,
            evaluations: 0,
            linearisations: 0,
            failed_trials: 0,
        }
    }
}

/// How a minimisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A stationary point within the tolerances.
    Converged,
    /// No step lowers the cost, though the linear picture says it should: the cost is rough.
    Stalled,
    /// The number of iterations ran out.
    MaxIterations,
    /// The caller asked to stop.
    Interrupted,
}

impl Status {
    /// Whether the point is a solution.
    pub fn converged(self) -> bool {
        self == Self::Converged
    }
}

/// Where a minimisation ended.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The last state.
    pub state: LmState,
    /// How it ended.
    pub status: Status,
    /// Cost there.
    pub cost: f64,
    /// Residuals and Jacobian there.
    pub blocks: Vec<Block>,
    /// Parameters held by their bounds.
    pub at_bound: Vec<bool>,
}

/// Below this share of the squared data, a cost is rounding.
const ROUNDING: f64 = 1e-30;
/// A trial is taken if it lowers the cost by this share of what the linear picture says.
const TAKEN: f64 = 1e-4;
/// Damping of what counts as an undamped step.
const UNDAMPED: f64 = 1e-15;
/// Damping beyond which no step will help.
const LAMBDA_MAX: f64 = 1e16;
/// An iteration that lowers the cost by less than this share is idle; so many in a row end it.
const IDLE: (f64, usize) = (1e-9, 4);
/// A full step that promises less than this share of the cost, or moves no parameter by more than
/// this share, is within the rounding of the residuals.
const NEARLY: (f64, f64) = (1e-7, 1e-8);

/// The caller asked to stop.
struct Stop;

/// Minimises a problem from `state`; `report` is told of the start and of every iteration.
///
/// # Errors
/// The start itself cannot be evaluated, or an interrupt before it was.
pub fn minimise<P: LeastSquares + ?Sized>(
    problem: &P,
    state: LmState,
    options: &LmOptions,
    report: &mut dyn FnMut(&LmState, f64),
) -> Result<Fit, Failed> {
    let mut state = state;
    let mut blocks = problem.linearise(&state.p)?;
    let mut cost = total(problem, &blocks);
    if state.linearisations == 0 {
        state.linearisations = 1;
        report(&state, cost);
    }
    loop {
        let reduced = problem.picture(&blocks);
        for (scale, norm) in state.scale.iter_mut().zip(reduced.column_norms()) {
            *scale = scale.max(*norm);
        }
        let scale: Vec<f64> = state.scale.iter().map(|&s| if s > 0.0 { s } else { 1.0 }).collect();
        let free = free(problem.bounds(), &state.p, reduced.gradient());
        // Whether a full step is next to nothing, so that failing to take it is no failure.
        let mut nearly = true;
        let status = if cost <= ROUNDING * problem.data_norm2() || !free.contains(&true) {
            Some(Status::Converged)
        } else {
            let full = reduced.solve(UNDAMPED, &scale, &free);
            let size = |i: usize| full[i].abs() / state.p[i].abs().max(problem.floors()[i]);
            let largest = (0..full.len()).map(size).fold(0.0, f64::max);
            let decrease = reduced.decrease(&full);
            nearly = decrease <= NEARLY.0 * cost || largest <= NEARLY.1;
            if decrease <= options.cost_tolerance * cost
                || largest <= options.step_tolerance
                || state.idle >= IDLE.1
            {
                Some(Status::Converged)
            } else if state.iteration >= options.max_iterations {
                Some(Status::MaxIterations)
            } else {
                None
            }
        };
        let end = |state: LmState, status, cost, blocks| {
            let at_bound = free.iter().map(|f| !f).collect();
            Ok(Fit { state, status, cost, blocks, at_bound })
        };
        if let Some(status) = status {
            return end(state, status, cost, blocks);
        }
        let before = state.p.clone();
        match iterate(problem, &*reduced, &mut state, &scale, &free, cost) {
            Ok(Some(new)) => match problem.linearise(&state.p) {
                Ok(next) => {
                    state.linearisations += 1;
                    state.iteration += 1;
                    blocks = next;
                    cost = new;
                    report(&state, cost);
                }
                // Residuals exist there but their derivatives do not: a rejected trial.
                Err(Failed::Rejected(_)) => {
                    state.p = before;
                    state.failed_trials += 1;
                    state.lambda *= 100.0;
                }
                Err(Failed::Interrupted) => {
                    state.p = before;
                    return end(state, Status::Interrupted, cost, blocks);
                }
            },
            Ok(None) => {
                let status = if nearly { Status::Converged } else { Status::Stalled };
                return end(state, status, cost, blocks);
            }
            Err(Stop) => return end(state, Status::Interrupted, cost, blocks),
        }
    }
}

/// Half the summed loss.
fn total<P: LeastSquares + ?Sized>(problem: &P, blocks: &[Block]) -> f64 {
    blocks.iter().map(|b| problem.loss().cost(&b.residuals, b.priors)).sum()
}

/// Which parameters are not held by a bound that the cost pushes against.
fn free(bounds: &[(f64, f64)], p: &[f64], gradient: &[f64]) -> Vec<bool> {
    bounds
        .iter()
        .zip(p)
        .zip(gradient)
        .map(|((&(lower, upper), &p), &g)| !((p <= lower && g >= 0.0) || (p >= upper && g <= 0.0)))
        .collect()
}

/// Tries steps with growing damping until one lowers the cost. `None`: none does.
fn iterate<P: LeastSquares + ?Sized>(
    problem: &P,
    reduced: &dyn Picture,
    state: &mut LmState,
    scale: &[f64],
    free: &[bool],
    cost: f64,
) -> Result<Option<f64>, Stop> {
    while state.lambda < LAMBDA_MAX {
        let mut step = reduced.solve(state.lambda, scale, free);
        let shrink = step
            .iter()
            .zip(problem.step_limits())
            .fold(1.0f64, |s, (d, limit)| if d.abs() * s > *limit { limit / d.abs() } else { s });
        let mut trial = state.p.clone();
        for i in 0..step.len() {
            let (lower, upper) = problem.bounds()[i];
            trial[i] = (state.p[i] + shrink * step[i]).clamp(lower, upper);
            step[i] = trial[i] - state.p[i];
        }
        let predicted = reduced.decrease(&step);
        let new = if predicted > 0.0 && trial != state.p {
            state.evaluations += 1;
            match problem.residuals(&trial) {
                Ok(parts) => parts.iter().map(|(r, n)| problem.loss().cost(r, *n)).sum(),
                Err(Failed::Interrupted) => return Err(Stop),
                Err(Failed::Rejected(_)) => {
                    state.failed_trials += 1;
                    f64::INFINITY
                }
            }
        } else {
            f64::INFINITY
        };
        let gain = (cost - new) / predicted;
        if new.is_finite() && gain > TAKEN {
            let idle = shrink == 1.0 && cost - new <= IDLE.0 * cost;
            state.idle = if idle { state.idle + 1 } else { 0 };
            state.lambda = (state.lambda * f64::max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0).powi(3)))
                .clamp(1e-14, LAMBDA_MAX);
            state.growth = 2.0;
            state.p = trial;
            return Ok(Some(new));
        }
        state.lambda *= state.growth;
        state.growth *= 2.0;
    }
    Ok(None)
}
