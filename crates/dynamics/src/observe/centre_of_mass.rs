//! Centre of mass of some vertices.

use costate_num::Vec3;

use super::local::{Local, Moment};

/// The vertices whose masses count.
#[derive(Clone, Debug)]
pub(super) struct CentreOfMass {
    pub vertices: Vec<u32>,
}

impl CentreOfMass {
    /// Writes Σ m r / Σ m for a quantity r per vertex with its derivatives by the masses, and
    /// returns those by r, the weights m / Σ m. Where nothing weighs, the plain mean.
    pub fn mean(
        &self,
        at: &Moment,
        quantity: impl Fn(u32) -> Vec3<f64>,
        out: &mut Local,
    ) -> Vec<(u32, f64)> {
        let first = at.at.system.layout().vertex_mass.start;
        let mass = |i: u32| at.at.c.values[first + i as usize];
        let total: f64 = self.vertices.iter().map(|&i| mass(i)).sum();
        let share = |i: u32| {
            if total > 0.0 { mass(i) / total } else { 1.0 / self.vertices.len() as f64 }
        };
        let mut mean = Vec3::zero();
        for &i in &self.vertices {
            mean += quantity(i) * share(i);
        }
        out.value = mean.to_array();
        if at.derivatives && total > 0.0 {
            for &i in &self.vertices {
                let slope = (quantity(i) - mean) * (1.0 / total);
                out.c.push(((first + i as usize) as u32, slope.to_array()));
            }
        }
        self.vertices.iter().map(|&i| (i, share(i))).collect()
    }

    /// Writes the position.
    pub fn position(&self, at: &Moment, out: &mut Local) {
        out.x_weights = self.mean(at, |i| at.x(i), out);
    }

    /// Writes the velocity.
    pub fn velocity(&self, at: &Moment, out: &mut Local) {
        out.v_weights = self.mean(at, |i| at.v(i), out);
    }
}
