//! Angle of a point in the plane.

use super::{Bits, SIGN, polynomial};

/// π/4 and what its `f64` lacks.
const QUARTER: f64 = core::f64::consts::FRAC_PI_4;
const QUARTER_LOW: f64 = 3.061_616_997_868_383e-17;
/// 3π/4 and what its `f64` lacks.
const THREE_QUARTERS: f64 = 2.356_194_490_192_345;
const THREE_QUARTERS_LOW: f64 = 9.184_850_993_605_148e-17;

/// The constant 2ⁿ.
#[inline(always)]
fn power_of_two<S: Bits>(n: i64) -> S {
    S::pattern(((1023 + n) as u64) << 52)
}

/// The two halves of a number, of at most 26 bits each (Dekker 1971).
#[inline(always)]
fn split<S: Bits>(a: S) -> (S, S) {
    let c = a * S::splat(134_217_729.0);
    let high = c - (c - a);
    (high, a - high)
}

/// The rounding error of the product `p = a b` (Dekker 1971).
#[inline(always)]
fn product_error<S: Bits>(a: S, b: S, p: S) -> S {
    let (a_high, a_low) = split(a);
    let (b_high, b_low) = split(b);
    (((a_high * b_high - p) + a_high * b_low) + a_low * b_high) + a_low * b_low
}

/// The angle of the point (x, y), with the signs of zeros and the infinities as in IEEE 754.
///
/// With s ≤ b the absolute coordinates in order, atan(s/b) is the polynomial of fdlibm's `s_atan.c`
/// (Sun Microsystems 1993; freely usable) at t = s/b up to 7/16, and π/4 + atan((s − b)/(s + b))
/// beyond. The quotient is carried with its rounding error, so that one ulp is kept.
#[inline(always)]
pub(crate) fn atan2<S: Bits>(y: S, x: S) -> S {
    let (ax, ay) = (x.abs(), y.abs());
    let steep = ay.gt(ax);
    let b = S::select(steep, ay, ax);
    let s = S::select(steep, ax, ay);

    let infinite = b.equals(S::splat(f64::INFINITY));
    let both = s.equals(S::splat(f64::INFINITY));
    let at_origin = b.equals(S::zero());
    let s = S::select(infinite, S::select(both, S::one(), S::zero()), s);
    let b = S::select(infinite | at_origin, S::one(), b);
    // A common factor by which nothing below over- or underflows unless the angle itself does.
    let factor = S::select(
        b.gt(power_of_two(900)),
        power_of_two(-100),
        S::select(b.lt(power_of_two(400)), power_of_two(500), S::one()),
    );
    let (s, b) = (s * factor, b * factor);

    let direct = s.le(b * S::splat(0.4375));
    let difference = s - b;
    let difference_error = s - (difference + b);
    let sum = b + s;
    let sum_error = s - (sum - b);
    let numerator = S::select(direct, s, difference);
    let numerator_error = S::select(direct, S::zero(), difference_error);
    let denominator = S::select(direct, b, sum);
    let denominator_error = S::select(direct, S::zero(), sum_error);
    let inverse = denominator.recip();
    let t = numerator * inverse;
    let p = t * denominator;
    let residual = ((numerator - p) - product_error(t, denominator, p))
        + (numerator_error - t * denominator_error);
    let t_low = residual * inverse;

    let z = t * t;
    let w = z * z;
    let odd = z * polynomial(
        w,
        [
            3.333_333_333_333_293e-1,
            1.428_571_427_250_346_6e-1,
            9.090_887_133_436_507e-2,
            6.661_073_137_387_531e-2,
            4.976_877_994_615_932_4e-2,
            1.628_582_011_536_578_2e-2,
        ],
    );
    let even = w * polynomial(
        w,
        [
            -1.999_999_999_987_648_3e-1,
            -1.111_111_040_546_235_6e-1,
            -7.691_876_205_044_83e-2,
            -5.833_570_133_790_573_5e-2,
            -3.653_157_274_421_691_6e-2,
        ],
    );
    // atan(t + t_low) = t − correction
    let correction = t * (odd + even) - (t_low - t_low * z);

    // The angle is base ± atan: octants by whether the point lies above the diagonal, left of the axis.
    let left = x.is_sign_negative();
    let zero = S::zero();
    let quarter = S::select(left, S::splat(THREE_QUARTERS), S::splat(QUARTER));
    let quarter_low = S::select(left, S::splat(THREE_QUARTERS_LOW), S::splat(QUARTER_LOW));
    let half = S::splat(2.0 * QUARTER);
    let half_low = S::splat(2.0 * QUARTER_LOW);
    let axis = S::select(steep, half, S::select(left, S::splat(4.0 * QUARTER), zero));
    let axis_low = S::select(steep, half_low, S::select(left, S::splat(4.0 * QUARTER_LOW), zero));
    let base = S::select(direct, axis, quarter);
    let base_low = S::select(direct, axis_low, quarter_low);
    // Counted from the other axis, or mirrored in the vertical one, the angle runs backwards.
    let flip = S::select(steep, S::pattern(SIGN), zero).xor_bits(x.and_bits(S::pattern(SIGN)));
    let angle = base + (t.xor_bits(flip) - (correction.xor_bits(flip) - base_low));

    let signed = angle.xor_bits(y.and_bits(S::pattern(SIGN)));
    let ordered = x.equals(x) & y.equals(y);
    S::select(ordered, signed, S::splat(f64::NAN))
}
