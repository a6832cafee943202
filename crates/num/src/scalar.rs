//! The number that every formula of the engine is generic over.

use crate::math;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub, SubAssign};

/// The result of a comparison: one truth value per lane.
pub trait Mask:
    Copy + Debug + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// The same truth value in every lane.
    fn splat(value: bool) -> Self;
    /// Whether any lane is true.
    fn any(self) -> bool;
    /// Whether every lane is true.
    fn all(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        value
    }
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
    #[inline(always)]
    fn all(self) -> bool {
        self
    }
}

/// A real number, a register of them, or a dual number over either.
///
/// A formula written once over `Scalar` runs on `f64`, on [`Dual`](crate::Dual) numbers (its
/// tangent), and on the lanes of a vector register. Branches are written with comparisons and
/// [`select`](Scalar::select), so that every lane can take its own.
///
/// Results are the same bits on every instruction set: no fused multiply-add, and the
/// transcendental functions are this crate's own polynomials.
///
/// Derivatives at points where a formula has none are those of the branch taken; `sqrt(0)`,
/// `abs(0)` and `atan2(0, 0)` have derivative zero.
pub trait Scalar:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// One truth value per lane.
    type Mask: Mask;

    /// The constant `value` in every lane, with zero derivative.
    fn splat(value: f64) -> Self;
    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
    /// One.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }
    /// `self < other`, by value.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`, by value.
    fn le(self, other: Self) -> Self::Mask;
    /// `self > other`, by value.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }
    /// `self >= other`, by value.
    #[inline(always)]
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }
    /// `self == other`, by value.
    fn equals(self, other: Self) -> Self::Mask;
    /// `if_true` where the mask holds, `if_false` elsewhere; the other branch's NaN does not leak.
    fn select(mask: Self::Mask, if_true: Self, if_false: Self) -> Self;

    /// Square root; its derivative at zero is zero.
    fn sqrt(self) -> Self;
    /// Absolute value; its derivative at zero is zero.
    fn abs(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Angle of the point `(x, self)`; its derivative at the origin is zero.
    fn atan2(self, x: Self) -> Self;

    /// The smaller of two numbers; on a tie the first.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.le(other), self, other)
    }
    /// The larger of two numbers; on a tie the first.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(self.ge(other), self, other)
    }
    /// Sine.
    #[inline(always)]
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    /// Cosine.
    #[inline(always)]
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    /// Hyperbolic tangent.
    #[inline(always)]
    fn tanh(self) -> Self {
        let magnitude = self.abs();
        let e = (magnitude * Self::splat(-2.0)).exp();
        let t = (Self::one() - e) / (Self::one() + e);
        Self::select(self.lt(Self::zero()), -t, t)
    }
    /// Tangent.
    #[inline(always)]
    fn tan(self) -> Self {
        let (sine, cosine) = self.sin_cos();
        sine / cosine
    }
    /// Arc tangent.
    #[inline(always)]
    fn atan(self) -> Self {
        self.atan2(Self::one())
    }
    /// Arc sine; the argument is clamped to [-1, 1] and the derivative at the ends is zero.
    #[inline(always)]
    fn asin(self) -> Self {
        let one = Self::one();
        let x = self.clamp(-one, one);
        x.atan2(((one - x) * (one + x)).sqrt())
    }
    /// Arc cosine; the argument is clamped to [-1, 1] and the derivative at the ends is zero.
    #[inline(always)]
    fn acos(self) -> Self {
        let one = Self::one();
        let x = self.clamp(-one, one);
        ((one - x) * (one + x)).sqrt().atan2(x)
    }
    /// -1, 0 or 1, with derivative zero everywhere.
    #[inline(always)]
    fn signum(self) -> Self {
        let zero = Self::zero();
        let positive = Self::select(self.gt(zero), Self::one(), zero);
        Self::select(self.lt(zero), -Self::one(), positive)
    }
    /// The nearest number from `low` to `high`; at a bound the derivative is that of `self`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        Self::select(self.lt(low), low, Self::select(self.gt(high), high, self))
    }
    /// `self` to a whole power, by repeated squaring.
    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        let mut remaining = exponent.unsigned_abs();
        let mut factor = self;
        let mut product = Self::one();
        while remaining > 0 {
            if remaining & 1 == 1 {
                product = product * factor;
            }
            remaining >>= 1;
            if remaining > 0 {
                factor = factor * factor;
            }
        }
        if exponent < 0 { product.recip() } else { product }
    }
    /// `self` times `self`.
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
    /// One over `self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::one() / self
    }
    /// `self` multiplied by a plain constant.
    #[inline(always)]
    fn scale(self, factor: f64) -> Self {
        self * Self::splat(factor)
    }
}

/// A plain number; `f32` computes its transcendental functions in `f64` and rounds once more.
macro_rules! plain_number {
    ($t:ty) => {
        impl Scalar for $t {
            type Mask = bool;
            #[inline(always)]
            fn splat(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(mask: bool, if_true: Self, if_false: Self) -> Self {
                if mask { if_true } else { if_false }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                math::ln(f64::from(self)) as $t
            }
            #[inline(always)]
            fn exp(self) -> Self {
                math::exp(f64::from(self)) as $t
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                let (sine, cosine) = math::sin_cos(f64::from(self));
                (sine as $t, cosine as $t)
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                math::atan2(f64::from(self), f64::from(x)) as $t
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                math::tanh(f64::from(self)) as $t
            }
        }
    };
}
plain_number!(f64);
plain_number!(f32);
