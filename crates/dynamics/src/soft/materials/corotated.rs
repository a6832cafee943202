//! The corotated linear law.

use costate_num::{Mask, Mat3, Scalar};

use super::{DensityGradient, Material};

/// ψ = μ |F − R|² + λ/2 (tr S − 3)² with the polar decomposition F = R S; parameters μ and λ
/// (Pa), Lamé's at rest.
///
/// R is the proper rotation nearest to F, for inverted elements too. Where it is not unique (the
/// two smallest singular values sum to zero, the smallest counted negative in an inverted
/// element) its undefined part is replaced by zero, so that stress and tangent stay finite.
pub struct Corotated;

/// Below this fraction of its scale, the denominator of the rotation counts as zero.
const DEGENERATE: f64 = 1e-10;
/// What the denominator is at least, however small F.
const TINY: f64 = 1e-60;

/// F's invariants, the trace of S and the rotation R.
struct Polar<S> {
    invariant: S,
    trace: S,
    rotation: Mat3<S>,
}

/// The trace s = tr S is the largest root of p(s) = s⁴ − 2 I s² − 8 J s + I² − 4 |cof F|² with
/// I = |F|² and J = det F, and R = ∂s/∂F by differentiating p(s(F), F) = 0.
///
/// (H. Lin, F. M. Chitalu, T. Komura, *Isotropic ARAP Energy Using Cauchy-Green Invariants*, ACM
/// Trans. Graph. 41(6), 2022.) Newton's iteration from √(3 I) ≥ s falls monotonically onto the
/// root; a lane stops where it no longer falls, so its result does not depend on its neighbours.
/// Two more steps make first and second derivatives exact when S is a dual number: at the
/// root, Newton's map does not depend on where it starts.
#[inline(always)]
fn polar<S: Scalar>(f: &Mat3<S>) -> Polar<S> {
    let cofactor = f.cofactor();
    let j = f.columns[0].dot(cofactor.columns[0]);
    let invariant = f.inner(*f);
    let last = invariant * invariant - cofactor.inner(cofactor).scale(4.0);
    let bound = invariant.scale(3.0).sqrt();
    let floor = (bound * bound * bound.scale(DEGENERATE)).max(S::splat(TINY));
    let mut s = bound;
    let mut step = 0;
    while step < 40 {
        let next = newton(s, invariant, j, last, floor);
        let falls = next.lt(s);
        if !falls.any() {
            break;
        }
        s = S::select(falls, next, s);
        step += 1;
    }
    s = newton(s, invariant, j, last, floor);
    s = newton(s, invariant, j, last, floor);
    let slope = (s * (s * s - invariant) - (j + j)).max(floor);
    let green = f.transpose().matmul(*f);
    let numerator = *f * (s * s + invariant) + cofactor * (s + s) - f.matmul(green + green);
    Polar { invariant, trace: s, rotation: numerator * slope.recip() }
}

/// One step of Newton's iteration for the largest root of p.
#[inline(always)]
fn newton<S: Scalar>(s: S, invariant: S, j: S, last: S, floor: S) -> S {
    let square = s * s;
    let value = square * (square - (invariant + invariant)) - j.scale(8.0) * s + last;
    let slope = (s * (square - invariant) - (j + j)).max(floor);
    s - value.scale(0.25) / slope
}

impl Material<2> for Corotated {
    const NAME: &'static str = "corotated";

    #[inline(always)]
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
        let Polar { invariant, trace, .. } = polar(f);
        let three = S::splat(3.0);
        let stretch = trace - three;
        p[0] * (invariant - (trace + trace) + three) + p[1].scale(0.5) * stretch * stretch
    }

    #[inline(always)]
    fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> DensityGradient<S, 2> {
        let Polar { invariant, trace, rotation } = polar(f);
        let three = S::splat(3.0);
        let stretch = trace - three;
        let two_mu = p[0] + p[0];
        DensityGradient {
            stress: *f * two_mu + rotation * (p[1] * stretch - two_mu),
            parameters: [invariant - (trace + trace) + three, (stretch * stretch).scale(0.5)],
        }
    }

    #[inline(always)]
    fn lame_at_rest<S: Scalar>(p: &[S; 2]) -> [S; 2] {
        *p
    }
}
