//! Meshes and solids to lit triangles in the camera's frame.

use crate::camera::Eyepiece;
use crate::canvas::{Corner, Facet};
use crate::scene::{Geometry, Mesh, Paint, Shading, Shape, drawable};
use costate_num::Vec3;

/// Segments of a full circle of a round solid.
const AROUND: usize = 32;

/// Samples of four for an opacity between 0 and 1.
pub(crate) fn quarters(opacity: f32) -> u8 {
    (opacity * 4.0).round().clamp(0.0, 4.0) as u8
}

/// Appends a mesh's triangles.
pub(crate) fn mesh(mesh: &Mesh, eyepiece: &Eyepiece, out: &mut Vec<Facet>) {
    let places: Vec<_> = mesh.positions.iter().map(|p| eyepiece.place(*p)).collect();
    let usable: Vec<bool> = mesh.positions.iter().map(|p| drawable(*p)).collect();
    let triangles: Vec<[usize; 3]> = mesh
        .triangles
        .iter()
        .map(|t| t.map(|i| i as usize))
        .filter(|t| t.iter().all(|i| usable.get(*i).copied().unwrap_or(false)))
        .collect();
    // Twice the area along the normal: averages weigh large triangles more.
    let areas: Vec<_> = triangles
        .iter()
        .map(|[a, b, c]| (places[*b] - places[*a]).cross(places[*c] - places[*a]))
        .collect();
    let units: Vec<_> = areas.iter().map(|n| n.normalize().0).collect();
    let normals = match mesh.shading {
        Shading::Flat => units.iter().map(|n| [*n; 3]).collect(),
        Shading::Smooth { crease } => creased(&triangles, &areas, &units, places.len(), crease),
    };
    let color = |i: usize| match &mesh.paint {
        Paint::Uniform(c) => c.0,
        Paint::PerVertex(list) => list.get(i).or(list.last()).map_or([0.5; 3], |c| c.0),
    };
    for (t, n) in triangles.iter().zip(&normals) {
        let corner = |k: usize| Corner { p: places[t[k]], n: n[k], c: color(t[k]) };
        out.push(Facet {
            corners: [corner(0), corner(1), corner(2)],
            two_sided: mesh.two_sided,
            edges: mesh.edges.clamp(0.0, 1.0),
            quarters: quarters(mesh.opacity),
        });
    }
}

/// Normals per corner: the mean over those triangles around the vertex whose normal is within
/// `crease` of this triangle's.
fn creased(
    triangles: &[[usize; 3]],
    areas: &[Vec3<f64>],
    units: &[Vec3<f64>],
    vertices: usize,
    crease: f64,
) -> Vec<[Vec3<f64>; 3]> {
    let least = crease.cos();
    // Triangles around each vertex, as ranges of one list.
    let mut start = vec![0usize; vertices + 1];
    for i in triangles.iter().flatten() {
        start[i + 1] += 1;
    }
    for i in 0..vertices {
        start[i + 1] += start[i];
    }
    let mut around = vec![0; 3 * triangles.len()];
    let mut next = start.clone();
    for (t, corners) in triangles.iter().enumerate() {
        for i in corners {
            around[next[*i]] = t;
            next[*i] += 1;
        }
    }
    let normal = |t: usize, vertex: usize| {
        let mut sum = Vec3::zero();
        for other in &around[start[vertex]..start[vertex + 1]] {
            if units[t].dot(units[*other]) >= least {
                sum += areas[*other];
            }
        }
        sum.normalize().0
    };
    triangles.iter().enumerate().map(|(t, c)| c.map(|vertex| normal(t, vertex))).collect()
}

/// Appends a solid's triangles; planes are drawn elsewhere and give none.
pub(crate) fn solid(shape: &Shape, eyepiece: &Eyepiece, out: &mut Vec<Facet>) {
    if !drawable(shape.position) {
        return;
    }
    let emit = |p: [Vec3<f64>; 3], n: [Vec3<f64>; 3]| {
        let corner = |k: usize| Corner {
            p: eyepiece.place(shape.position + shape.rotation.rotate(p[k])),
            n: eyepiece.turn(shape.rotation.rotate(n[k])).normalize().0,
            c: shape.color.0,
        };
        out.push(Facet {
            corners: [corner(0), corner(1), corner(2)],
            two_sided: false,
            edges: 0.0,
            quarters: quarters(shape.opacity),
        });
    };
    match shape.geometry {
        Geometry::Sphere { radius } => ellipsoid([radius; 3], emit),
        Geometry::Ellipsoid { half } => ellipsoid(half, emit),
        Geometry::Box { half } => block(half, emit),
        Geometry::Capsule { radius, half_length } => {
            revolve(&capsule_profile(radius, half_length), emit);
        }
        Geometry::Cylinder { radius, half_length } => {
            revolve(&cylinder_profile(radius, half_length), emit);
        }
        Geometry::Plane { .. } => {}
    }
}

/// A ring of a solid of revolution about z.
#[derive(Clone, Copy)]
struct Ring {
    radius: f64,
    z: f64,
    /// Normal: outwards and along z.
    normal: [f64; 2],
}

fn capsule_profile(radius: f64, half_length: f64) -> Vec<Ring> {
    let quarter = AROUND / 4;
    let ring = |i: usize, z: f64, sign: f64| {
        let (s, c) = (i as f64 / quarter as f64 * std::f64::consts::FRAC_PI_2).sin_cos();
        let c = if i == quarter { 0.0 } else { c };
        Ring { radius: radius * c, z: z + sign * radius * s, normal: [c, sign * s] }
    };
    let lower = (0..=quarter).rev().map(|i| ring(i, -half_length, -1.0));
    lower.chain((0..=quarter).map(|i| ring(i, half_length, 1.0))).collect()
}

fn cylinder_profile(radius: f64, half_length: f64) -> Vec<Ring> {
    let ring = |radius, z, normal| Ring { radius, z, normal };
    vec![
        ring(0.0, -half_length, [0.0, -1.0]),
        ring(radius, -half_length, [0.0, -1.0]),
        ring(radius, -half_length, [1.0, 0.0]),
        ring(radius, half_length, [1.0, 0.0]),
        ring(radius, half_length, [0.0, 1.0]),
        ring(0.0, half_length, [0.0, 1.0]),
    ]
}

fn ellipsoid(half: [f64; 3], mut emit: impl FnMut([Vec3<f64>; 3], [Vec3<f64>; 3])) {
    let [a, b, c] = half;
    revolve(&capsule_profile(1.0, 0.0), |p, _| {
        let place = p.map(|q| Vec3::new(a * q.x, b * q.y, c * q.z));
        // The normal of x²/a² + y²/b² + z²/c² = 1 at (a x, b y, c z), times a b c.
        let normal = p.map(|q| Vec3::new(b * c * q.x, a * c * q.y, a * b * q.z).normalize().0);
        emit(place, normal);
    });
}

fn revolve(profile: &[Ring], mut emit: impl FnMut([Vec3<f64>; 3], [Vec3<f64>; 3])) {
    let at = |ring: Ring, i: usize| {
        let (s, c) = (i as f64 / AROUND as f64 * std::f64::consts::TAU).sin_cos();
        let place = Vec3::new(ring.radius * c, ring.radius * s, ring.z);
        (place, Vec3::new(ring.normal[0] * c, ring.normal[0] * s, ring.normal[1]))
    };
    for pair in profile.windows(2) {
        let [low, high] = [pair[0], pair[1]];
        if low.radius == high.radius && low.z == high.z {
            continue; // where two profiles meet
        }
        for i in 0..AROUND {
            let [a, b, c, d] = [at(low, i), at(low, i + 1), at(high, i + 1), at(high, i)];
            if low.radius > 0.0 {
                emit([a.0, b.0, c.0], [a.1, b.1, c.1]);
            }
            if high.radius > 0.0 {
                emit([a.0, c.0, d.0], [a.1, c.1, d.1]);
            }
        }
    }
}

fn block(half: [f64; 3], mut emit: impl FnMut([Vec3<f64>; 3], [Vec3<f64>; 3])) {
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let corner = |u: f64, v: f64| {
                let mut p = [0.0; 3];
                p[axis] = sign * half[axis];
                p[(axis + 1) % 3] = u * half[(axis + 1) % 3];
                p[(axis + 2) % 3] = sign * v * half[(axis + 2) % 3];
                Vec3::from_array(p)
            };
            let mut n = [0.0; 3];
            n[axis] = sign;
            let n = [Vec3::from_array(n); 3];
            let [a, b, c, d] =
                [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            emit([a, b, c], n);
            emit([a, c, d], n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Camera, View};
    use crate::color::Color;
    use crate::scene::Bounds;
    use costate_num::Quat;

    fn eyepiece() -> Eyepiece {
        let bounds = Bounds { low: [-1.0; 3], high: [1.0; 3] };
        Camera::framing(&bounds, &View::default(), 1.0).eyepiece()
    }

    #[test]
    fn solids_are_closed_with_outward_normals() {
        let shapes = [
            Geometry::Sphere { radius: 0.5 },
            Geometry::Box { half: [0.2, 0.3, 0.4] },
            Geometry::Capsule { radius: 0.2, half_length: 0.5 },
            Geometry::Cylinder { radius: 0.2, half_length: 0.5 },
            Geometry::Ellipsoid { half: [0.2, 0.3, 0.4] },
        ];
        for geometry in shapes {
            let shape = Shape {
                geometry,
                position: Vec3::zero(),
                rotation: Quat::identity(),
                color: Color([1.0; 3]),
                opacity: 1.0,
            };
            let mut facets = Vec::new();
            solid(&shape, &eyepiece(), &mut facets);
            let centre = eyepiece().place(Vec3::zero());
            let mut closed = Vec3::zero();
            for f in &facets {
                let [a, b, c] = f.corners.map(|k| k.p);
                let area = (b - a).cross(c - a);
                closed += area;
                assert!(area.dot(a - centre) > 0.0, "{geometry:?} has an inward triangle");
                assert!(f.corners.iter().all(|k| k.n.dot(area) > 0.0), "{geometry:?}");
            }
            assert!(closed.norm() < 1e-12, "{geometry:?} has a hole");
        }
    }

    #[test]
    fn bad_triangles_are_left_out() {
        let m = Mesh::closed(
            vec![Vec3::zero(), Vec3::splat([1.0, 0.0, 0.0]), Vec3::splat([f64::NAN; 3])],
            vec![[0, 1, 2], [0, 1, 7], [0, 1, 1]],
            Color([1.0; 3]),
        );
        let mut facets = Vec::new();
        mesh(&m, &eyepiece(), &mut facets);
        assert_eq!(facets.len(), 1);
        assert!(facets[0].corners.iter().all(|k| k.n == Vec3::zero()));
    }

    #[test]
    fn creases_stay_sharp() {
        // A roof of two triangles with a right angle along the edge 0-1.
        let v = |x, y, z| Vec3::new(x, y, z);
        let m = Mesh::sheet(
            vec![v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0), v(0.0, 0.0, -1.0)],
            vec![[0, 1, 2], [1, 0, 3]],
            Color([1.0; 3]),
        );
        let normals = |crease: f64| {
            let mut facets = Vec::new();
            mesh(
                &Mesh { shading: Shading::Smooth { crease }, ..m.clone() },
                &eyepiece(),
                &mut facets,
            );
            (facets[0].corners[0].n, facets[1].corners[1].n)
        };
        let (a, b) = normals(0.5);
        assert!(a.dot(b).abs() < 1e-9);
        let (a, b) = normals(2.0);
        assert!((a - b).norm() < 1e-9);
    }
}
