//! What a result warns of, in words.

use std::collections::BTreeMap;

use super::search::Found;
use super::starts;
use crate::least_squares::Status;
use crate::problem::Problem;
use crate::result::{Goodness, Parameter, Role, SignalFit};

/// Warnings, in the order in which they are told.
#[derive(Default)]
pub(super) struct Notes(pub Vec<String>);

impl Notes {
    pub fn add(&mut self, text: impl Into<String>) {
        self.0.push(text.into());
    }

    pub fn search(&mut self, found: &Found, problem: &Problem) {
        match found.status {
            Status::Converged => {}
            Status::Interrupted => self.add("interrupted: this is where the search stood"),
            Status::MaxIterations => self.add(format!(
                "not converged: the {} iterations ran out",
                problem.method.max_iterations
            )),
            Status::Stalled => self.add(
                "not converged: no step lowers the cost though its derivative says so; the cost \
                 is rough here (contact onsets, a chaotic motion) or the derivatives do not \
                 belong to it",
            ),
        }
        if found.failed_trials > 0 {
            self.add(format!(
                "{} trial steps could not be simulated (unstable or diverged) and were rejected",
                found.failed_trials
            ));
        }
        for (name, turns) in &found.checkpoint.turning_points {
            if *turns > starts::ROUGH {
                self.add(format!(
                    "the cost is rough: it turns {turns} times within 30 % of the start of \
                     `{name}`, so that descent from one start finds one of many local minima"
                ));
            }
        }
        let ended = &found.checkpoint.ended;
        let best = ended.iter().map(|e| e.cost).fold(f64::INFINITY, f64::min);
        let worse = ended
            .iter()
            .filter(|e| e.status.converged() && e.cost > best + 1e-3 * best.abs() + 1e-9)
            .count();
        if worse > 0 {
            self.add(format!(
                "of {} starts {worse} ended in a local minimum that is worse than the best one",
                ended.len()
            ));
        }
    }

    /// What is to be said of the fit; whether every fitted signal is explained worse than by a model that does
    /// nothing.
    pub fn fit(&mut self, goodness: &Goodness, signals: &[SignalFit], found: &Found) -> bool {
        if !found.noise.is_estimated()
            && let Some(reduced) = goodness.chi2_reduced
            && goodness.degrees_of_freedom >= 10
            && (reduced < 0.3 || is_too_large(reduced, goodness.degrees_of_freedom))
        {
            let ratio = reduced.sqrt();
            self.add(if reduced > 1.0 {
                format!(
                    "residuals are {ratio:.2} times larger than the given σ: the model or σ is \
                     wrong, and the intervals are too narrow"
                )
            } else {
                format!("residuals are only {ratio:.2} times the given σ, which is too large")
            });
        }
        // Where a signal hardly moves, both differ by chance.
        let chance = |signal: &SignalFit| 2.0 / (signal.samples as f64).sqrt();
        let is_worse = |signal: &&SignalFit| {
            signal.samples > 2 && signal.rms > signal.rms_rest * (1.0 + chance(signal))
        };
        let unexplained = goodness.parameters > 0 && {
            // What lies within its given noise is explained.
            let is_noise = |s: &SignalFit| !s.sigma_estimated && s.rms <= s.sigma;
            let mut fitted = signals.iter().filter(|s| s.role == Role::Fitted).peekable();
            fitted.peek().is_some() && fitted.all(|s| is_worse(&s) && !is_noise(s))
        };
        if unexplained {
            self.add(
                "the search ended, but this is no fit: every fitted signal is explained worse than by a model \
                 that does nothing",
            );
        }
        for signal in signals {
            if is_worse(&signal) {
                self.add(format!(
                    "recording {}: signal {} is explained worse (rms {:.3e}) than by a model that \
                     does nothing ({:.3e})",
                    signal.recording, signal.signal, signal.rms, signal.rms_rest
                ));
            }
        }
        unexplained
    }

    pub fn parameters(&mut self, parameters: &BTreeMap<String, Parameter>) {
        for (path, parameter) in parameters {
            if parameter.at_bound {
                self.add(format!(
                    "`{path}` lies on its bound; it has no interval, and those of the others hold \
                     it fixed"
                ));
            }
            let Some(errors) = &parameter.std_error else { continue };
            let pairs = errors.as_slice().iter().zip(parameter.estimate.as_slice());
            let wide: Vec<&str> = pairs
                .enumerate()
                .filter(|(_, (e, x))| 1.96 * **e > x.abs())
                .map(|(i, _)| parameter.names.get(i).map_or(path.as_str(), String::as_str))
                .collect();
            if wide.is_empty() {
                continue;
            }
            let mut text: Vec<String> = wide.iter().take(NAMED).map(|n| format!("`{n}`")).collect();
            if wide.len() > NAMED {
                text.push(format!("{} more", wide.len() - NAMED));
            }
            let verb = if wide.len() == 1 { "is" } else { "are" };
            let size = if wide.len() == 1 {
                "its interval exceeds its size"
            } else {
                "their intervals exceed their sizes"
            };
            self.add(format!("{} {verb} hardly known: {size}", text.join(", ")));
        }
    }
}

/// So many numbers of one parameter are named in a warning.
const NAMED: usize = 6;

/// Whether a reduced χ² is far beyond chance, and by more than what a σ is usually wrong by.
fn is_too_large(reduced: f64, degrees_of_freedom: i64) -> bool {
    reduced > 1.5 && reduced > 1.0 + 6.0 * (2.0 / degrees_of_freedom.max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Numbers;

    #[test]
    fn numbers_that_are_hardly_known_are_named() {
        let parameter = |names: &[&str], estimate: Numbers, error: Numbers| Parameter {
            unit: "m".into(),
            names: names.iter().map(|n| (*n).into()).collect(),
            initial: estimate.clone(),
            estimate,
            std_error: Some(error),
            ci95: None,
            transform: "identity".into(),
            at_bound: false,
            prior: None,
        };
        let many = parameter(
            &["marker.tip.offset[0]", "marker.tip.offset[1]", "marker.tip.offset[2]"],
            Numbers::Many(vec![1.0, 1.0, 1.0]),
            Numbers::Many(vec![0.1, 3.0, 2.0]),
        );
        let one = parameter(&[], Numbers::One(1.0), Numbers::One(0.1));
        let poor = parameter(&[], Numbers::One(1.0), Numbers::One(0.6));
        let mut notes = Notes::default();
        let named = [("marker.tip.offset", many), ("a.known", one), ("b.poor", poor)];
        notes.parameters(&named.into_iter().map(|(path, p)| (path.to_owned(), p)).collect());
        assert_eq!(
            notes.0,
            [
                "`b.poor` is hardly known: its interval exceeds its size",
                "`marker.tip.offset[1]`, `marker.tip.offset[2]` are hardly known: their intervals exceed their sizes",
            ]
        );
    }
}
