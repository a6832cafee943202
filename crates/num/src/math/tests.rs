//! Accuracy against the C library, whose own errors are below one ulp, of `tanh` below two.

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
    ("tanh", |x| Scalar::tanh(x), f64::tanh, 5),
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

/// tanh at random points, correctly rounded from fifty digits.
const TANH: [(f64, f64); 48] = [
    (0.22178417500913805, 0.21821793577559234),
    (0.5624348766297732, 0.5097817760611878),
    (0.27545164541122785, 0.2686902719644509),
    (0.9279307250421059, 0.7296276733809995),
    (1.9976222466240767, 0.9638592042013077),
    (0.023558447615673675, 0.023554090266628844),
    (0.1809167137330774, 0.17896836516340692),
    (1.4892434853404755, 0.9031854453608772),
    (0.18468827672777233, 0.18261664636483416),
    (1.7232711307760131, 0.9382557120403462),
    (1.7709866738244318, 0.9437174641248646),
    (0.19948863109307197, 0.19688382316044964),
    (2.6264334354926646, 0.9895894810289394),
    (1.368615993904239, 0.878376394492676),
    (10.52238031956636, 0.9999999985498712),
    (0.33844392083382857, 0.32608748466984616),
    (1.4810789836709444, 0.9016699448057003),
    (0.18880206660560528, 0.1865902385615356),
    (2.053892145225387, 0.9676437325630917),
    (5.381567479974372, 0.9999576697646996),
    (0.03018418115822179, 0.030175017714870845),
    (0.16621871231365726, 0.16470464268712856),
    (0.2756839503375984, 0.268905792305343),
    (10.208626515925651, 0.9999999972840006),
    (0.07882400319507284, 0.07866115751926066),
    (0.17020428475290744, 0.16857953187611002),
    (0.18071387931756663, 0.1787720203436421),
    (1.1286880854193229, 0.8105697842966025),
    (7.321020885531163, 0.9999991248714334),
    (0.43235247065546223, 0.4072854264264748),
    (1.5490035568869645, 0.9136209311298797),
    (0.19398076166972722, 0.19158376275511071),
    (0.05222303944587239, 0.05217561615667169),
    (0.15581097826763546, 0.15456222574508366),
    (3.4010923504737733, 0.9977797783546628),
    (0.08381122626619342, 0.08361553707765323),
    (1.0328427727645861, 0.7750459731110594),
    (0.07292717707237321, 0.07279816686823154),
    (0.25132124395155914, 0.2461602488405769),
    (0.2938420278784615, 0.28566716857944024),
    (0.156460576819618, 0.15519624197782897),
    (14.192480180970275, 0.999999999999059),
    (0.14867054216086417, 0.1475847889483662),
    (9.837872849349786, 0.9999999942988533),
    (0.347180487820806, 0.3338726886367191),
    (0.145274011268727, 0.144260585251029),
    (2.4784657554456633, 0.9860293165437931),
    (4.889839618582068, 0.9998868265143059),
];

#[test]
fn tanh_is_within_three_ulp_of_the_exact_value() {
    for (x, expected) in TANH {
        let error = ulps(Scalar::tanh(x), expected);
        assert!(error <= 3, "tanh({x:e}): {error} ulp");
    }
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
