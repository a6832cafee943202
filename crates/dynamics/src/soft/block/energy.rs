//! What is asked of a block outside the step: its energy, and which element is at fault.

use costate_num::{Dual, Scalar, Vec3};

use super::Block;
use crate::force::{Adjoints, At};
use crate::soft::element::{Element, dual3};

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Block<L, V, P, C> {
    /// The constants of element `e`, with the input added to the one that it drives.
    fn constants<S: Scalar>(&self, c: &[f64], u: &[f64], e: usize) -> [S; C] {
        let mut out = [S::zero(); C];
        for (i, slot) in out.iter_mut().enumerate() {
            *slot = S::splat(c[self.places.at(i, e)]);
        }
        if let Some(drive) = self.drive {
            out[drive.constant] += S::splat(u[drive.input]);
        }
        out
    }

    fn at(&self, values: &[f64], e: usize) -> [Vec3<f64>; V] {
        let mut out = [Vec3::zero(); V];
        for (slot, &vertex) in out.iter_mut().zip(&self.stencils[e]) {
            let i = 3 * vertex as usize;
            *slot = Vec3::new(values[i], values[i + 1], values[i + 2]);
        }
        out
    }

    fn add(&self, e: usize, values: &[Vec3<f64>; V], to: &mut [f64]) {
        for (value, &vertex) in values.iter().zip(&self.stencils[e]) {
            let i = 3 * vertex as usize;
            to[i] += value.x;
            to[i + 1] += value.y;
            to[i + 2] += value.z;
        }
    }

    pub(super) fn first_fault(&self, c: &[f64], at: At) -> Option<String> {
        let e = (0..self.len()).find(|&e| {
            let (x, v) = (self.at(at.x, e), self.at(at.v, e));
            let force = L::force(&x, &v, &self.constants::<f64>(c, at.u, e));
            force.iter().any(|f| !f.norm_squared().is_finite())
        })?;
        Some(format!("the force of {} number {e} (a {})", self.label, L::NAME))
    }

    pub(super) fn total_energy(&self, c: &[f64], at: At) -> f64 {
        (0..self.len())
            .map(|e| L::energy(&self.at(at.x, e), &self.constants::<f64>(c, at.u, e)))
            .sum()
    }

    pub(super) fn add_energy_adjoints(&self, c: &[f64], at: At, weight: f64, adjoints: Adjoints) {
        for e in 0..self.len() {
            let x = self.at(at.x, e);
            let values: [f64; C] = self.constants(c, at.u, e);
            let mut xd = [Vec3::zero(); V];
            for i in 0..V {
                xd[i] = dual3(x[i], Vec3::zero());
            }
            let mut cd = [Dual::zero(); C];
            for i in 0..C {
                cd[i] = Dual::constant(values[i]);
            }
            let mut gradient = [Vec3::zero(); V];
            for i in 0..V {
                let mut slope = [0.0; 3];
                for (k, s) in slope.iter_mut().enumerate() {
                    let mut moved = xd;
                    let mut direction = [0.0; 3];
                    direction[k] = 1.0;
                    moved[i] = dual3(x[i], Vec3::from_array(direction));
                    *s = weight * L::energy(&moved, &cd).tangent[0];
                }
                gradient[i] = Vec3::from_array(slope);
            }
            self.add(e, &gradient, adjoints.x);
            for i in 0..C {
                let mut moved = cd;
                moved[i] = Dual::variable(values[i], 0);
                let slope = weight * L::energy(&xd, &moved).tangent[0];
                adjoints.c[self.places.at(i, e)] += slope;
                if let Some(drive) = self.drive.filter(|drive| drive.constant == i) {
                    adjoints.u[drive.input] += slope;
                }
            }
        }
    }
}
