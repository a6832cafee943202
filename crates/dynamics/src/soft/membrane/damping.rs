//! The adjoint of a membrane's damping force, by hand.
//!
//! D is quadratic in the velocities, so that λ·∂D/∂v is its bilinear form in v and λ: the rates that
//! v gives to F and to the area times those that λ gives. What is needed are the derivatives of
//! that form by x, v and c.

use costate_num::{Scalar, Vec3};

use super::{B00, B01, B11, DAMPING, Shape, balanced, pull_inverse};
use crate::soft::element::Gradient;

/// Adds the derivatives of w = −λ·∂D/∂v, by the rest shape only where asked for.
#[inline(always)]
pub(super) fn add_adjoint<S: Scalar, const WARP: bool>(
    shape: &Shape<S>,
    v: &[Vec3<S>; 3],
    c: &[S; 9],
    lambda: &[Vec3<S>; 3],
    rest: bool,
    out: &mut Gradient<S, 3, 9>,
) {
    let inverse = shape.inverse_area;
    let Shape { x10, x20, f1, f2, rest_area: area, normal, .. } = *shape;
    let (d, b00, b01, b11) = (c[DAMPING], c[B00], c[B01], c[B11]);
    let (v10, v20) = (v[1] - v[0], v[2] - v[0]);
    let (l10, l20) = (lambda[1] - lambda[0], lambda[2] - lambda[0]);
    // Columns of the rate of F, for v and for λ.
    let (g1, g2) = (v10 * b00, v10 * b01 + v20 * b11);
    let (m1, m2) = (l10 * b00, l10 * b01 + l20 * b11);
    // Ė(v):Ė(λ), its derivatives by F and by each of the two rates.
    let (product, f1_bar, f2_bar, g1_bar, g2_bar, m1_bar, m2_bar);
    if WARP {
        product = g1.dot(m1) + g2.dot(m2);
        (f1_bar, f2_bar) = (Vec3::zero(), Vec3::zero());
        (g1_bar, g2_bar) = (m1, m2);
        (m1_bar, m2_bar) = (g1, g2);
    } else {
        let (e11, e22) = (f1.dot(g1), f2.dot(g2));
        let e12 = (f1.dot(g2) + f2.dot(g1)).scale(0.5);
        let (k11, k22) = (f1.dot(m1), f2.dot(m2));
        let k12 = (f1.dot(m2) + f2.dot(m1)).scale(0.5);
        product = e11 * k11 + e22 * k22 + (e12 * k12).scale(2.0);
        f1_bar = g1 * k11 + m1 * e11 + g2 * k12 + m2 * e12;
        f2_bar = g2 * k22 + m2 * e22 + g1 * k12 + m1 * e12;
        g1_bar = f1 * k11 + f2 * k12;
        g2_bar = f2 * k22 + f1 * k12;
        m1_bar = f1 * e11 + f2 * e12;
        m2_bar = f2 * e22 + f1 * e12;
    }
    // The rate of 2A is n·ṅ, of v and of λ; both directions turn n.
    let (n_v, n_l) = (v10.cross(x20) + x10.cross(v20), l10.cross(x20) + x10.cross(l20));
    let (rate_v, rate_l) = (normal.dot(n_v), normal.dot(n_l));
    let turn = ((n_v - normal * rate_v) * rate_l + (n_l - normal * rate_l) * rate_v) * inverse;
    let (w10, w20) = (v10 * rate_l + l10 * rate_v, v20 * rate_l + l20 * rate_v);
    let [a1, a2] = shape.area_gradient();

    let da = d * area;
    // A₀ d ṡ(v) ṡ(λ) = q · rates, ṡ being a rate of 2A over 2 A₀.
    let q = (d * shape.per_two_rest).scale(0.5);
    let by_rate = q * rate_l;
    let x1 = (f1_bar * b00 + f2_bar * b01) * da + (x20.cross(turn) + w20.cross(normal)) * q;
    let x2 = f2_bar * (b11 * da) + (turn.cross(x10) + normal.cross(w10)) * q;
    let v1 = (g1_bar * b00 + g2_bar * b01) * da + a1 * by_rate;
    let v2 = g2_bar * (b11 * da) + a2 * by_rate;

    let (x_bar, v_bar) = (balanced(x1, x2), balanced(v1, v2));
    let mut i = 0;
    while i < 3 {
        out.x[i] -= x_bar[i];
        out.v[i] -= v_bar[i];
        i += 1;
    }
    let areas = rate_v * rate_l * (shape.per_two_rest * shape.per_two_rest);
    out.c[DAMPING] -= area * (product + areas);
    if rest {
        // A₀ ṡ(v) ṡ(λ) goes as 1/A₀.
        let area_bar = d * (product - areas) * area;
        let by_f = pull_inverse(f1_bar, f2_bar, x10, x20);
        let by_g = pull_inverse(g1_bar, g2_bar, v10, v20);
        let by_m = pull_inverse(m1_bar, m2_bar, l10, l20);
        out.c[B00] -= da * (by_f[0] + by_g[0] + by_m[0]) - area_bar / b00;
        out.c[B01] -= da * (by_f[1] + by_g[1] + by_m[1]);
        out.c[B11] -= da * (by_f[2] + by_g[2] + by_m[2]) - area_bar / b11;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Membrane;
    use super::*;
    use crate::soft::element::add_dissipation_adjoint;

    fn vectors() -> impl Strategy<Value = [Vec3<f64>; 3]> {
        prop::array::uniform3(prop::array::uniform3(-1.0..1.0f64).prop_map(Vec3::from_array))
    }

    fn agrees<const WARP: bool>(
        x: &[Vec3<f64>; 3],
        v: &[Vec3<f64>; 3],
        c: &[f64; 9],
        lambda: &[Vec3<f64>; 3],
    ) -> Result<(), TestCaseError> {
        let (mut hand, mut dual) = (Gradient::zero(), Gradient::zero());
        add_adjoint::<f64, WARP>(&Shape::new(x, c), v, c, lambda, true, &mut hand);
        add_dissipation_adjoint::<Membrane<WARP>, f64, 3, 9>(x, v, c, lambda, &mut dual);
        let scale = dual.c.iter().map(|g| g.abs()).sum::<f64>()
            + dual.x.iter().chain(&dual.v).map(|g| g.norm()).sum::<f64>();
        for (a, b) in hand.x.iter().chain(&hand.v).zip(dual.x.iter().chain(&dual.v)) {
            prop_assert!((*a - *b).norm() <= 1e-13 * scale, "{a:?} {b:?}");
        }
        for (i, (a, b)) in hand.c.iter().zip(&dual.c).enumerate() {
            prop_assert!((a - b).abs() <= 1e-13 * scale, "{i}: {a} {b}");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn by_hand_is_the_tangent_of_the_gradient(
            x in vectors(),
            v in vectors(),
            lambda in vectors(),
            c in prop::array::uniform9(0.5..2.0f64),
        ) {
            prop_assume!((x[1] - x[0]).cross(x[2] - x[0]).norm() > 0.05);
            agrees::<false>(&x, &v, &c, &lambda)?;
            agrees::<true>(&x, &v, &c, &lambda)?;
        }

        #[test]
        fn a_triangle_without_area_has_a_finite_adjoint(
            x in vectors(),
            v in vectors(),
            lambda in vectors(),
            c in prop::array::uniform9(0.5..2.0f64),
        ) {
            let mut g = Gradient::zero();
            let shape = Shape::new(&[x[0], x[1], x[0]], &c);
            add_adjoint::<f64, false>(&shape, &v, &c, &lambda, true, &mut g);
            prop_assert!(g.x.iter().chain(&g.v).all(|x| x.norm().is_finite()));
            prop_assert!(g.c.iter().all(|c| c.is_finite()));
        }
    }
}
