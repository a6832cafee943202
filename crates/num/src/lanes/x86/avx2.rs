//! Four `f64` in AVX2's registers.

use super::*;

pub(super) type Register = __m256d;
pub(super) type Truth = __m256d;
/// The register's pattern as integers.
type Integer = __m256i;

#[inline(always)]
unsafe fn int(a: Register) -> Integer {
    // SAFETY: as `operations`.
    unsafe { _mm256_castpd_si256(a) }
}
#[inline(always)]
unsafe fn float(a: Integer) -> Register {
    // SAFETY: as `operations`.
    unsafe { _mm256_castsi256_pd(a) }
}

operations! {
    fn splat(x: f64) -> Register = _mm256_set1_pd(x);
    fn load(p: *const f64) -> Register = _mm256_loadu_pd(p);
    fn store(p: *mut f64, a: Register) -> () = _mm256_storeu_pd(p, a);
    fn add(a: Register, b: Register) -> Register = _mm256_add_pd(a, b);
    fn sub(a: Register, b: Register) -> Register = _mm256_sub_pd(a, b);
    fn mul(a: Register, b: Register) -> Register = _mm256_mul_pd(a, b);
    fn div(a: Register, b: Register) -> Register = _mm256_div_pd(a, b);
    fn sqrt(a: Register) -> Register = _mm256_sqrt_pd(a);
    fn lt(a: Register, b: Register) -> Truth = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
    fn le(a: Register, b: Register) -> Truth = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
    fn equals(a: Register, b: Register) -> Truth = _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b);
    fn select(m: Truth, a: Register, b: Register) -> Register = _mm256_blendv_pd(b, a, m);
    fn mask_and(a: Truth, b: Truth) -> Truth = _mm256_and_pd(a, b);
    fn mask_or(a: Truth, b: Truth) -> Truth = _mm256_or_pd(a, b);
    fn mask_not(a: Truth) -> Truth = _mm256_xor_pd(a, mask_splat(true));
    fn mask_splat(value: bool) -> Truth = float(_mm256_set1_epi64x(-i64::from(value)));
    fn mask_bits(a: Truth) -> u32 = _mm256_movemask_pd(a) as u32;
    fn and(a: Register, b: Register) -> Register = _mm256_and_pd(a, b);
    fn or(a: Register, b: Register) -> Register = _mm256_or_pd(a, b);
    fn xor(a: Register, b: Register) -> Register = _mm256_xor_pd(a, b);
    fn add_bits(a: Register, b: Register) -> Register = float(_mm256_add_epi64(int(a), int(b)));
    fn shift_up_52(a: Register) -> Register = float(_mm256_slli_epi64::<52>(int(a)));
    fn shift_up_62(a: Register) -> Register = float(_mm256_slli_epi64::<62>(int(a)));
    fn shift_up_63(a: Register) -> Register = float(_mm256_slli_epi64::<63>(int(a)));
    fn shift_down_52(a: Register) -> Register = float(_mm256_srli_epi64::<52>(int(a)));
    fn gather(p: *const f64, i: &[u32]) -> Register = _mm256_set_pd(
        *p.add(i[3] as usize),
        *p.add(i[2] as usize),
        *p.add(i[1] as usize),
        *p.add(i[0] as usize),
    );
}

/// A point of four numbers, the last zero where `WHOLE` does not allow to read it.
#[inline(always)]
unsafe fn point<const WHOLE: bool>(p: *const f64, i: u32) -> Register {
    // SAFETY: as `points`.
    unsafe {
        let p = p.add(3 * i as usize);
        if WHOLE {
            _mm256_loadu_pd(p)
        } else {
            _mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0))
        }
    }
}

/// x, y and z of four points: whole points loaded and transposed.
#[inline(always)]
pub(super) unsafe fn points<const WHOLE: bool>(p: *const f64, i: &[u32]) -> [Register; 3] {
    // SAFETY: the caller promises that at three times each index three numbers can be read, four
    // with `WHOLE`.
    unsafe {
        let (a, b) = (point::<WHOLE>(p, i[0]), point::<WHOLE>(p, i[1]));
        let (c, d) = (point::<WHOLE>(p, i[2]), point::<WHOLE>(p, i[3]));
        let (xz_ab, y_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (xz_cd, y_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(xz_ab, xz_cd),
            _mm256_permute2f128_pd::<0x20>(y_ab, y_cd),
            _mm256_permute2f128_pd::<0x31>(xz_ab, xz_cd),
        ]
    }
}

/// Four numbers of each lane, transposed, `stride` apart.
#[inline(always)]
pub(super) unsafe fn store_four(p: *mut f64, stride: usize, [a, b, c, d]: [Register; 4]) {
    // SAFETY: the caller promises that four numbers can be written at the place of every lane.
    unsafe {
        let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        _mm256_storeu_pd(p, _mm256_permute2f128_pd::<0x20>(ab_even, cd_even));
        _mm256_storeu_pd(p.add(stride), _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd));
        _mm256_storeu_pd(p.add(2 * stride), _mm256_permute2f128_pd::<0x31>(ab_even, cd_even));
        _mm256_storeu_pd(p.add(3 * stride), _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd));
    }
}
