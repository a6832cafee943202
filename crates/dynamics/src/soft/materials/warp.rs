//! warp.sim's law, for scenes that come from there.

use costate_num::{Mat3, Scalar};

use super::{DensityGradient, DensityTangent, Direction, Material, stable_neo_hookean};

/// The stable neo-Hookean energy with its own parameters k_mu and k_lambda (Pa), as NVIDIA's
/// warp.sim 1.8 uses it.
///
/// They are not Lamé's: at rest the material has μ = 3 k_mu/4 and λ = k_lambda − 5 k_mu/8, so
/// its bulk modulus k_lambda − k_mu/8 is negative where k_mu > 8 k_lambda.
pub struct Warp;

impl Material<2> for Warp {
    const NAME: &'static str = "warp";

    #[inline(always)]
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
        stable_neo_hookean::energy(f, p)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> DensityGradient<S, 2> {
        stable_neo_hookean::gradient(f, p)
    }

    #[inline(always)]
    fn tangent<S: Scalar>(f: &Mat3<S>, along: &Direction<S>, p: &[S; 2]) -> DensityTangent<S, 2> {
        stable_neo_hookean::tangent(f, along, p)
    }

    #[inline(always)]
    fn lame_at_rest<S: Scalar>(p: &[S; 2]) -> [S; 2] {
        [p[0].scale(0.75), p[1] - p[0].scale(0.625)]
    }

    /// k_lambda: with it the volume term is k_lambda/2 (J − α + a)², up to a constant.
    #[inline(always)]
    fn activation_modulus<S: Scalar>(p: &[S; 2]) -> S {
        p[1]
    }
}
