//! What is read off a motion, between the rollout and the losses.

use costate_model::State;

use crate::constants::Constants;
use crate::step::{StateAdjoint, StateTangents, StepInputs};
use crate::system::System;

/// One interval of a rollout: the states at steps k and k + 1 and what they depend on.
#[derive(Clone, Copy)]
pub struct Interval<'a> {
    /// The system.
    pub system: &'a System,
    /// Its constants.
    pub c: &'a Constants,
    /// The observer's own parameters (time offset, frame, marker offsets, …).
    pub p: &'a [f64],
    /// k.
    pub step: usize,
    /// The state at step k.
    pub start: &'a State,
    /// The state at step k + 1.
    pub end: &'a State,
    /// The inputs at both ends.
    pub u: StepInputs<'a>,
}

/// Tangents that belong to an [`Interval`].
#[derive(Clone, Copy)]
pub struct IntervalTangents<'a> {
    /// How many columns.
    pub columns: usize,
    /// Of the start state.
    pub start: &'a StateTangents,
    /// Of the end state.
    pub end: &'a StateTangents,
    /// Of the constants; empty means zero.
    pub c: &'a [f64],
    /// Of the inputs at the start; empty means zero.
    pub u: &'a [f64],
    /// Of the observer's parameters; empty means zero.
    pub p: &'a [f64],
}

/// Adjoints that belong to an [`Interval`]; all are added to.
pub struct IntervalAdjoints<'a> {
    /// Of the start state.
    pub start: &'a mut StateAdjoint,
    /// Of the end state.
    pub end: &'a mut StateAdjoint,
    /// Of the constants.
    pub c: &'a mut [f64],
    /// Of the inputs at the start.
    pub u: &'a mut [f64],
    /// Of the observer's parameters.
    pub p: &'a mut [f64],
}

/// A fixed list of observed values y, each a function of one interval of a motion.
///
/// For given parameters p every value belongs to exactly one interval: that of its time, shifted by
/// a clock offset where there is one. Which values there are, and how many steps a run makes, is
/// fixed before it.
pub trait Observer: Send + Sync {
    /// Number of observed values.
    fn len(&self) -> usize;
    /// Whether nothing is observed.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Number of steps a rollout must make so that every value can be read.
    fn steps(&self) -> usize;
    /// Number of the observer's own parameters.
    fn parameters_len(&self) -> usize {
        0
    }
    /// Whether a value may belong to interval `step`, whatever p is.
    fn reads(&self, step: usize) -> bool;
    /// Writes the values of this interval into `y`.
    fn observe(&self, at: Interval, y: &mut [f64]);
    /// Writes the tangents of this interval's values: column k of `y_dot` is `[k len ..]`.
    fn pushforward(&self, at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]);
    /// Adds the adjoints of this interval's values.
    fn pullback(&self, at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints);
}
