//! An experiment compiled: unknowns, recordings, residuals and their derivatives.

mod assemble;
mod bind;
mod bind_recording;
mod fit;
mod links;
mod monitor;
mod recording;
mod shooting;
mod unknown;
mod wanted;

pub use bind::{Part, Problem};
pub use fit::{CostGradient, FitProblem};
pub use recording::{BoundRecording, Own};
pub use unknown::{Link, Unknown};

pub(crate) use monitor::contact_report;
pub(crate) use shooting::{Prepared, ShootingFit, Windows};
