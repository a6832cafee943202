//! The covariance of an estimate from the Jacobian of its whitened residuals.

use nalgebra::{DMatrix, DVector};

use super::autocorrelation::AutoRegression;
use crate::least_squares::{Block, Loss, Structure};

/// Rows of a block that are successive samples of one signal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The block.
    pub block: usize,
    /// Its rows, in order of time.
    pub rows: Vec<usize>,
}

/// Covariance of the (transformed) parameters and what it was made of.
#[derive(Clone, Debug)]
pub struct Covariance {
    /// Variances and covariances; `None` where the data do not fix every parameter.
    pub matrix: Option<DMatrix<f64>>,
    /// Per parameter, the factor by which correlated residuals widened its standard error (≥ 1).
    pub widening: Vec<f64>,
    /// Singular values of the Jacobian with columns of unit length, descending.
    pub singular_values: Vec<f64>,
    /// Right singular vectors, as columns.
    pub directions: DMatrix<f64>,
    /// Norms of the Jacobian's columns.
    pub column_norms: Vec<f64>,
    /// Data minus parameters.
    pub degrees_of_freedom: i64,
}

/// Singular values below this share of the largest are rounding.
const RANK: f64 = 1e-11;

/// Rows of all blocks with their columns in the order of the whole parameter vector, compressed.
fn triangle(structure: &Structure, blocks: &[Block]) -> DMatrix<f64> {
    let n = structure.len();
    let mut parts = Vec::new();
    for (b, block) in blocks.iter().enumerate() {
        let j = &block.jacobian;
        let small =
            if j.nrows() > j.ncols() && j.ncols() > 0 { j.clone().qr().r() } else { j.clone() };
        let mut wide = DMatrix::zeros(small.nrows(), n);
        for (k, column) in structure.columns(b).enumerate() {
            wide.set_column(column, &small.column(k));
        }
        parts.push(wide);
    }
    let total = parts.iter().map(|p| p.nrows()).sum();
    let mut all = DMatrix::zeros(total, n);
    let mut at = 0;
    for part in parts {
        all.rows_mut(at, part.nrows()).copy_from(&part);
        at += part.nrows();
    }
    if total > n && n > 0 { all.qr().r() } else { all }
}

/// The covariance of the parameters at a minimum.
///
/// Without correlation in time it is (JᵀJ)⁻¹, times Huber's scale for robust losses (Huber &
/// Ronchetti, Robust Statistics, §7.6). Residuals of each series are then described by an
/// autoregressive model with correlation matrix C, and the standard errors are those of
/// (JᵀJ)⁻¹ Jᵀ C J (JᵀJ)⁻¹ where these are larger.
pub fn covariance(
    structure: &Structure,
    blocks: &[Block],
    series: &[Series],
    loss: Loss,
) -> Covariance {
    let n = structure.len();
    let samples: usize = blocks.iter().map(|b| b.residuals.len() - b.priors).sum();
    let rows: usize = blocks.iter().map(|b| b.residuals.len()).sum();
    let degrees_of_freedom = rows as i64 - n as i64;
    let mut all = triangle(structure, blocks);
    let column_norms: Vec<f64> = all.column_iter().map(|c| c.norm()).collect();
    for (mut column, norm) in all.column_iter_mut().zip(&column_norms) {
        if *norm > 0.0 {
            column.unscale_mut(*norm);
        }
    }
    // The decomposition wants at least as many rows as columns to give all directions.
    if all.nrows() < n {
        all = all.resize_vertically(n, 0.0);
    }
    let mut result = Covariance {
        matrix: None,
        widening: vec![1.0; n],
        singular_values: vec![],
        directions: DMatrix::zeros(n, 0),
        column_norms,
        degrees_of_freedom,
    };
    if n == 0 {
        result.matrix = Some(DMatrix::zeros(0, 0));
        return result;
    }
    let svd = all.svd(false, true);
    let Some(v_t) = svd.v_t else { return result };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| svd.singular_values[b].total_cmp(&svd.singular_values[a]));
    result.singular_values = order.iter().map(|&i| svd.singular_values[i]).collect();
    result.directions = DMatrix::from_fn(n, n, |i, k| v_t[(order[k], i)]);
    let full_rank = result.singular_values[n - 1] > RANK * result.singular_values[0]
        && result.column_norms.iter().all(|c| *c > 0.0);
    if !full_rank || rows < n {
        return result;
    }
    let mut inverse = DMatrix::zeros(n, n);
    for k in 0..n {
        let v = result.directions.column(k) / result.singular_values[k];
        inverse += &v * v.transpose();
    }
    for i in 0..n {
        for j in 0..n {
            inverse[(i, j)] /= result.column_norms[i] * result.column_norms[j];
        }
    }
    result.widening = widening(structure, blocks, series, &inverse);
    let mut matrix = inverse * huber_scale(blocks, loss, samples, n);
    for i in 0..n {
        for j in 0..n {
            matrix[(i, j)] *= result.widening[i] * result.widening[j];
        }
    }
    result.matrix = Some(matrix);
    result
}

/// Per parameter √((H⁻¹ Jᵀ C J H⁻¹) / H⁻¹), at least one.
fn widening(
    structure: &Structure,
    blocks: &[Block],
    series: &[Series],
    inverse: &DMatrix<f64>,
) -> Vec<f64> {
    let n = structure.len();
    // Jᵀ C J − JᵀJ, summed over the series whose residuals are correlated.
    let mut excess = DMatrix::<f64>::zeros(n, n);
    let mut any = false;
    for one in series {
        let block = &blocks[one.block];
        let residuals: Vec<f64> = one.rows.iter().map(|&i| block.residuals[i]).collect();
        let model = AutoRegression::fit(&residuals);
        if model.is_white() {
            continue;
        }
        any = true;
        let columns: Vec<usize> = structure.columns(one.block).collect();
        let j = DMatrix::from_fn(one.rows.len(), columns.len(), |t, k| {
            block.jacobian[(one.rows[t], k)]
        });
        let mut smoothed = DMatrix::<f64>::zeros(j.nrows(), j.ncols());
        for (lag, rho) in model.correlation.iter().enumerate().skip(1) {
            for k in 0..j.ncols() {
                for t in lag..j.nrows() {
                    smoothed[(t, k)] += rho * j[(t - lag, k)];
                    smoothed[(t - lag, k)] += rho * j[(t, k)];
                }
            }
        }
        let local = j.transpose() * smoothed;
        for (a, &i) in columns.iter().enumerate() {
            for (b, &k) in columns.iter().enumerate() {
                excess[(i, k)] += local[(a, b)];
            }
        }
    }
    if !any {
        return vec![1.0; n];
    }
    let extra = inverse * excess * inverse;
    (0..n).map(|i| (1.0 + extra[(i, i)] / inverse[(i, i)]).max(1.0).sqrt()).collect()
}

/// Huber's factor of the covariance of an M-estimate; 1 for least squares.
fn huber_scale(blocks: &[Block], loss: Loss, samples: usize, n: usize) -> f64 {
    if loss == Loss::Squares || samples <= n {
        return 1.0;
    }
    let (mut square, mut slope) = (0.0, 0.0);
    for block in blocks {
        for r in &block.residuals[..block.residuals.len() - block.priors] {
            let psi = r * loss.weight(r * r);
            square += psi * psi;
            slope += loss.curvature(r * r);
        }
    }
    let mean = (slope / samples as f64).max(1e-3);
    square / (samples - n) as f64 / (mean * mean)
}

impl Covariance {
    /// Standard error of each parameter; `None` where the data do not fix it.
    pub fn standard_errors(&self) -> Option<Vec<f64>> {
        let matrix = self.matrix.as_ref()?;
        Some((0..matrix.nrows()).map(|i| matrix[(i, i)].max(0.0).sqrt()).collect())
    }

    /// Correlations; `None` where there is no covariance.
    pub fn correlations(&self) -> Option<DMatrix<f64>> {
        let matrix = self.matrix.as_ref()?;
        let sd: DVector<f64> = matrix.diagonal().map(f64::sqrt);
        Some(DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
            if i == j { 1.0 } else { matrix[(i, j)] / (sd[i] * sd[j]) }
        }))
    }

    /// Standard error that a parameter would have if all others were known.
    pub fn conditional_error(&self, i: usize) -> f64 {
        1.0 / self.column_norms[i]
    }

    /// The largest widening of any parameter.
    pub fn largest_widening(&self) -> f64 {
        self.widening.iter().copied().fold(1.0, f64::max)
    }
}
