//! Rows of limits: of scalar joints, of the angle of ball joints, of tendons.

use costate_num::{Scalar, Vec3};

use super::build::{Constraints, Item, RowInputs, RowState, Source};
use super::law::Law;
use super::pullback::{RowAdjoints, RowSeeds, Shape};
use crate::rigid::collision::Real;
use crate::rigid::kinematics::quat_at;
use crate::rigid::transport::Motions;
use crate::rigid::tree::JointKind;

/// Angle and axis of a ball joint, in the axes of the moved body.
pub(super) fn ball_angle<S: Scalar>(qpos: &[S], at: usize) -> (Vec3<S>, S) {
    quat_at(qpos, at).normalize().to_rotation_vector().normalize()
}

/// Adds the rows of all limits that act: joints, then tendons.
pub(super) fn add_rows<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>) {
    for (j, joint) in at.tree.joints.iter().enumerate() {
        if !joint.limited {
            continue;
        }
        match joint.kind {
            JointKind::Slide | JointKind::Hinge => {
                for upper in [false, true] {
                    add_joint(out, at, j, upper);
                }
            }
            JointKind::Ball => add_ball(out, at, j),
            JointKind::Free => {}
        }
    }
    for (t, tendon) in at.tree.tendons.iter().enumerate() {
        if tendon.limited {
            for upper in [false, true] {
                add_tendon(out, at, t, upper);
            }
        }
    }
}

fn add_joint<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>, j: usize, upper: bool) {
    let (layout, c, joint) = (at.layout, at.c, &at.tree.joints[j]);
    let sign = if upper { -1.0 } else { 1.0 };
    let bound = c[layout.jnt_range.at(j) + usize::from(upper)];
    let distance = (at.qpos[joint.qpos] - bound).scale(sign);
    let margin = c[layout.jnt_margin.at(j)];
    if !distance.lt(margin) {
        return;
    }
    out.begin(Source::JointLimit { joint: j, upper });
    out.rows.entry(joint.dof, S::splat(sign));
    let p = at.parameters(layout.jnt_solref, layout.jnt_solimp, j);
    let state = RowState {
        position: distance - margin,
        velocity: at.qvel[joint.dof].scale(sign),
        bias: S::zero(),
        diagonal: c[layout.dof_invweight0.at(joint.dof)],
    };
    let response = p.response(state.position, at.least_time_constant());
    out.push(at, Law::Unilateral, response, state, S::zero());
}

fn add_ball<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>, j: usize) {
    let (layout, c, joint) = (at.layout, at.c, &at.tree.joints[j]);
    let (axis, angle) = ball_angle(at.qpos, joint.qpos);
    let range = layout.jnt_range.at(j);
    let distance = c[range + 1].max(c[range]) - angle;
    let margin = c[layout.jnt_margin.at(j)];
    if !distance.lt(margin) {
        return;
    }
    out.begin(Source::BallLimit(j));
    let mut velocity = S::zero();
    for (k, x) in axis.to_array().into_iter().enumerate() {
        out.rows.entry(joint.dof + k, -x);
        velocity += -(x * at.qvel[joint.dof + k]);
    }
    let p = at.parameters(layout.jnt_solref, layout.jnt_solimp, j);
    let state = RowState {
        position: distance - margin,
        velocity,
        bias: S::zero(),
        diagonal: c[layout.dof_invweight0.at(joint.dof)],
    };
    let response = p.response(state.position, at.least_time_constant());
    out.push(at, Law::Unilateral, response, state, S::zero());
}

fn add_tendon<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>, t: usize, upper: bool) {
    let (layout, c, tendons) = (at.layout, at.c, &at.dynamics.tendons);
    let sign = if upper { -1.0 } else { 1.0 };
    let bound = c[layout.tendon_range.at(t) + usize::from(upper)];
    let distance = (tendons.length[t] - bound).scale(sign);
    let margin = c[layout.tendon_margin.at(t)];
    if !distance.lt(margin) {
        return;
    }
    out.begin(Source::TendonLimit { tendon: t, upper });
    for k in tendons.entries(t) {
        out.rows.entry(tendons.dofs[k], tendons.jacobian[k].scale(sign));
    }
    let p = at.parameters(layout.tendon_solref_lim, layout.tendon_solimp_lim, t);
    let state = RowState {
        position: distance - margin,
        velocity: tendons.velocity[t].scale(sign),
        bias: S::zero(),
        diagonal: c[layout.tendon_invweight0.at(t)],
    };
    let response = p.response(state.position, at.least_time_constant());
    out.push(at, Law::Unilateral, response, state, S::zero());
}

/// Adjoint of a ball joint's limit, whose Jacobian is minus the axis n of its rotation: along a
/// tangent δ the angle θ grows by n·δ, and the axis turns by ½ n × δ + ½ cot(θ/2) (δ − n n·δ).
pub(super) fn pull_ball(
    constraints: &Constraints<f64>,
    at: RowInputs<f64>,
    motions: Motions,
    item: Item,
    j: usize,
    seeds: RowSeeds,
    bar: &mut RowAdjoints,
) {
    let (layout, joint) = (at.layout, &at.tree.joints[j]);
    let blocks = (layout.jnt_solref, layout.jnt_solimp);
    let by = constraints.pull_group(at, item, blocks, j, Shape::Own, seeds, bar)[0];
    let (axis, angle) = ball_angle(at.qpos, joint.qpos);
    let dof = joint.dof;
    let of = |x: &[f64]| Vec3::new(x[dof], x[dof + 1], x[dof + 2]);
    let (f, w) = (seeds.force[item.row], seeds.weight[item.row]);
    let by_axis = of(motions.a) * w - of(motions.lambda) * f - of(motions.v) * by.velocity;
    let (sine, cosine) = (0.5 * angle).sin_cos();
    // At angle zero the axis is zero and stays so.
    let slope = if sine == 0.0 { 0.0 } else { 0.5 * cosine / sine };
    let across = by_axis - axis * axis.dot(by_axis);
    let by_q = by_axis.cross(axis) * 0.5 + across * slope - axis * by.position;
    for (k, (q, n)) in by_q.to_array().into_iter().zip(axis.to_array()).enumerate() {
        bar.q[dof + k] += q;
        bar.v[dof + k] -= by.velocity * n;
    }
    let range = layout.jnt_range.at(j);
    let larger = usize::from(at.c[range + 1] >= at.c[range]);
    bar.c[range + larger] += by.position;
    bar.c[layout.jnt_margin.at(j)] -= by.position;
    bar.c[layout.dof_invweight0.at(dof)] += by.diagonal;
}
