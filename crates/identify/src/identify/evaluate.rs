//! Predictions of a fitted model, and the gradient of an experiment's cost.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use costate_dynamics::DynamicsError;
use costate_model::Model;
use serde::{Deserialize, Serialize};

use super::refit::{Refit, refits};
use super::sigma::Noise;
use super::visible::start_failed;
use crate::error::IdentifyError;
use crate::experiment::{Experiment, Sigma};
use crate::problem::{BoundRecording, FitProblem, Problem};
use crate::result::{Identification, Numbers, Role, SignalFit};
use crate::uncertainty::lag_one;

/// The estimates of a result as the p of a problem; unknowns of single recordings that the result
/// does not have stay at their start.
///
/// # Errors
/// A result that has other parameters than the problem, or of other shapes, or impossible values.
pub fn estimates(problem: &Problem, result: &Identification) -> Result<Vec<f64>, IdentifyError> {
    let mut p = problem.start();
    let lacking = problem
        .unknowns
        .iter()
        .find(|u| u.recording.is_none() && !result.parameters.contains_key(&u.group));
    if let Some(unknown) = lacking {
        let message = "the result has no value for this parameter of the experiment; it is the \
                       result of another one";
        return Err(IdentifyError::invalid(&unknown.group, message));
    }
    for (path, parameter) in &result.parameters {
        let members: Vec<usize> =
            (0..p.len()).filter(|&i| problem.unknowns[i].group == *path).collect();
        let values = parameter.estimate.as_slice();
        if members.is_empty() {
            if path.starts_with("recording.") {
                continue;
            }
            let message = "the result has this parameter, the experiment does not; name it in \
                           [parameters]";
            return Err(IdentifyError::invalid(path, message));
        }
        if members.len() != values.len() {
            return Err(IdentifyError::invalid(
                path,
                format!("the result has {} values, the experiment {}", values.len(), members.len()),
            ));
        }
        for (&i, &value) in members.iter().zip(values) {
            p[i] = problem.unknowns[i].transform.inverse(value);
            if !p[i].is_finite() {
                return Err(IdentifyError::invalid(
                    path,
                    format!("the value {value} is impossible"),
                ));
            }
        }
    }
    Ok(p)
}

/// The scene of an experiment with the estimates of a result in place.
///
/// # Errors
/// An experiment that contradicts itself, a result of another one, a value out of bounds.
pub fn fitted_model(
    experiment: &Experiment,
    result: &Identification,
) -> Result<Model, IdentifyError> {
    let problem = Problem::new(experiment)?;
    Ok(problem.model_at(&estimates(&problem, result)?)?)
}

/// Predicts every recording of an experiment with the estimates of a result.
///
/// Unknowns that the result does not have (of recordings that were not fitted) stay at their
/// start.
///
/// # Errors
/// An experiment that contradicts itself, a result whose parameters have other shapes, motions
/// that cannot be simulated.
pub fn evaluate(
    experiment: &Experiment,
    result: &Identification,
    interrupt: Option<&AtomicBool>,
) -> Result<Vec<SignalFit>, IdentifyError> {
    let problem = Problem::new(experiment)?;
    let p = estimates(&problem, result)?;
    let mut noise = Noise::initial(&problem);
    for signal in &result.signals {
        let index = problem.signals.iter().position(|s| s.0 == signal.signal);
        if let (Some(index), true) = (index, signal.sigma_estimated) {
            noise.estimated[index] = Some(signal.sigma);
        }
    }
    let mut failures = Vec::new();
    let own = refits(&problem, &p, &noise, interrupt, &mut failures)?;
    let fits = signal_fits(&problem, &p, &own, None, &noise, interrupt, &mut failures)?;
    match failures.into_iter().next() {
        Some((_, error)) => Err(error),
        None => Ok(fits),
    }
}

/// Every signal of every recording, measured against predicted at p and at the start; recordings
/// that cannot be predicted go to `failures`. `own` holds what those kept for validation have of
/// their own, `given` the predictions of fitted recordings where there are such.
pub(super) fn signal_fits(
    problem: &Problem,
    p: &[f64],
    own: &BTreeMap<usize, Refit>,
    given: Option<&[Vec<f64>]>,
    noise: &Noise,
    interrupt: Option<&AtomicBool>,
    failures: &mut Vec<(String, IdentifyError)>,
) -> Result<Vec<SignalFit>, IdentifyError> {
    let start = problem.start();
    let mut out = Vec::new();
    for (r, recording) in problem.recordings.iter().enumerate() {
        let predict =
            |p: &[f64]| recording.predict(&problem.system, &problem.unknowns, p, interrupt, false);
        let block = problem.fitted.iter().position(|&fitted| fitted == r);
        let given = block.and_then(|b| given?.get(b));
        let fitted = match own.get(&r) {
            None => given.map_or_else(|| predict(p), |y| Ok(y.clone())),
            Some(Refit { problem: alone, found }) => {
                let system = &alone.system;
                let one = &alone.recordings[0];
                one.predict(system, &alone.unknowns, &found.p, interrupt, false)
            }
        };
        let predicted = match fitted {
            Ok(y) => y,
            Err(DynamicsError::Interrupted) => return Err(IdentifyError::Interrupted),
            Err(e) => {
                failures.push((recording.name.clone(), e.into()));
                continue;
            }
        };
        // The start of a validation recording may be beyond what can be simulated.
        let initial = predict(&start).unwrap_or_else(|_| predicted.clone());
        for rows in &recording.series {
            out.push(signal_fit(problem, recording, rows.clone(), &predicted, &initial, noise));
        }
    }
    Ok(out)
}

fn signal_fit(
    problem: &Problem,
    recording: &BoundRecording,
    rows: std::ops::Range<usize>,
    predicted: &[f64],
    initial: &[f64],
    noise: &Noise,
) -> SignalFit {
    let signal = recording.signal_of[rows.start];
    let (name, unit, _) = &problem.signals[signal];
    let n = rows.len() as f64;
    let rms =
        |f: &dyn Fn(usize) -> f64| (rows.clone().map(|i| f(i) * f(i)).sum::<f64>() / n).sqrt();
    let residuals: Vec<f64> = rows.clone().map(|i| recording.difference(i, predicted[i])).collect();
    let rest = initial[rows.start];
    let mean = rows.clone().map(|i| recording.measured[i]).sum::<f64>() / n;
    let sigma = recording.sigma[rows.start];
    SignalFit {
        recording: recording.name.clone(),
        signal: name.clone(),
        unit: (*unit).into(),
        role: if recording.validation { Role::Validation } else { Role::Fitted },
        sigma: noise.of(sigma, signal),
        sigma_estimated: sigma == Sigma::Auto,
        samples: rows.len(),
        rms: rms(&|i| residuals[i - rows.start]),
        rms_initial: rms(&|i| recording.difference(i, initial[i])),
        rms_rest: rms(&|i| recording.difference(i, rest)),
        rms_signal: rms(&|i| recording.measured[i] - mean),
        autocorrelation: lag_one(&residuals),
        times: rows.clone().map(|i| recording.times[i]).collect(),
        measured: rows.clone().map(|i| Some(recording.measured[i])).collect(),
        predicted: rows.clone().map(|i| predicted[i]).collect(),
        initial: rows.clone().map(|i| initial[i]).collect(),
    }
}

/// The cost of an experiment at its start and its gradient by the values of the unknowns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    /// Half the sum of squared whitened residuals (robust where asked), priors included. A σ that
    /// is to be estimated counts as the rms of its signal.
    pub cost: f64,
    /// By full path: ∂cost/∂value.
    pub gradient: BTreeMap<String, Numbers>,
    /// Time to compile the experiment, s.
    pub setup_s: f64,
    /// Time of the gradient, s.
    pub gradient_s: f64,
    /// What the experiment leaves out or smooths: one sentence each.
    pub notes: Vec<String>,
}

/// Cost and gradient of an experiment at its start.
///
/// # Errors
/// An experiment that contradicts itself or whose start cannot be simulated.
pub fn gradient(
    experiment: &Experiment,
    interrupt: Option<&AtomicBool>,
) -> Result<Gradient, IdentifyError> {
    let begin = Instant::now();
    let problem = Problem::new(experiment)?;
    let p = problem.start();
    let fit = FitProblem::new(&problem, Noise::initial(&problem).per_sample(&problem), interrupt);
    let setup_s = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let found = match fit.cost_gradient(&p) {
        Ok(found) => found,
        Err(failed) => {
            // The plain run says best what is wrong with the start.
            super::check_start(&problem, &p, interrupt)?;
            return Err(start_failed(failed));
        }
    };
    let gradient_s = begin.elapsed().as_secs_f64();
    let mut groups: BTreeMap<String, (bool, Vec<f64>)> = BTreeMap::new();
    for (i, unknown) in problem.unknowns.iter().enumerate() {
        let value = found.gradient[i] / unknown.transform.slope(p[i]);
        let group = groups.entry(unknown.group.clone()).or_default();
        group.0 = unknown.name == unknown.group;
        group.1.push(value);
    }
    let gradient = groups
        .into_iter()
        .map(|(path, (single, values))| {
            let numbers = if single { Numbers::One(values[0]) } else { Numbers::Many(values) };
            (path, numbers)
        })
        .collect();
    let notes = problem.left_out.clone();
    Ok(Gradient { cost: found.cost, gradient, setup_s, gradient_s, notes })
}
