//! Where geoms touch: points, normals and distances, with MuJoCo's results, one file per pair of shapes.
//!
//! Everything is generic over [`Real`], so that dual lanes differentiate a contact by the places and
//! sizes of its two geoms. Branches are those of the values; at a tie the derivative is that of the branch
//! taken, and where a direction vanishes it is held.

mod box_box;
mod capsule_box;
mod capsule_capsule;
mod convex;
mod epa;
mod few;
mod field;
mod gjk;
mod pairs;
mod patch;
mod plane_box;
mod plane_capsule;
mod plane_cylinder;
mod plane_ellipsoid;
mod plane_mesh;
mod plane_sphere;
mod sphere_box;
mod sphere_capsule;
mod sphere_cylinder;
mod sphere_sphere;
mod surface;
mod sweep;
mod witness;

use costate_num::{DualN, Mat3, Scalar, Vec3};

pub use pairs::{Candidate, Pairing, UnsupportedContact, candidates, unsupported};
pub use surface::Surface;
pub use sweep::{Bound, Sweep};

use super::tree::GeomKind;

/// A number whose comparisons are single truth values: `f64`, and duals over it.
pub trait Real: Scalar<Mask = bool> {
    /// The number without its derivatives.
    fn value(self) -> f64;
}

impl Real for f64 {
    fn value(self) -> f64 {
        self
    }
}

impl<S: Real, const N: usize> Real for DualN<S, N> {
    fn value(self) -> f64 {
        self.value.value()
    }
}

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

impl<S: Real> Shape<S> {
    /// It without derivatives.
    fn values(&self) -> Shape<f64> {
        let plain = |v: Vec3<S>| Vec3::new(v.x.value(), v.y.value(), v.z.value());
        let [x, y, z] = self.axes.columns.map(plain);
        Shape {
            position: plain(self.position),
            axes: Mat3::from_columns(x, y, z),
            size: plain(self.size),
        }
    }
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
    first: &Surface<'_, S>,
    second: &Surface<'_, S>,
    margin: S,
    out: &mut Vec<Touch<S>>,
) -> bool {
    use GeomKind::{Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere};
    let (a, b) = (first.shape, second.shape);
    let kinds = [first.kind, second.kind];
    if !is_supported(kinds) {
        return false;
    }
    match kinds {
        [Plane, Sphere] => plane_sphere::touch(a, b, margin, out),
        [Plane, Capsule] => plane_capsule::touch(a, b, margin, out),
        [Plane, Ellipsoid] => plane_ellipsoid::touch(a, b, margin, out),
        [Plane, Cylinder] => plane_cylinder::touch(a, b, margin, out),
        [Plane, Box] => plane_box::touch(a, b, margin, out),
        [Plane, Mesh] => plane_mesh::touch(a, second, margin, out),
        [Sphere, Sphere] => sphere_sphere::touch(a, b, margin, out),
        [Sphere, Capsule] => sphere_capsule::touch(a, b, margin, out),
        [Sphere, Cylinder] => sphere_cylinder::touch(a, b, margin, out),
        [Sphere, Box] => sphere_box::touch(a, b, margin, out),
        [Capsule, Capsule] => capsule_capsule::touch(a, b, margin, out),
        [Capsule, Box] => capsule_box::touch(a, b, margin, out),
        [Box, Box] => box_box::touch(a, b, margin, out),
        [HeightField, _] => field::touch(first, second, margin, out),
        _ => convex::touch(first, second, margin, out),
    }
    true
}

/// Whether [`collide`] knows the pair, in MuJoCo's order of kinds.
pub fn is_supported(kinds: [GeomKind; 2]) -> bool {
    // Neither plane nor height field touches another.
    !matches!(kinds[1], GeomKind::Plane | GeomKind::HeightField)
}

/// Radius of the sphere about a geom's centre that holds it; none for a plane.
pub fn bounding_radius<S: Real>(surface: &Surface<'_, S>) -> Option<S> {
    let size = surface.shape.size;
    match surface.kind {
        GeomKind::Sphere => Some(size.x),
        GeomKind::Capsule => Some(size.x + size.y),
        GeomKind::Cylinder => Some((size.x * size.x + size.y * size.y).sqrt()),
        GeomKind::Ellipsoid => Some(size.x.max(size.y).max(size.z)),
        GeomKind::Box => Some(size.norm()),
        GeomKind::Mesh => surface.hull.map(|hull| S::splat(hull.radius)),
        GeomKind::Plane | GeomKind::HeightField => None,
    }
}

/// Whether two geoms are too far apart to touch, by their bounding spheres.
pub fn is_apart<S: Real>(a: &Surface<'_, S>, b: &Surface<'_, S>, margin: S) -> bool {
    let between = b.shape.position - a.shape.position;
    match (a.kind, bounding_radius(a), bounding_radius(b)) {
        (GeomKind::Plane, _, Some(radius)) => {
            between.dot(a.shape.axes.columns[2]).gt(margin + radius)
        }
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
