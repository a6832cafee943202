//! Rows of equality constraints: connect, weld, joint, tendon.
//!
//! A connect keeps two points together: r = p₁ − p₂, three rows in world axes. A weld keeps two frames
//! together: the same three rows, and r = s Im(q₂* q₁ q_rel) with the torque scale s. Both take the impedance
//! at the norm of all their rows, and their reference acceleration takes account of J̇ v. A joint follows
//! a polynomial of another: r = q₁ − q₁⁰ − Σ cₖ (q₂ − q₂⁰)ᵏ; a tendon's length likewise.

use costate_num::spatial::Motion;
use costate_num::{Quat, Scalar, Vec3};

use super::build::{Constraints, Item, RowInputs, RowState, Source};
use super::law::Law;
use super::pullback::{RowAdjoints, RowSeeds, Shape, TendonSeed, pull_tendon};
use crate::rigid::collision::Real;
use crate::rigid::kinematics::{quat_at, vec3};
use crate::rigid::transport::Motions;
use crate::rigid::tree::EqualityKind;

/// A point or frame fixed in a body, and how it moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attachment<S> {
    /// The body.
    pub body: usize,
    /// The point, from the origin of the body's tree, in world axes.
    pub arm: Vec3<S>,
    /// The same from the origin of the world.
    pub point: Vec3<S>,
    /// Orientation of the frame.
    pub orientation: Quat<S>,
}

impl<S: Scalar> Attachment<S> {
    fn new(at: RowInputs<S>, body: usize, local: Vec3<S>, orientation: Quat<S>) -> Self {
        let k = &at.dynamics.kinematics;
        let turned = k.xmat[body].apply(local);
        Self {
            body,
            arm: k.xpos[body] - k.origin[body] + turned,
            point: k.xpos[body] + turned,
            orientation: k.xquat[body].product(orientation),
        }
    }

    /// Velocity of the point for a twist of the body.
    #[inline(always)]
    pub(super) fn velocity(&self, twist: Motion<S>) -> Vec3<S> {
        twist.linear + twist.angular.cross(self.arm)
    }

    /// Acceleration of the point in space, from the body's velocity and (spatial) acceleration.
    #[inline(always)]
    pub(super) fn acceleration(&self, velocity: Motion<S>, acceleration: Motion<S>) -> Vec3<S> {
        self.velocity(acceleration) + velocity.angular.cross(self.velocity(velocity))
    }
}

/// The two attachments of a connect or a weld.
pub(super) fn attachments<S: Scalar>(
    at: RowInputs<S>,
    e: usize,
) -> Option<(Attachment<S>, Attachment<S>, bool)> {
    let (layout, c) = (at.layout, at.c);
    let data = layout.eq_data.at(e);
    let point = |offset: usize| {
        let i = data + offset;
        Vec3::new(c[i], c[i + 1], c[i + 2])
    };
    let site = |s: usize| {
        let orientation = quat_at(c, layout.site_quat.at(s));
        Attachment::new(at, at.tree.sites[s].body, vec3(c, layout.site_pos, s), orientation)
    };
    let identity = Quat::identity();
    match at.tree.equalities[e].kind {
        EqualityKind::Connect { first, second } => Some((
            Attachment::new(at, first, point(0), identity),
            Attachment::new(at, second, point(3), identity),
            false,
        )),
        EqualityKind::Weld { first, second } => Some((
            Attachment::new(at, first, point(3), quat_at(c, data + 6)),
            Attachment::new(at, second, point(0), identity),
            true,
        )),
        EqualityKind::ConnectSites { first, second } => Some((site(first), site(second), false)),
        EqualityKind::WeldSites { first, second } => Some((site(first), site(second), true)),
        EqualityKind::Joint { .. } | EqualityKind::Tendon { .. } => None,
    }
}

/// Im(q₂* x q₁), for a quaternion x.
#[inline(always)]
pub(super) fn sandwich<S: Scalar>(q2: Quat<S>, x: Quat<S>, q1: Quat<S>) -> Vec3<S> {
    q2.conjugate().product(x).product(q1).v
}

#[inline(always)]
pub(super) fn pure<S: Scalar>(v: Vec3<S>) -> Quat<S> {
    Quat { w: S::zero(), v }
}

/// Δα − ½ ω₂ Δω + ½ Δω ω₁, the middle of the second derivative of q₂* q₁.
#[inline(always)]
pub(super) fn spin<S: Scalar>(w1: Vec3<S>, w2: Vec3<S>, alpha: Vec3<S>) -> Quat<S> {
    let half = S::splat(0.5);
    let relative = pure((w1 - w2) * half);
    let (a, b) = (relative.product(pure(w1)), pure(w2).product(relative));
    Quat { w: a.w - b.w, v: alpha + a.v - b.v }
}

/// Adds the rows of all active equalities.
pub(super) fn add_rows<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>) {
    for (e, equality) in at.tree.equalities.iter().enumerate() {
        if !equality.active {
            continue;
        }
        match equality.kind {
            EqualityKind::Joint { first, second } => add_joint(out, at, e, first, second),
            EqualityKind::Tendon { first, second } => add_tendon(out, at, e, first, second),
            _ => add_bodies(out, at, e),
        }
    }
}

/// Degrees of freedom that move either body, each once, from the leaves to the root, and whether each
/// moves the second.
fn moving_dofs<S: Scalar>(
    at: RowInputs<S>,
    first: usize,
    second: usize,
    out: &mut Vec<(usize, bool)>,
) {
    out.clear();
    let (mut a, mut b) = (at.tree.last_dof[first], at.tree.last_dof[second]);
    while let Some(dof) = a.max(b) {
        out.push((dof, b == Some(dof)));
        if a == Some(dof) {
            a = at.tree.dof_parent[dof];
        }
        if b == Some(dof) {
            b = at.tree.dof_parent[dof];
        }
    }
}

fn add_bodies<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>, e: usize) {
    let Some((first, second, weld)) = attachments(at, e) else { return };
    let (tree, layout, c, d) = (at.tree, at.layout, at.c, at.dynamics);
    let count = if weld { 6 } else { 3 };
    let torque = if weld { c[layout.eq_data.at(e) + 10] } else { S::zero() };
    let half = torque.scale(0.5);
    let (q1, q2) = (first.orientation, second.orientation);
    let mut position = [S::zero(); 6];
    let mut velocity = [S::zero(); 6];
    let mut bias = [S::zero(); 6];
    let set = |out: &mut [S; 6], a: Vec3<S>, b: Vec3<S>| {
        *out = [a.x, a.y, a.z, b.x, b.y, b.z];
    };
    let (v1, v2) = (d.velocity[first.body], d.velocity[second.body]);
    let (a1, a2) = (d.acceleration[first.body], d.acceleration[second.body]);
    let (relative, alpha) = (v1.angular - v2.angular, a1.angular - a2.angular);
    set(&mut position, first.point - second.point, sandwich(q2, Quat::identity(), q1) * torque);
    set(
        &mut velocity,
        first.velocity(v1) - second.velocity(v2),
        sandwich(q2, pure(relative), q1) * half,
    );
    // Gravity is an acceleration of the world, and no part of J̇ v.
    let lift = d.acceleration[0];
    set(
        &mut bias,
        first.acceleration(v1, a1 - lift) - second.acceleration(v2, a2 - lift),
        sandwich(q2, spin(v1.angular, v2.angular, alpha), q1) * half,
    );
    let mut squared = S::zero();
    for x in &position[..count] {
        squared += *x * *x;
    }
    let p = at.parameters(layout.eq_solref, layout.eq_solimp, e);
    let response = p.response(squared.sqrt(), at.least_time_constant());
    let weights = [first.body, second.body].map(|b| layout.body_invweight0.at(b));
    let translation = c[weights[0]] + c[weights[1]];
    let rotation = c[weights[0] + 1] + c[weights[1] + 1];

    out.begin(Source::Equality(e));
    let mut dofs = std::mem::take(&mut out.dofs);
    moving_dofs(at, first.body, second.body, &mut dofs);
    for r in 0..count {
        for &(dof, moves_second) in &dofs {
            let s = d.kinematics.subspace[dof];
            let mut linear = Vec3::zero();
            let mut angular = Vec3::zero();
            if tree.is_above(tree.dof_body[dof], first.body) {
                linear += first.velocity(s);
                angular += s.angular;
            }
            if moves_second {
                linear += -second.velocity(s);
                angular += -s.angular;
            }
            let value = if r < 3 {
                linear.to_array()[r]
            } else {
                (sandwich(q2, pure(angular), q1) * half).to_array()[r - 3]
            };
            out.rows.entry(dof, value);
        }
        let state = RowState {
            position: position[r],
            velocity: velocity[r],
            bias: bias[r],
            diagonal: if r < 3 { translation } else { rotation },
        };
        out.push(at, Law::Equality, response, state, S::zero());
    }
    out.dofs = dofs;
}

/// Value and slope of an equality's polynomial.
pub(super) fn polynomial<S: Scalar>(coefficients: &[S], x: S) -> (S, S) {
    let (mut value, mut slope) = (S::zero(), S::zero());
    for k in (0..5).rev() {
        slope = slope * x + value;
        value = value * x + coefficients[k];
    }
    (value, slope)
}

fn add_joint<S: Real>(
    out: &mut Constraints<S>,
    at: RowInputs<S>,
    e: usize,
    first: usize,
    second: Option<usize>,
) {
    let (layout, c) = (at.layout, at.c);
    let data = &c[layout.eq_data.entry(e)];
    let coordinate = |j: usize| {
        let joint = &at.tree.joints[j];
        (at.qpos[joint.qpos] - c[layout.qpos0.at(joint.qpos)], joint.dof)
    };
    let (q1, dof1) = coordinate(first);
    out.begin(Source::Equality(e));
    out.rows.entry(dof1, S::one());
    let mut state = RowState {
        position: q1 - data[0],
        velocity: at.qvel[dof1],
        bias: S::zero(),
        diagonal: c[layout.dof_invweight0.at(dof1)],
    };
    if let Some(second) = second {
        let (q2, dof2) = coordinate(second);
        let (value, slope) = polynomial(data, q2);
        out.rows.entry(dof2, -slope);
        state.position = q1 - value;
        state.velocity += -(slope * at.qvel[dof2]);
        state.diagonal += c[layout.dof_invweight0.at(dof2)];
    }
    let p = at.parameters(layout.eq_solref, layout.eq_solimp, e);
    let response = p.response(state.position, at.least_time_constant());
    out.push(at, Law::Equality, response, state, S::zero());
}

fn add_tendon<S: Real>(
    out: &mut Constraints<S>,
    at: RowInputs<S>,
    e: usize,
    first: usize,
    second: Option<usize>,
) {
    let (layout, c, tendons) = (at.layout, at.c, &at.dynamics.tendons);
    let data = &c[layout.eq_data.entry(e)];
    let stretch = |t: usize| tendons.length[t] - c[layout.tendon_length0.at(t)];
    let l1 = stretch(first);
    let mut state = RowState {
        position: l1 - data[0],
        velocity: tendons.velocity[first],
        bias: S::zero(),
        diagonal: c[layout.tendon_invweight0.at(first)],
    };
    let mut slope = S::zero();
    if let Some(second) = second {
        let (value, by_length) = polynomial(data, stretch(second));
        slope = by_length;
        state.position = l1 - value;
        state.velocity += -(slope * tendons.velocity[second]);
        state.diagonal += c[layout.tendon_invweight0.at(second)];
    }
    out.begin(Source::Equality(e));
    for k in tendons.entries(first) {
        out.rows.entry(tendons.dofs[k], tendons.jacobian[k]);
    }
    for k in second.map_or(0..0, |t| tendons.entries(t)) {
        out.rows.entry(tendons.dofs[k], -(slope * tendons.jacobian[k]));
    }
    let p = at.parameters(layout.eq_solref, layout.eq_solimp, e);
    let response = p.response(state.position, at.least_time_constant());
    out.push(at, Law::Equality, response, state, S::zero());
}

/// Value, slope and curvature of an equality's polynomial, and adds the adjoints of its
/// coefficients: `by_value` of its value, `by_slope` of its slope.
fn pull_polynomial(
    at: RowInputs<f64>,
    e: usize,
    x: f64,
    by_value: f64,
    by_slope: f64,
    bar: &mut RowAdjoints,
) -> (f64, f64) {
    let range = at.layout.eq_data.entry(e);
    let data = &at.c[range.clone()];
    let (_, slope) = polynomial(data, x);
    let (mut curvature, mut power, mut below) = (0.0, 1.0, 0.0);
    for k in 0..5 {
        // power = xᵏ, below = xᵏ⁻¹.
        bar.c[range.start + k] += by_value * power + by_slope * k as f64 * below;
        if k + 1 < 5 {
            curvature += (k + 1) as f64 * k as f64 * data[k + 1] * below;
        }
        below = power;
        power *= x;
    }
    (slope, curvature)
}

/// Adjoint of an equality of joints.
pub(super) fn pull_joint(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    motions: Motions,
    item: Item,
    e: usize,
    first: usize,
    second: Option<usize>,
    seeds: RowSeeds,
    bar: &mut RowAdjoints,
) {
    let layout = at.layout;
    let blocks = (layout.eq_solref, layout.eq_solimp);
    let by = constraints.pull_group(at, item, blocks, e, Shape::Own, seeds, bar)[0];
    let place = |j: usize| (at.tree.joints[j].qpos, at.tree.joints[j].dof);
    let (q1, dof1) = place(first);
    bar.q[dof1] += by.position;
    bar.v[dof1] += by.velocity;
    bar.c[layout.qpos0.at(q1)] -= by.position;
    bar.c[layout.dof_invweight0.at(dof1)] += by.diagonal;
    let Some(second) = second else {
        bar.c[layout.eq_data.at(e)] -= by.position;
        return;
    };
    let (q2, dof2) = place(second);
    let (f, w) = (seeds.force[item.row], seeds.weight[item.row]);
    let rates = f * motions.lambda[dof2] - w * motions.a[dof2] + by.velocity * at.qvel[dof2];
    let x = at.qpos[q2] - at.c[layout.qpos0.at(q2)];
    let (slope, curvature) = pull_polynomial(at, e, x, -by.position, -rates, bar);
    let by_x = -slope * by.position - curvature * rates;
    bar.q[dof2] += by_x;
    bar.v[dof2] -= slope * by.velocity;
    bar.c[layout.qpos0.at(q2)] -= by_x;
    bar.c[layout.dof_invweight0.at(dof2)] += by.diagonal;
}

/// Adjoint of an equality of tendons.
pub(super) fn pull_tendons(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    motions: Motions,
    item: Item,
    e: usize,
    first: usize,
    second: Option<usize>,
    seeds: RowSeeds,
    bar: &mut RowAdjoints,
) {
    let (layout, tendons) = (at.layout, &at.dynamics.tendons);
    let blocks = (layout.eq_solref, layout.eq_solimp);
    let by = constraints.pull_group(at, item, blocks, e, Shape::Own, seeds, bar)[0];
    bar.c[layout.tendon_length0.at(first)] -= by.position;
    bar.c[layout.tendon_invweight0.at(first)] += by.diagonal;
    pull_tendon(at, motions, first, TendonSeed::new(seeds, item.row, 1.0, by), bar);
    let Some(second) = second else {
        bar.c[layout.eq_data.at(e)] -= by.position;
        return;
    };
    let (f, w) = (seeds.force[item.row], seeds.weight[item.row]);
    let mut rates = by.velocity * tendons.velocity[second];
    for k in tendons.entries(second) {
        let dof = tendons.dofs[k];
        rates += tendons.jacobian[k] * (f * motions.lambda[dof] - w * motions.a[dof]);
    }
    let x = tendons.length[second] - at.c[layout.tendon_length0.at(second)];
    let (slope, curvature) = pull_polynomial(at, e, x, -by.position, -rates, bar);
    bar.c[layout.tendon_length0.at(second)] += slope * by.position + curvature * rates;
    bar.c[layout.tendon_invweight0.at(second)] += by.diagonal;
    // The row has −slope times the second tendon's rate, and the slope's own change.
    let seed = TendonSeed {
        length: -slope * by.position - curvature * rates,
        rate: -slope * by.velocity,
        force: -slope * f,
        weight: -slope * w,
    };
    pull_tendon(at, motions, second, seed, bar);
}
