//! The search by multiple shooting.

use serde::{Deserialize, Serialize};

use super::checkpoint::{Checkpoint, Running};
use super::search::{Found, PASSES, Runner, SETTLED, Shot};
use super::sigma::Noise;
use super::visible::start_failed;
use crate::error::IdentifyError;
use crate::experiment::Shooting;
use crate::least_squares::{
    Block, Failed, LeastSquares, LmOptions, LmState, Loss, Status, Structure, minimise,
};
use crate::problem::{FitProblem, Prepared, Problem, ShootingFit, Windows};

/// The first tolerance of gaps; each stage's is a tenth of the one before, down to the one asked for.
const FIRST: f64 = 0.1;
/// How well a stage is solved before the next one.
const STAGE: (usize, f64, f64) = (15, 1e-4, 1e-6);
/// Before the fit, a window's state may differ from where the one before led by this share of its size.
const LOOSE: f64 = 0.3;
/// How well the states are found before the fit.
const LOCAL: LmOptions =
    LmOptions { max_iterations: 8, cost_tolerance: 1e-3, step_tolerance: 1e-3 };
/// σ that is to be estimated is taken as this share of its signal's rms before the fit.
const ASSUMED_NOISE: f64 = 0.05;
/// A number of a state that hardly moves counts as this share of the largest of its kind.
const SMALLEST_SIZE: f64 = 1e-2;

/// Where a search by multiple shooting stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stages {
    /// How many tolerances have been worked off.
    pub done: usize,
    /// Sizes of the states' numbers, per fitted recording.
    pub sizes: Vec<Vec<f64>>,
}

/// Finds the unknowns and the states of all windows.
pub(super) fn search(
    problem: &Problem,
    settings: Shooting,
    mut checkpoint: Checkpoint,
    runner: &Runner,
) -> Result<Found, IdentifyError> {
    let (windows, mut p) = match (&checkpoint.stages, &checkpoint.running) {
        (Some(stages), Some(Running::Lm(state))) => {
            let windows = Windows::new(problem, settings.window, stages.sizes.clone())?;
            (windows, state.p.clone())
        }
        _ => begin(problem, settings, runner)?,
    };
    let sizes = windows.sizes.clone();
    let mut stages = checkpoint.stages.take().unwrap_or(Stages { done: 0, sizes });
    let tolerance = |done: usize| (FIRST * 0.1f64.powi(done as i32)).max(settings.tolerance);
    let full = runner.limits();
    loop {
        let last = tolerance(stages.done) <= settings.tolerance;
        let limits = if last {
            full.clone()
        } else {
            let (max_iterations, cost_tolerance, step_tolerance) = STAGE;
            LmOptions { max_iterations, cost_tolerance, step_tolerance }
        };
        let fit = ShootingFit::new(runner.fit(&checkpoint.noise), &windows, tolerance(stages.done));
        let running = match checkpoint.running.take() {
            Some(Running::Lm(state)) => state,
            _ => LmState::new(p.clone()),
        };
        checkpoint.stages = Some(stages.clone());
        let before = checkpoint.runs;
        let mut failure = None;
        let found = minimise(&fit, running, &limits, &mut |state, cost| {
            let shot = Shot {
                running: Running::Lm(state.clone()),
                p: &state.p,
                iteration: state.iteration,
                cost,
                runs: before + fit.runs(),
                start: None,
            };
            if let Err(e) = runner.tell(&mut checkpoint, shot) {
                failure.get_or_insert(e);
            }
        })
        .map_err(start_failed)?;
        if let Some(e) = failure {
            return Err(e);
        }
        checkpoint.runs = before + fit.runs();
        p.clone_from(&found.state.p);
        if found.status == Status::Interrupted {
            runner.save(&mut checkpoint)?;
            // What there is must be reported; the interrupt has had its effect.
            let plain = FitProblem::new(problem, checkpoint.noise.per_sample(problem), None);
            let fit = ShootingFit::new(plain, &windows, tolerance(stages.done));
            return finish(problem, settings, &fit, found, checkpoint);
        }
        checkpoint.running = None;
        if !last {
            stages.done += 1;
            continue;
        }
        let blocks = fit.condensed(&p).map_err(start_failed)?;
        let residuals: Vec<&[f64]> = blocks.iter().map(|b| b.residuals.as_slice()).collect();
        let next = checkpoint.noise.update(problem, &residuals);
        let change = next.change(&checkpoint.noise);
        checkpoint.noise = next;
        if change <= SETTLED || checkpoint.pass + 1 >= PASSES {
            let fit = ShootingFit::new(runner.fit(&checkpoint.noise), &windows, settings.tolerance);
            return finish(problem, settings, &fit, found, checkpoint);
        }
        checkpoint.pass += 1;
        checkpoint.running = Some(Running::Lm(LmState::new(p.clone())));
        runner.save(&mut checkpoint)?;
    }
}

fn finish(
    problem: &Problem,
    settings: Shooting,
    fit: &ShootingFit,
    found: crate::least_squares::Fit,
    checkpoint: Checkpoint,
) -> Result<Found, IdentifyError> {
    let p = &found.state.p;
    let blocks = fit.condensed(p).map_err(start_failed)?;
    let (predicted, gap) = fit.predict(p).map_err(start_failed)?;
    let n = problem.structure.len();
    let windows: usize = fit.windows.steps.iter().map(Vec::len).sum();
    let note = format!(
        "multiple shooting: {windows} windows; predictions are those of the windows, whose largest gap is \
         {gap:.1e} of the size of the motion (tolerance {:.1e})",
        settings.tolerance
    );
    Ok(Found {
        p: p[..n].to_vec(),
        status: found.status,
        cost: blocks.iter().map(|b| fit.loss().cost(&b.residuals, b.priors)).sum(),
        blocks,
        at_bound: found.at_bound[..n].to_vec(),
        noise: checkpoint.noise.clone(),
        iterations: found.state.iteration,
        failed_trials: found.state.failed_trials,
        checkpoint,
        regression: None,
        shooting: Some((predicted, note)),
    })
}

/// The windows and where the search starts: each window's state from its samples and from where the window
/// before it leads.
fn begin(
    problem: &Problem,
    settings: Shooting,
    runner: &Runner,
) -> Result<(Windows, Vec<f64>), IdentifyError> {
    let start = problem.start();
    let noise = Noise::initial(problem).scaled(ASSUMED_NOISE);
    let fit = runner.fit(&noise);
    // The length of windows follows from the recordings alone.
    let mut windows = Windows::new(problem, settings.window, Vec::new())?;
    let mut states: Vec<Vec<f64>> = Vec::new();
    for (b, &r) in problem.fitted.iter().enumerate() {
        let prepared = Prepared::new(problem, r, &start)?;
        let own = states_of(problem, &fit, &windows, b, &prepared)?;
        windows.sizes.push(own.1);
        states.push(own.0);
    }
    let mut p = start;
    p.extend(states.into_iter().flatten());
    Ok((windows, p))
}

/// States at the starts of all windows but the first, end to end, and the sizes of their numbers.
fn states_of(
    problem: &Problem,
    fit: &FitProblem,
    windows: &Windows,
    b: usize,
    prepared: &Prepared,
) -> Result<(Vec<f64>, Vec<f64>), IdentifyError> {
    let system = &*problem.system;
    let steps = &windows.steps[b];
    let first = prepared.shoot(fit, steps[0].clone(), None).map_err(|e| dynamics(problem, b, e))?;
    // Sizes from the motion so far, for the ties; at the end from all states.
    let start = prepared.start(fit);
    let mut all = vec![start, first.end.clone()];
    let mut led = first.end;
    let mut states = Vec::new();
    for window in &steps[1..] {
        let local = LocalFit {
            fit,
            prepared,
            b,
            steps: window.clone(),
            ties: sizes(system, &all).iter().map(|s| LOOSE * s).collect(),
            led: led.clone(),
            structure: Structure::dense(led.len(), 1),
            open: vec![(f64::NEG_INFINITY, f64::INFINITY); led.len()],
            limits: vec![f64::INFINITY; led.len()],
            floors: vec![1e-6; led.len()],
        };
        let state = match minimise(&local, LmState::new(led.clone()), &LOCAL, &mut |_, _| {}) {
            Ok(found) => found.state.p,
            Err(Failed::Interrupted) => return Err(IdentifyError::Interrupted),
            // It leads away; where the window before started is as good.
            Err(Failed::Rejected(_)) => all[all.len() - 2].clone(),
        };
        led = match prepared.shoot(fit, window.clone(), Some(&state)) {
            Ok(shot) => shot.end,
            Err(costate_dynamics::DynamicsError::Interrupted) => {
                return Err(IdentifyError::Interrupted);
            }
            Err(_) => state.clone(),
        };
        all.push(state.clone());
        all.push(led.clone());
        states.extend(state);
    }
    Ok((states, sizes(system, &all)))
}

fn dynamics(problem: &Problem, b: usize, e: costate_dynamics::DynamicsError) -> IdentifyError {
    match e {
        costate_dynamics::DynamicsError::Interrupted => IdentifyError::Interrupted,
        e => IdentifyError::invalid(
            format!("recording.{}", problem.recordings[problem.fitted[b]].name),
            format!("its first window cannot be simulated from the start: {e}"),
        ),
    }
}

/// Root mean squares of the states' numbers, none much smaller than the largest of its kind.
fn sizes(system: &costate_dynamics::System, states: &[Vec<f64>]) -> Vec<f64> {
    let n = system.dof();
    let len = states[0].len();
    let mut sizes: Vec<f64> = (0..len)
        .map(|i| {
            let squares = states.iter().map(|x| x[i] * x[i]).filter(|x| x.is_finite());
            (squares.sum::<f64>() / states.len() as f64).sqrt()
        })
        .collect();
    for kind in [0..n, n..2 * n, 2 * n..len] {
        let largest = sizes[kind.clone()].iter().fold(0.0f64, |m, x| m.max(*x));
        let floor = if largest > 0.0 { SMALLEST_SIZE * largest } else { 1.0 };
        for size in &mut sizes[kind] {
            *size = size.max(floor);
        }
    }
    sizes
}

/// The state at the start of one window, everything else held.
struct LocalFit<'a> {
    fit: &'a FitProblem<'a>,
    prepared: &'a Prepared<'a>,
    b: usize,
    steps: std::ops::Range<usize>,
    /// σ of the tie to where the window before led.
    ties: Vec<f64>,
    led: Vec<f64>,
    structure: Structure,
    open: Vec<(f64, f64)>,
    limits: Vec<f64>,
    floors: Vec<f64>,
}

impl LocalFit<'_> {
    fn block(&self, p: &[f64], derivatives: bool) -> Result<Block, Failed> {
        let failed = |e: costate_dynamics::DynamicsError| match e {
            costate_dynamics::DynamicsError::Interrupted => Failed::Interrupted,
            e => Failed::Rejected(e.to_string()),
        };
        let none = costate_dynamics::rollout::Seeds::default();
        let steps = self.steps.clone();
        let shot = if derivatives {
            self.prepared.linearise(self.fit, steps, Some(p), &none)
        } else {
            self.prepared.shoot(self.fit, steps, Some(p))
        }
        .map_err(failed)?;
        let (data, n) = (shot.samples.len(), p.len());
        let sigma = |row: usize| self.fit.sigma[self.b][shot.samples[row]];
        let mut residuals: Vec<f64> = (0..data)
            .map(|row| {
                let i = shot.samples[row];
                self.prepared.recording.difference(i, shot.y[row]) / sigma(row)
            })
            .collect();
        residuals.extend((0..n).map(|j| (p[j] - self.led[j]) / self.ties[j]));
        let jacobian = if derivatives {
            nalgebra::DMatrix::from_fn(data + n, n, |row, k| {
                if row < data {
                    shot.y_dot[(row, k)] / sigma(row)
                } else if row - data == k {
                    1.0 / self.ties[k]
                } else {
                    0.0
                }
            })
        } else {
            nalgebra::DMatrix::zeros(0, 0)
        };
        Ok(Block { residuals, jacobian, priors: n })
    }
}

impl LeastSquares for LocalFit<'_> {
    fn structure(&self) -> &Structure {
        &self.structure
    }
    fn bounds(&self) -> &[(f64, f64)] {
        &self.open
    }
    fn step_limits(&self) -> &[f64] {
        &self.limits
    }
    fn floors(&self) -> &[f64] {
        &self.floors
    }
    fn loss(&self) -> Loss {
        Loss::Huber(1.345)
    }
    fn data_norm2(&self) -> f64 {
        0.0
    }
    fn residuals(&self, p: &[f64]) -> Result<Vec<(Vec<f64>, usize)>, Failed> {
        let block = self.block(p, false)?;
        Ok(vec![(block.residuals, block.priors)])
    }
    fn linearise(&self, p: &[f64]) -> Result<Vec<Block>, Failed> {
        Ok(vec![self.block(p, true)?])
    }
}

/// The blocks of the linearisation at the start, with the windows' states following; what the data show of
/// each unknown is read off them.
pub(super) fn at_start(
    problem: &Problem,
    settings: Shooting,
    runner: &Runner,
    noise: &Noise,
) -> Result<impl Fn(&[f64]) -> Result<Vec<Block>, Failed>, IdentifyError> {
    let (windows, p) = begin(problem, settings, runner)?;
    let fit = runner.fit(noise);
    let states = p[problem.structure.len()..].to_vec();
    let tolerance = settings.tolerance;
    Ok(move |p: &[f64]| {
        let again = FitProblem::new(fit.problem, fit.sigma.clone(), fit.interrupt());
        let mut p = p.to_vec();
        p.extend(&states);
        ShootingFit::new(again, &windows, tolerance).condensed(&p)
    })
}
