//! The derivative of the exponential map of rotations (Chirikjian, *Stochastic Models, Information
//! Theory, and Lie Groups*, vol. 2 (2012), section 10.3; Forster et al., *On-Manifold Preintegration*
//! (2017), equations 8 and 9).

use costate_num::{Scalar, Vec3};

/// Below this squared angle the coefficients are their series, exact to rounding.
const SMALL: f64 = 1e-4;

/// (1 − cos θ)/θ² and (θ − sin θ)/θ³ for θ².
fn coefficients(squared: f64) -> (f64, f64) {
    if squared < SMALL {
        let s = squared;
        let first = 0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s / 40320.0));
        let second = 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362_880.0));
        return (first, second);
    }
    let angle = squared.sqrt();
    let (sine, cosine) = Scalar::sin_cos(angle);
    ((1.0 - cosine) / squared, (angle - sine) / (squared * angle))
}

/// Jᵣ(ω) δ: the rotation, in the axes of the turned frame, by which exp(ω) turns further as ω
/// changes by δ.
pub(crate) fn right_jacobian(omega: Vec3<f64>, delta: Vec3<f64>) -> Vec3<f64> {
    let (a, b) = coefficients(omega.norm_squared());
    let first = omega.cross(delta);
    delta - first * a + omega.cross(first) * b
}

/// Jᵣ(ω)ᵀ δ, which is J of −ω.
pub(crate) fn right_jacobian_transposed(omega: Vec3<f64>, delta: Vec3<f64>) -> Vec3<f64> {
    right_jacobian(-omega, delta)
}

/// Jᵣ(ω)⁻¹ δ: the change of a rotation vector as its rotation turns further by δ in the axes of the
/// turned frame; for angles below 2π.
pub(crate) fn right_jacobian_inverse<S: Scalar>(omega: Vec3<S>, delta: Vec3<S>) -> Vec3<S> {
    let squared = omega.norm_squared();
    let small = squared.lt(S::splat(SMALL));
    let s = squared;
    let series = S::splat(1.0 / 12.0)
        + s * (S::splat(1.0 / 720.0) + s * (S::splat(1.0 / 30240.0) + s.scale(1.0 / 1_209_600.0)));
    let safe = S::select(small, S::one(), squared);
    let half = safe.sqrt().scale(0.5);
    let (sine, cosine) = half.sin_cos();
    let coefficient = S::select(small, series, (S::one() - half * cosine / sine) / safe);
    let first = omega.cross(delta);
    delta + first * S::splat(0.5) + omega.cross(first) * coefficient
}

#[cfg(test)]
mod tests {
    use super::*;
    use costate_num::Quat;

    #[test]
    fn jacobians_are_those_of_the_exponential() {
        let delta = Vec3::new(0.3, -0.7, 0.2);
        for omega in [[0.0, 0.0, 0.0], [1e-3, -2e-3, 5e-4], [0.012, 0.0, 0.0], [0.5, -1.1, 0.8]] {
            let omega = Vec3::from_array(omega);
            let eps = 1e-5;
            let base = Quat::from_rotation_vector(omega);
            let turned = |sign: f64| {
                let moved = Quat::from_rotation_vector(omega + delta * (sign * eps));
                base.conjugate().product(moved).to_rotation_vector()
            };
            let difference = (turned(1.0) - turned(-1.0)) * (0.5 / eps);
            let exact = right_jacobian(omega, delta);
            assert!((difference - exact).norm() < 1e-9, "{omega:?}");
            assert!((right_jacobian_inverse(omega, exact) - delta).norm() < 1e-13, "{omega:?}");
        }
    }
}
