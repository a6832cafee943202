//! Total energy.

use costate_num::Vec3;

use super::coupled::add_energy;
use super::local::{Local, Moment, Observable};
use super::pull::{Rows, state};
use crate::force::At;

/// Σ m |v|²/2 − Σ m g·x + Σ Ψ, J, over all vertices, all forces that have a potential, and
/// the contact springs between vertices and articulated bodies.
pub(super) struct Energy;

impl Observable for Energy {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        let system = at.at.system;
        let layout = system.layout();
        let c = &at.at.c.values;
        let state = state(at);
        let here = At { x: &state.q, v: &state.v, u: at.at.u.now };
        let g = layout.gravity.start;
        let gravity = Vec3::new(c[g], c[g + 1], c[g + 2]);
        let mass = |i: u32| layout.vertex_mass.start + i as usize;
        let vertices = 0..system.vertex_count() as u32;
        let specific = |i: u32| at.v(i).norm_squared() * 0.5 - gravity.dot(at.x(i));
        for i in vertices.clone() {
            out.value[0] += c[mass(i)] * specific(i);
        }
        let forces = || system.forces().iter().zip(&layout.forces);
        for (force, range) in forces() {
            out.value[0] += force.energy(&c[range.clone()], here);
        }
        add_energy(at, out);
        if !at.derivatives {
            return;
        }
        let mut rows = Rows::new(at);
        for (force, range) in forces() {
            force.energy_pullback(&c[range.clone()], here, 1.0, rows.adjoints(0, range));
        }
        rows.collect(out);
        let row = |v: Vec3<f64>| [v.to_array(), [0.0; 3], [0.0; 3]];
        for i in vertices {
            let m = c[mass(i)];
            out.x.push((i, row(gravity * -m)));
            out.v.push((i, row(at.v(i) * m)));
            out.c.push((mass(i) as u32, [specific(i), 0.0, 0.0]));
            for (a, x) in at.x(i).to_array().into_iter().enumerate() {
                out.c.push(((g + a) as u32, [-m * x, 0.0, 0.0]));
            }
        }
    }
}
