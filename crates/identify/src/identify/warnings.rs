//! What a user should know about the motions behind a fit.

use costate_dynamics::DynamicsError;
use costate_dynamics::rollout::Run;
use costate_dynamics::soft::bulk_modulus_warnings;

use crate::error::IdentifyError;
use crate::problem::{Problem, contact_report};

/// Tangents that grow by more than this over the second half of a recording make its gradient
/// meaningless.
const GROWTH: f64 = 1e4;
/// A change of positions (m, for a change of the unknown by its size) that is not rounding: before
/// a contact a stiffness moves nothing, and what follows is no growth.
const TANGENT: f64 = 1e-8;

/// Contacts of the fitted recordings at p.
pub(super) fn contacts(problem: &Problem, p: &[f64]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let model = problem.system.model();
    let of_robot = model.articulation.as_ref().is_some_and(|a| !a.soft_contacts.is_empty());
    if model.geoms.is_empty() && !of_robot {
        return out;
    }
    for &r in &problem.fitted {
        let recording = &problem.recordings[r];
        let (theta, _) = recording.parameters(&problem.unknowns, p);
        let Ok(constants) = problem.system.derive(&theta) else { continue };
        let run = Run::new(&problem.system, &constants, &recording.inputs);
        if let Ok(report) = contact_report(&run, recording.steps()) {
            for warning in report.warnings() {
                let text = format!("recording {}: {warning}", recording.name);
                if !out.contains(&text) {
                    out.push(text);
                }
            }
        }
    }
    out
}

/// Tangents that grow without bound, per fitted recording.
pub(super) fn growth(problem: &Problem, growth: &[Vec<(f64, Vec<f64>)>]) -> Vec<String> {
    let mut out = Vec::new();
    for (&r, series) in problem.fitted.iter().zip(growth) {
        let Some(((end, last), (middle, half))) = series.last().zip(series.get(series.len() / 2))
        else {
            continue;
        };
        let worst = last
            .iter()
            .zip(half)
            .enumerate()
            .filter(|(k, (_, half))| {
                let unknown = &problem.unknowns[problem.recordings[r].links[*k].unknown];
                **half * unknown.floor() > TANGENT
            })
            .map(|(k, (last, half))| (k, last / half))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((k, ratio)) = worst
            && ratio > GROWTH
        {
            let recording = &problem.recordings[r];
            let name = &problem.unknowns[recording.links[k].unknown].name;
            let rate = ratio.ln() / (end - middle);
            out.push(format!(
                "recording {}: the motion's sensitivity to `{name}` grows by a factor of \
                 {ratio:.1e} from {middle:.3} s to {end:.3} s (rate {rate:.3} 1/s): the motion is \
                 unstable or chaotic, and late samples say little; fit a shorter range",
                recording.name
            ));
        }
    }
    out
}

/// Bodies whose material has no positive bulk modulus at p.
pub(super) fn bulk_modulus(problem: &Problem, p: &[f64]) -> Vec<String> {
    let warnings = |m| bulk_modulus_warnings(&m, &problem.materials);
    problem.model_at(p).map(warnings).unwrap_or_default()
}

/// An error at the start of recording `r`, with what may be behind it.
pub(super) fn with_bulk_modulus(
    problem: &Problem,
    start: &[f64],
    r: usize,
    e: DynamicsError,
) -> IdentifyError {
    let hints = bulk_modulus(problem, start);
    match (&e, hints.first()) {
        (DynamicsError::Diverged { .. } | DynamicsError::UnstableStep { .. }, Some(hint)) => {
            IdentifyError::invalid(
                format!("recording.{}", problem.recordings[r].name),
                format!("{e}; {hint}"),
            )
        }
        _ => IdentifyError::Dynamics(e),
    }
}
