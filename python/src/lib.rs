//! The extension module `costate._costate` of the Python package: models, rollouts, derivatives and
//! identification with NumPy arrays in and out. What users see of it is in `package/costate`.

mod arrays;
mod compiled;
mod errors;
mod experiment;
mod expression;
mod interrupt;
mod law;
mod model;
mod outputs;
mod record;
mod rollout;
mod select;
mod setup;
mod snapshot;
mod tangents;

use pyo3::prelude::*;

/// The compiled part of Costate.
#[pymodule]
mod _costate {
    #[pymodule_export]
    use crate::experiment::{Experiment, report};
    #[pymodule_export]
    use crate::expression::Loss;
    #[pymodule_export]
    use crate::law::Law;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::record::{Record, pullback};
    #[pymodule_export]
    use crate::select::Selection;

    /// Version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
