//! The inner loops of a block, on lanes.

use std::marker::PhantomData;
use std::ops::Range;

use costate_num::{Dual, Lanes, Scalar, Vec3};

use super::mesh::{Mesh, WIDTH, store};
use super::mode::{self, Modal};
use super::places::{Bars, Places};
use crate::soft::element::{Element, Scope, dual3, tangent3};

/// The state and constants that elements are evaluated at.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, const V: usize, const C: usize> {
    pub mesh: &'a Mesh<V>,
    /// Where constants and their tangents lie.
    pub places: &'a Places<C>,
    pub c: &'a [f64],
    /// A constant and what is added to it.
    pub drive: Option<(usize, f64)>,
    pub x: &'a [f64],
    pub v: &'a [f64],
    pub scope: Scope,
}

/// Where the constants of a group of elements lie, going on from group to group.
struct Walk<const C: usize> {
    places: [(usize, usize); C],
    first: usize,
}

impl<const C: usize> Walk<C> {
    /// Starts at a group of elements.
    #[inline(always)]
    fn new(places: &Places<C>, first: usize) -> Self {
        Self { places: places.walk(first), first }
    }

    /// Goes on to the element `e`, the next that is loaded.
    #[inline(always)]
    fn go_to(&mut self, e: usize) {
        if e.is_multiple_of(WIDTH) && e > self.first {
            let mut i = 0;
            while i < C {
                self.places[i].0 += self.places[i].1;
                i += 1;
            }
        }
    }

    /// Constants of the elements from `e` on, one of the group at hand.
    #[inline(always)]
    fn load<S: Lanes>(&self, values: &[f64], e: usize) -> [S; C] {
        let mut out = [S::zero(); C];
        let mut i = 0;
        while i < C {
            out[i] = S::load(&values[self.places[i].0 + e % WIDTH..]);
            i += 1;
        }
        out
    }
}

impl<const V: usize, const C: usize> Inputs<'_, V, C> {
    #[inline(always)]
    fn constants<S: Lanes>(&self, walk: &Walk<C>, e: usize) -> [S; C] {
        let mut c = walk.load(self.c, e);
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
    pub inputs: Inputs<'a, V, C>,
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
        let Inputs { mesh, places, x, scope, .. } = self.inputs;
        let scope = mode::within::<MODE>(scope);
        let mut walk = Walk::new(places, self.elements.start);
        let mut e = self.elements.start;
        while e < self.elements.end {
            walk.go_to(e);
            let x = mesh.load::<S>(x, e);
            let v = self.inputs.velocities(e, scope);
            let c = self.inputs.constants(&walk, e);
            let f = L::force_within(&x, &v, &c, scope);
            store(&f, &[S::zero(); V], self.out, e - self.elements.start);
            e += S::N;
        }
    }
}

/// Where the adjoints of a range of elements go.
pub(super) struct Outputs<'a, const C: usize> {
    /// With the work λ·f beside them where [`Scope::work`] says so.
    pub x: &'a mut [f64],
    /// Left as it is where damping is left out.
    pub v: &'a mut [f64],
    /// Adjoints of the constants of the range's elements, added to.
    pub c: Bars<'a, C>,
    /// The adjoint of the driven constant by itself; empty where none is.
    pub drive: &'a mut [f64],
}

/// Adjoints into buffers.
pub(super) struct PullKernel<'a, L, const V: usize, const P: usize, const C: usize> {
    pub inputs: Inputs<'a, V, C>,
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
        let Inputs { mesh, places, x, scope, drive, .. } = self.inputs;
        let scope = mode::within::<MODE>(scope);
        let Outputs { x: x_out, v: v_out, c: mut c_out, drive: drive_out } = self.out;
        let mut walk = Walk::new(places, self.elements.start);
        let (skip, dampers) = (L::rest_constants(), L::dampers());
        let (start, end) = (self.elements.start, self.elements.end);
        let mut e = start;
        while e < end {
            walk.go_to(e);
            let x = mesh.load::<S>(x, e);
            let v = self.inputs.velocities(e, scope);
            let c = self.inputs.constants(&walk, e);
            let lambda = mesh.load::<S>(self.lambda, e);
            let at = e - start;
            let g = L::adjoint_within(&x, &v, &c, &lambda, scope);
            let mut work = [S::zero(); V];
            if scope.work {
                let f = L::force_within(&x, &v, &c, scope);
                let mut k = 0;
                while k < V {
                    work[k] = lambda[k].dot(f[k]);
                    k += 1;
                }
            }
            store(&g.x, &work, x_out, at);
            if scope.damping && !scope.idle {
                store(&g.v, &[S::zero(); V], v_out, at);
            }
            let mut i = if scope.constants { 0 } else { C };
            while i < C {
                let left_out = !scope.rest && i >= skip.start && i < skip.end
                    || !scope.damping && contains(dampers, i);
                if !left_out {
                    add(g.c[i], c_out.row(i, at));
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
    pub inputs: Inputs<'a, V, C>,
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
        let Inputs { mesh, places, x, scope, drive, .. } = self.inputs;
        let scope = mode::within::<MODE>(scope);
        let mut walk = Walk::new(places, self.elements.start);
        let mut e = self.elements.start;
        while e < self.elements.end {
            walk.go_to(e);
            let (x, dx) = (mesh.load::<S>(x, e), mesh.load::<S>(self.x_dot, e));
            let v = self.inputs.velocities::<S>(e, scope);
            let mut dv = [Vec3::zero(); V];
            if scope.damping {
                dv = mesh.load(self.v_dot, e);
            }
            let c: [S; C] = self.inputs.constants(&walk, e);
            let mut dc = [S::zero(); C];
            if !self.c_dot.is_empty() {
                dc = walk.load(self.c_dot, e);
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
            store(&tangent, &[S::zero(); V], self.out, e - self.elements.start);
            e += S::N;
        }
    }
}
