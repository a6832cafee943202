//! Rows under the discrete integrator, whose references are those of the end of the step.
//!
//! With the velocity v + h J a and the position r + h(v + h J a) there, a row's deviation
//! J a + B(v + h J a) + K d(r + h v + h² J a) + J̇ v is s (J a − a_ref) with s = 1 + hB + h²K d and
//! a_ref = −(B v + K d(r + h v) + J̇ v)/s, so that the rows keep their form with a constraint mass
//! s times as large. The approximate diagonal of J M⁻¹Jᵀ is that of A = M + hD + h²K: it shrinks by
//! Σ Jᵢ²/Aᵢᵢ over Σ Jᵢ²/Mᵢᵢ (both as MuJoCo has them, measured).

use costate_num::{Mask, Scalar};

use costate_num::spatial::Motion;

use super::build::{Constraints, Item, RowInputs, Source};
use super::pullback::{RowAdjoints, RowSeeds};
use super::stage::{ConstraintStage, pull_spatial_tendons};
use crate::rigid::adjoint::Adjoint;
use crate::rigid::inverse::twists;
use crate::rigid::transport::{BodyAdjoint, Motions, TransportAdjoints};
use crate::rigid::tree::EqualityKind;

/// How a row of a step differs from that of the continuous dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ahead<S> {
    /// s.
    scale: S,
    /// Σ Jᵢ²/Mᵢᵢ over Σ Jᵢ²/Aᵢᵢ.
    ratio: S,
    /// How many times the mass is larger: s times the ratio, those of the first row of a contact.
    growth: S,
    /// The step.
    h: f64,
}

/// The diagonals that rows have been discretised with.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Diagonals<S> {
    /// Of M.
    pub(super) inertia: Vec<S>,
    /// Of A.
    pub(super) metric: Vec<S>,
}

/// Σ Jᵢ²/Dᵢᵢ of a row.
fn weighed<S: Scalar>((dofs, values): (&[usize], &[S]), diagonal: &[S]) -> S {
    let mut sum = S::zero();
    for (&dof, &value) in dofs.iter().zip(values) {
        sum += value * value / diagonal[dof];
    }
    sum
}

impl<S: Scalar> Constraints<S> {
    /// Turns rows of the continuous dynamics into those of a step `h`, with the diagonals of M and A.
    pub(in crate::rigid) fn discretise(&mut self, h: f64, inertia: &[S], metric: &[S]) {
        self.diagonals.inertia.clear();
        self.diagonals.inertia.extend_from_slice(inertia);
        self.diagonals.metric.clear();
        self.diagonals.metric.extend_from_slice(metric);
        self.ahead.clear();
        for item in &self.items {
            let mut first = (S::one(), S::one());
            for r in item.row..item.row + item.count {
                let (response, state) = (self.responses[r], self.states[r]);
                let stiffness = response.stiffness * response.impedance;
                let s = S::one() + (response.damping + stiffness.scale(h)).scale(h);
                let ahead = state.position + state.velocity.scale(h);
                let pull = response.damping * state.velocity + stiffness * ahead + state.bias;
                self.rows.reference[r] = -(pull / s);
                if leads(item, r) {
                    let (with, without) =
                        (weighed(self.rows.row(r), metric), weighed(self.rows.row(r), inertia));
                    let still = without.equals(S::zero());
                    let ratio = without / S::select(still, S::one(), with);
                    first = (s, if still.all() { S::one() } else { ratio });
                }
                // The masses of a contact's rows are in proportion to the first one's.
                let growth = first.0 * first.1;
                self.rows.mass[r] = self.rows.mass[r] * growth;
                self.ahead.push(Ahead { scale: s, ratio: first.1, growth, h });
            }
        }
    }
}

/// Whether a row's own scale and ratio make its mass: every one but the later ones of a contact.
fn leads(item: &Item, r: usize) -> bool {
    !matches!(item.source, Source::Contact(_)) || r == item.row
}

/// Adjoints of what a row's reference and mass are a function of, from those of both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReferenceBar {
    /// Of K.
    pub stiffness: f64,
    /// Of B.
    pub damping: f64,
    /// Of d in the reference.
    pub impedance: f64,
    /// Of the position.
    pub position: f64,
    /// Of J v.
    pub velocity: f64,
    /// Minus that of J̇ v.
    pub bias: f64,
    /// Of the row's mass in the continuous dynamics.
    pub mass: f64,
}

/// How a loss depends on the Jacobian of one row beside [`RowSeeds`]: by its product with joint rates.
#[derive(Clone, Debug, Default)]
pub(super) struct JacobianBar {
    /// The row.
    pub row: usize,
    /// Its item.
    pub item: usize,
    /// The adjoint of each entry, by degree of freedom.
    pub rates: Vec<f64>,
}

impl Constraints<f64> {
    /// Whether the rows are those of a step.
    pub(super) fn is_discrete(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Adjoints of what the reference and the mass of row `r` of `item` are a function of but the Jacobian.
    pub(super) fn pull_reference(&self, item: Item, r: usize, seeds: RowSeeds) -> ReferenceBar {
        let (response, state) = (self.responses[r], self.states[r]);
        let (k, b, d) = (response.stiffness, response.damping, response.impedance);
        let (weight, mass) = (seeds.weight[r], seeds.mass[r]);
        let Some(ahead) = self.ahead.get(r) else {
            return ReferenceBar {
                stiffness: -weight * d * state.position,
                damping: -weight * state.velocity,
                impedance: -weight * k * state.position,
                position: -weight * k * d,
                velocity: -weight * b,
                bias: weight,
                mass,
            };
        };
        let Ahead { scale, ratio, growth, h } = *ahead;
        let weight = weight / scale;
        let mut by_scale = -weight * self.rows.reference[r];
        if leads(&item, r) {
            by_scale += ratio * self.pull_growth(item, r, seeds.mass);
        }
        let position = state.position + h * state.velocity;
        let by_product = -weight * position + h * h * by_scale;
        ReferenceBar {
            stiffness: d * by_product,
            damping: -weight * state.velocity + h * by_scale,
            impedance: k * by_product,
            position: -weight * k * d,
            velocity: -weight * (b + h * k * d),
            bias: weight,
            mass: mass * growth,
        }
    }

    /// The adjoint of how many times the mass of row `r`, which leads, and of those it leads is larger.
    fn pull_growth(&self, item: Item, r: usize, mass_bar: &[f64]) -> f64 {
        let led = match item.source {
            Source::Contact(_) => item.row..item.row + item.count,
            _ => r..r + 1,
        };
        led.map(|i| mass_bar[i] * self.rows.mass[i] / self.ahead[i].growth).sum()
    }

    /// The adjoints of the Jacobians and of both diagonals (of M, of A) through the ratios of the diagonals,
    /// from those of the rows' masses.
    pub(super) fn pull_ratios(
        &self,
        mass_bar: &[f64],
        by_inertia: &mut [f64],
        by_metric: &mut [f64],
    ) -> Vec<JacobianBar> {
        let mut out = Vec::new();
        let Diagonals { inertia, metric } = &self.diagonals;
        for (n, item) in self.items.iter().enumerate() {
            for r in (item.row..item.row + item.count).filter(|&r| leads(item, r)) {
                let Some(&Ahead { scale, ratio, .. }) = self.ahead.get(r) else { return out };
                let by_ratio = scale * self.pull_growth(*item, r, mass_bar);
                let (dofs, values) = self.rows.row(r);
                let with = weighed((dofs, values), metric);
                if by_ratio == 0.0 || with == 0.0 {
                    continue;
                }
                let mut rates = vec![0.0; inertia.len()];
                for (&dof, &j) in dofs.iter().zip(values) {
                    let (own, whole) = (inertia[dof], metric[dof]);
                    rates[dof] = 2.0 * j * by_ratio * (1.0 / own - ratio / whole) / with;
                    by_inertia[dof] -= by_ratio * (j / own) * (j / own) / with;
                    by_metric[dof] += by_ratio * ratio * (j / whole) * (j / whole) / with;
                }
                out.push(JacobianBar { row: r, item: n, rates });
            }
        }
        out
    }
}

impl ConstraintStage {
    /// Adds the adjoints of rows of a step through the ratios of their diagonals: each has joint rates of its own
    /// that its Jacobian is multiplied by.
    pub(super) fn pull_ratios(&mut self, at: RowInputs<f64>, more: &[f64], out: &mut Adjoint) {
        let (m, n, nv) = (self.constraints.rows.len(), at.tree.bodies.len(), at.tree.nv);
        let mut mass_bar = self.law.mass.clone();
        mass_bar.iter_mut().zip(more).for_each(|(slot, more)| *slot += more);
        let [by_inertia, by_metric] = &mut self.by_diagonals;
        for diagonal in [&mut *by_inertia, &mut *by_metric] {
            diagonal.clear();
            diagonal.resize(nv, 0.0);
        }
        let bars = self.constraints.pull_ratios(&mass_bar, by_inertia, by_metric);
        let zeros = vec![0.0; m.max(nv)];
        let still = vec![Motion::zero(); n];
        let k = &at.dynamics.kinematics;
        for JacobianBar { row, item, rates } in bars {
            let item = self.constraints.items[item];
            if !is_placed(at, item.source) {
                continue;
            }
            let mut force = vec![0.0; m];
            force[row] = 1.0;
            let seeds = RowSeeds {
                force: &force,
                weight: &zeros[..m],
                mass: &zeros[..m],
                loss: &zeros[..m],
                mu: &vec![0.0; self.law.mu.len()],
                friction: &vec![[0.0; 5]; self.law.friction.len()],
                position: &[],
                rate: &[],
            };
            self.lambda_twist.resize(n, Motion::zero());
            twists(at.tree, &k.subspace, &rates, &mut self.lambda_twist);
            let motions = Motions {
                v: &zeros[..nv],
                a: &zeros[..nv],
                lambda: &rates,
                velocity: &still,
                acceleration: &still,
                lambda_twist: &self.lambda_twist,
                push_twist: &still,
            };
            self.bodies.clear();
            self.bodies.resize(n, BodyAdjoint::zero());
            let (bodies, tendons) = (&mut self.bodies, &mut self.tendons);
            let Adjoint { q, v, c, .. } = &mut *out;
            let mut bar = RowAdjoints { q, v, c, bodies, tendons, diagonal: &mut [] };
            self.constraints.pull_item(at, motions, item, seeds, &mut bar);
            pull_spatial_tendons(at, tendons, out);
            let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
            let bodies = &self.bodies;
            self.transport.run(at.tree, at.layout, at.c, k, at.qpos, motions, bodies, &mut bar);
        }
    }
}

/// Whether the Jacobian of rows of a source is a function of configuration or constants.
fn is_placed(at: RowInputs<f64>, source: Source) -> bool {
    match source {
        Source::DofFriction(_) | Source::JointLimit { .. } => false,
        Source::Equality(e) => {
            !matches!(at.tree.equalities[e].kind, EqualityKind::Joint { second: None, .. })
        }
        _ => true,
    }
}
