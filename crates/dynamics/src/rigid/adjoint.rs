//! Adjoints of places and axes, and the one-sweep adjoint of inverse dynamics.
//!
//! λᵀτ = Σᵢ Wᵢ·Fᵢ, where Wᵢ are the bodies' twists for joint rates λ and Fᵢ the forces that
//! give them their accelerations. Moving all that hangs on a joint rigidly by ξ is the same as moving what
//! enters there (W, V, A of the body before the joint) by −ξ, so that one sweep towards the world
//! of the adjoints of W, V and A gives the derivatives by every coordinate, velocity and placement.

use costate_num::spatial::{Force, Motion, RigidInertia};
use costate_num::{Quat, Vec3};

use super::constants::{Block, Layout};
use super::inverse::{along, groups};
use super::kinematics::{Kinematics, quat_at, vec3};
use super::tree::{JointKind, Tree};

/// Adjoints of what a step is a function of; everything adds to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjoint {
    /// Of the configuration, in its tangent space.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub v: Vec<f64>,
    /// Of the activations.
    pub act: Vec<f64>,
    /// Of the controls.
    pub ctrl: Vec<f64>,
    /// Of the applied forces; stays as it is where there are none.
    pub applied: Vec<f64>,
    /// Of the constants.
    pub c: Vec<f64>,
}

impl Adjoint {
    /// Zero, for a structure.
    pub fn zeros(tree: &Tree, layout: &Layout) -> Self {
        Self {
            q: vec![0.0; tree.nv],
            v: vec![0.0; tree.nv],
            act: vec![0.0; tree.na],
            ctrl: vec![0.0; tree.actuators.len()],
            applied: vec![0.0; tree.nv],
            c: vec![0.0; layout.len],
        }
    }
    /// Sets everything to zero.
    pub fn clear(&mut self) {
        let Self { q, v, act, ctrl, applied, c } = self;
        for part in [q, v, act, ctrl, applied, c] {
            part.fill(0.0);
        }
    }
    /// Adds to a vector of the constants.
    #[inline(always)]
    pub(crate) fn add3(&mut self, block: Block, i: usize, x: Vec3<f64>) {
        let at = block.at(i);
        self.c[at] += x.x;
        self.c[at + 1] += x.y;
        self.c[at + 2] += x.z;
    }
}

/// Which constants a pullback is to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Masses, centres of mass and inertia tensors.
    pub inertial: bool,
    /// Places and axes of bodies, joints and sites.
    pub placement: bool,
    /// Dry friction that is zero, whose derivative is one-sided: it needs an acceleration that a step without
    /// constraints has no other use for.
    pub zero_friction: bool,
}

impl Wanted {
    /// All of them.
    pub const ALL: Self = Self { inertial: true, placement: true, zero_friction: true };
}

/// Where a function is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub tree: &'a Tree,
    pub layout: &'a Layout,
    pub c: &'a [f64],
    pub k: &'a Kinematics<f64>,
}

/// `force` moved from the point of reference to a point at `r` from it.
#[inline(always)]
fn about(force: Force<f64>, r: Vec3<f64>) -> Vec3<f64> {
    force.moment - r.cross(force.force)
}

impl Place<'_> {
    /// Adjoint of the placement of body `b` in its parent, from that of a rigid displacement of it and
    /// all that hangs on it.
    pub fn pull_body(self, b: usize, by_displacement: Force<f64>, out: &mut Adjoint) {
        let Self { tree, layout, c, k } = self;
        let body = &tree.bodies[b];
        if body.joints.len() == 1 && tree.joints[body.joints.start].kind == JointKind::Free {
            return;
        }
        let parent = body.parent;
        let frame = k.xmat[parent];
        out.add3(layout.body_pos, b, frame.apply_transposed(by_displacement.force));
        let position = k.xpos[parent] + frame.apply(vec3(c, layout.body_pos, b));
        let quat = quat_at(c, layout.body_quat.at(b));
        let turned = about(by_displacement, position - k.origin[b]);
        let local = quat.conjugate().rotate(frame.apply_transposed(turned));
        pull_quaternion(quat, local, &mut out.c[layout.body_quat.entry(b)]);
    }

    /// Adjoint of the constants of joint `j`, from that of a rigid displacement of all it moves (its own
    /// axes included) and of its motion vectors, and, first, the one of its coordinates.
    pub fn pull_joint(
        self,
        j: usize,
        by_displacement: Force<f64>,
        by_motion: &[Force<f64>],
        placement: bool,
        qpos: &[f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        let joint = &tree.joints[j];
        let scalar = matches!(joint.kind, JointKind::Slide | JointKind::Hinge);
        if scalar {
            let along = k.subspace[joint.dof].dot(by_displacement);
            out.c[layout.qpos0.at(joint.qpos)] -= along;
        }
        if !placement || joint.kind == JointKind::Free {
            return;
        }
        let before = k.before[j];
        if joint.kind == JointKind::Slide {
            let shift = qpos[joint.qpos] - c[layout.qpos0.at(joint.qpos)];
            let by_axis = by_displacement.force * shift + by_motion[0].force;
            out.add3(layout.jnt_axis, j, before.apply_transposed(by_axis));
            return;
        }
        let after = k.after(tree, j);
        let mut by_anchor = Vec3::zero();
        for (n, force) in by_motion.iter().enumerate() {
            by_anchor += k.subspace[joint.dof + n].angular.cross(force.force);
        }
        let moved = by_displacement.force;
        let by_pos = before.apply_transposed(moved) - after.apply_transposed(moved)
            + after.apply_transposed(by_anchor);
        out.add3(layout.jnt_pos, j, by_pos);
        if joint.kind == JointKind::Hinge {
            let motion = k.subspace[joint.dof];
            let beyond = by_displacement - motion.cross_force(by_motion[0]);
            let lever = k.xanchor[j] - k.origin[joint.body];
            let turn = after.apply_transposed(about(beyond, lever));
            let (sine, cosine) = k.half[j];
            let axis = vec3(c, layout.jnt_axis, j);
            // A change δ of the axis turns the moved frame by sin θ δ − (1 − cos θ) axis × δ, in its axes.
            let by_turn = (turn * cosine - turn.cross(axis) * sine) * (2.0 * sine);
            let direct = before.apply_transposed(about(by_motion[0], lever));
            out.add3(layout.jnt_axis, j, by_turn + direct);
        }
    }

    /// Adjoint of the function (Σ Sₖ xₖ)·`force` of a force on `body` given about its tree's origin,
    /// the sum over the degrees of freedom at or above it; the force itself moves with the body in a way
    /// whose adjoint is `by_displacement`. The adjoint of x is added to `x_bar` unless that is empty.
    pub fn pull_chain(
        self,
        body: usize,
        force: Force<f64>,
        x: &[f64],
        by_displacement: Force<f64>,
        qpos: &[f64],
        placement: bool,
        x_bar: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, k, .. } = self;
        let (mut b, mut total) = (body, by_displacement);
        while b > 0 {
            for j in tree.bodies[b].joints.clone().rev() {
                for group in groups(&tree.joints[j]).into_iter().rev() {
                    if group.0 == group.1 {
                        continue;
                    }
                    let twist = along(&k.subspace, x, group);
                    total += twist.cross_force(force);
                    let mut by_motion = [Force::zero(); 3];
                    for dof in group.0..group.1 {
                        by_motion[dof - group.0] = force * x[dof];
                        out.q[dof] += k.subspace[dof].dot(total);
                        if let Some(slot) = x_bar.get_mut(dof) {
                            *slot += k.subspace[dof].dot(force);
                        }
                    }
                    let motions = &by_motion[..group.1 - group.0];
                    self.pull_joint(j, total, motions, placement, qpos, out);
                }
            }
            if placement {
                self.pull_body(b, total, out);
            }
            b = tree.bodies[b].parent;
        }
    }

    /// Adjoint of the place and orientation of a frame fixed in a body (of width 3 and 4 in the
    /// constants), from that of its displacement by a rigid motion about its tree's origin.
    pub fn pull_frame(
        self,
        body: usize,
        (pos, quat): (Block, Block),
        i: usize,
        by_displacement: Force<f64>,
        out: &mut Adjoint,
    ) {
        let Self { c, k, .. } = self;
        let frame = k.xmat[body];
        out.add3(pos, i, frame.apply_transposed(by_displacement.force));
        let position = k.xpos[body] + frame.apply(vec3(c, pos, i));
        let q = quat_at(c, quat.at(i));
        let turned = about(by_displacement, position - k.origin[body]);
        let local = q.conjugate().rotate(frame.apply_transposed(turned));
        pull_quaternion(q, local, &mut out.c[quat.entry(i)]);
    }
}

/// Adds the adjoint of a unit quaternion, from that of a rotation by a small vector in the axes of the
/// turned frame.
#[inline(always)]
fn pull_quaternion(q: Quat<f64>, local: Vec3<f64>, out: &mut [f64]) {
    let bar = q.product(Quat { w: 0.0, v: local * 2.0 });
    out[0] += bar.w;
    out[1] += bar.v.x;
    out[2] += bar.v.y;
    out[3] += bar.v.z;
}

/// What the adjoint of inverse dynamics is taken at.
#[derive(Clone, Copy)]
pub(crate) struct Rates<'a> {
    /// λ: the adjoint of τ.
    pub lambda: &'a [f64],
    /// Joint velocities.
    pub v: &'a [f64],
    /// Joint accelerations.
    pub a: &'a [f64],
    /// Acceleration of the world.
    pub world: Motion<f64>,
}

/// The sweep of the adjoint of inverse dynamics; its memory.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    pub(super) lambda: Vec<Motion<f64>>,
    velocity: Vec<Motion<f64>>,
    pub(super) acceleration: Vec<Motion<f64>>,
    pub(super) by_lambda: Vec<Force<f64>>,
    by_velocity: Vec<Force<f64>>,
    pub(super) by_acceleration: Vec<Force<f64>>,
}

impl Sweep {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.bodies.len();
        Self {
            lambda: vec![Motion::zero(); n],
            velocity: vec![Motion::zero(); n],
            acceleration: vec![Motion::zero(); n],
            by_lambda: vec![Force::zero(); n],
            by_velocity: vec![Force::zero(); n],
            by_acceleration: vec![Force::zero(); n],
        }
    }

    /// Adds the adjoints of λᵀ(M a + c) by configuration, velocity and constants to `out`; the
    /// adjoint of `a` is M λ and is not added. The acceleration of the world is gravity where
    /// `gravity` says so.
    pub fn pull(
        &mut self,
        place: Place,
        inertias: &[RigidInertia<f64>],
        rates: Rates,
        qpos: &[f64],
        wanted: Wanted,
        gravity: bool,
        out: &mut Adjoint,
    ) {
        let Place { tree, layout, k, .. } = place;
        self.outward(tree, k, rates);
        let n = tree.bodies.len();
        (self.by_lambda[0], self.by_velocity[0]) = (Force::zero(), Force::zero());
        self.by_acceleration[0] = Force::zero();
        for b in 1..n {
            let (w, v, a) = (self.lambda[b], self.velocity[b], self.acceleration[b]);
            let inertia = inertias[b];
            let momentum = inertia.apply(v);
            let turning = v.cross(w);
            self.by_lambda[b] = inertia.apply(a) + v.cross_force(momentum);
            self.by_acceleration[b] = inertia.apply(w);
            self.by_velocity[b] = -w.cross_force(momentum) - inertia.apply(turning);
            if wanted.inertial {
                pull_inertia(place, b, [w, v, a], out);
            }
        }
        for i in 0..tree.nv {
            out.c[layout.dof_armature.at(i)] += rates.lambda[i] * rates.a[i];
        }
        self.inward(place, rates, qpos, wanted, out);
        if gravity {
            out.add3(layout.gravity, 0, -self.by_acceleration[0].force);
        }
    }

    fn outward(&mut self, tree: &Tree, k: &Kinematics<f64>, rates: Rates) {
        let (mut w, mut v, mut a) = (Motion::zero(), Motion::zero(), rates.world);
        (self.lambda[0], self.velocity[0], self.acceleration[0]) = (w, v, a);
        let mut last = 0;
        for b in 1..tree.bodies.len() {
            let body = &tree.bodies[b];
            if body.parent != last {
                let p = body.parent;
                (w, v, a) = (self.lambda[p], self.velocity[p], self.acceleration[p]);
            }
            for j in body.joints.clone() {
                for group in groups(&tree.joints[j]) {
                    if group.0 == group.1 {
                        continue;
                    }
                    let u = along(&k.subspace, rates.v, group);
                    a += v.cross(u) + along(&k.subspace, rates.a, group);
                    v += u;
                    w += along(&k.subspace, rates.lambda, group);
                }
            }
            (self.lambda[b], self.velocity[b], self.acceleration[b]) = (w, v, a);
            last = b;
        }
    }

    fn inward(
        &mut self,
        place: Place,
        rates: Rates,
        qpos: &[f64],
        wanted: Wanted,
        out: &mut Adjoint,
    ) {
        let Place { tree, k, .. } = place;
        for b in (1..tree.bodies.len()).rev() {
            let body = &tree.bodies[b];
            let parent = body.parent;
            let (mut w, mut v, mut a) = (self.lambda[b], self.velocity[b], self.acceleration[b]);
            let (f, mut g, p) = (self.by_lambda[b], self.by_velocity[b], self.by_acceleration[b]);
            let mut total = Force::zero();
            for j in body.joints.clone().rev() {
                for group in groups(&tree.joints[j]).into_iter().rev() {
                    if group.0 == group.1 {
                        continue;
                    }
                    let u = along(&k.subspace, rates.v, group);
                    if group.0 == body.dofs.start {
                        (w, v) = (self.lambda[parent], self.velocity[parent]);
                        a = self.acceleration[parent];
                    } else {
                        v -= u;
                        w -= along(&k.subspace, rates.lambda, group);
                        a = a - along(&k.subspace, rates.a, group) - v.cross(u);
                    }
                    let by_rate = g - v.cross_force(p);
                    g += u.cross_force(p);
                    total = -(w.cross_force(f) + a.cross_force(p) + v.cross_force(g));
                    let mut by_motion = [Force::zero(); 3];
                    for dof in group.0..group.1 {
                        let motion = k.subspace[dof];
                        out.v[dof] += motion.dot(by_rate);
                        out.q[dof] += motion.dot(total);
                        if wanted.placement {
                            by_motion[dof - group.0] =
                                f * rates.lambda[dof] + by_rate * rates.v[dof] + p * rates.a[dof];
                        }
                    }
                    let motions = &by_motion[..group.1 - group.0];
                    place.pull_joint(j, total, motions, wanted.placement, qpos, out);
                }
            }
            if wanted.placement {
                if body.joints.is_empty() {
                    total = -(w.cross_force(f) + a.cross_force(p) + v.cross_force(g));
                }
                place.pull_body(b, total, out);
            }
            self.by_lambda[parent] += f;
            self.by_velocity[parent] += g;
            self.by_acceleration[parent] += p;
        }
    }
}

/// Adjoints of mass, centre of mass and inertia tensor of body `b` in W·(I A + V ×* I V).
pub(crate) fn pull_inertia(place: Place, b: usize, [w, v, a]: [Motion<f64>; 3], out: &mut Adjoint) {
    let Place { layout, c, k, .. } = place;
    let r = k.xipos[b] - k.origin[b];
    let frame = k.xmat[b];
    // At the centre of mass the first moment is zero and a change of it is m times its displacement.
    let w_linear = w.linear + w.angular.cross(r);
    let v_linear = v.linear + v.angular.cross(r);
    let a_linear = a.linear + a.angular.cross(r);
    let (wr, vr, ar) = (
        frame.apply_transposed(w.angular),
        frame.apply_transposed(v.angular),
        frame.apply_transposed(a.angular),
    );
    let turning = v.angular.cross(w.angular);
    let turning_linear = v.angular.cross(w_linear) + v_linear.cross(w.angular);
    let at = layout.body_mass.at(b);
    out.c[at] += w_linear.dot(a_linear) - turning_linear.dot(v_linear);
    let by_moment = a_linear.cross(w.angular) - a.angular.cross(w_linear) - v_linear.cross(turning)
        + v.angular.cross(turning_linear);
    out.add3(layout.body_ipos, b, frame.apply_transposed(by_moment) * c[at]);
    let t = vr.cross(wr);
    let at = layout.body_inertia.at(b);
    let bar = &mut out.c[at..at + 6];
    bar[0] += wr.x * ar.x - t.x * vr.x;
    bar[1] += wr.x * ar.y + wr.y * ar.x - t.x * vr.y - t.y * vr.x;
    bar[2] += wr.y * ar.y - t.y * vr.y;
    bar[3] += wr.x * ar.z + wr.z * ar.x - t.x * vr.z - t.z * vr.x;
    bar[4] += wr.y * ar.z + wr.z * ar.y - t.y * vr.z - t.z * vr.y;
    bar[5] += wr.z * ar.z - t.z * vr.z;
}
