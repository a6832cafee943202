//! Derivative proofs on a user's own scene: for every leaf, the tangent against central
//! differences over a sweep of widths, and the adjoint against the tangent.

use std::sync::atomic::AtomicBool;

use costate_model::Inputs;

use crate::error::DynamicsError;
use crate::rollout::{
    AdjointOptions, Interval, IntervalAdjoints, IntervalTangents, Observer, Run, Seeds,
};
use crate::system::System;

/// The largest relative width of the differences; each next is a quarter of the last.
const WIDEST: f64 = 0.2;
/// How many widths there are; the last is 1.2e-8.
const WIDTHS: i32 = 13;
/// Most times that the differences are extrapolated.
const EXTRAPOLATIONS: usize = 6;

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
    /// Relative error of the tangent of the last state against differences, in a norm; the best
    /// over the widths.
    pub difference_error: f64,
    /// The relative width at which it was found.
    pub width: f64,
    /// Relative disagreement of the differences to the two sides, at the width where they agree best:
    /// above rounding where the run has a kink at this θ, as drag has for a flow along a surface.
    /// There, derivatives are those of one of the pieces, or between them.
    pub kink: f64,
    /// Relative disagreement of adjoint and tangent.
    pub adjoint_error: f64,
    /// Whether the loss depends on the leaf at all in this run.
    pub influences: bool,
}

impl LeafCheck {
    /// Whether both proofs hold to the tolerances of the documentation: at a kink, differences have
    /// to agree as well as those to the two sides agree with each other.
    pub fn passes(&self) -> bool {
        let differences = self.difference_error <= self.tolerance();
        !self.influences || (differences && self.adjoint_error <= 1e-10)
    }

    /// The largest allowed [`difference_error`](Self::difference_error).
    pub fn tolerance(&self) -> f64 {
        if self.is_kink() { self.kink } else { Self::TOLERANCE }
    }

    /// Whether a kink stands in the way of differences here.
    pub fn is_kink(&self) -> bool {
        self.kink > 10.0 * Self::TOLERANCE && self.difference_error > Self::TOLERANCE
    }

    /// What differences must agree to where the run is smooth.
    const TOLERANCE: f64 = 1e-6;
}

/// The last state: positions, velocities, activations.
struct Probe {
    steps: usize,
    /// Numbers of positions, velocities and activations.
    sizes: [usize; 3],
}

impl Probe {
    fn new(system: &System, steps: usize) -> Self {
        Self { steps, sizes: [system.position_len(), system.dof(), system.activation_len()] }
    }

    fn weight(i: usize) -> f64 {
        (1.7 * i as f64 + 0.3).sin()
    }

    /// Weights of a loss that depends on everything that moves; positions weigh as much as
    /// velocities over the run.
    fn weights(&self, timestep: f64) -> Vec<f64> {
        let [positions, velocities, activations] = self.sizes;
        let duration = self.steps as f64 * timestep;
        let of_positions = (0..positions).map(Self::weight);
        let of_velocities = (0..velocities).map(|i| duration * Self::weight(i + 7));
        let of_activations = (0..activations).map(|i| duration * Self::weight(i + 5));
        of_positions.chain(of_velocities).chain(of_activations).collect()
    }
}

impl Observer for Probe {
    fn len(&self) -> usize {
        self.sizes.iter().sum()
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, step: usize) -> bool {
        step + 1 == self.steps
    }
    fn observe(&self, at: Interval, y: &mut [f64]) {
        let values = at.end.q.iter().chain(&at.end.v).chain(&at.end.act);
        y.iter_mut().zip(values).for_each(|(y, x)| *y = *x);
    }
    fn pushforward(&self, at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        let [positions, n, na] = self.sizes;
        for (k, y_dot) in y_dot.chunks_exact_mut(self.len()).enumerate() {
            let column = k * n..(k + 1) * n;
            let (q_dot, rest) = y_dot.split_at_mut(positions);
            let (v_dot, act_dot) = rest.split_at_mut(n);
            q_dot.copy_from_slice(
                &at.system.lift_positions(&at.end.q, &tangents.end.q[column.clone()]),
            );
            v_dot.copy_from_slice(&tangents.end.v[column]);
            act_dot.copy_from_slice(&tangents.end.act[k * na..(k + 1) * na]);
        }
    }
    fn pullback(&self, at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        let [positions, n, _] = self.sizes;
        let (q_bar, rest) = y_bar.split_at(positions);
        let (v_bar, act_bar) = rest.split_at(n);
        at.system.lower_positions(&at.end.q, q_bar, &mut adjoints.end.q);
        let IntervalAdjoints { end, .. } = adjoints;
        for (to, from) in [(&mut end.v, v_bar), (&mut end.act, act_bar)] {
            to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
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
    let probe = Probe::new(system, steps);
    let y_bar = probe.weights(system.timestep());
    let loss = |y: &[f64]| y.iter().zip(&y_bar).map(|(a, b)| a * b).sum::<f64>();
    let run = Run { interrupt, ..Run::new(system, &c, inputs) };
    let gradient =
        run.gradient(&probe, &[], &AdjointOptions::default(), &mut |y| (loss(y), y_bar.clone()))?;
    let theta_bar = system.derive_pullback(&theta, &c, &gradient.c);
    let weighed = gradient.y.iter().zip(&y_bar).map(|(a, b)| (a * b) * (a * b));
    let floor = FLOOR * weighed.sum::<f64>().sqrt();
    let at = |theta: &[f64]| -> Result<Vec<f64>, DynamicsError> {
        let c = system.derive(theta)?;
        let run = Run { interrupt, ..Run::new(system, &c, inputs) };
        run.observe(&probe, &[])
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
        let differences = Differences { theta: &theta, theta_dot: &theta_dot, weights: &y_bar };
        let norm = differences.norm(y_dot.iter().copied());
        let verdict = differences.judge(&y_dot, norm.max(floor), &at);
        let size = theta_bar.iter().zip(&theta_dot).map(|(a, b)| (a * b).abs()).sum::<f64>();
        out.push(LeafCheck {
            path: leaf.path.clone(),
            derivative,
            difference_error: verdict.error,
            width: verdict.width,
            kink: if verdict.kink.is_finite() { verdict.kink } else { 0.0 },
            adjoint_error: (adjoint - derivative).abs()
                / size.max(RESOLUTION * floor).max(f64::MIN_POSITIVE),
            influences: norm.max(adjoint.abs()) > RESOLUTION * floor,
        });
    }
    Ok(out)
}

/// Differences of the last state along a direction.
struct Differences<'a> {
    theta: &'a [f64],
    theta_dot: &'a [f64],
    /// Weights of the parts of the state in norms.
    weights: &'a [f64],
}

/// What differences say of a tangent.
struct Verdict {
    /// The smallest relative error over the widths.
    error: f64,
    /// The width at which it was found.
    width: f64,
    /// The smallest relative disagreement of the differences to the two sides.
    kink: f64,
}

impl Differences<'_> {
    fn norm(&self, values: impl Iterator<Item = f64>) -> f64 {
        values.zip(self.weights).map(|(x, w)| (x * w) * (x * w)).sum::<f64>().sqrt()
    }

    /// Judges a tangent of norm `size`; one-sided (second order) where the other side is out of
    /// bounds.
    ///
    /// Richardson's extrapolation (Neville's scheme) lets the widths be large where the derivative is
    /// small, so that rounding does not drown it. It cancels odd powers of the width too: they come
    /// from one-sided differences and from forces whose second derivative jumps where the state is.
    fn judge(
        &self,
        tangent: &[f64],
        size: f64,
        at: &impl Fn(&[f64]) -> Result<Vec<f64>, DynamicsError>,
    ) -> Verdict {
        let moved = |eps: f64| {
            let pairs = self.theta.iter().zip(self.theta_dot);
            at(&pairs.map(|(a, b)| a + eps * b).collect::<Vec<_>>())
        };
        let mut verdict = Verdict { error: f64::INFINITY, width: 0.0, kink: f64::INFINITY };
        let Ok(centre) = at(self.theta) else { return verdict };
        let mut wider: Vec<Vec<f64>> = Vec::new();
        for k in 0..WIDTHS {
            let width = WIDEST * 0.25f64.powi(k);
            let of = |f: &dyn Fn(usize) -> f64| -> Vec<f64> {
                (0..centre.len()).map(|j| f(j) / (2.0 * width)).collect()
            };
            let difference = match (moved(width), moved(-width)) {
                (Ok(a), Ok(b)) => {
                    let jump = (0..centre.len()).map(|j| a[j] - 2.0 * centre[j] + b[j]);
                    verdict.kink = verdict.kink.min(self.norm(jump) / (width * size));
                    of(&|j| a[j] - b[j])
                }
                (Ok(a), Err(_)) => match moved(2.0 * width) {
                    Ok(b) => of(&|j| 4.0 * a[j] - b[j] - 3.0 * centre[j]),
                    Err(_) => {
                        wider.clear();
                        continue;
                    }
                },
                _ => {
                    wider.clear();
                    continue;
                }
            };
            let mut row = vec![difference];
            let mut factor = 1.0;
            for coarse in wider.iter().take(EXTRAPOLATIONS) {
                factor *= 4.0;
                let fine = &row[row.len() - 1];
                let pairs = fine.iter().zip(coarse);
                row.push(pairs.map(|(a, b)| a + (a - b) / (factor - 1.0)).collect());
            }
            for estimate in &row {
                let off = estimate.iter().zip(tangent).map(|(a, b)| a - b);
                let error = self.norm(off) / size;
                if error < verdict.error {
                    (verdict.error, verdict.width) = (error, width);
                }
            }
            wider = row;
        }
        verdict
    }
}
