//! Polynomial `ln`, `exp`, `tanh`, `sin_cos` and `atan2`, written once for `f64` and for every
//! register of `f64`.
//!
//! Each function is a fixed sequence of additions, multiplications, divisions, selections and
//! operations on bit patterns. None of these rounds differently between instruction sets, so the
//! results are the same bits on all of them. Against 45 digits, at 6000 random points, the largest
//! errors are 0.73 ulp (`ln`, `sin`, `cos`, `atan2`), 0.87 (`exp`) and 1.9 (`tanh`).

mod atan;
mod exp;
mod ln;
mod sin_cos;

#[cfg(test)]
mod tests;

pub(crate) use atan::atan2;
pub(crate) use exp::{exp, tanh};
pub(crate) use ln::ln;
pub(crate) use sin_cos::sin_cos;

use crate::scalar::Scalar;

/// The most lanes that any register of `f64` has.
pub const MAX_LANES_F64: usize = 8;

/// Adding this to a number of magnitude below 2^51 rounds it to the nearest integer, and leaves
/// the integer in the low bits of the pattern (1.5 · 2^52).
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0;

/// The sign bit of an `f64`.
pub(crate) const SIGN: u64 = 1 << 63;

/// Registers of `f64` whose lanes can be taken apart as 64-bit patterns.
pub trait Bits: Scalar {
    /// The given pattern in every lane.
    #[inline(always)]
    fn pattern(bits: u64) -> Self {
        Self::splat(f64::from_bits(bits))
    }
    /// Bitwise and.
    fn and_bits(self, other: Self) -> Self;
    /// Bitwise or.
    fn or_bits(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor_bits(self, other: Self) -> Self;
    /// Wrapping sum of the patterns read as integers.
    fn add_bits(self, other: Self) -> Self;
    /// The patterns moved 52 bits up, from the low end to sign and exponent.
    fn shift_up_52(self) -> Self;
    /// The patterns moved 62 bits up.
    fn shift_up_62(self) -> Self;
    /// The patterns moved 63 bits up, from the lowest bit to the sign.
    fn shift_up_63(self) -> Self;
    /// The patterns moved 52 bits down, from sign and exponent to the low end.
    fn shift_down_52(self) -> Self;
    /// Writes the lanes to the front of `out`; the rest keeps its values.
    fn spill(self, out: &mut [f64; MAX_LANES_F64]);
    /// Reads the lanes from the front of `from`.
    fn fill(from: &[f64; MAX_LANES_F64]) -> Self;
    /// Whether the sign bit is set, for zeros too.
    #[inline(always)]
    fn is_sign_negative(self) -> Self::Mask {
        self.and_bits(Self::pattern(SIGN)).or_bits(Self::one()).lt(Self::zero())
    }
}

impl Bits for f64 {
    #[inline(always)]
    fn and_bits(self, other: Self) -> Self {
        f64::from_bits(self.to_bits() & other.to_bits())
    }
    #[inline(always)]
    fn or_bits(self, other: Self) -> Self {
        f64::from_bits(self.to_bits() | other.to_bits())
    }
    #[inline(always)]
    fn xor_bits(self, other: Self) -> Self {
        f64::from_bits(self.to_bits() ^ other.to_bits())
    }
    #[inline(always)]
    fn add_bits(self, other: Self) -> Self {
        f64::from_bits(self.to_bits().wrapping_add(other.to_bits()))
    }
    #[inline(always)]
    fn shift_up_52(self) -> Self {
        f64::from_bits(self.to_bits() << 52)
    }
    #[inline(always)]
    fn shift_up_62(self) -> Self {
        f64::from_bits(self.to_bits() << 62)
    }
    #[inline(always)]
    fn shift_up_63(self) -> Self {
        f64::from_bits(self.to_bits() << 63)
    }
    #[inline(always)]
    fn shift_down_52(self) -> Self {
        f64::from_bits(self.to_bits() >> 52)
    }
    #[inline(always)]
    fn spill(self, out: &mut [f64; MAX_LANES_F64]) {
        out[0] = self;
    }
    #[inline(always)]
    fn fill(from: &[f64; MAX_LANES_F64]) -> Self {
        from[0]
    }
}

/// The value of the polynomial with the given coefficients, lowest power first, by Horner's rule.
#[inline(always)]
pub(crate) fn polynomial<S: Scalar, const N: usize>(x: S, coefficients: [f64; N]) -> S {
    let mut i = N - 1;
    let mut sum = S::splat(coefficients[i]);
    while i > 0 {
        i -= 1;
        sum = sum * x + S::splat(coefficients[i]);
    }
    sum
}
