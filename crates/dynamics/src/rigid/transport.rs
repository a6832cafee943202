//! Adjoints of everything that moves with the bodies, carried from the leaves to the root.
//!
//! Let L depend on the places of bodies and on four motions of each: its velocity V(v), its
//! acceleration A(v, a), and its twists V(λ) and V(a) for other sets of joint rates, λ and the
//! accelerations themselves, all in world axes about a point fixed in space. L's partial derivatives are five
//! forces per body: `place`, by a small rigid displacement Ξ of the body at fixed motions, and `velocity`,
//! `acceleration`, `lambda`, `push`, by the motions.
//!
//! A displacement Ξ of all that hangs on a frame whose own motions are V₀, A₀, V₀(λ) turns the
//! motions relative to that frame: δV = Ξ × (V − V₀), δV(λ) likewise, and
//! δA = Ξ × (A − A₀) − (Ξ × V₀) × (V − V₀). Its derivative is one force, linear in sums over the
//! bodies that hang there; joints, placements and axes all act through such displacements, through the
//! joint's own motion S, or through both.

use costate_num::spatial::{Force, Motion};
use costate_num::{Quat, Vec3};

use super::constants::Layout;
use super::inverse::{along, groups};
use super::kinematics::{Kinematics, quat_at, vec3};
use super::tree::{JointKind, Tree};

/// Derivatives by the place and the motions of a body, about the origin of its tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyAdjoint {
    /// By a rigid displacement at fixed motions.
    pub place: Force<f64>,
    /// By V(λ).
    pub lambda: Force<f64>,
    /// By V.
    pub velocity: Force<f64>,
    /// By A.
    pub acceleration: Force<f64>,
    /// By V(a): A without what the velocities have in it.
    pub push: Force<f64>,
}

impl BodyAdjoint {
    /// No influence.
    pub fn zero() -> Self {
        let zero = Force::zero();
        Self { place: zero, lambda: zero, velocity: zero, acceleration: zero, push: zero }
    }
}

/// Where and how bodies move: what the adjoints are taken at.
#[derive(Clone, Copy, Debug)]
pub struct Motions<'a> {
    /// Joint velocities.
    pub v: &'a [f64],
    /// Joint accelerations.
    pub a: &'a [f64],
    /// The other joint rates.
    pub lambda: &'a [f64],
    /// V of every body.
    pub velocity: &'a [Motion<f64>],
    /// A of every body; the world's may be that of gravity.
    pub acceleration: &'a [Motion<f64>],
    /// V(λ) of every body.
    pub lambda_twist: &'a [Motion<f64>],
    /// V(a) of every body.
    pub push_twist: &'a [Motion<f64>],
}

/// Adjoints that the transport adds to.
#[derive(Debug)]
pub struct TransportAdjoints<'a> {
    /// By the configuration, in its tangent space: nv numbers.
    pub q: &'a mut [f64],
    /// By the joint velocities.
    pub v: &'a mut [f64],
    /// By the constants: `body_pos`, `body_quat`, `jnt_pos`, `jnt_axis`, `qpos0` here.
    pub c: &'a mut [f64],
}

/// V, A, V(λ) and V(a) of a frame.
#[derive(Clone, Copy)]
struct Frame {
    velocity: Motion<f64>,
    acceleration: Motion<f64>,
    lambda: Motion<f64>,
    push: Motion<f64>,
}

/// Sums over the bodies that hang on a frame.
#[derive(Clone, Copy, Debug)]
struct Sums {
    /// place + V(λ) ×* lambda + V(a) ×* push + V ×* velocity + A ×* acceleration.
    turned: Force<f64>,
    lambda: Force<f64>,
    velocity: Force<f64>,
    acceleration: Force<f64>,
    push: Force<f64>,
    /// V ×* acceleration.
    swept: Force<f64>,
}

impl Sums {
    fn of(body: &BodyAdjoint, at: Frame) -> Self {
        let swept = at.velocity.cross_force(body.acceleration);
        Self {
            turned: body.place
                + at.lambda.cross_force(body.lambda)
                + at.push.cross_force(body.push)
                + at.velocity.cross_force(body.velocity)
                + at.acceleration.cross_force(body.acceleration),
            lambda: body.lambda,
            velocity: body.velocity,
            acceleration: body.acceleration,
            push: body.push,
            swept,
        }
    }

    fn add(&mut self, o: Self) {
        self.turned += o.turned;
        self.lambda += o.lambda;
        self.velocity += o.velocity;
        self.acceleration += o.acceleration;
        self.push += o.push;
        self.swept += o.swept;
    }

    /// The derivative by a displacement of all that hangs on `base`.
    fn displacement(&self, base: Frame) -> Force<f64> {
        let relative = self.swept - base.velocity.cross_force(self.acceleration);
        self.turned
            - base.lambda.cross_force(self.lambda)
            - base.push.cross_force(self.push)
            - base.velocity.cross_force(self.velocity)
            - base.acceleration.cross_force(self.acceleration)
            - base.velocity.cross_force(relative)
    }

    /// The derivative by a velocity that comes between the frames `before` and `after`.
    fn rate(&self, before: Frame, after: Frame) -> Force<f64> {
        self.velocity + self.swept
            - after.velocity.cross_force(self.acceleration)
            - before.velocity.cross_force(self.acceleration)
    }
}

/// Scratch of the transport: one entry per body.
#[derive(Clone, Debug, Default)]
pub struct Transport {
    sums: Vec<Sums>,
}

impl Transport {
    /// Carries the bodies' adjoints to the joints and to the constants of their placement, adding to
    /// `bar`. Returns the sum of `acceleration` over all bodies: the adjoint of the linear
    /// acceleration of the world.
    ///
    /// The axis of a joint is of unit length, and its adjoint is perpendicular to it; that of a
    /// quaternion is by its four numbers, of which only the direction counts.
    pub fn run(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[f64],
        k: &Kinematics<f64>,
        qpos: &[f64],
        motions: Motions,
        bodies: &[BodyAdjoint],
        bar: &mut TransportAdjoints,
    ) -> Vec3<f64> {
        let n = tree.bodies.len();
        let frame = |b: usize| Frame {
            velocity: motions.velocity[b],
            acceleration: motions.acceleration[b],
            lambda: motions.lambda_twist[b],
            push: motions.push_twist[b],
        };
        self.sums.clear();
        self.sums.extend((0..n).map(|b| Sums::of(&bodies[b], frame(b))));
        for b in (1..n).rev() {
            let sums = self.sums[b];
            let parent = tree.bodies[b].parent;
            let mut after = frame(b);
            for j in tree.bodies[b].joints.clone().rev() {
                after = joint(tree, layout, c, k, qpos, motions, j, &sums, after, bar);
            }
            let first = tree.bodies[b].joints.clone().next();
            if first.is_none_or(|j| tree.joints[j].kind != JointKind::Free) {
                placement(layout, c, k, b, parent, sums.displacement(frame(parent)), bar);
            }
            self.sums[parent].add(sums);
        }
        self.sums.first().map_or(Vec3::zero(), |world| world.acceleration.force)
    }
}

/// The adjoints of a joint; returns the motions of the frame before it.
fn joint(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    k: &Kinematics<f64>,
    qpos: &[f64],
    motions: Motions,
    j: usize,
    sums: &Sums,
    mut after: Frame,
    bar: &mut TransportAdjoints,
) -> Frame {
    let joint = &tree.joints[j];
    for group in groups(joint).into_iter().rev() {
        if group.0 == group.1 {
            continue;
        }
        let u = along(&k.subspace, motions.v, group);
        let velocity = after.velocity - u;
        let push = along(&k.subspace, motions.a, group);
        let before = Frame {
            velocity,
            acceleration: after.acceleration - push - velocity.cross(u),
            push: after.push - push,
            lambda: after.lambda - along(&k.subspace, motions.lambda, group),
        };
        let displacement = sums.displacement(before);
        let rate = sums.rate(before, after);
        for dof in group.0..group.1 {
            bar.q[dof] += k.subspace[dof].dot(displacement);
            bar.v[dof] += k.subspace[dof].dot(rate);
        }
        if joint.kind != JointKind::Free {
            // Derivative by the motion S of one dof.
            let by_motion = |dof: usize| {
                sums.lambda * motions.lambda[dof]
                    + (sums.acceleration + sums.push) * motions.a[dof]
                    + rate * motions.v[dof]
            };
            constants_of_joint(
                tree,
                layout,
                c,
                k,
                qpos,
                j,
                sums.displacement(after),
                displacement,
                by_motion,
                bar,
            );
        }
        after = before;
    }
    after
}

/// Adjoints of `jnt_pos`, `jnt_axis` and `qpos0`, from the derivatives by displacements of all
/// that hangs after the joint and before it, and by the motions of its dofs.
fn constants_of_joint(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    k: &Kinematics<f64>,
    qpos: &[f64],
    j: usize,
    after: Force<f64>,
    before: Force<f64>,
    by_motion: impl Fn(usize) -> Force<f64>,
    bar: &mut TransportAdjoints,
) {
    let joint = &tree.joints[j];
    let b = joint.body;
    let turn = k.before[j];
    let anchor = k.xanchor[j] - k.origin[b];
    let mut add = |at: usize, value: Vec3<f64>| {
        for (i, x) in value.to_array().into_iter().enumerate() {
            bar.c[at + i] += x;
        }
    };
    if joint.kind == JointKind::Ball {
        // The anchor moves with the body before, the body back with the body after.
        let matrix = k.after(tree, j);
        let mut at_anchor = after.force;
        for i in 0..3 {
            at_anchor += k.xmat[b].columns[i].cross(by_motion(joint.dof + i).force);
        }
        let moved = turn.apply_transposed(at_anchor) - matrix.apply_transposed(after.force);
        return add(layout.jnt_pos.at(j), moved);
    }
    let axis = k.xaxis[j];
    let local = vec3(c, layout.jnt_axis, j);
    let g = by_motion(joint.dof);
    let q = qpos[joint.qpos] - c[layout.qpos0.at(joint.qpos)];
    let by_axis = if joint.kind == JointKind::Slide {
        turn.apply_transposed(g.force + after.force * q)
    } else {
        let (sine, cosine) = k.half[j];
        let matrix = k.after(tree, j);
        let at_anchor = after.force + axis.cross(g.force);
        let moved = turn.apply_transposed(at_anchor) - matrix.apply_transposed(after.force);
        add(layout.jnt_pos.at(j), moved);
        // A new axis turns what hangs after the joint about the anchor by sin q δn + (1 − cos q) n × δn.
        let torque = turn.apply_transposed(after.moment - anchor.cross(after.force));
        turn.apply_transposed(g.moment - anchor.cross(g.force))
            + (torque * cosine + torque.cross(local) * sine) * (2.0 * sine)
    };
    add(layout.jnt_axis.at(j), by_axis - local * local.dot(by_axis));
    bar.c[layout.qpos0.at(joint.qpos)] -= k.subspace[joint.dof].dot(before);
}

/// Adjoints of `body_pos` and `body_quat`, from the derivative by a displacement of the whole body.
fn placement(
    layout: &Layout,
    c: &[f64],
    k: &Kinematics<f64>,
    b: usize,
    parent: usize,
    displacement: Force<f64>,
    bar: &mut TransportAdjoints,
) {
    let turn = k.xmat[parent];
    let force = turn.apply_transposed(displacement.force);
    for (i, x) in force.to_array().into_iter().enumerate() {
        bar.c[layout.body_pos.at(b) + i] += x;
    }
    let place = k.xpos[parent] + turn.apply(vec3(c, layout.body_pos, b)) - k.origin[b];
    let torque = turn.apply_transposed(displacement.moment - place.cross(displacement.force));
    // A quaternion's change δq turns by 2 Im(δq q*)/|q|².
    let q = quat_at(c, layout.body_quat.at(b));
    let scale = 2.0 / (q.w * q.w + q.v.dot(q.v));
    let by = Quat { w: 0.0, v: torque * scale }.product(q);
    let at = layout.body_quat.at(b);
    for (i, x) in [by.w, by.v.x, by.v.y, by.v.z].into_iter().enumerate() {
        bar.c[at + i] += x;
    }
}
