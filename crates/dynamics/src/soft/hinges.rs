//! Bending hinges: two triangles that share an edge.
//!
//! A hinge is (opposite vertex 1, opposite vertex 2, edge vertex 3, edge vertex 4). Its angle θ is
//! zero when flat, signed as in warp.sim, and taken by atan2, which is smooth and accurate through
//! flat; its gradient is the one in Bridson, Marino and Fedkiw, "Simulation of clothing with folds
//! and wrinkles", 2003. A triangle without area has no bending and no derivative of it.

use costate_num::{DualN, Scalar, Vec3};

use super::element::{Element, Gradient, Potential, Scope, potential_adjoint, potential_force};

/// Squared length of a normal (m⁴) at which a triangle counts as having no area: far below any
/// size that could be meant, and large enough for second derivatives to stay finite.
const NO_AREA: f64 = 1e-100;

/// The angle of a hinge and its gradient.
struct Fold<S: Scalar> {
    /// θ, from −π to π.
    angle: S,
    /// ∂θ/∂x.
    gradient: [Vec3<S>; 4],
    /// Unit vector along the edge, and its length.
    edge: Vec3<S>,
    length: S,
    /// Lengths of the two normals: twice the areas.
    two_areas: [S; 2],
    /// Where both triangles have an area.
    sound: S::Mask,
}

impl<S: Scalar> Fold<S> {
    #[inline(always)]
    fn new(x: &[Vec3<S>; 4]) -> Self {
        let (x31, x41) = (x[2] - x[0], x[3] - x[0]);
        let (x32, x42) = (x[2] - x[1], x[3] - x[1]);
        let n1 = x31.cross(x41);
        let n2 = x42.cross(x32);
        let (edge, length) = (x[3] - x[2]).normalize();
        let angle = n2.cross(n1).dot(edge).atan2(n1.dot(n2));
        let (m1, m2) = (n1.norm_squared(), n2.norm_squared());
        let tiny = S::splat(NO_AREA);
        let sound = m1.gt(tiny) & m2.gt(tiny);
        let (zero, one) = (S::zero(), S::one());
        let r1 = n1 * S::select(sound, S::select(sound, m1, one).recip(), zero);
        let r2 = n2 * S::select(sound, S::select(sound, m2, one).recip(), zero);
        let gradient = [
            r1 * length,
            r2 * length,
            -(r1 * x41.dot(edge) + r2 * x42.dot(edge)),
            r1 * x31.dot(edge) + r2 * x32.dot(edge),
        ];
        Self {
            angle: S::select(sound, angle, zero),
            gradient,
            edge,
            length,
            two_areas: [m1.sqrt(), m2.sqrt()],
            sound,
        }
    }

    /// θ̇ for vertex velocities v.
    #[inline(always)]
    fn rate(&self, v: &[Vec3<S>; 4]) -> S {
        let g = &self.gradient;
        g[0].dot(v[0]) + g[1].dot(v[1]) + g[2].dot(v[2]) + g[3].dot(v[3])
    }
}

/// Hessian of θ times N directions.
#[inline(always)]
fn angle_hessian<S: Scalar, const N: usize>(
    x: &[Vec3<S>; 4],
    directions: &[[Vec3<S>; 4]; N],
) -> [[Vec3<S>; 4]; N] {
    let mut moved = [Vec3::zero(); 4];
    let mut i = 0;
    while i < 4 {
        let mut dual = Vec3::new(
            DualN::<S, N>::constant(x[i].x),
            DualN::constant(x[i].y),
            DualN::constant(x[i].z),
        );
        let mut k = 0;
        while k < N {
            dual.x.tangent[k] = directions[k][i].x;
            dual.y.tangent[k] = directions[k][i].y;
            dual.z.tangent[k] = directions[k][i].z;
            k += 1;
        }
        moved[i] = dual;
        i += 1;
    }
    let gradient = Fold::new(&moved).gradient;
    let mut out = [[Vec3::zero(); 4]; N];
    let mut k = 0;
    while k < N {
        let mut i = 0;
        while i < 4 {
            let g = gradient[i];
            out[k][i] = Vec3::new(g.x.tangent[k], g.y.tangent[k], g.z.tangent[k]);
            i += 1;
        }
        k += 1;
    }
    out
}

/// The angle between −π and π that differs from `angle` (between −3π and 3π) by whole turns.
#[inline(always)]
fn wrap<S: Scalar>(angle: S) -> S {
    use std::f64::consts::{PI, TAU};
    let turn = S::splat(TAU);
    let low = S::select(angle.lt(S::splat(-PI)), angle + turn, angle);
    S::select(angle.gt(S::splat(PI)), angle - turn, low)
}

/// A conservative hinge (Grinspun, Hirani, Desbrun, Schröder, "Discrete shells", 2003).
///
/// Ψ = k/2 · e²/(A₁ + A₂) · (θ − θ₀)² with the rest length e of the edge and the rest areas of its
/// triangles, D = d/2 · e²/(A₁ + A₂) · θ̇², which is frame-indifferent. Parameters: k (N m),
/// d (N m s), θ₀ (rad). The factor is a third of the paper's, so that k is the flexural rigidity of
/// the sheet: bending a regular grid or an equilateral mesh to a cylinder of curvature κ takes
/// k κ²/2 per area. θ − θ₀ is taken to the nearest whole turn.
///
/// Constants: k and d times the factor, and θ₀ between −π and π.
pub struct DiscreteShell;

impl Potential<4, 3> for DiscreteShell {
    const DISSIPATIVE: bool = true;

    #[inline(always)]
    fn energy_gradient<S: Scalar>(x: &[Vec3<S>; 4], c: &[S; 3]) -> ([Vec3<S>; 4], [S; 3]) {
        let fold = Fold::new(x);
        let offset = S::select(fold.sound, wrap(fold.angle - c[2]), S::zero());
        let moment = c[0] * offset;
        let mut g = fold.gradient;
        let mut i = 0;
        while i < 4 {
            g[i] = g[i] * moment;
            i += 1;
        }
        (g, [offset * offset.scale(0.5), S::zero(), -moment])
    }

    #[inline(always)]
    fn dissipation_gradient<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; 3],
    ) -> Gradient<S, 4, 3> {
        let fold = Fold::new(x);
        let rate = fold.rate(v);
        let moment = c[1] * rate;
        let [turned] = angle_hessian(x, &[*v]);
        let mut out = Gradient::zero();
        let mut i = 0;
        while i < 4 {
            out.x[i] = turned[i] * moment;
            out.v[i] = fold.gradient[i] * moment;
            i += 1;
        }
        out.c[1] = rate * rate.scale(0.5);
        out
    }
}

impl Element<4, 3, 3> for DiscreteShell {
    const NAME: &'static str = "hinge";
    const DISSIPATIVE: bool = true;
    const LANES: bool = true;

    #[inline(always)]
    fn derive<S: Scalar>(rest: &[Vec3<S>; 4], p: &[S; 3]) -> [S; 3] {
        let fold = Fold::new(rest);
        let two_areas = fold.two_areas[0] + fold.two_areas[1];
        let empty = two_areas.equals(S::zero());
        let safe = S::select(empty, S::one(), two_areas);
        let square = (rest[3] - rest[2]).norm_squared();
        let weight = S::select(empty, S::zero(), (square + square) / safe);
        let (sine, cosine) = p[2].sin_cos();
        [p[0] * weight, p[1] * weight, sine.atan2(cosine)]
    }

    fn dampers() -> &'static [usize] {
        &[1]
    }

    fn damper_parameters() -> &'static [usize] {
        &[1]
    }

    #[inline(always)]
    fn force<S: Scalar>(x: &[Vec3<S>; 4], v: &[Vec3<S>; 4], c: &[S; 3]) -> [Vec3<S>; 4] {
        Self::force_within(x, v, c, Scope::ALL)
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; 3],
        lambda: &[Vec3<S>; 4],
    ) -> Gradient<S, 4, 3> {
        Self::adjoint_within(x, v, c, lambda, Scope::ALL)
    }

    #[inline(always)]
    fn force_within<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; 3],
        scope: Scope,
    ) -> [Vec3<S>; 4] {
        potential_force::<Self, S, 4, 3>(x, v, c, scope)
    }

    #[inline(always)]
    fn adjoint_within<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; 3],
        lambda: &[Vec3<S>; 4],
        scope: Scope,
    ) -> Gradient<S, 4, 3> {
        potential_adjoint::<Self, S, 4, 3>(x, v, c, lambda, scope)
    }

    #[inline(always)]
    fn energy<S: Scalar>(x: &[Vec3<S>; 4], c: &[S; 3]) -> S {
        let fold = Fold::new(x);
        let offset = S::select(fold.sound, wrap(fold.angle - c[2]), S::zero());
        c[0] * (offset * offset.scale(0.5))
    }
}

/// warp.sim's hinge: fᵢ = −L [k (θ − θ₀) + d θ̇] ∂θ/∂xᵢ with the current length L of the edge.
///
/// Because L is not held at rest the elastic part has no potential, and [`energy`](Element::energy)
/// is zero. As in warp.sim a hinge acts only while both normals (twice the areas) are at least
/// 1e-6 m² long, so triangles below half a square millimetre do not bend at all.
///
/// Parameters and constants: k (N), d (N s), θ₀ (rad, taken as it is).
pub struct WarpHinge;

/// The least length of a normal, m².
const LEAST_NORMAL: f64 = 1e-6;

impl WarpHinge {
    /// The fold, with warp.sim's angle, θ − θ₀, and whether the hinge acts.
    #[inline(always)]
    fn state<S: Scalar>(x: &[Vec3<S>; 4], rest_angle: S) -> (Fold<S>, S, S::Mask) {
        let mut fold = Fold::new(x);
        // warp.sim's sign(0) is +1: folded flat onto itself is +π.
        let zero = S::zero();
        let minus_pi = fold.angle.le(S::splat(-std::f64::consts::PI));
        let turned = fold.angle + S::splat(std::f64::consts::TAU);
        fold.angle = S::select(minus_pi, turned, fold.angle);
        let least = S::splat(LEAST_NORMAL);
        let acts = fold.two_areas[0].ge(least) & fold.two_areas[1].ge(least);
        let offset = S::select(acts, fold.angle - rest_angle, zero);
        (fold, offset, acts)
    }
}

impl Element<4, 3, 3> for WarpHinge {
    const NAME: &'static str = "hinge";
    const DISSIPATIVE: bool = true;
    const LANES: bool = true;

    #[inline(always)]
    fn derive<S: Scalar>(_rest: &[Vec3<S>; 4], p: &[S; 3]) -> [S; 3] {
        *p
    }

    fn copied(constant: usize) -> Option<usize> {
        Some(constant)
    }

    #[inline(always)]
    fn force<S: Scalar>(x: &[Vec3<S>; 4], v: &[Vec3<S>; 4], c: &[S; 3]) -> [Vec3<S>; 4] {
        let (fold, offset, acts) = Self::state(x, c[2]);
        let pull = -(fold.length * (c[0] * offset + c[1] * fold.rate(v)));
        let moment = S::select(acts, pull, S::zero());
        let mut f = fold.gradient;
        let mut i = 0;
        while i < 4 {
            f[i] = f[i] * moment;
            i += 1;
        }
        f
    }

    /// w = −L (k (θ − θ₀) + d θ̇) g with g = Σ λᵢ·∂θ/∂xᵢ; θ̇ and g change with x by the Hessian of
    /// θ along v and λ.
    #[inline(always)]
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; 4],
        v: &[Vec3<S>; 4],
        c: &[S; 3],
        lambda: &[Vec3<S>; 4],
    ) -> Gradient<S, 4, 3> {
        let (fold, offset, acts) = Self::state(x, c[2]);
        let zero = S::zero();
        let rate = fold.rate(v);
        let with = S::select(acts, fold.rate(lambda), zero);
        let moment = S::select(acts, c[0] * offset + c[1] * rate, zero);
        let length = fold.length;
        let [by_v, by_lambda] = angle_hessian(x, &[*v, *lambda]);
        let lw = length * with;
        let lm = length * moment;
        let mut out = Gradient::zero();
        let mut i = 0;
        while i < 4 {
            let elastic = fold.gradient[i] * (c[0] * lw);
            out.x[i] = -(elastic + by_v[i] * (c[1] * lw) + by_lambda[i] * lm);
            out.v[i] = -(fold.gradient[i] * (c[1] * lw));
            i += 1;
        }
        let by_length = fold.edge * (moment * with);
        out.x[3] -= by_length;
        out.x[2] += by_length;
        out.c = [-(lw * offset), -(lw * rate), c[0] * lw];
        out
    }

    #[inline(always)]
    fn energy<S: Scalar>(_x: &[Vec3<S>; 4], _c: &[S; 3]) -> S {
        S::zero()
    }
}
