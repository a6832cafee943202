//! The stable neo-Hookean law of Smith, de Goes and Kim.

use costate_num::{Mat3, Scalar};

use super::{DensityGradient, Material};

/// ψ = m/2 (|F|² − 3) − m/2 ln((|F|² + 1)/4) + l/2 (J − 1)² − 3m/4 (J − 1) with m = 4μ/3 and
/// l = λ + 5μ/6, so that the parameters μ and λ (Pa) are Lamé's at rest.
///
/// (B. Smith, F. de Goes, T. Kim, *Stable Neo-Hookean Flesh Simulation*, ACM Trans. Graph. 37(2),
/// 2018, eq. 14, whose (J − α)² is expanded here so that nothing is divided by l.) Finite for
/// flat and inverted elements.
pub struct StableNeoHookean;

impl Material<2> for StableNeoHookean {
    const NAME: &'static str = "stable-neo-hookean";

    #[inline(always)]
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
        energy(f, &inner_parameters(p))
    }

    #[inline(always)]
    fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> DensityGradient<S, 2> {
        let DensityGradient { stress, parameters: [m, l] } = gradient(f, &inner_parameters(p));
        DensityGradient { stress, parameters: [m.scale(MU_TO_M) + l.scale(MU_TO_L), l] }
    }

    #[inline(always)]
    fn lame_at_rest<S: Scalar>(p: &[S; 2]) -> [S; 2] {
        *p
    }
}

const MU_TO_M: f64 = 4.0 / 3.0;
const MU_TO_L: f64 = 5.0 / 6.0;

#[inline(always)]
fn inner_parameters<S: Scalar>(p: &[S; 2]) -> [S; 2] {
    [p[0].scale(MU_TO_M), p[1] + p[0].scale(MU_TO_L)]
}

/// The paper's energy in its own parameters m and l, less its value at rest.
#[inline(always)]
pub(super) fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
    let [m, l] = *p;
    let invariant = f.inner(*f);
    let volume = f.determinant() - S::one();
    let [by_m, by_l] = by_parameters(invariant, volume);
    m * by_m + l * by_l
}

/// The energy is linear in its parameters; these are the factors.
#[inline(always)]
fn by_parameters<S: Scalar>(invariant: S, volume: S) -> [S; 2] {
    let log = (invariant + S::one()).scale(0.25).ln();
    let shear = (invariant - S::splat(3.0) - log).scale(0.5);
    [shear - volume.scale(0.75), (volume * volume).scale(0.5)]
}

/// Derivatives of [`energy`].
#[inline(always)]
pub(super) fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> DensityGradient<S, 2> {
    let [m, l] = *p;
    let cofactor = f.cofactor();
    let volume = f.columns[0].dot(cofactor.columns[0]) - S::one();
    let invariant = f.inner(*f);
    let shear = m * (S::one() - (invariant + S::one()).recip());
    DensityGradient {
        stress: *f * shear + cofactor * (l * volume - m.scale(0.75)),
        parameters: by_parameters(invariant, volume),
    }
}
