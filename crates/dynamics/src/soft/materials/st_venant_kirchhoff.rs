//! The St. Venant-Kirchhoff law.

use costate_num::{Mat3, Scalar};

use super::{DensityGradient, Material};

/// ψ = μ |E|² + λ/2 (tr E)² with Green's strain E = (FᵀF − I)/2; parameters μ and λ (Pa), Lamé's.
///
/// Hooke's law in Green's strain: right for small strains and any rotation, too soft under large
/// compression. Polynomial in F, so finite for flat and inverted elements.
pub struct StVenantKirchhoff;

#[inline(always)]
fn green_strain<S: Scalar>(f: &Mat3<S>) -> Mat3<S> {
    (f.transpose().matmul(*f) - Mat3::identity()) * S::splat(0.5)
}

impl Material<2> for StVenantKirchhoff {
    const NAME: &'static str = "st-venant-kirchhoff";

    #[inline(always)]
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
        let strain = green_strain(f);
        let trace = strain.trace();
        p[0] * strain.inner(strain) + p[1].scale(0.5) * trace * trace
    }

    #[inline(always)]
    fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> DensityGradient<S, 2> {
        let strain = green_strain(f);
        let trace = strain.trace();
        DensityGradient {
            stress: f.matmul(strain * (p[0] + p[0])) + *f * (p[1] * trace),
            parameters: [strain.inner(strain), (trace * trace).scale(0.5)],
        }
    }

    #[inline(always)]
    fn lame_at_rest<S: Scalar>(p: &[S; 2]) -> [S; 2] {
        *p
    }
}
