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
mod places;
mod recorded;
mod recorded_graph;
#[cfg(test)]
mod tests;

pub use recorded::{RecordedSprings, RecordedTetrahedra};

use std::any::Any;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use self::kernels::{ForceKernel, Inputs, Outputs, PullKernel, PushKernel};
use self::mesh::{Chunk, Mesh};
use self::mode::run;
use self::places::{Bars, Places};
use super::element::{Element, Scope};
use super::parameter::Parameter;
use crate::force::{Adjoints, At, Force, Scratch, Tangents};

/// The elements of one kind, their stencils (global vertex indices) and where their parameters
/// and rest positions come from.
pub struct Block<L, const V: usize, const P: usize, const C: usize> {
    label: String,
    stencils: Vec<[u32; V]>,
    mesh: Mesh<V>,
    places: Places<C>,
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
    /// Forces on the vertices, of laws whose adjoints come without.
    force: Vec<f64>,
}

/// What the adjoint of a chunk of elements writes to.
struct Part<'a, const C: usize> {
    chunk: &'a Chunk,
    /// Sums at its vertices of the adjoints of positions, and of work.
    x: &'a mut [f64],
    /// Those of velocities; empty without damping.
    v: &'a mut [f64],
    /// Adjoints of the constants of its elements.
    c: Bars<'a, C>,
    /// Of the driven constant by itself; empty where none is.
    drive: &'a mut [f64],
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
        let is_shared = |i| L::copied(i).is_some_and(|at| parameters[at].is_uniform());
        Self {
            label,
            mesh: Mesh::new(&stencils),
            places: Places::new(stencils.len(), is_shared),
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
        let on = |group: Range<usize>| c[group].iter().any(|&d| d != 0.0);
        !c.is_empty() && list.iter().any(|&i| self.places.groups(i).any(on))
    }

    /// Whether there is damping.
    fn has_damping(&self, c: &[f64]) -> bool {
        L::dampers().is_empty() || self.any(L::dampers(), c)
    }

    /// What forces must include.
    fn scope(&self, c: &[f64]) -> Scope {
        Scope { damping: self.has_damping(c), air: self.any(L::AIR, c), ..self.wanted }
    }

    fn inputs<'a>(&'a self, c: &'a [f64], at: At<'a>, scope: Scope) -> Inputs<'a, V, C> {
        let drive = self.drive.map(|drive| (drive.constant, at.u[drive.input]));
        Inputs { mesh: &self.mesh, places: &self.places, c, drive, x: at.x, v: at.v, scope }
    }

    /// The tangent of the driven constant, for that of the inputs.
    fn drive_tangent(&self, u_dot: &[f64]) -> f64 {
        self.drive.and_then(|drive| u_dot.get(drive.input)).copied().unwrap_or(0.0)
    }

    /// Gives every chunk of elements its part of the sums at vertices, of the adjoints of the
    /// constants and of the driven one.
    fn pull_parts<'a>(
        &'a self,
        buffers: &'a mut Buffers,
        c: &'a mut [f64],
        damped: bool,
    ) -> impl Iterator<Item = Part<'a, C>> {
        let len = self.mesh.sums_len();
        buffers.x.resize(len, 0.0);
        buffers.v.resize(if damped { len } else { 0 }, 0.0);
        let (mut x, mut v, mut drive) = (&mut *buffers.x, &mut *buffers.v, &mut *buffers.drive);
        self.mesh.chunks().iter().zip(self.places.chunks(c)).map(move |(chunk, c)| {
            let (count, size) = (chunk.elements.len(), chunk.sums_len());
            let (x, v, drive) = (take(&mut x, size), take(&mut v, size), take(&mut drive, count));
            Part { chunk, x, v, c, drive }
        })
    }

    /// Pairs every chunk of elements with its part of their sums.
    fn parts<'a>(
        &'a self,
        mut sums: &'a mut [f64],
    ) -> impl Iterator<Item = (&'a Chunk, &'a mut [f64])> {
        self.mesh.chunks().iter().map(move |chunk| (chunk, take(&mut sums, chunk.sums_len())))
    }

    /// Evaluates the elements chunk by chunk into their buffers, and adds what is there to the vertices.
    fn assemble(
        &self,
        sums: &mut Vec<f64>,
        to: &mut [f64],
        evaluate: impl Fn(Range<usize>, &mut [f64]) + Sync + Send,
    ) {
        if let [only] = self.mesh.chunks() {
            with_buffers(Mesh::<V>::buffer_len(&only.elements), |[out]| {
                evaluate(only.elements.clone(), out);
                only.add(out, to, &mut []);
            });
            return;
        }
        sums.resize(self.mesh.sums_len(), 0.0);
        self.each(self.parts(sums), |(chunk, sums)| {
            with_buffers(Mesh::<V>::buffer_len(&chunk.elements), |[out]| {
                evaluate(chunk.elements.clone(), out);
                chunk.sum(out, sums);
            });
        });
        self.mesh.gather(sums, to);
    }

    /// As [`assemble`](Self::assemble), of adjoints: `evaluate` is given a chunk's part and its buffers for positions
    /// and velocities, the latter where there is damping. With `work`, scalars of the former are added to it.
    fn assemble_adjoints(
        &self,
        buffers: &mut Buffers,
        adjoints: Adjoints,
        damped: bool,
        evaluate: impl Fn(&Chunk, Bars<C>, &mut [f64], [&mut [f64]; 2]) + Sync + Send,
    ) {
        let Adjoints { x: to_x, v: to_v, u, c, work } = adjoints;
        let drive_len = if self.drive.is_some() { self.len() } else { 0 };
        buffers.drive.resize(drive_len, 0.0);
        if let [only] = self.mesh.chunks() {
            with_buffers(Mesh::<V>::buffer_len(&only.elements), |[x, v]| {
                evaluate(only, self.places.bars(c), &mut buffers.drive, [&mut *x, &mut *v]);
                only.add(x, to_x, work);
                if damped {
                    only.add(v, to_v, &mut []);
                }
            });
        } else {
            let parts = self.pull_parts(buffers, c, damped);
            self.each(parts, |Part { chunk, x: x_sums, v: v_sums, c, drive }| {
                with_buffers(Mesh::<V>::buffer_len(&chunk.elements), |[x, v]| {
                    evaluate(chunk, c, drive, [&mut *x, &mut *v]);
                    chunk.sum(x, x_sums);
                    if damped {
                        chunk.sum(v, v_sums);
                    }
                });
            });
            self.mesh.gather(&buffers.x, to_x);
            if damped {
                self.mesh.gather(&buffers.v, to_v);
            }
            if !work.is_empty() {
                self.mesh.gather_work(&buffers.x, work);
            }
        }
        if let Some(drive) = self.drive {
            u[drive.input] += buffers.drive.iter().sum::<f64>();
        }
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

/// Bytes of a cache line.
const LINE: usize = 64;

/// Calls `work` with `N` buffers of `len` numbers each, which start with a cache line.
fn with_buffers<const N: usize>(len: usize, work: impl FnOnce([&mut [f64]; N])) {
    const NUMBERS: usize = LINE / size_of::<f64>();
    let padded = len.next_multiple_of(NUMBERS);
    ELEMENTS.with_borrow_mut(|all| {
        if all.len() < N * padded + NUMBERS {
            all.resize(N * padded + NUMBERS, 0.0);
        }
        let first = all.as_ptr().align_offset(LINE).min(NUMBERS);
        let mut rest = &mut all[first..];
        work(std::array::from_fn(|_| &mut take(&mut rest, padded)[..len]));
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
        self.places.len()
    }

    fn scratch(&self) -> Scratch {
        Box::new(Buffers::default()) as Box<dyn Any + Send>
    }

    fn constant_at(&self, element: usize, constant: usize) -> Option<usize> {
        (element < self.len() && constant < C).then(|| self.places.at(constant, element))
    }

    fn narrow(&mut self, wanted: &dyn Fn(usize) -> bool) {
        let any = |parameters: &[usize]| {
            let mut sources = parameters.iter().flat_map(|&i| self.parameters[i].sources());
            sources.any(|range| range.clone().any(wanted))
        };
        let rest = self.rest.range.clone().any(wanted);
        self.wanted = Scope {
            damping: L::damper_parameters().is_empty() || any(L::damper_parameters()),
            idle: false,
            air: any(L::AIR),
            constants: rest || any(&std::array::from_fn::<usize, P, _>(|i| i)),
            rest,
            work: false,
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
        let inputs = self.inputs(c, at, self.scope(c));
        self.assemble(&mut Buffers::of(scratch).x, f, |elements, out| {
            let law = PhantomData::<L>;
            run::<L, _, V, P, C>(ForceKernel { inputs, elements, out, law });
        });
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
        let len = at.x.len();
        let column = |k: usize| tangents.column(k, at, self.constants_len());
        let moving = |list: &[usize]| (0..tangents.columns).any(|k| self.any(list, column(k).c));
        let mut scope = self.scope(c);
        scope.damping |= moving(L::dampers());
        scope.air |= moving(L::AIR);
        let inputs = self.inputs(c, at, scope);
        for k in 0..tangents.columns {
            let Tangents { x: x_dot, v: v_dot, c: c_dot, u: u_dot, .. } = column(k);
            let drive_dot = self.drive_tangent(u_dot);
            self.assemble(&mut buffers.x, &mut f_dot[k * len..(k + 1) * len], |elements, out| {
                let law = PhantomData::<L>;
                run::<L, _, V, P, C>(PushKernel {
                    inputs,
                    elements,
                    x_dot,
                    v_dot,
                    c_dot,
                    drive_dot,
                    out,
                    law,
                });
            });
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
        let damped = self.has_damping(c);
        let damping = self.wanted.damping || damped;
        let air = self.wanted.air || self.any(L::AIR, c);
        let work = !adjoints.work.is_empty();
        let scope = Scope { damping, idle: damping && !damped, air, work, ..self.wanted };
        let inputs = self.inputs(c, at, scope);
        self.assemble_adjoints(
            Buffers::of(scratch),
            adjoints,
            damped,
            |chunk, c, drive, [x, v]| {
                let (elements, law) = (chunk.elements.clone(), PhantomData::<L>);
                let out = Outputs { x, v, c, drive };
                run::<L, _, V, P, C>(PullKernel { inputs, elements, lambda, out, law });
            },
        );
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
