//! Nonlinear least squares with an arrow structure: some parameters are shared by all blocks of
//! residuals, others belong to one block alone and are eliminated with it. A block may be a chain of windows
//! with states of their own, which are eliminated one after the other.

mod chained;
mod lm;
mod loss;
mod problem;
mod reduced;

pub use chained::{Chained, Chains};
pub use lm::{Fit, LmOptions, LmState, Status, minimise};
pub use loss::Loss;
pub use problem::{Block, Failed, LeastSquares, Picture, Structure};
pub use reduced::Reduced;

#[cfg(test)]
mod tests;
