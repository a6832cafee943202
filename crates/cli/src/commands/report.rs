//! `costate report RESULT`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use costate::formats::{Error, write_atomically};
use costate::identify::{Experiment, Identification};
use costate::report::Motion;
use serde_json::json;

use super::destination;
use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::output::Output;

/// Writes the report again.
pub fn run(args: &ReportArgs, output: &mut Output, interrupt: &AtomicBool) -> Result<u8, Failure> {
    if let Some(page) = &args.out {
        destination::check(page, "--out", &["html", "htm"], &[])?;
    }
    let result = super::result(&args.result)?;
    let experiment = args.experiment.as_ref().map(Experiment::read).transpose()?;
    let folder = if args.result.is_dir() {
        args.result.clone()
    } else {
        args.result.parent().map_or_else(PathBuf::new, Path::to_path_buf)
    };
    let page = args.out.clone().unwrap_or_else(|| folder.join("report.html"));
    let motion = match &experiment {
        Some(_) => draw(&result, experiment.as_ref(), interrupt)?,
        None => kept(&folder)?,
    };
    if motion.is_none() {
        output.note("without the motion: give its experiment with --experiment to show it");
    }
    write(&result, experiment.as_ref(), motion, &page)?;
    output.line(format!("wrote {}", page.display()));
    output.object("costate.report/1", json!({ "file": page.display().to_string() }));
    Ok(0)
}

/// Name of the picture of the motion in a run folder.
const MOTION_FILE: &str = "motion.gif";

/// The motion of the first fitted recording, where the experiment is given.
pub fn draw(
    result: &Identification,
    experiment: Option<&Experiment>,
    interrupt: &AtomicBool,
) -> Result<Option<Motion>, Failure> {
    let draw = |e| costate::fitted_motion(e, result, Some(interrupt));
    Ok(experiment.map(draw).transpose()?.flatten())
}

/// Keeps the picture in the run folder, for reports that are written later; without one none stays there.
pub fn keep(folder: &Path, motion: Option<&Motion>) -> Result<(), Failure> {
    let file = folder.join(MOTION_FILE);
    match motion {
        Some(motion) => Ok(write_atomically(&file, |w| std::io::Write::write_all(w, &motion.gif))?),
        None => match std::fs::remove_file(&file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(&file, "cannot take away the picture of a former run", e).into())
            }
            _ => Ok(()),
        },
    }
}

/// The picture that the run folder keeps.
fn kept(folder: &Path) -> Result<Option<Motion>, Failure> {
    let file = folder.join(MOTION_FILE);
    match std::fs::read(&file) {
        Ok(gif) => Ok(Some(Motion { gif, caption: "Motion with the estimates.".into() })),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(&file, "cannot read", e).into()),
    }
}

/// Writes the page.
pub fn write(
    result: &Identification,
    experiment: Option<&Experiment>,
    motion: Option<Motion>,
    page: &Path,
) -> Result<(), Failure> {
    let text = costate::report_page_with(result, experiment, motion)?;
    Ok(write_atomically(page, |w| std::io::Write::write_all(w, text.as_bytes()))?)
}
