//! Adjoints of the rows of a state: from those of Jacobians, references and constraint masses to
//! configuration, velocity, places and motions of bodies, and constants.
//!
//! With the multipliers of the solve the rows act on a loss through
//! L = Σ fᵣ Jᵣ λ + wᵣ (a_ref − J a)ᵣ + D̄ᵣ Dᵣ + l̄ᵣ lossᵣ with f, λ, w, a, D̄ and l̄ held. For rows
//! between bodies J λ, J v and J a + J̇ v are relative motions of two points and frames, so L's derivatives are
//! forces on the bodies, which [`Transport`](crate::rigid::Transport) carries on.

use costate_num::DualN;

use super::build::{Constraints, Item, RowInputs, RowState, Source};
use super::equality;
use super::impedance::{Response, SolverParameters, regularisation};
use super::limit;
use crate::rigid::constants::Block;
use crate::rigid::transport::{BodyAdjoint, Motions};
use crate::rigid::tree::{EqualityKind, TendonPath};

/// How a loss depends on the rows: per row.
#[derive(Clone, Copy, Debug)]
pub struct RowSeeds<'a> {
    /// f: the force, which J λ is multiplied by.
    pub force: &'a [f64],
    /// w: the adjoint of a_ref.
    pub weight: &'a [f64],
    /// The adjoint of D.
    pub mass: &'a [f64],
    /// The adjoint of the loss.
    pub loss: &'a [f64],
    /// The adjoint of each cone's mu.
    pub mu: &'a [f64],
    /// The adjoint of each cone's friction.
    pub friction: &'a [[f64; 5]],
    /// The adjoint of the row's position itself; empty for zero.
    pub position: &'a [f64],
    /// The adjoint of J v itself; empty for zero.
    pub rate: &'a [f64],
}

/// The adjoint of a spatial tendon's path.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonAdjoint {
    /// The tendon.
    pub tendon: usize,
    /// By its length.
    pub length: f64,
    /// By the entries of its Jacobian.
    pub jacobian: Vec<f64>,
}

/// Adjoints that the pullback of rows adds to.
#[derive(Debug)]
pub struct RowAdjoints<'a> {
    /// By the configuration, in its tangent space: nv numbers.
    pub q: &'a mut [f64],
    /// By the joint velocities.
    pub v: &'a mut [f64],
    /// By the constants.
    pub c: &'a mut [f64],
    /// By places and motions of the bodies.
    pub bodies: &'a mut [BodyAdjoint],
    /// By spatial tendons: one entry for each row that is along one.
    pub tendons: &'a mut Vec<TendonAdjoint>,
    /// By the exact diagonal entry of J M⁻¹Jᵀ of each row; empty where constraint masses follow from
    /// inverse weights.
    pub diagonal: &'a mut [f64],
}

/// Adjoints of one row but for its Jacobian.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowBar {
    /// Of its position less margin.
    pub position: f64,
    /// Of J v.
    pub velocity: f64,
    /// Of the diagonal.
    pub diagonal: f64,
    /// Minus that of J̇ v.
    pub bias: f64,
}

/// How the impedance of a group of rows is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// At the position of its one row.
    Own,
    /// At the norm of all positions.
    Norm,
    /// At zero, without stiffness.
    Friction,
}

/// Adjoints of `solref`, `solimp` and the distance from those of stiffness, damping, impedance.
pub(super) fn pull_response(
    p: SolverParameters<f64>,
    distance: f64,
    least_time_constant: f64,
    bar: Response<f64>,
) -> [f64; 8] {
    type D = DualN<f64, 8>;
    let response = SolverParameters::<D> {
        solref: [D::variable(p.solref[0], 0), D::variable(p.solref[1], 1)],
        solimp: [
            D::variable(p.solimp[0], 2),
            D::variable(p.solimp[1], 3),
            D::variable(p.solimp[2], 4),
            D::variable(p.solimp[3], 5),
            D::variable(p.solimp[4], 6),
        ],
    }
    .response(D::variable(distance, 7), D::constant(least_time_constant));
    let mut out = [0.0; 8];
    for k in 0..8 {
        out[k] = bar.stiffness * response.stiffness.tangent[k]
            + bar.damping * response.damping.tangent[k]
            + bar.impedance * response.impedance.tangent[k];
    }
    out
}

impl Constraints<f64> {
    /// Adds the adjoints of everything the rows are a function of.
    ///
    /// `motions` has λ, and the accelerations of the bodies at the solution. What exact diagonals
    /// are a function of is not included.
    pub fn pullback(
        &self,
        at: RowInputs<f64>,
        motions: Motions,
        seeds: RowSeeds,
        bar: &mut RowAdjoints,
    ) {
        let mut rest = &self.items[..];
        while let Some(&item) = rest.first() {
            let count = match item.source {
                Source::Contact(i) => self.contacts_of_pair(i).min(rest.len()),
                _ => 1,
            };
            let (items, others) = rest.split_at(count);
            rest = others;
            match item.source {
                Source::Contact(_) => {
                    super::contact_pullback::pull(self, at, motions, items, seeds, bar);
                }
                _ => self.pull_item(at, motions, item, seeds, bar),
            }
        }
    }

    /// How many contacts from the i-th on are of its two geoms.
    fn contacts_of_pair(&self, i: usize) -> usize {
        let rest = &self.contacts[i..];
        rest.iter().take_while(|contact| contact.candidate == rest[0].candidate).count()
    }

    /// Adds the adjoints of what the rows of one source are a function of.
    pub(super) fn pull_item(
        &self,
        at: RowInputs<f64>,
        motions: Motions,
        item: Item,
        seeds: RowSeeds,
        bar: &mut RowAdjoints,
    ) {
        match item.source {
            Source::DofFriction(dof) => self.pull_dof_friction(at, item, dof, seeds, bar),
            Source::TendonFriction(t) => {
                let (layout, row) = (at.layout, item.row);
                let blocks = (layout.tendon_solref_fri, layout.tendon_solimp_fri);
                let by = self.pull_group(at, item, blocks, t, Shape::Friction, seeds, bar)[0];
                bar.c[layout.tendon_frictionloss.at(t)] += seeds.loss[row];
                bar.c[layout.tendon_invweight0.at(t)] += by.diagonal;
                pull_tendon(at, motions, t, TendonSeed::new(seeds, row, 1.0, by), bar);
            }
            Source::JointLimit { joint, upper } => {
                self.pull_joint_limit(at, item, joint, upper, seeds, bar);
            }
            Source::BallLimit(joint) => {
                limit::pull_ball(self, at, motions, item, joint, seeds, bar);
            }
            Source::TendonLimit { tendon, upper } => {
                self.pull_tendon_limit(at, motions, item, tendon, upper, seeds, bar);
            }
            Source::Contact(_) => {
                super::contact_pullback::pull(self, at, motions, &[item], seeds, bar);
            }
            Source::Equality(e) => match at.tree.equalities[e].kind {
                EqualityKind::Joint { first, second } => {
                    equality::pull_joint(self, at, motions, item, e, first, second, seeds, bar);
                }
                EqualityKind::Tendon { first, second } => {
                    equality::pull_tendons(self, at, motions, item, e, first, second, seeds, bar);
                }
                _ => super::attachment::pull(self, at, motions, item, e, seeds, bar),
            },
        }
    }

    /// Adjoints of a group of rows of one response; adds those of its `solref` and `solimp`.
    pub(super) fn pull_group(
        &self,
        at: RowInputs<f64>,
        item: Item,
        (solref, solimp): (Block, Block),
        index: usize,
        shape: Shape,
        seeds: RowSeeds,
        bar: &mut RowAdjoints,
    ) -> [RowBar; 6] {
        let p = at.parameters(solref, solimp, index);
        let least = at.least_time_constant();
        let states = &self.states[item.row..item.row + item.count];
        let distance = match shape {
            Shape::Own => states[0].position,
            Shape::Norm => norm(states),
            Shape::Friction => 0.0,
        };
        let mut by = Response { stiffness: 0.0, damping: 0.0, impedance: 0.0 };
        let mut rows = [RowBar::default(); 6];
        for (i, state) in states.iter().enumerate() {
            let row = item.row + i;
            let own = self.pull_reference(item, row, seeds);
            by.stiffness += own.stiffness;
            by.damping += own.damping;
            // D = 1/R, and R is at its floor or proportional to the diagonal.
            let r = regularisation(
                DualN::<f64, 2>::variable(self.responses[row].impedance, 0),
                DualN::<f64, 2>::variable(state.diagonal, 1),
            );
            let by_r = -own.mass / (r.value * r.value);
            by.impedance += by_r * r.tangent[0] + own.impedance;
            let given = |bars: &[f64]| bars.get(row).copied().unwrap_or(0.0);
            rows[i] = RowBar {
                position: given(seeds.position) + own.position,
                velocity: given(seeds.rate) + own.velocity,
                diagonal: by_r * r.tangent[1],
                bias: own.bias,
            };
            if let Some(exact) = bar.diagonal.get_mut(item.row + i) {
                *exact += std::mem::take(&mut rows[i].diagonal);
            }
        }
        if shape == Shape::Friction {
            by.stiffness = 0.0;
        }
        let numbers = pull_response(p, distance, least, by);
        for i in 0..2 {
            bar.c[solref.at(index) + i] += numbers[i];
        }
        for i in 0..5 {
            bar.c[solimp.at(index) + i] += numbers[2 + i];
        }
        match shape {
            Shape::Own => rows[0].position += numbers[7],
            Shape::Norm if distance > 0.0 => {
                for (row, state) in rows.iter_mut().zip(states) {
                    row.position += numbers[7] * state.position / distance;
                }
            }
            Shape::Norm | Shape::Friction => {}
        }
        rows
    }

    fn pull_dof_friction(
        &self,
        at: RowInputs<f64>,
        item: Item,
        dof: usize,
        seeds: RowSeeds,
        bar: &mut RowAdjoints,
    ) {
        let layout = at.layout;
        let blocks = (layout.dof_solref, layout.dof_solimp);
        let by = self.pull_group(at, item, blocks, dof, Shape::Friction, seeds, bar)[0];
        bar.v[dof] += by.velocity;
        bar.c[layout.dof_frictionloss.at(dof)] += seeds.loss[item.row];
        bar.c[layout.dof_invweight0.at(dof)] += by.diagonal;
    }

    fn pull_joint_limit(
        &self,
        at: RowInputs<f64>,
        item: Item,
        j: usize,
        upper: bool,
        seeds: RowSeeds,
        bar: &mut RowAdjoints,
    ) {
        let (layout, joint) = (at.layout, &at.tree.joints[j]);
        let blocks = (layout.jnt_solref, layout.jnt_solimp);
        let by = self.pull_group(at, item, blocks, j, Shape::Own, seeds, bar)[0];
        let sign = if upper { -1.0 } else { 1.0 };
        bar.q[joint.dof] += sign * by.position;
        bar.v[joint.dof] += sign * by.velocity;
        bar.c[layout.jnt_range.at(j) + usize::from(upper)] -= sign * by.position;
        bar.c[layout.jnt_margin.at(j)] -= by.position;
        bar.c[layout.dof_invweight0.at(joint.dof)] += by.diagonal;
    }

    fn pull_tendon_limit(
        &self,
        at: RowInputs<f64>,
        motions: Motions,
        item: Item,
        t: usize,
        upper: bool,
        seeds: RowSeeds,
        bar: &mut RowAdjoints,
    ) {
        let layout = at.layout;
        let blocks = (layout.tendon_solref_lim, layout.tendon_solimp_lim);
        let by = self.pull_group(at, item, blocks, t, Shape::Own, seeds, bar)[0];
        let sign = if upper { -1.0 } else { 1.0 };
        bar.c[layout.tendon_range.at(t) + usize::from(upper)] -= sign * by.position;
        bar.c[layout.tendon_margin.at(t)] -= by.position;
        bar.c[layout.tendon_invweight0.at(t)] += by.diagonal;
        pull_tendon(at, motions, t, TendonSeed::new(seeds, item.row, sign, by), bar);
    }
}

/// |r| over the rows of a group, as the forward pass sums it.
fn norm(states: &[RowState<f64>]) -> f64 {
    let mut squared = 0.0;
    for state in states {
        squared += state.position * state.position;
    }
    squared.sqrt()
}

/// How a loss depends on a tendon.
#[derive(Clone, Copy, Debug)]
pub(super) struct TendonSeed {
    /// By its length.
    pub length: f64,
    /// By its rate J v.
    pub rate: f64,
    /// By J λ.
    pub force: f64,
    /// Minus by J a.
    pub weight: f64,
}

impl TendonSeed {
    /// Of a row that has the tendon's length and rate `sign` times.
    pub(super) fn new(seeds: RowSeeds, row: usize, sign: f64, by: RowBar) -> Self {
        Self {
            length: sign * by.position,
            rate: sign * by.velocity,
            force: sign * seeds.force[row],
            weight: sign * seeds.weight[row],
        }
    }
}

/// Adjoint of tendon `t`; of a spatial one, that of its length and Jacobian is kept for
/// [`ConstraintStage`](super::ConstraintStage).
pub(super) fn pull_tendon(
    at: RowInputs<f64>,
    motions: Motions,
    t: usize,
    seed: TendonSeed,
    bar: &mut RowAdjoints,
) {
    let tendons = &at.dynamics.tendons;
    let TendonPath::Fixed { joints } = &at.tree.tendons[t].path else {
        let mut jacobian = Vec::with_capacity(tendons.entries(t).len());
        for k in tendons.entries(t) {
            let dof = tendons.dofs[k];
            bar.v[dof] += seed.rate * tendons.jacobian[k];
            jacobian.push(
                seed.force * motions.lambda[dof] - seed.weight * motions.a[dof]
                    + seed.rate * motions.v[dof],
            );
        }
        return bar.tendons.push(TendonAdjoint { tendon: t, length: seed.length, jacobian });
    };
    let wraps = at.tree.tendons[t].wraps.clone();
    for ((k, &j), wrap) in tendons.entries(t).zip(joints).zip(wraps) {
        let (dof, coefficient) = (tendons.dofs[k], tendons.jacobian[k]);
        let rates = seed.force * motions.lambda[dof] - seed.weight * motions.a[dof]
            + seed.rate * motions.v[dof];
        bar.q[dof] += seed.length * coefficient;
        bar.v[dof] += seed.rate * coefficient;
        let q = at.qpos[at.tree.joints[j].qpos];
        bar.c[at.layout.wrap_prm.at(wrap)] += rates + seed.length * q;
    }
}
