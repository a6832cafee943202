//! Springs with a damper along them.

use costate_num::{Scalar, Vec3};

use super::element::{Element, Gradient, Potential, Scope, potential_adjoint, potential_force};

/// A spring; parameters and constants: stiffness k (N/m), damping d (N s/m), rest length l₀ (m).
///
/// Ψ = k (l − l₀)²/2, D = d l̇²/2. At zero length the direction is undefined: the force is zero
/// there, and for l₀ = 0 the law is the smooth k x.
pub struct Spring;

impl Potential<2, 3> for Spring {
    const DISSIPATIVE: bool = true;

    #[inline(always)]
    fn energy_gradient<S: Scalar>(x: &[Vec3<S>; 2], c: &[S; 3]) -> ([Vec3<S>; 2], [S; 3]) {
        let [k, _, rest] = *c;
        let d = x[0] - x[1];
        let length = d.norm();
        let at_zero = length.equals(S::zero());
        let safe = S::select(at_zero, S::one(), length);
        let ratio = S::select(at_zero, S::zero(), rest / safe);
        let pull = d * (k * (S::one() - ratio));
        let stretch = length - rest;
        ([pull, -pull], [stretch * stretch.scale(0.5), S::zero(), -(k * stretch)])
    }

    #[inline(always)]
    fn dissipation_gradient<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
    ) -> Gradient<S, 2, 3> {
        let d = c[1];
        let (u, length) = (x[0] - x[1]).normalize();
        let relative = v[0] - v[1];
        let rate = u.dot(relative);
        let at_zero = length.equals(S::zero());
        let inverse = S::select(at_zero, S::zero(), S::select(at_zero, S::one(), length).recip());
        // ∂l̇/∂x = (v − (v·u) u) / l.
        let turn = (relative - u * rate) * (d * rate * inverse);
        let brake = u * (d * rate);
        Gradient {
            x: [turn, -turn],
            v: [brake, -brake],
            c: [S::zero(), rate * rate.scale(0.5), S::zero()],
        }
    }
}

impl Element<2, 3, 3> for Spring {
    const NAME: &'static str = "spring";
    const DISSIPATIVE: bool = true;
    const LANES: bool = true;

    #[inline(always)]
    fn derive<S: Scalar>(_rest: &[Vec3<S>; 2], p: &[S; 3]) -> [S; 3] {
        *p
    }
    fn dampers() -> &'static [usize] {
        &[1]
    }

    fn damper_parameters() -> &'static [usize] {
        &[1]
    }

    #[inline(always)]
    fn force<S: Scalar>(x: &[Vec3<S>; 2], v: &[Vec3<S>; 2], c: &[S; 3]) -> [Vec3<S>; 2] {
        Self::force_within(x, v, c, Scope::ALL)
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
        lambda: &[Vec3<S>; 2],
    ) -> Gradient<S, 2, 3> {
        Self::adjoint_within(x, v, c, lambda, Scope::ALL)
    }

    #[inline(always)]
    fn force_within<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
        scope: Scope,
    ) -> [Vec3<S>; 2] {
        potential_force::<Self, S, 2, 3>(x, v, c, scope)
    }

    #[inline(always)]
    fn adjoint_within<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
        lambda: &[Vec3<S>; 2],
        scope: Scope,
    ) -> Gradient<S, 2, 3> {
        potential_adjoint::<Self, S, 2, 3>(x, v, c, lambda, scope)
    }

    #[inline(always)]
    fn energy<S: Scalar>(x: &[Vec3<S>; 2], c: &[S; 3]) -> S {
        let stretch = (x[0] - x[1]).norm() - c[2];
        c[0] * stretch * stretch.scale(0.5)
    }
}
