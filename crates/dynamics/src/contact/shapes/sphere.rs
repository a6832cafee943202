//! A ball about the origin.

use costate_num::{Scalar, Vec3};

use super::Surface;

/// A sphere; size: radius. At the centre the normal is zero, with derivative zero.
pub struct Sphere;

impl Surface for Sphere {
    const SIZE_LEN: usize = 1;

    #[inline(always)]
    fn distance<S: Scalar>(p: Vec3<S>, size: &[S; 3]) -> (S, Vec3<S>) {
        let (n, length) = p.normalize();
        (length - size[0], n)
    }

    fn reach(size: &[f64; 3]) -> Option<f64> {
        Some(size[0])
    }
}
