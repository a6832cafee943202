//! The noise of signals whose σ is to be estimated.

use serde::{Deserialize, Serialize};

use crate::experiment::Sigma;
use crate::least_squares::Loss;
use crate::problem::Problem;

/// σ of every signal of the experiment that is estimated (SI); `None` where it is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noise {
    pub estimated: Vec<Option<f64>>,
}

/// σ of clean data: this share of the largest value stands for rounding.
const FLOOR: f64 = 1e-12;

impl Noise {
    /// As large as the signals themselves: what is known before a fit.
    pub fn initial(problem: &Problem) -> Self {
        let estimated = (0..problem.signals.len())
            .map(|s| {
                let values = fitted_values(problem, s);
                if values.is_empty() {
                    return None;
                }
                let n = values.len() as f64;
                let mean = values.iter().sum::<f64>() / n;
                let rms = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
                let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let sigma = if rms > 1e-9 * largest { rms } else { largest };
                Some(if sigma > 0.0 { sigma } else { 1.0 })
            })
            .collect();
        Self { estimated }
    }

    /// The same, `factor` times.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { estimated: self.estimated.iter().map(|s| s.map(|s| s * factor)).collect() }
    }

    /// σ of every sample of every fitted recording.
    pub fn per_sample(&self, problem: &Problem) -> Vec<Vec<f64>> {
        problem
            .fitted
            .iter()
            .map(|&r| {
                let recording = &problem.recordings[r];
                (0..recording.measured.len())
                    .map(|i| self.of(recording.sigma[i], recording.signal_of[i]))
                    .collect()
            })
            .collect()
    }

    /// σ of a sample of a signal.
    pub fn of(&self, sigma: Sigma, signal: usize) -> f64 {
        match sigma {
            Sigma::Given(sigma) => sigma,
            Sigma::Auto => self.estimated[signal].unwrap_or(1.0),
        }
    }

    /// Whether anything is estimated.
    pub fn is_estimated(&self) -> bool {
        self.estimated.iter().any(Option::is_some)
    }

    /// From residuals whitened by this noise to the next estimate. Degrees of freedom are shared
    /// in proportion to samples; a robust loss takes the median of absolute residuals.
    pub fn update(&self, problem: &Problem, residuals: &[&[f64]]) -> Self {
        let (samples, unknowns) = (problem.samples(), problem.unknowns.len());
        if samples <= unknowns {
            return self.clone();
        }
        let freedom = (samples - unknowns) as f64 / samples as f64;
        let estimated = self
            .estimated
            .iter()
            .enumerate()
            .map(|(s, old)| {
                let old = (*old)?;
                let mut own: Vec<f64> = Vec::new();
                let mut largest = 0.0f64;
                for (b, &r) in problem.fitted.iter().enumerate() {
                    let recording = &problem.recordings[r];
                    for i in 0..recording.measured.len() {
                        if recording.signal_of[i] == s && recording.sigma[i] == Sigma::Auto {
                            own.push((residuals[b][i] * old).abs());
                            largest = largest.max(recording.measured[i].abs());
                        }
                    }
                }
                if own.is_empty() {
                    return Some(old);
                }
                let sigma = if problem.method.loss == Loss::Squares {
                    (own.iter().map(|r| r * r).sum::<f64>() / (own.len() as f64 * freedom)).sqrt()
                } else {
                    // 1.4826: from the median of |r| to σ of a normal distribution.
                    own.sort_by(f64::total_cmp);
                    1.4826 * own[own.len() / 2] / freedom.sqrt()
                };
                let floor = FLOOR * if largest > 0.0 { largest } else { 1.0 };
                Some(sigma.max(floor))
            })
            .collect();
        Self { estimated }
    }

    /// The largest relative change to `other`.
    pub fn change(&self, other: &Self) -> f64 {
        self.estimated
            .iter()
            .zip(&other.estimated)
            .filter_map(|(a, b)| Some(((*a)? / (*b)?).ln().abs()))
            .fold(0.0, f64::max)
    }
}

/// Samples of a signal whose σ is estimated, in all fitted recordings.
fn fitted_values(problem: &Problem, signal: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for &r in &problem.fitted {
        let recording = &problem.recordings[r];
        for i in 0..recording.measured.len() {
            if recording.signal_of[i] == signal && recording.sigma[i] == Sigma::Auto {
                values.push(recording.measured[i]);
            }
        }
    }
    values
}
