//! Configurations moved by velocities, and differences of configurations.

use costate_num::{Quat, Scalar, Vec3};

use super::kinematics::quat_at;
use super::rotation::{right_jacobian, right_jacobian_transposed};
use super::tree::{JointKind, Tree};

fn put<S: Scalar>(q: Quat<S>, out: &mut [S]) {
    out[0] = q.w;
    out[1] = q.v.x;
    out[2] = q.v.y;
    out[3] = q.v.z;
}

/// Where a joint's quaternion is among its coordinates and its rotation among its velocities.
fn rotation_of(kind: JointKind) -> Option<usize> {
    match kind {
        JointKind::Free => Some(3),
        JointKind::Ball => Some(0),
        JointKind::Slide | JointKind::Hinge => None,
    }
}

/// How many plain coordinates a joint has, before its quaternion.
fn plain(kind: JointKind) -> usize {
    rotation_of(kind).unwrap_or(1)
}

fn triple<S: Scalar>(v: &[S], at: usize) -> Vec3<S> {
    Vec3::new(v[at], v[at + 1], v[at + 2])
}

/// The configuration reached from `qpos` by `displacement` (velocity times time): translations add,
/// orientations turn in the axes of the moved body, q exp(ω).
pub fn displace<S: Scalar>(tree: &Tree, qpos: &[S], displacement: &[S], out: &mut [S]) {
    for joint in &tree.joints {
        let (q, d) = (joint.qpos, joint.dof);
        for i in 0..plain(joint.kind) {
            out[q + i] = qpos[q + i] + displacement[d + i];
        }
        if let Some(at) = rotation_of(joint.kind) {
            let turn = Quat::from_rotation_vector(triple(displacement, d + at));
            let quat = quat_at(qpos, q + at).normalize().product(turn).normalize();
            put(quat, &mut out[q + at..q + at + 4]);
        }
    }
}

/// The displacement that takes `from` to `to`: the inverse of [`displace`].
pub fn difference<S: Scalar>(tree: &Tree, from: &[S], to: &[S], out: &mut [S]) {
    for joint in &tree.joints {
        let (q, d) = (joint.qpos, joint.dof);
        for i in 0..plain(joint.kind) {
            out[d + i] = to[q + i] - from[q + i];
        }
        if let Some(at) = rotation_of(joint.kind) {
            let turn = quat_at(from, q + at).conjugate().product(quat_at(to, q + at));
            out[d + at..d + at + 3].copy_from_slice(&turn.to_rotation_vector().to_array());
        }
    }
}

/// Tangent of [`displace`], in tangent spaces: from those of configuration (in place) and displacement.
pub(crate) fn push_displace(tree: &Tree, displacement: &[f64], dot: &[f64], q_dot: &mut [f64]) {
    for joint in &tree.joints {
        let d = joint.dof;
        for i in 0..plain(joint.kind) {
            q_dot[d + i] += dot[d + i];
        }
        if let Some(at) = rotation_of(joint.kind) {
            let omega = triple(displacement, d + at);
            let back = Quat::from_rotation_vector(-omega);
            let moved =
                back.rotate(triple(q_dot, d + at)) + right_jacobian(omega, triple(dot, d + at));
            q_dot[d + at..d + at + 3].copy_from_slice(&moved.to_array());
        }
    }
}

/// Adjoint of [`displace`]: that of the configuration in place; that of the displacement is written.
pub(crate) fn pull_displace(tree: &Tree, displacement: &[f64], q_bar: &mut [f64], bar: &mut [f64]) {
    for joint in &tree.joints {
        let d = joint.dof;
        let straight = d..d + plain(joint.kind);
        bar[straight.clone()].copy_from_slice(&q_bar[straight]);
        if let Some(at) = rotation_of(joint.kind) {
            let omega = triple(displacement, d + at);
            let by = triple(q_bar, d + at);
            let turn = right_jacobian_transposed(omega, by);
            let own = Quat::from_rotation_vector(omega).rotate(by);
            bar[d + at..d + at + 3].copy_from_slice(&turn.to_array());
            q_bar[d + at..d + at + 3].copy_from_slice(&own.to_array());
        }
    }
}

/// A configuration with the tangent `q_dot` of its tangent space, by its coordinates: plain numbers as
/// they are, quaternions q ⊗ (0, ω/2).
pub fn lift_tangent(tree: &Tree, qpos: &[f64], q_dot: &[f64], out: &mut [f64]) {
    for joint in &tree.joints {
        let (q, d) = (joint.qpos, joint.dof);
        out[q..q + plain(joint.kind)].copy_from_slice(&q_dot[d..d + plain(joint.kind)]);
        if let Some(at) = rotation_of(joint.kind) {
            let half = Quat { w: 0.0, v: triple(q_dot, d + at) * 0.5 };
            let rate = quat_at(qpos, q + at).normalize().product(half);
            put(rate, &mut out[q + at..q + at + 4]);
        }
    }
}

/// The adjoint in tangent space of an adjoint by coordinates: the transpose of [`lift_tangent`].
pub fn lower_adjoint(tree: &Tree, qpos: &[f64], by_qpos: &[f64], out: &mut [f64]) {
    for joint in &tree.joints {
        let (q, d) = (joint.qpos, joint.dof);
        for i in 0..plain(joint.kind) {
            out[d + i] += by_qpos[q + i];
        }
        if let Some(at) = rotation_of(joint.kind) {
            let quat = quat_at(qpos, q + at).normalize();
            let local = quat.conjugate().product(quat_at(by_qpos, q + at)).v * 0.5;
            for (slot, x) in out[d + at..d + at + 3].iter_mut().zip(local.to_array()) {
                *slot += x;
            }
        }
    }
}
