//! The compressible neo-Hookean law with logarithms.

use costate_num::{Mat3, Scalar};

use super::{DensityGradient, Material};

/// ψ = μ/2 (|F|² − 3) − μ ln J + λ/2 (ln J)², parameters μ and λ (Pa), Lamé's at rest.
///
/// (J. Bonet, R. D. Wood, *Nonlinear Continuum Mechanics for Finite Element Analysis*, 2nd ed.,
/// 2008, eq. 6.27.) The energy is infinite for a flat element and the law does not exist for an
/// inverted one (J ≤ 0): there its stress is not a number, and the step stops with the
/// element's name. A time step that lets an element invert is too long, or the load too large.
pub struct NeoHookean;

impl Material<2> for NeoHookean {
    const NAME: &'static str = "neo-hookean";

    #[inline(always)]
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
        let [mu, lambda] = *p;
        let log = f.determinant().ln();
        mu * ((f.inner(*f) - S::splat(3.0)).scale(0.5) - log) + lambda.scale(0.5) * log * log
    }

    #[inline(always)]
    fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> DensityGradient<S, 2> {
        let [mu, lambda] = *p;
        let cofactor = f.cofactor();
        let j = f.columns[0].dot(cofactor.columns[0]);
        let log = j.ln();
        let invariant = (f.inner(*f) - S::splat(3.0)).scale(0.5);
        DensityGradient {
            stress: *f * mu + cofactor * ((lambda * log - mu) / j),
            parameters: [invariant - log, (log * log).scale(0.5)],
        }
    }

    #[inline(always)]
    fn lame_at_rest<S: Scalar>(p: &[S; 2]) -> [S; 2] {
        *p
    }
}
