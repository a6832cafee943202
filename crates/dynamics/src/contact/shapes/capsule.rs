//! A cylinder along z with half spheres at its ends.

use costate_num::{Scalar, Vec3};

use super::Surface;

/// A capsule along its frame's z axis; size: radius, half length of the cylinder part.
///
/// On the axis' segment the normal is zero, with derivative zero; where cylinder and cap meet the
/// distance is C¹.
pub struct Capsule;

impl Surface for Capsule {
    const SIZE_LEN: usize = 2;

    #[inline(always)]
    fn distance<S: Scalar>(p: Vec3<S>, size: &[S; 3]) -> (S, Vec3<S>) {
        let nearest = p.z.clamp(-size[1], size[1]);
        let (n, length) = Vec3::new(p.x, p.y, p.z - nearest).normalize();
        (length - size[0], n)
    }

    fn reach(size: &[f64; 3]) -> Option<f64> {
        Some(size[0] + size[1])
    }
}
