//! The sparse factors H = LᵀDL of the solver's Hessian.
//!
//! Rows are eliminated from the leaves to the roots (Featherstone, *Rigid Body Dynamics Algorithms*
//! (2008), section 8.3), which leaves the pattern of the inertia matrix as it is. A constraint row that
//! couples degrees of freedom of one chain stays within that pattern too; one between branches adds to it,
//! and what elimination fills in then follows from the pattern alone.

use std::ops::Range;

use super::rows::Rows;

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
            for at in row.start + 1..row.end {
                let (j, value) = (self.columns[at], self.entries[at]);
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
            let mut sum = self.entries[row.start] * x[i];
            for at in row.start + 1..row.end {
                let (j, value) = (self.columns[at], self.entries[at]);
                sum += value * x[j];
                out[j] += value * x[i];
            }
            out[i] += sum;
        }
    }
    /// yᵀ (matrix) x.
    pub(super) fn form(&self, y: &[f64], x: &[f64]) -> f64 {
        let mut total = 0.0;
        for i in 0..self.len() {
            let row = self.rows[i].clone();
            let mut sum = self.entries[row.start] * x[i];
            for at in row.start + 1..row.end {
                let (j, value) = (self.columns[at], self.entries[at]);
                sum += value * x[j];
                total += value * x[i] * y[j];
            }
            total += sum * y[i];
        }
        total
    }
}

/// A pivot below this part of its diagonal entry is rounding: what it stands for was lost in
/// the sum, and it is held there so that solves stay finite.
const PIVOT_FLOOR: f64 = 4.0 * f64::EPSILON;

/// How many rows are added at once.
const AT_ONCE: usize = 4;

/// Pattern, entries and memory of the factors.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    /// Row i is `columns[start[i]..start[i + 1]]`, itself first, then downwards.
    start: Vec<usize>,
    columns: Vec<usize>,
    entries: Vec<f64>,
    /// Per column: the rows above that have it, and where in them.
    above_start: Vec<usize>,
    above: Vec<(usize, usize)>,
    /// The pattern as bits, `words` to a row; the one that the lists are of.
    bits: Vec<u64>,
    listed: Vec<u64>,
    words: usize,
    work: Vec<f64>,
}

impl Factor {
    /// Takes the pattern of `inertia`, with all rows added.
    pub(super) fn analyse(&mut self, inertia: SymmetricRows, rows: &Rows) {
        let n = inertia.len();
        self.words = n.div_ceil(64);
        let words = self.words;
        self.bits.clear();
        self.bits.resize(n * words, 0);
        for i in 0..n {
            for &j in &inertia.columns[inertia.rows[i].clone()] {
                self.bits[i * words + j / 64] |= 1 << (j % 64);
            }
        }
        for r in 0..rows.len() {
            let dofs = rows.row(r).0;
            if let Some(&first) = dofs.first() {
                for &j in dofs {
                    self.bits[first * words + j / 64] |= 1 << (j % 64);
                }
            }
        }
        // Eliminating a row couples all its columns, the highest of which passes that on.
        for i in (0..n).rev() {
            if let Some(parent) = self.highest_below(i) {
                for w in 0..words {
                    let own = self.bits[i * words + w];
                    let own = if w == i / 64 { own & !(1 << (i % 64)) } else { own };
                    self.bits[parent * words + w] |= own;
                }
            }
        }
        if self.bits != self.listed || self.start.len() != n + 1 {
            self.list(n);
        }
    }

    /// The highest column of row `i` below its diagonal.
    fn highest_below(&self, i: usize) -> Option<usize> {
        let row = &self.bits[i * self.words..(i + 1) * self.words];
        for w in (0..=i / 64).rev() {
            let mask = if w == i / 64 { (1u64 << (i % 64)) - 1 } else { u64::MAX };
            let bits = row[w] & mask;
            if bits != 0 {
                return Some(64 * w + 63 - bits.leading_zeros() as usize);
            }
        }
        None
    }

    /// Lists of the present pattern.
    fn list(&mut self, n: usize) {
        self.start.clear();
        self.columns.clear();
        self.above_start.clear();
        self.above.clear();
        let mut counts = vec![0; n + 1];
        self.start.push(0);
        for i in 0..n {
            for w in (0..self.words).rev() {
                let mut bits = self.bits[i * self.words + w];
                while bits != 0 {
                    let bit = 63 - bits.leading_zeros() as usize;
                    bits &= !(1 << bit);
                    let j = 64 * w + bit;
                    self.columns.push(j);
                    if j != i {
                        counts[j + 1] += 1;
                    }
                }
            }
            self.start.push(self.columns.len());
        }
        for j in 0..n {
            counts[j + 1] += counts[j];
        }
        self.above_start.extend_from_slice(&counts);
        self.above.resize(counts[n], (0, 0));
        for i in 0..n {
            for at in self.start[i] + 1..self.start[i + 1] {
                let j = self.columns[at];
                self.above[counts[j]] = (i, at);
                counts[j] += 1;
            }
        }
        self.entries.resize(self.columns.len(), 0.0);
        self.work.resize(n, 0.0);
        self.listed.clone_from(&self.bits);
    }

    /// Sets the matrix to `inertia`, whose pattern is part of this one.
    pub(super) fn load(&mut self, inertia: SymmetricRows) {
        self.entries.fill(0.0);
        for i in 0..inertia.len() {
            let mut at = self.start[i];
            for k in inertia.rows[i].clone() {
                let j = inertia.columns[k];
                while self.columns[at] != j {
                    at += 1;
                }
                self.entries[at] = inertia.entries[k];
            }
        }
    }

    /// Adds Σ wᵣ vᵣ vᵣᵀ of rows of a Jacobian from `first` on, which have the same dofs.
    pub(super) fn add_rows(&mut self, rows: &Rows, first: usize, weights: &[f64]) {
        let dofs = rows.row(first).0;
        let mut chosen: [(f64, &[f64]); AT_ONCE] = [(0.0, &[]); AT_ONCE];
        let mut count = 0;
        for (k, &weight) in weights.iter().enumerate() {
            if weight != 0.0 {
                chosen[count] = (weight, rows.row(first + k).1);
                count += 1;
            }
            if count == AT_ONCE || count > 0 && k + 1 == weights.len() {
                match count {
                    1 => self.add_products::<1>(dofs, &chosen),
                    2 => self.add_products::<2>(dofs, &chosen),
                    3 => self.add_products::<3>(dofs, &chosen),
                    _ => self.add_products::<AT_ONCE>(dofs, &chosen),
                }
                count = 0;
            }
        }
    }

    fn add_products<const K: usize>(&mut self, dofs: &[usize], rows: &[(f64, &[f64]); AT_ONCE]) {
        let n = dofs.len();
        let values: [&[f64]; K] = std::array::from_fn(|k| &rows[k].1[..n]);
        for (a, &i) in dofs.iter().enumerate() {
            let scaled: [f64; K] = std::array::from_fn(|k| rows[k].0 * values[k][a]);
            let product = |b: usize| {
                let mut sum = 0.0;
                for k in 0..K {
                    sum += scaled[k] * values[k][b];
                }
                sum
            };
            let row = self.start[i]..self.start[i + 1];
            let columns = &self.columns[row.clone()];
            let entries = &mut self.entries[row];
            if columns.len() >= n - a && columns[..n - a] == dofs[a..] {
                for (slot, b) in entries[..n - a].iter_mut().zip(a..n) {
                    *slot += product(b);
                }
                continue;
            }
            let mut at = 0;
            for b in a..n {
                while columns[at] != dofs[b] {
                    at += 1;
                }
                entries[at] += product(b);
            }
        }
    }

    /// Adds Jᵀ B J of the `dim` rows from `first`, which have the same dofs, with B `dim` × `dim`.
    pub(super) fn add_block(&mut self, rows: &Rows, first: usize, dim: usize, block: &[f64]) {
        let dofs = rows.row(first).0;
        for (a, &i) in dofs.iter().enumerate() {
            let mut weighted = [0.0; super::law::MAX_DIM];
            for j in 0..dim {
                let value = rows.row(first + j).1[a];
                for k in 0..dim {
                    weighted[k] += value * block[j * dim + k];
                }
            }
            let mut at = self.start[i];
            for b in a..dofs.len() {
                while self.columns[at] != dofs[b] {
                    at += 1;
                }
                let mut sum = 0.0;
                for k in 0..dim {
                    sum += weighted[k] * rows.row(first + k).1[b];
                }
                self.entries[at] += sum;
            }
        }
    }

    /// Replaces the matrix by its factors: L below the diagonal, D on it. A pivot that rounding made zero
    /// or negative is lifted to the rounding level of its diagonal entry. Returns whether every pivot
    /// is finite and positive.
    pub(super) fn factorise(&mut self) -> bool {
        let Self { start, columns, entries, above_start, above, work, .. } = self;
        for j in (0..start.len().saturating_sub(1)).rev() {
            let row = start[j]..start[j + 1];
            for at in row.clone() {
                work[columns[at]] = entries[at];
            }
            let diagonal = work[j];
            for &(i, at) in &above[above_start[j]..above_start[j + 1]] {
                let end = start[i + 1];
                let factor = entries[at] * entries[start[i]];
                for (&column, &value) in columns[at..end].iter().zip(&entries[at..end]) {
                    work[column] -= factor * value;
                }
            }
            let pivot = work[j];
            let pivot =
                if pivot.is_finite() { pivot.max(PIVOT_FLOOR * diagonal.abs()) } else { pivot };
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            let inverse = 1.0 / pivot;
            entries[row.start] = pivot;
            for at in row.start + 1..row.end {
                entries[at] = work[columns[at]] * inverse;
            }
        }
        true
    }

    /// x ← H⁻¹ x.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for k in (0..x.len()).rev() {
            let value = x[k];
            for at in self.start[k] + 1..self.start[k + 1] {
                x[self.columns[at]] -= self.entries[at] * value;
            }
        }
        for k in 0..x.len() {
            let mut value = x[k] / self.entries[self.start[k]];
            for at in self.start[k] + 1..self.start[k + 1] {
                value -= self.entries[at] * x[self.columns[at]];
            }
            x[k] = value;
        }
    }
}
