//! Adjoint of rows between bodies: connect and weld.

use costate_num::spatial::{Force, Motion};
use costate_num::{Quat, Vec3};

use super::build::{Constraints, Item, RowInputs};
use super::equality::{Attachment, attachments, pure, sandwich, spin};
use super::pullback::{RowAdjoints, RowBar, RowSeeds, Shape};
use crate::rigid::constants::Block;
use crate::rigid::transport::{BodyAdjoint, Motions};
use crate::rigid::tree::EqualityKind;

/// Derivatives of a loss by three numbers of a point or frame.
#[derive(Clone, Copy)]
pub(in crate::rigid) struct PointSeeds {
    /// By their place.
    pub place: Vec3<f64>,
    /// By their rate.
    pub velocity: Vec3<f64>,
    /// By their second rate.
    pub acceleration: Vec3<f64>,
    /// By their rate for the rates λ.
    pub lambda: Vec3<f64>,
    /// By their rate for the accelerations, taken as rates.
    pub push: Vec3<f64>,
}

impl std::ops::Neg for PointSeeds {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            place: -self.place,
            velocity: -self.velocity,
            acceleration: -self.acceleration,
            lambda: -self.lambda,
            push: -self.push,
        }
    }
}

/// Adds derivatives of a loss by a point that a body carries, at `arm` from the origin of its tree. Returns the
/// derivative by the place of the point in the body, in world axes.
pub(in crate::rigid) fn pull_point(
    b: usize,
    arm: Vec3<f64>,
    motions: Motions,
    world: Motion<f64>,
    seeds: PointSeeds,
    bodies: &mut [BodyAdjoint],
) -> Vec3<f64> {
    let PointSeeds { place, velocity, acceleration, lambda, push } = seeds;
    let (v, rates) = (motions.velocity[b], motions.lambda_twist[b]);
    let a = motions.acceleration[b] - world;
    // The acceleration ω × (v + ω × arm) of the point acts through its velocity, and through ω.
    let velocity = velocity + acceleration.cross(v.angular);
    let spinning = (v.linear + v.angular.cross(arm)).cross(acceleration);
    let by_arm = place
        + velocity.cross(v.angular)
        + acceleration.cross(a.angular)
        + lambda.cross(rates.angular)
        + push.cross(motions.push_twist[b].angular);
    let body = &mut bodies[b];
    body.place += Force::at_point(by_arm, arm);
    body.velocity += Force::at_point(velocity, arm) + Force::new(spinning, Vec3::zero());
    body.acceleration += Force::at_point(acceleration, arm);
    body.lambda += Force::at_point(lambda, arm);
    body.push += Force::at_point(push, arm);
    by_arm
}

/// Adjoints of the two orientations of a weld, by their four numbers.
struct Orientations {
    q1: Quat<f64>,
    q2: Quat<f64>,
    first: Quat<f64>,
    second: Quat<f64>,
}

fn add(a: &mut Quat<f64>, b: Quat<f64>) {
    a.w += b.w;
    a.v += b.v;
}

impl Orientations {
    /// Adds those of y · Im(q₂* x q₁); returns the adjoint of x.
    fn pull(&mut self, y: Vec3<f64>, x: Quat<f64>) -> Quat<f64> {
        let y = pure(y);
        let left = self.q2.product(y);
        add(&mut self.first, x.conjugate().product(left));
        add(&mut self.second, x.product(self.q1).product(pure(-y.v)));
        left.product(self.q1.conjugate())
    }
}

/// Adjoint of a connect or a weld.
pub(super) fn pull(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    motions: Motions,
    item: Item,
    e: usize,
    seeds: RowSeeds,
    bar: &mut RowAdjoints,
) {
    let Some((first, second, weld)) = attachments(at, e) else { return };
    let layout = at.layout;
    let blocks = (layout.eq_solref, layout.eq_solimp);
    let by = constraints.pull_group(at, item, blocks, e, Shape::Norm, seeds, bar);
    let three =
        |of: &dyn Fn(usize) -> f64, from: usize| Vec3::new(of(from), of(from + 1), of(from + 2));
    // J a + J̇ v as one, and what the end of a step has of J a beside.
    let of = |from| PointSeeds {
        place: three(&|r| by[r].position, from),
        velocity: three(&|r| by[r].velocity, from),
        acceleration: three(&|r| -by[r].bias, from),
        lambda: three(&|r| seeds.force[item.row + r], from),
        push: three(&|r| by[r].bias - seeds.weight[item.row + r], from),
    };
    pull_weights(at, first.body, second.body, &by[..item.count], bar);

    let world = motions.acceleration[0];
    let mut point = |end: &Attachment<f64>, seeds| {
        let by = pull_point(end.body, end.arm, motions, world, seeds, bar.bodies);
        Force::new(Vec3::zero(), by)
    };
    let (mut by_first, mut by_second) = (point(&first, of(0)), point(&second, -of(0)));
    if weld {
        let (q1, q2) = (first.orientation, second.orientation);
        let zero = Quat { w: 0.0, v: Vec3::zero() };
        let mut orientations = Orientations { q1, q2, first: zero, second: zero };
        pull_turns(at, motions, e, &first, &second, of(3), &mut orientations, bar);
        // A turn ξ of a frame changes its quaternion by ½ ξ q.
        let turn = |bar: Quat<f64>, q: Quat<f64>| bar.product(q.conjugate()).v * 0.5;
        by_first.moment = turn(orientations.first, q1);
        by_second.moment = turn(orientations.second, q2);
        bar.bodies[first.body].place.moment += by_first.moment;
        bar.bodies[second.body].place.moment += by_second.moment;
        if let EqualityKind::Weld { first, .. } = at.tree.equalities[e].kind {
            let frame = at.dynamics.kinematics.xquat[first];
            let relative = frame.conjugate().product(orientations.first);
            let data = layout.eq_data.at(e) + 6;
            for (k, x) in
                [relative.w, relative.v.x, relative.v.y, relative.v.z].into_iter().enumerate()
            {
                bar.c[data + k] += x;
            }
        }
    }
    pull_constants(at, e, &first, &second, by_first, by_second, bar);
}

/// The rotational rows.
fn pull_turns(
    at: RowInputs<f64>,
    motions: Motions,
    e: usize,
    first: &Attachment<f64>,
    second: &Attachment<f64>,
    seeds: PointSeeds,
    orientations: &mut Orientations,
    bar: &mut RowAdjoints,
) {
    let PointSeeds { place, velocity, acceleration, lambda, push } = seeds;
    let at_torque = at.layout.eq_data.at(e) + 10;
    let torque = at.c[at_torque];
    let half = 0.5 * torque;
    let (i, j) = (first.body, second.body);
    let (q1, q2) = (first.orientation, second.orientation);
    let relative = |m: &[Motion<f64>]| pure(m[i].angular - m[j].angular);
    let (v, l) = (relative(motions.velocity), relative(motions.lambda_twist));
    let (a, r) = (relative(motions.acceleration), relative(motions.push_twist));
    let (w1, w2) = (motions.velocity[i].angular, motions.velocity[j].angular);
    let x = spin(w1, w2, a.v);
    bar.c[at_torque] += place.dot(sandwich(q2, Quat::identity(), q1))
        + 0.5 * velocity.dot(sandwich(q2, v, q1))
        + 0.5 * lambda.dot(sandwich(q2, l, q1))
        + 0.5 * push.dot(sandwich(q2, r, q1))
        + 0.5 * acceleration.dot(sandwich(q2, x, q1));
    orientations.pull(place * torque, Quat::identity());
    let by_v = orientations.pull(velocity * half, v).v;
    let by_l = orientations.pull(lambda * half, l).v;
    let by_r = orientations.pull(push * half, r).v;
    let z = orientations.pull(acceleration * half, x);
    // x = Δα − ½ ω₂ Δω + ½ Δω ω₁.
    let by_relative = (pure(w2).product(z).v - z.product(pure(w1)).v) * 0.5;
    let by_w1 = v.product(z).v * -0.5;
    let by_w2 = z.product(v).v * 0.5;
    let moment = |m: Vec3<f64>| Force::new(m, Vec3::zero());
    let common = by_v + by_relative;
    bar.bodies[i].velocity += moment(common + by_w1);
    bar.bodies[j].velocity += moment(by_w2 - common);
    bar.bodies[i].lambda += moment(by_l);
    bar.bodies[j].lambda += moment(-by_l);
    bar.bodies[i].push += moment(by_r);
    bar.bodies[j].push += moment(-by_r);
    bar.bodies[i].acceleration += moment(z.v);
    bar.bodies[j].acceleration += moment(-z.v);
}

/// Adjoints of the bodies' inverse weights.
fn pull_weights(at: RowInputs<f64>, i: usize, j: usize, by: &[RowBar], bar: &mut RowAdjoints) {
    for (r, row) in by.iter().enumerate() {
        for b in [i, j] {
            bar.c[at.layout.body_invweight0.at(b) + usize::from(r >= 3)] += row.diagonal;
        }
    }
}

/// Adjoints of the anchors, from those of a turn (moment) and a displacement (force) of the attached
/// frames within their bodies.
fn pull_constants(
    at: RowInputs<f64>,
    e: usize,
    first: &Attachment<f64>,
    second: &Attachment<f64>,
    by_first: Force<f64>,
    by_second: Force<f64>,
    bar: &mut RowAdjoints,
) {
    let (layout, k) = (at.layout, &at.dynamics.kinematics);
    let local = |body: usize, x: Vec3<f64>| k.xmat[body].apply_transposed(x);
    let mut vector = |start: usize, x: Vec3<f64>| {
        for (i, x) in x.to_array().into_iter().enumerate() {
            bar.c[start + i] += x;
        }
    };
    let data = layout.eq_data.at(e);
    let anchors = (local(first.body, by_first.force), local(second.body, by_second.force));
    match at.tree.equalities[e].kind {
        EqualityKind::Connect { .. } => {
            vector(data, anchors.0);
            vector(data + 3, anchors.1);
        }
        EqualityKind::Weld { .. } => {
            vector(data + 3, anchors.0);
            vector(data, anchors.1);
        }
        EqualityKind::ConnectSites { first: i, second: j }
        | EqualityKind::WeldSites { first: i, second: j } => {
            vector(layout.site_pos.at(i), anchors.0);
            vector(layout.site_pos.at(j), anchors.1);
            let turns = [(i, first.body, by_first.moment), (j, second.body, by_second.moment)];
            for (site, body, moment) in turns {
                pull_orientation(at, layout.site_quat, site, local(body, moment), bar);
            }
        }
        EqualityKind::Joint { .. } | EqualityKind::Tendon { .. } => {}
    }
}

/// Adds the adjoint of a unit quaternion from that of a turn in the axes of the frame around it.
pub(super) fn pull_orientation(
    at: RowInputs<f64>,
    block: Block,
    i: usize,
    turn: Vec3<f64>,
    bar: &mut RowAdjoints,
) {
    let q = crate::rigid::kinematics::quat_at(at.c, block.at(i));
    let by = pure(turn * 2.0).product(q);
    for (k, x) in [by.w, by.v.x, by.v.y, by.v.z].into_iter().enumerate() {
        bar.c[block.at(i) + k] += x;
    }
}
