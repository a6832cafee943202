//! Adam (Kingma & Ba 2015).

use serde::{Deserialize, Serialize};

use super::{Ended, Smooth};
use crate::least_squares::{Failed, LmOptions, Status};

/// Everything that the next step follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamState {
    /// Steps done.
    pub iteration: usize,
    /// Where the next gradient is taken.
    pub p: Vec<f64>,
    /// The best point so far.
    pub best: Vec<f64>,
    /// Its cost; `None` before the first.
    pub best_cost: Option<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    /// Factor on the learning rate, halved where a trial cannot be evaluated.
    shrink: f64,
    /// Steps since the best point was found.
    idle: usize,
}

impl AdamState {
    /// A fresh start.
    pub fn new(p: Vec<f64>) -> Self {
        let zero = vec![0.0; p.len()];
        Self {
            iteration: 0,
            best: p.clone(),
            p,
            best_cost: None,
            first: zero.clone(),
            second: zero,
            shrink: 1.0,
            idle: 0,
        }
    }
}

const DECAY: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-12;
/// Steps without a better point after which the search ends.
const PATIENCE: usize = 50;
/// Steps that hardly move any more.
const SHRUNK: f64 = 1e-6;

/// Minimises from `state` with steps of about `rate` in every parameter.
///
/// # Errors
/// The start cannot be evaluated, or an interrupt before it was.
pub fn adam(
    problem: &dyn Smooth,
    mut state: AdamState,
    rate: f64,
    options: &LmOptions,
    report: &mut dyn FnMut(&AdamState, f64),
) -> Result<Ended, Failed> {
    let end = |state: AdamState, status| {
        let cost = state.best_cost.unwrap_or(f64::MAX);
        Ok(Ended { p: state.best, cost, status, iterations: state.iteration })
    };
    while state.iteration < options.max_iterations {
        let (cost, gradient) = match problem.evaluate(&state.p) {
            Ok(found) => found,
            Err(Failed::Interrupted) if state.best_cost.is_some() => {
                return end(state, Status::Interrupted);
            }
            Err(Failed::Rejected(_)) if state.best_cost.is_some() => {
                state.p.clone_from(&state.best);
                state.first.fill(0.0);
                state.shrink *= 0.5;
                if state.shrink < SHRUNK {
                    return end(state, Status::Stalled);
                }
                continue;
            }
            Err(e) => return Err(e),
        };
        let better = state.best_cost.is_none_or(|best| cost < best);
        let enough =
            state.best_cost.is_none_or(|best| cost < best * (1.0 - options.cost_tolerance));
        if better {
            state.best.clone_from(&state.p);
            state.best_cost = Some(cost);
        }
        state.idle = if enough { 0 } else { state.idle + 1 };
        state.iteration += 1;
        let t = state.iteration as f64;
        for i in 0..state.p.len() {
            let g = gradient[i];
            state.first[i] = DECAY.0 * state.first[i] + (1.0 - DECAY.0) * g;
            state.second[i] = DECAY.1 * state.second[i] + (1.0 - DECAY.1) * g * g;
            let mean = state.first[i] / (1.0 - DECAY.0.powf(t));
            let square = state.second[i] / (1.0 - DECAY.1.powf(t));
            let step = state.shrink * rate * mean / (square.sqrt() + EPSILON);
            let (lower, upper) = problem.box_bounds()[i];
            state.p[i] = (state.p[i] - step).clamp(lower, upper);
        }
        if gradient.iter().all(|g| *g == 0.0) {
            return end(state, Status::Converged);
        }
        if state.idle >= PATIENCE {
            // Circling the minimum: go on from the best point with smaller steps.
            state.p.clone_from(&state.best);
            state.first.fill(0.0);
            state.second.fill(0.0);
            state.idle = 0;
            state.shrink *= 0.25;
            if state.shrink < SHRUNK {
                return end(state, Status::Converged);
            }
        }
        report(&state, state.best_cost.unwrap_or(cost));
    }
    end(state, Status::MaxIterations)
}
