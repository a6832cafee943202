//! Identification: from recordings of a motion to the parameters that explain it, with their
//! uncertainty.
#![warn(missing_docs)]

mod error;
pub mod least_squares;
pub mod random;
mod result;
pub mod uncertainty;

pub use error::IdentifyError;
pub use result::{
    Correlation, Goodness, Identification, Iteration, NotIdentifiable, Numbers, Parameter,
    RESULT_SCHEMA, Role, SignalFit, WeakDirection,
};
