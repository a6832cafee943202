//! The adjoint of the energy of springs.

use costate_num::{Quat, Vec3};

use super::adjoint::{Adjoint, Place};
use super::constants::Block;
use super::forward::Dynamics;
use super::kinematics::quat_at;
use super::passive::{add_springs, polynomial};
use super::tree::JointKind;

impl Place<'_> {
    /// Adds the adjoint of `y` times the energy of the springs.
    pub(super) fn pull_spring_energy(
        self,
        d: &Dynamics<f64>,
        qpos: &[f64],
        y: f64,
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        let mut force = vec![0.0; tree.nv];
        add_springs(tree, layout, c, qpos, &mut force);
        let blocks = (layout.jnt_stiffness, layout.jnt_stiffnesspoly);
        for (j, joint) in tree.joints.iter().enumerate() {
            let (q, dof) = (joint.qpos, joint.dof);
            let plain = match joint.kind {
                JointKind::Slide | JointKind::Hinge => 1,
                JointKind::Free => 3,
                JointKind::Ball => 0,
            };
            let shift = |i: usize| qpos[q + i] - c[layout.qpos_spring.at(q + i)];
            match plain {
                1 => pull_energy(blocks, j, shift(0), y, out),
                3 => {
                    pull_energy(blocks, j, Vec3::new(shift(0), shift(1), shift(2)).norm(), y, out);
                }
                _ => {}
            }
            for i in 0..plain {
                out.q[dof + i] -= y * force[dof + i];
                out.c[layout.qpos_spring.at(q + i)] += y * force[dof + i];
            }
            if plain == 1 {
                continue;
            }
            let (at, first) = (layout.qpos_spring.at(q + plain), dof + plain);
            let rest = quat_at(c, at);
            let quat = quat_at(qpos, q + plain).normalize();
            let turn = rest.conjugate().product(quat).to_rotation_vector();
            pull_energy(blocks, j, turn.norm(), y, out);
            // Along its own axis a rotation vector changes with a turn as it stands.
            let torque = Vec3::new(force[first], force[first + 1], force[first + 2]) * y;
            for (i, x) in torque.to_array().into_iter().enumerate() {
                out.q[first + i] -= x;
            }
            let bar = rest.product(Quat { w: 0.0, v: torque * 2.0 });
            for (i, x) in [bar.w, bar.v.x, bar.v.y, bar.v.z].into_iter().enumerate() {
                out.c[at + i] += x;
            }
        }
        let blocks = (layout.tendon_stiffness, layout.tendon_stiffnesspoly);
        for t in 0..tree.tendons.len() {
            let range = layout.tendon_lengthspring.at(t);
            let length = d.tendons.length[t];
            let bound = match length {
                l if l > c[range + 1] => range + 1,
                l if l < c[range] => range,
                _ => continue,
            };
            let x = length - c[bound];
            pull_energy(blocks, t, x, y, out);
            let slope = y * x * polynomial(c, blocks.0, blocks.1, t, x);
            out.c[bound] -= slope;
            let none = vec![0.0; d.tendons.entries(t).len()];
            self.pull_tendon(&d.tendons, t, qpos, slope, &none, out);
        }
    }
}

/// Adds the adjoint of `y` times ½k x² + ⅓k₁x³ + ¼k₂x⁴ by the coefficients.
fn pull_energy((linear, higher): (Block, Block), i: usize, x: f64, y: f64, out: &mut Adjoint) {
    let at = higher.at(i);
    out.c[linear.at(i)] += y * 0.5 * x * x;
    out.c[at] += y * x * x * x / 3.0;
    out.c[at + 1] += y * 0.25 * x * x * x * x;
}
