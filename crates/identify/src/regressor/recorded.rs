//! Recordings as motions: positions, velocities and accelerations of all joints on an even grid.

use costate_dynamics::System;
use costate_dynamics::observe::Observation;
use costate_model::rigid::JointKind;

use super::filter::{LowPass, derivative, second_derivative};
use crate::error::IdentifyError;
use crate::problem::{BoundRecording, Problem};

/// A recorded motion.
pub(super) struct Recorded {
    /// Time between samples, s.
    pub step: f64,
    /// Per sample all coordinates, velocities, accelerations.
    pub q: Vec<Vec<f64>>,
    pub v: Vec<Vec<f64>>,
    pub a: Vec<Vec<f64>>,
    /// Inputs per sample.
    pub u: Vec<Vec<f64>>,
}

fn invalid(recording: &BoundRecording, message: impl Into<String>) -> IdentifyError {
    IdentifyError::invalid(format!("recording.{}", recording.name), message.into())
}

impl Recorded {
    pub fn new(
        problem: &Problem,
        recording: &BoundRecording,
        cutoff: Option<f64>,
    ) -> Result<Self, IdentifyError> {
        let system: &System = &problem.system;
        let Some(articulation) = &system.model().articulation else {
            return Err(invalid(recording, "the regressor is for robots"));
        };
        let mut columns: Vec<Option<(Vec<f64>, Vec<f64>)>> = Vec::new();
        for joint in &articulation.joints {
            if !matches!(joint.kind, JointKind::Slide | JointKind::Hinge) {
                let message =
                    format!("the regressor knows slides and hinges only, not joint.{}", joint.name);
                return Err(invalid(recording, message));
            }
            columns.push(None);
        }
        for rows in &recording.series {
            let signal = &recording.set.signals[recording.set.samples[rows.start].signal];
            let [term] = signal.terms.as_slice() else { continue };
            let Observation::JointPosition { joint, .. } = &term.observation else { continue };
            let Some(j) = articulation.joint(joint) else { continue };
            let from =
                |y: f64| ((y - signal.bias) / signal.scale - signal.constant) / term.coefficient;
            let times = recording.times[rows.clone()].to_vec();
            let values = recording.measured[rows.clone()].iter().map(|&y| from(y)).collect();
            columns[j] = Some((times, values));
        }
        let mut named = Vec::new();
        for (column, joint) in columns.into_iter().zip(&articulation.joints) {
            match column {
                Some(column) if column.0.len() >= 10 => named.push(column),
                _ => {
                    let message = format!(
                        "the regressor needs a signal of the position of every joint, with ten samples at \
                         least; there is none of joint.{}",
                        joint.name
                    );
                    return Err(invalid(recording, message));
                }
            }
        }
        let Some((times, _)) = named.first() else {
            return Err(invalid(recording, "there is no joint"));
        };
        let mut steps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        steps.sort_by(f64::total_cmp);
        let step = steps[steps.len() / 2];
        let start = named.iter().fold(f64::NEG_INFINITY, |m, (t, _)| m.max(t[0]));
        let end = named.iter().fold(f64::INFINITY, |m, (t, _)| m.min(t[t.len() - 1]));
        let count = ((end - start) / step + 1e-6).floor().max(0.0) as usize + 1;
        let filter = LowPass::new(cutoff.unwrap_or(0.1 / step) * step);
        let (mut q, mut v, mut a) =
            (vec![Vec::new(); count], vec![Vec::new(); count], vec![Vec::new(); count]);
        for (times, values) in &named {
            let even: Vec<f64> =
                (0..count).map(|k| line(times, values, start + k as f64 * step)).collect();
            let smooth = filter.run(&even);
            let (rate, bend) = (derivative(&smooth, step), second_derivative(&smooth, step));
            for k in 0..count {
                q[k].push(smooth[k]);
                v[k].push(rate[k]);
                a[k].push(bend[k]);
            }
        }
        let mut u = Vec::with_capacity(count);
        for k in 0..count {
            let mut now = Vec::new();
            recording.inputs.sample(system.channels(), start + k as f64 * step, &mut now);
            u.push(now);
        }
        Ok(Self { step, q, v, a, u })
    }

    pub fn len(&self) -> usize {
        self.q.len()
    }
}

/// The value at a time, on lines between samples.
fn line(times: &[f64], values: &[f64], time: f64) -> f64 {
    let after = times.partition_point(|&t| t <= time).clamp(1, times.len() - 1);
    let (a, b) = (times[after - 1], times[after]);
    let s = ((time - a) / (b - a)).clamp(0.0, 1.0);
    (1.0 - s) * values[after - 1] + s * values[after]
}
