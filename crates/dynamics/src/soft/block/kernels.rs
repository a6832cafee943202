//! The inner loops of a block, on lanes.

use std::marker::PhantomData;
use std::ops::Range;

use costate_num::{Dual, Lanes, Scalar, Vec3};

use super::mesh::{Mesh, WIDTH, store};
use super::mode::{self, Modal};
use crate::soft::element::{Element, Scope, dual3, tangent3};

/// The state and constants that elements are evaluated at.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, const V: usize> {
    pub mesh: &'a Mesh<V>,
    /// Constants: `i` of element `e` at `i n + e`.
    pub c: &'a [f64],
    /// A constant and what is added to it.
    pub drive: Option<(usize, f64)>,
    pub x: &'a [f64],
    pub v: &'a [f64],
    pub scope: Scope,
}

/// The last constants of each kind, where fewer than [`WIDTH`] are left, padded by repetition.
struct Tail<const C: usize> {
    rows: [[f64; WIDTH]; C],
    start: usize,
}

impl<const C: usize> Tail<C> {
    #[inline(always)]
    fn new(values: &[f64], n: usize) -> Self {
        let start = n / WIDTH * WIDTH;
        let mut rows = [[0.0; WIDTH]; C];
        if start < n && !values.is_empty() {
            let mut i = 0;
            while i < C {
                let mut lane = 0;
                while lane < WIDTH {
                    let e = if start + lane < n { start + lane } else { n - 1 };
                    rows[i][lane] = values[i * n + e];
                    lane += 1;
                }
                i += 1;
            }
        }
        Self { rows, start }
    }

    /// Constants of the elements from `e` on.
    #[inline(always)]
    fn load<S: Lanes>(&self, values: &[f64], n: usize, e: usize) -> [S; C] {
        let mut out = [S::zero(); C];
        let (from, stride) = if e < self.start {
            (&values[e..], n)
        } else {
            (&self.rows.as_flattened()[e - self.start..], WIDTH)
        };
        let mut i = 0;
        while i < C {
            out[i] = S::load(&from[i * stride..]);
            i += 1;
        }
        out
    }
}

impl<const V: usize> Inputs<'_, V> {
    #[inline(always)]
    fn constants<S: Lanes, const C: usize>(&self, tail: &Tail<C>, e: usize) -> [S; C] {
        let mut c = tail.load(self.c, self.mesh.count(), e);
        if let Some((constant, value)) = self.drive {
            c[constant] += S::splat(value);
        }
        c
    }

    #[inline(always)]
    fn velocities<S: Lanes>(&self, e: usize, scope: Scope) -> [Vec3<S>; V] {
        if scope.damping { self.mesh.load(self.v, e) } else { [Vec3::zero(); V] }
    }
}

/// Forces into a buffer.
pub(super) struct ForceKernel<'a, L, const V: usize, const P: usize, const C: usize> {
    pub inputs: Inputs<'a, V>,
    pub elements: Range<usize>,
    pub out: &'a mut [f64],
    pub law: PhantomData<L>,
}

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Modal
    for ForceKernel<'_, L, V, P, C>
{
    const SPLIT: bool = true;
    const ADJOINT: bool = false;
    const AIR: bool = !L::AIR.is_empty();
    fn scope(&self) -> Scope {
        self.inputs.scope
    }
    #[inline(always)]
    fn run_in<S: Lanes, const MODE: u8>(self) {
        let Inputs { mesh, c, x, scope, .. } = self.inputs;
        let scope = mode::within::<MODE>(scope);
        let tail = Tail::<C>::new(c, mesh.count());
        let mut e = self.elements.start;
        while e < self.elements.end {
            let x = mesh.load::<S>(x, e);
            let v = self.inputs.velocities(e, scope);
            let c = self.inputs.constants(&tail, e);
            store(&L::force_within(&x, &v, &c, scope), self.out, e - self.elements.start);
            e += S::N;
        }
    }
}

/// Where the adjoints of a range of elements go.
pub(super) struct Outputs<'a, const C: usize> {
    pub x: &'a mut [f64],
    /// Left as it is where damping is left out.
    pub v: &'a mut [f64],
    /// Adjoints of each constant of the range's elements, added to.
    pub c: [&'a mut [f64]; C],
    /// The adjoint of the driven constant by itself; empty where none is.
    pub drive: &'a mut [f64],
}

/// Adjoints into buffers.
pub(super) struct PullKernel<'a, L, const V: usize, const P: usize, const C: usize> {
    pub inputs: Inputs<'a, V>,
    pub elements: Range<usize>,
    pub lambda: &'a [f64],
    pub out: Outputs<'a, C>,
    pub law: PhantomData<L>,
}

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Modal
    for PullKernel<'_, L, V, P, C>
{
    const SPLIT: bool = true;
    const ADJOINT: bool = true;
    const AIR: bool = !L::AIR.is_empty();
    fn scope(&self) -> Scope {
        self.inputs.scope
    }
    #[inline(always)]
    fn run_in<S: Lanes, const MODE: u8>(self) {
        let Inputs { mesh, c, x, scope, drive, .. } = self.inputs;
        let scope = mode::within::<MODE>(scope);
        let Outputs { x: x_out, v: v_out, c: c_out, drive: drive_out } = self.out;
        let tail = Tail::<C>::new(c, mesh.count());
        let (skip, dampers) = (L::rest_constants(), L::dampers());
        let (start, end) = (self.elements.start, self.elements.end);
        let mut e = start;
        while e < end {
            let x = mesh.load::<S>(x, e);
            let v = self.inputs.velocities(e, scope);
            let c = self.inputs.constants(&tail, e);
            let lambda = mesh.load::<S>(self.lambda, e);
            let at = e - start;
            let g = L::adjoint_within(&x, &v, &c, &lambda, scope);
            store(&g.x, x_out, at);
            if scope.damping && !scope.idle {
                store(&g.v, v_out, at);
            }
            let mut i = 0;
            while i < C {
                let left_out = !scope.rest && i >= skip.start && i < skip.end
                    || !scope.damping && contains(dampers, i);
                if !left_out {
                    add(g.c[i], &mut c_out[i][at..]);
                }
                i += 1;
            }
            if let Some((constant, _)) = drive {
                g.c[constant].store_partial(&mut drive_out[at..]);
            }
            e += S::N;
        }
    }
}

#[inline(always)]
fn contains(list: &[usize], i: usize) -> bool {
    let mut k = 0;
    while k < list.len() {
        if list[k] == i {
            return true;
        }
        k += 1;
    }
    false
}

/// Adds as many lanes as there are places.
#[inline(always)]
fn add<S: Lanes>(value: S, to: &mut [f64]) {
    if to.len() >= S::N {
        (S::load(to) + value).store(to);
    } else {
        let mut lane = 0;
        while lane < to.len() {
            to[lane] += value.lane(lane);
            lane += 1;
        }
    }
}

/// Tangents of forces along one direction into a buffer.
pub(super) struct PushKernel<'a, L, const V: usize, const P: usize, const C: usize> {
    pub inputs: Inputs<'a, V>,
    pub elements: Range<usize>,
    pub x_dot: &'a [f64],
    pub v_dot: &'a [f64],
    /// Empty for zero.
    pub c_dot: &'a [f64],
    /// What is added to the tangent of the driven constant.
    pub drive_dot: f64,
    pub out: &'a mut [f64],
    pub law: PhantomData<L>,
}

impl<L: Element<V, P, C>, const V: usize, const P: usize, const C: usize> Modal
    for PushKernel<'_, L, V, P, C>
{
    const SPLIT: bool = false;
    const ADJOINT: bool = false;
    const AIR: bool = !L::AIR.is_empty();
    fn scope(&self) -> Scope {
        self.inputs.scope
    }
    #[inline(always)]
    fn run_in<S: Lanes, const MODE: u8>(self) {
        let Inputs { mesh, c, x, scope, drive, .. } = self.inputs;
        let scope = mode::within::<MODE>(scope);
        let n = mesh.count();
        let (tail, tail_dot) = (Tail::<C>::new(c, n), Tail::<C>::new(self.c_dot, n));
        let mut e = self.elements.start;
        while e < self.elements.end {
            let (x, dx) = (mesh.load::<S>(x, e), mesh.load::<S>(self.x_dot, e));
            let v = self.inputs.velocities::<S>(e, scope);
            let mut dv = [Vec3::zero(); V];
            if scope.damping {
                dv = mesh.load(self.v_dot, e);
            }
            let c: [S; C] = self.inputs.constants(&tail, e);
            let mut dc = [S::zero(); C];
            if !self.c_dot.is_empty() {
                dc = tail_dot.load(self.c_dot, n, e);
            }
            if let Some((constant, _)) = drive {
                dc[constant] += S::splat(self.drive_dot);
            }
            let mut x_dual = [Vec3::zero(); V];
            let mut v_dual = [Vec3::zero(); V];
            let mut c_dual = [Dual::zero(); C];
            let mut i = 0;
            while i < V {
                x_dual[i] = dual3(x[i], dx[i]);
                v_dual[i] = dual3(v[i], dv[i]);
                i += 1;
            }
            let mut i = 0;
            while i < C {
                c_dual[i] = Dual::new(c[i], dc[i]);
                i += 1;
            }
            let force = L::force_within(&x_dual, &v_dual, &c_dual, scope);
            let mut tangent = [Vec3::zero(); V];
            let mut i = 0;
            while i < V {
                tangent[i] = tangent3(force[i]);
                i += 1;
            }
            store(&tangent, self.out, e - self.elements.start);
            e += S::N;
        }
    }
}
