//! Accuracy against the C library, whose own errors are below one ulp.

use crate::scalar::Scalar;
use proptest::prelude::*;

/// A number's place in the order of all `f64`, the two zeros together.
fn place(x: f64) -> i64 {
    let magnitude = (x.to_bits() & !super::SIGN) as i64;
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

/// How many numbers lie between two, none for NaN and NaN.
fn ulps(a: f64, b: f64) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => place(a).abs_diff(place(b)),
        _ => u64::MAX,
    }
}

type Function = (&'static str, fn(f64) -> f64, fn(f64) -> f64, u64);
const FUNCTIONS: [Function; 5] = [
    ("ln", |x| Scalar::ln(x), f64::ln, 2),
    ("exp", |x| Scalar::exp(x), f64::exp, 2),
    ("sin", |x| Scalar::sin(x), f64::sin, 2),
    ("cos", |x| Scalar::cos(x), f64::cos, 2),
    ("tanh", |x| Scalar::tanh(x), f64::tanh, 3),
];

fn check(x: f64) {
    for (name, own, library, limit) in FUNCTIONS {
        let (own, library) = (own(x), library(x));
        let error = ulps(own, library);
        assert!(error <= limit, "{name}({x:e}) = {own:e}, not {library:e}: {error} ulp");
    }
}

fn check2(y: f64, x: f64) {
    let (own, library) = (Scalar::atan2(y, x), f64::atan2(y, x));
    let error = ulps(own, library);
    assert!(error <= 2, "atan2({y:e}, {x:e}) = {own:e}, not {library:e}: {error} ulp");
    assert!(own.is_nan() || own.is_sign_negative() == library.is_sign_negative());
}

fn special() -> Vec<f64> {
    let mut list = vec![0.0, 1.0, f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE];
    // Powers of two to the ends of the range, multiples of π/2 and of ln 2, and their neighbours.
    for e in -1074..1024 {
        list.push(2f64.powi(e));
    }
    for n in 1..2000 {
        list.push(f64::from(n) * core::f64::consts::FRAC_PI_2);
        list.push((f64::from(n) - 0.5) * core::f64::consts::FRAC_PI_2);
        list.push((f64::from(n) - 0.5) * core::f64::consts::LN_2);
    }
    // Near the bounds of the reductions, and where exp over- and underflows; hard cases of π/2
    // reduction (Muller, Elementary Functions, table 11.1 and its like).
    list.extend([
        1_647_000.0,
        1_647_099.3,
        709.782_712_893_384,
        745.133_219_101_941_2,
        708.396_418_532_264_1,
        20.0,
        0.4375,
        0.346_573_590_279_972_64,
        2_616_923_540_365_735.0,
        1e22,
    ]);
    let near: Vec<f64> = list.iter().flat_map(|&x| [x, x.next_up(), x.next_down()]).collect();
    near.iter().flat_map(|&x| [x, -x]).collect()
}

#[test]
fn special_arguments_are_within_the_stated_error() {
    special().into_iter().for_each(check);
    for x in [0.0, -0.0] {
        for own in [<f64 as Scalar>::sin, <f64 as Scalar>::tanh] {
            assert_eq!(f64::to_bits(own(x)), f64::to_bits(x));
        }
    }
}

/// The double that comes nearest to an odd multiple of π/2; its cosine by Kahan (in Muller,
/// *Elementary Functions*, section 11.1). The C library is 8 ulp off there.
#[test]
fn the_hardest_reduction_keeps_all_digits() {
    let x = 6_381_956_970_095_103.0 * 2f64.powi(797);
    let expected = -4.687_165_924_254_628e-19;
    assert_eq!(ulps(Scalar::cos(x), expected), 0);
    assert_eq!(ulps(Scalar::cos(-x), expected), 0);
}

#[test]
fn atan2_of_special_points_is_within_the_stated_error() {
    let list = special();
    let tens: Vec<f64> = (-32..32).map(|i| 10f64.powi(10 * i)).collect();
    let zeros = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324];
    for &y in list.iter().step_by(3).chain(&tens) {
        for x in tens.iter().copied().chain(zeros) {
            check2(y, x);
            check2(x, y);
        }
        for factor in [1.0, 0.4375, 0.437_500_000_000_000_1, 2.3, 1.000_000_000_000_000_2] {
            check2(y, y * factor);
            check2(y, -y * factor);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200_000))]
    #[test]
    fn any_argument_is_within_the_stated_error(bits in any::<u64>(), unit in -1.0..1.0, more in -1.0..1.0) {
        for x in [f64::from_bits(bits), unit, 10.0 * unit, 750.0 * unit, 1e7 * unit] {
            check(x);
            check2(more, x);
            check2(x, more);
        }
        check(1.0 + 0.3 * unit);
        check2(unit, more);
    }
}
