//! Net force of a geom on vertices.

use super::local::{Local, Moment, Observable};
use super::pull::{Rows, state};
use crate::force::At;

/// Sum of the forces, N, that one geom exerts on some vertices at the interpolated state.
pub(super) struct ContactForce {
    /// Index of the force among the system's.
    pub force: usize,
    /// The vertices, each with weight one.
    pub vertices: Vec<(u32, f64)>,
}

impl Observable for ContactForce {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        let system = at.at.system;
        let state = state(at);
        let force = &system.forces()[self.force];
        let c = &at.at.c.values[system.layout().forces[self.force].clone()];
        let mut f = vec![0.0; system.dof()];
        let here = At { x: &state.q, v: &state.v, u: at.at.u.now };
        force.add_forces(c, here, &mut f, &mut force.scratch());
        for &(i, _) in &self.vertices {
            for a in 0..3 {
                out.value[a] += f[3 * i as usize + a];
            }
        }
        if at.derivatives {
            let mut rows = Rows::new(at);
            rows.pull_forces(at, &state, &self.vertices, std::iter::once(self.force));
            rows.collect(out);
        }
    }
}
