//! The linear problem of one iteration, compressed by orthogonal transformations.
//!
//! Each block's rows are first rotated to at most as many as it has columns. A damped solve then
//! eliminates the parameters of each block alone (its leading columns) and leaves a small problem
//! in the shared ones: the cost of a solve grows with the number of blocks, not with its cube.

use nalgebra::{DMatrix, DVector};

use super::loss::Loss;
use super::problem::{Block, Picture, Structure};

/// Rows of one block after compression.
pub(super) struct Rows {
    /// Columns of the block's own parameters.
    pub local: DMatrix<f64>,
    /// Columns of the shared parameters.
    pub shared: DMatrix<f64>,
    pub residuals: DVector<f64>,
}

/// Jacobian and residuals of a block; the residuals that `loss` weighs down and their rows are scaled by
/// √ρ′.
pub(super) fn weigh(block: &Block, loss: Loss) -> (DMatrix<f64>, DVector<f64>) {
    let mut residuals = DVector::from_column_slice(&block.residuals);
    let mut jacobian = block.jacobian.clone();
    if loss != Loss::Squares {
        for i in 0..residuals.len() - block.priors {
            let root = loss.weight(residuals[i] * residuals[i]).sqrt();
            residuals[i] *= root;
            jacobian.row_mut(i).scale_mut(root);
        }
    }
    (jacobian, residuals)
}

/// ½‖r + J δ‖² at one point, ready for many damped solves.
pub struct Reduced {
    structure: Structure,
    rows: Vec<Rows>,
    gradient: Vec<f64>,
    column_norms: Vec<f64>,
}

impl Reduced {
    /// Compresses the blocks of a linearisation; the residuals that `loss` weighs down and their
    /// rows are scaled by √ρ′.
    pub fn new(structure: &Structure, blocks: &[Block], loss: Loss) -> Self {
        let mut gradient = vec![0.0; structure.len()];
        let mut squares = vec![0.0; structure.len()];
        let mut rows = Vec::with_capacity(blocks.len());
        for (b, block) in blocks.iter().enumerate() {
            let (mut jacobian, mut residuals) = weigh(block, loss);
            for (k, column) in structure.columns(b).enumerate() {
                gradient[column] += jacobian.column(k).dot(&residuals);
                squares[column] += jacobian.column(k).norm_squared();
            }
            if jacobian.nrows() > jacobian.ncols() && jacobian.ncols() > 0 {
                let qr = jacobian.qr();
                qr.q_tr_mul(&mut residuals);
                jacobian = qr.r();
                residuals = residuals.rows(0, jacobian.nrows()).into_owned();
            }
            let own = structure.local[b];
            rows.push(Rows {
                local: jacobian.columns(0, own).into_owned(),
                shared: jacobian.columns(own, structure.shared).into_owned(),
                residuals,
            });
        }
        let column_norms = squares.into_iter().map(f64::sqrt).collect();
        Self { structure: structure.clone(), rows, gradient, column_norms }
    }

    /// Of compressed rows, for solves alone.
    pub(super) fn of_rows(structure: &Structure, rows: Vec<Rows>) -> Self {
        let structure = structure.clone();
        Self { structure, rows, gradient: Vec::new(), column_norms: Vec::new() }
    }
}

impl Picture for Reduced {
    fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    fn column_norms(&self) -> &[f64] {
        &self.column_norms
    }

    fn solve(&self, lambda: f64, scale: &[f64], free: &[bool]) -> Vec<f64> {
        let structure = &self.structure;
        let shared = structure.shared;
        let root = lambda.sqrt();
        let damp = |i: usize| if free[i] { root * scale[i] } else { 1.0 };
        let mut eliminated = Vec::with_capacity(self.rows.len());
        let mut remaining: Vec<DMatrix<f64>> = Vec::new();
        for (b, rows) in self.rows.iter().enumerate() {
            let own = structure.local_range(b);
            let (m, n) = (rows.residuals.len(), own.len());
            // Shared columns and the right-hand side, carried through the elimination.
            let mut carried = DMatrix::zeros(m + n, shared + 1);
            for j in 0..shared {
                if free[j] {
                    carried.view_mut((0, j), (m, 1)).copy_from(&rows.shared.column(j));
                }
            }
            carried.view_mut((0, shared), (m, 1)).copy_from(&rows.residuals);
            if n == 0 {
                remaining.push(carried);
                eliminated.push(None);
                continue;
            }
            let mut local = DMatrix::zeros(m + n, n);
            for (k, i) in own.enumerate() {
                if free[i] {
                    local.view_mut((0, k), (m, 1)).copy_from(&rows.local.column(k));
                }
                local[(m + k, k)] = damp(i);
            }
            let qr = local.qr();
            qr.q_tr_mul(&mut carried);
            remaining.push(carried.rows(n, m).into_owned());
            eliminated.push(Some((qr.r(), carried.rows(0, n).into_owned())));
        }
        let mut step = vec![0.0; structure.len()];
        let total: usize = remaining.iter().map(|r| r.nrows()).sum();
        let mut stacked = DMatrix::zeros(total, shared + 1);
        let mut at = 0;
        for part in &remaining {
            stacked.view_mut((at, 0), (part.nrows(), shared + 1)).copy_from(part);
            at += part.nrows();
        }
        let j = stacked.columns(0, shared).into_owned();
        let r = stacked.column(shared).into_owned();
        let damping: Vec<f64> = (0..shared).map(damp).collect();
        let shared_step = damped(&j, &r, &damping);
        step[..shared].copy_from_slice(shared_step.as_slice());
        for (b, part) in eliminated.iter().enumerate() {
            let Some((upper, carried)) = part else { continue };
            let mut rhs = -carried.column(shared).into_owned();
            rhs -= carried.columns(0, shared) * &shared_step;
            // The damping rows make the triangle regular.
            let own = upper.solve_upper_triangular(&rhs).unwrap_or_else(|| rhs.scale(0.0));
            step[structure.local_range(b)].copy_from_slice(own.as_slice());
        }
        for (value, &free) in step.iter_mut().zip(free) {
            if !free || !value.is_finite() {
                *value = 0.0;
            }
        }
        step
    }

    fn decrease(&self, step: &[f64]) -> f64 {
        let mut quadratic = 0.0;
        for (b, rows) in self.rows.iter().enumerate() {
            let own = DVector::from_column_slice(&step[self.structure.local_range(b)]);
            let shared = DVector::from_column_slice(&step[..self.structure.shared]);
            quadratic += (&rows.local * own + &rows.shared * shared).norm_squared();
        }
        let linear: f64 = self.gradient.iter().zip(step).map(|(g, s)| g * s).sum();
        -linear - 0.5 * quadratic
    }
}

/// argmin ½‖r + J δ‖² + ½‖diag(d) δ‖² with d > 0.
fn damped(j: &DMatrix<f64>, r: &DVector<f64>, d: &[f64]) -> DVector<f64> {
    let (m, n) = j.shape();
    if n == 0 {
        return DVector::zeros(0);
    }
    if m < n {
        // Few rows: δ = −D⁻² Jᵀ (J D⁻² Jᵀ + 1)⁻¹ r, by the triangle of D⁻¹Jᵀ = Q R, which leaves
        // a problem of m unknowns: δ = D⁻¹ Q y with y = argmin ‖Rᵀ y + r‖² + ‖y‖².
        let mut scaled = j.transpose();
        for (i, di) in d.iter().enumerate() {
            scaled.row_mut(i).unscale_mut(*di);
        }
        let qr = scaled.qr();
        let y = damped(&qr.r().transpose(), r, &vec![1.0; m]);
        let mut step = qr.q() * y;
        for (i, di) in d.iter().enumerate() {
            step[i] /= di;
        }
        return step;
    }
    let mut stacked = DMatrix::zeros(m + n, n);
    stacked.view_mut((0, 0), (m, n)).copy_from(j);
    for (i, di) in d.iter().enumerate() {
        stacked[(m + i, i)] = *di;
    }
    let mut rhs = DVector::zeros(m + n);
    rhs.rows_mut(0, m).copy_from(&-r);
    let qr = stacked.qr();
    qr.q_tr_mul(&mut rhs);
    let top = rhs.rows(0, n).into_owned();
    qr.r().solve_upper_triangular(&top).unwrap_or_else(|| DVector::zeros(n))
}
