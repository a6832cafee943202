//! The stable neo-Hookean law of Smith, de Goes and Kim.

use costate_num::{Mat3, Scalar};

use super::{DensityGradient, DensityTangent, Direction, Material};

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
    fn tangent<S: Scalar>(f: &Mat3<S>, along: &Direction<S>, p: &[S; 2]) -> DensityTangent<S, 2> {
        let mut out = tangent(f, along, &inner_parameters(p));
        let [m, l] = out.parameters_tangent;
        out.parameters_tangent = [m.scale(MU_TO_M) + l.scale(MU_TO_L), l];
        out
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

/// Tangent of [`gradient`] along a direction, with the stress.
#[inline(always)]
pub(super) fn tangent<S: Scalar>(
    f: &Mat3<S>,
    along: &Direction<S>,
    p: &[S; 2],
) -> DensityTangent<S, 2> {
    let [m, l] = *p;
    let volume = f.columns[0].dot(along.cofactor.columns[0]) - S::one();
    let invariant_tangent = f.inner(along.g).scale(2.0);
    let inverse = (f.inner(*f) + S::one()).recip();
    let slope = inverse * invariant_tangent;
    let shear = m * (S::one() - inverse);
    let shear_tangent = m * inverse * slope;
    let pressure = l * volume - m.scale(0.75);
    let volume_tangent = along.volume_tangent;
    DensityTangent {
        stress: *f * shear + along.cofactor * pressure,
        stress_tangent: along.g * shear
            + *f * shear_tangent
            + along.cofactor_tangent * pressure
            + along.cofactor * (l * volume_tangent),
        parameters_tangent: [
            (invariant_tangent - slope).scale(0.5) - volume_tangent.scale(0.75),
            volume * volume_tangent,
        ],
    }
}
