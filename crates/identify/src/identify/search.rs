//! The search itself: several starts, then passes over the noise levels.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::checkpoint::{Checkpoint, Ended, Running};
use super::escape::escape;
use super::horizons::approach;
use super::sigma::Noise;
use super::visible::start_failed;
use super::{IdentifyOptions, Progress, shooting, starts};
use crate::error::IdentifyError;
use crate::experiment::{MethodKind, Sigma};
use crate::first_order;
use crate::least_squares::{Block, Failed, LeastSquares, LmOptions, Status, minimise};
use crate::problem::{FitProblem, Problem};
use crate::result::Iteration;
use crate::uncertainty::Series;

/// Where the search ended.
pub(super) struct Found {
    pub p: Vec<f64>,
    pub status: Status,
    pub cost: f64,
    pub blocks: Vec<Block>,
    pub at_bound: Vec<bool>,
    pub noise: Noise,
    pub iterations: usize,
    pub failed_trials: usize,
    pub checkpoint: Checkpoint,
    /// What only the linear regressor has.
    pub regression: Option<Regressed>,
    /// What only multiple shooting has: predictions per fitted recording, and what to say of the windows.
    pub shooting: Option<(Vec<Vec<f64>>, String)>,
}

/// What the report of a regression needs beside the rest.
pub(super) struct Regressed {
    pub series: Vec<Series>,
    pub cost_initial: f64,
    pub notes: Vec<String>,
}

/// Noise levels have settled when none changes by more than this.
pub(super) const SETTLED: f64 = 0.01;
/// Checkpoints are written no more often than this while iterations are quick: what a killed run
/// loses is never more.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// Passes over the noise levels at most.
pub(super) const PASSES: usize = 12;

pub(super) fn search(
    problem: &Problem,
    mut checkpoint: Checkpoint,
    options: &IdentifyOptions,
    begin: Instant,
) -> Result<Found, IdentifyError> {
    let runner = Runner::new(problem, options, begin, checkpoint.wall_s);
    if let Some(settings) = problem.method.shooting {
        return shooting::search(problem, settings, checkpoint, &runner);
    }
    if let Some(settings) = problem.method.multi_start
        && checkpoint.pass == 0
        && checkpoint.ended.len() < settings.starts
    {
        if checkpoint.turning_points.is_empty() {
            let fit = runner.fit(&checkpoint.noise);
            checkpoint.turning_points = starts::turning_points(&fit, &problem.start());
            checkpoint.runs += fit.runs();
        }
        while checkpoint.ended.len() < settings.starts {
            let k = checkpoint.ended.len();
            let one = match runner
                .minimise(&mut checkpoint, Some(k), || starts::start(problem, &settings, k))
            {
                Ok(one) => one,
                // A start that cannot be simulated is no start.
                Err(IdentifyError::Invalid { .. }) => {
                    let p = starts::start(problem, &settings, k);
                    checkpoint.ended.push(Ended { p, cost: f64::MAX, status: Status::Stalled });
                    checkpoint.running = None;
                    continue;
                }
                Err(e) => return Err(e),
            };
            if one.status == Status::Interrupted {
                return Ok(one.into_found(checkpoint));
            }
            let good = all_given(problem)
                && 2.0 * one.cost <= problem.samples() as f64
                && one.status.converged();
            checkpoint.ended.push(Ended { p: one.p, cost: one.cost, status: one.status });
            checkpoint.running = None;
            runner.save(&mut checkpoint)?;
            if good {
                break; // Every sample is explained to within its noise.
            }
        }
    }
    if let Some(stopped) = approach(problem, &runner, &mut checkpoint)? {
        return Ok(stopped.into_found(checkpoint));
    }
    loop {
        // Where the noise is about to change, the minimum under the old one need not be found to the last digit.
        let rough = checkpoint.pass == 0
            && problem.method.kind == MethodKind::Lm
            && checkpoint.noise.is_estimated()
            && !scale_only(problem);
        runner.rough.set(rough);
        let best = checkpoint.ended.iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
        let from = match (best, &checkpoint.approached) {
            (Some(best), _) => best.p.clone(),
            (None, Some(p)) => p.clone(),
            (None, None) => problem.start(),
        };
        let one = runner.minimise(&mut checkpoint, None, || from)?;
        if one.status == Status::Interrupted {
            return Ok(one.into_found(checkpoint));
        }
        let one = escape(problem, &runner, &mut checkpoint, one)?;
        if one.status == Status::Interrupted {
            return Ok(one.into_found(checkpoint));
        }
        let residuals: Vec<&[f64]> = one.blocks.iter().map(|b| b.residuals.as_slice()).collect();
        let next = checkpoint.noise.update(problem, &residuals);
        let change = next.change(&checkpoint.noise);
        let settled = change <= SETTLED && !rough;
        let last = settled || checkpoint.pass + 1 >= PASSES;
        // What does not depend on the noise does not need another pass.
        let only_scale = change > 0.0 && scale_only(problem) && one.status != Status::MaxIterations;
        if last || only_scale {
            runner.save(&mut checkpoint)?;
            let final_noise = if change > 0.0 { next } else { checkpoint.noise.clone() };
            return runner.finish(one, checkpoint, final_noise);
        }
        checkpoint.noise = next;
        checkpoint.pass += 1;
        checkpoint.running = Some(Checkpoint::begin(problem.method.kind, one.p));
        runner.save(&mut checkpoint)?;
    }
}

/// Whether every fitted sample has a given σ.
pub(super) fn all_given(problem: &Problem) -> bool {
    let given = |s: &Sigma| matches!(s, Sigma::Given(_));
    problem.fitted.iter().all(|&r| problem.recordings[r].sigma.iter().all(given))
}

/// Whether the noise only scales the cost: one signal, estimated, plain squares, no priors.
fn scale_only(problem: &Problem) -> bool {
    let mut signals: Vec<usize> = Vec::new();
    for &r in &problem.fitted {
        let recording = &problem.recordings[r];
        if recording.sigma.iter().any(|s| matches!(s, Sigma::Given(_))) {
            return false;
        }
        for &s in &recording.signal_of {
            if !signals.contains(&s) {
                signals.push(s);
            }
        }
    }
    signals.len() == 1
        && problem.method.loss == crate::least_squares::Loss::Squares
        && problem.unknowns.iter().all(|u| u.prior.is_none())
}

/// The end of one minimisation.
pub(super) struct One {
    pub p: Vec<f64>,
    pub status: Status,
    pub cost: f64,
    pub blocks: Vec<Block>,
    pub at_bound: Vec<bool>,
    pub iterations: usize,
    pub failed_trials: usize,
}

impl One {
    /// The same end, as where an interrupt came.
    pub fn interrupted(self) -> Self {
        Self { status: Status::Interrupted, ..self }
    }

    fn into_found(self, checkpoint: Checkpoint) -> Found {
        let noise = checkpoint.noise.clone();
        let Self { p, status, cost, blocks, at_bound, iterations, failed_trials } = self;
        Found {
            p,
            status,
            cost,
            blocks,
            at_bound,
            noise,
            iterations,
            failed_trials,
            checkpoint,
            regression: None,
            shooting: None,
        }
    }
}

pub(super) struct Runner<'a> {
    pub problem: &'a Problem,
    pub options: &'a IdentifyOptions<'a>,
    pub begin: Instant,
    pub wall_before: f64,
    /// When the checkpoint was last written.
    pub saved: Cell<Option<Instant>>,
    /// Whether a minimum is to be found roughly.
    pub rough: Cell<bool>,
}

/// Tolerances of a minimum that is found roughly.
const ROUGHLY: f64 = 1e-3;

/// Where a method stands after an iteration.
pub(super) struct Shot<'a> {
    pub running: Running,
    /// The unknowns come first in it.
    pub p: &'a [f64],
    pub iteration: usize,
    pub cost: f64,
    /// Simulations so far.
    pub runs: usize,
    /// Which of several starts.
    pub start: Option<usize>,
}

impl<'a> Runner<'a> {
    /// Of a search that has taken `wall_before` seconds already.
    pub fn new(
        problem: &'a Problem,
        options: &'a IdentifyOptions<'a>,
        begin: Instant,
        wall_before: f64,
    ) -> Self {
        let (saved, rough) = (Cell::new(None), Cell::new(false));
        Self { problem, options, begin, wall_before, saved, rough }
    }

    /// When the method stops.
    pub fn limits(&self) -> LmOptions {
        let method = &self.problem.method;
        let least = if self.rough.get() { ROUGHLY } else { 0.0 };
        LmOptions {
            max_iterations: method.max_iterations,
            cost_tolerance: method.cost_tolerance.max(least),
            step_tolerance: method.step_tolerance.max(least),
        }
    }

    /// Records an iteration, saves it now and then, and tells of it.
    pub fn tell(&self, checkpoint: &mut Checkpoint, shot: Shot) -> Result<(), IdentifyError> {
        let Shot { running, p, iteration, cost, runs, start } = shot;
        let pass = match checkpoint.history.last() {
            None => 0,
            Some(last) if iteration > last.iteration => last.pass,
            Some(last) => last.pass + 1,
        };
        let wall_s = self.wall_before + self.begin.elapsed().as_secs_f64();
        checkpoint.history.push(Iteration { pass, iteration, cost, wall_s });
        checkpoint.running = Some(running);
        checkpoint.runs = runs;
        let saved = self.save_now_and_then(checkpoint);
        if let Some(progress) = self.options.progress {
            let unknowns = self.problem.unknowns.iter();
            let values: Vec<(String, f64)> =
                unknowns.zip(p).map(|(u, &p)| (u.name.clone(), u.transform.value(p))).collect();
            progress(&Progress {
                iteration,
                max_iterations: self.problem.method.max_iterations,
                cost,
                start,
                pass: checkpoint.pass,
                values: &values,
            });
        }
        saved
    }

    /// The same for another problem.
    pub fn again(&self) -> Self {
        let Self { problem, options, begin, wall_before, ref saved, .. } = *self;
        let rough = Cell::new(false);
        Self { problem, options, begin, wall_before, saved: saved.clone(), rough }
    }

    pub fn fit(&self, noise: &Noise) -> FitProblem<'a> {
        FitProblem::new(self.problem, noise.per_sample(self.problem), self.options.interrupt)
    }

    fn save_now_and_then(&self, checkpoint: &mut Checkpoint) -> Result<(), IdentifyError> {
        match self.saved.get() {
            Some(at) if at.elapsed() < SAVE_EVERY => Ok(()),
            _ => self.save(checkpoint),
        }
    }

    pub fn save(&self, checkpoint: &mut Checkpoint) -> Result<(), IdentifyError> {
        checkpoint.wall_s = self.wall_before + self.begin.elapsed().as_secs_f64();
        self.saved.set(Some(Instant::now()));
        match self.options.run_folder {
            Some(folder) => checkpoint.write(folder),
            None => Ok(()),
        }
    }

    /// The blocks at the end, whitened by the final noise.
    fn finish(
        &self,
        one: One,
        checkpoint: Checkpoint,
        noise: Noise,
    ) -> Result<Found, IdentifyError> {
        let mut found = one.into_found(checkpoint);
        if noise != found.noise {
            let fit = self.fit(&noise);
            match fit.linearise(&found.p) {
                Ok(blocks) => {
                    let cost = |b: &Block| fit.loss().cost(&b.residuals, b.priors);
                    found.cost = blocks.iter().map(cost).sum();
                    found.blocks = blocks;
                }
                Err(e) => return Err(start_failed(e)),
            }
            found.checkpoint.runs += fit.runs();
            found.noise = noise;
        }
        Ok(found)
    }

    /// Runs the method from the checkpoint's state or from a fresh one.
    pub fn minimise(
        &self,
        checkpoint: &mut Checkpoint,
        start: Option<usize>,
        from: impl FnOnce() -> Vec<f64>,
    ) -> Result<One, IdentifyError> {
        let method = &self.problem.method;
        let running =
            checkpoint.running.take().unwrap_or_else(|| Checkpoint::begin(method.kind, from()));
        let fit = self.fit(&checkpoint.noise);
        let runs_before = checkpoint.runs;
        let mut failure = None;
        let mut told = |running: Running, p: &[f64], iteration: usize, cost: f64| {
            let runs = runs_before + fit.runs();
            let shot = Shot { running, p, iteration, cost, runs, start };
            if let Err(e) = self.tell(checkpoint, shot) {
                failure.get_or_insert(e);
            }
        };
        let limits = self.limits();
        let one = match running {
            Running::Lm(state) => {
                let found = minimise(&fit, state, &limits, &mut |state, cost| {
                    told(Running::Lm(state.clone()), &state.p, state.iteration, cost);
                })
                .map_err(start_failed)?;
                One {
                    iterations: found.state.iteration,
                    failed_trials: found.state.failed_trials,
                    p: found.state.p,
                    status: found.status,
                    cost: found.cost,
                    blocks: found.blocks,
                    at_bound: found.at_bound,
                }
            }
            other => {
                let ended = match other {
                    Running::Adam(state) => first_order::adam(
                        &fit,
                        state,
                        method.learning_rate,
                        &limits,
                        &mut |state, cost| {
                            let p = state.best.clone();
                            told(Running::Adam(state.clone()), &p, state.iteration, cost);
                        },
                    ),
                    Running::Lbfgs { start: from, journal } => first_order::lbfgs(
                        &fit,
                        &from,
                        journal,
                        &limits,
                        &mut |journal, p, iteration, cost| {
                            let state =
                                Running::Lbfgs { start: from.clone(), journal: journal.to_vec() };
                            told(state, p, iteration, cost);
                        },
                    ),
                    Running::Lm(_) => Err(Failed::Interrupted),
                }
                .map_err(start_failed)?;
                self.linearised(&fit, ended)?
            }
        };
        checkpoint.runs = runs_before + fit.runs();
        if one.status == Status::Interrupted {
            self.save(checkpoint)?;
        }
        match failure {
            Some(e) => Err(e),
            None => Ok(one),
        }
    }

    /// Residuals and Jacobian at the end of a first-order method.
    fn linearised(
        &self,
        fit: &FitProblem,
        ended: first_order::Ended,
    ) -> Result<One, IdentifyError> {
        debug_assert!(self.problem.method.kind != MethodKind::Lm);
        let blocks = fit.linearise(&ended.p).map_err(start_failed)?;
        let at_bound = ended
            .p
            .iter()
            .zip(fit.bounds())
            .map(|(p, (lower, upper))| {
                let near = 1e-9 * (1.0 + p.abs());
                p - lower <= near || upper - p <= near
            })
            .collect();
        Ok(One {
            cost: ended.cost,
            status: ended.status,
            iterations: ended.iterations,
            failed_trials: 0,
            blocks,
            at_bound,
            p: ended.p,
        })
    }
}
