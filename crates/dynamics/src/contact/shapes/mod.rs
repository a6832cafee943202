//! Shapes of geoms: signed distance and outward normal of a point.

mod capsule;
mod cuboid;
mod plane;
mod sphere;

pub use capsule::Capsule;
pub use cuboid::Cuboid;
pub use plane::Plane;
pub use sphere::Sphere;

use costate_num::{Quat, Scalar, Vec3};

/// A shape in its own frame.
pub trait Surface: Send + Sync + 'static {
    /// How many numbers its size has.
    const SIZE_LEN: usize;

    /// Signed distance of `p` from the surface (negative inside), m, and the outward unit normal
    /// of the nearest surface point. Unused entries of `size` are zero.
    ///
    /// Where the nearest point is not unique each shape says which branch holds; a point with no
    /// direction at all (the centre of a sphere) has the normal zero, with derivative zero.
    fn distance<S: Scalar>(p: Vec3<S>, size: &[S; 3]) -> (S, Vec3<S>);

    /// Radius of a ball about the frame's origin that holds the shape, m; `None` where it has no
    /// bound.
    fn reach(size: &[f64; 3]) -> Option<f64>;
}

/// Where a static shape stands.
#[derive(Clone, Copy, Debug)]
pub struct Pose<S> {
    /// Position of its frame, m.
    pub pos: Vec3<S>,
    /// Orientation, a unit quaternion.
    pub quat: Quat<S>,
    /// Size, m.
    pub size: [S; 3],
}

/// Signed distance and outward normal in world coordinates.
#[inline(always)]
pub fn distance<F: Surface, S: Scalar>(x: Vec3<S>, pose: &Pose<S>) -> (S, Vec3<S>) {
    let local = pose.quat.conjugate().rotate(x - pose.pos);
    let (d, n) = F::distance(local, &pose.size);
    (d, pose.quat.rotate(n))
}
