//! What recordings kept for validation have of their own, found after the fit.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::checkpoint::Checkpoint;
use super::search::{Found, search};
use super::sigma::Noise;
use super::{IdentifyOptions, check_start};
use crate::error::IdentifyError;
use crate::problem::Problem;

/// A recording kept for validation with its own unknowns found, everything else held.
pub(super) struct Refit {
    /// The recording alone.
    pub problem: Problem,
    /// Its own unknowns.
    pub found: Found,
}

/// Finds the own unknowns of every recording kept for validation, everything else being what `p`
/// says. Recordings in which that fails go to `failures`.
pub(super) fn refits(
    problem: &Problem,
    p: &[f64],
    noise: &Noise,
    interrupt: Option<&AtomicBool>,
    failures: &mut Vec<(String, IdentifyError)>,
) -> Result<BTreeMap<usize, Refit>, IdentifyError> {
    let mut out = BTreeMap::new();
    for r in 0..problem.recordings.len() {
        let Some(alone) = problem.alone(r, p)? else { continue };
        match refit(alone, noise, interrupt) {
            Ok(found) => {
                out.insert(r, found);
            }
            Err(IdentifyError::Interrupted) => return Err(IdentifyError::Interrupted),
            Err(e) => failures.push((problem.recordings[r].name.clone(), e)),
        }
    }
    Ok(out)
}

fn refit(
    alone: Problem,
    noise: &Noise,
    interrupt: Option<&AtomicBool>,
) -> Result<Refit, IdentifyError> {
    check_start(&alone, &alone.start(), interrupt)?;
    let mut checkpoint = Checkpoint::new(&alone);
    checkpoint.noise.clone_from(noise);
    let options = IdentifyOptions { interrupt, ..Default::default() };
    let found = search(&alone, checkpoint, &options, Instant::now())?;
    Ok(Refit { problem: alone, found })
}
