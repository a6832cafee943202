//! Symmetric sparse matrices as the solver takes them.

use std::ops::Range;

/// A symmetric matrix by its lower triangle: row i has the diagonal entry first, then those of its
/// columns, from high to low.
#[derive(Clone, Copy, Debug)]
pub struct SymmetricRows<'a> {
    /// Where each row's entries lie.
    pub rows: &'a [Range<usize>],
    /// The column of each entry.
    pub columns: &'a [usize],
    /// The entries.
    pub entries: &'a [f64],
}

impl SymmetricRows<'_> {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// The diagonal entry of a row.
    #[inline(always)]
    pub fn diagonal(&self, i: usize) -> f64 {
        self.entries[self.rows[i].start]
    }
    /// Adds the product with `x` to `out`, and the products' sizes to `size`.
    pub(super) fn multiply_sized(&self, x: &[f64], out: &mut [f64], size: &mut [f64]) {
        for i in 0..self.len() {
            let row = self.rows[i].clone();
            let own = self.entries[row.start] * x[i];
            let (mut sum, mut absolute) = (own, own.abs());
            let rest = row.start + 1..row.end;
            for (&j, value) in self.columns[rest.clone()].iter().zip(&self.entries[rest]) {
                let (to_i, to_j) = (value * x[j], value * x[i]);
                sum += to_i;
                absolute += to_i.abs();
                out[j] += to_j;
                size[j] += to_j.abs();
            }
            out[i] += sum;
            size[i] += absolute;
        }
    }
    /// Adds the product with `x` to `out`.
    pub(super) fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..self.len() {
            let row = self.rows[i].clone();
            let own = x[i];
            let mut sum = self.entries[row.start] * own;
            let rest = row.start + 1..row.end;
            for (&j, value) in self.columns[rest.clone()].iter().zip(&self.entries[rest]) {
                sum += value * x[j];
                out[j] += value * own;
            }
            out[i] += sum;
        }
    }
}
