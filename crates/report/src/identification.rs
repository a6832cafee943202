//! The outcome of an identification as a report.

use crate::data::{
    Correlation, NotIdentifiable, Outcome, Parameter, Provenance, ReportData, Signal, Stats,
};
use crate::number::significant;
use costate_identify as identify;
use costate_identify::least_squares::Status;
use costate_identify::{Identification, Role, SignalFit};

/// Unknowns of one leaf that are listed one by one; a larger field is summed up in one row.
const MOST_UNKNOWNS: usize = 100;

impl From<&Identification> for ReportData {
    /// Everything but the motion and the files read, which the result does not know.
    fn from(result: &Identification) -> Self {
        let parameters = result.parameters.iter().flat_map(|(path, p)| rows(path, p));
        Self {
            title: result.experiment.clone(),
            summary: summary(result),
            outcome: Some(Outcome {
                converged: result.converged,
                text: match result.status {
                    Status::Converged if result.converged => "converged",
                    Status::Converged => "not converged",
                    Status::Stalled => "stalled",
                    Status::MaxIterations => "not converged",
                    Status::Interrupted => "interrupted",
                }
                .into(),
            }),
            parameters: parameters.collect(),
            signals: result.signals.iter().map(Signal::from).collect(),
            cost: passes(&result.history),
            final_cost: Some(result.cost),
            correlation: Some(correlation(&result.correlation)),
            weak_directions: result.weak_directions.iter().map(weak).collect(),
            not_identifiable: result.not_identifiable.iter().map(not_identifiable).collect(),
            warnings: result.warnings.clone(),
            motion: None,
            provenance: Provenance {
                program: format!("costate {}", result.version),
                files: Vec::new(),
                iterations: Some(result.iterations),
                wall_s: Some(result.wall_s),
                facts: facts(result),
            },
        }
    }
}

impl From<&SignalFit> for Signal {
    fn from(fit: &SignalFit) -> Self {
        let known = |v: f64| v.is_finite().then_some(v);
        Self {
            name: fit.signal.clone(),
            unit: fit.unit.clone(),
            recording: fit.recording.clone(),
            validation: fit.role == Role::Validation,
            t: fit.times.clone(),
            measured: fit.measured.iter().map(|v| v.unwrap_or(f64::NAN)).collect(),
            fitted: fit.predicted.clone(),
            initial_guess: (!fit.initial.is_empty()).then(|| fit.initial.clone()),
            stats: Stats {
                count: fit.samples,
                rms: fit.rms,
                signal_rms: fit.rms_signal,
                do_nothing_rms: known(fit.rms_rest),
                initial_rms: known(fit.rms_initial),
                lag1: known(fit.autocorrelation).filter(|_| fit.samples > 2),
                sigma: known(fit.sigma),
                sigma_estimated: fit.sigma_estimated,
            },
        }
    }
}

/// One row per unknown of a leaf, or a single one for a large field.
fn rows(path: &str, p: &identify::Parameter) -> Vec<Parameter> {
    let estimates = p.estimate.as_slice();
    let initials = p.initial.as_slice();
    let errors = p.std_error.as_ref().map_or(&[][..], |e| e.as_slice());
    let intervals = p.ci95.as_deref().unwrap_or_default();
    let mut notes = Vec::new();
    if p.at_bound {
        notes.push("at its bound".to_string());
    }
    if let Some(prior) = p.prior {
        notes.push(format!("prior {}", significant(prior, 4)));
    }
    if estimates.len() > MOST_UNKNOWNS {
        let mut sorted = estimates.to_vec();
        sorted.sort_by(f64::total_cmp);
        let range = [sorted[0], sorted[sorted.len() - 1]].map(|v| significant(v, 4));
        notes.insert(
            0,
            format!("median of {} values from {} to {}", sorted.len(), range[0], range[1]),
        );
        return vec![Parameter {
            path: path.into(),
            unit: p.unit.clone(),
            initial: initials.first().copied().unwrap_or(f64::NAN),
            estimate: sorted[sorted.len() / 2],
            std_error: None,
            ci95: None,
            transform: p.transform.clone(),
            note: notes.join(", "),
        }];
    }
    let row = |(i, estimate): (usize, &f64)| Parameter {
        path: match (estimates.len(), p.names.get(i)) {
            (1, _) => path.to_string(),
            // Names of unknowns may be full paths already.
            (_, Some(name)) if name.starts_with(path) => name.clone(),
            (_, Some(name)) => format!("{path}[{name}]"),
            (_, None) => format!("{path}[{i}]"),
        },
        unit: p.unit.clone(),
        initial: initials.get(i).or(initials.first()).copied().unwrap_or(f64::NAN),
        estimate: *estimate,
        std_error: errors.get(i).copied(),
        ci95: intervals.get(i).copied(),
        transform: p.transform.clone(),
        note: notes.join(", "),
    };
    estimates.iter().enumerate().map(row).collect()
}

fn summary(result: &Identification) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let recordings = |role: Role| {
        let of_role = result.signals.iter().filter(|s| s.role == role);
        let mut names: Vec<&str> = of_role.map(|s| s.recording.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    let goodness = &result.goodness;
    let mut text = format!(
        "{} from {} of {}",
        count(goodness.parameters, "unknown"),
        count(goodness.samples, "sample"),
        count(recordings(Role::Fitted), "recording"),
    );
    let kept = recordings(Role::Validation);
    if kept > 0 {
        text.push_str(&format!("; {} kept for validation", count(kept, "recording")));
    }
    text.push('.');
    if let Some(chi2) = goodness.chi2_reduced {
        text.push_str(&format!(
            " χ² per degree of freedom {} ({}).",
            significant(chi2, 3),
            if result.signals.iter().any(|s| s.sigma_estimated) {
                "noise levels estimated from the residuals"
            } else {
                "about 1 where the given noise levels are right"
            }
        ));
    }
    text
}

/// Costs pass by pass.
fn passes(history: &[identify::Iteration]) -> Vec<Vec<f64>> {
    let mut out: Vec<Vec<f64>> = Vec::new();
    let mut last = None;
    for step in history {
        if last != Some(step.pass) {
            out.push(Vec::new());
            last = Some(step.pass);
        }
        if let Some(pass) = out.last_mut() {
            pass.push(step.cost);
        }
    }
    out
}

fn correlation(c: &identify::Correlation) -> Correlation {
    let n = c.names.len();
    let at = |i: usize, j: usize| c.matrix.get(i).and_then(|r| r.get(j)).copied();
    let values = (0..n * n).map(|k| at(k / n, k % n).unwrap_or(f64::NAN));
    Correlation { values: values.collect(), names: c.names.clone() }
}

fn weak(w: &identify::WeakDirection) -> String {
    if w.ratio.is_finite() && w.ratio > 1.0 {
        let times = significant(w.ratio, 2);
        format!("{} ({times} times less certain than the best combination)", w.text)
    } else {
        w.text.clone()
    }
}

fn not_identifiable(n: &identify::NotIdentifiable) -> NotIdentifiable {
    let what = n.combination.as_ref().or(n.path.as_ref()).cloned().unwrap_or_default();
    NotIdentifiable { what, reason: n.reason.clone() }
}

fn facts(result: &Identification) -> Vec<(String, String)> {
    let method = match result.method.as_str() {
        "lm" => "Levenberg-Marquardt",
        "lbfgs" => "L-BFGS",
        "adam" => "Adam",
        other => other,
    };
    let mut facts = vec![
        ("method".to_string(), method.to_string()),
        ("simulations".to_string(), result.evaluations.to_string()),
        ("cost at the start".to_string(), significant(result.cost_initial, 4)),
    ];
    if result.widening > 1.0 {
        let text = format!("up to {}, for correlated residuals", significant(result.widening, 3));
        facts.push(("intervals widened by".to_string(), text));
    }
    facts
}
