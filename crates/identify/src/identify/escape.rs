//! The way out of a local minimum that the noise cannot explain.

use super::IdentifyOptions;
use super::checkpoint::Checkpoint;
use super::horizons::{HORIZONS, PART};
use super::search::{One, Runner, all_given};
use crate::error::IdentifyError;
use crate::experiment::MethodKind;
use crate::least_squares::{LeastSquares, Status};
use crate::problem::{FitProblem, Part, Problem};

/// Scans at most so many unknowns: each costs twice [`REACH`] simulations of a part.
const SCANNED: usize = 3;
/// Neighbouring trial values have this ratio; a part of a motion has minima no closer than that.
const RATIO: f64 = 1.15;
/// How many of them on either side: a factor of 30.
const REACH: i32 = 24;
/// So many of the best trials are fitted.
const CANDIDATES: usize = 3;

/// Whether a mean squared whitened residual of so many samples says that the fit is no fit: far
/// beyond chance, and by more than what a model is usually wrong by.
fn is_unexplained(problem: &Problem, cost: f64) -> bool {
    let samples = problem.samples() as f64;
    let mean = 2.0 * cost / samples;
    mean > 1.2 && mean > 1.0 + 8.0 * (2.0 / samples).sqrt()
}

/// Where the noise is given and cannot explain what is left at a minimum, looks for a better one:
/// scans each unknown that has a sign (a logarithm) over three decades by the cost of the first part
/// of the recordings, and fits the best trials in growing parts. Returns the better end.
pub(super) fn escape(
    problem: &Problem,
    runner: &Runner,
    checkpoint: &mut Checkpoint,
    one: One,
) -> Result<One, IdentifyError> {
    let plain = problem.method.kind == MethodKind::Lm && problem.method.multi_start.is_none();
    let due = plain
        && checkpoint.pass == 0
        && !checkpoint.escaped
        && one.status.converged()
        && all_given(problem)
        && is_unexplained(problem, one.cost);
    if !due {
        return Ok(one);
    }
    let Some(first) = part(problem, HORIZONS[1])? else { return Ok(one) };
    // Nothing is saved until the end: a killed search does this again, to the same result.
    let options = IdentifyOptions { run_folder: None, ..*runner.options };
    let mut trial = checkpoint.clone();
    fn on<'a>(problem: &'a Problem, options: &'a IdentifyOptions<'a>, like: &Runner) -> Runner<'a> {
        Runner {
            problem,
            options,
            begin: like.begin,
            wall_before: like.wall_before,
            saved: Default::default(),
            rough: Default::default(),
        }
    }
    let mut ends = Vec::new();
    for p in
        candidates(&on(&first, &options, runner).fit(&checkpoint.noise), &one.p, &mut trial.runs)
    {
        trial.running = None;
        match on(&first, &options, runner).minimise(&mut trial, None, || p) {
            Ok(end) if end.status == Status::Interrupted => {
                return Ok(one.interrupted());
            }
            Ok(end) => ends.push((cost(&runner.fit(&checkpoint.noise), &end.p), end.p)),
            Err(IdentifyError::Invalid { .. }) => {}
            Err(e) => return Err(e),
        }
    }
    let mut best = one;
    if let Some((_, mut p)) = ends.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
        if let Some(second) = part(problem, HORIZONS[2])? {
            trial.running = None;
            if let Ok(end) = on(&second, &options, runner).minimise(&mut trial, None, || p.clone())
            {
                p = end.p;
            }
        }
        trial.running = None;
        match on(problem, &options, runner).minimise(&mut trial, None, || p) {
            Ok(end) if end.status == Status::Interrupted || end.cost < best.cost => {
                checkpoint.running = trial.running.take();
                best = end;
            }
            Ok(_) | Err(IdentifyError::Invalid { .. }) => {}
            Err(e) => return Err(e),
        }
    }
    checkpoint.history = trial.history;
    checkpoint.runs = trial.runs;
    checkpoint.escaped = best.status != Status::Interrupted;
    runner.save(checkpoint)?;
    Ok(best)
}

/// The first part of the recordings, to be fitted roughly.
fn part(problem: &Problem, fraction: f64) -> Result<Option<Problem>, IdentifyError> {
    let mut part = problem.until(Part::Fraction(fraction))?;
    if let Some(part) = &mut part {
        (part.method.max_iterations, part.method.cost_tolerance, part.method.step_tolerance) = PART;
    }
    Ok(part)
}

fn cost(fit: &FitProblem, p: &[f64]) -> f64 {
    let parts = fit.residuals(p);
    parts.map_or(f64::INFINITY, |parts| parts.iter().map(|(r, n)| fit.loss().cost(r, *n)).sum())
}

/// The best local minima among trial values of single unknowns, away from `p`.
fn candidates(fit: &FitProblem, p: &[f64], runs: &mut usize) -> Vec<Vec<f64>> {
    let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
    let unknowns = fit.problem.unknowns.iter().enumerate();
    let shared = unknowns.filter(|(_, u)| u.recording.is_none() && !u.transform.is_identity());
    for (i, unknown) in shared.take(SCANNED) {
        let value = unknown.transform.value(p[i]);
        let trials: Vec<(f64, Vec<f64>)> = (-REACH..=REACH)
            .map(|k| {
                let mut trial = p.to_vec();
                trial[i] = unknown.transform.inverse(value * RATIO.powi(k));
                let inside = (unknown.bounds.0..=unknown.bounds.1).contains(&trial[i]);
                (if inside { cost(fit, &trial) } else { f64::INFINITY }, trial)
            })
            .collect();
        for (k, w) in trials.windows(3).enumerate() {
            let at_start = (k as i32 + 1 - REACH).abs() <= 1;
            if w[1].0.is_finite() && w[1].0 <= w[0].0 && w[1].0 <= w[2].0 && !at_start {
                found.push(w[1].clone());
            }
        }
    }
    *runs += fit.runs();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.truncate(CANDIDATES);
    found.into_iter().map(|(_, p)| p).collect()
}
