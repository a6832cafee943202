//! What the solver asks of a problem.

use nalgebra::DMatrix;

use super::loss::Loss;
use super::reduced::Reduced;

/// How the parameter vector is laid out: the shared ones, then those of each block in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// Number of shared parameters.
    pub shared: usize,
    /// Number of parameters of each block alone.
    pub local: Vec<usize>,
}

impl Structure {
    /// All parameters shared, `blocks` blocks.
    pub fn dense(shared: usize, blocks: usize) -> Self {
        Self { shared, local: vec![0; blocks] }
    }
    /// Number of parameters in all.
    pub fn len(&self) -> usize {
        self.shared + self.local.iter().sum::<usize>()
    }
    /// Whether there is no parameter.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Where the parameters of block `b` alone lie.
    pub fn local_range(&self, b: usize) -> std::ops::Range<usize> {
        let start = self.shared + self.local[..b].iter().sum::<usize>();
        start..start + self.local[b]
    }
    /// The parameters that block `b` depends on, in the order of its Jacobian's columns: its own,
    /// then the shared ones.
    pub fn columns(&self, b: usize) -> impl Iterator<Item = usize> + use<> {
        self.local_range(b).chain(0..self.shared)
    }
}

/// Whitened residuals of one block and their Jacobian.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// (predicted − measured) / σ.
    pub residuals: Vec<f64>,
    /// Residuals by parameters; columns as [`Structure::columns`] gives them.
    pub jacobian: DMatrix<f64>,
    /// How many of the last residuals are priors, which no robust loss applies to.
    pub priors: usize,
}

/// Why residuals could not be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// The motion diverged, or a value left its physical bounds: a worse trial, nothing more.
    Rejected(String),
    /// The caller asked to stop.
    Interrupted,
}

/// ½‖r + J δ‖² at one point.
pub trait Picture {
    /// Jᵀr (weights of a robust loss included).
    fn gradient(&self) -> &[f64];
    /// The size of every column of J that damping is measured by.
    fn column_norms(&self) -> &[f64];
    /// The δ that minimises ½‖r + J δ‖² + ½ λ‖D δ‖² over the free parameters; the others stay.
    fn solve(&self, lambda: f64, scale: &[f64], free: &[bool]) -> Vec<f64>;
    /// ½‖r‖² − ½‖r + J δ‖²: what the linear picture gains by a step.
    fn decrease(&self, step: &[f64]) -> f64;
}

/// A least-squares problem: minimise Σ ρ(rᵢ²)/2 over a box.
pub trait LeastSquares: Sync {
    /// Layout of the parameters and number of blocks.
    fn structure(&self) -> &Structure;
    /// Closed bounds of each parameter.
    fn bounds(&self) -> &[(f64, f64)];
    /// The largest step of each parameter in which its linear picture is worth anything.
    fn step_limits(&self) -> &[f64];
    /// A size below which a change of each parameter is nothing.
    fn floors(&self) -> &[f64];
    /// The loss of residuals that are no priors.
    fn loss(&self) -> Loss;
    /// Sum of squares of the whitened data: residuals below rounding of it are zero.
    fn data_norm2(&self) -> f64;
    /// Residuals per block, with the number of priors at the end of each.
    ///
    /// # Errors
    /// A trial that cannot be evaluated, or an interrupt.
    fn residuals(&self, p: &[f64]) -> Result<Vec<(Vec<f64>, usize)>, Failed>;
    /// Residuals and Jacobian per block.
    ///
    /// # Errors
    /// As [`residuals`](Self::residuals).
    fn linearise(&self, p: &[f64]) -> Result<Vec<Block>, Failed>;
    /// The linear problem of a linearisation's blocks.
    fn picture(&self, blocks: &[Block]) -> Box<dyn Picture> {
        Box::new(Reduced::new(self.structure(), blocks, self.loss()))
    }
}
