//! Dense Cholesky factorisation of a symmetric matrix, in place.

/// A pivot below this part of its diagonal entry is rounding: what it stands for was lost in
/// the sum, and it is held there so that solves stay finite.
const PIVOT_FLOOR: f64 = 4.0 * f64::EPSILON;

/// Replaces the lower triangle of `a` (n × n, row-major) by L with A = L Lᵀ; the entries above the
/// diagonal are neither read nor written.
///
/// A pivot that rounding made zero or negative is lifted to the rounding level of its diagonal
/// entry. Returns whether every pivot is finite and positive.
pub(crate) fn factor(a: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (done, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &done[j * n..=j * n + j];
            let mut sum = row[j];
            for k in 0..j {
                sum -= row[k] * other[k];
            }
            row[j] = sum / other[j];
        }
        let diagonal = row[i];
        let mut pivot = diagonal;
        for k in 0..i {
            pivot -= row[k] * row[k];
        }
        let pivot = if pivot.is_finite() { pivot.max(PIVOT_FLOOR * diagonal.abs()) } else { pivot };
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

/// Solves L Lᵀ x = b in place of b.
pub(crate) fn solve(l: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        let row = &l[i * n..=i * n + i];
        let mut sum = b[i];
        for k in 0..i {
            sum -= row[k] * b[k];
        }
        b[i] = sum / row[i];
    }
    for i in (0..n).rev() {
        let row = &l[i * n..=i * n + i];
        let x = b[i] / row[i];
        b[i] = x;
        for k in 0..i {
            b[k] -= row[k] * x;
        }
    }
}
