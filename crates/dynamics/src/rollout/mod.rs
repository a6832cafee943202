//! Rollouts of a system with their sensitivities and checkpointed adjoints.

mod observer;

pub use observer::{Interval, IntervalAdjoints, IntervalTangents, Observer};
