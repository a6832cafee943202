//! Identification: from recordings of a motion to the parameters that explain it, with their
//! uncertainty.
//!
//! An [`Experiment`] names a scene, recordings and unknowns; [`identify`] finds them and says how
//! sure one can be in an [`Identification`]. [`Problem`] and [`FitProblem`] are the same in parts,
//! for own searches; [`least_squares`], [`first_order`] and [`uncertainty`] work on any problem.
#![warn(missing_docs)]

mod error;
pub mod experiment;
pub mod first_order;
mod identify;
pub mod least_squares;
mod problem;
pub mod random;
mod regressor;
mod result;
pub mod uncertainty;

pub use error::IdentifyError;
pub use experiment::Experiment;
pub use identify::{
    CHECKPOINT_FILE, Gradient, IdentifyOptions, Progress, RESULT_FILE, estimates, evaluate,
    fitted_model, gradient, identify,
};
pub use problem::{BoundRecording, CostGradient, FitProblem, Link, Own, Problem, Unknown};
pub use result::{
    Correlation, Goodness, Identification, Iteration, NotIdentifiable, Numbers, Parameter,
    RESULT_SCHEMA, Role, SignalFit, WeakDirection,
};
