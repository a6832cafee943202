//! The sparse factors H = LᵀDL of the solver's Hessian.
//!
//! Rows are eliminated from the leaves to the roots (Featherstone, *Rigid Body Dynamics Algorithms*
//! (2008), section 8.3), which leaves the pattern of the inertia matrix as it is. A constraint row that
//! couples degrees of freedom of one chain stays within that pattern too; one between branches adds to it,
//! and what elimination fills in then follows from the pattern alone.

use std::ops::Range;

use costate_num::{Kernel, Lanes, dispatch};

use super::rows::Rows;
use super::symmetric::SymmetricRows;

/// A pivot below this part of its diagonal entry is rounding: what it stands for was lost in
/// the sum, and it is held there so that solves stay finite.
const PIVOT_FLOOR: f64 = 4.0 * f64::EPSILON;

/// How many rows are added at once.
const AT_ONCE: usize = 4;

/// Entries are taken so many at a time; as many zeros but one follow each row, so that the last ones are whole.
const LANES: usize = 4;

/// target += factor · values, over whole lanes of the first `count` values.
#[inline(always)]
fn add_multiple(target: &mut [f64], factor: f64, values: &[f64], count: usize) {
    let chunks = count.div_ceil(LANES);
    let target = &mut target.as_chunks_mut::<LANES>().0[..chunks];
    let values = &values.as_chunks::<LANES>().0[..chunks];
    for (target, values) in target.iter_mut().zip(values) {
        for k in 0..LANES {
            target[k] += factor * values[k];
        }
    }
}

/// Pattern, entries and memory of the factors.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    /// Row i is `columns[start[i]..end[i]]`, itself first, then downwards.
    start: Vec<usize>,
    end: Vec<usize>,
    columns: Vec<usize>,
    entries: Vec<f64>,
    /// Where each entry of the inertia matrix lies.
    of_inertia: Vec<usize>,
    /// Of each entry: whether the row of its column begins as this one goes on from it.
    leads: Vec<bool>,
    /// Diagonal entries before elimination.
    diagonal: Vec<f64>,
    /// The pattern as bits, `words` to a row; the one that the lists are of.
    bits: Vec<u64>,
    listed: Vec<u64>,
    words: usize,
    /// Columns of the inertia matrix, dofs of rows and where these begin, of which the pattern is.
    seen: [Vec<usize>; 3],
    /// Where rows of the inertia matrix lie.
    seen_rows: Vec<Range<usize>>,
    /// Values of rows that are added at once, with zeros behind each.
    packed: Vec<f64>,
}

impl Factor {
    /// Takes the pattern of `inertia`, with all rows added.
    pub(super) fn analyse(&mut self, inertia: SymmetricRows, rows: &Rows) {
        let n = inertia.len();
        let (dofs, starts) = rows.pattern();
        let pattern = [inertia.columns, dofs, starts];
        let same = pattern.iter().zip(&self.seen).all(|(a, b)| *a == b);
        if same && self.diagonal.len() == n && self.seen_rows == inertia.rows {
            return;
        }
        self.seen_rows.clear();
        self.seen_rows.extend_from_slice(inertia.rows);
        for (seen, pattern) in self.seen.iter_mut().zip(pattern) {
            seen.clear();
            seen.extend_from_slice(pattern);
        }
        self.words = n.div_ceil(64);
        let words = self.words;
        self.bits.clear();
        self.bits.resize(n * words, 0);
        for i in 0..n {
            for &j in &inertia.columns[inertia.rows[i].clone()] {
                self.bits[i * words + j / 64] |= 1 << (j % 64);
            }
        }
        let mut last: &[usize] = &[];
        for r in 0..rows.len() {
            let dofs = rows.row(r).0;
            if let (Some(&first), false) = (dofs.first(), dofs == last) {
                last = dofs;
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
        if self.bits != self.listed || self.diagonal.len() != n {
            self.list(n);
        }
        self.of_inertia.clear();
        for i in 0..n {
            let mut at = self.start[i];
            for &j in &inertia.columns[inertia.rows[i].clone()] {
                while self.columns[at] != j {
                    at += 1;
                }
                self.of_inertia.push(at);
            }
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
        self.end.clear();
        self.columns.clear();
        for i in 0..n {
            self.start.push(self.columns.len());
            for w in (0..self.words).rev() {
                let mut bits = self.bits[i * self.words + w];
                while bits != 0 {
                    let bit = 63 - bits.leading_zeros() as usize;
                    bits &= !(1 << bit);
                    self.columns.push(64 * w + bit);
                }
            }
            self.end.push(self.columns.len());
            // No column has this number.
            self.columns.extend([usize::MAX; LANES - 1]);
        }
        self.leads.clear();
        self.leads.resize(self.columns.len(), false);
        for i in 0..n {
            for t in self.start[i]..self.end[i] {
                let rest = &self.columns[t..self.end[i]];
                self.leads[t] = self.columns[self.start[rest[0]]..].starts_with(rest);
            }
        }
        self.entries.resize(self.columns.len(), 0.0);
        self.diagonal.resize(n, 0.0);
        self.listed.clone_from(&self.bits);
    }

    /// Sets the matrix to `inertia`, whose pattern is part of this one.
    pub(super) fn load(&mut self, inertia: SymmetricRows) {
        self.entries.fill(0.0);
        let mut places = self.of_inertia.iter();
        for row in inertia.rows {
            for (entry, &at) in inertia.entries[row.clone()].iter().zip(&mut places) {
                self.entries[at] = *entry;
            }
        }
    }

    /// Adds Σ wᵣ vᵣ vᵣᵀ of rows of a Jacobian from `first` on, which have the same dofs.
    pub(super) fn add_rows(&mut self, rows: &Rows, first: usize, weights: &[f64]) {
        dispatch(Addition { factor: self, rows, first, weights });
    }

    #[inline(always)]
    fn add_rows_here(&mut self, rows: &Rows, first: usize, weights: &[f64]) {
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

    #[inline(always)]
    fn add_products<const K: usize>(&mut self, dofs: &[usize], rows: &[(f64, &[f64]); AT_ONCE]) {
        let n = dofs.len();
        let Some(&highest) = dofs.first() else { return };
        let width = n + LANES - 1;
        self.packed.clear();
        for (_, values) in &rows[..K] {
            self.packed.extend_from_slice(&values[..n]);
            self.packed.extend([0.0; LANES - 1]);
        }
        let values: [&[f64]; K] = std::array::from_fn(|k| &self.packed[k * width..(k + 1) * width]);
        let own = self.start[highest];
        let is_prefix = self.columns[own..self.end[highest]].starts_with(dofs);
        for (a, &i) in dofs.iter().enumerate() {
            let scaled: [f64; K] = std::array::from_fn(|k| rows[k].0 * values[k][a]);
            let first = self.start[i];
            if is_prefix && self.leads[own + a] {
                let whole = (n - a).next_multiple_of(LANES);
                let target = &mut self.entries[first..first + whole];
                let rest: [&[f64]; K] = std::array::from_fn(|k| &values[k][a..a + whole]);
                for (chunk, target) in target.chunks_exact_mut(LANES).enumerate() {
                    let mut sum = [0.0; LANES];
                    for k in 0..K {
                        let values = &rest[k][chunk * LANES..chunk * LANES + LANES];
                        for lane in 0..LANES {
                            sum[lane] += scaled[k] * values[lane];
                        }
                    }
                    for lane in 0..LANES {
                        target[lane] += sum[lane];
                    }
                }
                continue;
            }
            let mut at = first;
            for b in a..n {
                while self.columns[at] != dofs[b] {
                    at += 1;
                }
                let mut sum = 0.0;
                for k in 0..K {
                    sum += scaled[k] * values[k][b];
                }
                self.entries[at] += sum;
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
        dispatch(Elimination(self))
    }

    #[inline(always)]
    fn eliminate(&mut self) -> bool {
        let Self { start, end, columns, entries, leads, diagonal, .. } = self;
        for (diagonal, &at) in diagonal.iter_mut().zip(&*start) {
            *diagonal = entries[at];
        }
        for k in (0..diagonal.len()).rev() {
            let (first, count) = (start[k], end[k] - start[k]);
            let (above, own) = entries.split_at_mut(first);
            let columns_of = &columns[first..first + count];
            let pivot = own[0];
            let floor = PIVOT_FLOOR * diagonal[k].abs();
            let pivot = if pivot.is_finite() { pivot.max(floor) } else { pivot };
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            own[0] = pivot;
            let inverse = 1.0 / pivot;
            let leads = &leads[first..first + count];
            // Entries of this row stay undivided while rows towards the root still need them.
            for t in 1..count {
                let (i, factor) = (columns_of[t], -(own[t] * inverse));
                if leads[t] {
                    add_multiple(&mut above[start[i]..], factor, &own[t..], count - t);
                } else {
                    let mut at = start[i];
                    for (column, value) in columns_of[t..].iter().zip(&own[t..]) {
                        while columns[at] != *column {
                            at += 1;
                        }
                        above[at] += factor * value;
                    }
                }
            }
            for value in &mut own[1..count] {
                *value *= inverse;
            }
        }
        true
    }

    /// x ← H⁻¹ x.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for k in (0..x.len()).rev() {
            let value = x[k];
            let row = self.start[k] + 1..self.end[k];
            for (&column, entry) in self.columns[row.clone()].iter().zip(&self.entries[row]) {
                x[column] -= entry * value;
            }
        }
        for k in 0..x.len() {
            let mut value = x[k] / self.entries[self.start[k]];
            let row = self.start[k] + 1..self.end[k];
            for (&column, entry) in self.columns[row.clone()].iter().zip(&self.entries[row]) {
                value -= entry * x[column];
            }
            x[k] = value;
        }
    }
}

/// [`Factor::add_rows`], compiled for the processor's widest registers; they give the same bits.
struct Addition<'a> {
    factor: &'a mut Factor,
    rows: &'a Rows,
    first: usize,
    weights: &'a [f64],
}

impl Kernel for Addition<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.factor.add_rows_here(self.rows, self.first, self.weights);
    }
}

/// [`Factor::factorise`], compiled likewise.
struct Elimination<'a>(&'a mut Factor);

impl Kernel for Elimination<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<L: Lanes>(self) -> bool {
        self.0.eliminate()
    }
}
