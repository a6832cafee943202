//! Natural logarithm.

use super::{Bits, polynomial};

/// High part of ln 2, with 32 trailing zero bits, so that multiples by an exponent are exact.
pub(super) const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// ln 2 less [`LN2_HIGH`].
pub(super) const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The pattern of √½ with the low half cleared: the smallest reduced argument.
const SQRT_HALF: u64 = 0x3fe6_a09e_0000_0000;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
/// The pattern of 2^52, whose low bits hold a small integer.
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// 2^52 and the exponent's bias.
const TWO_52_BIASED: f64 = 4_503_599_627_370_496.0 + 1023.0;

/// ln x for any `f64`: −∞ at zero, NaN below.
///
/// With x = 2ᵏ (1 + f), √½ < 1 + f < √2 and s = f / (2 + f): ln(1 + f) = f − f²/2 + s (f²/2 + R(s²)),
/// with the minimax R of fdlibm's `e_log.c` (Sun Microsystems 1993; freely usable).
#[inline(always)]
pub(crate) fn ln<S: Bits>(x: S) -> S {
    let subnormal = x.lt(S::splat(f64::MIN_POSITIVE));
    let scaled = S::select(subnormal, x * S::splat(18_014_398_509_481_984.0), x);
    let shifted = scaled.add_bits(S::pattern(ONE.wrapping_sub(SQRT_HALF)));
    let exponent = shifted.shift_down_52().or_bits(S::pattern(TWO_52)) - S::splat(TWO_52_BIASED);
    let k = S::select(subnormal, exponent - S::splat(54.0), exponent);
    let f = shifted.and_bits(S::pattern(MANTISSA)).add_bits(S::pattern(SQRT_HALF)) - S::one();

    let s = f / (S::splat(2.0) + f);
    let z = s * s;
    let w = z * z;
    let even = w * polynomial(
        w,
        [3.999_999_999_940_942e-1, 2.222_219_843_214_978_4e-1, 1.531_383_769_920_937_3e-1],
    );
    let odd = z * polynomial(
        w,
        [
            6.666_666_666_666_735e-1,
            2.857_142_874_366_239e-1,
            1.818_357_216_161_805e-1,
            1.479_819_860_511_658_6e-1,
        ],
    );
    let half_square = S::splat(0.5) * f * f;
    let low = s * (half_square + (even + odd)) + k * S::splat(LN2_LOW);
    let result = k * S::splat(LN2_HIGH) - ((half_square - low) - f);

    let finite = S::select(x.equals(S::zero()), S::splat(f64::NEG_INFINITY), result);
    let positive = S::select(x.equals(S::splat(f64::INFINITY)), x, finite);
    S::select(x.ge(S::zero()), positive, S::splat(f64::NAN))
}
