//! Exponential and hyperbolic tangent.

use super::ln::{LN2_HIGH, LN2_LOW};
use super::{Bits, ROUND, polynomial};

/// 2ⁿ for an integer n from −1022 to 1023.
#[inline(always)]
fn power_of_two<S: Bits>(n: S) -> S {
    (n + S::splat(ROUND)).shift_up_52().add_bits(S::one())
}

/// (k, eʳ − 1) with x = k ln 2 + r, |r| ≤ ln 2 / 2; the series to r¹³, exact to a twentieth of an ulp.
#[inline(always)]
fn reduce<S: Bits>(x: S) -> (S, S) {
    let k = (x * S::splat(core::f64::consts::LOG2_E) + S::splat(ROUND)) - S::splat(ROUND);
    let r = (x - k * S::splat(LN2_HIGH)) - k * S::splat(LN2_LOW);
    let z = r * r;
    let even = polynomial(
        z,
        [
            1.0 / 2.0,
            1.0 / 24.0,
            1.0 / 720.0,
            1.0 / 40_320.0,
            1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
        ],
    );
    let odd = polynomial(
        z,
        [
            1.0 / 6.0,
            1.0 / 120.0,
            1.0 / 5_040.0,
            1.0 / 362_880.0,
            1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
        ],
    );
    (k, r + z * (even + r * odd))
}

/// eˣ for any `f64`; overflow gives ∞, underflow subnormal numbers and zero.
#[inline(always)]
pub(crate) fn exp<S: Bits>(x: S) -> S {
    let low = S::splat(-750.0);
    let high = S::splat(710.0);
    let clamped = S::select(x.lt(low), low, S::select(x.gt(high), high, x));
    let (k, q) = reduce(clamped);
    // Two factors, since 2ᵏ itself may lie outside the normal numbers where the result does not.
    let half = (k * S::splat(0.5) + S::splat(ROUND)) - S::splat(ROUND);
    ((S::one() + q) * power_of_two(half)) * power_of_two(k - half)
}

/// tanh x, as e / (e + 2) with e = exp(2|x|) − 1.
#[inline(always)]
pub(crate) fn tanh<S: Bits>(x: S) -> S {
    // From here on the result rounds to one.
    let limit = S::splat(20.0);
    let magnitude = x.abs();
    let clamped = S::select(magnitude.gt(limit), limit, magnitude);
    let (k, q) = reduce(clamped + clamped);
    let scale = power_of_two(k);
    let e = scale * q + (scale - S::one());
    let t = e / (e + S::splat(2.0));
    t.or_bits(x.and_bits(S::pattern(super::SIGN)))
}
