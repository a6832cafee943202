//! The half space below z = 0.

use costate_num::{Scalar, Vec3};

use super::Surface;

/// An infinite plane, normal along its frame's z axis; no size.
pub struct Plane;

impl Surface for Plane {
    const SIZE_LEN: usize = 0;

    #[inline(always)]
    fn distance<S: Scalar>(p: Vec3<S>, _size: &[S; 3]) -> (S, Vec3<S>) {
        (p.z, Vec3::splat([0.0, 0.0, 1.0]))
    }

    fn reach(_size: &[f64; 3]) -> Option<f64> {
        None
    }
}
