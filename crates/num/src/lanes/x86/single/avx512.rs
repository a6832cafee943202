//! Sixteen `f32` in AVX-512's registers.

use super::super::operations;
use super::*;

pub(super) type Register = __m512;
pub(super) type Truth = __mmask16;

operations! {
    fn splat(x: f32) -> Register = _mm512_set1_ps(x);
    fn load(p: *const f32) -> Register = _mm512_loadu_ps(p);
    fn store(p: *mut f32, a: Register) -> () = _mm512_storeu_ps(p, a);
    fn add(a: Register, b: Register) -> Register = _mm512_add_ps(a, b);
    fn sub(a: Register, b: Register) -> Register = _mm512_sub_ps(a, b);
    fn mul(a: Register, b: Register) -> Register = _mm512_mul_ps(a, b);
    fn div(a: Register, b: Register) -> Register = _mm512_div_ps(a, b);
    fn sqrt(a: Register) -> Register = _mm512_sqrt_ps(a);
    fn and(a: Register, b: Register) -> Register = _mm512_and_ps(a, b);
    fn xor(a: Register, b: Register) -> Register = _mm512_xor_ps(a, b);
    fn lt(a: Register, b: Register) -> Truth = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
    fn le(a: Register, b: Register) -> Truth = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
    fn equals(a: Register, b: Register) -> Truth = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
    fn select(m: Truth, a: Register, b: Register) -> Register = _mm512_mask_blend_ps(m, b, a);
    fn widen(a: Register) -> (__m512d, __m512d) = (
        _mm512_cvtps_pd(_mm512_castps512_ps256(a)),
        _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(a)),
    );
    fn narrow(low: __m512d, high: __m512d) -> Register = _mm512_insertf32x8::<1>(
        _mm512_castps256_ps512(_mm512_cvtpd_ps(low)),
        _mm512_cvtpd_ps(high),
    );
}

#[inline(always)]
pub(super) unsafe fn mask_and(a: Truth, b: Truth) -> Truth {
    a & b
}
#[inline(always)]
pub(super) unsafe fn mask_or(a: Truth, b: Truth) -> Truth {
    a | b
}
#[inline(always)]
pub(super) unsafe fn mask_not(a: Truth) -> Truth {
    !a
}
#[inline(always)]
pub(super) unsafe fn mask_splat(value: bool) -> Truth {
    if value { 0xffff } else { 0 }
}
#[inline(always)]
pub(super) unsafe fn mask_bits(a: Truth) -> u32 {
    u32::from(a)
}
