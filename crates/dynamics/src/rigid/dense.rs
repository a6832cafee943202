//! Small dense systems: LU factors with partial pivoting (Golub & Van Loan, *Matrix Computations*,
//! section 3.4).

/// The factors of a matrix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lu {
    n: usize,
    entries: Vec<f64>,
    rows: Vec<usize>,
    scratch: Vec<f64>,
}

impl Lu {
    /// Room for an n × n matrix, whose entries, row by row, are to be written to the slice.
    pub fn start(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.entries.clear();
        self.entries.resize(n * n, 0.0);
        self.rows.clear();
        self.rows.extend(0..n);
        self.scratch.resize(n, 0.0);
        &mut self.entries
    }

    /// Factorises what was written. Returns the column without a pivot, if there is one.
    pub fn factorise(&mut self) -> Option<usize> {
        let (n, a) = (self.n, &mut self.entries);
        for k in 0..n {
            let mut best = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[best * n + k].abs() {
                    best = i;
                }
            }
            // Not a number is no pivot either.
            let pivot = a[best * n + k].abs();
            if pivot.is_nan() || pivot == 0.0 {
                return Some(k);
            }
            if best != k {
                self.rows.swap(k, best);
                for j in 0..n {
                    a.swap(k * n + j, best * n + j);
                }
            }
            let inverse = 1.0 / a[k * n + k];
            for i in k + 1..n {
                let factor = a[i * n + k] * inverse;
                a[i * n + k] = factor;
                for j in k + 1..n {
                    a[i * n + j] -= factor * a[k * n + j];
                }
            }
        }
        None
    }

    /// x ← A⁻¹ x.
    pub fn solve(&mut self, x: &mut [f64]) {
        let (n, a) = (self.n, &self.entries);
        for i in 0..n {
            let mut sum = x[self.rows[i]];
            for j in 0..i {
                sum -= a[i * n + j] * self.scratch[j];
            }
            self.scratch[i] = sum;
        }
        for i in (0..n).rev() {
            let mut sum = self.scratch[i];
            for j in i + 1..n {
                sum -= a[i * n + j] * x[j];
            }
            x[i] = sum / a[i * n + i];
        }
    }

    /// x ← A⁻ᵀ x.
    pub fn solve_transposed(&mut self, x: &mut [f64]) {
        let (n, a) = (self.n, &self.entries);
        for i in 0..n {
            let mut sum = x[i];
            for j in 0..i {
                sum -= a[j * n + i] * self.scratch[j];
            }
            self.scratch[i] = sum / a[i * n + i];
        }
        for i in (0..n).rev() {
            let mut sum = self.scratch[i];
            for j in i + 1..n {
                sum -= a[j * n + i] * self.scratch[j];
            }
            self.scratch[i] = sum;
        }
        for i in 0..n {
            x[self.rows[i]] = self.scratch[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_are_inverse_to_products() {
        let n = 5;
        // A sine of the index alone would have rank two.
        let a: Vec<f64> = (0..n * n).map(|i| (1.3 * (i * i) as f64 + 0.7).sin()).collect();
        let x: Vec<f64> = (0..n).map(|i| (0.9 * i as f64).cos()).collect();
        let product = |transposed: bool| -> Vec<f64> {
            let at = |i: usize, j: usize| if transposed { a[j * n + i] } else { a[i * n + j] };
            (0..n).map(|i| (0..n).map(|j| at(i, j) * x[j]).sum()).collect()
        };
        let mut lu = Lu::default();
        lu.start(n).copy_from_slice(&a);
        assert_eq!(lu.factorise(), None);
        let (mut y, mut z) = (product(false), product(true));
        lu.solve(&mut y);
        lu.solve_transposed(&mut z);
        for i in 0..n {
            assert!((y[i] - x[i]).abs() < 1e-12 && (z[i] - x[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn a_singular_matrix_is_told() {
        let mut lu = Lu::default();
        lu.start(2).copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert_eq!(lu.factorise(), Some(1));
    }
}
