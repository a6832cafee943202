//! All elements of one kind in a body: assembly of an [`Element`] law over a mesh.
//!
//! Elements are evaluated on lanes into a buffer, a chunk of them at a time, and every vertex sums
//! its own slots in a fixed order: no races, and the same bits on any number of threads and on
//! every instruction set.

mod derive;
mod energy;
mod kernels;
mod mesh;
mod mode;
mod recorded;
mod recorded_graph;
#[cfg(test)]
mod tests;

pub use recorded::RecordedTetrahedra;

use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use self::kernels::{ForceKernel, Inputs, Outputs, PullKernel, PushKernel};
use self::mesh::{Chunk, Mesh};
use self::mode::run;
use super::element::{Element, Scope};
use super::parameter::Parameter;
use crate::force::{Adjoints, At, Force, Scratch, Tangents};

/// The elements of one kind, their stencils (global vertex indices) and where their parameters
/// and rest positions come from.
///
/// Constants are stored as a structure of arrays: constant `i` of element `e` at `i n + e`.
pub struct Block<L, const V: usize, const P: usize, const C: usize> {
    label: String,
    stencils: Vec<[u32; V]>,
    mesh: Mesh<V>,
    parameters: [Parameter; P],
    rest: RestPositions,
    total_mass: Option<usize>,
    drive: Option<Drive>,
    /// Which derivatives will be asked for, and the damping law.
    wanted: Scope,
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

/// Sums of chunks of elements at their vertices, and the adjoints of the driven constant.
#[derive(Default)]
struct Buffers {
    x: Vec<f64>,
    v: Vec<f64>,
    drive: Vec<f64>,
}

impl Buffers {
    fn of(scratch: &mut Scratch) -> &mut Self {
        if !scratch.is::<Self>() {
            *scratch = Box::new(Self::default());
        }
        scratch.downcast_mut().expect("the scratch was made one of this kind just before")
    }
}

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Block<L, V, P, C> {
    /// A block of elements.
    pub fn new(
        label: String,
        stencils: Vec<[u32; V]>,
        parameters: [Parameter; P],
        rest: RestPositions,
    ) -> Self {
        Self {
            label,
            mesh: Mesh::new(&stencils),
            stencils,
            parameters,
            rest,
            total_mass: None,
            drive: None,
            wanted: Scope::ALL,
            law: PhantomData,
        }
    }

    /// The masses that the law gives are relative: they are scaled so that their sum is the entry
    /// of θ at `total`.
    pub fn with_total_mass(mut self, total: Option<usize>) -> Self {
        self.total_mass = total;
        self
    }

    /// Chooses warp.sim's damping, for elements that know it.
    pub fn with_warp_damping(mut self, warp: bool) -> Self {
        self.wanted.warp = warp;
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

    /// Whether one of the constants `list` is not zero in `c`, a set of constants or of their
    /// tangents.
    fn any(&self, list: &[usize], c: &[f64]) -> bool {
        let n = self.len();
        let on = |&i: &usize| c[i * n..(i + 1) * n].iter().any(|&d| d != 0.0);
        !c.is_empty() && list.iter().any(on)
    }

    /// Whether there is damping.
    fn has_damping(&self, c: &[f64]) -> bool {
        L::dampers().is_empty() || self.any(L::dampers(), c)
    }

    /// What forces must include.
    fn scope(&self, c: &[f64]) -> Scope {
        Scope { damping: self.has_damping(c), air: self.any(L::AIR, c), ..self.wanted }
    }

    fn inputs<'a>(&'a self, c: &'a [f64], at: At<'a>, scope: Scope) -> Inputs<'a, V> {
        let drive = self.drive.map(|drive| (drive.constant, at.u[drive.input]));
        Inputs { mesh: &self.mesh, c, drive, x: at.x, v: at.v, scope }
    }

    /// Pairs every chunk of elements with its part of their sums.
    fn parts<'a>(
        &'a self,
        mut sums: &'a mut [f64],
    ) -> impl Iterator<Item = (&'a Chunk, &'a mut [f64])> {
        self.mesh.chunks().iter().map(move |chunk| (chunk, take(&mut sums, 3 * chunk.vertices())))
    }

    /// Runs `work` on every item, over threads where the mesh is large.
    fn each<T: Send>(&self, items: impl Iterator<Item = T>, work: impl Fn(T) + Sync + Send) {
        if self.mesh.is_spread() {
            items.collect::<Vec<T>>().into_par_iter().for_each(work);
        } else {
            items.for_each(work);
        }
    }
}

thread_local! {
    /// The buffers of the chunk that a thread is working on: they stay in its cache, and nothing is
    /// allocated in a step.
    static ELEMENTS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with `N` buffers of `len` numbers each.
fn with_buffers<const N: usize>(len: usize, work: impl FnOnce([&mut [f64]; N])) {
    ELEMENTS.with_borrow_mut(|all| {
        if all.len() < N * len {
            all.resize(N * len, 0.0);
        }
        let mut rest = &mut all[..];
        work(std::array::from_fn(|_| take(&mut rest, len)));
    });
}

/// Splits the first `len` numbers off, or all where there are fewer.
fn take<'a>(from: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
    let len = len.min(from.len());
    let (own, rest) = std::mem::take(from).split_at_mut(len);
    *from = rest;
    own
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
        Box::new(Buffers::default()) as Box<dyn Any + Send>
    }

    fn narrow(&mut self, wanted: &dyn Fn(usize) -> bool) {
        let any = |parameters: &[usize]| {
            let mut sources = parameters.iter().flat_map(|&i| self.parameters[i].sources());
            sources.any(|range| range.clone().any(wanted))
        };
        self.wanted = Scope {
            damping: L::damper_parameters().is_empty() || any(L::damper_parameters()),
            idle: false,
            air: any(L::AIR),
            rest: self.rest.range.clone().any(wanted),
            warp: self.wanted.warp,
        };
    }

    fn derive(&self, theta: &[f64], c: &mut [f64]) {
        self.derive_constants(theta, c);
    }
    fn derive_pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        self.derive_tangents(theta, theta_dot, c_dot);
    }
    fn derive_pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        self.derive_adjoints(theta, c_bar, theta_bar);
    }
    fn mass(&self, theta: &[f64], mass: &mut [f64]) {
        self.add_masses(theta, mass);
    }
    fn mass_pushforward(&self, theta: &[f64], theta_dot: &[f64], mass_dot: &mut [f64]) {
        self.add_mass_tangents(theta, theta_dot, mass_dot);
    }
    fn mass_pullback(&self, theta: &[f64], mass_bar: &[f64], theta_bar: &mut [f64]) {
        self.add_mass_adjoints(theta, mass_bar, theta_bar);
    }

    fn add_forces(&self, c: &[f64], at: At, f: &mut [f64], scratch: &mut Scratch) {
        let buffers = Buffers::of(scratch);
        let inputs = self.inputs(c, at, self.scope(c));
        buffers.x.resize(self.mesh.sums_len(), 0.0);
        self.each(self.parts(&mut buffers.x), |(chunk, sums)| {
            let elements = chunk.elements.clone();
            with_buffers(Mesh::<V>::buffer_len(&elements), |[out]| {
                let law = PhantomData::<L>;
                run::<L, _, V, P, C>(ForceKernel { inputs, elements, out: &mut *out, law });
                chunk.sum(out, sums);
            });
        });
        self.mesh.gather(&buffers.x, f);
    }

    fn pushforward(
        &self,
        c: &[f64],
        at: At,
        tangents: Tangents,
        f_dot: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let buffers = Buffers::of(scratch);
        let (len, nc, nu) = (at.x.len(), self.constants_len(), at.u.len());
        let column = |values: &'_ [f64], size: usize, k: usize| {
            if values.is_empty() { 0..0 } else { k * size..(k + 1) * size }
        };
        let c_dot = |k: usize| &tangents.c[column(tangents.c, nc, k)];
        let drive_dot = |k: usize| match self.drive {
            Some(drive) if !tangents.u.is_empty() => tangents.u[k * nu + drive.input],
            _ => 0.0,
        };
        let moving = |list: &[usize]| (0..tangents.columns).any(|k| self.any(list, c_dot(k)));
        let mut scope = self.scope(c);
        scope.damping |= moving(L::dampers());
        scope.air |= moving(L::AIR);
        let inputs = self.inputs(c, at, scope);
        buffers.x.resize(self.mesh.sums_len(), 0.0);
        for k in 0..tangents.columns {
            let x_dot = &tangents.x[column(tangents.x, len, k)];
            let v_dot = &tangents.v[column(tangents.v, len, k)];
            let (c_dot, drive_dot) = (c_dot(k), drive_dot(k));
            self.each(self.parts(&mut buffers.x), |(chunk, sums)| {
                let elements = chunk.elements.clone();
                with_buffers(Mesh::<V>::buffer_len(&elements), |[out]| {
                    let law = PhantomData::<L>;
                    run::<L, _, V, P, C>(PushKernel {
                        inputs,
                        elements,
                        x_dot,
                        v_dot,
                        c_dot,
                        drive_dot,
                        out: &mut *out,
                        law,
                    });
                    chunk.sum(out, sums);
                });
            });
            self.mesh.gather(&buffers.x, &mut f_dot[k * len..(k + 1) * len]);
        }
    }

    fn pullback(
        &self,
        c: &[f64],
        at: At,
        lambda: &[f64],
        adjoints: Adjoints,
        scratch: &mut Scratch,
    ) {
        let buffers = Buffers::of(scratch);
        let damped = self.has_damping(c);
        let damping = self.wanted.damping || damped;
        let air = self.wanted.air || self.any(L::AIR, c);
        let scope = Scope { damping, idle: damping && !damped, air, ..self.wanted };
        let inputs = self.inputs(c, at, scope);
        let (n, len) = (self.len(), self.mesh.sums_len());
        buffers.x.resize(len, 0.0);
        buffers.v.resize(if damped { len } else { 0 }, 0.0);
        buffers.drive.resize(if self.drive.is_some() { n } else { 0 }, 0.0);
        let mut rest = (&mut *buffers.x, &mut *buffers.v, &mut *buffers.drive);
        let mut rest_c: [&mut [f64]; C] = std::array::from_fn(|_| Default::default());
        for (slot, row) in rest_c.iter_mut().zip(adjoints.c.chunks_mut(n.max(1))) {
            *slot = row;
        }
        let parts = self.mesh.chunks().iter().map(|chunk| {
            let (count, size) = (chunk.elements.len(), 3 * chunk.vertices());
            let mut c: [&mut [f64]; C] = std::array::from_fn(|_| Default::default());
            for (part, rest) in c.iter_mut().zip(&mut rest_c) {
                *part = take(rest, count);
            }
            let sums = (take(&mut rest.0, size), take(&mut rest.1, size));
            (chunk, sums, c, take(&mut rest.2, count))
        });
        self.each(parts, |(chunk, (x_sums, v_sums), c, drive)| {
            let elements = chunk.elements.clone();
            with_buffers(Mesh::<V>::buffer_len(&elements), |[x, v]| {
                let out = Outputs { x: &mut *x, v: &mut *v, c, drive };
                let law = PhantomData::<L>;
                run::<L, _, V, P, C>(PullKernel { inputs, elements, lambda, out, law });
                chunk.sum(x, x_sums);
                if damped {
                    chunk.sum(v, v_sums);
                }
            });
        });
        self.mesh.gather(&buffers.x, adjoints.x);
        if damped {
            self.mesh.gather(&buffers.v, adjoints.v);
        }
        if let Some(drive) = self.drive {
            adjoints.u[drive.input] += buffers.drive.iter().sum::<f64>();
        }
    }

    fn fault(&self, c: &[f64], at: At) -> Option<String> {
        self.first_fault(c, at)
    }
    fn energy(&self, c: &[f64], at: At) -> f64 {
        self.total_energy(c, at)
    }
    fn energy_pullback(&self, c: &[f64], at: At, weight: f64, adjoints: Adjoints) {
        self.add_energy_adjoints(c, at, weight, adjoints);
    }
}
