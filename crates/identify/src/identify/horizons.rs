//! Starts that are far off: scans of single unknowns, and fits of growing parts of the recordings.

use std::sync::atomic::{AtomicBool, Ordering};

use super::checkpoint::Checkpoint;
use super::search::{One, Runner, all_given};
use crate::error::IdentifyError;
use crate::experiment::MethodKind;
use crate::least_squares::{Failed, LeastSquares, Status};
use crate::problem::{FitProblem, Part, Problem};

/// Parts of the recordings that are fitted one after the other from a start that is far off. The
/// longer a motion, the more local minima its cost has (a phase that slipped, a contact that came
/// another time); the minimum of a shorter part leads into the right one.
pub(super) const HORIZONS: [f64; 3] = [0.25, 0.4, 0.65];
/// What is fitted before those where the start diverges: a short motion hardly can.
const EARLY: [f64; 4] = [0.015, 0.03, 0.06, 0.12];
/// A start is far off if its mean squared whitened residual is above this where σ is given, and
/// above [`FAR_ESTIMATED`] where the signal's rms stands for σ.
const FAR_GIVEN: f64 = 9.0;
const FAR_ESTIMATED: f64 = 0.1;
/// How well a part is fitted before the next one takes over.
pub(super) const PART: (usize, f64, f64) = (12, 1e-4, 1e-4);

/// The longest usual part of the recordings for which the start can be simulated, where it diverges later: that
/// is then no obstacle; `None` where there is no such part or no need of one.
pub(super) fn simulated(
    problem: &Problem,
    start: &[f64],
    interrupt: Option<&AtomicBool>,
) -> Result<Option<Problem>, IdentifyError> {
    let plain = problem.method.kind == MethodKind::Lm && problem.method.multi_start.is_none();
    let runs = |problem: &Problem| {
        problem.fitted.iter().all(|&r| {
            let recording = &problem.recordings[r];
            let system = &problem.system;
            recording.predict(system, &problem.unknowns, start, interrupt, true).is_ok()
        })
    };
    if !plain || runs(problem) {
        return Ok(None);
    }
    for fraction in [HORIZONS[0]].into_iter().chain(EARLY.into_iter().rev()) {
        if let Some(part) = problem.until(Part::Fraction(fraction))?.filter(runs) {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

/// The parts that are fitted before the whole.
fn horizons(problem: &Problem, diverges: bool) -> Vec<Part> {
    let early = if diverges { EARLY.as_slice() } else { &[] };
    match &problem.method.horizons {
        Some(times) => times.iter().map(|&t| Part::Time(t)).collect(),
        None => early.iter().chain(&HORIZONS).map(|&f| Part::Fraction(f)).collect(),
    }
}

/// Tries the values that are to be scanned, of one unknown after the other, and keeps the best point.
fn scan(
    problem: &Problem,
    runner: &Runner,
    checkpoint: &mut Checkpoint,
) -> Result<(), IdentifyError> {
    let fit = Runner { problem, ..runner.again() }.fit(&checkpoint.noise);
    let cost = |p: &[f64]| match fit.residuals(p) {
        Ok(parts) => Ok(parts.iter().map(|(r, n)| fit.loss().cost(r, *n)).sum()),
        Err(Failed::Rejected(_)) => Ok(f64::INFINITY),
        Err(Failed::Interrupted) => Err(IdentifyError::Interrupted),
    };
    let mut best = checkpoint.approached.clone().unwrap_or_else(|| problem.start());
    let mut least = cost(&best)?;
    for (i, unknown) in problem.unknowns.iter().enumerate() {
        for &value in &unknown.scan {
            let mut trial = best.clone();
            trial[i] = value;
            let found = cost(&trial)?;
            if found < least {
                (least, best) = (found, trial);
            }
        }
    }
    checkpoint.runs += fit.runs();
    checkpoint.scanned = Some(best.clone());
    checkpoint.approached = Some(best);
    runner.save(checkpoint)
}

/// Fits growing parts of the recordings: those that the method says, or, from a start that is far off,
/// usual ones, short ones first where it diverges. What is to be scanned is scanned by the cost of the last part that the method says, once
/// those before it are fitted, or by the whole cost before anything else. Keeps in the checkpoint where that led, if it explains
/// all samples better than the start or was asked for. Returns where an interrupt came.
pub(super) fn approach(
    problem: &Problem,
    runner: &Runner,
    checkpoint: &mut Checkpoint,
) -> Result<Option<One>, IdentifyError> {
    let plain = problem.method.kind == MethodKind::Lm
        && problem.method.multi_start.is_none()
        && problem.method.max_iterations > 0;
    let parts = |checkpoint: &Checkpoint| horizons(problem, checkpoint.diverges == Some(true));
    let mut horizons = parts(checkpoint);
    if !plain || checkpoint.pass > 0 || checkpoint.horizon > horizons.len() {
        return Ok(None);
    }
    let asked = problem.method.horizons.is_some();
    let mut to_scan =
        checkpoint.scanned.is_none() && problem.unknowns.iter().any(|u| !u.scan.is_empty());
    if to_scan && (!asked || horizons.is_empty()) {
        scan(problem, runner, checkpoint)?;
        to_scan = false;
    }
    let start = checkpoint.scanned.clone().unwrap_or_else(|| problem.start());
    let fit = runner.fit(&checkpoint.noise);
    let cost = |p: &[f64]| -> f64 {
        let parts = fit.residuals(p);
        parts.map_or(f64::INFINITY, |parts| parts.iter().map(|(r, n)| fit.loss().cost(r, *n)).sum())
    };
    if !asked && checkpoint.horizon == 0 && checkpoint.running.is_none() {
        let cost = cost(&start);
        if runner.options.interrupt.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(IdentifyError::Interrupted);
        }
        checkpoint.diverges = Some(!cost.is_finite());
        horizons = parts(checkpoint);
        let mean = 2.0 * cost / problem.samples().max(1) as f64;
        let far = if all_given(problem) { FAR_GIVEN } else { FAR_ESTIMATED };
        if mean <= far || problem.unknowns.is_empty() {
            checkpoint.horizon = horizons.len() + 1;
            return Ok(None);
        }
    }
    while checkpoint.horizon < horizons.len() {
        if let Some(mut part) = problem.until(horizons[checkpoint.horizon])? {
            (part.method.max_iterations, part.method.cost_tolerance, part.method.step_tolerance) =
                PART;
            if to_scan && checkpoint.horizon + 1 == horizons.len() {
                scan(&part, runner, checkpoint)?;
            }
            let partial = Runner { problem: &part, ..runner.again() };
            let from = checkpoint.approached.clone().unwrap_or_else(|| start.clone());
            match partial.minimise(checkpoint, None, || from) {
                Ok(one) if one.status == Status::Interrupted => {
                    // What is reported are all samples; the interrupt has had its effect. Where they cannot be
                    // simulated yet, there is nothing to report.
                    let fit = FitProblem::new(problem, checkpoint.noise.per_sample(problem), None);
                    let blocks = fit.linearise(&one.p).map_err(|_| IdentifyError::Interrupted)?;
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
    if checkpoint.horizon == horizons.len() {
        if !asked && checkpoint.approached.as_ref().is_some_and(|p| cost(p) >= cost(&start)) {
            checkpoint.approached = checkpoint.scanned.clone();
        }
        checkpoint.horizon += 1;
    }
    Ok(None)
}
