//! Registers of x86-64.
//!
//! The types here can be named only inside this crate: elsewhere they appear as the type parameter
//! of [`Kernel::run`], which [`dispatch`](super::dispatch) enters only after it has asked the
//! processor. That is what makes their intrinsics safe to call.

use super::{Kernel, Lanes};
use crate::math::{self, Bits, MAX_LANES_F64};
use crate::scalar::{Mask, Scalar};
use crate::vector::Vec3;
use core::arch::x86_64::*;
use core::fmt;
use core::ops::{Add, AddAssign, BitAnd, BitOr, Div, Mul, Neg, Not, Sub, SubAssign};

mod avx2;
mod avx512;
mod single;
mod sse2;

use single::{F32x4, F32x8, F32x16};

/// # Safety
/// None beyond x86-64 itself, of which SSE2 is a part.
#[target_feature(enable = "sse2")]
pub(super) fn run_sse2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<F64x2>()
}
/// # Safety
/// None beyond x86-64 itself, of which SSE2 is a part.
#[target_feature(enable = "sse2")]
pub(super) fn run_sse2_f32<K: Kernel<f32>>(kernel: K) -> K::Output {
    kernel.run::<F32x4>()
}
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub(super) fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<F64x4>()
}
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub(super) fn run_avx2_f32<K: Kernel<f32>>(kernel: K) -> K::Output {
    kernel.run::<F32x8>()
}
/// # Safety
/// The processor must have AVX-512 F, DQ and VL.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<F64x8>()
}
/// # Safety
/// The processor must have AVX-512 F, DQ and VL.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) fn run_avx512_f32<K: Kernel<f32>>(kernel: K) -> K::Output {
    kernel.run::<F32x16>()
}

/// A register type with its mask, from a module of operations by their common names.
macro_rules! register {
    ($lanes:ident, $mask:ident, $ops:ident, $n:literal) => {
        /// A register of numbers.
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $lanes($ops::Register);
        /// A truth value for each lane of a register.
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub struct $mask($ops::Truth);

        impl fmt::Debug for $lanes {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut lanes = [0.0; MAX_LANES_F64];
                self.spill(&mut lanes);
                lanes[..$n].fmt(f)
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
                // SAFETY: see the module.
                Self(unsafe { $ops::mask_not(self.0) })
            }
        }
        impl Mask for $mask {
            #[inline(always)]
            fn splat(value: bool) -> Self {
                // SAFETY: see the module.
                Self(unsafe { $ops::mask_splat(value) })
            }
            #[inline(always)]
            fn any(self) -> bool {
                // SAFETY: see the module.
                unsafe { $ops::mask_bits(self.0) != 0 }
            }
            #[inline(always)]
            fn all(self) -> bool {
                // SAFETY: see the module.
                unsafe { $ops::mask_bits(self.0) == (1 << $n) - 1 }
            }
        }
        impl Neg for $lanes {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.xor_bits(Self::splat(-0.0))
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
                // SAFETY: see the module.
                Self(unsafe { $ops::splat(value) })
            }
            #[inline(always)]
            fn lt(self, o: Self) -> $mask {
                // SAFETY: see the module.
                $mask(unsafe { $ops::lt(self.0, o.0) })
            }
            #[inline(always)]
            fn le(self, o: Self) -> $mask {
                // SAFETY: see the module.
                $mask(unsafe { $ops::le(self.0, o.0) })
            }
            #[inline(always)]
            fn equals(self, o: Self) -> $mask {
                // SAFETY: see the module.
                $mask(unsafe { $ops::equals(self.0, o.0) })
            }
            #[inline(always)]
            fn select(mask: $mask, a: Self, b: Self) -> Self {
                // SAFETY: see the module.
                Self(unsafe { $ops::select(mask.0, a.0, b.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: see the module.
                Self(unsafe { $ops::sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.and_bits(Self::pattern(!math::SIGN))
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
        impl Bits for $lanes {
            register!(@bits and_bits = $ops::and, or_bits = $ops::or, xor_bits = $ops::xor, add_bits = $ops::add_bits);
            register!(@shifts $ops: shift_up_52 shift_up_62 shift_up_63 shift_down_52);
            #[inline(always)]
            fn spill(self, out: &mut [f64; MAX_LANES_F64]) {
                // SAFETY: the array has room for every register; for the rest see the module.
                unsafe { $ops::store(out.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn fill(from: &[f64; MAX_LANES_F64]) -> Self {
                // SAFETY: the array has as many as any register; for the rest see the module.
                Self(unsafe { $ops::load(from.as_ptr()) })
            }
        }
        impl Lanes for $lanes {
            const N: usize = $n;
            #[inline(always)]
            fn load(values: &[f64]) -> Self {
                let values = &values[..$n];
                // SAFETY: the slice has the register's length; for the rest see the module.
                Self(unsafe { $ops::load(values.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, out: &mut [f64]) {
                let out = &mut out[..$n];
                // SAFETY: the slice has the register's length; for the rest see the module.
                unsafe { $ops::store(out.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn lane(self, i: usize) -> f64 {
                let mut lanes = [0.0; MAX_LANES_F64];
                self.spill(&mut lanes);
                lanes[..$n][i]
            }
            #[inline(always)]
            fn gather(values: &[f64], indices: &[u32]) -> Self {
                let indices = &indices[..$n];
                assert!(largest(indices) < values.len(), "an index is out of bounds");
                // SAFETY: all N indices lie within the values; for the rest see the module.
                Self(unsafe { $ops::gather(values.as_ptr(), indices) })
            }
            #[inline(always)]
            fn load_vec3(positions: &[f64], vertices: &[u32]) -> Vec3<Self> {
                let vertices = &vertices[..$n];
                let end = 3 * largest(vertices) + 3;
                assert!(end <= positions.len(), "a vertex is out of bounds");
                // Four numbers are read at each point, of the last point three only.
                let [x, y, z] = if end < positions.len() {
                    // SAFETY: all N points and a number more lie within; for the rest see the module.
                    unsafe { $ops::points::<true>(positions.as_ptr(), vertices) }
                } else {
                    // SAFETY: all N points lie within; for the rest see the module.
                    unsafe { $ops::points::<false>(positions.as_ptr(), vertices) }
                };
                Vec3::new(Self(x), Self(y), Self(z))
            }
            #[inline(always)]
            fn store_four(values: [Self; 4], out: &mut [f64], offset: usize, stride: usize) {
                let out = &mut out[offset..][..($n - 1) * stride + 4];
                let [a, b, c, d] = values;
                // SAFETY: the last lane's place lies within, the others before it; for the rest see the
                // module.
                unsafe { $ops::store_four(out.as_mut_ptr(), stride, [a.0, b.0, c.0, d.0]) }
            }
        }
    };
    (@binary $t:ident: $($trait:ident $method:ident = $ops:ident::$op:ident),*) => {$(
        impl $trait for $t {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                // SAFETY: see the module.
                Self(unsafe { $ops::$op(self.0, o.0) })
            }
        }
    )*};
    (@bits $($method:ident = $ops:ident::$op:ident),*) => {$(
        #[inline(always)]
        fn $method(self, o: Self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { $ops::$op(self.0, o.0) })
        }
    )*};
    (@shifts $ops:ident: $($shift:ident)*) => {$(
        #[inline(always)]
        fn $shift(self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { $ops::$shift(self.0) })
        }
    )*};
}

/// The largest index.
#[inline(always)]
fn largest(indices: &[u32]) -> usize {
    let mut largest = 0;
    let mut i = 0;
    while i < indices.len() {
        largest = if indices[i] > largest { indices[i] } else { largest };
        i += 1;
    }
    largest as usize
}

/// Functions of one expression each, inlined into whatever has the target feature.
macro_rules! operations {
    ($(fn $name:ident($($arg:ident: $t:ty),*) -> $r:ty = $e:expr;)*) => {$(
        #[inline(always)]
        pub(super) unsafe fn $name($($arg: $t),*) -> $r {
            // SAFETY: the caller's promise that the processor has the instructions, and that
            // pointers reach as far as is read or written.
            unsafe { $e }
        }
    )*};
}
use operations;

register!(F64x2, M64x2, sse2, 2);
register!(F64x4, M64x4, avx2, 4);
register!(F64x8, M64x8, avx512, 8);
