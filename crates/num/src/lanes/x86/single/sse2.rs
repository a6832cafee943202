//! Four `f32` in SSE's registers.

use super::super::operations;
use super::*;

pub(super) type Register = __m128;
pub(super) type Truth = __m128;

operations! {
    fn splat(x: f32) -> Register = _mm_set1_ps(x);
    fn load(p: *const f32) -> Register = _mm_loadu_ps(p);
    fn store(p: *mut f32, a: Register) -> () = _mm_storeu_ps(p, a);
    fn add(a: Register, b: Register) -> Register = _mm_add_ps(a, b);
    fn sub(a: Register, b: Register) -> Register = _mm_sub_ps(a, b);
    fn mul(a: Register, b: Register) -> Register = _mm_mul_ps(a, b);
    fn div(a: Register, b: Register) -> Register = _mm_div_ps(a, b);
    fn sqrt(a: Register) -> Register = _mm_sqrt_ps(a);
    fn and(a: Register, b: Register) -> Register = _mm_and_ps(a, b);
    fn xor(a: Register, b: Register) -> Register = _mm_xor_ps(a, b);
    fn lt(a: Register, b: Register) -> Truth = _mm_cmplt_ps(a, b);
    fn le(a: Register, b: Register) -> Truth = _mm_cmple_ps(a, b);
    fn equals(a: Register, b: Register) -> Truth = _mm_cmpeq_ps(a, b);
    fn select(m: Truth, a: Register, b: Register) -> Register =
        _mm_or_ps(_mm_and_ps(m, a), _mm_andnot_ps(m, b));
    fn mask_and(a: Truth, b: Truth) -> Truth = _mm_and_ps(a, b);
    fn mask_or(a: Truth, b: Truth) -> Truth = _mm_or_ps(a, b);
    fn mask_not(a: Truth) -> Truth = _mm_xor_ps(a, mask_splat(true));
    fn mask_splat(value: bool) -> Truth = _mm_castsi128_ps(_mm_set1_epi32(-i32::from(value)));
    fn mask_bits(a: Truth) -> u32 = _mm_movemask_ps(a) as u32;
    fn widen(a: Register) -> (__m128d, __m128d) =
        (_mm_cvtps_pd(a), _mm_cvtps_pd(_mm_movehl_ps(a, a)));
    fn narrow(low: __m128d, high: __m128d) -> Register =
        _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
