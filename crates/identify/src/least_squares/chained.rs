//! The linear problem of one iteration where blocks of residuals are chains of windows, each with a state of
//! its own at its start.
//!
//! Residuals of window w depend on its state, on that of the window after it (through the gap between its end
//! and that) and on the other parameters. The states are eliminated from the first window to the last by
//! orthogonal transformations, each leaving a small triangle for the next: a square-root information
//! smoother (Bierman, *Factorization Methods for Discrete Sequential Estimation*, 1977, ch. VI). Its cost
//! grows with the number of windows, not with its cube.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::loss::Loss;
use super::problem::{Block, Picture, Structure};
use super::reduced::{Reduced, Rows, weigh};

/// How the parameters of chains are laid out: those of [`Structure`] first, then states.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chains {
    /// The parameters that are no states; its blocks are the chains.
    pub outer: Structure,
    /// Of each chain, where the states of its second and later windows lie among all parameters.
    pub states: Vec<Vec<Range<usize>>>,
}

impl Chains {
    /// Number of parameters, states included.
    pub fn len(&self) -> usize {
        self.outer.len() + self.states.iter().flatten().map(Range::len).sum::<usize>()
    }

    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of windows of chain `b`.
    pub fn windows(&self, b: usize) -> usize {
        self.states[b].len() + 1
    }

    /// State at the start of window `w` of chain `b`; none for the first.
    fn before(&self, b: usize, w: usize) -> Range<usize> {
        if w == 0 { 0..0 } else { self.states[b][w - 1].clone() }
    }

    /// State at the end of window `w` of chain `b`; none for the last.
    fn after(&self, b: usize, w: usize) -> Range<usize> {
        self.states[b].get(w).cloned().unwrap_or(0..0)
    }

    /// The parameters that a window's residuals depend on, in the order of its Jacobian's columns: its
    /// state, that of the next window, and those of [`Structure::columns`].
    pub fn columns(&self, b: usize, w: usize) -> impl Iterator<Item = usize> + use<> {
        self.before(b, w).chain(self.after(b, w)).chain(self.outer.columns(b))
    }
}

/// Rows of one window: by its state, by the next one's, by the other parameters with the residual behind.
struct Piece {
    before: DMatrix<f64>,
    after: DMatrix<f64>,
    rest: DMatrix<f64>,
}

/// What an elimination keeps of a window: the state is −R⁻¹(after · next state + rest · (parameters, 1)).
struct Eliminated {
    upper: DMatrix<f64>,
    after: DMatrix<f64>,
    rest: DMatrix<f64>,
}

/// ½‖r + J δ‖² at one point, ready for many damped solves.
pub struct Chained {
    chains: Chains,
    pieces: Vec<Vec<Piece>>,
    gradient: Vec<f64>,
    column_norms: Vec<f64>,
}

impl Chained {
    /// Compresses the windows' blocks, those of one chain after the other. A state's column counts by its
    /// rows of data, and for at least the size that `sizes` gives: gaps would make it stiffer than the motion
    /// is.
    pub fn new(chains: &Chains, blocks: &[Block], loss: Loss, sizes: &[f64]) -> Self {
        let n = chains.len();
        let (mut gradient, mut squares) = (vec![0.0; n], vec![0.0; n]);
        let mut pieces = Vec::with_capacity(chains.states.len());
        let mut blocks = blocks.iter();
        for b in 0..chains.states.len() {
            let mut chain = Vec::with_capacity(chains.windows(b));
            for (w, block) in (0..chains.windows(b)).zip(&mut blocks) {
                let (jacobian, residuals) = weigh(block, loss);
                let data = residuals.len() - block.priors;
                for (k, column) in chains.columns(b, w).enumerate() {
                    let own = jacobian.column(k);
                    gradient[column] += own.dot(&residuals);
                    let counts = if column < chains.outer.len() { own.len() } else { data };
                    squares[column] += own.rows(0, counts).norm_squared();
                }
                let (m, width) = jacobian.shape();
                let mut all = DMatrix::zeros(m, width + 1);
                all.columns_mut(0, width).copy_from(&jacobian);
                all.set_column(width, &residuals);
                let all = compressed(all);
                let (n0, n1) = (chains.before(b, w).len(), chains.after(b, w).len());
                chain.push(Piece {
                    before: all.columns(0, n0).into_owned(),
                    after: all.columns(n0, n1).into_owned(),
                    rest: all.columns(n0 + n1, width + 1 - n0 - n1).into_owned(),
                });
            }
            pieces.push(chain);
        }
        for (square, size) in squares[chains.outer.len()..].iter_mut().zip(sizes) {
            *square += size.powi(-2);
        }
        let column_norms = squares.into_iter().map(f64::sqrt).collect();
        Self { chains: chains.clone(), pieces, gradient, column_norms }
    }

    /// Eliminates the states of chain `b`, damped by `damp` (empty for not at all). Returns what gives them
    /// back and the rows that are left.
    fn eliminate(&self, b: usize, damp: &[f64]) -> (Vec<Eliminated>, DMatrix<f64>) {
        let pieces = &self.pieces[b];
        let width = self.chains.outer.columns(b).count() + 1;
        let mut kept = Vec::with_capacity(pieces.len());
        // Rows carried from the windows before, by this window's state and the rest.
        let mut carried = DMatrix::zeros(0, width);
        for (w, piece) in pieces.iter().enumerate() {
            let own = self.chains.before(b, w);
            let (n0, n1) = (own.len(), piece.after.ncols());
            let damped = if damp.is_empty() { 0 } else { n0 };
            let (c, m) = (carried.nrows(), piece.rest.nrows());
            let rows = c + m + damped;
            let mut state = DMatrix::zeros(rows, n0);
            let mut others = DMatrix::zeros(rows, n1 + width);
            state.view_mut((0, 0), (c, n0)).copy_from(&carried.columns(0, n0));
            state.view_mut((c, 0), (m, n0)).copy_from(&piece.before);
            others.view_mut((0, n1), (c, width)).copy_from(&carried.columns(n0, width));
            others.view_mut((c, 0), (m, n1)).copy_from(&piece.after);
            others.view_mut((c, n1), (m, width)).copy_from(&piece.rest);
            for (k, i) in own.enumerate().take(damped) {
                state[(c + m + k, k)] = damp[i];
            }
            if n0 > 0 {
                let qr = state.qr();
                qr.q_tr_mul(&mut others);
                let top = others.rows(0, n0);
                kept.push(Eliminated {
                    upper: qr.r(),
                    after: top.columns(0, n1).into_owned(),
                    rest: top.columns(n1, width).into_owned(),
                });
                others = others.rows(n0, rows - n0).into_owned();
            }
            carried = compressed(others);
        }
        (kept, carried)
    }

    /// The states of a chain, one column for each of `rest`, whose rows are the other parameters and, last,
    /// the factor of the residuals.
    fn substitute(kept: &[Eliminated], rest: &DMatrix<f64>) -> Vec<DMatrix<f64>> {
        let mut states: Vec<DMatrix<f64>> = Vec::with_capacity(kept.len());
        for one in kept.iter().rev() {
            let mut rhs = -(&one.rest * rest);
            if let Some(next) = states.last() {
                rhs -= &one.after * next;
            }
            // Gaps make every state's triangle regular.
            let own = one.upper.solve_upper_triangular(&rhs).unwrap_or_else(|| rhs.scale(0.0));
            states.push(own);
        }
        states.reverse();
        states
    }

    /// How the states of chain `b` that minimise the linear picture follow the other parameters: per state,
    /// its derivatives by those of [`Structure::columns`].
    pub fn following(&self, b: usize) -> Vec<DMatrix<f64>> {
        let (kept, _) = self.eliminate(b, &[]);
        let n = self.chains.outer.columns(b).count();
        Self::substitute(&kept, &DMatrix::identity(n + 1, n))
    }
}

impl Picture for Chained {
    fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    fn column_norms(&self) -> &[f64] {
        &self.column_norms
    }

    fn solve(&self, lambda: f64, scale: &[f64], free: &[bool]) -> Vec<f64> {
        let outer = &self.chains.outer;
        let damp: Vec<f64> = scale.iter().map(|s| lambda.sqrt() * s).collect();
        let mut rows = Vec::with_capacity(self.pieces.len());
        let mut all = Vec::with_capacity(self.pieces.len());
        for b in 0..self.pieces.len() {
            let (kept, left) = self.eliminate(b, &damp);
            let own = outer.local[b];
            rows.push(Rows {
                local: left.columns(0, own).into_owned(),
                shared: left.columns(own, outer.shared).into_owned(),
                residuals: left.column(own + outer.shared).into_owned(),
            });
            all.push(kept);
        }
        let n = outer.len();
        let mut step = Reduced::of_rows(outer, rows).solve(lambda, &scale[..n], &free[..n]);
        step.resize(self.chains.len(), 0.0);
        for (b, kept) in all.iter().enumerate() {
            let mut rest: Vec<f64> = outer.columns(b).map(|i| step[i]).collect();
            rest.push(1.0);
            let states = Self::substitute(kept, &DMatrix::from_vec(rest.len(), 1, rest));
            for (range, state) in self.chains.states[b].iter().zip(&states) {
                for (slot, value) in step[range.clone()].iter_mut().zip(state.iter()) {
                    *slot = if value.is_finite() { *value } else { 0.0 };
                }
            }
        }
        step
    }

    fn decrease(&self, step: &[f64]) -> f64 {
        let mut quadratic = 0.0;
        for (b, chain) in self.pieces.iter().enumerate() {
            let mut rest: Vec<f64> = self.chains.outer.columns(b).map(|i| step[i]).collect();
            rest.push(0.0);
            let rest = DVector::from_vec(rest);
            for (w, piece) in chain.iter().enumerate() {
                let state = |range: Range<usize>| DVector::from_column_slice(&step[range]);
                let moved = &piece.before * state(self.chains.before(b, w))
                    + &piece.after * state(self.chains.after(b, w))
                    + &piece.rest * &rest;
                quadratic += moved.norm_squared();
            }
        }
        let linear: f64 = self.gradient.iter().zip(step).map(|(g, s)| g * s).sum();
        -linear - 0.5 * quadratic
    }
}

/// The same rows rotated to at most as many as there are columns.
fn compressed(rows: DMatrix<f64>) -> DMatrix<f64> {
    if rows.nrows() > rows.ncols() && rows.ncols() > 0 { rows.qr().r() } else { rows }
}
