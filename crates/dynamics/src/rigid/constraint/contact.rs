//! Rows of contacts between geoms.
//!
//! Row r of a contact is a velocity of the second body against the first at the contact's point:
//! ℓᵣ·Δv + αᵣ·Δω. A frictionless contact has the normal n; an elliptic cone n, then the tangents, the
//! spin about n and the rolling about the tangents; a pyramid the edges n ± μₖ (one of these). R follows
//! from that of the first row by the friction coefficients (MuJoCo's documentation, *Computation*, *Friction
//! cones* and *Constraint model*).

use costate_num::spatial::Motion;
use costate_num::{Scalar, Vec3};

use super::build::{Constraints, RowInputs, RowState, Source};
use super::impedance::{Response, SolverParameters, reference_acceleration, regularisation};
use super::law::Law;
use super::rows::Cone;
use super::search::relaxation;
use crate::rigid::collision::{Candidate, Pairing, Real, Touch};

/// Most rows of a contact: a pyramid of dimension 6.
pub(super) const MAX_ROWS: usize = 10;
/// The least friction coefficient.
const LEAST_FRICTION: f64 = 1e-5;
/// The least weight in the mixing of two geoms' parameters.
const LEAST_MIX: f64 = 1e-15;

/// How two geoms touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParameters<S> {
    /// Dimension: 1, 3, 4 or 6.
    pub dim: usize,
    /// Two sliding coefficients, a torsional one (m), two rolling ones (m).
    pub friction: [S; 5],
    /// Distance at which it acts, m.
    pub margin: S,
    /// Distance beyond the margin at which contacts are looked for, m.
    pub gap: S,
    /// Reference and impedance.
    pub solver: SolverParameters<S>,
    /// Reference of the friction rows of elliptic cones, where it is not zero.
    pub friction_solref: [S; 2],
}

/// A contact that has rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<S = f64> {
    /// The geoms, and what says how they touch.
    pub candidate: Candidate,
    /// Which of the points of its two geoms it is.
    pub index: usize,
    /// Where.
    pub touch: Touch<S>,
    /// The tangents.
    pub tangents: [Vec3<S>; 2],
    /// How.
    pub parameters: ContactParameters<S>,
}

/// The larger of two numbers; of equal ones the mean, so that each has half the derivative, neither none.
fn larger<S: Scalar<Mask = bool>>(a: S, b: S) -> S {
    if a.equals(b) { (a + b).scale(0.5) } else { a.max(b) }
}

/// The weight of the first geom's parameters.
pub(super) fn mix_weight<S: Scalar<Mask = bool>>(first: S, second: S) -> S {
    let least = S::splat(LEAST_MIX);
    match (!first.lt(least), !second.lt(least)) {
        (true, true) => first / (first + second),
        (true, false) => S::one(),
        (false, true) => S::zero(),
        (false, false) => S::splat(0.5),
    }
}

/// Which geom's parameters count alone, by their priorities.
pub(super) fn prior<S>(at: RowInputs<S>, [a, b]: [usize; 2]) -> Option<usize> {
    let (first, second) = (at.tree.geoms[a].priority, at.tree.geoms[b].priority);
    (first != second).then_some(if first > second { a } else { b })
}

/// The parameters of a candidate.
pub(super) fn parameters<S: Scalar<Mask = bool>>(
    at: RowInputs<S>,
    candidate: Candidate,
) -> ContactParameters<S> {
    let (layout, c) = (at.layout, at.c);
    let [a, b] = candidate.geoms;
    let least = S::splat(LEAST_FRICTION);
    if let Pairing::Explicit(p) = candidate.pairing {
        let friction = layout.pair_friction.at(p);
        let mut five = [S::zero(); 5];
        for (k, mu) in five.iter_mut().enumerate() {
            *mu = c[friction + k].max(least);
        }
        let solref = layout.pair_solreffriction.at(p);
        return ContactParameters {
            dim: usize::from(at.tree.pairs[p].condim),
            friction: five,
            margin: c[layout.pair_margin.at(p)],
            gap: c[layout.pair_gap.at(p)],
            solver: at.parameters(layout.pair_solref, layout.pair_solimp, p),
            friction_solref: [c[solref], c[solref + 1]],
        };
    }
    let geom = |g: usize| at.parameters(layout.geom_solref, layout.geom_solimp, g);
    let coefficient = |g: usize, k: usize| c[layout.geom_friction.at(g) + k];
    let (dim, three, solver) = match prior(at, candidate.geoms) {
        Some(g) => {
            let three = [coefficient(g, 0), coefficient(g, 1), coefficient(g, 2)];
            (at.tree.geoms[g].condim, three, geom(g))
        }
        None => {
            let larger = |k: usize| larger(coefficient(a, k), coefficient(b, k));
            let dim = at.tree.geoms[a].condim.max(at.tree.geoms[b].condim);
            let (first, second) = (layout.geom_solmix.at(a), layout.geom_solmix.at(b));
            let weight = mix_weight(c[first], c[second]);
            (dim, [larger(0), larger(1), larger(2)], mix(geom(a), geom(b), weight))
        }
    };
    let [slide, spin, roll] = three.map(|mu| mu.max(least));
    let sum = |block: crate::rigid::Block| c[block.at(a)] + c[block.at(b)];
    ContactParameters {
        dim: usize::from(dim),
        friction: [slide, slide, spin, roll, roll],
        margin: sum(layout.geom_margin),
        gap: sum(layout.geom_gap),
        solver,
        friction_solref: [S::zero(); 2],
    }
}

/// Whether both geoms' time constants are positive, so that references are averaged.
pub(super) fn is_averaged<S: Scalar<Mask = bool>>(
    a: &SolverParameters<S>,
    b: &SolverParameters<S>,
) -> bool {
    a.solref[0].gt(S::zero()) && b.solref[0].gt(S::zero())
}

/// Parameters of two geoms, averaged by weight; references given as stiffnesses are not averaged but the
/// smaller number counts.
fn mix<S: Scalar<Mask = bool>>(
    a: SolverParameters<S>,
    b: SolverParameters<S>,
    weight: S,
) -> SolverParameters<S> {
    let rest = S::one() - weight;
    let mut out = a;
    for k in 0..5 {
        out.solimp[k] = weight * a.solimp[k] + rest * b.solimp[k];
    }
    let averaged = is_averaged(&a, &b);
    for k in 0..2 {
        out.solref[k] = if averaged {
            weight * a.solref[k] + rest * b.solref[k]
        } else {
            a.solref[k].min(b.solref[k])
        };
    }
    out
}

/// ℓ and α of a row.
pub(super) type Direction<S> = (Vec3<S>, Vec3<S>);

impl<S: Scalar> Contact<S> {
    /// How many rows it has.
    pub(super) fn rows(&self, elliptic: bool) -> usize {
        let dim = self.parameters.dim;
        if dim == 1 || elliptic { dim } else { 2 * (dim - 1) }
    }

    /// Direction k of the contact's space: normal, tangents, spin, rolling.
    #[inline(always)]
    pub(super) fn axis(&self, k: usize) -> Direction<S> {
        let zero = Vec3::zero();
        let [first, second] = self.tangents;
        match k {
            0 => (self.touch.normal, zero),
            1 => (first, zero),
            2 => (second, zero),
            3 => (zero, self.touch.normal),
            4 => (zero, first),
            _ => (zero, second),
        }
    }

    /// Direction of a row.
    #[inline(always)]
    pub(super) fn direction(&self, r: usize, elliptic: bool) -> Direction<S> {
        if self.parameters.dim == 1 || elliptic {
            return self.axis(r);
        }
        let (k, mu) = self.edge(r, elliptic);
        let (linear, angular) = self.axis(k);
        (self.touch.normal + linear * mu, angular * mu)
    }

    /// The axis of a pyramid's edge beside the normal, and how much of it the edge has; axis 0 for rows that
    /// are axes themselves.
    #[inline(always)]
    fn edge(&self, r: usize, elliptic: bool) -> (usize, S) {
        if self.parameters.dim == 1 || elliptic {
            return (0, S::zero());
        }
        let mu = self.parameters.friction[r / 2];
        (1 + r / 2, if r.is_multiple_of(2) { mu } else { -mu })
    }

    /// Motion of the second body against the first at the contact's point, for the bodies' twists.
    #[inline(always)]
    pub(super) fn relative(&self, at: RowInputs<S>, twists: &[Motion<S>]) -> Direction<S> {
        let origin = &at.dynamics.kinematics.origin;
        let [a, b] = self.bodies(at);
        let point = |body: usize| {
            let twist = twists[body];
            twist.linear + twist.angular.cross(self.touch.position - origin[body])
        };
        (point(b) - point(a), twists[b].angular - twists[a].angular)
    }

    /// The bodies of its geoms.
    #[inline(always)]
    pub(super) fn bodies<T>(&self, at: RowInputs<T>) -> [usize; 2] {
        self.candidate.geoms.map(|g| at.tree.geoms[g].body)
    }
}

/// Constraint masses 1/R of a contact's rows, and μ of its regularised cone, from the impedance and
/// the diagonal entry of the first row.
pub(super) fn masses<S: Scalar>(
    elliptic: bool,
    dim: usize,
    impedance: S,
    diagonal: S,
    friction: &[S; 5],
    impedance_ratio: f64,
) -> ([S; MAX_ROWS], S) {
    let least = S::splat(LEAST_MIX);
    let first = regularisation(impedance, diagonal);
    let mut out = [first.recip(); MAX_ROWS];
    let tangential = first.scale(1.0 / impedance_ratio.max(LEAST_MIX));
    let mu = friction[0] * (tangential / first).sqrt();
    if dim == 1 {
        return (out, mu);
    }
    if elliptic {
        for k in 1..dim {
            let ratio = friction[0] / friction[k - 1];
            out[k] = (tangential * ratio * ratio).max(least).recip();
        }
    } else {
        out = [((mu * mu * first).scale(2.0)).max(least).recip(); MAX_ROWS];
    }
    (out, mu)
}

/// The approximate diagonal entry of the first row.
pub(super) fn diagonal<S: Scalar>(
    elliptic: bool,
    dim: usize,
    translation: S,
    friction: &[S; 5],
) -> S {
    if dim == 1 || elliptic {
        translation
    } else {
        translation + friction[0] * friction[0] * translation
    }
}

/// Adds the rows of all contacts.
pub(super) fn add_rows<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>) {
    for i in 0..out.contacts.len() {
        add_contact(out, at, i);
    }
}

fn add_contact<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>, i: usize) {
    let contact = out.contacts[i];
    let (layout, c, d) = (at.layout, at.c, at.dynamics);
    let p = &contact.parameters;
    let elliptic = at.tree.options.elliptic;
    let count = contact.rows(elliptic);
    let bodies = contact.bodies(at);
    let mut dofs = std::mem::take(&mut out.dofs);
    relative_dofs(at, bodies, &mut dofs);
    let position = contact.touch.distance - p.margin;
    let response = p.solver.response(position, at.least_time_constant());
    let friction_damping = friction_damping(&contact, at, response);
    let (velocity, spin) = contact.relative(at, &d.velocity);
    let [a, b] = bodies.map(|body| layout.body_invweight0.at(body));
    let first_row = out.rows.len();
    let law = match (p.dim, elliptic) {
        (1, _) | (_, false) => Law::Unilateral,
        _ => Law::Elliptic,
    };
    out.begin(Source::Contact(i));
    let arms = bodies.map(|body| contact.touch.position - d.kinematics.origin[body]);
    // Along the axes of the contact's space; rows are those, or sums of two.
    let mut along = std::mem::take(&mut out.along);
    along.clear();
    for &(dof, second) in &dofs {
        let s = d.kinematics.subspace[dof];
        let point = s.linear + s.angular.cross(arms[usize::from(second)]);
        let (point, turn) = if second { (point, s.angular) } else { (-point, -s.angular) };
        let mut values = [S::zero(); 6];
        values[0] = contact.touch.normal.dot(point);
        if p.dim > 1 {
            values[1] = contact.tangents[0].dot(point);
            values[2] = contact.tangents[1].dot(point);
        }
        for k in 3..p.dim {
            values[k] = contact.axis(k).1.dot(turn);
        }
        along.push(values);
    }
    for r in 0..count {
        let (linear, angular) = contact.direction(r, elliptic);
        let (k, mu) = contact.edge(r, elliptic);
        let of_friction = law == Law::Elliptic && r > 0;
        let rate = linear.dot(velocity) + angular.dot(spin);
        let position = if of_friction { S::zero() } else { position };
        let (stiffness, damping) = if of_friction {
            (S::zero(), friction_damping)
        } else {
            (response.stiffness, response.damping)
        };
        let row = Response { stiffness, damping, impedance: response.impedance };
        let state = RowState { position, velocity: rate, bias: S::zero(), diagonal: S::one() };
        let reference = reference_acceleration(row, rate, position);
        let order = dofs.iter().map(|&(dof, _)| dof);
        if k == 0 {
            out.rows.push_ordered(order, along.iter().map(|values| values[r]), law, reference);
        } else {
            let edge = along.iter().map(|values| values[0] + values[k] * mu);
            out.rows.push_ordered(order, edge, law, reference);
        }
        out.push_contact(row, state);
    }
    out.dofs = dofs;
    out.along = along;
    let mut first = diagonal(elliptic, p.dim, c[a] + c[b], &p.friction);
    if at.tree.options.exact_diagonal {
        first = out.exact_diagonal(at, first_row);
        out.states[first_row].diagonal = first;
    }
    let ratio = at.tree.options.impedance_ratio;
    let (masses, mu) = masses(elliptic, p.dim, response.impedance, first, &p.friction, ratio);
    out.rows.mass[first_row..first_row + count].copy_from_slice(&masses[..count]);
    if at.tree.options.relaxation > 0.0 {
        // In accelerations: what the stiffness makes of it.
        let width = relaxation(at.tree, position) * response.stiffness * response.impedance;
        let relaxed = if law == Law::Elliptic { 1 } else { count };
        out.rows.loss[first_row..first_row + relaxed].fill(width);
    }
    if law == Law::Elliptic {
        out.rows.cones.push(Cone { row: first_row, dim: p.dim, mu, friction: p.friction });
    }
}

/// Whether friction rows have a reference of their own.
pub(super) fn has_friction_solref<S: Scalar<Mask = bool>>(p: &ContactParameters<S>) -> bool {
    !p.friction_solref[0].equals(S::zero()) || !p.friction_solref[1].equals(S::zero())
}

/// B of the friction rows of a cone.
fn friction_damping<S: Scalar<Mask = bool>>(
    contact: &Contact<S>,
    at: RowInputs<S>,
    normal: Response<S>,
) -> S {
    let p = &contact.parameters;
    if !has_friction_solref(p) {
        return normal.damping;
    }
    let own = SolverParameters { solref: p.friction_solref, ..p.solver };
    own.stiffness_damping(at.least_time_constant()).1
}

/// The degrees of freedom that move two bodies against each other, and whether each moves the second.
fn relative_dofs<S>(at: RowInputs<S>, bodies: [usize; 2], out: &mut Vec<(usize, bool)>) {
    out.clear();
    let [mut a, mut b] = bodies.map(|body| at.tree.last_dof[body]);
    while a != b {
        if a > b {
            if let Some(dof) = a {
                out.push((dof, false));
                a = at.tree.dof_parent[dof];
            }
        } else if let Some(dof) = b {
            out.push((dof, true));
            b = at.tree.dof_parent[dof];
        }
    }
}
