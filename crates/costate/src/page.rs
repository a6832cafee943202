//! The report of an identification with the motion that it found.

use std::sync::atomic::AtomicBool;

use costate_dynamics::DynamicsError;
use costate_dynamics::rollout::{Observer, Run};
use costate_identify::{Experiment, Identification, IdentifyError, Problem, estimates};
use costate_render::MotionSettings;
use costate_report::{Motion, ReportData, html};

/// Most states kept of a motion that is drawn.
const STATES: usize = 400;

/// Why no page came out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The experiment and the result do not belong together, or contradict themselves.
    #[error(transparent)]
    Identify(#[from] IdentifyError),
    /// The motion cannot be simulated.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// The motion cannot be drawn.
    #[error(transparent)]
    Render(#[from] costate_render::Error),
    /// A plot cannot be drawn.
    #[error(transparent)]
    Report(#[from] costate_report::Error),
}

/// The HTML page of a result, with the motion of the first fitted recording where the experiment
/// is given.
///
/// # Errors
/// A result of another experiment, a motion that cannot be simulated or drawn.
pub fn report_page(
    result: &Identification,
    experiment: Option<&Experiment>,
    interrupt: Option<&AtomicBool>,
) -> Result<String, PageError> {
    let motion = match experiment {
        Some(experiment) => fitted_motion(experiment, result, interrupt)?,
        None => None,
    };
    report_page_with(result, experiment, motion)
}

/// The HTML page of a result with a motion that is already drawn.
///
/// # Errors
/// What cannot be drawn of the result.
pub fn report_page_with(
    result: &Identification,
    experiment: Option<&Experiment>,
    motion: Option<Motion>,
) -> Result<String, PageError> {
    let mut data = ReportData { motion, ..ReportData::from(result) };
    if let Some(scene) = experiment.and_then(|e| e.scene.as_ref()) {
        data.provenance.files.push(("scene".into(), scene.display().to_string()));
    }
    Ok(html(&data)?)
}

/// The motion of the first fitted recording with the estimates, drawn.
///
/// # Errors
/// A result of another experiment, a motion that cannot be simulated or drawn.
pub fn fitted_motion(
    experiment: &Experiment,
    result: &Identification,
    interrupt: Option<&AtomicBool>,
) -> Result<Option<Motion>, PageError> {
    let problem = Problem::new(experiment)?;
    let p = estimates(&problem, result)?;
    let Some(&first) = problem.fitted.first() else { return Ok(None) };
    let recording = &problem.recordings[first];
    let (theta, _) = recording.parameters(&problem.unknowns, &p);
    let constants = problem.system.derive(&theta)?;
    let run = Run { interrupt, ..Run::new(&problem.system, &constants, &recording.inputs) };
    let steps = recording.observer.steps();
    let trajectory = match run.rollout(steps, steps.div_ceil(STATES)) {
        Ok(trajectory) => trajectory,
        Err(failure) => failure.partial,
    };
    let model = problem.system.model().with_theta(&theta).map_err(IdentifyError::from)?;
    Ok(Some(Motion::of(&model, &trajectory, &MotionSettings::default())?))
}
