//! What a frame shows: plain triangles, lines, points and simple solids.

use crate::color::Color;
use costate_num::{Quat, Vec3};

/// Everything that one frame shows. Coordinates are those of the world, in metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Triangle surfaces.
    pub meshes: Vec<Mesh>,
    /// Segments of constant width on the image (springs).
    pub lines: Vec<Line>,
    /// Markers and particles.
    pub points: Vec<Point>,
    /// Simple solids and planes.
    pub shapes: Vec<Shape>,
    /// Written into a corner of the image where given.
    pub stamp: Option<TimeStamp>,
}

/// The clock of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeStamp {
    /// Simulated time in seconds.
    pub time: f64,
    /// Simulated seconds per second shown: 0.1 is ten times slower than life.
    pub speed: f64,
}

/// How normals are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shading {
    /// One normal per triangle.
    Flat,
    /// Normals averaged over the neighbours of a vertex whose own normals are within `crease`
    /// radians, so that the edges of a block stay sharp.
    Smooth {
        /// Largest angle that is smoothed over, in radians.
        crease: f64,
    },
}

/// The colour of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// One colour.
    Uniform(Color),
    /// One colour per vertex, interpolated; vertices beyond the end take the last one.
    PerVertex(Vec<Color>),
}

/// A triangle surface. Triangles with an index out of range or a coordinate that is not finite
/// are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Vertices.
    pub positions: Vec<Vec3<f64>>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Colour.
    pub paint: Paint,
    /// Normals.
    pub shading: Shading,
    /// How strongly the triangles' edges are drawn, 0 (not at all) to 1 (black).
    pub edges: f32,
    /// Whether the back is drawn too (cloth) or left out (closed surfaces).
    pub two_sided: bool,
    /// 0 to 1, in quarters.
    pub opacity: f32,
}

impl Mesh {
    /// A closed surface, smooth but for creases above 40°, with faint edges.
    pub fn closed(positions: Vec<Vec3<f64>>, triangles: Vec<[u32; 3]>, color: Color) -> Self {
        Self {
            positions,
            triangles,
            paint: Paint::Uniform(color),
            shading: Shading::Smooth { crease: 40f64.to_radians() },
            edges: 0.3,
            two_sided: false,
            opacity: 1.0,
        }
    }

    /// A sheet, seen from both sides.
    pub fn sheet(positions: Vec<Vec3<f64>>, triangles: Vec<[u32; 3]>, color: Color) -> Self {
        Self { two_sided: true, ..Self::closed(positions, triangles, color) }
    }
}

/// A segment drawn as a tube of constant width on the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// One end.
    pub from: Vec3<f64>,
    /// The other end.
    pub to: Vec3<f64>,
    /// Colour.
    pub color: Color,
    /// Width in pixels of the finished image.
    pub width: f64,
}

/// How a point is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A shaded ball.
    Ball,
    /// A ring, which leaves what is inside visible: for measured places around computed ones.
    Ring,
}

/// The size of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Radius {
    /// In pixels of the finished image.
    Pixels(f64),
    /// In metres.
    World(f64),
}

/// A marker or particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its centre.
    pub position: Vec3<f64>,
    /// Colour.
    pub color: Color,
    /// Size.
    pub radius: Radius,
    /// Ball or ring.
    pub marker: Marker,
}

/// A simple solid in its own frame. Sizes in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Geometry {
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A box with its centre at the origin.
    Box {
        /// Half extents.
        half: [f64; 3],
    },
    /// A cylinder along z with half balls at its ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half length of the cylinder, without the caps.
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half length.
        half_length: f64,
    },
    /// An ellipsoid with its axes along x, y and z.
    Ellipsoid {
        /// Half axes.
        half: [f64; 3],
    },
    /// The plane z = 0 with a checker pattern, seen from above (+z) only.
    Plane {
        /// Half extents along x and y; zero means without end.
        half: [f64; 2],
    },
}

/// A solid placed in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Its form.
    pub geometry: Geometry,
    /// Place of its origin.
    pub position: Vec3<f64>,
    /// Its orientation.
    pub rotation: Quat<f64>,
    /// Colour.
    pub color: Color,
    /// 0 to 1, in quarters. Planes are always opaque.
    pub opacity: f32,
}

impl Shape {
    /// An endless floor through `point` whose upper side looks along `normal`.
    pub fn floor(point: Vec3<f64>, normal: Vec3<f64>, color: Color) -> Self {
        Self {
            geometry: Geometry::Plane { half: [0.0; 2] },
            position: point,
            rotation: rotation_from_z(normal),
            color,
            opacity: 1.0,
        }
    }
}

/// The shortest rotation that carries +z to `direction`; the identity where it has no length.
pub fn rotation_from_z(direction: Vec3<f64>) -> Quat<f64> {
    let (d, length) = direction.normalize();
    if length == 0.0 || !length.is_finite() {
        return Quat::identity();
    }
    if d.z < -1.0 + 1e-12 {
        return Quat::new(0.0, 1.0, 0.0, 0.0);
    }
    // The half-angle quaternion between unit vectors a and b is (1 + a·b, a × b), normalised.
    Quat::new(1.0 + d.z, -d.y, d.x, 0.0).normalize()
}

/// Coordinates beyond this are treated like infinite ones: squares of areas must stay finite.
pub(crate) const FARTHEST: f64 = 1e60;

/// Whether a point can be drawn at all.
pub(crate) fn drawable(p: Vec3<f64>) -> bool {
    // Written so that NaN fails too.
    p.x.abs() <= FARTHEST && p.y.abs() <= FARTHEST && p.z.abs() <= FARTHEST
}

/// An axis-aligned box that grows with what it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least coordinates.
    pub low: [f64; 3],
    /// Greatest coordinates.
    pub high: [f64; 3],
}

impl Default for Bounds {
    fn default() -> Self {
        Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] }
    }
}

impl Bounds {
    /// Whether nothing was included yet.
    pub fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    /// Grows to hold `p`; points that are not finite (or beyond 1e60 m) change nothing.
    pub fn include(&mut self, p: Vec3<f64>) {
        if !drawable(p) {
            return;
        }
        for (k, c) in p.to_array().into_iter().enumerate() {
            self.low[k] = self.low[k].min(c);
            self.high[k] = self.high[k].max(c);
        }
    }

    /// Grows to hold everything in a frame but endless planes.
    pub fn include_scene(&mut self, scene: &Scene) {
        for p in scene.meshes.iter().flat_map(|m| &m.positions) {
            self.include(*p);
        }
        for line in &scene.lines {
            self.include(line.from);
            self.include(line.to);
        }
        for point in &scene.points {
            let r = if let Radius::World(r) = point.radius { r } else { 0.0 };
            self.include(point.position + Vec3::splat([r; 3]));
            self.include(point.position - Vec3::splat([r; 3]));
        }
        for shape in &scene.shapes {
            let half = match shape.geometry {
                Geometry::Sphere { radius } => [radius; 3],
                Geometry::Box { half } | Geometry::Ellipsoid { half } => half,
                Geometry::Capsule { radius, half_length } => [radius, radius, half_length + radius],
                Geometry::Cylinder { radius, half_length } => [radius, radius, half_length],
                Geometry::Plane { half } if half[0] > 0.0 && half[1] > 0.0 => {
                    [half[0], half[1], 0.0]
                }
                Geometry::Plane { .. } => continue,
            };
            for corner in 0..8 {
                let sign = |k: usize| if corner >> k & 1 == 0 { -half[k] } else { half[k] };
                let p = Vec3::new(sign(0), sign(1), sign(2));
                self.include(shape.position + shape.rotation.rotate(p));
            }
        }
    }

    /// The eight corners; the origin eight times where the box is empty.
    pub(crate) fn corners(&self) -> [Vec3<f64>; 8] {
        if self.is_empty() {
            return [Vec3::zero(); 8];
        }
        std::array::from_fn(|i| {
            let at = |k: usize| if i >> k & 1 == 0 { self.low[k] } else { self.high[k] };
            Vec3::new(at(0), at(1), at(2))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_skip_what_is_not_finite() {
        let mut b = Bounds::default();
        b.include(Vec3::new(f64::NAN, 0.0, 0.0));
        b.include(Vec3::new(0.0, f64::INFINITY, 0.0));
        b.include(Vec3::new(0.0, 1e300, 0.0));
        assert!(b.is_empty());
        b.include(Vec3::new(1.0, 2.0, 3.0));
        assert_eq!(b, Bounds { low: [1.0, 2.0, 3.0], high: [1.0, 2.0, 3.0] });
    }

    #[test]
    fn z_is_turned_to_any_direction() {
        for d in [[0.0, 1.0, 0.0], [0.0, 0.0, -2.0], [1.0, -2.0, 0.5], [1e-9, 0.0, -1.0]] {
            let d = Vec3::splat(d);
            let turned = rotation_from_z(d).rotate(Vec3::new(0.0, 0.0, 1.0));
            assert!((turned - d.normalize().0).norm() < 1e-6, "{d:?} gave {turned:?}");
        }
        assert_eq!(rotation_from_z(Vec3::zero()), Quat::identity());
    }
}
