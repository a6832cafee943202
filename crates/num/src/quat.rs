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
        // Below this angle the series and its first derivatives are exact to rounding.
        let small = squared.lt(S::splat(1e-8));
        let angle = S::select(small, S::one(), squared).sqrt();
        let (sine, cosine) = (angle * S::splat(0.5)).sin_cos();
        let series = S::splat(0.5) - squared * (S::splat(1.0 / 48.0) - squared.scale(1.0 / 3840.0));
        let w_series = S::one() - squared * (S::splat(0.125) - squared.scale(1.0 / 384.0));
        Self {
            w: S::select(small, w_series, cosine),
            v: omega * S::select(small, series, sine / angle),
        }
    }
    /// The rotation vector, at most π long, of this quaternion of any length but zero; smooth at the
    /// identity. Half a turn has two: the one along the vector part is given.
    #[inline(always)]
    pub fn to_rotation_vector(self) -> Vec3<S> {
        let backward = self.w.lt(S::zero());
        let w = S::select(backward, -self.w, self.w);
        let v = Vec3::select(backward, -self.v, self.v);
        let squared = v.norm_squared();
        let small = squared.lt(w * w * S::splat(1e-8));
        // 2 atan(u) / u / w with u = |v| / w; its series where that is exact to rounding.
        let inverse = S::select(small, w, S::one()).recip();
        let u2 = S::select(small, squared, S::zero()) * inverse * inverse;
        let series = S::splat(2.0) - u2 * S::splat(2.0 / 3.0) + u2 * u2 * S::splat(0.4);
        let sine = S::select(small, S::one(), squared).sqrt();
        let angle = sine.atan2(w) * S::splat(2.0);
        v * S::select(small, series * inverse, angle / sine)
    }
    /// The unit quaternion, w ≥ 0, of a rotation matrix (Shepperd 1978: by the largest component).
    #[inline(always)]
    pub fn from_matrix(m: Mat3<S>) -> Self {
        let [xx, xy, xz, yx, yy, yz, zx, zy, zz] = m.to_rows();
        let one = S::one();
        let (w_x, w_y, w_z) = (zy - yz, xz - zx, yx - xy);
        let (x_y, y_z, z_x) = (xy + yx, yz + zy, zx + xz);
        let by_w = [one + xx + yy + zz, w_x, w_y, w_z];
        let by_x = [w_x, one + xx - yy - zz, x_y, z_x];
        let by_y = [w_y, x_y, one - xx + yy - zz, y_z];
        let by_z = [w_z, z_x, y_z, one - xx - yy + zz];
        let (x_first, z_first) = (xx.ge(yy), zz.gt(xx.max(yy)));
        let w_first = by_w[0].ge(one);
        let mut q = by_w;
        let mut i = 0;
        while i < 4 {
            let vector = S::select(z_first, by_z[i], S::select(x_first, by_x[i], by_y[i]));
            q[i] = S::select(w_first, by_w[i], vector);
            i += 1;
        }
        let q = Self::new(q[0], q[1], q[2], q[3]).normalize();
        let backward = q.w.lt(S::zero());
        Self { w: S::select(backward, -q.w, q.w), v: Vec3::select(backward, -q.v, q.v) }
    }
}
