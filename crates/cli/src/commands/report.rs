//! `costate report RESULT`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use costate::identify::{Experiment, Identification};
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
    if experiment.is_none() {
        output.note("without the motion: give its experiment with --experiment to show it");
    }
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
    let text = costate::report_page(result, experiment, Some(interrupt))?;
    costate::formats::write_atomically(page, |w| std::io::Write::write_all(w, text.as_bytes()))?;
    Ok(())
}
