//! Directions in which tests move a state.

use costate_dynamics::rigid::{JointKind, Tree};
use costate_num::{Dual, Quat, Vec3};

/// A number between −1 and 1, another for each seed and index.
pub fn wave(seed: usize, i: usize) -> f64 {
    (1.7 * i as f64 + 0.9 * seed as f64 + 0.3).sin()
}

/// `n` of them.
pub fn waves(seed: usize, n: usize) -> Vec<f64> {
    (0..n).map(|i| wave(seed, i)).collect()
}

/// The configuration moved in the tangent direction `by`, as duals.
pub fn moved(tree: &Tree, qpos: &[f64], by: &[f64]) -> Vec<Dual<f64>> {
    let mut q: Vec<Dual<f64>> = qpos.iter().map(|x| Dual::constant(*x)).collect();
    for joint in &tree.joints {
        let (mut at, mut dof) = (joint.qpos, joint.dof);
        if joint.kind == JointKind::Free {
            for k in 0..3 {
                q[at + k].tangent[0] = by[dof + k];
            }
            (at, dof) = (at + 3, dof + 3);
        }
        if matches!(joint.kind, JointKind::Free | JointKind::Ball) {
            let now = Quat::new(qpos[at], qpos[at + 1], qpos[at + 2], qpos[at + 3]);
            let half = Vec3::new(by[dof], by[dof + 1], by[dof + 2]) * 0.5;
            let rate = now.product(Quat { w: 0.0, v: half });
            for (k, x) in [rate.w, rate.v.x, rate.v.y, rate.v.z].into_iter().enumerate() {
                q[at + k].tangent[0] = x;
            }
        } else {
            q[at].tangent[0] = by[dof];
        }
    }
    q
}
