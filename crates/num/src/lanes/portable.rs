//! Lanes as a plain array, for processors without a register type of their own here.

use super::Lanes;
use crate::math::{self, Bits, MAX_LANES_F64};
use crate::scalar::{Mask, Scalar};
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub, SubAssign};

/// `N` numbers, computed one after the other or as the compiler sees fit; N is at most eight.
#[derive(Clone, Copy, Debug)]
pub struct F64Array<const N: usize>([f64; N]);

/// A truth value for each of `N` lanes.
#[derive(Clone, Copy, Debug)]
pub struct MaskArray<const N: usize>([bool; N]);

macro_rules! each {
    (|$i:ident| $fill:expr, $e:expr) => {{
        let mut out = [$fill; N];
        let mut $i = 0;
        while $i < N {
            out[$i] = $e;
            $i += 1;
        }
        out
    }};
}

impl<const N: usize> BitAnd for MaskArray<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, o: Self) -> Self {
        Self(each!(|i| false, self.0[i] & o.0[i]))
    }
}
impl<const N: usize> BitOr for MaskArray<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, o: Self) -> Self {
        Self(each!(|i| false, self.0[i] | o.0[i]))
    }
}
impl<const N: usize> Not for MaskArray<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(each!(|i| false, !self.0[i]))
    }
}
impl<const N: usize> Mask for MaskArray<N> {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn any(self) -> bool {
        let mut any = false;
        let mut i = 0;
        while i < N {
            any |= self.0[i];
            i += 1;
        }
        any
    }
    #[inline(always)]
    fn all(self) -> bool {
        !(!self).any()
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<const N: usize> $trait for F64Array<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self(each!(|i| 0.0, self.0[i].$method(o.0[i])))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl<const N: usize> Neg for F64Array<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(each!(|i| 0.0, -self.0[i]))
    }
}
impl<const N: usize> AddAssign for F64Array<N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<const N: usize> SubAssign for F64Array<N> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<const N: usize> Scalar for F64Array<N> {
    type Mask = MaskArray<N>;
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn lt(self, o: Self) -> MaskArray<N> {
        MaskArray(each!(|i| false, self.0[i] < o.0[i]))
    }
    #[inline(always)]
    fn le(self, o: Self) -> MaskArray<N> {
        MaskArray(each!(|i| false, self.0[i] <= o.0[i]))
    }
    #[inline(always)]
    fn equals(self, o: Self) -> MaskArray<N> {
        MaskArray(each!(|i| false, self.0[i] == o.0[i]))
    }
    #[inline(always)]
    fn select(mask: MaskArray<N>, a: Self, b: Self) -> Self {
        Self(each!(|i| 0.0, if mask.0[i] { a.0[i] } else { b.0[i] }))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(each!(|i| 0.0, self.0[i].sqrt()))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(each!(|i| 0.0, self.0[i].abs()))
    }
    #[inline(always)]
    fn ln(self) -> Self {
        math::ln(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        math::exp(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        math::sin_cos(self)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        math::atan2(self, x)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        math::tanh(self)
    }
}

impl<const N: usize> Bits for F64Array<N> {
    #[inline(always)]
    fn and_bits(self, o: Self) -> Self {
        Self(each!(|i| 0.0, self.0[i].and_bits(o.0[i])))
    }
    #[inline(always)]
    fn or_bits(self, o: Self) -> Self {
        Self(each!(|i| 0.0, self.0[i].or_bits(o.0[i])))
    }
    #[inline(always)]
    fn xor_bits(self, o: Self) -> Self {
        Self(each!(|i| 0.0, self.0[i].xor_bits(o.0[i])))
    }
    #[inline(always)]
    fn add_bits(self, o: Self) -> Self {
        Self(each!(|i| 0.0, self.0[i].add_bits(o.0[i])))
    }
    #[inline(always)]
    fn shift_up_52(self) -> Self {
        Self(each!(|i| 0.0, self.0[i].shift_up_52()))
    }
    #[inline(always)]
    fn shift_up_62(self) -> Self {
        Self(each!(|i| 0.0, self.0[i].shift_up_62()))
    }
    #[inline(always)]
    fn shift_up_63(self) -> Self {
        Self(each!(|i| 0.0, self.0[i].shift_up_63()))
    }
    #[inline(always)]
    fn shift_down_52(self) -> Self {
        Self(each!(|i| 0.0, self.0[i].shift_down_52()))
    }
    #[inline(always)]
    fn spill(self, out: &mut [f64; MAX_LANES_F64]) {
        out[..N].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn fill(from: &[f64; MAX_LANES_F64]) -> Self {
        Self(each!(|i| 0.0, from[i]))
    }
}

impl<const N: usize> Lanes for F64Array<N> {
    const N: usize = N;
    #[inline(always)]
    fn load(values: &[f64]) -> Self {
        let values = &values[..N];
        Self(each!(|i| 0.0, values[i]))
    }
    #[inline(always)]
    fn store(self, out: &mut [f64]) {
        out[..N].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.0[i]
    }
}
