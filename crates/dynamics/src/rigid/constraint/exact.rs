//! Adjoints of the exact diagonal of J M⁻¹Jᵀ (MuJoCo's flag `diagexact`).
//!
//! A row's entry is δ = J u with M u = Jᵀ. Its differential is 2 dJ u − uᵀ dM u: the first term is that of a row
//! of force 2 along the rates u, the second one sweep of inverse dynamics, so that no factorisation is
//! differentiated.

use costate_num::spatial::Motion;

use super::build::RowInputs;
use super::pullback::{RowAdjoints, RowSeeds};
use super::stage::{ConstraintStage, pull_spatial_tendons};
use crate::rigid::adjoint::Adjoint;
use crate::rigid::inverse::twists;
use crate::rigid::transport::{BodyAdjoint, Motions, TransportAdjoints};

impl ConstraintStage {
    /// Adds what Jacobians have of the adjoints of diagonals that the last pullback of rows has left, and gives
    /// each of these with its u, for −uᵀ dM u.
    pub(in crate::rigid) fn pull_diagonals(
        &mut self,
        at: RowInputs<f64>,
        out: &mut Adjoint,
    ) -> Vec<(f64, Vec<f64>)> {
        let (m, nv, n) = (self.constraints.rows.len(), at.tree.nv, at.tree.bodies.len());
        let mut columns = Vec::new();
        if self.diagonal.iter().all(|bar| *bar == 0.0) {
            return columns;
        }
        let (still, zeros) = (vec![Motion::zero(); n], vec![0.0; nv]);
        let (none, cones) = (vec![0.0; m], self.constraints.rows.cones.len());
        let (no_mu, no_friction) = (vec![0.0; cones], vec![[0.0; 5]; cones]);
        let (mut force, mut twist) = (vec![0.0; m], still.clone());
        let (bodies, tendons) = (&mut self.bodies, &mut self.tendons);
        bodies.resize(n, BodyAdjoint::zero());
        for item in &self.constraints.items {
            for row in item.row..item.row + item.count {
                let bar = self.diagonal[row];
                if bar == 0.0 {
                    continue;
                }
                let mut u = vec![0.0; nv];
                self.constraints.rows.add_transposed(row, 1.0, &mut u);
                at.dynamics.factors.solve(at.tree, &mut u);
                twists(at.tree, &at.dynamics.kinematics.subspace, &u, &mut twist);
                let motions = Motions {
                    v: &zeros,
                    a: &zeros,
                    lambda: &u,
                    velocity: &still,
                    acceleration: &still,
                    lambda_twist: &twist,
                    push_twist: &still,
                };
                force[row] = 2.0 * bar;
                let seeds = RowSeeds {
                    force: &force,
                    weight: &none,
                    mass: &none,
                    loss: &none,
                    mu: &no_mu,
                    friction: &no_friction,
                    position: &[],
                    rate: &[],
                };
                bodies.fill(BodyAdjoint::zero());
                let Adjoint { q, v, c, .. } = &mut *out;
                let mut to =
                    RowAdjoints { q, v, c, bodies: &mut *bodies, tendons, diagonal: &mut [] };
                self.constraints.pull_item(at, motions, *item, seeds, &mut to);
                force[row] = 0.0;
                pull_spatial_tendons(at, tendons, out);
                let k = &at.dynamics.kinematics;
                let mut to = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
                let (tree, layout) = (at.tree, at.layout);
                self.transport.run(tree, layout, at.c, k, at.qpos, motions, bodies, &mut to);
                columns.push((bar, u));
            }
        }
        columns
    }
}
