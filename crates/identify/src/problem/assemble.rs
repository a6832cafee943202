//! Blocks of residuals from data and priors.

use nalgebra::DMatrix;

use super::bind::Problem;
use crate::least_squares::Block;

impl Problem {
    /// Residuals of priors on unknowns among `indices`, with their slopes: (unknown, residual, slope).
    pub(crate) fn priors(
        &self,
        indices: impl Iterator<Item = usize>,
        p: &[f64],
    ) -> Vec<(usize, f64, f64)> {
        indices
            .filter_map(|i| {
                let (r, slope) = self.unknowns[i].prior_residual(p[i])?;
                Some((i, r, slope))
            })
            .collect()
    }

    /// The block of fitted recording `b`: residuals of its data, whose derivatives by its links `by_link` gives
    /// (samples × links), then priors of its own unknowns.
    pub(crate) fn block(
        &self,
        b: usize,
        p: &[f64],
        mut residuals: Vec<f64>,
        by_link: &DMatrix<f64>,
    ) -> Block {
        let columns: Vec<usize> = self.structure.columns(b).collect();
        let own = self.structure.local_range(b);
        let priors = self.priors(own.clone(), p);
        let n = residuals.len();
        let mut jacobian = DMatrix::zeros(n + priors.len(), columns.len());
        for (k, link) in self.recordings[self.fitted[b]].links.iter().enumerate() {
            let Some(at) = columns.iter().position(|&c| c == link.unknown) else { continue };
            jacobian.view_mut((0, at), (n, 1)).copy_from(&by_link.column(k));
        }
        for (j, &(unknown, value, slope)) in priors.iter().enumerate() {
            residuals.push(value);
            jacobian[(n + j, unknown - own.start)] = slope;
        }
        Block { residuals, jacobian, priors: priors.len() }
    }

    /// Residuals of the data of fitted recording `b` with those of priors behind, and how many these are.
    pub(crate) fn with_priors(
        &self,
        b: usize,
        p: &[f64],
        mut residuals: Vec<f64>,
    ) -> (Vec<f64>, usize) {
        let priors = self.priors(self.structure.local_range(b), p);
        residuals.extend(priors.iter().map(|x| x.1));
        (residuals, priors.len())
    }

    /// The block of the priors on shared unknowns.
    pub(crate) fn shared_priors(&self, p: &[f64]) -> Block {
        let shared = self.structure.shared;
        let priors = self.priors(0..shared, p);
        let mut jacobian = DMatrix::zeros(priors.len(), shared);
        for (j, &(unknown, _, slope)) in priors.iter().enumerate() {
            jacobian[(j, unknown)] = slope;
        }
        let residuals = priors.iter().map(|x| x.1).collect();
        Block { residuals, jacobian, priors: priors.len() }
    }
}
