//! Registers of `f32`, twice as many lanes as of `f64`.
//!
//! The transcendental functions are computed in two registers of `f64` and rounded once, which makes
//! them the same bits as on a plain `f32`.

use super::super::Lanes;
use super::{F64x2, F64x4, F64x8};
use crate::math;
use crate::scalar::{Mask, Scalar};
use core::arch::x86_64::*;
use core::fmt;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub, SubAssign};

mod avx2;
mod avx512;
mod sse2;

macro_rules! register {
    ($lanes:ident, $mask:ident, $half:ident, $ops:ident, $n:literal) => {
        /// A register of numbers.
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $lanes($ops::Register);
        /// A truth value for each lane of a register.
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $mask($ops::Truth);

        impl $lanes {
            /// The lower and upper lanes in double precision.
            #[inline(always)]
            fn widen(self) -> ($half, $half) {
                // SAFETY: see the module `x86`.
                let (low, high) = unsafe { $ops::widen(self.0) };
                ($half(low), $half(high))
            }
            /// The two halves rounded.
            #[inline(always)]
            fn narrow(low: $half, high: $half) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::narrow(low.0, high.0) })
            }
        }
        impl fmt::Debug for $lanes {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut lanes = [0.0; $n];
                self.store(&mut lanes);
                lanes.fmt(f)
            }
        }
        impl fmt::Debug for $mask {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $lanes::select(*self, $lanes::one(), $lanes::zero()).fmt(f)
            }
        }
        register!(@binary $mask: BitAnd bitand = $ops::mask_and, BitOr bitor = $ops::mask_or);
        register!(@binary $lanes: Add add = $ops::add, Sub sub = $ops::sub, Mul mul = $ops::mul, Div div = $ops::div);
        impl Not for $mask {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::mask_not(self.0) })
            }
        }
        impl Mask for $mask {
            #[inline(always)]
            fn splat(value: bool) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::mask_splat(value) })
            }
            #[inline(always)]
            fn any(self) -> bool {
                // SAFETY: see the module `x86`.
                unsafe { $ops::mask_bits(self.0) != 0 }
            }
            #[inline(always)]
            fn all(self) -> bool {
                // SAFETY: see the module `x86`.
                unsafe { $ops::mask_bits(self.0) == (1 << $n) - 1 }
            }
        }
        impl Neg for $lanes {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::xor(self.0, $ops::splat(-0.0)) })
            }
        }
        impl AddAssign for $lanes {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl SubAssign for $lanes {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
        impl Scalar for $lanes {
            type Mask = $mask;
            #[inline(always)]
            fn splat(value: f64) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::splat(value as f32) })
            }
            #[inline(always)]
            fn lt(self, o: Self) -> $mask {
                // SAFETY: see the module `x86`.
                $mask(unsafe { $ops::lt(self.0, o.0) })
            }
            #[inline(always)]
            fn le(self, o: Self) -> $mask {
                // SAFETY: see the module `x86`.
                $mask(unsafe { $ops::le(self.0, o.0) })
            }
            #[inline(always)]
            fn equals(self, o: Self) -> $mask {
                // SAFETY: see the module `x86`.
                $mask(unsafe { $ops::equals(self.0, o.0) })
            }
            #[inline(always)]
            fn select(mask: $mask, a: Self, b: Self) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::select(mask.0, a.0, b.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::and(self.0, $ops::splat(f32::from_bits(0x7fff_ffff))) })
            }
            register!(@wide $ops: ln exp tanh);
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                let (low, high) = self.widen();
                let (low_sine, low_cosine) = math::sin_cos(low);
                let (high_sine, high_cosine) = math::sin_cos(high);
                (Self::narrow(low_sine, high_sine), Self::narrow(low_cosine, high_cosine))
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                let (low, high) = self.widen();
                let (x_low, x_high) = x.widen();
                Self::narrow(math::atan2(low, x_low), math::atan2(high, x_high))
            }
        }
        impl Lanes<f32> for $lanes {
            const N: usize = $n;
            #[inline(always)]
            fn load(values: &[f32]) -> Self {
                let values = &values[..$n];
                // SAFETY: the slice has the register's length; for the rest see the module `x86`.
                Self(unsafe { $ops::load(values.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, out: &mut [f32]) {
                let out = &mut out[..$n];
                // SAFETY: the slice has the register's length; for the rest see the module `x86`.
                unsafe { $ops::store(out.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn lane(self, i: usize) -> f32 {
                let mut lanes = [0.0; $n];
                self.store(&mut lanes);
                lanes[i]
            }
        }
    };
    (@binary $t:ident: $($trait:ident $method:ident = $ops:ident::$op:ident),*) => {$(
        impl $trait for $t {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                // SAFETY: see the module `x86`.
                Self(unsafe { $ops::$op(self.0, o.0) })
            }
        }
    )*};
    (@wide $ops:ident: $($function:ident)*) => {$(
        #[inline(always)]
        fn $function(self) -> Self {
            let (low, high) = self.widen();
            Self::narrow(math::$function(low), math::$function(high))
        }
    )*};
}

register!(F32x4, M32x4, F64x2, sse2, 4);
register!(F32x8, M32x8, F64x4, avx2, 8);
register!(F32x16, M32x16, F64x8, avx512, 16);
