//! A box about the origin.

use costate_num::{Scalar, Vec3};

use super::{Bound, Pose, Surface};

/// A box; size: three half lengths.
///
/// Outside, the nearest point lies on a face, an edge or a corner, and distance and normal are
/// continuous from one to the other. Inside (and on the surface) it lies on the face with the
/// least depth. Where two faces are equally deep (the planes that halve the angle at an edge) z
/// goes before y and y before x, and on a middle plane the positive side holds; the derivative is
/// that of the face taken.
pub struct Cuboid;

impl Surface for Cuboid {
    const SIZE_LEN: usize = 3;

    #[inline(always)]
    fn distance<S: Scalar>(p: Vec3<S>, size: &[S; 3]) -> (S, Vec3<S>) {
        let zero = S::zero();
        let (one, minus) = (S::one(), -S::one());
        let side = Vec3::new(
            S::select(p.x.lt(zero), minus, one),
            S::select(p.y.lt(zero), minus, one),
            S::select(p.z.lt(zero), minus, one),
        );
        // Depth below (negative) or height above each pair of faces.
        let q = Vec3::new(side.x * p.x - size[0], side.y * p.y - size[1], side.z * p.z - size[2]);
        let above = Vec3::new(
            S::select(q.x.gt(zero), q.x, zero),
            S::select(q.y.gt(zero), q.y, zero),
            S::select(q.z.gt(zero), q.z, zero),
        );
        let (n, height) = above.normalize();
        let outward = Vec3::new(side.x * n.x, side.y * n.y, side.z * n.z);

        let is_x = q.x.gt(q.y) & q.x.gt(q.z);
        let is_y = q.y.gt(q.z);
        let depth = S::select(is_x, q.x, S::select(is_y, q.y, q.z));
        let face = Vec3::select(
            is_x,
            Vec3::new(side.x, zero, zero),
            Vec3::select(is_y, Vec3::new(zero, side.y, zero), Vec3::new(zero, zero, side.z)),
        );
        // A height whose square underflows counts as the face itself.
        let outside = height.gt(zero);
        (S::select(outside, height, depth), Vec3::select(outside, outward, face))
    }

    fn bound(pose: &Pose<f64>) -> Bound {
        let axis = |k: usize| {
            let mut axis = [0.0; 3];
            axis[k] = 1.0;
            pose.quat.rotate(Vec3::from_array(axis))
        };
        // The axes are units to rounding only.
        Bound::Box([axis(0), axis(1), axis(2)], pose.size.map(|half| half * (1.0 + 1e-12)))
    }

    fn reach(size: &[f64; 3]) -> Option<f64> {
        Some((size[0] * size[0] + size[1] * size[1] + size[2] * size[2]).sqrt())
    }
}
