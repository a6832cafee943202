//! Adjoints of passive forces.

use costate_num::spatial::Force;
use costate_num::{Quat, Vec3};

use super::adjoint::{Adjoint, Place};
use super::constants::Block;
use super::forward::At;
use super::kinematics::{quat_at, vec3};
use super::passive::{gravity_compensation, polynomial};
use super::rotation::right_jacobian_inverse;
use super::tendon::Tendons;
use super::tree::JointKind;

/// Adjoint of w·(−x (k + k₁ y + k₂ y²)) by the three coefficients, `wx` being w·x.
fn pull_polynomial(linear: Block, higher: Block, i: usize, wx: f64, y: f64, out: &mut Adjoint) {
    out.c[linear.at(i)] -= wx;
    let at = higher.at(i);
    out.c[at] -= wx * y;
    out.c[at + 1] -= wx * y * y;
}

/// d/dx of x (k + k₁ x + k₂ x²), given the block's numbers.
#[inline(always)]
pub(crate) fn polynomial_slope<S: costate_num::Scalar>(
    c: &[S],
    linear: Block,
    higher: Block,
    i: usize,
    x: S,
) -> S {
    let at = higher.at(i);
    c[linear.at(i)] + x * (c[at].scale(2.0) + x * c[at + 1].scale(3.0))
}

impl Place<'_> {
    /// Adds the adjoint of λᵀ(forces of joint springs).
    pub fn pull_springs(self, qpos: &[f64], lambda: &[f64], out: &mut Adjoint) {
        let Self { tree, layout, c, .. } = self;
        if !tree.options.springs {
            return;
        }
        let (linear, higher) = (layout.jnt_stiffness, layout.jnt_stiffnesspoly);
        for (j, joint) in tree.joints.iter().enumerate() {
            let (q, dof) = (joint.qpos, joint.dof);
            let rest = layout.qpos_spring.at(q);
            match joint.kind {
                JointKind::Slide | JointKind::Hinge => {
                    let x = qpos[q] - c[rest];
                    let slope = lambda[dof] * polynomial_slope(c, linear, higher, j, x);
                    out.q[dof] -= slope;
                    out.c[rest] += slope;
                    pull_polynomial(linear, higher, j, lambda[dof] * x, x, out);
                }
                JointKind::Ball => self.pull_turn(qpos, lambda, j, q, dof, out),
                JointKind::Free => {
                    let at = |i: usize| qpos[q + i] - c[rest + i];
                    let x = Vec3::new(at(0), at(1), at(2));
                    let bar = self.pull_vector(lambda, j, dof, x, out).to_array();
                    for i in 0..3 {
                        out.q[dof + i] += bar[i];
                        out.c[rest + i] -= bar[i];
                    }
                    self.pull_turn(qpos, lambda, j, q + 3, dof + 3, out);
                }
            }
        }
    }

    /// Adjoint of the displacement `x` in −λ·x (k + k₁|x| + k₂|x|²); adds those of the coefficients.
    fn pull_vector(
        self,
        lambda: &[f64],
        j: usize,
        dof: usize,
        x: Vec3<f64>,
        out: &mut Adjoint,
    ) -> Vec3<f64> {
        let Self { layout, c, .. } = self;
        let (linear, higher) = (layout.jnt_stiffness, layout.jnt_stiffnesspoly);
        let weight = Vec3::new(lambda[dof], lambda[dof + 1], lambda[dof + 2]);
        let (direction, length) = x.normalize();
        let wx = weight.dot(x);
        pull_polynomial(linear, higher, j, wx, length, out);
        let at = higher.at(j);
        let slope = c[at] + 2.0 * c[at + 1] * length;
        -(weight * polynomial(c, linear, higher, j, length)) - direction * (wx * slope)
    }

    fn pull_turn(
        self,
        qpos: &[f64],
        lambda: &[f64],
        j: usize,
        q: usize,
        dof: usize,
        out: &mut Adjoint,
    ) {
        let Self { layout, c, .. } = self;
        let at = layout.qpos_spring.at(q);
        let rest = quat_at(c, at);
        let turn = rest.conjugate().product(quat_at(qpos, q).normalize()).to_rotation_vector();
        let bar = self.pull_vector(lambda, j, dof, turn, out);
        let by_turn = right_jacobian_inverse(-turn, bar).to_array();
        for i in 0..3 {
            out.q[dof + i] += by_turn[i];
        }
        let by_rest = rest.product(Quat { w: 0.0, v: right_jacobian_inverse(turn, bar) * -2.0 });
        out.c[at] += by_rest.w;
        out.c[at + 1] += by_rest.v.x;
        out.c[at + 2] += by_rest.v.y;
        out.c[at + 3] += by_rest.v.z;
    }

    /// Adds the adjoint of λᵀ(forces of joint dampers).
    pub fn pull_dampers(self, v: &[f64], lambda: &[f64], out: &mut Adjoint) {
        let Self { tree, layout, c, .. } = self;
        if !tree.options.dampers {
            return;
        }
        let (linear, higher) = (layout.dof_damping, layout.dof_dampingpoly);
        for i in 0..tree.nv {
            out.v[i] -= lambda[i] * polynomial_slope(c, linear, higher, i, v[i].abs());
            pull_polynomial(linear, higher, i, lambda[i] * v[i], v[i].abs(), out);
        }
    }

    /// Adds the adjoint of λᵀ(forces of tendons' springs and dampers).
    pub fn pull_tendons(
        self,
        tendons: &Tendons<f64>,
        at: At<f64>,
        lambda: &[f64],
        scratch: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        for t in 0..tree.tendons.len() {
            let along: f64 =
                tendons.entries(t).map(|e| tendons.jacobian[e] * lambda[tendons.dofs[e]]).sum();
            let mut force = 0.0;
            let (mut by_length, mut by_velocity) = (0.0, 0.0);
            if tree.options.springs {
                let (linear, higher) = (layout.tendon_stiffness, layout.tendon_stiffnesspoly);
                let range = layout.tendon_lengthspring.at(t);
                let length = tendons.length[t];
                let bound = match length {
                    l if l > c[range + 1] => Some(range + 1),
                    l if l < c[range] => Some(range),
                    _ => None,
                };
                if let Some(bound) = bound {
                    let x = length - c[bound];
                    force -= x * polynomial(c, linear, higher, t, x);
                    by_length = -along * polynomial_slope(c, linear, higher, t, x);
                    out.c[bound] -= by_length;
                    pull_polynomial(linear, higher, t, along * x, x, out);
                }
            }
            if tree.options.dampers {
                let (linear, higher) = (layout.tendon_damping, layout.tendon_dampingpoly);
                let v = tendons.velocity[t];
                force -= v * polynomial(c, linear, higher, t, v.abs());
                by_velocity = -along * polynomial_slope(c, linear, higher, t, v.abs());
                pull_polynomial(linear, higher, t, along * v, v.abs(), out);
            }
            for (n, e) in tendons.entries(t).enumerate() {
                let dof = tendons.dofs[e];
                scratch[n] = force * lambda[dof] + by_velocity * at.qvel[dof];
                out.v[dof] += by_velocity * tendons.jacobian[e];
            }
            self.pull_tendon(tendons, t, at.qpos, by_length, scratch, out);
        }
    }

    /// Twist of a body for joint rates.
    pub fn twist(self, body: usize, rates: &[f64]) -> costate_num::spatial::Motion<f64> {
        let mut twist = costate_num::spatial::Motion::zero();
        let mut next = self.tree.last_dof[body];
        while let Some(dof) = next {
            twist += self.k.subspace[dof] * rates[dof];
            next = self.tree.dof_parent[dof];
        }
        twist
    }

    /// Adds the adjoint of λᵀ(compensation of gravity).
    pub fn pull_gravity_compensation(
        self,
        qpos: &[f64],
        lambda: &[f64],
        placement: bool,
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        if !tree.options.gravity {
            return;
        }
        let gravity = vec3(c, layout.gravity, 0);
        for (b, body) in tree.bodies.iter().enumerate() {
            if !body.gravity_compensated {
                continue;
            }
            let force = gravity_compensation(layout, c, b);
            let r = k.xipos[b] - k.origin[b];
            let twist = self.twist(b, lambda);
            let speed = twist.linear + twist.angular.cross(r);
            let by_point = force.cross(twist.angular);
            let (mass, share) = (layout.body_mass.at(b), layout.body_gravcomp.at(b));
            let fall = gravity.dot(speed);
            out.c[mass] -= c[share] * fall;
            out.c[share] -= c[mass] * fall;
            out.add3(layout.gravity, 0, speed * -(c[mass] * c[share]));
            out.add3(layout.body_ipos, b, k.xmat[b].apply_transposed(by_point));
            let displaced = Force::at_point(by_point, r);
            let force = Force::at_point(force, r);
            self.pull_chain(b, force, lambda, displaced, qpos, placement, &mut [], out);
        }
    }
}
