//! From an experiment to its result.

mod checkpoint;
mod escape;
mod evaluate;
mod horizons;
mod notes;
mod reasons;
mod refit;
mod report;
mod search;
mod shooting;
mod sigma;
mod starts;
mod visible;
mod warnings;

pub use checkpoint::CHECKPOINT_FILE;
pub use evaluate::{Gradient, estimates, evaluate, fitted_model, gradient};

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use costate_dynamics::DynamicsError;

use crate::error::IdentifyError;
use crate::experiment::{Experiment, MethodKind, Unidentifiable};
use crate::least_squares::LeastSquares;
use crate::problem::{FitProblem, Problem};
use crate::regressor::regress;
use crate::result::{Identification, NotIdentifiable};
use checkpoint::Checkpoint;
use search::Runner;

/// Where a search stands.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Iterations of the current search.
    pub iteration: usize,
    /// Iterations it may take.
    pub max_iterations: usize,
    /// Cost.
    pub cost: f64,
    /// Which of several starts, from 0; `None` after them or without.
    pub start: Option<usize>,
    /// Which pass over the noise levels, from 0.
    pub pass: usize,
    /// Names of the unknowns and their values.
    pub values: &'a [(String, f64)],
}

/// How to run an identification.
#[derive(Clone, Copy, Default)]
pub struct IdentifyOptions<'a> {
    /// Folder for result, log and checkpoint; nothing is written without one.
    pub run_folder: Option<&'a Path>,
    /// Continue from the folder's checkpoint, if there is one.
    pub resume: bool,
    /// Raised by another thread to stop; what there is then is a valid partial result.
    pub interrupt: Option<&'a AtomicBool>,
    /// Told of every iteration.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}

/// Name of the result file in a run folder.
pub const RESULT_FILE: &str = "result.json";

/// Finds the unknowns of an experiment.
///
/// # Errors
/// An experiment that contradicts itself; a start that cannot be simulated (unstable step,
/// divergence); parameters that the data cannot show
/// ([`IdentifyError::NotIdentifiable`]); files of the run folder that cannot be written.
pub fn identify(
    experiment: &Experiment,
    options: &IdentifyOptions,
) -> Result<Identification, IdentifyError> {
    let begin = Instant::now();
    let problem = Problem::new(experiment)?;
    let start = problem.start();
    if problem.fitted.is_empty() {
        return Err(IdentifyError::invalid("recording", "the experiment has no recording to fit"));
    }
    if problem.method.kind == MethodKind::Regressor {
        return regression(&problem, options, begin);
    }
    let noise = visible::assumed_noise(&problem);
    let hidden = match problem.method.shooting {
        Some(settings) => {
            let runner = Runner::new(&problem, options, begin, 0.0);
            let linearise = shooting::at_start(&problem, settings, &runner, &noise)?;
            visible::not_identifiable(&problem, &start, &noise, &linearise)?
        }
        None => {
            let first = horizons::simulated(&problem, &start, options.interrupt)?;
            let seen = first.as_ref().unwrap_or(&problem);
            check_start(seen, &start, options.interrupt)?;
            let fit = FitProblem::new(seen, noise.per_sample(seen), options.interrupt);
            let hidden = visible::not_identifiable(seen, &start, &noise, &|p| fit.linearise(p))?;
            if first.is_some() && !hidden.is_empty() {
                // The whole might show them: what stands in the way is that the start diverges.
                check_start(&problem, &start, options.interrupt)?;
            }
            hidden
        }
    };
    if !hidden.is_empty() && problem.method.unidentifiable == Unidentifiable::Refuse {
        // Beside one sample beyond all measure nothing else can be seen, and no parameter is to blame.
        if let Some(absurd) = visible::absurd_sample(&problem) {
            let place = experiment.recordings.iter().find(|r| r.name == absurd.recording);
            let element = format!("recording.{}", absurd.recording);
            return Err(place.map_or_else(
                || IdentifyError::invalid(&element, absurd.to_string()),
                |recording| recording.place.error(&element, &absurd),
            ));
        }
        return Err(IdentifyError::NotIdentifiable(hidden));
    }
    if let Some(folder) = options.run_folder {
        std::fs::create_dir_all(folder)
            .map_err(|e| costate_formats::Error::io(folder, "cannot create", e))?;
    }
    let checkpoint = match (options.resume, options.run_folder) {
        (true, Some(folder)) => Checkpoint::read(folder, &problem)?,
        _ => None,
    };
    let checkpoint = match (checkpoint, options.run_folder) {
        (Some(checkpoint), _) => checkpoint,
        (None, folder) => {
            let checkpoint = Checkpoint::new(&problem);
            // So that a run that is stopped early can be resumed too.
            folder.map(|folder| checkpoint.write(folder)).transpose()?;
            checkpoint
        }
    };
    let found = search::search(&problem, checkpoint, options, begin)?;
    let result = report::report(&problem, found, hidden, options.interrupt, begin)?;
    if let Some(folder) = options.run_folder {
        result.write(&folder.join(RESULT_FILE))?;
    }
    Ok(result)
}

/// By the linear regressor.
fn regression(
    problem: &Problem,
    options: &IdentifyOptions,
    begin: Instant,
) -> Result<Identification, IdentifyError> {
    let found = regress(problem, options.interrupt)?;
    let hidden: Vec<NotIdentifiable> = (found.dependences.iter())
        .map(|dependence| NotIdentifiable {
            path: Some(problem.unknowns[dependence.unknown].name.clone()),
            combination: None,
            reason: dependence.text.clone(),
        })
        .collect();
    if !hidden.is_empty() && problem.method.unidentifiable == Unidentifiable::Refuse {
        return Err(IdentifyError::NotIdentifiable(hidden));
    }
    let mut notes = vec![
        "estimated from the balance of forces along the recorded motion; the signals below are simulated \
         with the estimates"
            .to_owned(),
    ];
    for (joint, left, force) in &found.forces {
        notes.push(format!(
            "joint.{joint}: {left:.4} of the force is left unexplained (rms), of {force:.4} that its \
             actuators and weight give"
        ));
    }
    let checkpoint = Checkpoint::new(problem);
    let found = search::Found {
        p: found.p,
        status: found.status,
        cost: found.cost,
        blocks: found.blocks,
        at_bound: found.held,
        noise: checkpoint.noise.clone(),
        iterations: found.iterations,
        failed_trials: found.failed_trials,
        checkpoint,
        regression: Some(search::Regressed {
            series: found.series,
            cost_initial: found.cost_initial,
            notes,
        }),
        shooting: None,
    };
    let result = report::report(problem, found, hidden, options.interrupt, begin)?;
    if let Some(folder) = options.run_folder {
        std::fs::create_dir_all(folder)
            .map_err(|e| costate_formats::Error::io(folder, "cannot create", e))?;
        result.write(&folder.join(RESULT_FILE))?;
    }
    Ok(result)
}

/// Simulates every fitted recording at the start, so that what is wrong is told as it is.
fn check_start(
    problem: &Problem,
    start: &[f64],
    interrupt: Option<&AtomicBool>,
) -> Result<(), IdentifyError> {
    for &r in &problem.fitted {
        let recording = &problem.recordings[r];
        match recording.predict(&problem.system, &problem.unknowns, start, interrupt, true) {
            Ok(_) => {}
            Err(DynamicsError::Interrupted) => return Err(IdentifyError::Interrupted),
            Err(e) => return Err(warnings::with_bulk_modulus(problem, start, r, e)),
        }
    }
    Ok(())
}
