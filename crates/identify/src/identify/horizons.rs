//! Starts that are far off: the recordings are fitted in growing parts.

use super::checkpoint::Checkpoint;
use super::search::{One, Runner, all_given};
use super::visible::start_failed;
use crate::error::IdentifyError;
use crate::experiment::MethodKind;
use crate::least_squares::{LeastSquares, Status};
use crate::problem::{FitProblem, Problem};

/// Parts of the recordings that are fitted one after the other from a start that is far off. The
/// longer a motion, the more local minima its cost has (a phase that slipped, a contact that came
/// another time); the minimum of a shorter part leads into the right one.
pub(super) const HORIZONS: [f64; 3] = [0.25, 0.4, 0.65];
/// A start is far off if its mean squared whitened residual is above this where σ is given, and
/// above [`FAR_ESTIMATED`] where the signal's rms stands for σ.
const FAR_GIVEN: f64 = 9.0;
const FAR_ESTIMATED: f64 = 0.1;
/// How well a part is fitted before the next one takes over.
pub(super) const PART: (usize, f64, f64) = (12, 1e-4, 1e-4);

/// Fits growing parts of the recordings from a start that is far off, and keeps in the checkpoint
/// where that led if it explains all samples better than the start. Returns where an interrupt
/// came.
pub(super) fn approach(
    problem: &Problem,
    runner: &Runner,
    checkpoint: &mut Checkpoint,
) -> Result<Option<One>, IdentifyError> {
    let plain = problem.method.kind == MethodKind::Lm && problem.method.multi_start.is_none();
    if !plain || checkpoint.pass > 0 || checkpoint.horizon > HORIZONS.len() {
        return Ok(None);
    }
    let start = problem.start();
    let fit = runner.fit(&checkpoint.noise);
    let cost = |p: &[f64]| -> f64 {
        let parts = fit.residuals(p);
        parts.map_or(f64::INFINITY, |parts| parts.iter().map(|(r, n)| fit.loss().cost(r, *n)).sum())
    };
    if checkpoint.horizon == 0 && checkpoint.running.is_none() {
        let mean = 2.0 * cost(&start) / problem.samples().max(1) as f64;
        let far = if all_given(problem) { FAR_GIVEN } else { FAR_ESTIMATED };
        if mean <= far || problem.unknowns.is_empty() {
            checkpoint.horizon = HORIZONS.len() + 1;
            return Ok(None);
        }
    }
    while checkpoint.horizon < HORIZONS.len() {
        if let Some(mut part) = problem.until(HORIZONS[checkpoint.horizon])? {
            (part.method.max_iterations, part.method.cost_tolerance, part.method.step_tolerance) =
                PART;
            let partial = Runner { problem: &part, ..runner.again() };
            let from = checkpoint.approached.clone().unwrap_or_else(|| start.clone());
            match partial.minimise(checkpoint, None, || from) {
                Ok(one) if one.status == Status::Interrupted => {
                    // What is reported are all samples; the interrupt has had its effect.
                    let fit = FitProblem::new(problem, checkpoint.noise.per_sample(problem), None);
                    let blocks = fit.linearise(&one.p).map_err(start_failed)?;
                    let cost = blocks.iter().map(|b| fit.loss().cost(&b.residuals, b.priors)).sum();
                    return Ok(Some(One { blocks, cost, ..one }));
                }
                Ok(one) => checkpoint.approached = Some(one.p),
                // A part that cannot be fitted leads nowhere.
                Err(IdentifyError::Invalid { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        checkpoint.running = None;
        checkpoint.horizon += 1;
        runner.save(checkpoint)?;
    }
    if checkpoint.horizon == HORIZONS.len() {
        if checkpoint.approached.as_ref().is_some_and(|p| cost(p) >= cost(&start)) {
            checkpoint.approached = None;
        }
        checkpoint.horizon += 1;
    }
    Ok(None)
}
