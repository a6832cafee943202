//! Unit quaternions, components in the order w, x, y, z.

use crate::scalar::Scalar;
use crate::vector::{Mat3, Vec3};

/// A quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quat<S> {
    /// Scalar part.
    pub w: S,
    /// Vector part.
    pub v: Vec3<S>,
}

impl<S: Scalar> Quat<S> {
    /// From the components w, x, y, z.
    #[inline(always)]
    pub fn new(w: S, x: S, y: S, z: S) -> Self {
        Self { w, v: Vec3::new(x, y, z) }
    }
    /// The rotation that does nothing.
    #[inline(always)]
    pub fn identity() -> Self {
        Self { w: S::one(), v: Vec3::zero() }
    }
    /// Hamilton product: first `o`, then `self`.
    #[inline(always)]
    pub fn product(self, o: Self) -> Self {
        Self {
            w: self.w * o.w - self.v.dot(o.v),
            v: o.v * self.w + self.v * o.w + self.v.cross(o.v),
        }
    }
    /// The inverse of a unit quaternion.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self { w: self.w, v: -self.v }
    }
    /// Scaled to unit length; the zero quaternion stays zero.
    #[inline(always)]
    pub fn normalize(self) -> Self {
        let length = (self.w * self.w + self.v.dot(self.v)).sqrt();
        let at_zero = length.equals(S::zero());
        let inverse = S::select(at_zero, S::zero(), S::select(at_zero, S::one(), length).recip());
        Self { w: self.w * inverse, v: self.v * inverse }
    }
    /// A vector turned by this unit quaternion.
    #[inline(always)]
    pub fn rotate(self, p: Vec3<S>) -> Vec3<S> {
        let t = self.v.cross(p) * S::splat(2.0);
        p + t * self.w + self.v.cross(t)
    }
    /// The rotation matrix of this unit quaternion.
    #[inline(always)]
    pub fn to_matrix(self) -> Mat3<S> {
        Mat3::from_columns(
            self.rotate(Vec3::splat([1.0, 0.0, 0.0])),
            self.rotate(Vec3::splat([0.0, 1.0, 0.0])),
            self.rotate(Vec3::splat([0.0, 0.0, 1.0])),
        )
    }
    /// The rotation by |ω| radians about ω; smooth at ω = 0.
    #[inline(always)]
    pub fn from_rotation_vector(omega: Vec3<S>) -> Self {
        let squared = omega.norm_squared();
        // Below this angle the series is exact to rounding, and its derivative is smooth.
        let small = squared.lt(S::splat(1e-8));
        let angle = S::select(small, S::one(), squared).sqrt();
        let (sine, cosine) = (angle * S::splat(0.5)).sin_cos();
        let series = S::splat(0.5) - squared.scale(1.0 / 48.0);
        let w_series = S::one() - squared.scale(0.125);
        Self {
            w: S::select(small, w_series, cosine),
            v: omega * S::select(small, series, sine / angle),
        }
    }
}
