//! Derivative proofs on a user's own scene: for every leaf, the tangent against central
//! differences over a sweep of widths, and the adjoint against the tangent.

use std::sync::atomic::AtomicBool;

use costate_model::Inputs;

use crate::error::DynamicsError;
use crate::rollout::{
    AdjointOptions, Interval, IntervalAdjoints, IntervalTangents, Observer, Run, Seeds,
};
use crate::system::System;

/// Relative widths of the differences.
const WIDTHS: [f64; 7] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// Differences of a loss of size one cannot resolve derivatives below this (rounding over the
/// largest width); errors of smaller derivatives are relative to it.
const FLOOR: f64 = 1e-7;
/// A derivative below this part of the floor is rounding: the leaf has no influence.
const RESOLUTION: f64 = 1e-6;

/// What was found for one leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafCheck {
    /// The leaf.
    pub path: String,
    /// Derivative of the test loss along the test direction.
    pub derivative: f64,
    /// Best relative error of differences over the widths.
    pub difference_error: f64,
    /// The relative width at which it was found.
    pub width: f64,
    /// Relative disagreement of adjoint and tangent.
    pub adjoint_error: f64,
    /// Whether the loss depends on the leaf at all in this run.
    pub influences: bool,
}

impl LeafCheck {
    /// Whether both proofs hold to the tolerances of the documentation.
    pub fn passes(&self) -> bool {
        !self.influences || (self.difference_error <= 1e-6 && self.adjoint_error <= 1e-10)
    }
}

/// A weighted sum of the state at a few times: depends on everything that moves.
struct Probe {
    steps: usize,
}

impl Probe {
    fn weight(i: usize) -> f64 {
        (1.7 * i as f64 + 0.3).sin()
    }
}

impl Observer for Probe {
    fn len(&self) -> usize {
        2
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, step: usize) -> bool {
        step + 1 == self.steps
    }
    fn observe(&self, at: Interval, y: &mut [f64]) {
        let sum = |values: &[f64], shift: usize| -> f64 {
            values.iter().enumerate().map(|(i, x)| Self::weight(i + shift) * x).sum()
        };
        y[0] = sum(&at.end.q, 0);
        y[1] = sum(&at.end.v, 7) + sum(&at.end.act, 5);
    }
    fn pushforward(&self, at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        let (n, na) = (at.system.dof(), at.system.activation_len());
        for k in 0..tangents.columns {
            let column = k * n..(k + 1) * n;
            let dot = |values: &[f64], shift: usize| -> f64 {
                values.iter().enumerate().map(|(i, x)| Self::weight(i + shift) * x).sum()
            };
            let q = at.system.lift_positions(&at.end.q, &tangents.end.q[column.clone()]);
            y_dot[2 * k] = dot(&q, 0);
            y_dot[2 * k + 1] =
                dot(&tangents.end.v[column], 7) + dot(&tangents.end.act[k * na..(k + 1) * na], 5);
        }
    }
    fn pullback(&self, at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        let weights = |n: usize, shift: usize| (0..n).map(move |i| Self::weight(i + shift));
        let by_q: Vec<f64> = weights(at.end.q.len(), 0).map(|weight| weight * y_bar[0]).collect();
        at.system.lower_positions(&at.end.q, &by_q, &mut adjoints.end.q);
        let IntervalAdjoints { end, .. } = adjoints;
        for (bars, shift) in [(&mut end.v, 7), (&mut end.act, 5)] {
            for (bar, weight) in bars.iter_mut().zip(weights(usize::MAX, shift)) {
                *bar += weight * y_bar[1];
            }
        }
    }
}

/// Runs the proofs for every leaf over `steps` steps, until the flag `interrupt` is raised.
///
/// # Errors
/// Divergence at the given θ, a derivative that is not finite, or an interrupt.
pub fn check(
    system: &System,
    inputs: &Inputs,
    steps: usize,
    interrupt: Option<&AtomicBool>,
) -> Result<Vec<LeafCheck>, DynamicsError> {
    let theta = system.theta();
    let c = system.derive(&theta)?;
    let probe = Probe { steps };
    // Positions weigh as much as velocities over the run.
    let y_bar = [1.0, steps as f64 * system.timestep()];
    let loss = |y: &[f64]| y[0] * y_bar[0] + y[1] * y_bar[1];
    let run = Run { interrupt, ..Run::new(system, &c, inputs) };
    let gradient =
        run.gradient(&probe, &[], &AdjointOptions::default(), &mut |y| (loss(y), y_bar.to_vec()))?;
    let theta_bar = system.derive_pullback(&theta, &c, &gradient.c);
    let floor = FLOOR * gradient.y.iter().zip(&y_bar).map(|(a, b)| (a * b).abs()).sum::<f64>();
    let at = |theta: &[f64]| -> Result<f64, DynamicsError> {
        let c = system.derive(theta)?;
        let run = Run { interrupt, ..Run::new(system, &c, inputs) };
        Ok(loss(&run.observe(&probe, &[])?))
    };
    let mut out = Vec::new();
    for (id, leaf) in system.model().leaves.iter() {
        let range = system.model().leaves.range(id);
        let scale = leaf.values.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        let scale = if scale > 0.0 { scale } else { 1e-2 };
        let mut theta_dot = vec![0.0; theta.len()];
        for (i, slot) in theta_dot[range].iter_mut().enumerate() {
            *slot = scale * (0.6 + 0.4 * Probe::weight(3 * i));
        }
        let seeds = Seeds {
            columns: 1,
            c: system.derive_pushforward(&theta, &c, &theta_dot),
            ..Seeds::default()
        };
        let y_dot = run.sensitivities(&probe, &[], &seeds, &[])?.y_dot;
        let derivative = loss(&y_dot);
        let adjoint: f64 = theta_bar.iter().zip(&theta_dot).map(|(a, b)| a * b).sum();
        let (difference_error, width) = best_difference(&theta, &theta_dot, derivative, floor, &at);
        let size = theta_bar.iter().zip(&theta_dot).map(|(a, b)| (a * b).abs()).sum::<f64>();
        out.push(LeafCheck {
            path: leaf.path.clone(),
            derivative,
            difference_error,
            width,
            adjoint_error: (adjoint - derivative).abs()
                / size.max(RESOLUTION * floor).max(f64::MIN_POSITIVE),
            influences: derivative.abs().max(adjoint.abs()) > RESOLUTION * floor,
        });
    }
    Ok(out)
}

/// Smallest relative error of differences over the widths; one-sided (second order) where the
/// other side is out of bounds.
fn best_difference(
    theta: &[f64],
    theta_dot: &[f64],
    derivative: f64,
    floor: f64,
    at: &impl Fn(&[f64]) -> Result<f64, DynamicsError>,
) -> (f64, f64) {
    let moved = |eps: f64| -> Result<f64, DynamicsError> {
        at(&theta.iter().zip(theta_dot).map(|(a, b)| a + eps * b).collect::<Vec<_>>())
    };
    let Ok(centre) = at(theta) else { return (f64::INFINITY, 0.0) };
    let mut best = (f64::INFINITY, 0.0);
    let mut wider: Option<f64> = None;
    for width in WIDTHS {
        let central = match (moved(width), moved(-width)) {
            (Ok(a), Ok(b)) => (a - b) / (2.0 * width),
            (Ok(a), Err(_)) => match moved(2.0 * width) {
                Ok(b) => (4.0 * a - b - 3.0 * centre) / (2.0 * width),
                Err(_) => {
                    wider = None;
                    continue;
                }
            },
            _ => {
                wider = None;
                continue;
            }
        };
        // Widths are a factor of ten apart: Richardson's extrapolation cancels the second order,
        // so that a small derivative need not be sought at widths where rounding drowns it.
        let extrapolated = wider.map(|wider| (100.0 * central - wider) / 99.0);
        for estimate in [Some(central), extrapolated].into_iter().flatten() {
            let error = (estimate - derivative).abs() / derivative.abs().max(floor);
            if error < best.0 {
                best = (error, width);
            }
        }
        wider = Some(central);
    }
    best
}
