//! Constants and masses of a block as functions of θ.

use costate_num::{Dual, DualN, Scalar, Vec3};

use super::Block;
use super::mesh::{CHUNK, WIDTH};
use crate::soft::element::{Element, dual3};

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Block<L, V, P, C> {
    fn rest_index(&self, vertex: u32) -> usize {
        self.rest.range.start + 3 * (vertex as usize - self.rest.first_vertex)
    }

    fn rest_positions(&self, theta: &[f64], e: usize) -> [Vec3<f64>; V] {
        let mut out = [Vec3::zero(); V];
        for (slot, &vertex) in out.iter_mut().zip(&self.stencils[e]) {
            let i = self.rest_index(vertex);
            *slot = Vec3::new(theta[i], theta[i + 1], theta[i + 2]);
        }
        out
    }

    fn parameters(&self, theta: &[f64], e: usize) -> [f64; P] {
        let mut out = [0.0; P];
        for (slot, parameter) in out.iter_mut().zip(&self.parameters) {
            *slot = parameter.value(theta, e);
        }
        out
    }

    fn element_mass(&self, theta: &[f64], e: usize) -> f64 {
        L::mass(&self.rest_positions(theta, e), &self.parameters(theta, e))
    }

    fn element_masses(&self, theta: &[f64]) -> f64 {
        (0..self.len()).map(|e| self.element_mass(theta, e)).sum()
    }

    /// Rest positions and parameters of element `e` with their tangents.
    fn dual_inputs(
        &self,
        theta: &[f64],
        theta_dot: &[f64],
        e: usize,
    ) -> ([Vec3<Dual<f64>>; V], [Dual<f64>; P]) {
        let (rest, rest_dot) = (self.rest_positions(theta, e), self.rest_positions(theta_dot, e));
        let mut x = [Vec3::zero(); V];
        for i in 0..V {
            x[i] = dual3(rest[i], rest_dot[i]);
        }
        let mut p = [Dual::zero(); P];
        for (slot, parameter) in p.iter_mut().zip(&self.parameters) {
            *slot = Dual::new(parameter.value(theta, e), parameter.tangent(theta, theta_dot, e));
        }
        (x, p)
    }

    /// Adds the derivative of Σ bar·function(rest, p) at element `e` to θ̄, three dual directions
    /// (one vertex) or one parameter at a time.
    fn pull_inputs(
        &self,
        theta: &[f64],
        e: usize,
        theta_bar: &mut [f64],
        contract: impl Fn(&[Vec3<DualN<f64, 3>>; V], &[DualN<f64, 3>; P]) -> [f64; 3],
    ) {
        let rest = self.rest_positions(theta, e);
        let values = self.parameters(theta, e);
        let mut x = [Vec3::zero(); V];
        for i in 0..V {
            x[i] = Vec3::new(
                DualN::constant(rest[i].x),
                DualN::constant(rest[i].y),
                DualN::constant(rest[i].z),
            );
        }
        let mut p = [DualN::zero(); P];
        for i in 0..P {
            p[i] = DualN::constant(values[i]);
        }
        for i in 0..V {
            let mut moved = x;
            moved[i] = Vec3::new(
                DualN::variable(rest[i].x, 0),
                DualN::variable(rest[i].y, 1),
                DualN::variable(rest[i].z, 2),
            );
            let slope = contract(&moved, &p);
            let at = self.rest_index(self.stencils[e][i]);
            for k in 0..3 {
                theta_bar[at + k] += slope[k];
            }
        }
        for start in (0..P).step_by(3) {
            let mut moved = p;
            for k in 0..3.min(P - start) {
                moved[start + k] = DualN::variable(values[start + k], k);
            }
            let slope = contract(&x, &moved);
            for k in 0..3.min(P - start) {
                self.parameters[start + k].pullback(theta, slope[k], theta_bar, e);
            }
        }
    }

    /// Writes the constants of every element, `values` at each; the last group is filled up with the last
    /// element's.
    fn write(&self, c: &mut [f64], values: impl Fn(usize) -> [f64; C]) {
        let n = self.len();
        for e in 0..n {
            let values = values(e);
            for (i, &value) in values.iter().enumerate() {
                let at = self.places.at(i, e);
                if self.places.is_shared(i) {
                    // The first element of each chunk writes it for all.
                    if e.is_multiple_of(CHUNK) {
                        c[at..at + WIDTH].fill(value);
                    }
                } else if e + 1 == n {
                    c[at..at + WIDTH - e % WIDTH].fill(value);
                } else {
                    c[at] = value;
                }
            }
        }
    }

    pub(super) fn derive_constants(&self, theta: &[f64], c: &mut [f64]) {
        self.write(c, |e| L::derive(&self.rest_positions(theta, e), &self.parameters(theta, e)));
    }

    pub(super) fn derive_tangents(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        self.write(c_dot, |e| {
            let (x, p) = self.dual_inputs(theta, theta_dot, e);
            L::derive(&x, &p).map(|value| value.tangent[0])
        });
    }

    pub(super) fn derive_adjoints(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        for e in 0..self.len() {
            self.pull_inputs(theta, e, theta_bar, |x, p| {
                let mut slope = [0.0; 3];
                for (i, value) in L::derive(x, p).iter().enumerate() {
                    if self.places.is_shared(i) {
                        continue;
                    }
                    let bar = c_bar[self.places.at(i, e)];
                    for (k, s) in slope.iter_mut().enumerate() {
                        *s += bar * value.tangent[k];
                    }
                }
                slope
            });
        }
        for i in (0..C).filter(|&i| self.places.is_shared(i)) {
            if let Some(parameter) = L::copied(i).map(|at| &self.parameters[at]) {
                let bar = self.places.groups(i).flat_map(|group| &c_bar[group]).sum();
                parameter.pullback(theta, bar, theta_bar, 0);
            }
        }
    }

    pub(super) fn add_masses(&self, theta: &[f64], mass: &mut [f64]) {
        let scale = self.total_mass.map_or(1.0, |at| theta[at] / self.element_masses(theta));
        for e in 0..self.len() {
            let m = scale * self.element_mass(theta, e);
            for &vertex in &self.stencils[e] {
                mass[vertex as usize] += m / V as f64;
            }
        }
    }

    pub(super) fn add_mass_tangents(&self, theta: &[f64], theta_dot: &[f64], mass_dot: &mut [f64]) {
        let element = |e: usize| {
            let (x, p) = self.dual_inputs(theta, theta_dot, e);
            L::mass(&x, &p)
        };
        let scale = self.total_mass.map_or(Dual::one(), |at| {
            let mut sum = Dual::zero();
            for e in 0..self.len() {
                sum += element(e);
            }
            Dual::new(theta[at], theta_dot[at]) / sum
        });
        for e in 0..self.len() {
            let m = scale * element(e);
            for &vertex in &self.stencils[e] {
                mass_dot[vertex as usize] += m.tangent[0] / V as f64;
            }
        }
    }

    pub(super) fn add_mass_adjoints(&self, theta: &[f64], mass_bar: &[f64], theta_bar: &mut [f64]) {
        let bar = |e: usize| {
            self.stencils[e].iter().map(|&v| mass_bar[v as usize]).sum::<f64>() / V as f64
        };
        // With a total M, element e weighs mₑ M/Σm: its adjoint is that of mₑ less the mean.
        let (mut scale, mut mean) = (1.0, 0.0);
        if let Some(at) = self.total_mass {
            let sum = self.element_masses(theta);
            scale = theta[at] / sum;
            mean = (0..self.len()).map(|e| bar(e) * self.element_mass(theta, e)).sum::<f64>() / sum;
            theta_bar[at] += mean;
        }
        for e in 0..self.len() {
            let bar = scale * (bar(e) - mean);
            self.pull_inputs(theta, e, theta_bar, |x, p| {
                let m = L::mass(x, p);
                [bar * m.tangent[0], bar * m.tangent[1], bar * m.tangent[2]]
            });
        }
    }
}
