//! The adjoint of λᵀM a: the sweep of inverse dynamics ([`Sweep::pull`]) without velocities and gravity.

use costate_num::spatial::{Force, Motion, RigidInertia};

use super::adjoint::{Adjoint, Place, Sweep, Wanted};
use super::inverse::{along, groups, twists};

impl Sweep {
    /// Adds the adjoint of λᵀM a by configuration and constants to `out`, armature of tendons left out.
    pub fn pull_mass(
        &mut self,
        place: Place,
        inertias: &[RigidInertia<f64>],
        [lambda, a]: [&[f64]; 2],
        qpos: &[f64],
        wanted: Wanted,
        out: &mut Adjoint,
    ) {
        let Place { tree, layout, k, .. } = place;
        twists(tree, &k.subspace, lambda, &mut self.lambda);
        twists(tree, &k.subspace, a, &mut self.acceleration);
        (self.by_lambda[0], self.by_acceleration[0]) = (Force::zero(), Force::zero());
        for b in 1..tree.bodies.len() {
            let (w, a) = (self.lambda[b], self.acceleration[b]);
            self.by_lambda[b] = inertias[b].apply(a);
            self.by_acceleration[b] = inertias[b].apply(w);
            if wanted.inertial {
                pull_inertia(place, b, [w, a], out);
            }
        }
        for i in 0..tree.nv {
            out.c[layout.dof_armature.at(i)] += lambda[i] * a[i];
        }
        self.pull_mass_inward(place, [lambda, a], qpos, wanted, out);
    }

    fn pull_mass_inward(
        &mut self,
        place: Place,
        [lambda, acceleration]: [&[f64]; 2],
        qpos: &[f64],
        wanted: Wanted,
        out: &mut Adjoint,
    ) {
        let Place { tree, k, .. } = place;
        for b in (1..tree.bodies.len()).rev() {
            let body = &tree.bodies[b];
            let parent = body.parent;
            let (mut w, mut a) = (self.lambda[b], self.acceleration[b]);
            let (f, p) = (self.by_lambda[b], self.by_acceleration[b]);
            let mut total = Force::zero();
            for j in body.joints.clone().rev() {
                for group in groups(&tree.joints[j]).into_iter().rev() {
                    if group.0 == group.1 {
                        continue;
                    }
                    if group.0 == body.dofs.start {
                        (w, a) = (self.lambda[parent], self.acceleration[parent]);
                    } else {
                        w -= along(&k.subspace, lambda, group);
                        a -= along(&k.subspace, acceleration, group);
                    }
                    total = -(w.cross_force(f) + a.cross_force(p));
                    let mut by_motion = [Force::zero(); 3];
                    for dof in group.0..group.1 {
                        out.q[dof] += k.subspace[dof].dot(total);
                        if wanted.placement {
                            by_motion[dof - group.0] = f * lambda[dof] + p * acceleration[dof];
                        }
                    }
                    let motions = &by_motion[..group.1 - group.0];
                    place.pull_joint(j, total, motions, wanted.placement, qpos, out);
                }
            }
            if wanted.placement {
                if body.joints.is_empty() {
                    total = -(w.cross_force(f) + a.cross_force(p));
                }
                place.pull_body(b, total, out);
            }
            self.by_lambda[parent] += f;
            self.by_acceleration[parent] += p;
        }
    }
}

/// Adjoints of mass, centre of mass and inertia tensor of body `b` in W·I A.
fn pull_inertia(place: Place, b: usize, [w, a]: [Motion<f64>; 2], out: &mut Adjoint) {
    let Place { layout, c, k, .. } = place;
    let r = k.xipos[b] - k.origin[b];
    let frame = k.xmat[b];
    let w_linear = w.linear + w.angular.cross(r);
    let a_linear = a.linear + a.angular.cross(r);
    let [wr, ar] = [w, a].map(|motion| frame.apply_transposed(motion.angular));
    let at = layout.body_mass.at(b);
    out.c[at] += w_linear.dot(a_linear);
    let by_moment = a_linear.cross(w.angular) - a.angular.cross(w_linear);
    out.add3(layout.body_ipos, b, frame.apply_transposed(by_moment) * c[at]);
    let at = layout.body_inertia.at(b);
    let bar = &mut out.c[at..at + 6];
    bar[0] += wr.x * ar.x;
    bar[1] += wr.x * ar.y + wr.y * ar.x;
    bar[2] += wr.y * ar.y;
    bar[3] += wr.x * ar.z + wr.z * ar.x;
    bar[4] += wr.y * ar.z + wr.z * ar.y;
    bar[5] += wr.z * ar.z;
}
