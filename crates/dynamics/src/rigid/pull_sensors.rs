//! Adjoints of what sensors measure.

use costate_num::spatial::{Force, Motion};
use costate_num::{DualN, Quat, Vec3};

use super::adjoint::{Adjoint, Place, pull_inertia};
use super::armature::multiply_armature;
use super::constraint::{LimitReading, LimitSeeds, RowInputs, TouchBar};
use super::contact_sensor::ContactView;
use super::evaluation::Evaluation;
use super::forward::{At, Dynamics};
use super::inverse::twists;
use super::kinematics::{quat_at, vec3};
use super::sensors::{Measured, Moving, objects, of_frames};
use super::touch::visit_rows;
use super::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use super::tree::{SensorKind, SensorObject, Transmission, Tree};

type D = DualN<f64, 6>;

/// Adjoints of a moving frame.
#[derive(Clone, Copy)]
struct MovingAdjoint {
    /// By a rigid displacement of the frame at fixed motions, about the origin of its tree.
    place: Force<f64>,
    velocity: Force<f64>,
    acceleration: Force<f64>,
    /// By the total force: a motion.
    force: Motion<f64>,
}

/// Memory of the adjoints of sensors.
#[derive(Clone, Debug)]
pub(crate) struct SensorScratch {
    pub measured: Measured<f64>,
    bodies: Vec<BodyAdjoint>,
    /// Per body: adjoint of the force on it.
    by_force: Vec<Motion<f64>>,
    transport: Transport,
    zero_twists: Vec<Motion<f64>>,
    push_twists: Vec<Motion<f64>>,
    pub by_qacc: Vec<f64>,
    pub by_effort: Vec<f64>,
    pub by_driven: Vec<f64>,
    pub limits: LimitSeeds,
    /// Of the forces of constraint rows.
    pub by_row: Vec<f64>,
    /// Of contacts.
    pub touches: Vec<TouchBar>,
    zeros: Vec<f64>,
}

impl SensorScratch {
    pub fn new(tree: &Tree) -> Self {
        let (n, nv) = (tree.bodies.len(), tree.nv);
        Self {
            measured: Measured::new(tree),
            bodies: vec![BodyAdjoint::zero(); n],
            by_force: vec![Motion::zero(); n],
            transport: Transport::default(),
            zero_twists: vec![Motion::zero(); n],
            push_twists: vec![Motion::zero(); n],
            by_qacc: vec![0.0; nv],
            by_effort: vec![0.0; tree.actuators.len()],
            by_driven: vec![0.0; nv],
            limits: LimitSeeds::default(),
            by_row: Vec::new(),
            touches: Vec::new(),
            zeros: vec![0.0; nv],
        }
    }
}

/// A direction of six for each part of a moving frame: displacement, velocity, acceleration, force.
fn lifted(m: Moving<f64>, part: usize) -> Moving<D> {
    let plain = |v: Vec3<f64>| Vec3::new(D::constant(v.x), D::constant(v.y), D::constant(v.z));
    let along = |v: Vec3<f64>, first: usize| {
        Vec3::new(D::variable(v.x, first), D::variable(v.y, first + 1), D::variable(v.z, first + 2))
    };
    let pick = |v: Vec3<f64>, which: usize, first: usize| {
        if part == which { along(v, first) } else { plain(v) }
    };
    let q = m.orientation;
    let mut orientation = Quat { w: D::constant(q.w), v: plain(q.v) };
    let mut position = plain(m.position);
    if part == 0 {
        // Ξ: first a turn about the origin, then a translation.
        let turn = along(Vec3::zero(), 0);
        let half = Quat { w: D::constant(1.0), v: turn * D::constant(0.5) };
        orientation = half.product(orientation);
        position += along(Vec3::zero(), 3) + turn.cross(position);
    }
    let motion =
        |x: Motion<f64>, which| Motion::new(pick(x.angular, which, 0), pick(x.linear, which, 3));
    Moving {
        position,
        origin: plain(m.origin),
        orientation,
        velocity: motion(m.velocity, 1),
        acceleration: motion(m.acceleration, 2),
        force: Force::new(pick(m.force.moment, 3, 0), pick(m.force.force, 3, 3)),
    }
}

/// Adjoint of what a sensor of frames measures by one of its frames: `own`, or the reference.
fn pull_moving(
    kind: SensorKind,
    frames: (Moving<f64>, Option<Moving<f64>>),
    of_reference: bool,
    magnetic: Vec3<f64>,
    y_bar: &[f64],
) -> MovingAdjoint {
    let constant = |m| lifted(m, usize::MAX);
    let mut parts = [[0.0; 6]; 4];
    for (part, out) in parts.iter_mut().enumerate() {
        let (own, reference) = if of_reference {
            (constant(frames.0), frames.1.map(|m| lifted(m, part)))
        } else {
            (lifted(frames.0, part), frames.1.map(constant))
        };
        let field = Vec3::new(magnetic.x, magnetic.y, magnetic.z);
        let field = Vec3::new(D::constant(field.x), D::constant(field.y), D::constant(field.z));
        let y = of_frames(kind, own, reference, field);
        for (value, bar) in y.iter().zip(y_bar) {
            for lane in 0..6 {
                out[lane] += bar * value.tangent[lane];
            }
        }
    }
    let vectors = |p: [f64; 6]| (Vec3::new(p[0], p[1], p[2]), Vec3::new(p[3], p[4], p[5]));
    let force = |p: [f64; 6]| {
        let (moment, force) = vectors(p);
        Force::new(moment, force)
    };
    let (angular, linear) = vectors(parts[3]);
    MovingAdjoint {
        place: force(parts[0]),
        velocity: force(parts[1]),
        acceleration: force(parts[2]),
        force: Motion::new(angular, linear),
    }
}

impl Place<'_> {
    /// Adds the adjoint of the place of an object in its body.
    fn pull_object(self, object: SensorObject, place: Force<f64>, out: &mut Adjoint) {
        let Self { tree, layout, .. } = self;
        match object {
            SensorObject::Site(s) => {
                let blocks = (layout.site_pos, layout.site_quat);
                self.pull_frame(tree.sites[s].body, blocks, s, place, out);
            }
            SensorObject::Geom(g) => {
                let blocks = (layout.geom_pos, layout.geom_quat);
                self.pull_frame(tree.geoms[g].body, blocks, g, place, out);
            }
            SensorObject::Body(b) => {
                self.pull_frame(b, (layout.body_ipos, layout.body_iquat), b, place, out);
            }
            SensorObject::BodyFrame(_) => {}
        }
    }

    fn body_of(self, object: SensorObject) -> usize {
        match object {
            SensorObject::Body(b) | SensorObject::BodyFrame(b) => b,
            SensorObject::Geom(g) => self.tree.geoms[g].body,
            SensorObject::Site(s) => self.tree.sites[s].body,
        }
    }
}

/// W·(momentum) of a subtree: adds its adjoints, `w` being about the world's origin.
fn pull_momentum(
    place: Place,
    d: &Dynamics<f64>,
    body: usize,
    w: Motion<f64>,
    s: &mut SensorScratch,
    out: &mut Adjoint,
) {
    let Place { tree, k, .. } = place;
    for b in body.max(1)..tree.bodies.len() {
        if !tree.is_above(body, b) {
            continue;
        }
        // At the origin of the body's tree.
        let w = Motion::new(w.angular, w.linear + w.angular.cross(k.origin[b]));
        let v = s.measured.velocity[b];
        let (by_v, momentum) = (d.inertias[b].apply(w), d.inertias[b].apply(v));
        s.bodies[b].velocity += by_v;
        // The momentum moves with the body; w stays.
        s.bodies[b].place -= w.cross_force(momentum) + v.cross_force(by_v);
        pull_inertia(place, b, [w, Motion::zero(), v], out);
    }
}

/// Adds the adjoint of the centre of mass of a subtree.
fn pull_center(place: Place, body: usize, y: Vec3<f64>, s: &mut SensorScratch, out: &mut Adjoint) {
    let Place { tree, layout, c, k } = place;
    let total = s.measured.masses[body];
    if total <= 1e-15 {
        s.bodies[body].place += Force::at_point(y, k.xipos[body] - k.origin[body]);
        out.add3(layout.body_ipos, body, k.xmat[body].apply_transposed(y));
        return;
    }
    for b in body.max(1)..tree.bodies.len() {
        if tree.is_above(body, b) {
            let at = layout.body_mass.at(b);
            let by_point = y * (c[at] / total);
            s.bodies[b].place += Force::at_point(by_point, k.xipos[b] - k.origin[b]);
            out.add3(layout.body_ipos, b, k.xmat[b].apply_transposed(by_point));
            out.c[at] += y.dot(k.xipos[b] - s.measured.centers[body]) / total;
        }
    }
}

/// Adds the adjoints of what the sensors measure by state and constants, at held acceleration; those of the
/// acceleration, of actuators' forces and of joints' totals go to `s`.
pub(crate) fn pull(
    place: Place,
    evaluation: &Evaluation,
    at: At<f64>,
    y_bar: &[f64],
    s: &mut SensorScratch,
    out: &mut Adjoint,
) {
    use SensorKind as K;
    let Place { tree, layout, c, k } = place;
    let d = &evaluation.dynamics;
    s.bodies.fill(BodyAdjoint::zero());
    s.by_force.fill(Motion::zero());
    s.by_qacc.fill(0.0);
    s.by_effort.fill(0.0);
    s.by_driven.fill(0.0);
    s.limits.clear(evaluation.stage.constraints.rows.len());
    s.touches.clear();
    s.by_row.clear();
    s.by_row.resize(evaluation.stage.constraints.rows.len(), 0.0);
    for sensor in &tree.sensors {
        let y = &y_bar[sensor.data.clone()];
        if y.iter().all(|y| *y == 0.0) {
            continue;
        }
        if let Some((own, reference)) = objects(sensor.kind) {
            let moving = |o: SensorObject| s.measured.moving(tree, layout, c, d, o);
            let frames = (moving(own), reference.map(moving));
            let magnetic = vec3(c, layout.magnetic, 0);
            if let K::Magnetometer(_) = sensor.kind {
                let y = Vec3::new(y[0], y[1], y[2]);
                out.add3(layout.magnetic, 0, frames.0.orientation.rotate(y));
            }
            for (object, of_reference) in [(Some(own), false), (reference, true)] {
                let Some(object) = object else { continue };
                let bar = pull_moving(sensor.kind, frames, of_reference, magnetic, y);
                let body = place.body_of(object);
                place.pull_object(object, bar.place, out);
                let to = &mut s.bodies[body];
                to.place += bar.place;
                to.velocity += bar.velocity;
                to.acceleration += bar.acceleration;
                if matches!(sensor.kind, K::Force(_) | K::Torque(_)) {
                    for b in body.max(1)..tree.bodies.len() {
                        if tree.is_above(body, b) {
                            s.by_force[b] += bar.force;
                        }
                    }
                }
            }
            continue;
        }
        let vector = || Vec3::new(y[0], y[1], y[2]);
        match sensor.kind {
            K::BallQuaternion(j) => {
                let (q, dof) = (tree.joints[j].qpos, tree.joints[j].dof);
                let quat = quat_at(at.qpos, q).normalize();
                let turn = quat.conjugate().product(quat_at(y, 0)).v * 0.5;
                for (i, x) in turn.to_array().into_iter().enumerate() {
                    out.q[dof + i] += x;
                }
            }
            K::BallAngularVelocity(j) => {
                for i in 0..3 {
                    out.v[tree.joints[j].dof + i] += y[i];
                }
            }
            K::SubtreeCenter(b) => pull_center(place, b, vector(), s, out),
            K::SubtreeLinearVelocity(b) => {
                let total = s.measured.masses[b].max(1e-15);
                let w = Motion::new(Vec3::zero(), vector() * (1.0 / total));
                let speed = s.measured.momentum(tree, d, b).force.dot(w.linear);
                for body in b.max(1)..tree.bodies.len() {
                    if tree.is_above(b, body) {
                        out.c[layout.body_mass.at(body)] -= speed / total;
                    }
                }
                pull_momentum(place, d, b, w, s, out);
            }
            K::SubtreeAngularMomentum(b) => {
                let (center, y) = (s.measured.centers[b], vector());
                let p = s.measured.momentum(tree, d, b).force;
                pull_momentum(place, d, b, Motion::new(y, -y.cross(center)), s, out);
                pull_center(place, b, -p.cross(y), s, out);
            }
            kind @ K::Touch(_) => {
                let stage = &evaluation.stage;
                visit_rows(tree, layout, c, d, stage, kind, |row| s.by_row[row] += y[0]);
            }
            K::Contact(of) => {
                let stage = &evaluation.stage;
                let view = ContactView { tree, layout, c, dynamics: d, stage, sensor: of };
                view.pull(y, &mut s.by_row, &mut s.touches);
            }
            kind => match LimitReading::of(kind) {
                Some(reading) => {
                    if let Some(r) = evaluation.stage.constraints.limit_row(kind) {
                        s.limits.add(reading, r, y[0]);
                    }
                }
                None => pull_scalar(place, d, at, kind, y[0], s, out),
            },
        }
    }
    pull_forces(place, d, s, out);
    twists(tree, &k.subspace, &evaluation.qacc, &mut s.push_twists);
    let motions = Motions {
        v: at.qvel,
        a: &evaluation.qacc,
        lambda: &s.zeros,
        velocity: &s.measured.velocity,
        acceleration: &s.measured.acceleration,
        lambda_twist: &s.zero_twists,
        push_twist: &s.push_twists,
    };
    let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
    let (qpos, bodies) = (at.qpos, &s.bodies);
    let by_world = s.transport.run(tree, layout, c, k, qpos, motions, bodies, &mut bar);
    if tree.options.gravity {
        out.add3(layout.gravity, 0, -by_world);
    }
    // By the joint accelerations: S·(sum of adjoints of accelerations outward).
    let mut total: Vec<Force<f64>> = s.bodies.iter().map(|b| b.acceleration).collect();
    super::inverse::gather(tree, &k.subspace, &mut total, &mut s.by_qacc);
    let inputs = RowInputs { tree, layout, c, dynamics: d, qpos: at.qpos, qvel: at.qvel };
    evaluation.stage.pull_limits(inputs, &mut s.limits, &mut s.by_qacc, out);
}

/// The adjoints of the forces on bodies: W·(I A + V ×* I V) with W that stays.
fn pull_forces(place: Place, d: &Dynamics<f64>, s: &mut SensorScratch, out: &mut Adjoint) {
    let tree = place.tree;
    for b in 1..tree.bodies.len() {
        let w = s.by_force[b];
        if w == Motion::zero() {
            continue;
        }
        let (v, a) = (s.measured.velocity[b], s.measured.acceleration[b]);
        let inertia = d.inertias[b];
        let momentum = inertia.apply(v);
        let by_v = -w.cross_force(momentum) - inertia.apply(v.cross(w));
        let by_a = inertia.apply(w);
        let to = &mut s.bodies[b];
        to.velocity += by_v;
        to.acceleration += by_a;
        to.place -= w.cross_force(s.measured.own[b]) + v.cross_force(by_v) + a.cross_force(by_a);
        pull_inertia(place, b, [w, v, a], out);
    }
}

fn pull_scalar(
    place: Place,
    d: &Dynamics<f64>,
    at: At<f64>,
    kind: SensorKind,
    y: f64,
    s: &mut SensorScratch,
    out: &mut Adjoint,
) {
    use SensorKind as K;
    let Place { tree, layout, c, k } = place;
    match kind {
        K::JointPosition(j) => out.q[tree.joints[j].dof] += y,
        K::JointVelocity(j) => out.v[tree.joints[j].dof] += y,
        K::TendonPosition(t) | K::TendonVelocity(t) => {
            let (by_length, by_rate) =
                if matches!(kind, K::TendonPosition(_)) { (y, 0.0) } else { (0.0, y) };
            let mut by_jacobian = Vec::new();
            for e in d.tendons.entries(t) {
                let dof = d.tendons.dofs[e];
                by_jacobian.push(by_rate * at.qvel[dof]);
                out.v[dof] += by_rate * d.tendons.jacobian[e];
            }
            place.pull_tendon(&d.tendons, t, at.qpos, by_length, &by_jacobian, out);
        }
        K::ActuatorPosition(i) | K::ActuatorVelocity(i) => {
            let (by_length, by_rate) =
                if matches!(kind, K::ActuatorPosition(_)) { (y, 0.0) } else { (0.0, y) };
            let mut by_moment = Vec::new();
            for e in d.actuation.entries(i) {
                let dof = d.actuation.dofs[e];
                by_moment.push(by_rate * at.qvel[dof]);
                out.v[dof] += by_rate * d.actuation.moment[e];
            }
            let (tendons, actuation) = (&d.tendons, &d.actuation);
            let by_moment = &mut by_moment;
            place.pull_transmission(tendons, actuation, i, at.qpos, by_length, by_moment, out);
        }
        K::ActuatorForce(i) => s.by_effort[i] += y,
        K::TendonActuatorForce(t) => {
            for (i, actuator) in tree.actuators.iter().enumerate() {
                if actuator.transmission == Transmission::Tendon(t) {
                    s.by_effort[i] += y;
                }
            }
        }
        K::JointActuatorForce(j) => s.by_driven[tree.joints[j].dof] += y,
        K::PotentialEnergy => {
            if tree.options.gravity {
                let g = vec3(c, layout.gravity, 0);
                for b in 1..tree.bodies.len() {
                    let at = layout.body_mass.at(b);
                    let by_point = g * (-y * c[at]);
                    out.c[at] -= y * g.dot(k.xipos[b]);
                    out.add3(layout.gravity, 0, k.xipos[b] * (-y * c[at]));
                    out.add3(layout.body_ipos, b, k.xmat[b].apply_transposed(by_point));
                    s.bodies[b].place += Force::at_point(by_point, k.xipos[b] - k.origin[b]);
                }
            }
            if tree.options.springs {
                place.pull_spring_energy(d, at.qpos, y, out);
            }
        }
        K::KineticEnergy => {
            for b in 1..tree.bodies.len() {
                let v = s.measured.velocity[b];
                let momentum = d.inertias[b].apply(v) * y;
                s.bodies[b].velocity += momentum;
                s.bodies[b].place -= v.cross_force(momentum);
                let w = v * (0.5 * y);
                pull_inertia(place, b, [w, Motion::zero(), v], out);
            }
            for i in 0..tree.nv {
                let at_armature = layout.dof_armature.at(i);
                out.v[i] += y * c[at_armature] * at.qvel[i];
                out.c[at_armature] += 0.5 * y * at.qvel[i] * at.qvel[i];
            }
            place.pull_armature(&d.tendons, at.qpos, 0.5 * y, [at.qvel, at.qvel], out);
            let mut along = vec![0.0; tree.nv];
            multiply_armature(tree, layout, c, &d.tendons, at.qvel, &mut along);
            for (slot, x) in out.v.iter_mut().zip(along) {
                *slot += y * x;
            }
        }
        // The clock runs by itself; the others are pulled elsewhere.
        _ => {}
    }
}
