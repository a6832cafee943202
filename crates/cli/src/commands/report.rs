//! `costate report RESULT`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use costate::dynamics::rollout::{Observer, Run};
use costate::identify::{Experiment, Identification, Problem, estimates};
use costate::render::MotionSettings;
use costate::report::{Motion, ReportData, html};
use serde_json::json;

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output::Output;

/// Most states kept of a motion that is drawn.
const STATES: usize = 400;

/// Writes the report again.
pub fn run(args: &ReportArgs, output: &mut Output, interrupt: &AtomicBool) -> Result<u8, Failure> {
    let result = super::result(&args.result)?;
    let experiment = args.experiment.as_ref().map(Experiment::read).transpose()?;
    let folder = if args.result.is_dir() {
        args.result.clone()
    } else {
        args.result.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    };
    let page = args.out.clone().unwrap_or_else(|| folder.join("report.html"));
    write(&result, experiment.as_ref(), &page, interrupt)?;
    output.line(format!("wrote {}", page.display()));
    output.object("costate.report/1", json!({ "file": page.display().to_string() }));
    Ok(0)
}

/// Writes the page, with the motion of the first fitted recording where the experiment is given.
pub fn write(
    result: &Identification,
    experiment: Option<&Experiment>,
    page: &Path,
    interrupt: &AtomicBool,
) -> Result<(), Failure> {
    let mut data = ReportData::from(result);
    if let Some(experiment) = experiment {
        data.motion = motion(experiment, result, interrupt)?;
        if let Some(scene) = &experiment.scene {
            data.provenance.files.push(("scene".into(), scene.display().to_string()));
        }
    }
    let text = html(&data)?;
    costate::formats::write_atomically(page, |w| std::io::Write::write_all(w, text.as_bytes()))?;
    Ok(())
}

fn motion(
    experiment: &Experiment,
    result: &Identification,
    interrupt: &AtomicBool,
) -> Result<Option<Motion>, Failure> {
    let problem = Problem::new(experiment)?;
    let p = estimates(&problem, result)?;
    let Some(&first) = problem.fitted.first() else { return Ok(None) };
    let recording = &problem.recordings[first];
    let (theta, _) = recording.parameters(&problem.unknowns, &p);
    let constants = problem.system.derive(&theta)?;
    let mut run = Run::new(&problem.system, &constants, &recording.inputs);
    run.interrupt = Some(interrupt);
    let steps = recording.observer.steps();
    let trajectory = match run.rollout(steps, steps.div_ceil(STATES)) {
        Ok(trajectory) => trajectory,
        Err(failure) => failure.partial,
    };
    let model = problem.system.model().with_theta(&theta)?;
    Ok(Some(Motion::of(&model, &trajectory, &MotionSettings::default())?))
}
