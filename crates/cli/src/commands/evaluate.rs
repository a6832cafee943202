//! `costate evaluate EXPERIMENT --with RESULT`.

use std::sync::atomic::AtomicBool;

use costate::identify::{Experiment, evaluate};
use serde_json::json;

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::output::Output;

/// Predicts recordings with a result.
pub fn run(
    args: &EvaluateArgs,
    output: &mut Output,
    interrupt: &AtomicBool,
) -> Result<u8, Failure> {
    let experiment = Experiment::read_allowing(&args.experiment, &args.allow.allow)?;
    let result = super::result(&args.result)?;
    let fits = evaluate(&experiment, &result, Some(interrupt))
        .map_err(|e| Failure::from(e).in_file(&args.result))?;
    super::identify::signals(&fits, output);
    output.object("costate.evaluation/1", json!({ "signals": fits }));
    Ok(0)
}
