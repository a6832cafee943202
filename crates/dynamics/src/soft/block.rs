//! All elements of one kind in a body: assembly of an [`Element`] law over a mesh.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;

use costate_num::{Dual, DualN, Scalar, Vec3};

use super::element::{Element, dual3, tangent3};
use super::parameter::Parameter;
use crate::force::{Adjoints, At, Force, Scratch, Tangents};

/// The elements of one kind, their stencils (global vertex indices) and where their parameters
/// and rest positions come from.
///
/// Constants are stored as a structure of arrays: constant `i` of element `e` at `i n + e`.
pub struct Block<L, const V: usize, const P: usize, const C: usize> {
    label: String,
    stencils: Vec<[u32; V]>,
    parameters: [Parameter; P],
    /// Where in θ the rest position of global vertex 0 would be: `rest + 3 v`.
    rest: RestPositions,
    total_mass: Option<usize>,
    drive: Option<Drive>,
    law: PhantomData<L>,
}

/// An input channel of size 1 that is added to one constant of every element.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    /// The constant, counted within an element.
    pub constant: usize,
    /// The place among the inputs.
    pub input: usize,
}

/// Where rest positions lie in θ.
#[derive(Clone, Debug)]
pub struct RestPositions {
    /// Range of the leaf.
    pub range: Range<usize>,
    /// Global index of the body's first vertex.
    pub first_vertex: usize,
}

struct BlockScratch {
    _private: (),
}

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Block<L, V, P, C> {
    /// A block of elements.
    pub fn new(
        label: String,
        stencils: Vec<[u32; V]>,
        parameters: [Parameter; P],
        rest: RestPositions,
    ) -> Self {
        Self { label, stencils, parameters, rest, total_mass: None, drive: None, law: PhantomData }
    }

    /// The masses that the law gives are relative: they are scaled so that their sum is the entry
    /// of θ at `total`.
    pub fn with_total_mass(mut self, total: Option<usize>) -> Self {
        self.total_mass = total;
        self
    }

    /// Adds an input to one of the constants.
    pub fn with_drive(mut self, drive: Option<Drive>) -> Self {
        self.drive = drive;
        self
    }

    fn len(&self) -> usize {
        self.stencils.len()
    }

    fn rest_index(&self, vertex: u32) -> usize {
        self.rest.range.start + 3 * (vertex as usize - self.rest.first_vertex)
    }

    /// The constants of element `e`, with the input added to the one that it drives.
    fn constants<S: Scalar>(&self, c: &[f64], u: &[f64], e: usize) -> [S; C] {
        let n = self.len();
        let mut out = [S::zero(); C];
        for (i, slot) in out.iter_mut().enumerate() {
            *slot = S::splat(c[i * n + e]);
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
}

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Force
    for Block<L, V, P, C>
{
    fn label(&self) -> &str {
        &self.label
    }

    fn constants_len(&self) -> usize {
        C * self.len()
    }

    fn scratch(&self) -> Scratch {
        Box::new(BlockScratch { _private: () }) as Box<dyn Any + Send>
    }

    fn derive(&self, theta: &[f64], c: &mut [f64]) {
        let n = self.len();
        for e in 0..n {
            let values = L::derive(&self.rest_positions(theta, e), &self.parameters(theta, e));
            for (i, value) in values.iter().enumerate() {
                c[i * n + e] = *value;
            }
        }
    }

    fn derive_pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        let n = self.len();
        for e in 0..n {
            let (x, p) = self.dual_inputs(theta, theta_dot, e);
            for (i, value) in L::derive(&x, &p).iter().enumerate() {
                c_dot[i * n + e] = value.tangent[0];
            }
        }
    }

    fn derive_pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        let n = self.len();
        for e in 0..n {
            self.pull_inputs(theta, e, theta_bar, |x, p| {
                let mut slope = [0.0; 3];
                for (i, value) in L::derive(x, p).iter().enumerate() {
                    for (k, s) in slope.iter_mut().enumerate() {
                        *s += c_bar[i * n + e] * value.tangent[k];
                    }
                }
                slope
            });
        }
    }

    fn mass(&self, theta: &[f64], mass: &mut [f64]) {
        let scale = self.total_mass.map_or(1.0, |at| theta[at] / self.element_masses(theta));
        for e in 0..self.len() {
            let m = scale * self.element_mass(theta, e);
            for &vertex in &self.stencils[e] {
                mass[vertex as usize] += m / V as f64;
            }
        }
    }

    fn mass_pushforward(&self, theta: &[f64], theta_dot: &[f64], mass_dot: &mut [f64]) {
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

    fn mass_pullback(&self, theta: &[f64], mass_bar: &[f64], theta_bar: &mut [f64]) {
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

    fn add_forces(&self, c: &[f64], at: At, f: &mut [f64], _scratch: &mut Scratch) {
        for e in 0..self.len() {
            let force = L::force(&self.at(at.x, e), &self.at(at.v, e), &self.constants(c, at.u, e));
            self.add(e, &force, f);
        }
    }

    fn pushforward(
        &self,
        c: &[f64],
        at: At,
        tangents: Tangents,
        f_dot: &mut [f64],
        _scratch: &mut Scratch,
    ) {
        let (n, len, nc) = (self.len(), at.x.len(), self.constants_len());
        for k in 0..tangents.columns {
            let column = |values: &'_ [f64], size: usize| {
                if values.is_empty() { 0..0 } else { k * size..(k + 1) * size }
            };
            let x_dot = &tangents.x[column(tangents.x, len)];
            let v_dot = &tangents.v[column(tangents.v, len)];
            let c_dot = &tangents.c[column(tangents.c, nc)];
            let u_dot = &tangents.u[column(tangents.u, at.u.len())];
            for e in 0..n {
                let (x, v) = (self.at(at.x, e), self.at(at.v, e));
                let (dx, dv) = (self.at(x_dot, e), self.at(v_dot, e));
                let values: [f64; C] = self.constants(c, at.u, e);
                let mut xd = [Vec3::zero(); V];
                let mut vd = [Vec3::zero(); V];
                for i in 0..V {
                    xd[i] = dual3(x[i], dx[i]);
                    vd[i] = dual3(v[i], dv[i]);
                }
                let mut cd = [Dual::zero(); C];
                for i in 0..C {
                    let dot = if c_dot.is_empty() { 0.0 } else { c_dot[i * n + e] };
                    cd[i] = Dual::new(values[i], dot);
                }
                if let (Some(drive), false) = (self.drive, u_dot.is_empty()) {
                    cd[drive.constant].tangent[0] += u_dot[drive.input];
                }
                let force = L::force(&xd, &vd, &cd);
                let mut tangent = [Vec3::zero(); V];
                for i in 0..V {
                    tangent[i] = tangent3(force[i]);
                }
                self.add(e, &tangent, &mut f_dot[k * len..(k + 1) * len]);
            }
        }
    }

    fn pullback(
        &self,
        c: &[f64],
        at: At,
        lambda: &[f64],
        adjoints: Adjoints,
        _scratch: &mut Scratch,
    ) {
        let n = self.len();
        for e in 0..n {
            let values: [f64; C] = self.constants(c, at.u, e);
            let gradient =
                L::adjoint(&self.at(at.x, e), &self.at(at.v, e), &values, &self.at(lambda, e));
            self.add(e, &gradient.x, adjoints.x);
            if L::DISSIPATIVE {
                self.add(e, &gradient.v, adjoints.v);
            }
            for i in 0..C {
                adjoints.c[i * n + e] += gradient.c[i];
            }
            if let Some(drive) = self.drive {
                adjoints.u[drive.input] += gradient.c[drive.constant];
            }
        }
    }

    fn fault(&self, c: &[f64], at: At) -> Option<String> {
        let e = (0..self.len()).find(|&e| {
            let (x, v) = (self.at(at.x, e), self.at(at.v, e));
            let force = L::force(&x, &v, &self.constants::<f64>(c, at.u, e));
            force.iter().any(|f| !f.norm_squared().is_finite())
        })?;
        Some(format!("the force of {} number {e} (a {})", self.label, L::NAME))
    }

    fn energy(&self, c: &[f64], at: At) -> f64 {
        (0..self.len())
            .map(|e| L::energy(&self.at(at.x, e), &self.constants::<f64>(c, at.u, e)))
            .sum()
    }

    fn energy_pullback(&self, c: &[f64], at: At, weight: f64, adjoints: Adjoints) {
        let n = self.len();
        for e in 0..n {
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
                adjoints.c[i * n + e] += slope;
                if let Some(drive) = self.drive.filter(|drive| drive.constant == i) {
                    adjoints.u[drive.input] += slope;
                }
            }
        }
    }
}
