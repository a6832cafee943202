//! Acceleration of a point, from the forces.

use costate_num::Vec3;

use super::centre_of_mass::CentreOfMass;
use super::local::{Local, Moment, Observable};
use super::pull::{Rows, state};
use crate::system::Motion;

/// Acceleration, m/s²: Σ wᵢ aᵢ over vertices with a = M⁻¹ f + g − α v for a free vertex and
/// zero for a fixed one, at the interpolated state. Inputs act with their values at the step's
/// start, as in the step itself.
pub(super) enum Acceleration {
    /// Of a fixed combination of vertices.
    Weighted(Vec<(u32, f64)>),
    /// Of a centre of mass, whose weights follow the masses.
    CentreOfMass(CentreOfMass),
}

impl Observable for Acceleration {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        let system = at.at.system;
        let layout = system.layout();
        let c = &at.at.c.values;
        let state = state(at);
        let mut ws = system.workspace();
        system.net_forces(at.at.c, &state, at.at.u.now, &mut ws);
        let g = layout.gravity.start;
        let gravity = Vec3::new(c[g], c[g + 1], c[g + 2]);
        let inverse = |i: u32| layout.inverse_mass.start + i as usize;
        let alpha = |i: u32| layout.mass_damping.start + system.body_of[i as usize] as usize;
        let force = |i: u32| {
            let j = 3 * i as usize;
            Vec3::new(ws.force[j], ws.force[j + 1], ws.force[j + 2])
        };
        let free = |i: u32| system.motion[i as usize] == Motion::Free;
        let acceleration = |i: u32| {
            if free(i) {
                force(i) * c[inverse(i)] + gravity - at.v(i) * c[alpha(i)]
            } else {
                Vec3::zero()
            }
        };
        let weights = match self {
            Self::Weighted(weights) => weights.clone(),
            Self::CentreOfMass(centre) => centre.mean(at, acceleration, out),
        };
        let mut sum = Vec3::zero();
        for &(i, w) in &weights {
            sum += acceleration(i) * w;
        }
        out.value = sum.to_array();
        if !at.derivatives {
            return;
        }
        let mut rows = Rows::new(at);
        let pushed: Vec<(u32, f64)> = weights
            .iter()
            .filter(|(i, _)| free(*i))
            .map(|&(i, w)| (i, w * c[inverse(i)]))
            .collect();
        rows.pull_forces(at, &state, &pushed, 0..system.forces().len());
        rows.collect(out);
        for load in &system.loads {
            let share = 1.0 / load.vertices.len() as f64;
            let on_load = pushed.iter().filter(|(i, _)| load.vertices.contains(i));
            let weight: f64 = on_load.map(|(_, w)| w * share).sum();
            if weight != 0.0 {
                for a in 0..3 {
                    let mut slope = [0.0; 3];
                    slope[a] = weight;
                    out.u.push(((load.input + a) as u32, slope));
                }
            }
        }
        for &(i, w) in weights.iter().filter(|(i, _)| free(*i)) {
            out.c.push((inverse(i) as u32, (force(i) * w).to_array()));
            out.c.push((alpha(i) as u32, (at.v(i) * -w).to_array()));
            out.v_weights.push((i, -w * c[alpha(i)]));
            for a in 0..3 {
                let mut slope = [0.0; 3];
                slope[a] = w;
                out.c.push(((g + a) as u32, slope));
            }
        }
    }
}
