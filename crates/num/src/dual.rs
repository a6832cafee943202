//! Forward duals: a value with its derivative along one or several directions.

use crate::scalar::Scalar;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A value and its derivative along `N` directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualN<S, const N: usize> {
    /// The value.
    pub value: S,
    /// The derivative along each direction.
    pub tangent: [S; N],
}

/// A value and its derivative along one direction.
pub type Dual<S> = DualN<S, 1>;

impl<S: Scalar> Dual<S> {
    /// A value with the given derivative.
    #[inline(always)]
    pub fn new(value: S, tangent: S) -> Self {
        Self { value, tangent: [tangent] }
    }
}

impl<S: Scalar, const N: usize> DualN<S, N> {
    /// A value that does not depend on any direction.
    #[inline(always)]
    pub fn constant(value: S) -> Self {
        Self { value, tangent: [S::zero(); N] }
    }
    /// A value whose derivative is one along direction `i` and zero along the others.
    #[inline(always)]
    pub fn variable(value: S, i: usize) -> Self {
        let mut tangent = [S::zero(); N];
        tangent[i] = S::one();
        Self { value, tangent }
    }
    /// `value` with tangent `slope * self.tangent`.
    #[inline(always)]
    fn chain(self, value: S, slope: S) -> Self {
        let mut tangent = self.tangent;
        let mut i = 0;
        while i < N {
            tangent[i] = slope * tangent[i];
            i += 1;
        }
        Self { value, tangent }
    }
}

macro_rules! lanewise {
    ($a:ident, $b:ident, |$x:ident, $y:ident| $e:expr) => {{
        let mut tangent = $a.tangent;
        let mut i = 0;
        while i < N {
            let ($x, $y) = ($a.tangent[i], $b.tangent[i]);
            tangent[i] = $e;
            i += 1;
        }
        tangent
    }};
}

impl<S: Scalar, const N: usize> Add for DualN<S, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { value: self.value + o.value, tangent: lanewise!(self, o, |x, y| x + y) }
    }
}
impl<S: Scalar, const N: usize> Sub for DualN<S, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { value: self.value - o.value, tangent: lanewise!(self, o, |x, y| x - y) }
    }
}
impl<S: Scalar, const N: usize> Mul for DualN<S, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        let tangent = lanewise!(self, o, |x, y| x * o.value + self.value * y);
        Self { value: self.value * o.value, tangent }
    }
}
impl<S: Scalar, const N: usize> Div for DualN<S, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let inverse = S::one() / o.value;
        let value = self.value / o.value;
        let tangent = lanewise!(self, o, |x, y| (x - value * y) * inverse);
        Self { value, tangent }
    }
}
impl<S: Scalar, const N: usize> Neg for DualN<S, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let mut tangent = self.tangent;
        let mut i = 0;
        while i < N {
            tangent[i] = -tangent[i];
            i += 1;
        }
        Self { value: -self.value, tangent }
    }
}
impl<S: Scalar, const N: usize> AddAssign for DualN<S, N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<S: Scalar, const N: usize> SubAssign for DualN<S, N> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<S: Scalar, const N: usize> Scalar for DualN<S, N> {
    type Mask = S::Mask;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self::constant(S::splat(value))
    }
    #[inline(always)]
    fn lt(self, o: Self) -> S::Mask {
        self.value.lt(o.value)
    }
    #[inline(always)]
    fn le(self, o: Self) -> S::Mask {
        self.value.le(o.value)
    }
    #[inline(always)]
    fn equals(self, o: Self) -> S::Mask {
        self.value.equals(o.value)
    }
    #[inline(always)]
    fn select(mask: S::Mask, a: Self, b: Self) -> Self {
        Self {
            value: S::select(mask, a.value, b.value),
            tangent: lanewise!(a, b, |x, y| S::select(mask, x, y)),
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        let at_zero = root.equals(S::zero());
        let safe = S::select(at_zero, S::one(), root);
        let slope = S::select(at_zero, S::zero(), S::splat(0.5) / safe);
        self.chain(root, slope)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let slope = S::select(
            self.value.lt(S::zero()),
            -S::one(),
            S::select(self.value.gt(S::zero()), S::one(), S::zero()),
        );
        self.chain(self.value.abs(), slope)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        // Scaled by the larger coordinate, so that squares neither over- nor underflow.
        let largest = self.value.abs().max(x.value.abs());
        let at_origin = largest.equals(S::zero());
        let inverse =
            S::select(at_origin, S::zero(), S::select(at_origin, S::one(), largest).recip());
        let (unit_x, unit_y) = (x.value * inverse, self.value * inverse);
        let squared = S::select(at_origin, S::one(), unit_x * unit_x + unit_y * unit_y);
        let slope = inverse / squared;
        let (by_y, by_x) = (unit_x * slope, unit_y * slope);
        let tangent = lanewise!(self, x, |dy, dx| by_y * dy - by_x * dx);
        Self { value: self.value.atan2(x.value), tangent }
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.chain(t, S::one() - t * t)
    }
}
