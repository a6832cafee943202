//! Tangents and adjoints of a state and of what a step reads.

use rayon::prelude::*;

use crate::step::{PARALLEL, VERTICES};

/// Whether all numbers are finite.
pub(crate) fn all_finite(values: &[f64]) -> bool {
    // Without a branch per number, so that a block is checked on registers.
    let block = |values: &[f64]| values.iter().fold(true, |ok, x| ok & x.is_finite());
    if values.len() > 3 * PARALLEL {
        values.par_chunks(3 * VERTICES).all(block)
    } else {
        values.chunks(3 * VERTICES).all(block)
    }
}

/// Tangents of a state, or of constants and inputs: `columns` of them, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTangents {
    /// How many columns.
    pub columns: usize,
    /// Of the positions, in their tangent space: an orientation has three numbers, a rotation in
    /// the axes of the body.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub v: Vec<f64>,
    /// Of the activations.
    pub act: Vec<f64>,
}

/// The adjoint of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateAdjoint {
    /// Of the positions, in their tangent space.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub v: Vec<f64>,
    /// Of the activations.
    pub act: Vec<f64>,
}

impl StateTangents {
    /// Makes all of them zero.
    pub fn clear(&mut self) {
        for part in [&mut self.q, &mut self.v, &mut self.act] {
            part.fill(0.0);
        }
    }
    /// Takes the numbers of others of the same size.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.act.copy_from_slice(&other.act);
    }
}

impl StateAdjoint {
    /// Makes it zero.
    pub fn clear(&mut self) {
        for part in [&mut self.q, &mut self.v, &mut self.act] {
            part.fill(0.0);
        }
    }
    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        let parts = [(&mut self.q, &other.q), (&mut self.v, &other.v), (&mut self.act, &other.act)];
        for (to, from) in parts {
            to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        }
    }
    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        [&self.q, &self.v, &self.act].into_iter().all(|part| all_finite(part))
    }
    /// All its numbers.
    pub fn iter(&self) -> impl Iterator<Item = f64> {
        self.q.iter().chain(&self.v).chain(&self.act).copied()
    }
}

/// Adjoints of what a run is a function of; a step adds to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputAdjoints {
    /// Of the constants.
    pub c: Vec<f64>,
    /// Of the inputs at the step's start.
    pub now: Vec<f64>,
    /// Of the inputs at the step's end.
    pub next: Vec<f64>,
}
