//! Rollouts of a system, their sensitivities and their checkpointed adjoints.

mod adjoint;
mod checkpoints;
mod contacts;
mod forward;
mod observer;
mod sensitivities;

pub use adjoint::{AdjointOptions, Gradient, Loss, Recorded};
pub use checkpoints::Policy;
pub use forward::{Failure, Run};
pub use observer::{Interval, IntervalAdjoints, IntervalTangents, Observer};
pub use sensitivities::{Part, Seeds, Sensitivities};
