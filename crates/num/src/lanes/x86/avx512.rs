//! Eight `f64` in AVX-512's registers.

use super::*;

pub(super) type Register = __m512d;
pub(super) type Truth = __mmask8;
/// The register's pattern as integers.
type Integer = __m512i;

#[inline(always)]
unsafe fn int(a: Register) -> Integer {
    // SAFETY: as `operations`.
    unsafe { _mm512_castpd_si512(a) }
}
#[inline(always)]
unsafe fn float(a: Integer) -> Register {
    // SAFETY: as `operations`.
    unsafe { _mm512_castsi512_pd(a) }
}

operations! {
    fn splat(x: f64) -> Register = _mm512_set1_pd(x);
    fn load(p: *const f64) -> Register = _mm512_loadu_pd(p);
    fn store(p: *mut f64, a: Register) -> () = _mm512_storeu_pd(p, a);
    fn add(a: Register, b: Register) -> Register = _mm512_add_pd(a, b);
    fn sub(a: Register, b: Register) -> Register = _mm512_sub_pd(a, b);
    fn mul(a: Register, b: Register) -> Register = _mm512_mul_pd(a, b);
    fn div(a: Register, b: Register) -> Register = _mm512_div_pd(a, b);
    fn sqrt(a: Register) -> Register = _mm512_sqrt_pd(a);
    fn lt(a: Register, b: Register) -> Truth = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
    fn le(a: Register, b: Register) -> Truth = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
    fn equals(a: Register, b: Register) -> Truth = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b);
    fn select(m: Truth, a: Register, b: Register) -> Register = _mm512_mask_blend_pd(m, b, a);
    fn and(a: Register, b: Register) -> Register = _mm512_and_pd(a, b);
    fn or(a: Register, b: Register) -> Register = _mm512_or_pd(a, b);
    fn xor(a: Register, b: Register) -> Register = _mm512_xor_pd(a, b);
    fn add_bits(a: Register, b: Register) -> Register = float(_mm512_add_epi64(int(a), int(b)));
    fn shift_up_52(a: Register) -> Register = float(_mm512_slli_epi64::<52>(int(a)));
    fn shift_up_62(a: Register) -> Register = float(_mm512_slli_epi64::<62>(int(a)));
    fn shift_up_63(a: Register) -> Register = float(_mm512_slli_epi64::<63>(int(a)));
    fn shift_down_52(a: Register) -> Register = float(_mm512_srli_epi64::<52>(int(a)));
    fn gather(p: *const f64, i: &[u32]) -> Register = _mm512_set_pd(
        *p.add(i[7] as usize),
        *p.add(i[6] as usize),
        *p.add(i[5] as usize),
        *p.add(i[4] as usize),
        *p.add(i[3] as usize),
        *p.add(i[2] as usize),
        *p.add(i[1] as usize),
        *p.add(i[0] as usize),
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
    if value { 0xff } else { 0 }
}
#[inline(always)]
pub(super) unsafe fn mask_bits(a: Truth) -> u32 {
    u32::from(a)
}

/// A point of four numbers, the last zero where `WHOLE` does not allow to read it.
#[inline(always)]
unsafe fn point<const WHOLE: bool>(p: *const f64, i: u32) -> __m256d {
    // SAFETY: as `points`.
    unsafe {
        let p = p.add(3 * i as usize);
        if WHOLE { _mm256_loadu_pd(p) } else { _mm256_maskz_loadu_pd(0b0111, p) }
    }
}

/// Two points, in the halves of a register.
#[inline(always)]
unsafe fn pair<const WHOLE: bool>(p: *const f64, low: u32, high: u32) -> Register {
    // SAFETY: as `points`.
    unsafe {
        let low = _mm512_castpd256_pd512(point::<WHOLE>(p, low));
        _mm512_insertf64x4::<1>(low, point::<WHOLE>(p, high))
    }
}

/// x, y and z of eight points: whole points loaded and transposed.
#[inline(always)]
pub(super) unsafe fn points<const WHOLE: bool>(p: *const f64, i: &[u32]) -> [Register; 3] {
    // SAFETY: the caller promises that at three times each index three numbers can be read, four
    // with `WHOLE`.
    unsafe {
        let (a, b) = (pair::<WHOLE>(p, i[0], i[2]), pair::<WHOLE>(p, i[1], i[3]));
        let (c, d) = (pair::<WHOLE>(p, i[4], i[6]), pair::<WHOLE>(p, i[5], i[7]));
        let (xz_low, y_low) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let (xz_high, y_high) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        [
            _mm512_shuffle_f64x2::<0b10_00_10_00>(xz_low, xz_high),
            _mm512_shuffle_f64x2::<0b10_00_10_00>(y_low, y_high),
            _mm512_shuffle_f64x2::<0b11_01_11_01>(xz_low, xz_high),
        ]
    }
}

/// Four numbers of each lane, transposed, `stride` apart.
#[inline(always)]
pub(super) unsafe fn store_four(p: *mut f64, stride: usize, [a, b, c, d]: [Register; 4]) {
    // SAFETY: the caller promises that four numbers can be written at the place of every lane.
    unsafe {
        let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        let (even, odd) = (
            [_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(c, d)],
            [_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d)],
        );
        let lanes = [
            _mm512_permutex2var_pd(even[0], first, even[1]),
            _mm512_permutex2var_pd(odd[0], first, odd[1]),
            _mm512_permutex2var_pd(even[0], second, even[1]),
            _mm512_permutex2var_pd(odd[0], second, odd[1]),
        ];
        let mut i = 0;
        while i < 4 {
            // Lanes 0 and 2, 1 and 3, 4 and 6, 5 and 7.
            let lane = i + i / 2 * 2;
            _mm256_storeu_pd(p.add(lane * stride), _mm512_castpd512_pd256(lanes[i]));
            _mm256_storeu_pd(p.add((lane + 2) * stride), _mm512_extractf64x4_pd::<1>(lanes[i]));
            i += 1;
        }
    }
}
