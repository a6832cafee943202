//! Membrane triangles: warp.sim's elastic law, two damping laws, drag and lift.
//!
//! With the rest shape's inverse B (2 × 2, in the basis e₁ along the first edge), rest area A₀,
//! F = [x₁−x₀, x₂−x₀] B, and s = A/A₀ the ratio of areas:
//!
//! Ψ = A₀ [μ/2 (|F|² − 2) − μ (s − 1) + λ/2 (s − 1 + a)²].
//!
//! Its force is warp.sim's, whose pressure λ (s − 1 − μ/λ + a) is here λ (s − 1 + a) − μ, so that
//! λ = 0 is a membrane without area stiffness instead of a division by zero. The rest shape is free
//! of stress for the activation a = 0; a > 0 contracts.
//!
//! Damping has the potential D = A₀ d/2 (|Ė|² + ṡ²), where Ė is the rate of the Green strain
//! (FᵀF − 1)/2: Kelvin-Voigt, none in uniform flight or rigid rotation. warp.sim's own has the rate
//! of F itself in the place of Ė, which brakes rotation; at rest and without rotation both agree.

mod air;
mod damping;
mod elastic;

use std::ops::Range;

use costate_num::{Scalar, Vec3};

use super::element::{Element, Gradient, Potential, Scope, potential_force};

/// A membrane triangle.
///
/// Parameters: μ and λ (N/m), viscosity d (N s/m), drag and lift (kg/m³), activation, density
/// (kg/m²). Constants: the first six, then B₀₀, B₀₁, B₁₁ (1/m; B₁₀ is zero by the choice of basis).
///
/// With `WARP`, damping is warp.sim's.
pub struct Membrane<const WARP: bool>;

const MU: usize = 0;
const LAMBDA: usize = 1;
const DAMPING: usize = 2;
const DRAG: usize = 3;
const LIFT: usize = 4;
const ACTIVATION: usize = 5;
const B00: usize = 6;
const B01: usize = 7;
const B11: usize = 8;

/// Edges, deformation and area of a triangle.
struct Shape<S> {
    x10: Vec3<S>,
    x20: Vec3<S>,
    /// Columns of F.
    f1: Vec3<S>,
    f2: Vec3<S>,
    rest_area: S,
    /// 1/(2 A₀).
    per_two_rest: S,
    /// Unit normal; zero where the triangle has no area.
    normal: Vec3<S>,
    /// The inverse of twice the area; zero where there is none, so that the direction of a triangle without area has
    /// no derivative.
    inverse_area: S,
    /// Area over rest area.
    s: S,
}

impl<S: Scalar> Shape<S> {
    #[inline(always)]
    fn new(x: &[Vec3<S>; 3], c: &[S; 9]) -> Self {
        let (x10, x20) = (x[1] - x[0], x[2] - x[0]);
        let (normal, two_area) = x10.cross(x20).normalize();
        let per_two_rest = c[B00] * c[B11];
        let flat = two_area.equals(S::zero());
        let inverse = S::select(flat, S::one(), two_area).recip();
        Self {
            x10,
            x20,
            f1: x10 * c[B00],
            f2: x10 * c[B01] + x20 * c[B11],
            rest_area: S::splat(0.5) / per_two_rest,
            per_two_rest,
            normal,
            inverse_area: S::select(flat, S::zero(), inverse),
            s: two_area * per_two_rest,
        }
    }

    /// ∂(2A)/∂x₁ and ∂(2A)/∂x₂.
    #[inline(always)]
    fn area_gradient(&self) -> [Vec3<S>; 2] {
        [self.x20.cross(self.normal), self.normal.cross(self.x10)]
    }
}

/// Adjoints of the columns of F and of a rate of F to those of B, for edges `x10`, `x20`.
#[inline(always)]
fn pull_inverse<S: Scalar>(f1_bar: Vec3<S>, f2_bar: Vec3<S>, x10: Vec3<S>, x20: Vec3<S>) -> [S; 3] {
    [f1_bar.dot(x10), f2_bar.dot(x10), f2_bar.dot(x20)]
}

/// Forces on vertices 1 and 2, and what balances them on vertex 0.
#[inline(always)]
fn balanced<S: Scalar>(h1: Vec3<S>, h2: Vec3<S>) -> [Vec3<S>; 3] {
    [-(h1 + h2), h1, h2]
}

impl<const WARP: bool> Potential<3, 9> for Membrane<WARP> {
    const DISSIPATIVE: bool = true;

    #[inline(always)]
    fn energy_gradient<S: Scalar>(x: &[Vec3<S>; 3], c: &[S; 9]) -> ([Vec3<S>; 3], [S; 9]) {
        let shape = Shape::new(x, c);
        let (mu, lambda, area) = (c[MU], c[LAMBDA], shape.rest_area);
        let excess = shape.s - S::one();
        let strain = excess + c[ACTIVATION];
        let pressure = lambda * strain - mu;
        let (p1, p2) = (shape.f1 * (mu * area), shape.f2 * (mu * area));
        let [a1, a2] = shape.area_gradient();
        let half_pressure = pressure.scale(0.5);
        let h1 = p1 * c[B00] + p2 * c[B01] + a1 * half_pressure;
        let h2 = p2 * c[B11] + a2 * half_pressure;

        let by_mu =
            (shape.f1.norm_squared() + shape.f2.norm_squared()).scale(0.5) - S::one() - excess;
        let by_lambda = strain * strain.scale(0.5);
        let per_area = mu * by_mu + lambda * by_lambda;
        // Both the factor A₀ and s depend on it.
        let area_bar = per_area - pressure * shape.s;
        let [b00, b01, b11] = pull_inverse(p1, p2, shape.x10, shape.x20);
        let mut g = [S::zero(); 9];
        g[MU] = area * by_mu;
        g[LAMBDA] = area * by_lambda;
        g[ACTIVATION] = area * lambda * strain;
        g[B00] = b00 - area_bar * area / c[B00];
        g[B01] = b01;
        g[B11] = b11 - area_bar * area / c[B11];
        (balanced(h1, h2), g)
    }

    #[inline(always)]
    fn dissipation_gradient<S: Scalar>(
        x: &[Vec3<S>; 3],
        v: &[Vec3<S>; 3],
        c: &[S; 9],
    ) -> Gradient<S, 3, 9> {
        let shape = Shape::new(x, c);
        let (d, area) = (c[DAMPING], shape.rest_area);
        let (v10, v20) = (v[1] - v[0], v[2] - v[0]);
        // Columns of the rate of F.
        let g1 = v10 * c[B00];
        let g2 = v10 * c[B01] + v20 * c[B11];
        // Half the squared strain rate with its derivatives by F (zero in warp.sim's law) and by
        // its rate.
        let (half_square, f1_bar, f2_bar, g1_bar, g2_bar);
        if WARP {
            half_square = (g1.norm_squared() + g2.norm_squared()).scale(0.5);
            (f1_bar, f2_bar) = (Vec3::zero(), Vec3::zero());
            (g1_bar, g2_bar) = (g1, g2);
        } else {
            let (f1, f2) = (shape.f1, shape.f2);
            let e11 = f1.dot(g1);
            let e22 = f2.dot(g2);
            let e12 = (f1.dot(g2) + f2.dot(g1)).scale(0.5);
            half_square = (e11 * e11 + e22 * e22).scale(0.5) + e12 * e12;
            f1_bar = g1 * e11 + g2 * e12;
            f2_bar = g2 * e22 + g1 * e12;
            g1_bar = f1 * e11 + f2 * e12;
            g2_bar = f2 * e22 + f1 * e12;
        }
        // The rate of 2A is n·ṅ.
        let normal_rate = v10.cross(shape.x20) + shape.x10.cross(v20);
        let two_area_rate = shape.normal.dot(normal_rate);
        let rate = two_area_rate * shape.per_two_rest;
        let turn = (normal_rate - shape.normal * two_area_rate) * shape.inverse_area;
        let [a1, a2] = shape.area_gradient();

        let da = d * area;
        // A₀ ∂(ṡ²/2)/∂(rate of 2A) = ṡ/2.
        let w = d * rate.scale(0.5);
        let v1 = (g1_bar * c[B00] + g2_bar * c[B01]) * da + a1 * w;
        let v2 = g2_bar * (c[B11] * da) + a2 * w;
        let x1 = (f1_bar * c[B00] + f2_bar * c[B01]) * da
            + (shape.x20.cross(turn) + v20.cross(shape.normal)) * w;
        let x2 = f2_bar * (c[B11] * da) + (turn.cross(shape.x10) + shape.normal.cross(v10)) * w;

        let half_rate = rate * rate.scale(0.5);
        // A₀ ṡ² goes as 1/A₀.
        let area_bar = d * (half_square - half_rate);
        let by_f = pull_inverse(f1_bar, f2_bar, shape.x10, shape.x20);
        let by_g = pull_inverse(g1_bar, g2_bar, v10, v20);
        let mut g = [S::zero(); 9];
        g[DAMPING] = area * (half_square + half_rate);
        g[B00] = da * (by_f[0] + by_g[0]) - area_bar * area / c[B00];
        g[B01] = da * (by_f[1] + by_g[1]);
        g[B11] = da * (by_f[2] + by_g[2]) - area_bar * area / c[B11];
        Gradient { x: balanced(x1, x2), v: balanced(v1, v2), c: g }
    }
}

impl<const WARP: bool> Element<3, 7, 9> for Membrane<WARP> {
    const NAME: &'static str = "triangle";
    const DISSIPATIVE: bool = true;
    const LANES: bool = true;
    const AIR: &'static [usize] = &[DRAG, LIFT];

    #[inline(always)]
    fn derive<S: Scalar>(rest: &[Vec3<S>; 3], p: &[S; 7]) -> [S; 9] {
        let (x10, x20) = (rest[1] - rest[0], rest[2] - rest[0]);
        let (e1, base) = x10.normalize();
        let along = e1.dot(x20);
        let height = x10.cross(x20).norm() / base;
        let (b00, b11) = (base.recip(), height.recip());
        [p[0], p[1], p[2], p[3], p[4], p[5], b00, -(along * b00 * b11), b11]
    }

    #[inline(always)]
    fn mass<S: Scalar>(rest: &[Vec3<S>; 3], p: &[S; 7]) -> S {
        let two_area = (rest[1] - rest[0]).cross(rest[2] - rest[0]).norm();
        p[6] * two_area.scale(0.5)
    }

    fn dampers() -> &'static [usize] {
        &[DAMPING, DRAG, LIFT]
    }

    fn damper_parameters() -> &'static [usize] {
        &[DAMPING, DRAG, LIFT]
    }

    fn copied(constant: usize) -> Option<usize> {
        (constant < B00).then_some(constant)
    }

    fn rest_constants() -> Range<usize> {
        B00..B11 + 1
    }

    #[inline(always)]
    fn force<S: Scalar>(x: &[Vec3<S>; 3], v: &[Vec3<S>; 3], c: &[S; 9]) -> [Vec3<S>; 3] {
        Self::force_within(x, v, c, Scope::ALL)
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; 3],
        v: &[Vec3<S>; 3],
        c: &[S; 9],
        lambda: &[Vec3<S>; 3],
    ) -> Gradient<S, 3, 9> {
        Self::adjoint_within(x, v, c, lambda, Scope::ALL)
    }

    #[inline(always)]
    fn force_within<S: Scalar>(
        x: &[Vec3<S>; 3],
        v: &[Vec3<S>; 3],
        c: &[S; 9],
        scope: Scope,
    ) -> [Vec3<S>; 3] {
        let mut f = potential_force::<Self, S, 3, 9>(x, v, c, scope);
        if scope.air && scope.damping && !scope.idle {
            let push = air::force(x, v, c[DRAG], c[LIFT]);
            let mut i = 0;
            while i < 3 {
                f[i] += push;
                i += 1;
            }
        }
        f
    }

    #[inline(always)]
    fn adjoint_within<S: Scalar>(
        x: &[Vec3<S>; 3],
        v: &[Vec3<S>; 3],
        c: &[S; 9],
        lambda: &[Vec3<S>; 3],
        scope: Scope,
    ) -> Gradient<S, 3, 9> {
        let shape = Shape::new(x, c);
        let mut out = elastic::adjoint(&shape, c, lambda, scope.rest);
        if scope.damping {
            damping::add_adjoint::<S, WARP>(&shape, v, c, lambda, scope.rest, &mut out);
        }
        if scope.air && scope.damping {
            let push = air::adjoint(x, v, c[DRAG], c[LIFT], lambda[0] + lambda[1] + lambda[2]);
            let mut i = 0;
            while i < 3 {
                out.x[i] += push.x[i];
                out.v[i] += push.v;
                i += 1;
            }
            out.c[DRAG] += push.drag;
            out.c[LIFT] += push.lift;
        }
        out
    }

    #[inline(always)]
    fn energy<S: Scalar>(x: &[Vec3<S>; 3], c: &[S; 9]) -> S {
        let shape = Shape::new(x, c);
        let excess = shape.s - S::one();
        let strain = excess + c[ACTIVATION];
        let by_mu =
            (shape.f1.norm_squared() + shape.f2.norm_squared()).scale(0.5) - S::one() - excess;
        shape.rest_area * (c[MU] * by_mu + c[LAMBDA] * (strain * strain.scale(0.5)))
    }
}
