//! Two `f64` in SSE2's registers.

use super::*;

pub(super) type Register = __m128d;
pub(super) type Truth = __m128d;
/// The register's pattern as integers.
type Integer = __m128i;

#[inline(always)]
unsafe fn int(a: Register) -> Integer {
    // SAFETY: as `operations`.
    unsafe { _mm_castpd_si128(a) }
}
#[inline(always)]
unsafe fn float(a: Integer) -> Register {
    // SAFETY: as `operations`.
    unsafe { _mm_castsi128_pd(a) }
}

operations! {
    fn splat(x: f64) -> Register = _mm_set1_pd(x);
    fn load(p: *const f64) -> Register = _mm_loadu_pd(p);
    fn store(p: *mut f64, a: Register) -> () = _mm_storeu_pd(p, a);
    fn add(a: Register, b: Register) -> Register = _mm_add_pd(a, b);
    fn sub(a: Register, b: Register) -> Register = _mm_sub_pd(a, b);
    fn mul(a: Register, b: Register) -> Register = _mm_mul_pd(a, b);
    fn div(a: Register, b: Register) -> Register = _mm_div_pd(a, b);
    fn sqrt(a: Register) -> Register = _mm_sqrt_pd(a);
    fn lt(a: Register, b: Register) -> Truth = _mm_cmplt_pd(a, b);
    fn le(a: Register, b: Register) -> Truth = _mm_cmple_pd(a, b);
    fn equals(a: Register, b: Register) -> Truth = _mm_cmpeq_pd(a, b);
    fn select(m: Truth, a: Register, b: Register) -> Register =
        _mm_or_pd(_mm_and_pd(m, a), _mm_andnot_pd(m, b));
    fn mask_and(a: Truth, b: Truth) -> Truth = _mm_and_pd(a, b);
    fn mask_or(a: Truth, b: Truth) -> Truth = _mm_or_pd(a, b);
    fn mask_not(a: Truth) -> Truth = _mm_xor_pd(a, mask_splat(true));
    fn mask_splat(value: bool) -> Truth = float(_mm_set1_epi64x(-i64::from(value)));
    fn mask_bits(a: Truth) -> u32 = _mm_movemask_pd(a) as u32;
    fn and(a: Register, b: Register) -> Register = _mm_and_pd(a, b);
    fn or(a: Register, b: Register) -> Register = _mm_or_pd(a, b);
    fn xor(a: Register, b: Register) -> Register = _mm_xor_pd(a, b);
    fn add_bits(a: Register, b: Register) -> Register = float(_mm_add_epi64(int(a), int(b)));
    fn shift_up_52(a: Register) -> Register = float(_mm_slli_epi64::<52>(int(a)));
    fn shift_up_62(a: Register) -> Register = float(_mm_slli_epi64::<62>(int(a)));
    fn shift_up_63(a: Register) -> Register = float(_mm_slli_epi64::<63>(int(a)));
    fn shift_down_52(a: Register) -> Register = float(_mm_srli_epi64::<52>(int(a)));
    fn gather(p: *const f64, i: &[u32]) -> Register =
        _mm_set_pd(*p.add(i[1] as usize), *p.add(i[0] as usize));
}

/// x, y and z of two points.
#[inline(always)]
pub(super) unsafe fn points<const WHOLE: bool>(p: *const f64, i: &[u32]) -> [Register; 3] {
    // SAFETY: the caller promises that three numbers can be read at three times each index.
    unsafe {
        let (p0, p1) = (p.add(3 * i[0] as usize), p.add(3 * i[1] as usize));
        let (a, b) = (_mm_loadu_pd(p0), _mm_loadu_pd(p1));
        let z = _mm_set_pd(*p1.add(2), *p0.add(2));
        [_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b), z]
    }
}

/// Four numbers of each lane, transposed, `stride` apart.
#[inline(always)]
pub(super) unsafe fn store_four(p: *mut f64, stride: usize, [a, b, c, d]: [Register; 4]) {
    // SAFETY: the caller promises that four numbers can be written at the place of every lane.
    unsafe {
        let high = p.add(stride);
        _mm_storeu_pd(p, _mm_unpacklo_pd(a, b));
        _mm_storeu_pd(p.add(2), _mm_unpacklo_pd(c, d));
        _mm_storeu_pd(high, _mm_unpackhi_pd(a, b));
        _mm_storeu_pd(high.add(2), _mm_unpackhi_pd(c, d));
    }
}
