//! Constitutive laws of tetrahedra: an energy density of the deformation gradient F.
//!
//! One file per law. A law of a user's own is the same trait, registered by name:
//!
//! ```
//! use costate_dynamics::soft::{Material, Registry};
//! use costate_dynamics::material_law;
//! use costate_num::{Mat3, Scalar};
//!
//! /// ψ = k |F − I|² / 2: springs that know no rotation.
//! struct Springy;
//! impl Material<1> for Springy {
//!     const NAME: &'static str = "springy";
//!     fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 1]) -> S {
//!         let d = *f - Mat3::identity();
//!         p[0].scale(0.5) * d.inner(d)
//!     }
//!     fn lame_at_rest<S: Scalar>(p: &[S; 1]) -> [S; 2] {
//!         [p[0].scale(0.5), S::zero()]
//!     }
//! }
//! let mut registry = Registry::default();
//! registry.register(material_law!(Springy, 1));
//! assert!(registry.names().contains(&"springy"));
//! ```

mod corotated;
mod neo_hookean;
mod recorded;
mod registry;
mod st_venant_kirchhoff;
mod stable_neo_hookean;
mod warp;

pub use corotated::Corotated;
pub use neo_hookean::NeoHookean;
pub use recorded::{MOST_PARAMETERS, RecordedLaw};
pub use registry::{MaterialLaw, Registry, TetrahedraParts};
pub use st_venant_kirchhoff::StVenantKirchhoff;
pub use stable_neo_hookean::StableNeoHookean;
pub use warp::Warp;

use costate_num::{Dual, DualN, Mat3, Scalar, Vec3};

/// Derivatives of an energy density ψ(F, p).
#[derive(Clone, Copy, Debug)]
pub struct DensityGradient<S, const N: usize> {
    /// ∂ψ/∂F, the first Piola-Kirchhoff stress, Pa.
    pub stress: Mat3<S>,
    /// ∂ψ/∂p.
    pub parameters: [S; N],
}

/// A direction G in which F moves, and what follows from both.
#[derive(Clone, Copy, Debug)]
pub struct Direction<S> {
    /// G.
    pub g: Mat3<S>,
    /// cof F.
    pub cofactor: Mat3<S>,
    /// The derivative of cof F along G.
    pub cofactor_tangent: Mat3<S>,
    /// The derivative of J = det F along G, cof F : G.
    pub volume_tangent: S,
}

/// The stress and the derivatives of a [`DensityGradient`] along a direction G.
#[derive(Clone, Copy, Debug)]
pub struct DensityTangent<S, const N: usize> {
    /// ∂ψ/∂F, Pa.
    pub stress: Mat3<S>,
    /// The derivative of ∂ψ/∂F along G.
    pub stress_tangent: Mat3<S>,
    /// The derivative of ∂ψ/∂p along G.
    pub parameters_tangent: [S; N],
}

/// A hyperelastic law with `N` parameters.
///
/// Only [`energy`](Self::energy) and [`lame_at_rest`](Self::lame_at_rest) must be given;
/// [`gradient`](Self::gradient) then follows by forward duals, at several times the cost of one
/// written out. Mark all methods `#[inline(always)]`.
pub trait Material<const N: usize>: Send + Sync + 'static {
    /// The name that scenes use.
    const NAME: &'static str;

    /// Energy per rest volume ψ(F, p), J/m³, zero at rest.
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; N]) -> S;

    /// Lamé's μ and λ of the linearised law at F = I, Pa; stiffness-proportional damping uses them.
    fn lame_at_rest<S: Scalar>(p: &[S; N]) -> [S; 2];

    /// ∂ψ/∂F and ∂ψ/∂p.
    #[inline(always)]
    fn gradient<S: Scalar>(f: &Mat3<S>, p: &[S; N]) -> DensityGradient<S, N> {
        let rows = f.to_rows();
        let mut f_dual = [DualN::<S, 9>::zero(); 9];
        let mut i = 0;
        while i < 9 {
            f_dual[i] = DualN::variable(rows[i], i);
            i += 1;
        }
        let mut p_fixed = [DualN::<S, 9>::zero(); N];
        let mut p_dual = [DualN::<S, N>::zero(); N];
        let mut i = 0;
        while i < N {
            p_fixed[i] = DualN::constant(p[i]);
            p_dual[i] = DualN::variable(p[i], i);
            i += 1;
        }
        let mut f_fixed = [DualN::<S, N>::zero(); 9];
        let mut i = 0;
        while i < 9 {
            f_fixed[i] = DualN::constant(rows[i]);
            i += 1;
        }
        DensityGradient {
            stress: Mat3::from_rows(Self::energy(&Mat3::from_rows(f_dual), &p_fixed).tangent),
            parameters: Self::energy(&Mat3::from_rows(f_fixed), &p_dual).tangent,
        }
    }

    /// The stress and the tangent of [`gradient`](Self::gradient) at fixed parameters; by default
    /// from one evaluation on duals, which laws with shared terms can undercut.
    #[inline(always)]
    fn tangent<S: Scalar>(f: &Mat3<S>, along: &Direction<S>, p: &[S; N]) -> DensityTangent<S, N> {
        let mut p_dual = [Dual::zero(); N];
        let mut i = 0;
        while i < N {
            p_dual[i] = Dual::constant(p[i]);
            i += 1;
        }
        let DensityGradient { stress, parameters } =
            Self::gradient(&dual_matrix(f, &along.g), &p_dual);
        let mut parameters_tangent = [S::zero(); N];
        let mut i = 0;
        while i < N {
            parameters_tangent[i] = parameters[i].tangent[0];
            i += 1;
        }
        DensityTangent {
            stress: value_matrix(&stress),
            stress_tangent: tangent_matrix(&stress),
            parameters_tangent,
        }
    }

    /// Modulus of the active stress: an activation a adds modulus · a · (J − 1) to the energy
    /// density, Pa.
    #[inline(always)]
    fn activation_modulus<S: Scalar>(p: &[S; N]) -> S {
        Self::lame_at_rest(p)[1]
    }
}

/// The derivative of the cofactor matrix of `f` along `g`: symmetric in both, and the gradient
/// by F of cof F : G.
#[inline(always)]
pub(crate) fn cofactor_derivative<S: Scalar>(f: &Mat3<S>, g: &Mat3<S>) -> Mat3<S> {
    let ([a, b, c], [d, e, h]) = (f.columns, g.columns);
    Mat3::from_columns(b.cross(h) + e.cross(c), c.cross(d) + h.cross(a), a.cross(e) + d.cross(b))
}

/// A dual matrix with the given value and tangent.
#[inline(always)]
pub(crate) fn dual_matrix<S: Scalar>(value: &Mat3<S>, tangent: &Mat3<S>) -> Mat3<Dual<S>> {
    let column = |v: Vec3<S>, t: Vec3<S>| super::element::dual3(v, t);
    let ([a, b, c], [d, e, f]) = (value.columns, tangent.columns);
    Mat3::from_columns(column(a, d), column(b, e), column(c, f))
}

/// The value of a dual matrix.
#[inline(always)]
pub(crate) fn value_matrix<S: Scalar>(m: &Mat3<Dual<S>>) -> Mat3<S> {
    let [a, b, c] = m.columns;
    Mat3::from_columns(
        Vec3::new(a.x.value, a.y.value, a.z.value),
        Vec3::new(b.x.value, b.y.value, b.z.value),
        Vec3::new(c.x.value, c.y.value, c.z.value),
    )
}

/// The tangent of a dual matrix.
#[inline(always)]
pub(crate) fn tangent_matrix<S: Scalar>(m: &Mat3<Dual<S>>) -> Mat3<S> {
    let [a, b, c] = m.columns;
    Mat3::from_columns(
        super::element::tangent3(a),
        super::element::tangent3(b),
        super::element::tangent3(c),
    )
}
