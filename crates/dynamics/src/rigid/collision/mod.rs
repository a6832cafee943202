//! Where geoms touch: points, normals and distances, with MuJoCo's results, one file per pair of shapes.
//!
//! Everything is generic over [`Real`], so that dual lanes differentiate a contact by the places and
//! sizes of its two geoms. Branches are those of the values; at a tie the derivative is that of the branch
//! taken, and where a direction vanishes it is held.

mod capsule_capsule;
mod pairs;
mod plane_box;
mod plane_capsule;
mod plane_cylinder;
mod plane_ellipsoid;
mod plane_sphere;
mod sphere_box;
mod sphere_capsule;
mod sphere_cylinder;
mod sphere_sphere;

use costate_num::{Mat3, Scalar, Vec3};

pub use pairs::{Candidate, Pairing, UnsupportedContact, candidates, unsupported};

use super::tree::GeomKind;

/// A number whose comparisons are single truth values: `f64`, and duals over it.
pub trait Real: Scalar<Mask = bool> {}
impl<S: Scalar<Mask = bool>> Real for S {}

/// A geom in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape<S> {
    /// Its centre, m.
    pub position: Vec3<S>,
    /// Its orientation.
    pub axes: Mat3<S>,
    /// Its sizes, as MJCF orders them, m.
    pub size: Vec3<S>,
}

/// A point where two geoms touch or nearly do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch<S> {
    /// Midway between the two surfaces, m.
    pub position: Vec3<S>,
    /// From the first geom to the second, of unit length.
    pub normal: Vec3<S>,
    /// A direction that the first tangent is to follow, or zero.
    pub along: Vec3<S>,
    /// Between the surfaces, negative in penetration, m.
    pub distance: S,
}

/// Vectors shorter than this have no direction.
const SMALLEST: f64 = 1e-15;

impl<S: Real> Touch<S> {
    fn new(position: Vec3<S>, normal: Vec3<S>, distance: S) -> Self {
        Self { position, normal, along: Vec3::zero(), distance }
    }

    /// The two tangents: the first along `along`, or along the world's y axis, or, where the normal is
    /// near that, its z axis.
    pub fn tangents(&self) -> [Vec3<S>; 2] {
        let half = S::splat(0.5);
        let start = if !self.along.norm().lt(half) {
            self.along
        } else if self.normal.y.abs().lt(half) {
            Vec3::splat([0.0, 1.0, 0.0])
        } else {
            Vec3::splat([0.0, 0.0, 1.0])
        };
        let across = start - self.normal * self.normal.dot(start);
        let (unit, length) = across.normalize();
        let first = if length.lt(S::splat(SMALLEST)) { Vec3::splat([1.0, 0.0, 0.0]) } else { unit };
        [first, self.normal.cross(first)]
    }
}

/// Finds where two geoms are nearer than `margin`. The first one's kind comes first in MuJoCo's order of
/// kinds. Returns false for a pair that is not supported.
pub fn collide<S: Real>(
    kinds: [GeomKind; 2],
    a: &Shape<S>,
    b: &Shape<S>,
    margin: S,
    out: &mut Vec<Touch<S>>,
) -> bool {
    use GeomKind::{Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere};
    match kinds {
        [Plane, Sphere] => plane_sphere::touch(a, b, margin, out),
        [Plane, Capsule] => plane_capsule::touch(a, b, margin, out),
        [Plane, Ellipsoid] => plane_ellipsoid::touch(a, b, margin, out),
        [Plane, Cylinder] => plane_cylinder::touch(a, b, margin, out),
        [Plane, Box] => plane_box::touch(a, b, margin, out),
        [Sphere, Sphere] => sphere_sphere::touch(a, b, margin, out),
        [Sphere, Capsule] => sphere_capsule::touch(a, b, margin, out),
        [Sphere, Cylinder] => sphere_cylinder::touch(a, b, margin, out),
        [Sphere, Box] => sphere_box::touch(a, b, margin, out),
        [Capsule, Capsule] => capsule_capsule::touch(a, b, margin, out),
        _ => return false,
    }
    true
}

/// Whether [`collide`] knows the pair, in MuJoCo's order of kinds.
pub fn is_supported(kinds: [GeomKind; 2]) -> bool {
    use GeomKind::{Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere};
    matches!(
        kinds,
        [Plane, Sphere | Capsule | Ellipsoid | Cylinder | Box]
            | [Sphere, Sphere | Capsule | Cylinder | Box]
            | [Capsule, Capsule]
    )
}

/// Radius of the sphere about a geom's centre that holds it; none for a plane.
fn bounding_radius<S: Real>(kind: GeomKind, size: Vec3<S>) -> Option<S> {
    match kind {
        GeomKind::Sphere => Some(size.x),
        GeomKind::Capsule => Some(size.x + size.y),
        GeomKind::Cylinder => Some((size.x * size.x + size.y * size.y).sqrt()),
        GeomKind::Ellipsoid => Some(size.x.max(size.y).max(size.z)),
        GeomKind::Box => Some(size.norm()),
        GeomKind::Plane | GeomKind::HeightField | GeomKind::Mesh => None,
    }
}

/// Whether two geoms are too far apart to touch, by their bounding spheres.
pub fn is_apart<S: Real>(kinds: [GeomKind; 2], a: &Shape<S>, b: &Shape<S>, margin: S) -> bool {
    let between = b.position - a.position;
    match (kinds[0], bounding_radius(kinds[0], a.size), bounding_radius(kinds[1], b.size)) {
        (GeomKind::Plane, _, Some(radius)) => between.dot(a.axes.columns[2]).gt(margin + radius),
        (_, Some(first), Some(second)) => {
            let reach = first + second + margin;
            between.norm_squared().gt(reach * reach)
        }
        _ => false,
    }
}

fn clamp<S: Real>(x: S, low: S, high: S) -> S {
    x.max(low).min(high)
}
