//! What contacts with articulated bodies add to the largest rates of the explicit step.
//!
//! A contact of stiffness k between a vertex of mass m and a body is the rate k (1/m + w), where w bounds
//! the inverse mass of the body where its geom is: that of its centre, and that of its rotation over the
//! geom's reach. Where n vertices touch one geom at once the body meets all their springs: k (1/m + n w), a
//! bound on the eigenvalues by the sums of rows. Those that touch at the state are counted, one at least.

use costate_model::State;
use costate_num::Vec3;
use costate_num::spatial::Force;

use super::{Coupling, CouplingScratch, Here, plain, pose};
use crate::constants::Constants;
use crate::contact::constants::LOAD;
use crate::contact::force::rates;
use crate::rigid::Dynamics;
use crate::rigid::inverse::apply_force;
use crate::system::System;

/// Largest sum of absolute values of a row.
fn largest_row(m: &[[f64; 3]; 3]) -> f64 {
    m.iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

impl Coupling {
    /// Bounds of the inverse mass of the body of a surface; zero for what cannot move.
    fn inverse_mass(&self, at: Here, dynamics: &Dynamics<f64>, surface: usize) -> f64 {
        let s = &self.surfaces[surface];
        let k = &dynamics.kinematics;
        let body = at.tree.geoms[s.geom].body;
        let pose = pose(at, k, s.geom);
        let arm = pose.pos - k.origin[body];
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from_array);
        let column = |force: Force<f64>| {
            let mut tau = vec![0.0; at.tree.nv];
            apply_force(at.tree, k, body, force, &mut tau);
            tau
        };
        let block = |columns: [Vec<f64>; 3]| {
            let solved = columns.clone().map(|mut tau| {
                dynamics.factors.solve(at.tree, &mut tau);
                tau
            });
            let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
            [0, 1, 2].map(|i: usize| [0, 1, 2].map(|j: usize| dot(&columns[i], &solved[j])))
        };
        let moved = largest_row(&block(axes.map(|e| column(Force::at_point(e, arm)))));
        let reach = s.pair.reach(&pose.size).unwrap_or(0.0);
        let turned = largest_row(&block(axes.map(|e| column(Force::new(e, Vec3::zero())))));
        moved + reach * reach * turned
    }
}

impl System {
    /// For every surface of articulated bodies that vertices may touch: whether any does at the state, the
    /// largest stiffness and damping over mass, 1/s² and 1/s, and a description.
    pub(crate) fn coupled_rates(
        &self,
        c: &Constants,
        state: &State,
        scratch: &mut CouplingScratch,
    ) -> Vec<(bool, f64, f64, String)> {
        let (Some(coupling), Some(at)) = (&self.coupling, self.coupled_at(c, state)) else {
            return Vec::new();
        };
        coupling.find(at, scratch);
        let mut dynamics = Dynamics::new(at.tree);
        dynamics.update_position(at.tree, at.layout, at.rigid, at.qpos());
        dynamics.update_mass(at.tree, at.layout, at.rigid);
        dynamics.factors.entries.copy_from_slice(&dynamics.mass.entries);
        if dynamics.factors.factorise(at.tree).is_some() {
            // The step itself tells which joint moves no inertia.
            return Vec::new();
        }
        let vertices = &c.values[self.layout.inverse_mass.clone()];
        let each = |(surface, s): (usize, &super::Surfaced)| {
            let touching = scratch.touching.iter().filter(|t| t.surface == surface).count();
            let body = coupling.inverse_mass(at, &dynamics, surface) * touching.max(1) as f64;
            let own = &at.own[s.constants.clone()];
            let masses = vertices.iter().filter(|w| **w > 0.0).map(|&w| [w, w + body]);
            let (k, d, what) = rates(&plain(own), s.pair.friction(), own[LOAD], masses);
            let what = format!("the {what} of the contact of soft bodies with geom.{}", s.name);
            (touching > 0, k, d, what)
        };
        coupling.surfaces.iter().enumerate().map(each).collect()
    }
}
