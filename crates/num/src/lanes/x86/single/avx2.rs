//! Eight `f32` in AVX2's registers.

use super::super::operations;
use super::*;

pub(super) type Register = __m256;
pub(super) type Truth = __m256;

operations! {
    fn splat(x: f32) -> Register = _mm256_set1_ps(x);
    fn load(p: *const f32) -> Register = _mm256_loadu_ps(p);
    fn store(p: *mut f32, a: Register) -> () = _mm256_storeu_ps(p, a);
    fn add(a: Register, b: Register) -> Register = _mm256_add_ps(a, b);
    fn sub(a: Register, b: Register) -> Register = _mm256_sub_ps(a, b);
    fn mul(a: Register, b: Register) -> Register = _mm256_mul_ps(a, b);
    fn div(a: Register, b: Register) -> Register = _mm256_div_ps(a, b);
    fn sqrt(a: Register) -> Register = _mm256_sqrt_ps(a);
    fn and(a: Register, b: Register) -> Register = _mm256_and_ps(a, b);
    fn xor(a: Register, b: Register) -> Register = _mm256_xor_ps(a, b);
    fn lt(a: Register, b: Register) -> Truth = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
    fn le(a: Register, b: Register) -> Truth = _mm256_cmp_ps::<_CMP_LE_OQ>(a, b);
    fn equals(a: Register, b: Register) -> Truth = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
    fn select(m: Truth, a: Register, b: Register) -> Register = _mm256_blendv_ps(b, a, m);
    fn mask_and(a: Truth, b: Truth) -> Truth = _mm256_and_ps(a, b);
    fn mask_or(a: Truth, b: Truth) -> Truth = _mm256_or_ps(a, b);
    fn mask_not(a: Truth) -> Truth = _mm256_xor_ps(a, mask_splat(true));
    fn mask_splat(value: bool) -> Truth =
        _mm256_castsi256_ps(_mm256_set1_epi32(-i32::from(value)));
    fn mask_bits(a: Truth) -> u32 = _mm256_movemask_ps(a) as u32;
    fn widen(a: Register) -> (__m256d, __m256d) = (
        _mm256_cvtps_pd(_mm256_castps256_ps128(a)),
        _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(a)),
    );
    fn narrow(low: __m256d, high: __m256d) -> Register =
        _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
