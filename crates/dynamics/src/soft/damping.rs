//! Damping of tetrahedra: a stress that depends on the rate of the deformation gradient.

use costate_num::{DualN, Mat3, Scalar};

use super::materials::{Material, cofactor_derivative};

/// How a tetrahedron deforms and how fast.
#[derive(Clone, Copy, Debug)]
pub struct Kinematics<S> {
    /// Deformation gradient F.
    pub f: Mat3<S>,
    /// cof F.
    pub cofactor: Mat3<S>,
    /// Ḟ, 1/s.
    pub rate: Mat3<S>,
    /// Ḟ with the velocity of vertex 0 left out (its columns are the velocities of vertices 1 to
    /// 3, not their differences), 1/s.
    pub absolute_rate: Mat3<S>,
}

/// Derivatives of w = (damping stress) : Λ.
#[derive(Clone, Copy, Debug)]
pub struct DampingGradient<S, const N: usize> {
    /// By F.
    pub f: Mat3<S>,
    /// By Ḟ.
    pub rate: Mat3<S>,
    /// By [`Kinematics::absolute_rate`].
    pub absolute_rate: Mat3<S>,
    /// By Λ: the stress itself.
    pub stress: Mat3<S>,
    /// By the parameters of the material.
    pub parameters: [S; N],
    /// By the viscosity.
    pub viscosity: S,
    /// By the damping time.
    pub time: S,
}

/// A damping law over a material: viscosity η (Pa s) and stiffness-proportional time β (s).
pub trait Damping: Send + Sync + 'static {
    /// First Piola-Kirchhoff damping stress, Pa.
    fn stress<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        p: &[S; N],
        viscosity: S,
        time: S,
    ) -> Mat3<S>;

    /// Derivatives of stress : Λ.
    fn adjoint<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        p: &[S; N],
        viscosity: S,
        time: S,
        multiplier: &Mat3<S>,
    ) -> DampingGradient<S, N>;

    /// Derivatives of stress : Λ by the viscosity and the damping time. The stress is linear in
    /// both, so they do not depend on their values.
    fn slopes<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        p: &[S; N],
        multiplier: &Mat3<S>,
    ) -> [S; 2];
}

/// Kelvin-Voigt damping in the rate of Green's strain Ė = sym(FᵀḞ) and of the volume J̇ = cof F : Ḟ.
///
/// The dissipation potential per rest volume is
/// η/2 (|Ė|² + J̇²) + β (μ |Ė|² + λ/2 (tr Ė)²), with Lamé's μ and λ of the material at rest.
/// Uniform flight and rigid rotation dissipate nothing. For strain rates without rotation at
/// F = I the viscosity is warp.sim's.
pub struct FrameIndifferent;

#[inline(always)]
fn strain_rate<S: Scalar>(f: &Mat3<S>, rate: &Mat3<S>) -> Mat3<S> {
    f.transpose().matmul(*rate).symmetric_part()
}

/// The part of the second Piola-Kirchhoff stress that is linear in the strain rate.
#[inline(always)]
fn viscous<S: Scalar>(strain_rate: &Mat3<S>, shear: S, bulk: S) -> Mat3<S> {
    let t = bulk * strain_rate.trace();
    let mut out = *strain_rate * shear;
    out.columns[0].x += t;
    out.columns[1].y += t;
    out.columns[2].z += t;
    out
}

impl Damping for FrameIndifferent {
    #[inline(always)]
    fn stress<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        p: &[S; N],
        viscosity: S,
        time: S,
    ) -> Mat3<S> {
        let [mu, lambda] = M::lame_at_rest(p);
        let shear = viscosity + time * (mu + mu);
        let strain_rate = strain_rate(&k.f, &k.rate);
        let volume_rate = k.cofactor.inner(k.rate);
        k.f.matmul(viscous(&strain_rate, shear, time * lambda))
            + k.cofactor * (viscosity * volume_rate)
    }

    #[inline(always)]
    fn adjoint<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        p: &[S; N],
        viscosity: S,
        time: S,
        multiplier: &Mat3<S>,
    ) -> DampingGradient<S, N> {
        let [mu, lambda] = M::lame_at_rest(p);
        let (shear, bulk) = (viscosity + time * (mu + mu), time * lambda);
        let own = strain_rate(&k.f, &k.rate);
        let other = strain_rate(&k.f, multiplier);
        let (own_volume, other_volume) = (k.cofactor.inner(k.rate), k.cofactor.inner(*multiplier));
        let (own_stress, other_stress) = (viscous(&own, shear, bulk), viscous(&other, shear, bulk));
        let by_cofactor = cofactor_derivative(&k.f, &k.rate) * (viscosity * other_volume)
            + cofactor_derivative(&k.f, multiplier) * (viscosity * own_volume);
        let product = own.inner(other);
        let traces = own.trace() * other.trace();
        let by_mu = time * (product + product);
        let by_lambda = time * traces;
        let mut parameters = [S::zero(); N];
        let mut dual = [DualN::<S, N>::zero(); N];
        let mut i = 0;
        while i < N {
            dual[i] = DualN::variable(p[i], i);
            i += 1;
        }
        let slopes = M::lame_at_rest(&dual);
        let mut i = 0;
        while i < N {
            parameters[i] = by_mu * slopes[0].tangent[i] + by_lambda * slopes[1].tangent[i];
            i += 1;
        }
        DampingGradient {
            f: multiplier.matmul(own_stress) + k.rate.matmul(other_stress) + by_cofactor,
            rate: k.f.matmul(other_stress) + k.cofactor * (viscosity * other_volume),
            absolute_rate: Mat3::zero(),
            stress: k.f.matmul(own_stress) + k.cofactor * (viscosity * own_volume),
            parameters,
            viscosity: product + own_volume * other_volume,
            time: (mu + mu) * product + lambda * traces,
        }
    }

    #[inline(always)]
    fn slopes<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        p: &[S; N],
        multiplier: &Mat3<S>,
    ) -> [S; 2] {
        let [mu, lambda] = M::lame_at_rest(p);
        let (own, other) = (strain_rate(&k.f, &k.rate), strain_rate(&k.f, multiplier));
        let volumes = k.cofactor.inner(k.rate) * k.cofactor.inner(*multiplier);
        let product = own.inner(other);
        [product + volumes, (mu + mu) * product + lambda * (own.trace() * other.trace())]
    }
}

/// warp.sim 1.8's damping, for scenes that come from there: the stress is η (Ḟ + r cof F) with
/// r = cof F : Ḟ′, where Ḟ′ leaves out the velocity of vertex 0. It brakes rotation and, through r,
/// uniform flight, depends on the order of the vertices and has no potential. There is no
/// damping time.
pub struct WarpDamping;

impl Damping for WarpDamping {
    #[inline(always)]
    fn stress<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        _p: &[S; N],
        viscosity: S,
        _time: S,
    ) -> Mat3<S> {
        let volume_rate = k.cofactor.inner(k.absolute_rate);
        (k.rate + k.cofactor * volume_rate) * viscosity
    }

    #[inline(always)]
    fn adjoint<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        _p: &[S; N],
        viscosity: S,
        _time: S,
        multiplier: &Mat3<S>,
    ) -> DampingGradient<S, N> {
        let volume_rate = k.cofactor.inner(k.absolute_rate);
        let other = k.cofactor.inner(*multiplier);
        let f = cofactor_derivative(&k.f, &k.absolute_rate) * (viscosity * other)
            + cofactor_derivative(&k.f, multiplier) * (viscosity * volume_rate);
        DampingGradient {
            f,
            rate: *multiplier * viscosity,
            absolute_rate: k.cofactor * (viscosity * other),
            stress: (k.rate + k.cofactor * volume_rate) * viscosity,
            parameters: [S::zero(); N],
            viscosity: k.rate.inner(*multiplier) + volume_rate * other,
            time: S::zero(),
        }
    }

    #[inline(always)]
    fn slopes<M: Material<N>, S: Scalar, const N: usize>(
        k: &Kinematics<S>,
        _p: &[S; N],
        multiplier: &Mat3<S>,
    ) -> [S; 2] {
        let volumes = k.cofactor.inner(k.absolute_rate) * k.cofactor.inner(*multiplier);
        [k.rate.inner(*multiplier) + volumes, S::zero()]
    }
}
