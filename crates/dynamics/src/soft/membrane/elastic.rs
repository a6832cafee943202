//! The adjoint of a membrane's elastic force, by hand: few constants of a membrane change, and duals
//! would carry zero tangents for all of them.

use costate_num::{Scalar, Vec3};

use super::{ACTIVATION, B00, B01, B11, LAMBDA, MU, Shape, balanced};
use crate::soft::element::Gradient;

/// Derivatives of w = −λ·∂Ψ/∂x by x and c, by the rest shape only where asked for: the negative tangent of (∂Ψ/∂x, ∂Ψ/∂c) along λ.
#[inline(always)]
pub(super) fn adjoint<S: Scalar>(
    shape: &Shape<S>,
    c: &[S; 9],
    lambda: &[Vec3<S>; 3],
    rest: bool,
) -> Gradient<S, 3, 9> {
    let inverse = shape.inverse_area;
    let Shape { x10, x20, f1, f2, rest_area: area, normal, s, .. } = *shape;
    let (mu, b00, b01, b11) = (c[MU], c[B00], c[B01], c[B11]);
    let excess = s - S::one();
    let strain = excess + c[ACTIVATION];
    let half_pressure = (c[LAMBDA] * strain - mu).scale(0.5);
    let [a1, a2] = shape.area_gradient();

    let (l10, l20) = (lambda[1] - lambda[0], lambda[2] - lambda[0]);
    let f1_dot = l10 * b00;
    let f2_dot = l10 * b01 + l20 * b11;
    let two_area_dot = a1.dot(l10) + a2.dot(l20);
    let s_dot = two_area_dot * shape.per_two_rest;
    let half_pressure_dot = (c[LAMBDA] * s_dot).scale(0.5);
    let normal_dot = (l10.cross(x20) + x10.cross(l20) - normal * two_area_dot) * inverse;
    let a1_dot = l20.cross(normal) + x20.cross(normal_dot);
    let a2_dot = normal_dot.cross(x10) + normal.cross(l10);

    let stiffness = mu * area;
    let h1 =
        (f1_dot * b00 + f2_dot * b01) * stiffness + a1 * half_pressure_dot + a1_dot * half_pressure;
    let h2 = f2_dot * (b11 * stiffness) + a2 * half_pressure_dot + a2_dot * half_pressure;

    let by_mu = f1.dot(f1_dot) + f2.dot(f2_dot) - s_dot;
    let by_lambda = strain * s_dot;
    let mut g = [S::zero(); 9];
    g[MU] = -(area * by_mu);
    g[LAMBDA] = -(area * by_lambda);
    g[ACTIVATION] = -(area * c[LAMBDA] * s_dot);
    if rest {
        let pressure_dot = half_pressure_dot + half_pressure_dot;
        let pressure = half_pressure + half_pressure;
        let area_bar = mu * by_mu + c[LAMBDA] * by_lambda - pressure_dot * s - pressure * s_dot;
        let area_bar = area_bar * area;
        g[B00] = area_bar / b00 - stiffness * (f1_dot.dot(x10) + f1.dot(l10));
        g[B01] = -(stiffness * (f2_dot.dot(x10) + f2.dot(l10)));
        g[B11] = area_bar / b11 - stiffness * (f2_dot.dot(x20) + f2.dot(l20));
    }
    Gradient { x: balanced(-h1, -h2), v: [Vec3::zero(); 3], c: g }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Membrane;
    use super::*;
    use crate::soft::element::elastic_adjoint;

    fn vectors() -> impl Strategy<Value = [Vec3<f64>; 3]> {
        prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64).prop_map(Vec3::from_array))
    }

    proptest! {
        #[test]
        fn by_hand_is_the_tangent_of_the_gradient(
            x in vectors(),
            lambda in vectors(),
            c in prop::array::uniform9(0.5..2.0f64),
        ) {
            prop_assume!((x[1] - x[0]).cross(x[2] - x[0]).norm() > 0.05);
            let hand = adjoint(&Shape::new(&x, &c), &c, &lambda, true);
            let dual = elastic_adjoint::<Membrane<false>, f64, 3, 9>(&x, &c, &lambda);
            let scale = dual.c.iter().map(|g| g.abs()).sum::<f64>()
                + dual.x.iter().map(|g| g.norm()).sum::<f64>();
            for (a, b) in hand.x.iter().zip(&dual.x) {
                prop_assert!((*a - *b).norm() <= 1e-13 * scale, "{a:?} {b:?}");
            }
            for (i, (a, b)) in hand.c.iter().zip(&dual.c).enumerate() {
                prop_assert!((a - b).abs() <= 1e-13 * scale, "{i}: {a} {b}");
            }
        }

        #[test]
        fn a_triangle_without_area_has_a_finite_adjoint(
            x in vectors(),
            lambda in vectors(),
            c in prop::array::uniform9(0.5..2.0f64),
        ) {
            let line = [x[0], x[1], x[0]];
            let g = adjoint(&Shape::new(&line, &c), &c, &lambda, true);
            prop_assert!(g.x.iter().all(|x| x.norm().is_finite()));
            prop_assert!(g.c.iter().all(|c| c.is_finite()));
        }
    }
}
