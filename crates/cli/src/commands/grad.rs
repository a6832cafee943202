//! `costate grad EXPERIMENT`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use costate::identify::{Experiment, gradient};
use serde_json::json;

use crate::args::GradArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::table;

/// Prints cost and gradient at the start.
pub fn run(args: &GradArgs, output: &mut Output, interrupt: &AtomicBool) -> Result<u8, Failure> {
    let begin = Instant::now();
    let experiment = Experiment::read_allowing(&args.experiment, &args.allow.allow)?;
    let read_s = begin.elapsed().as_secs_f64();
    let found = gradient(&experiment, Some(interrupt))?;
    let setup_s = read_s + found.setup_s;
    let mut rows = vec![["parameter", "d cost / d value"].map(String::from).to_vec()];
    for (path, values) in &found.gradient {
        rows.push(vec![path.clone(), table::values(values.as_slice())]);
    }
    for note in &found.notes {
        output.warn(note.clone());
    }
    output.line(format!("cost {}", table::number(found.cost)));
    for line in table::render(&rows) {
        output.line(line);
    }
    output.line(format!("set up in {setup_s:.4} s, gradient in {:.4} s", found.gradient_s));
    output.object(
        "costate.grad/1",
        json!({
            "cost": found.cost,
            "gradient": found.gradient,
            "setup_s": setup_s,
            "gradient_s": found.gradient_s,
            "notes": found.notes,
        }),
    );
    Ok(0)
}
