//! What the data cannot show, before the first iteration.

use super::reasons::Reasons;
use super::sigma::Noise;
use crate::error::IdentifyError;
use crate::least_squares::{Block, Failed, Loss};
use crate::problem::{FitProblem, Problem};
use crate::result::NotIdentifiable;
use crate::uncertainty::{covariance, weak_directions};

/// A column below this share of the data's size is rounding.
const ROUNDING: f64 = 1e-10;
/// A predicted standard error above this many times the transformed value shows nothing.
const USELESS: f64 = 1e3;
/// σ that is to be estimated is taken as this share of its signal's rms.
const ASSUMED_NOISE: f64 = 1e-3;
/// Factors by which a tiny start under a logarithm is raised to see whether more can be seen.
const RAISED: [f64; 4] = [1e3, 1e6, 1e9, 1e12];

/// Residuals and Jacobian at some p.
pub(super) type Linearise<'a> = dyn Fn(&[f64]) -> Result<Vec<Block>, Failed> + 'a;

/// The noise under which the data are looked at before the fit.
pub(super) fn assumed_noise(problem: &Problem) -> Noise {
    Noise::initial(problem).scaled(ASSUMED_NOISE)
}

/// The parameters and combinations that the data cannot show at the start `p`.
///
/// `linearise` gives residuals and Jacobian under `noise`.
pub(super) fn not_identifiable(
    problem: &Problem,
    p: &[f64],
    noise: &Noise,
    linearise: &Linearise,
) -> Result<Vec<NotIdentifiable>, IdentifyError> {
    if problem.unknowns.is_empty() {
        return Ok(Vec::new());
    }
    let fit = FitProblem::new(problem, noise.per_sample(problem), None);
    let blocks = linearise(p).map_err(start_failed)?;
    let scale = crate::least_squares::LeastSquares::data_norm2(&fit).sqrt();
    let norms = column_norms(problem, &blocks);
    let unseen =
        |norm: f64, p: f64| norm <= ROUNDING * scale || USELESS * p.abs().max(1.0) * norm < 1.0;
    let mut out = Vec::new();
    let mut raised = false;
    let mut reasons = Reasons::new(problem, p);
    for i in 0..p.len() {
        let unknown = &problem.unknowns[i];
        if unknown.prior.is_some() || !unseen(norms[i], p[i]) {
            continue;
        }
        if unknown.is_logarithm() && norms[i] > 0.0 {
            let mut trial = p.to_vec();
            let seen = RAISED.iter().any(|factor| {
                trial[i] = (p[i] + factor.ln()).min(unknown.bounds.1);
                linearise(&trial).is_ok_and(|b| !unseen(column_norms(problem, &b)[i], trial[i]))
            });
            if seen {
                raised = true;
                continue;
            }
        }
        out.push(NotIdentifiable {
            path: Some(unknown.name.clone()),
            combination: None,
            reason: reasons.explain(unknown, norms[i] == 0.0),
        });
    }
    // Fewer data than unknowns: nothing is fixed, and that is told after the fit.
    let rows: usize = blocks.iter().map(|b| b.residuals.len()).sum();
    if out.is_empty() && !raised && rows >= p.len() && p.len() > 1 {
        out.extend(combinations(problem, p, &blocks));
    }
    Ok(out)
}

/// Norms of the columns of the data's residuals, priors apart.
fn column_norms(problem: &Problem, blocks: &[Block]) -> Vec<f64> {
    let mut squares = vec![0.0; problem.unknowns.len()];
    for (b, block) in blocks.iter().enumerate() {
        let rows = block.residuals.len() - block.priors;
        for (k, column) in problem.structure.columns(b).enumerate() {
            squares[column] += block.jacobian.view((0, k), (rows, 1)).norm_squared();
        }
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// Directions along which the standard error is useless though each parameter alone is seen.
fn combinations(problem: &Problem, p: &[f64], blocks: &[Block]) -> Vec<NotIdentifiable> {
    let covariance = covariance(&problem.structure, blocks, &[], Loss::Squares);
    let errors = covariance.standard_errors();
    let useless = match &errors {
        None => true,
        Some(errors) => errors.iter().zip(p).any(|(e, p)| *e > USELESS * p.abs().max(1.0)),
    };
    if !useless {
        return Vec::new();
    }
    let names: Vec<&str> = problem.unknowns.iter().map(|u| u.name.as_str()).collect();
    let logs: Vec<bool> = problem.unknowns.iter().map(|u| u.is_logarithm()).collect();
    weak_directions(&covariance, &names, &logs)
        .into_iter()
        .filter(|w| w.deviation > USELESS || w.ratio > 1e8)
        .map(|w| NotIdentifiable {
            path: None,
            combination: Some(
                w.components.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
            ),
            reason: format!("{}; fix one of them, or give one a prior", w.text),
        })
        .collect()
}

/// A fitted sample that is larger than the usual one by a factor beyond all measure.
pub(super) struct AbsurdSample {
    pub recording: String,
    signal: String,
    time: f64,
    value: f64,
    usual: f64,
}

impl std::fmt::Display for AbsurdSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { signal, time, value, usual, .. } = self;
        write!(
            f,
            "signal `{signal}` is {value:e} at t = {time} s, where its usual sample is of the size {usual:.1e}: \
             nothing else can be seen beside it; mend the cell, or leave it empty"
        )
    }
}

/// The largest fitted sample of all, where it dwarfs the others of its signal.
pub(super) fn absurd_sample(problem: &Problem) -> Option<AbsurdSample> {
    const DWARFS: f64 = 1e8;
    let mut found: Option<(f64, AbsurdSample)> = None;
    for &r in &problem.fitted {
        let recording = &problem.recordings[r];
        for series in &recording.series {
            let size = |i: usize| recording.measured[i].abs();
            let Some(at) = series.clone().max_by(|&a, &b| size(a).total_cmp(&size(b))) else {
                continue;
            };
            let mut sizes: Vec<f64> = series.clone().map(size).filter(|x| *x > 0.0).collect();
            sizes.sort_by(f64::total_cmp);
            let usual = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
            let ratio = size(at) / usual;
            if ratio > DWARFS && found.as_ref().is_none_or(|(most, _)| ratio > *most) {
                let sample = AbsurdSample {
                    recording: recording.name.clone(),
                    signal: recording.set.signals[recording.set.samples[at].signal].name.clone(),
                    time: recording.times[at],
                    value: recording.measured[at],
                    usual,
                };
                found = Some((ratio, sample));
            }
        }
    }
    found.map(|(_, sample)| sample)
}

/// The start could be simulated, but not its derivatives.
pub(super) fn start_failed(e: Failed) -> IdentifyError {
    match e {
        Failed::Interrupted => IdentifyError::Interrupted,
        Failed::Rejected(message) => {
            IdentifyError::invalid("start", format!("it cannot be evaluated: {message}"))
        }
    }
}
