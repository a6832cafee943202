//! Shorthand for adding the leaves of one element.

use crate::error::ModelError;
use crate::leaf::{Bounds, Leaf, LeafId, Leaves};

/// Adds leaves under one prefix, `joint.knee`.
pub(super) struct Maker<'a> {
    leaves: &'a mut Leaves,
    prefix: String,
}

impl<'a> Maker<'a> {
    pub fn new(leaves: &'a mut Leaves, kind: &str, name: &str) -> Self {
        Self { leaves, prefix: format!("{kind}.{name}") }
    }

    /// A scalar.
    pub fn scalar(
        &mut self,
        name: &str,
        value: f64,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        let path = format!("{}.{name}", self.prefix);
        self.leaves.add(Leaf::scalar(path, value, unit, bounds, about))
    }

    /// A vector of any length.
    pub fn vector(
        &mut self,
        name: &str,
        values: &[f64],
        unit: &'static str,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        self.bounded(name, values, unit, Bounds::ANY, about)
    }

    /// A vector whose every number lies within `bounds`.
    pub fn bounded(
        &mut self,
        name: &str,
        values: &[f64],
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        let path = format!("{}.{name}", self.prefix);
        let leaf = Leaf::array(path, values.to_vec(), vec![values.len()], unit, about);
        self.leaves.add(Leaf { bounds, ..leaf })
    }

    /// A coefficient that may have terms of higher order: a scalar when it has none, else an
    /// array of the coefficient and the terms.
    pub fn polynomial(
        &mut self,
        name: &str,
        values: [f64; 3],
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        if values[1] == 0.0 && values[2] == 0.0 {
            self.scalar(name, values[0], unit, bounds, about)
        } else {
            self.vector(name, &values, unit, about)
        }
    }

    /// Position of a frame, m.
    pub fn pos(&mut self, values: [f64; 3], about: &str) -> Result<LeafId, ModelError> {
        self.vector("pos", &values, "m", about)
    }

    /// Orientation of a frame.
    pub fn quat(&mut self, values: [f64; 4]) -> Result<LeafId, ModelError> {
        self.vector("quat", &values, "", "orientation, quaternion w x y z, normalised before use")
    }
}

/// Bounds of a mass: zero is allowed only where the file says zero.
pub(super) fn mass_bounds(value: f64) -> Bounds {
    if value == 0.0 { Bounds::NON_NEGATIVE } else { Bounds::POSITIVE }
}

pub(super) const SOLREF: &str = "time constant (s) and damping ratio of the constraint, or, both \
                                 negative, stiffness and damping";
pub(super) const SOLIMP: &str = "impedance of the constraint: at zero depth, at full width, width, \
                                 midpoint, power";
