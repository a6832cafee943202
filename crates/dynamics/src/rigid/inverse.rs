//! Inverse dynamics by recursive Newton-Euler: τ = M(q) a + c(q, v).
//!
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 5.3, with all vectors in world axes
//! about a point fixed in space, so that the recursions need no transforms. Gravity is an acceleration
//! of the world upwards.

use costate_num::Scalar;
use costate_num::spatial::{Force, Motion, RigidInertia};

use super::constants::Layout;
use super::kinematics::{Kinematics, vec3};
use super::tree::{Joint, JointKind, Tree};

/// The degrees of freedom of a joint that move together: the translations of a free joint come before
/// its rotations, all others are one group. The motions of a group are those of one frame: they are
/// turned by the group's own motion only where it is a rotation about all axes.
#[inline(always)]
pub(crate) fn groups(joint: &Joint) -> [(usize, usize); 2] {
    match joint.kind {
        JointKind::Free => [(joint.dof, joint.dof + 3), (joint.dof + 3, joint.dof + 6)],
        JointKind::Ball => [(joint.dof, joint.dof + 3), (0, 0)],
        JointKind::Slide | JointKind::Hinge => [(joint.dof, joint.dof + 1), (0, 0)],
    }
}

/// Σ Sₖ xₖ over a group.
#[inline(always)]
pub(crate) fn along<S: Scalar>(
    subspace: &[Motion<S>],
    x: &[S],
    group: (usize, usize),
) -> Motion<S> {
    let mut sum = subspace[group.0] * x[group.0];
    let mut k = group.0 + 1;
    while k < group.1 {
        sum += subspace[k] * x[k];
        k += 1;
    }
    sum
}

/// The acceleration of the world that acts as gravity.
#[inline(always)]
pub(crate) fn lift<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S]) -> Motion<S> {
    if tree.options.gravity {
        Motion::new(costate_num::Vec3::zero(), -vec3(c, layout.gravity, 0))
    } else {
        Motion::zero()
    }
}

/// Twist of every body for joint rates `x`: Σ Sₖ xₖ over all degrees of freedom at or above it.
pub fn twists<S: Scalar>(tree: &Tree, subspace: &[Motion<S>], x: &[S], out: &mut [Motion<S>]) {
    out[0] = Motion::zero();
    for b in 1..tree.bodies.len() {
        let body = &tree.bodies[b];
        let mut twist = out[body.parent];
        for k in body.dofs.clone() {
            twist += subspace[k] * x[k];
        }
        out[b] = twist;
    }
}

/// Velocity and acceleration of every body for joint velocities and accelerations; `a` may be empty for
/// zero. The acceleration of the world is given.
pub fn accelerations<S: Scalar>(
    tree: &Tree,
    subspace: &[Motion<S>],
    v: &[S],
    a: &[S],
    world: Motion<S>,
    velocity: &mut [Motion<S>],
    acceleration: &mut [Motion<S>],
) {
    velocity[0] = Motion::zero();
    acceleration[0] = world;
    for b in 1..tree.bodies.len() {
        let body = &tree.bodies[b];
        let (mut vb, mut ab) = (velocity[body.parent], acceleration[body.parent]);
        for j in body.joints.clone() {
            for group in groups(&tree.joints[j]) {
                if group.0 == group.1 {
                    continue;
                }
                let u = along(subspace, v, group);
                ab += vb.cross(u);
                vb += u;
                if !a.is_empty() {
                    ab += along(subspace, a, group);
                }
            }
        }
        velocity[b] = vb;
        acceleration[b] = ab;
    }
}

/// Force on every body that gives it its acceleration: I A + V ×* I V.
pub fn body_forces<S: Scalar>(
    inertias: &[RigidInertia<S>],
    velocity: &[Motion<S>],
    acceleration: &[Motion<S>],
    force: &mut [Force<S>],
) {
    force[0] = Force::zero();
    for b in 1..inertias.len() {
        let momentum = inertias[b].apply(velocity[b]);
        force[b] = inertias[b].apply(acceleration[b]) + velocity[b].cross_force(momentum);
    }
}

/// Sums forces on bodies over what hangs on each, in place, and adds their joint-space forces to `tau`.
pub fn gather<S: Scalar>(
    tree: &Tree,
    subspace: &[Motion<S>],
    force: &mut [Force<S>],
    tau: &mut [S],
) {
    for b in (1..tree.bodies.len()).rev() {
        let body = &tree.bodies[b];
        let total = force[b];
        for k in body.dofs.clone() {
            tau[k] += subspace[k].dot(total);
        }
        force[body.parent] += total;
    }
}

/// Adds the joint-space force of a force on one body, given about its tree's origin, to `tau`.
pub fn apply_force<S: Scalar>(
    tree: &Tree,
    k: &Kinematics<S>,
    body: usize,
    force: Force<S>,
    tau: &mut [S],
) {
    let mut next = tree.last_dof[body];
    while let Some(dof) = next {
        tau[dof] += k.subspace[dof].dot(force);
        next = tree.dof_parent[dof];
    }
}
