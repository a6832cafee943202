//! Nonlinear least squares with an arrow structure: some parameters are shared by all blocks of
//! residuals, others belong to one block alone and are eliminated with it.

mod lm;
mod loss;
mod problem;
mod reduced;

pub use lm::{Fit, LmOptions, LmState, Status, minimise};
pub use loss::Loss;
pub use problem::{Block, Failed, LeastSquares, Structure};
pub use reduced::Reduced;

#[cfg(test)]
mod tests;
