//! Sine and cosine.

use super::{Bits, MAX_LANES_F64, ROUND, SIGN, polynomial};
use crate::scalar::Mask;

/// π/2 in three parts of 33 bits and a rest, so that multiples up to 2²⁰ of a part are exact.
const HALF_PI: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_711_166_5e-21,
    8.478_427_660_368_9e-32,
];
/// From here on (2²⁰ quarter turns, about) the argument is reduced by integer arithmetic.
const LARGE: f64 = 1_647_000.0;

/// The first bits of 2/π after the binary point, a zero word before them.
const TWO_OVER_PI: [u64; 20] = [
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];
/// π/2 · 2⁶³.
const HALF_PI_FIXED: u64 = 0xc90f_daa2_2168_c234;

/// a − b and its rounding error (Knuth's two-sum).
#[inline(always)]
fn difference<S: Bits>(a: S, b: S) -> (S, S) {
    let s = a - b;
    let t = s - a;
    (s, (a - (s - t)) - (b + t))
}

/// (sin x, cos x); NaN at infinities.
///
/// x = n π/2 + (r + r_low): for |x| below 1.6e6 by Cody and Waite's reduction in three parts, with
/// all rounding errors kept; beyond, lane by lane, by Payne and Hanek's. Then the minimax
/// polynomials of fdlibm's `k_sin.c` and `k_cos.c` (Sun Microsystems 1993; freely usable).
#[inline(always)]
pub(crate) fn sin_cos<S: Bits>(x: S) -> (S, S) {
    let round = S::splat(ROUND);
    let mut shifted = x * S::splat(core::f64::consts::FRAC_2_PI) + round;
    let n = shifted - round;
    let (first, first_low) = difference(x - n * S::splat(HALF_PI[0]), n * S::splat(HALF_PI[1]));
    let (second, second_low) = difference(first, n * S::splat(HALF_PI[2]));
    let low = (first_low + second_low) - n * S::splat(HALF_PI[3]);
    // For n = 0 the argument itself keeps the sign of zero.
    let mut r = S::select(n.equals(S::zero()), x, second + low);
    let mut r_low = S::select(n.equals(S::zero()), S::zero(), (second - r) + low);

    let large = !x.abs().lt(S::splat(LARGE));
    if large.any() {
        let mut arguments = [0.0; MAX_LANES_F64];
        x.spill(&mut arguments);
        let (quarters, high, low) = reduce_large(&arguments);
        shifted = S::select(large, S::fill(&quarters) + round, shifted);
        r = S::select(large, S::fill(&high), r);
        r_low = S::select(large, S::fill(&low), r_low);
    }

    let (sine, cosine) = quarter_turn(r, r_low);
    // The quadrant n mod 4 is in the two lowest bits of `shifted`.
    let odd = shifted.shift_up_63().is_sign_negative();
    let sine_sign = shifted.shift_up_62().and_bits(S::pattern(SIGN));
    let cosine_sign = shifted.add_bits(S::pattern(1)).shift_up_62().and_bits(S::pattern(SIGN));
    (
        S::select(odd, cosine, sine).xor_bits(sine_sign),
        S::select(odd, sine, cosine).xor_bits(cosine_sign),
    )
}

/// Sine and cosine of x + low for |x| ≤ π/4.
#[inline(always)]
fn quarter_turn<S: Bits>(x: S, low: S) -> (S, S) {
    let half = S::splat(0.5);
    let z = x * x;
    let w = z * z;

    let r = polynomial(
        z,
        [8.333_333_333_322_49e-3, -1.984_126_982_985_795e-4, 2.755_731_370_707_006_8e-6],
    ) + z * w * polynomial(z, [-2.505_076_025_340_686_3e-8, 1.589_690_995_211_55e-10]);
    let v = z * x;
    let sine = x - ((z * (half * low - v * r) - low) - v * S::splat(-1.666_666_666_666_663_2e-1));

    let r = z * polynomial(
        z,
        [4.166_666_666_666_66e-2, -1.388_888_888_887_411e-3, 2.480_158_728_947_673e-5],
    ) + w
        * w
        * polynomial(
            z,
            [-2.755_731_435_139_066_3e-7, 2.087_572_321_298_175e-9, -1.135_964_755_778_819_5e-11],
        );
    let half_square = half * z;
    let main = S::one() - half_square;
    let cosine = main + (((S::one() - main) - half_square) + (z * r - x * low));
    (sine, cosine)
}

/// Quadrant (0 to 3), remainder and its low part of each argument; NaN for NaN and infinities.
#[cold]
#[inline(never)]
fn reduce_large(
    arguments: &[f64; MAX_LANES_F64],
) -> ([f64; MAX_LANES_F64], [f64; MAX_LANES_F64], [f64; MAX_LANES_F64]) {
    let mut quarters = [0.0; MAX_LANES_F64];
    let mut high = [0.0; MAX_LANES_F64];
    let mut low = [0.0; MAX_LANES_F64];
    for (i, &x) in arguments.iter().enumerate() {
        (quarters[i], high[i], low[i]) = payne_hanek(x);
    }
    (quarters, high, low)
}

/// x mod 2π as a quadrant and a remainder in [−π/4, π/4] of 64 good bits, for |x| > 2²⁰.
///
/// With x = m 2ᵉ, the bits of 2/π that weigh a multiple of four in m 2ᵉ · 2/π are left out; of the rest
/// 192 bits are taken. The product modulo 2¹⁹² has the quadrant in its two highest bits, and below
/// them at least 137 good bits of the fraction (no double comes nearer than 2⁻⁶² to a multiple of π/2).
fn payne_hanek(x: f64) -> (f64, f64, f64) {
    if !x.is_finite() {
        return (0.0, f64::NAN, f64::NAN);
    }
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    if exponent < -32 {
        // Not a large argument: its lane needs no reduction here.
        return (0.0, x, 0.0);
    }
    let mantissa = (bits & 0x000f_ffff_ffff_ffff) | 0x0010_0000_0000_0000;

    // Bit i of 2/π (from 1) is bit i + 63 of the table; the window starts at bit e − 1.
    let start = (exponent + 62) as usize;
    let word = |i: usize| {
        let (at, shift) = (start / 64 + i, start % 64);
        if shift == 0 {
            TWO_OVER_PI[at]
        } else {
            TWO_OVER_PI[at] << shift | TWO_OVER_PI[at + 1] >> (64 - shift)
        }
    };
    let m = u128::from(mantissa);
    let low = m * u128::from(word(2));
    let middle = m * u128::from(word(1)) + (low >> 64);
    let high = m.wrapping_mul(u128::from(word(0))) + (middle >> 64);
    // The highest 128 of the 192 bits of the product, whose lowest 64 are `low as u64`.
    let product = (high << 64) | (middle & u128::from(u64::MAX));

    let quadrant = (product >> 126) as u64;
    let fraction = product << 2 | u128::from((low as u64) >> 62);
    let above_half = fraction >> 127 == 1;
    let quadrant = (quadrant + u64::from(above_half)) & 3;
    let distance = if above_half { fraction.wrapping_neg() } else { fraction };
    // distance · 2⁻¹²⁸ quarter turns; at least 64 of its bits count after normalising.
    let zeros = distance.leading_zeros();
    let top = ((distance << zeros) >> 64) as u64;
    let radians = (u128::from(top) * u128::from(HALF_PI_FIXED)) >> 63;
    // radians · 2^(−64 − zeros): its 65 bits as two numbers.
    let unit = f64::from_bits(u64::from(1023 - 64 - zeros) << 52);
    let rounded = (radians >> 13) << 13;
    let remainder = (rounded as f64) * unit;
    let remainder_low = ((radians - rounded) as f64) * unit;
    let negative = above_half != x.is_sign_negative();
    let sign = if negative { -1.0 } else { 1.0 };
    let quadrant = if x.is_sign_negative() { (4 - quadrant) & 3 } else { quadrant };
    (quadrant as f64, sign * remainder, sign * remainder_low)
}
