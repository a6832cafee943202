//! `costate identify EXPERIMENT`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use costate::formats::ModelFile;
use costate::identify::least_squares::Status;
use costate::identify::{
    CHECKPOINT_FILE, Experiment, Identification, IdentifyOptions, Progress, RESULT_FILE, SignalFit,
    fitted_model, identify,
};
use serde_json::Value;

use super::{destination, report};
use crate::args::IdentifyArgs;
use crate::failure::{Failure, INTERRUPTED, NOT_CONVERGED};
use crate::output::Output;
use crate::progress::Show;
use crate::table;

/// Finds the parameters and writes result and report.
pub fn run(
    args: &IdentifyArgs,
    output: &mut Output,
    interrupt: &AtomicBool,
) -> Result<u8, Failure> {
    let mut experiment = Experiment::read_allowing(&args.experiment, &args.allow.allow)?;
    if let Some(most) = args.max_iterations {
        experiment.method.max_iterations = most;
    }
    let folder = match (&args.resume, &args.out) {
        (Some(folder), _) | (None, Some(folder)) => folder.clone(),
        (None, None) => PathBuf::from("runs").join(&experiment.name),
    };
    if args.resume.is_some() && !folder.is_dir() {
        let message = "there is no run to continue; begin one with --out";
        return Err(Failure::refused("no_run", message).in_file(&folder));
    }
    if let Some(target) = &args.write_model {
        let Some(model) = &experiment.scene else { return Err(no_scene()) };
        let ending = model.extension().and_then(|e| e.to_str()).unwrap_or_default();
        destination::check(target, "--write-model", &[ending], &[&args.experiment, model])?;
    }
    let show = Show::new(output.quiet());
    let tell = |progress: &Progress| show.update(progress);
    let options = IdentifyOptions {
        run_folder: Some(&folder),
        resume: args.resume.is_some(),
        interrupt: Some(interrupt),
        progress: Some(&tell),
    };
    let found = identify(&experiment, &options);
    show.finish();
    let result = found.map_err(|e| {
        let mut failure = Failure::from(e).in_file(&args.experiment);
        let unwritten =
            failure.kind == "io" && failure.file.as_ref().is_some_and(|f| f.starts_with(&folder));
        if unwritten && folder.join(CHECKPOINT_FILE).is_file() {
            let folder = folder.display();
            failure.message +=
                &format!("; the search itself is kept: go on with --resume {folder}");
            failure.code = NOT_CONVERGED;
        }
        failure
    })?;
    print(&result, output);
    let drawn = !args.no_gif && result.status != Status::Interrupted;
    let page = folder.join("report.html");
    let motion = report::draw(&result, drawn.then_some(&experiment), interrupt)?;
    report::keep(&folder, motion.as_ref())?;
    report::write(&result, drawn.then_some(&experiment), motion, &page)?;
    output.note(format!("wrote {} and {}", folder.join(RESULT_FILE).display(), page.display()));
    if let Some(target) = &args.write_model {
        write_model(&experiment, &result, target)?;
        output.note(format!("wrote {}", target.display()));
    }
    for warning in &result.warnings {
        output.warn(warning);
    }
    let object = serde_json::to_value(result.summary())
        .map_err(|e| Failure::refused("internal", e.to_string()))?;
    if let Value::Object(map) = &object {
        output.object(&result.schema, Value::Object(map.clone()));
    }
    Ok(match (result.status, result.converged) {
        (Status::Interrupted, _) => INTERRUPTED,
        (_, true) => 0,
        (_, false) => NOT_CONVERGED,
    })
}

fn print(result: &Identification, output: &mut Output) {
    let header = ["parameter", "start", "estimate", "± std error", "95 % interval", "unit"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for (path, p) in &result.parameters {
        let dash = || "-".to_string();
        let interval = match p.ci95.as_deref() {
            Some([[low, high]]) => format!("{} .. {}", table::number(*low), table::number(*high)),
            Some(many) => format!("{} intervals", many.len()),
            None => dash(),
        };
        let mark = if p.at_bound { " (at its bound)" } else { "" };
        rows.push(vec![
            path.clone(),
            table::values(p.initial.as_slice()),
            format!("{}{mark}", table::values(p.estimate.as_slice())),
            p.std_error.as_ref().map_or_else(dash, |s| table::values(s.as_slice())),
            interval,
            p.unit.clone(),
        ]);
    }
    for line in table::render(&rows) {
        output.line(line);
    }
    signals(&result.signals, output);
    let how = match result.status {
        Status::Converged if result.parameters.is_empty() => {
            "predicted, no parameters are selected:"
        }
        Status::Converged if !result.converged => {
            "no fit: every signal is explained worse than by a model at rest"
        }
        Status::Converged => "converged",
        Status::Stalled => "stalled: the cost is rough",
        Status::MaxIterations => "not converged: the iterations ran out",
        Status::Interrupted => "interrupted: this is a partial result",
    };
    let all = result.all_iterations();
    let earlier = match all - result.iterations {
        0 => String::new(),
        _ => format!(
            " ({all} with those of earlier stages: parts of the recordings, starts, noise levels)"
        ),
    };
    output.line(format!(
        "{how} after {} iterations{earlier} in {:.2} s; cost {} (at the start {})",
        result.iterations,
        result.wall_s,
        table::number(result.cost),
        table::number(result.cost_initial)
    ));
    for weak in &result.weak_directions {
        output.line(format!("weak: {}", weak.text));
    }
    for hidden in &result.not_identifiable {
        let what = hidden.path.as_ref().or(hidden.combination.as_ref());
        output.line(format!(
            "not shown by the data: {}: {}",
            what.map_or("", |w| w),
            hidden.reason
        ));
    }
}

/// The table of fits, signal by signal.
pub fn signals(fits: &[SignalFit], output: &mut Output) {
    let header = ["recording", "signal", "samples", "rms", "before", "at rest", "unit", ""];
    let mut rows = vec![header.map(String::from).to_vec()];
    for fit in fits {
        rows.push(vec![
            fit.recording.clone(),
            fit.signal.clone(),
            fit.samples.to_string(),
            table::number(fit.rms),
            table::number(fit.rms_initial),
            table::number(fit.rms_rest),
            fit.unit.clone(),
            if fit.role == costate::identify::Role::Validation { "validation" } else { "" }.into(),
        ]);
    }
    for line in table::render(&rows) {
        output.line(line);
    }
}

fn no_scene() -> Failure {
    Failure::refused("no_scene", "the experiment has no scene file to rewrite")
}

/// The user's scene with the estimates in place.
fn write_model(
    experiment: &Experiment,
    result: &Identification,
    target: &Path,
) -> Result<(), Failure> {
    let path = experiment.scene.as_ref().ok_or_else(no_scene)?;
    let scene = ModelFile::read(path, &experiment.allow)?;
    scene.write_with_values(&fitted_model(experiment, result)?, target)?;
    Ok(())
}
