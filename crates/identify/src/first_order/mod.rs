//! Methods that need the gradient of the cost only.

mod adam;
mod interior;
mod lbfgs;

pub use adam::{AdamState, adam};
pub use lbfgs::lbfgs;

use crate::least_squares::{Failed, Status};

/// A cost with its gradient over a box.
pub trait Smooth: Sync {
    /// Cost and gradient at p.
    ///
    /// # Errors
    /// A trial that cannot be evaluated, or an interrupt.
    fn evaluate(&self, p: &[f64]) -> Result<(f64, Vec<f64>), Failed>;
    /// Closed bounds of each parameter.
    fn box_bounds(&self) -> &[(f64, f64)];
}

impl Smooth for crate::problem::FitProblem<'_> {
    fn evaluate(&self, p: &[f64]) -> Result<(f64, Vec<f64>), Failed> {
        let found = self.cost_gradient(p)?;
        Ok((found.cost, found.gradient))
    }
    fn box_bounds(&self) -> &[(f64, f64)] {
        crate::least_squares::LeastSquares::bounds(self)
    }
}

/// Where a first-order method ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The best point met.
    pub p: Vec<f64>,
    /// Its cost.
    pub cost: f64,
    /// How it ended.
    pub status: Status,
    /// Iterations done.
    pub iterations: usize,
}

#[cfg(test)]
mod tests;
