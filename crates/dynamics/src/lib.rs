//! Dynamics: the compiled constants, the step and its derivatives, rollouts and adjoints.
#![warn(missing_docs)]

mod articulated;
mod balance;
mod check;
mod constants;
pub mod contact;
mod control;
mod coupling;
mod derive;
mod driven;
mod error;
pub mod expression;
mod force;
pub mod observe;
pub mod rigid;
pub mod rollout;
mod saltation;
mod snapshot;
pub mod soft;
mod stability;
mod step;
mod system;
mod variation;
mod wanted;

pub use articulated::Articulated;
pub use balance::{Balance, Motion};
pub use check::{LeafCheck, check};
pub use constants::{Constants, Layout};
pub use error::DynamicsError;
pub use force::{Adjoints, At, Force, Scratch, Tangents};
pub use snapshot::Snapshot;
pub use stability::StableStep;
pub use step::{InputAdjoints, StateAdjoint, StateTangents, StepInputs};
pub use system::{System, Workspace};
