//! What an element is: a stencil of vertices with a law.

use std::ops::Range;

use costate_num::{Dual, Scalar, Vec3};

/// A law for one stencil of `V` vertices, with `P` parameters (values of leaves at the element)
/// and `C` constants that the step reads.
///
/// One generic function per question; tangents and adjoints come from running it on duals or
/// from [`adjoint`](Element::adjoint). Bodies must be `#[inline(always)]` down to the arithmetic,
/// or lanes lose their speed.
pub trait Element<const V: usize, const P: usize, const C: usize>: Send + Sync + 'static {
    /// Name for messages: "tetrahedron".
    const NAME: &'static str;
    /// Whether the force depends on velocities (at the constants this type is used with).
    const DISSIPATIVE: bool;

    /// Whether the element is worth compiling for every instruction set; otherwise it runs one at
    /// a time.
    const LANES: bool = false;

    /// Those [`dampers`](Self::dampers) that scale forces of the air around, each the parameter of
    /// the same number; they are left out where
    /// all of them are zero and no derivative by them is wanted.
    const AIR: &'static [usize] = &[];

    /// Constants from the rest positions and the parameters.
    fn derive<S: Scalar>(rest: &[Vec3<S>; V], p: &[S; P]) -> [S; C];

    /// Mass of the element, shared equally by its vertices, kg.
    fn mass<S: Scalar>(_rest: &[Vec3<S>; V], _p: &[S; P]) -> S {
        S::zero()
    }

    /// Force on each vertex, N.
    fn force<S: Scalar>(x: &[Vec3<S>; V], v: &[Vec3<S>; V], c: &[S; C]) -> [Vec3<S>; V];

    /// Derivatives of w = Σ λᵢ·fᵢ(x, v, c) by x, v and c.
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; V],
        v: &[Vec3<S>; V],
        c: &[S; C],
        lambda: &[Vec3<S>; V],
    ) -> Gradient<S, V, C>;

    /// [`force`](Self::force) without what `scope` leaves out.
    #[inline(always)]
    fn force_within<S: Scalar>(
        x: &[Vec3<S>; V],
        v: &[Vec3<S>; V],
        c: &[S; C],
        _scope: Scope,
    ) -> [Vec3<S>; V] {
        Self::force(x, v, c)
    }

    /// [`adjoint`](Self::adjoint) without what `scope` leaves out.
    #[inline(always)]
    fn adjoint_within<S: Scalar>(
        x: &[Vec3<S>; V],
        v: &[Vec3<S>; V],
        c: &[S; C],
        lambda: &[Vec3<S>; V],
        _scope: Scope,
    ) -> Gradient<S, V, C> {
        Self::adjoint(x, v, c, lambda)
    }

    /// Constants that are all zero where there is no damping; none if the law cannot say so, and
    /// [`Scope::damping`] is then always set.
    fn dampers() -> &'static [usize] {
        &[]
    }

    /// Parameters that the dampers depend on.
    fn damper_parameters() -> &'static [usize] {
        &[]
    }

    /// The parameter that a constant is a copy of.
    fn copied(_constant: usize) -> Option<usize> {
        None
    }

    /// Constants that depend on the rest shape only, those of [`Scope::rest`].
    fn rest_constants() -> Range<usize> {
        0..0
    }

    /// Potential energy, J.
    fn energy<S: Scalar>(x: &[Vec3<S>; V], c: &[S; C]) -> S;
}

/// What an evaluation must include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Forces that [`Element::dampers`] scale and the derivatives by these constants; left out
    /// where all of them are zero and no such derivative is wanted.
    pub damping: bool,
    /// Whether the dampers are all zero, so that of [`damping`](Self::damping) only the derivatives
    /// by themselves remain.
    pub idle: bool,
    /// Of the damping, forces of the air around, those that [`Element::AIR`] scale.
    pub air: bool,
    /// Derivatives by constants; without, none of them is wanted.
    pub constants: bool,
    /// Derivatives by [`Element::rest_constants`].
    pub rest: bool,
    /// In an adjoint, the work λ·f at each vertex beside it, of which adjoints of masses are made.
    pub work: bool,
    /// Whether elements that know both damp as warp.sim does rather than frame-indifferently.
    pub warp: bool,
}

impl Scope {
    /// Everything, with frame-indifferent damping.
    pub const ALL: Self = Self {
        damping: true,
        idle: false,
        air: true,
        constants: true,
        rest: true,
        work: true,
        warp: false,
    };
}

/// Derivatives of a scalar by positions, velocities and constants of an element.
#[derive(Clone, Copy, Debug)]
pub struct Gradient<S, const V: usize, const C: usize> {
    /// By the positions.
    pub x: [Vec3<S>; V],
    /// By the velocities.
    pub v: [Vec3<S>; V],
    /// By the constants.
    pub c: [S; C],
}

impl<S: Scalar, const V: usize, const C: usize> Gradient<S, V, C> {
    /// All zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { x: [Vec3::zero(); V], v: [Vec3::zero(); V], c: [S::zero(); C] }
    }
}

/// A law that is an energy Ψ(x, c) and a dissipation potential D(x, v, c): f = −∂Ψ/∂x − ∂D/∂v.
///
/// Because Hessians are symmetric, the tangent of ∇Ψ along (λ, 0) is the adjoint of the elastic
/// force, and the tangent of ∇D along v in direction λ that of the damping.
pub trait Potential<const V: usize, const C: usize> {
    /// Whether there is a dissipation.
    const DISSIPATIVE: bool;
    /// ∂Ψ/∂x and ∂Ψ/∂c.
    fn energy_gradient<S: Scalar>(x: &[Vec3<S>; V], c: &[S; C]) -> ([Vec3<S>; V], [S; C]);
    /// ∂D/∂x, ∂D/∂v and ∂D/∂c.
    fn dissipation_gradient<S: Scalar>(
        x: &[Vec3<S>; V],
        v: &[Vec3<S>; V],
        c: &[S; C],
    ) -> Gradient<S, V, C>;
}

/// A dual vector with the given value and tangent.
#[inline(always)]
pub fn dual3<S: Scalar>(value: Vec3<S>, tangent: Vec3<S>) -> Vec3<Dual<S>> {
    Vec3::new(
        Dual::new(value.x, tangent.x),
        Dual::new(value.y, tangent.y),
        Dual::new(value.z, tangent.z),
    )
}

/// The tangent of a dual vector.
#[inline(always)]
pub fn tangent3<S: Scalar>(x: Vec3<Dual<S>>) -> Vec3<S> {
    Vec3::new(x.x.tangent[0], x.y.tangent[0], x.z.tangent[0])
}

/// f = −∂Ψ/∂x − ∂D/∂v, without the second where the scope leaves damping out.
#[inline(always)]
pub fn potential_force<L: Potential<V, C>, S: Scalar, const V: usize, const C: usize>(
    x: &[Vec3<S>; V],
    v: &[Vec3<S>; V],
    c: &[S; C],
    scope: Scope,
) -> [Vec3<S>; V] {
    let (gradient, _) = L::energy_gradient(x, c);
    let mut f = gradient;
    let mut i = 0;
    while i < V {
        f[i] = -gradient[i];
        i += 1;
    }
    if L::DISSIPATIVE && scope.damping && !scope.idle {
        let rate = L::dissipation_gradient(x, v, c);
        let mut i = 0;
        while i < V {
            f[i] -= rate.v[i];
            i += 1;
        }
    }
    f
}

/// The adjoint of [`potential_force`], by one dual evaluation of each gradient.
#[inline(always)]
pub fn potential_adjoint<L: Potential<V, C>, S: Scalar, const V: usize, const C: usize>(
    x: &[Vec3<S>; V],
    v: &[Vec3<S>; V],
    c: &[S; C],
    lambda: &[Vec3<S>; V],
    scope: Scope,
) -> Gradient<S, V, C> {
    let mut out = elastic_adjoint::<L, S, V, C>(x, c, lambda);
    if L::DISSIPATIVE && scope.damping {
        add_dissipation_adjoint::<L, S, V, C>(x, v, c, lambda, &mut out);
    }
    out
}

/// The adjoint of −∂Ψ/∂x.
#[inline(always)]
pub fn elastic_adjoint<L: Potential<V, C>, S: Scalar, const V: usize, const C: usize>(
    x: &[Vec3<S>; V],
    c: &[S; C],
    lambda: &[Vec3<S>; V],
) -> Gradient<S, V, C> {
    let mut out = Gradient::zero();
    let (x_dual, c_dual) = moved(x, lambda, c);
    let (gx, gc) = L::energy_gradient(&x_dual, &c_dual);
    let mut i = 0;
    while i < V {
        out.x[i] = -tangent3(gx[i]);
        i += 1;
    }
    let mut i = 0;
    while i < C {
        out.c[i] = -gc[i].tangent[0];
        i += 1;
    }
    out
}

/// Adds the adjoint of −∂D/∂v.
#[inline(always)]
pub fn add_dissipation_adjoint<L: Potential<V, C>, S: Scalar, const V: usize, const C: usize>(
    x: &[Vec3<S>; V],
    v: &[Vec3<S>; V],
    c: &[S; C],
    lambda: &[Vec3<S>; V],
    out: &mut Gradient<S, V, C>,
) {
    let (x_dual, c_dual) = moved(x, &[Vec3::zero(); V], c);
    let (v_dual, _) = moved(v, lambda, c);
    let rate = L::dissipation_gradient(&x_dual, &v_dual, &c_dual);
    let mut i = 0;
    while i < V {
        out.x[i] -= tangent3(rate.x[i]);
        out.v[i] -= tangent3(rate.v[i]);
        i += 1;
    }
    let mut i = 0;
    while i < C {
        out.c[i] -= rate.c[i].tangent[0];
        i += 1;
    }
}

/// Vectors with tangents and constants without, as duals.
#[inline(always)]
fn moved<S: Scalar, const V: usize, const C: usize>(
    x: &[Vec3<S>; V],
    tangent: &[Vec3<S>; V],
    c: &[S; C],
) -> ([Vec3<Dual<S>>; V], [Dual<S>; C]) {
    let mut x_dual = [Vec3::zero(); V];
    let mut i = 0;
    while i < V {
        x_dual[i] = dual3(x[i], tangent[i]);
        i += 1;
    }
    let mut c_dual = [Dual::zero(); C];
    let mut i = 0;
    while i < C {
        c_dual[i] = Dual::constant(c[i]);
        i += 1;
    }
    (x_dual, c_dual)
}
