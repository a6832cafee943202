//! Passive forces: springs, dampers and compensation of gravity.

use costate_num::spatial::Force;
use costate_num::{Scalar, Vec3};

use super::constants::{Block, Layout};
use super::inverse::apply_force;
use super::kinematics::{Kinematics, quat_at, vec3};
use super::tendon::Tendons;
use super::tree::{JointKind, Tree};

/// k + k₁ x + k₂ x², of which a spring's or damper's force is −x times.
#[inline(always)]
pub(crate) fn polynomial<S: Scalar>(c: &[S], linear: Block, higher: Block, i: usize, x: S) -> S {
    let (k, at) = (c[linear.at(i)], higher.at(i));
    k + x * (c[at] + x * c[at + 1])
}

/// Displacement of a ball joint's orientation from its spring's rest, as a rotation vector in the axes of
/// the moved body.
#[inline(always)]
fn rotation_from_rest<S: Scalar>(layout: &Layout, c: &[S], qpos: &[S], q: usize) -> Vec3<S> {
    let rest = quat_at(c, layout.qpos_spring.at(q));
    rest.conjugate().product(quat_at(qpos, q).normalize()).to_rotation_vector()
}

/// Adds the forces of joint springs: −x (k + k₁ x + k₂ x²), with the length of the displacement for
/// x of ball joints and of the translation of free joints.
pub fn add_springs<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], qpos: &[S], out: &mut [S]) {
    if !tree.options.springs {
        return;
    }
    let stiffness =
        |j: usize, x: S| polynomial(c, layout.jnt_stiffness, layout.jnt_stiffnesspoly, j, x);
    let push = |out: &mut [S], j: usize, dof: usize, displacement: Vec3<S>| {
        let force = displacement * -stiffness(j, displacement.norm());
        out[dof] += force.x;
        out[dof + 1] += force.y;
        out[dof + 2] += force.z;
    };
    for (j, joint) in tree.joints.iter().enumerate() {
        let (q, dof) = (joint.qpos, joint.dof);
        match joint.kind {
            JointKind::Free => {
                let rest = layout.qpos_spring.at(q);
                let x = Vec3::new(
                    qpos[q] - c[rest],
                    qpos[q + 1] - c[rest + 1],
                    qpos[q + 2] - c[rest + 2],
                );
                push(out, j, dof, x);
                push(out, j, dof + 3, rotation_from_rest(layout, c, qpos, q + 3));
            }
            JointKind::Ball => push(out, j, dof, rotation_from_rest(layout, c, qpos, q)),
            JointKind::Slide | JointKind::Hinge => {
                let x = qpos[q] - c[layout.qpos_spring.at(q)];
                out[dof] += -(x * stiffness(j, x));
            }
        }
    }
}

/// Adds the forces of joint dampers: −v (b + b₁|v| + b₂ v²).
pub fn add_dampers<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], v: &[S], out: &mut [S]) {
    if !tree.options.dampers {
        return;
    }
    for i in 0..tree.nv {
        let damping = polynomial(c, layout.dof_damping, layout.dof_dampingpoly, i, v[i].abs());
        out[i] += -(v[i] * damping);
    }
}

/// Force along tendon `t`: its spring, slack between two lengths, and its damper.
pub(crate) fn tendon_force<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    t: usize,
    length: S,
    velocity: S,
) -> S {
    let mut force = S::zero();
    if tree.options.springs {
        let at = layout.tendon_lengthspring.at(t);
        let (lower, upper) = (c[at], c[at + 1]);
        let slack = S::select(length.lt(lower), length - lower, S::zero());
        let x = S::select(length.gt(upper), length - upper, slack);
        let k = polynomial(c, layout.tendon_stiffness, layout.tendon_stiffnesspoly, t, x);
        force += -(x * k);
    }
    if tree.options.dampers {
        let (linear, higher) = (layout.tendon_damping, layout.tendon_dampingpoly);
        force += -(velocity * polynomial(c, linear, higher, t, velocity.abs()));
    }
    force
}

/// Adds the forces of springs and dampers of tendons.
pub fn add_tendons<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    tendons: &Tendons<S>,
    out: &mut [S],
) {
    for t in 0..tree.tendons.len() {
        let force = tendon_force(tree, layout, c, t, tendons.length[t], tendons.velocity[t]);
        for at in tendons.entries(t) {
            out[tendons.dofs[at]] += tendons.jacobian[at] * force;
        }
    }
}

/// The force that takes weight off body `b`, at its centre of mass.
pub(crate) fn gravity_compensation<S: Scalar>(layout: &Layout, c: &[S], b: usize) -> Vec3<S> {
    let weight = c[layout.body_mass.at(b)] * c[layout.body_gravcomp.at(b)];
    vec3(c, layout.gravity, 0) * -weight
}

/// Adds the joint-space forces of the compensation of gravity.
pub fn add_gravity_compensation<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    out: &mut [S],
) {
    if !tree.options.gravity {
        return;
    }
    for (b, body) in tree.bodies.iter().enumerate() {
        if body.gravity_compensated {
            let force = gravity_compensation(layout, c, b);
            apply_force(tree, k, b, Force::at_point(force, k.xipos[b] - k.origin[b]), out);
        }
    }
}
