//! Position and velocity of a point.

use super::local::{Local, Moment, Observable};
use super::point::PointMap;

/// Position of a point, m.
pub(super) struct Position(pub PointMap);

impl Observable for Position {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        self.0.position(at, out);
    }
}

/// Velocity of a point, m/s.
pub(super) struct Velocity(pub PointMap);

impl Observable for Velocity {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        self.0.velocity(at, out);
    }
}
