//! Angles between segments.

use costate_num::{Scalar, Vec3};

use super::relation::Shape;

/// The angle from 0 to π between two directions, atan2(|u × w|, u · w): exact to rounding near
/// both ends. There its derivative, which has no limit, is zero, as it is for a zero vector.
#[inline(always)]
fn between<S: Scalar>(u: Vec3<S>, w: Vec3<S>) -> Vec3<S> {
    Vec3::new(u.cross(w).norm().atan2(u.dot(w)), S::zero(), S::zero())
}

/// The angle at the second of three points.
pub(super) struct AngleAt;

impl Shape<3> for AngleAt {
    #[inline(always)]
    fn value<S: Scalar>(&self, x: &[Vec3<S>; 3]) -> Vec3<S> {
        between(x[0] - x[1], x[2] - x[1])
    }
}

/// The angle of a segment against a fixed axis.
pub(super) struct AngleToAxis {
    pub axis: [f64; 3],
}

impl Shape<2> for AngleToAxis {
    #[inline(always)]
    fn value<S: Scalar>(&self, x: &[Vec3<S>; 2]) -> Vec3<S> {
        between(x[1] - x[0], Vec3::splat(self.axis))
    }
}

/// The signed angle of a segment's projection along a unit normal n, counted from `zero` (in
/// the plane) towards `quarter` = n × zero.
pub(super) struct SignedAngle {
    pub zero: [f64; 3],
    pub quarter: [f64; 3],
}

impl SignedAngle {
    /// From an axis and the normal of the plane; `None` where they are parallel or zero.
    pub fn new(axis: [f64; 3], normal: [f64; 3]) -> Option<Self> {
        let (n, _) = Vec3::from_array(normal).normalize();
        let axis = Vec3::from_array(axis);
        let zero = axis - n * axis.dot(n);
        let usable = n.norm() > 0.0 && zero.norm() > 1e-9 * axis.norm();
        let (zero, _) = zero.normalize();
        usable.then(|| Self { zero: zero.to_array(), quarter: n.cross(zero).to_array() })
    }
}

impl Shape<2> for SignedAngle {
    #[inline(always)]
    fn value<S: Scalar>(&self, x: &[Vec3<S>; 2]) -> Vec3<S> {
        let d = x[1] - x[0];
        let angle = d.dot(Vec3::splat(self.quarter)).atan2(d.dot(Vec3::splat(self.zero)));
        Vec3::new(angle, S::zero(), S::zero())
    }
}
