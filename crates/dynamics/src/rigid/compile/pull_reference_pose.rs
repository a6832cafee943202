//! Adjoints of the constants that follow from others at the reference pose.
//!
//! An inverse inertia is y = J M⁻¹ Jᵀ for a row J; with x = M⁻¹ Jᵀ, dy = 2 dJ x − xᵀ dM x: the derivative
//! of a rate and of twice a kinetic energy at fixed joint rates x, which one transport of adjoints
//! from the bodies to the joints gives. Nothing of the size of M is ever formed.

use costate_num::spatial::{Force, Motion};
use costate_num::{Quat, Vec3};

use super::super::adjoint::{Adjoint, Place};
use super::super::constants::Layout;
use super::super::forward::Dynamics;
use super::super::inverse::twists;
use super::super::kinematics::quat_at;
use super::super::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use super::super::tree::{JointKind, Tree};
use super::reference_pose::{Pose, Results, Row, Wanted, anchor, dof_groups};

/// Two sets of joint rates with the twists that they give the bodies.
#[derive(Clone, Copy)]
struct Rates<'a> {
    v: &'a [f64],
    lambda: &'a [f64],
    velocity: &'a [Motion<f64>],
    twist: &'a [Motion<f64>],
}

/// Scratch of the pullback.
struct Pull<'a> {
    tree: &'a Tree,
    layout: &'a Layout,
    c: &'a [f64],
    pose: &'a mut Pose<f64>,
    /// Adjoints by the configuration and the constants.
    out: Adjoint,
    bodies: Vec<BodyAdjoint>,
    transport: Transport,
}

/// Adds to `c_bar` what the adjoints `bar` of the results give.
pub(super) fn pull(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    wanted: &Wanted,
    bar: &Results<f64>,
    pose: &mut Pose<f64>,
    c_bar: &mut [f64],
) {
    if pose.update(tree, layout, c).is_some() {
        return;
    }
    let bodies = vec![BodyAdjoint::zero(); tree.bodies.len()];
    let (transport, out) = (Transport::default(), Adjoint::zeros(tree, layout));
    let mut p = Pull { tree, layout, c, pose, out, bodies, transport };
    for b in 1..tree.bodies.len() {
        for axis in 0..3 {
            p.inverse_inertia(Row::Translation(b, axis), bar.body[b][0] / 3.0);
            p.inverse_inertia(Row::Rotation(b, axis), bar.body[b][1] / 3.0);
        }
    }
    for joint in &tree.joints {
        for (start, end) in dof_groups(joint.kind, joint.dof) {
            let mean = bar.dof[start..end].iter().sum::<f64>() / (end - start) as f64;
            for dof in start..end {
                p.inverse_inertia(Row::Dof(dof), mean);
            }
        }
    }
    for t in 0..tree.tendons.len() {
        p.inverse_inertia(Row::Tendon(t), bar.tendon[t]);
    }
    for i in 0..tree.actuators.len() {
        p.inverse_inertia(Row::Actuator(i), bar.actuator[i]);
        p.acceleration(i, bar.acceleration[i]);
    }
    p.equalities(wanted, bar);
    for (t, &value) in bar.length.iter().enumerate() {
        p.tendon_length(t, value, layout.qpos0.start);
    }
    let at_rest = c[layout.qpos0.range()].to_vec();
    p.carry(&at_rest, None);
    p.reference_configuration(layout.qpos0.start);
    if bar.resting.iter().any(|x| *x != 0.0) {
        let qpos = &c[layout.qpos_spring.range()];
        let d = &mut p.pose.dynamics;
        d.kinematics.update(tree, layout, c, qpos);
        d.tendons.update(tree, layout, c, &d.kinematics, qpos);
        for (&t, &value) in wanted.resting.iter().zip(&bar.resting) {
            p.tendon_length(t, value, layout.qpos_spring.start);
        }
        p.carry(qpos, None);
        p.reference_configuration(layout.qpos_spring.start);
    }
    for (slot, bar) in c_bar.iter_mut().zip(&p.out.c) {
        *slot += bar;
    }
}

impl Pull<'_> {
    /// Adjoint of J M⁻¹ Jᵀ.
    fn inverse_inertia(&mut self, row: Row, bar: f64) {
        if bar == 0.0 {
            return;
        }
        self.pose.weigh(self.tree, row);
        let x = self.pose.row.clone();
        self.bilinear(row, 2.0 * bar, bar, &x, &x);
    }

    /// Adjoint of |M⁻¹ Jᵀ|.
    fn acceleration(&mut self, i: usize, bar: f64) {
        if bar == 0.0 {
            return;
        }
        self.pose.weigh(self.tree, Row::Actuator(i));
        let x = self.pose.row.clone();
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return;
        }
        let mut lambda: Vec<f64> = x.iter().map(|x| x / length).collect();
        self.pose.dynamics.factors.solve(self.tree, &mut lambda);
        self.bilinear(Row::Actuator(i), bar, bar, &x, &lambda);
    }

    /// Adjoint of `rate` J λ − `energy` λᵀ M x at fixed x and λ.
    fn bilinear(&mut self, row: Row, rate: f64, energy: f64, x: &[f64], lambda: &[f64]) {
        let (tree, layout) = (self.tree, self.layout);
        let n = tree.bodies.len();
        let mut velocity = vec![Motion::zero(); n];
        let mut twist = vec![Motion::zero(); n];
        {
            let subspace = &self.pose.dynamics.kinematics.subspace;
            twists(tree, subspace, x, &mut velocity);
            twists(tree, subspace, lambda, &mut twist);
        }
        for (dof, (x, l)) in x.iter().zip(lambda).enumerate() {
            self.out.c[layout.dof_armature.at(dof)] -= energy * x * l;
        }
        {
            let Dynamics { kinematics: k, tendons, .. } = &self.pose.dynamics;
            let place = Place { tree, layout, c: self.c, k };
            let qpos = &self.c[layout.qpos0.range()];
            place.pull_armature(tendons, qpos, -energy, [lambda, x], &mut self.out);
        }
        for b in 1..n {
            self.energy(b, energy, velocity[b], twist[b]);
        }
        self.rate(row, rate, lambda, &twist);
        let qpos = self.c[layout.qpos0.range()].to_vec();
        let rates = Rates { v: x, lambda, velocity: &velocity, twist: &twist };
        self.carry(&qpos, Some(rates));
    }

    /// Adjoint of −`weight` V(λ)·I V of one body.
    fn energy(&mut self, b: usize, weight: f64, v: Motion<f64>, l: Motion<f64>) {
        let (layout, c) = (self.layout, self.c);
        let d = &self.pose.dynamics;
        let k = &d.kinematics;
        let inertia = d.inertias[b];
        let (momentum, other) = (inertia.apply(v) * weight, inertia.apply(l) * weight);
        let body = &mut self.bodies[b];
        body.velocity -= other;
        body.lambda -= momentum;
        body.place += v.cross_force(other) + l.cross_force(momentum);
        // Angular velocity and that of the centre of mass, in the body's axes.
        let r = k.xipos[b] - k.origin[b];
        let turn = k.xmat[b];
        let local = |m: Motion<f64>| {
            (turn.apply_transposed(m.angular), turn.apply_transposed(m.linear + m.angular.cross(r)))
        };
        let ((w, u), (wl, ul)) = (local(v), local(l));
        let mass = c[layout.body_mass.at(b)];
        self.out.c[layout.body_mass.at(b)] -= weight * u.dot(ul);
        let center = (u.cross(wl) + ul.cross(w)) * (-mass * weight);
        for (i, value) in center.to_array().into_iter().enumerate() {
            self.out.c[layout.body_ipos.at(b) + i] += value;
        }
        let at = layout.body_inertia.at(b);
        let products = [
            w.x * wl.x,
            w.x * wl.y + w.y * wl.x,
            w.y * wl.y,
            w.x * wl.z + w.z * wl.x,
            w.y * wl.z + w.z * wl.y,
            w.z * wl.z,
        ];
        for (i, value) in products.into_iter().enumerate() {
            self.out.c[at + i] -= weight * value;
        }
    }

    /// Adjoint of `weight` J λ, v being the twists V(λ).
    fn rate(&mut self, row: Row, weight: f64, x: &[f64], v: &[Motion<f64>]) {
        let (tree, layout, c) = (self.tree, self.layout, self.c);
        match row {
            Row::Dof(_) => {}
            Row::Translation(b, axis) => {
                let k = &self.pose.dynamics.kinematics;
                let r = k.xipos[b] - k.origin[b];
                let force = unit(axis) * weight;
                let moved = force.cross(v[b].angular);
                let center = k.xmat[b].apply_transposed(moved);
                for (i, value) in center.to_array().into_iter().enumerate() {
                    self.out.c[layout.body_ipos.at(b) + i] += value;
                }
                self.act(b, Force::at_point(force, r), Force::at_point(moved, r));
            }
            Row::Rotation(b, axis) => {
                self.act(b, Force::new(unit(axis) * weight, Vec3::zero()), Force::zero());
            }
            Row::Tendon(t) => self.path(t, 0.0, weight, x, layout.qpos0.start),
            Row::Actuator(i) => {
                let Self { pose, out, .. } = self;
                let Dynamics { kinematics: k, tendons, actuation, .. } = &pose.dynamics;
                let dofs = &actuation.dofs[actuation.entries(i)];
                let mut by_moment: Vec<f64> = dofs.iter().map(|&dof| weight * x[dof]).collect();
                let place = Place { tree, layout, c, k };
                let qpos = &c[layout.qpos0.range()];
                place.pull_transmission(tendons, actuation, i, qpos, 0.0, &mut by_moment, out);
            }
        }
    }

    /// Adjoint of `length` times a tendon's length and `rate` times its rate at joint velocities x, at the
    /// configuration at `qpos` within the constants.
    fn path(&mut self, t: usize, length: f64, rate: f64, x: &[f64], qpos: usize) {
        let Self { tree, layout, c, pose, out, .. } = self;
        let Dynamics { kinematics: k, tendons, .. } = &pose.dynamics;
        let dofs = &tendons.dofs[tendons.entries(t)];
        let by_jacobian: Vec<f64> = dofs.iter().map(|&dof| rate * x[dof]).collect();
        let place = Place { tree, layout, c, k };
        place.pull_tendon(tendons, t, &c[qpos..qpos + tree.nq], length, &by_jacobian, out);
    }

    fn act(&mut self, b: usize, motion: Force<f64>, place: Force<f64>) {
        let body = &mut self.bodies[b];
        body.lambda += motion;
        body.place += place;
    }

    /// Adjoint of a tendon's length at the configuration at `qpos` within the constants.
    fn tendon_length(&mut self, t: usize, bar: f64, qpos: usize) {
        if bar != 0.0 {
            let still = vec![0.0; self.tree.nv];
            self.path(t, bar, 0.0, &still, qpos);
        }
    }

    /// Adjoints of anchors and relative poses, as displacements of their bodies.
    fn equalities(&mut self, wanted: &Wanted, bar: &Results<f64>) {
        let (layout, c) = (self.layout, self.c);
        // A point that is fixed in `from`, seen from `to`.
        let mut seen = |e: usize, from: usize, to: usize, bar: &[f64]| {
            let k = &self.pose.dynamics.kinematics;
            let point = k.xpos[from] + k.xmat[from].apply(anchor(layout, c, e));
            let force = k.xmat[to].apply(Vec3::new(bar[0], bar[1], bar[2]));
            let own = k.xmat[from].apply_transposed(force);
            let (a, b) = (point - k.origin[from], point - k.origin[to]);
            for (i, value) in own.to_array().into_iter().enumerate() {
                self.out.c[layout.eq_data.at(e) + i] += value;
            }
            self.bodies[from].place += Force::at_point(force, a);
            self.bodies[to].place += Force::at_point(-force, b);
        };
        for (&(e, [first, second]), bar) in wanted.connects.iter().zip(&bar.connects) {
            seen(e, first, second, bar);
        }
        for (&(e, [first, second]), bar) in wanted.welds.iter().zip(&bar.welds) {
            seen(e, second, first, &bar[..3]);
        }
        for (&(_, [first, second]), bar) in wanted.welds.iter().zip(&bar.welds) {
            let k = &self.pose.dynamics.kinematics;
            let g = Quat::new(bar[3], bar[4], bar[5], bar[6]);
            let turned = k.xquat[first].product(g).product(k.xquat[second].conjugate());
            let torque = turned.v * 0.5;
            self.bodies[second].place += Force::new(torque, Vec3::zero());
            self.bodies[first].place += Force::new(-torque, Vec3::zero());
        }
    }

    /// Carries what the bodies have got to the constants and the configuration.
    fn carry(&mut self, qpos: &[f64], rates: Option<Rates>) {
        let (n, nv) = (self.tree.bodies.len(), self.tree.nv);
        let (zeros, still) = (vec![0.0; nv], vec![Motion::zero(); n]);
        let Rates { v, lambda, velocity, twist } =
            rates.unwrap_or(Rates { v: &zeros, lambda: &zeros, velocity: &still, twist: &still });
        let mut v_bar = vec![0.0; nv];
        let motions = Motions {
            v,
            a: &zeros,
            lambda,
            velocity,
            acceleration: &still,
            lambda_twist: twist,
            push_twist: &still,
        };
        let Adjoint { q, c, .. } = &mut self.out;
        let mut bar = TransportAdjoints { q, v: &mut v_bar, c };
        let k = &self.pose.dynamics.kinematics;
        let (tree, layout) = (self.tree, self.layout);
        self.transport.run(tree, layout, self.c, k, qpos, motions, &self.bodies, &mut bar);
        self.bodies.fill(BodyAdjoint::zero());
    }

    /// Adds the adjoint of the configuration to that of the constants that it consists of, which
    /// start at `at`, and clears it.
    fn reference_configuration(&mut self, at: usize) {
        for joint in &self.tree.joints {
            let (q, dof) = (at + joint.qpos, joint.dof);
            let Adjoint { q: bar, c: c_bar, .. } = &mut self.out;
            match joint.kind {
                JointKind::Slide | JointKind::Hinge => c_bar[q] += bar[dof],
                JointKind::Ball => add_turn(self.c, c_bar, q, &bar[dof..]),
                JointKind::Free => {
                    for i in 0..3 {
                        c_bar[q + i] += bar[dof + i];
                    }
                    add_turn(self.c, c_bar, q + 3, &bar[dof + 3..]);
                }
            }
        }
        self.out.q.fill(0.0);
    }
}

fn unit(axis: usize) -> Vec3<f64> {
    Vec3::from_array([0, 1, 2].map(|i| f64::from(u8::from(i == axis))))
}

/// The adjoint of a quaternion from that of turns in the axes that it gives: δθ = 2 Im(q* δq)/|q|².
fn add_turn(c: &[f64], c_bar: &mut [f64], at: usize, bar: &[f64]) {
    let q = quat_at(c, at);
    let squared = q.w * q.w + q.v.dot(q.v);
    if squared == 0.0 {
        return;
    }
    let turn = Vec3::new(bar[0], bar[1], bar[2]) * (2.0 / squared);
    let by = q.product(Quat { w: 0.0, v: turn });
    for (i, value) in [by.w, by.v.x, by.v.y, by.v.z].into_iter().enumerate() {
        c_bar[at + i] += value;
    }
}
