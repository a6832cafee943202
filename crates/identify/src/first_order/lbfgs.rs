//! L-BFGS with Moré-Thuente line searches, by the argmin library.

use std::sync::{Mutex, MutexGuard, PoisonError};

use argmin::core::{
    CostFunction, Error, Executor, Gradient, State, TerminationReason, TerminationStatus,
};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

use super::interior::Interior;
use super::{Ended, Smooth};
use crate::least_squares::{Failed, LmOptions, Status};

/// Pairs of steps and gradient changes that are kept.
const MEMORY: usize = 10;
/// Restarts from the best point after a failed line search.
const RESTARTS: usize = 3;

/// Cost and gradient of every evaluation, in order.
pub type Journal = Vec<(f64, Vec<f64>)>;

/// Told of the journal, the best point, the number of gradients and the best cost.
pub type Report<'a> = dyn FnMut(&[(f64, Vec<f64>)], &[f64], usize, f64) + 'a;

struct Shared<'a, 'b> {
    journal: Journal,
    /// Entries that a run before this one wrote, still to be replayed.
    replay: usize,
    used: usize,
    /// z, cost and gradient by z of the last evaluation.
    last: Option<(Vec<f64>, f64, Vec<f64>)>,
    best: Option<(Vec<f64>, f64)>,
    failed: Option<Failed>,
    limit: usize,
    report: &'a mut Report<'b>,
}

/// The cost over all of space.
struct Unbounded<'a, 'b, 'c> {
    problem: &'c dyn Smooth,
    interior: &'c Interior,
    shared: &'c Mutex<Shared<'a, 'b>>,
}

impl<'a, 'b> Unbounded<'a, 'b, '_> {
    fn lock(&self) -> MutexGuard<'_, Shared<'a, 'b>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, z: &[f64]) -> Result<(f64, Vec<f64>), Error> {
        let mut shared = self.lock();
        if let Some((known, cost, gradient)) = &shared.last
            && known == z
        {
            return Ok((*cost, gradient.clone()));
        }
        let p = self.interior.value(z);
        let (cost, gradient) = if shared.used < shared.replay {
            shared.journal[shared.used].clone()
        } else if shared.used >= shared.limit {
            return Err(Error::msg("no evaluation left"));
        } else {
            let found = match self.problem.evaluate(&p) {
                Ok((cost, gradient)) => (cost, self.interior.pullback(z, &gradient)),
                Err(Failed::Rejected(reason)) => match &shared.best {
                    Some((best, cost)) => wall(best, *cost, z),
                    None => {
                        shared.failed = Some(Failed::Rejected(reason));
                        return Err(Error::msg("the start cannot be evaluated"));
                    }
                },
                Err(Failed::Interrupted) => {
                    shared.failed = Some(Failed::Interrupted);
                    return Err(Error::msg("interrupted"));
                }
            };
            shared.journal.push(found.clone());
            found
        };
        shared.used += 1;
        if shared.best.as_ref().is_none_or(|(_, best)| cost < *best) {
            shared.best = Some((z.to_vec(), cost));
        }
        if shared.used > shared.replay {
            let Shared { journal, best, used, report, .. } = &mut *shared;
            if let Some((z, cost)) = best {
                report(journal, &self.interior.value(z), *used, *cost);
            }
        }
        shared.last = Some((z.to_vec(), cost, gradient.clone()));
        Ok((cost, gradient))
    }
}

/// What stands for a trial that cannot be evaluated: a cost that rises away from the best point,
/// so that the line search comes back.
fn wall(best: &[f64], cost: f64, z: &[f64]) -> (f64, Vec<f64>) {
    let difference: Vec<f64> = z.iter().zip(best).map(|(a, b)| a - b).collect();
    let square: f64 = difference.iter().map(|d| d * d).sum::<f64>().max(1e-300);
    let height = 10.0 * (cost.abs() + 1.0);
    let gradient = difference.iter().map(|d| 2.0 * height * d / square).collect();
    (cost + height, gradient)
}

impl CostFunction for Unbounded<'_, '_, '_> {
    type Param = Vec<f64>;
    type Output = f64;
    fn cost(&self, z: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.at(z)?.0)
    }
}

impl Gradient for Unbounded<'_, '_, '_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;
    fn gradient(&self, z: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.at(z)?.1)
    }
}

/// Minimises from `start`; `max_iterations` counts gradients. A `journal` of an interrupted run
/// is replayed without evaluating anything, and the run goes on from there to the same bits.
///
/// # Errors
/// The start cannot be evaluated, or an interrupt before it was.
pub fn lbfgs(
    problem: &dyn Smooth,
    start: &[f64],
    journal: Journal,
    options: &LmOptions,
    report: &mut Report,
) -> Result<Ended, Failed> {
    let bounds = problem.box_bounds();
    let interior = Interior::new(bounds, start);
    let mut z = interior.inverse(bounds, start);
    let shared = Mutex::new(Shared {
        replay: journal.len(),
        journal,
        used: 0,
        last: None,
        best: None,
        failed: None,
        limit: options.max_iterations,
        report,
    });
    let mut status = Status::Stalled;
    for _ in 0..=RESTARTS {
        let function = Unbounded { problem, interior: &interior, shared: &shared };
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
            .with_tolerance_grad(0.0)
            .and_then(|s| s.with_tolerance_cost(0.0));
        let Ok(solver) = solver else { break };
        let before = best_cost(&shared);
        let outcome = Executor::new(function, solver)
            .configure(|state| state.param(z.clone()).max_iters(u64::MAX))
            .run();
        let guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match &guard.failed {
            Some(Failed::Interrupted) if guard.best.is_some() => {
                status = Status::Interrupted;
                break;
            }
            Some(failed) => return Err(failed.clone()),
            None => {}
        }
        if guard.used >= guard.limit {
            status = Status::MaxIterations;
            break;
        }
        let Some((best, cost)) = &guard.best else { break };
        let converged = outcome.is_ok_and(|o| {
            let reason = o.state().get_termination_status();
            matches!(reason, TerminationStatus::Terminated(TerminationReason::SolverConverged))
        });
        let gained = before.is_none_or(|b| *cost < b - options.cost_tolerance * b.abs());
        if converged || !gained {
            status = Status::Converged;
            break;
        }
        z.clone_from(best);
    }
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    match shared.best {
        Some((z, cost)) => {
            Ok(Ended { p: interior.value(&z), cost, status, iterations: shared.used })
        }
        None => Err(Failed::Rejected("the start cannot be evaluated".into())),
    }
}

fn best_cost(shared: &Mutex<Shared>) -> Option<f64> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).best.as_ref().map(|b| b.1)
}
