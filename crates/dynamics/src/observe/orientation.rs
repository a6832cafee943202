//! Orientation of the frame of three points.

use costate_num::{Mat3, Quat, Scalar, Vec3};

use super::marker::triangle_frame;
use super::relation::Shape;

/// Rotation vector, rad, of the turn from the rest frame of three points to their frame now.
pub(super) struct Orientation {
    rest: Mat3<f64>,
}

impl Orientation {
    /// From the points' rest places; `None` where they lie on one line.
    pub fn new(rest: &[Vec3<f64>; 3]) -> Option<Self> {
        let (u, w) = (rest[1] - rest[0], rest[2] - rest[0]);
        let flat = u.cross(w).norm() <= 1e-9 * u.norm() * w.norm();
        (!flat).then(|| Self { rest: triangle_frame(rest) })
    }
}

impl Shape<3> for Orientation {
    #[inline(always)]
    fn value<S: Scalar>(&self, x: &[Vec3<S>; 3]) -> Vec3<S> {
        let constant = |v: Vec3<f64>| Vec3::splat(v.to_array());
        let [a, b, c] = self.rest.columns;
        let rest = Mat3::from_columns(constant(a), constant(b), constant(c));
        let turn = triangle_frame(x).matmul(rest.transpose());
        Quat::from_matrix(turn).to_rotation_vector()
    }
}

/// The rotation vector, rad, of the turn that takes a measured orientation to a predicted one:
/// the residual of two orientations given as rotation vectors. It is smooth wherever the two are
/// less than half a turn apart, and at most π long.
#[inline(always)]
pub fn orientation_difference<S: Scalar>(predicted: Vec3<S>, measured: Vec3<S>) -> Vec3<S> {
    let back = Quat::from_rotation_vector(measured).conjugate();
    Quat::from_rotation_vector(predicted).product(back).to_rotation_vector()
}
