//! What collision knows of a geom: its kind, its place and its asset; and its shape as a convex set.

use costate_model::rigid::{HeightField, Hull};
use costate_num::Vec3;

use super::{Real, SMALLEST, Shape};
use crate::rigid::tree::GeomKind;

/// A geom as collision sees it.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a, S> {
    /// Its kind.
    pub kind: GeomKind,
    /// Its place and sizes.
    pub shape: &'a Shape<S>,
    /// The convex hull of a mesh, in the geom's axes.
    pub hull: Option<&'a Hull>,
    /// The heights of a height field.
    pub field: Option<&'a HeightField>,
    /// Of a height field, the prism that is looked at, in the geom's axes.
    pub(super) corners: Option<&'a [[f64; 3]; 6]>,
}

impl<'a, S: Real> Surface<'a, S> {
    /// A shape without an asset.
    pub fn new(kind: GeomKind, shape: &'a Shape<S>) -> Self {
        Self { kind, shape, hull: None, field: None, corners: None }
    }

    /// With the asset that its kind needs: the hull of a mesh, the heights of a height field.
    pub fn with(self, hull: Option<&'a Hull>, field: Option<&'a HeightField>) -> Self {
        Self { hull, field, ..self }
    }

    /// A corner of a box or a mesh, an end of a capsule's axis or the centre of a sphere, by its number.
    pub(super) fn corner(&self, id: usize) -> Vec3<S> {
        let shape = self.shape;
        let size = shape.size;
        let local = match self.kind {
            GeomKind::Box => {
                let side = |bit: usize, x: S| if id & bit != 0 { x } else { -x };
                Vec3::new(side(1, size.x), side(2, size.y), side(4, size.z))
            }
            GeomKind::Capsule => {
                let end = if id == 0 { -size.y } else { size.y };
                return shape.position + shape.axes.columns[2] * end;
            }
            _ => match (self.hull, self.corners) {
                (Some(hull), _) => Vec3::splat(hull.vertices[id]),
                (None, Some(corners)) => Vec3::splat(corners[id]),
                (None, None) => return shape.position,
            },
        };
        shape.position + shape.axes.apply(local)
    }
}

/// A convex set of which a geom is the sum with a ball.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core<'a> {
    pub surface: Surface<'a, f64>,
    /// Radius of the ball.
    pub radius: f64,
}

impl<'a> Core<'a> {
    pub fn new(surface: Surface<'a, f64>) -> Self {
        let radius = match surface.kind {
            GeomKind::Sphere | GeomKind::Capsule => surface.shape.size.x,
            _ => 0.0,
        };
        Self { surface, radius }
    }

    /// Whether it has corners and nothing round.
    pub fn is_polytope(&self) -> bool {
        !matches!(self.surface.kind, GeomKind::Ellipsoid | GeomKind::Cylinder)
    }

    /// A length of its size.
    pub fn extent(&self) -> f64 {
        match (self.surface.hull, self.surface.corners) {
            (Some(hull), _) => hull.radius,
            (None, Some([first, .., last])) => {
                // From corner to corner of a prism.
                (Vec3::from_array(*first) - Vec3::from_array(*last)).norm()
            }
            (None, None) => self.surface.shape.size.norm(),
        }
    }

    /// The point that is farthest along a direction, and its number among the corners. A mesh is searched
    /// from corner `hint`.
    pub fn support(&self, direction: Vec3<f64>, hint: usize) -> (Vec3<f64>, usize) {
        let shape = self.surface.shape;
        let size = shape.size;
        let local = shape.axes.apply_transposed(direction);
        let id = match self.surface.kind {
            GeomKind::Box => {
                let bit = |x: f64, bit: usize| if x >= 0.0 { bit } else { 0 };
                bit(local.x, 1) | bit(local.y, 2) | bit(local.z, 4)
            }
            GeomKind::Capsule => usize::from(local.z >= 0.0),
            GeomKind::Ellipsoid => {
                let (unit, length) = local.component_mul(size).normalize();
                let unit = if length < SMALLEST { Vec3::new(1.0, 0.0, 0.0) } else { unit };
                let point = shape.axes.apply(unit.component_mul(size));
                return (shape.position + point, 0);
            }
            GeomKind::Cylinder => {
                let (radial, length) = Vec3::new(local.x, local.y, 0.0).normalize();
                let radial = if length < SMALLEST { Vec3::zero() } else { radial * size.x };
                let upper = local.z >= 0.0;
                let end = if upper { size.y } else { -size.y };
                let point = shape.axes.apply(radial + Vec3::new(0.0, 0.0, end));
                return (shape.position + point, usize::from(upper));
            }
            _ => match (self.surface.hull, self.surface.corners) {
                (Some(hull), _) => hull.support(local, hint),
                (None, Some(corners)) => {
                    let along = |id: usize| Vec3::from_array(corners[id]).dot(local);
                    (1..6).fold(0, |best, id| if along(id) > along(best) { id } else { best })
                }
                (None, None) => 0,
            },
        };
        (self.surface.corner(id), id)
    }
}
