//! Lanes as a plain array, for processors without a register type of their own here.

use super::Lanes;
use crate::math::{self, Bits, MAX_LANES_F64};
use crate::scalar::{Mask, Scalar};
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub, SubAssign};

/// `N` numbers, computed one after the other or as the compiler sees fit; N is at most eight.
#[derive(Clone, Copy, Debug)]
pub struct Array<E, const N: usize>([E; N]);

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

macro_rules! array {
    ($t:ty) => {
        impl<const N: usize> Array<$t, N> {
            /// In double precision, where the transcendental functions are computed.
            #[inline(always)]
            fn widen(self) -> Array<f64, N> {
                Array(each!(|i| 0.0, f64::from(self.0[i])))
            }
            #[inline(always)]
            fn narrow(wide: Array<f64, N>) -> Self {
                Self(each!(|i| 0.0, wide.0[i] as $t))
            }
        }
        array!(@binary $t: Add add, Sub sub, Mul mul, Div div);
        impl<const N: usize> Neg for Array<$t, N> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(each!(|i| 0.0, -self.0[i]))
            }
        }
        impl<const N: usize> AddAssign for Array<$t, N> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl<const N: usize> SubAssign for Array<$t, N> {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
        impl<const N: usize> Scalar for Array<$t, N> {
            type Mask = MaskArray<N>;
            #[inline(always)]
            fn splat(value: f64) -> Self {
                Self([value as $t; N])
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
                Self::narrow(math::ln(self.widen()))
            }
            #[inline(always)]
            fn exp(self) -> Self {
                Self::narrow(math::exp(self.widen()))
            }
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                let (sine, cosine) = math::sin_cos(self.widen());
                (Self::narrow(sine), Self::narrow(cosine))
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                Self::narrow(math::atan2(self.widen(), x.widen()))
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                Self::narrow(math::tanh(self.widen()))
            }
        }
        impl<const N: usize> Lanes<$t> for Array<$t, N> {
            const N: usize = N;
            #[inline(always)]
            fn load(values: &[$t]) -> Self {
                let values = &values[..N];
                Self(each!(|i| 0.0, values[i]))
            }
            #[inline(always)]
            fn store(self, out: &mut [$t]) {
                out[..N].copy_from_slice(&self.0);
            }
            #[inline(always)]
            fn lane(self, i: usize) -> $t {
                self.0[i]
            }
        }
    };
    (@binary $t:ty: $($trait:ident $method:ident),*) => {$(
        impl<const N: usize> $trait for Array<$t, N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Self(each!(|i| 0.0, self.0[i].$method(o.0[i])))
            }
        }
    )*};
}
array!(f64);
array!(f32);
impl<const N: usize> Bits for Array<f64, N> {
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
