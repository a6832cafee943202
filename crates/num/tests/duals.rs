//! Derivatives of every elementary operation against central differences, and at the points where a
//! formula has none (case R20: scalar over vector, sign, component writes).

use costate_num::{Dual, DualN, Mat3, Quat, Scalar, Vec3};
use proptest::prelude::*;

/// The least relative error of central differences over a sweep of widths.
fn best_difference(f: impl Fn(f64) -> f64, x: f64, derivative: f64) -> f64 {
    let mut best = f64::INFINITY;
    for k in 2..9 {
        let h = 10f64.powi(-k) * x.abs().max(1e-3);
        // Fourth order, so that widths well above rounding are exact enough.
        let d = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
        let slope = (4.0 * d(h / 2.0) - d(h)) / 3.0;
        best = best.min((slope - derivative).abs() / derivative.abs().max(f(x).abs()).max(1e-3));
    }
    best
}

/// A formula that can be evaluated on any scalar.
trait Formula {
    fn of<S: Scalar>(&self, x: S) -> S;

    fn check(&self, x: f64) {
        let d = self.of(Dual::new(x, 1.0));
        assert_eq!(d.value.to_bits(), self.of(x).to_bits(), "the value is that without derivative");
        let error = best_difference(|x| self.of(x), x, d.tangent[0]);
        assert!(error <= 1e-7, "first derivative at {x}: {} is off by {error:e}", d.tangent[0]);
        let dd = self.of(Dual::new(Dual::new(x, 1.0), Dual::new(1.0, 0.0)));
        assert_eq!(dd.value.tangent[0], d.tangent[0]);
        let second = dd.tangent[0].tangent[0];
        let slope = |x: f64| self.of(Dual::new(x, 1.0)).tangent[0];
        let error = best_difference(slope, x, second);
        assert!(error <= 1e-7, "second derivative at {x}: {second} is off by {error:e}");
    }
}

macro_rules! formula {
    ($name:ident, |$x:ident| $e:expr) => {
        struct $name;
        impl Formula for $name {
            fn of<S: Scalar>(&self, $x: S) -> S {
                $e
            }
        }
    };
    ($name:ident, $c:ident, |$x:ident| $e:expr) => {
        struct $name(f64);
        impl Formula for $name {
            fn of<S: Scalar>(&self, $x: S) -> S {
                let $c = S::splat(self.0);
                $e
            }
        }
    };
}

formula!(Sum, c, |x| x + c + x);
formula!(Difference, c, |x| c - x);
formula!(Product, c, |x| x * c * x);
formula!(Quotient, c, |x| x / (c + x * x));
formula!(Reciprocal, c, |x| c / x);
formula!(Negative, |x| -x * x);
formula!(Root, |x| x.sqrt());
formula!(Absolute, c, |x| (x - c).abs() * x);
formula!(Logarithm, |x| x.ln());
formula!(Exponential, |x| x.exp());
formula!(Sine, |x| x.sin());
formula!(Cosine, |x| x.cos());
formula!(Tangent, |x| x.tan());
formula!(AngleOfY, c, |x| x.atan2(c));
formula!(AngleOfX, c, |x| c.atan2(x));
formula!(ArcSine, |x| (x * S::splat(0.2)).asin());
formula!(ArcCosine, |x| (x * S::splat(0.2)).acos());
formula!(ArcTangent, |x| x.atan());
formula!(Hyperbolic, |x| x.tanh());
formula!(Power, |x| x.powi(5) + x.powi(-2));
formula!(Smaller, c, |x| (x * x).min(c * x));
formula!(Larger, c, |x| (x * x).max(c * x));
formula!(Clamped, c, |x| x * x.clamp(-c, c));
formula!(Sign, c, |x| x * (x - c).signum());
formula!(Selected, c, |x| S::select(x.lt(c), x.sin(), x.exp()));
formula!(Scaled, |x| x.scale(3.0).square());

macro_rules! check_all {
    ($x:expr, $c:expr; $($plain:ident)*; $($with:ident)*) => {
        $($plain.check($x);)*
        $($with($c).check($x);)*
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn r20_every_elementary_operation_has_the_derivative_of_its_differences(
        x in 0.3..3.0f64, c in 0.3..3.0f64,
    ) {
        // Where the branch changes within the differences there is no derivative to compare.
        prop_assume!((x - c).abs() > 0.05);
        check_all!(x, c;
            Negative Root Logarithm Exponential Sine Cosine ArcSine ArcCosine ArcTangent Hyperbolic Power Scaled;
            Sum Difference Product Quotient Reciprocal Absolute AngleOfY AngleOfX Smaller Larger Clamped Sign Selected);
        if (x - core::f64::consts::FRAC_PI_2).abs() > 0.1 {
            Tangent.check(x);
        }
        check_all!(-x, c;
            Negative Exponential Sine Cosine ArcSine ArcCosine ArcTangent Hyperbolic Power Scaled;
            Sum Difference Product Quotient Reciprocal Absolute AngleOfY AngleOfX Smaller Larger Clamped Sign Selected);
    }

    #[test]
    fn r20_scalar_over_vector_components(s in 0.5..2.0, a in prop::array::uniform3(0.5..2.0f64)) {
        // d(s/aᵢ)/daᵢ = −s/aᵢ², d(s/aᵢ)/ds = 1/aᵢ, and nothing across components.
        let ds = DualN::<f64, 4>::variable(s, 3);
        let v = Vec3::new(DualN::variable(a[0], 0), DualN::variable(a[1], 1), DualN::variable(a[2], 2));
        let quotients = v.to_array().map(|ai| ds / ai);
        for i in 0..3 {
            for j in 0..3 {
                let expected = if i == j { -s / (a[i] * a[i]) } else { 0.0 };
                prop_assert!((quotients[i].tangent[j] - expected).abs() <= 1e-14 * s);
            }
            prop_assert!((quotients[i].tangent[3] - 1.0 / a[i]).abs() <= 1e-15);
        }
    }

    #[test]
    fn r20_component_writes_keep_gradients(a in prop::array::uniform3(-2.0..2.0f64), i in 0usize..3) {
        let x = DualN::<f64, 1>::variable(a[i], 0);
        let mut written = Vec3::splat(a);
        match i {
            0 => written.x = x,
            1 => written.y = x,
            _ => written.z = x,
        }
        let built = written.norm_squared();
        prop_assert_eq!(built.tangent[0], 2.0 * a[i]);
        let mut matrix = Mat3::<DualN<f64, 1>>::identity();
        matrix.columns[i] = written;
        // d det / d (i, i) is the cofactor there, one.
        prop_assert!((matrix.determinant().tangent[0] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn r20_nested_loops_accumulate_once(x in 0.5..1.5, n in 1usize..6, m in 1usize..6) {
        let mut sum = Dual::constant(0.0);
        for i in 0..n {
            for j in 0..m {
                sum += Dual::new(x, 1.0) * Dual::constant((i + j) as f64);
            }
        }
        let expected: usize = (0..n).flat_map(|i| (0..m).map(move |j| i + j)).sum();
        prop_assert_eq!(sum.tangent[0], expected as f64);
    }

    #[test]
    fn directions_of_a_wide_dual_are_those_of_single_ones(x in 0.3..3.0, y in 0.3..3.0) {
        let wide = |x: DualN<f64, 2>, y: DualN<f64, 2>| (x * y).exp().atan2(x.sqrt() / y) + y.ln().tanh();
        let single = |x: Dual<f64>, y: Dual<f64>| (x * y).exp().atan2(x.sqrt() / y) + y.ln().tanh();
        let both = wide(DualN::variable(x, 0), DualN::variable(y, 1));
        prop_assert_eq!(both.tangent[0], single(Dual::new(x, 1.0), Dual::constant(y)).tangent[0]);
        prop_assert_eq!(both.tangent[1], single(Dual::constant(x), Dual::new(y, 1.0)).tangent[0]);
    }
}

/// The value and derivative of a formula at a point.
fn at(f: impl Fn(Dual<f64>) -> Dual<f64>, x: f64) -> (f64, f64) {
    let d = f(Dual::new(x, 1.0));
    (d.value, d.tangent[0])
}

#[test]
fn r20_sign_has_derivative_zero_at_zero_too() {
    for x in [-2.0, -0.0, 0.0, 2.0] {
        let expected = if x == 0.0 { 0.0 } else { x / 2.0 };
        assert_eq!(at(|x| x.signum(), x), (expected, 0.0));
    }
}

#[test]
fn absolute_value_has_derivative_zero_at_zero() {
    assert_eq!(at(|x| x.abs(), 0.0), (0.0, 0.0));
    assert_eq!(at(|x| x.abs(), -0.0), (0.0, 0.0));
}

#[test]
fn root_of_zero_has_derivative_zero() {
    assert_eq!(at(|x| x.sqrt(), 0.0), (0.0, 0.0));
    let second = Dual::new(Dual::new(0.0, 1.0), Dual::new(1.0, 0.0)).sqrt();
    assert_eq!(second.tangent[0].tangent[0], 0.0);
}

#[test]
fn length_of_the_zero_vector_has_derivative_zero() {
    let zero = Vec3::new(Dual::new(0.0, 1.0), Dual::new(0.0, -2.0), Dual::new(0.0, 0.5));
    assert_eq!(zero.norm(), Dual::new(0.0, 0.0));
    let (unit, length) = zero.normalize();
    assert_eq!(length, Dual::new(0.0, 0.0));
    for c in unit.to_array() {
        assert_eq!(c, Dual::new(0.0, 0.0));
    }
    let q = Quat { w: Dual::new(0.0, 1.0), v: zero }.normalize();
    for c in [q.w, q.v.x, q.v.y, q.v.z] {
        assert_eq!(c, Dual::new(0.0, 0.0));
    }
}

#[test]
fn angle_at_the_origin_has_derivative_zero() {
    let origin = Dual::new(0.0, 1.0).atan2(Dual::new(0.0, -1.0));
    assert_eq!(origin, Dual::new(0.0, 0.0));
    let second = Dual::new(Dual::new(0.0, 1.0), Dual::new(1.0, 0.0));
    assert_eq!(second.atan2(second).tangent[0].tangent[0], 0.0);
}

#[test]
fn angles_stay_finite_for_tiny_and_huge_points() {
    for scale in [1e-300, 1e-200, 1e200, 1e300] {
        let angle = Dual::new(scale, scale).atan2(Dual::new(scale, 0.0));
        assert!((angle.tangent[0] - 0.5).abs() < 1e-15, "{scale:e}: {}", angle.tangent[0]);
    }
}

#[test]
fn arc_functions_have_derivative_zero_at_their_ends_and_beyond() {
    use core::f64::consts::{FRAC_PI_2, PI};
    for (x, acos, asin) in [(1.0, 0.0, FRAC_PI_2), (-1.0, PI, -FRAC_PI_2)] {
        for x in [x, 1.5 * x] {
            assert_eq!(at(|x| x.acos(), x), (acos, 0.0));
            assert_eq!(at(|x| x.asin(), x), (asin, 0.0));
        }
    }
}

#[test]
fn ties_of_min_and_max_take_the_first() {
    let (a, b) = (Dual::new(1.0, 2.0), Dual::new(1.0, 3.0));
    assert_eq!((a.min(b), b.min(a)), (a, b));
    assert_eq!((a.max(b), b.max(a)), (a, b));
    assert_eq!(a.clamp(b, Dual::constant(2.0)), a);
    assert_eq!(a.clamp(Dual::constant(0.0), b), a);
}

#[test]
fn the_branch_not_taken_leaves_no_nan() {
    let zero = Dual::new(0.0, 1.0);
    let quotient = Dual::select(zero.equals(Dual::zero()), Dual::one(), zero / zero);
    assert_eq!(quotient, Dual::new(1.0, 0.0));
}

#[test]
fn a_rotation_vector_of_zero_has_its_limit_derivative() {
    for scale in [0.0, 1e-12, 1e-5, 0.9e-4, 1.1e-4, 1e-3] {
        let omega = Vec3::new(Dual::new(scale, 1.0), Dual::constant(0.0), Dual::constant(0.0));
        let q = Quat::from_rotation_vector(omega);
        assert!((q.v.x.tangent[0] - 0.5 * (0.5 * scale).cos()).abs() < 1e-12, "{scale}");
        assert!((q.w.tangent[0] + 0.5 * (0.5 * scale).sin()).abs() < 1e-12, "{scale}");
    }
}
