//! Convex hulls of points in space.
//!
//! Quickhull (Barber, Dobkin and Huhdanpaa 1996) with triangles, then neighbouring triangles in one plane are
//! merged to faces. Points are in a plane where they are within a small share of the extent of all
//! points, so that the noise of single precision in mesh files makes no faces.

use costate_num::Vec3;
use thiserror::Error;

type Point = Vec3<f64>;

/// Points nearer to a plane than this share of the extent are in it.
const IN_PLANE: f64 = 1e-7;
/// Triangles whose normals have at least this cosine may share a face.
const SAME_DIRECTION: f64 = 0.999;
/// A corner whose edges turn by a smaller sine is none.
const STRAIGHT: f64 = 1e-6;

/// Why points have no hull.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum HullError {
    /// They lie in a plane, on a line or in one point, to within 1e-7 of their extent.
    #[error("the points lie in a plane, so that their convex hull has no volume")]
    Flat,
    /// A coordinate is not a number.
    #[error("a point of the convex hull is not finite")]
    NotFinite,
}

/// A face of a hull.
#[derive(Clone, Debug, PartialEq)]
pub struct HullFace {
    /// Its corners, counterclockwise seen from outside, by their places among the vertices.
    pub corners: Vec<u32>,
    /// Its outward normal, of unit length.
    pub normal: [f64; 3],
}

/// The convex hull of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Its vertices.
    pub vertices: Vec<[f64; 3]>,
    /// Its faces.
    pub faces: Vec<HullFace>,
    /// Its surface as triangles, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// How far the farthest vertex is from the origin.
    pub radius: f64,
    /// Neighbours of vertex v: from `neighbour_starts[v]` to the next.
    neighbours: Vec<u32>,
    neighbour_starts: Vec<u32>,
    /// Faces at vertex v, likewise.
    faces_at: Vec<u32>,
    face_starts: Vec<u32>,
}

struct Triangle {
    corners: [usize; 3],
    /// Across the edge from corner k to the next.
    neighbours: [usize; 3],
    normal: Point,
    offset: f64,
    /// Points above it, each in one triangle's list.
    above: Vec<usize>,
    alive: bool,
}

impl Triangle {
    fn height(&self, p: Point) -> f64 {
        self.normal.dot(p) - self.offset
    }
}

struct Builder {
    points: Vec<Point>,
    triangles: Vec<Triangle>,
    tolerance: f64,
}

impl Hull {
    /// The hull of points.
    ///
    /// # Errors
    /// Points in one plane; coordinates that are not finite.
    pub fn new(points: &[[f64; 3]]) -> Result<Self, HullError> {
        if points.iter().flatten().any(|x| !x.is_finite()) {
            return Err(HullError::NotFinite);
        }
        let points: Vec<Point> = points.iter().map(|p| Point::from_array(*p)).collect();
        let mut builder = Builder { points, triangles: Vec::new(), tolerance: 0.0 };
        builder.start()?;
        builder.grow();
        Ok(builder.finish())
    }

    /// Vertex v.
    pub fn vertex(&self, v: usize) -> Vec3<f64> {
        Vec3::from_array(self.vertices[v])
    }

    /// Vertices that share an edge with vertex v.
    pub fn neighbours(&self, v: usize) -> &[u32] {
        &self.neighbours[self.neighbour_starts[v] as usize..self.neighbour_starts[v + 1] as usize]
    }

    /// Faces that vertex v is a corner of or lies in.
    pub fn faces_at(&self, v: usize) -> &[u32] {
        &self.faces_at[self.face_starts[v] as usize..self.face_starts[v + 1] as usize]
    }

    /// The vertex that is farthest along a direction, searched along edges from vertex `start`.
    pub fn support(&self, direction: Vec3<f64>, start: usize) -> usize {
        let mut best = start;
        let mut most = self.vertex(best).dot(direction);
        loop {
            let before = best;
            for &next in self.neighbours(before) {
                let along = self.vertex(next as usize).dot(direction);
                if along > most {
                    (best, most) = (next as usize, along);
                }
            }
            if best == before {
                return best;
            }
        }
    }
}

impl Builder {
    fn triangle(&self, corners: [usize; 3], neighbours: [usize; 3]) -> Triangle {
        let [a, b, c] = corners.map(|v| self.points[v]);
        let (normal, _) = (b - a).cross(c - a).normalize();
        // The mean of the heights, so that no corner is above by more than rounding.
        let offset = (normal.dot(a) + normal.dot(b) + normal.dot(c)) / 3.0;
        Triangle { corners, neighbours, normal, offset, above: Vec::new(), alive: true }
    }

    /// The place of the point for which a number is largest, and that number.
    fn most(&self, f: impl Fn(Point) -> f64) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (n, p) in self.points.iter().enumerate() {
            let value = f(*p);
            if value > best.1 {
                best = (n, value);
            }
        }
        best
    }

    /// The first tetrahedron.
    fn start(&mut self) -> Result<(), HullError> {
        if self.points.len() < 4 {
            return Err(HullError::Flat);
        }
        let (mut ends, mut extent) = ([0, 0], 0.0);
        for k in 0..3 {
            let along = |p: Point| p.to_array()[k];
            let (low, high) = (self.most(|p| -along(p)), self.most(along));
            if low.1 + high.1 > extent {
                (ends, extent) = ([low.0, high.0], low.1 + high.1);
            }
        }
        self.tolerance = IN_PLANE * extent;
        let [a, b] = ends.map(|n| self.points[n]);
        let (axis, _) = (b - a).normalize();
        let (third, far) = self.most(|p| (p - a).cross(axis).norm());
        let (normal, _) = (b - a).cross(self.points[third] - a).normalize();
        let (fourth, high) = self.most(|p| normal.dot(p - a).abs());
        if !(extent > 0.0 && far > self.tolerance && high > self.tolerance) {
            return Err(HullError::Flat);
        }
        let [p, q] = ends;
        // The fourth corner is below the first three.
        let (q, third) =
            if normal.dot(self.points[fourth] - a) > 0.0 { (third, q) } else { (q, third) };
        let corners = [[p, q, third], [q, p, fourth], [third, q, fourth], [p, third, fourth]];
        let neighbours = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        for (corners, neighbours) in corners.into_iter().zip(neighbours) {
            let triangle = self.triangle(corners, neighbours);
            self.triangles.push(triangle);
        }
        let all: Vec<usize> = (0..self.points.len()).collect();
        self.assign(&all, &[0, 1, 2, 3]);
        Ok(())
    }

    /// Gives each point to the triangle of `among` that it is highest above.
    fn assign(&mut self, points: &[usize], among: &[usize]) {
        for &point in points {
            let (mut best, mut most) = (None, self.tolerance);
            for &t in among {
                let height = self.triangles[t].height(self.points[point]);
                if height > most {
                    (best, most) = (Some(t), height);
                }
            }
            if let Some(t) = best {
                self.triangles[t].above.push(point);
            }
        }
    }

    /// Adds points until none is outside.
    fn grow(&mut self) {
        let mut next = 0;
        while next < self.triangles.len() {
            if !self.triangles[next].alive || self.triangles[next].above.is_empty() {
                next += 1;
                continue;
            }
            let triangle = &self.triangles[next];
            let mut eye = triangle.above[0];
            for &point in &triangle.above {
                if triangle.height(self.points[point]) > triangle.height(self.points[eye]) {
                    eye = point;
                }
            }
            self.add(next, eye);
        }
    }

    /// Replaces the triangles below a point by a cone to it.
    fn add(&mut self, seed: usize, eye: usize) {
        let p = self.points[eye];
        let mut visible = vec![seed];
        self.triangles[seed].alive = false;
        let (mut at, mut orphans) = (0, Vec::new());
        // Edges of the horizon: from, to, the triangle beyond.
        let mut horizon: Vec<[usize; 3]> = Vec::new();
        while at < visible.len() {
            let t = visible[at];
            at += 1;
            let (corners, neighbours) = (self.triangles[t].corners, self.triangles[t].neighbours);
            for k in 0..3 {
                let beyond = neighbours[k];
                if !self.triangles[beyond].alive {
                    continue;
                }
                if self.triangles[beyond].height(p) > self.tolerance {
                    self.triangles[beyond].alive = false;
                    visible.push(beyond);
                }
            }
            orphans.append(&mut self.triangles[t].above);
            for k in 0..3 {
                horizon.push([corners[k], corners[(k + 1) % 3], neighbours[k]]);
            }
        }
        // What was alive when seen may have died since.
        horizon.retain(|[.., beyond]| self.triangles[*beyond].alive);
        let first = self.triangles.len();
        let mut new = Vec::with_capacity(horizon.len());
        for (n, &[from, to, beyond]) in horizon.iter().enumerate() {
            let mut triangle = self.triangle([from, to, eye], [beyond, usize::MAX, usize::MAX]);
            if triangle.normal.norm_squared() < 0.5 {
                // A sliver: the eye is on the line of its edge, in the plane beyond.
                triangle.normal = self.triangles[beyond].normal;
                triangle.offset = self.triangles[beyond].offset;
            }
            for (m, &[other_from, other_to, _]) in horizon.iter().enumerate() {
                if other_from == to {
                    triangle.neighbours[1] = first + m;
                }
                if other_to == from {
                    triangle.neighbours[2] = first + m;
                }
            }
            let across = &mut self.triangles[beyond];
            for k in 0..3 {
                if across.corners[k] == to && across.corners[(k + 1) % 3] == from {
                    across.neighbours[k] = first + n;
                }
            }
            new.push(first + n);
            self.triangles.push(triangle);
        }
        orphans.retain(|point| *point != eye);
        self.assign(&orphans, &new);
    }

    /// Groups triangles to faces and numbers vertices anew.
    fn finish(self) -> Hull {
        let alive: Vec<usize> =
            (0..self.triangles.len()).filter(|&t| self.triangles[t].alive).collect();
        let mut numbers = vec![u32::MAX; self.points.len()];
        let mut vertices = Vec::new();
        let mut triangles = Vec::with_capacity(alive.len());
        for &t in &alive {
            triangles.push(self.triangles[t].corners.map(|corner| {
                if numbers[corner] == u32::MAX {
                    numbers[corner] = vertices.len() as u32;
                    vertices.push(self.points[corner].to_array());
                }
                numbers[corner]
            }));
        }
        let mut group = vec![usize::MAX; self.triangles.len()];
        let mut faces = Vec::new();
        for &seed in &self.by_area(&alive) {
            if group[seed] == usize::MAX {
                let face = self.face(seed, faces.len(), &mut group, &numbers);
                faces.push(face);
            }
        }
        let count = vertices.len();
        let edges = triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
        let (neighbour_starts, neighbours) = lists(count, edges);
        let of_triangle = alive.iter().zip(&triangles);
        let at = of_triangle.flat_map(|(&t, corners)| corners.map(|v| [v, group[t] as u32]));
        let (face_starts, faces_at) = lists(count, at);
        let radius = vertices.iter().map(|v| Vec3::from_array(*v).norm()).fold(0.0, f64::max);
        Hull {
            vertices,
            faces,
            triangles,
            radius,
            neighbours,
            neighbour_starts,
            faces_at,
            face_starts,
        }
    }

    /// Triangles, the largest first.
    fn by_area(&self, alive: &[usize]) -> Vec<usize> {
        let area = |t: usize| {
            let [a, b, c] = self.triangles[t].corners.map(|v| self.points[v]);
            (b - a).cross(c - a).norm_squared()
        };
        let mut sorted = alive.to_vec();
        sorted.sort_by(|&s, &t| area(t).total_cmp(&area(s)));
        sorted
    }

    /// The face about a triangle: its neighbours in its plane, and the loop about them.
    fn face(&self, seed: usize, own: usize, group: &mut [usize], numbers: &[u32]) -> HullFace {
        let plane = &self.triangles[seed];
        let in_plane = |t: &Triangle| {
            t.normal.dot(plane.normal) > SAME_DIRECTION
                && t.corners
                    .iter()
                    .all(|&v| plane.height(self.points[v]).abs() <= 2.0 * self.tolerance)
        };
        group[seed] = own;
        let (mut members, mut at) = (vec![seed], 0);
        while at < members.len() {
            for beyond in self.triangles[members[at]].neighbours {
                if group[beyond] == usize::MAX && in_plane(&self.triangles[beyond]) {
                    group[beyond] = own;
                    members.push(beyond);
                }
            }
            at += 1;
        }
        let mut after = std::collections::BTreeMap::new();
        for &t in &members {
            let triangle = &self.triangles[t];
            for k in 0..3 {
                if group[triangle.neighbours[k]] != own {
                    after.insert(triangle.corners[k], triangle.corners[(k + 1) % 3]);
                }
            }
        }
        let mut ring = Vec::with_capacity(after.len());
        if let Some((&first, _)) = after.iter().next() {
            let mut corner = first;
            while let Some(next) = after.remove(&corner) {
                ring.push(corner);
                corner = next;
            }
        }
        let turns = |n: usize| {
            let count = ring.len();
            let [a, b, c] = [n + count - 1, n, n + 1].map(|k| self.points[ring[k % count]]);
            let (into, out) = (b - a, c - b);
            let turn = into.cross(out).dot(plane.normal);
            turn > STRAIGHT * into.norm() * out.norm()
        };
        let corners: Vec<u32> =
            (0..ring.len()).filter(|&n| turns(n)).map(|n| numbers[ring[n]]).collect();
        HullFace { corners, normal: plane.normal.to_array() }
    }
}

/// Second members of pairs, sorted, each once, by the first.
fn lists(count: usize, pairs: impl Iterator<Item = [u32; 2]>) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<[u32; 2]> = pairs.collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut starts = vec![0; count + 1];
    for [first, _] in &pairs {
        starts[*first as usize + 1] += 1;
    }
    for v in 0..count {
        starts[v + 1] += starts[v];
    }
    (starts, pairs.into_iter().map(|[_, second]| second).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(hull: &Hull) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| hull.vertex(v as usize));
            a.dot(b.cross(c)) / 6.0
        };
        hull.triangles.iter().map(of).sum()
    }

    fn scattered(count: usize) -> Vec<[f64; 3]> {
        let part = |n: usize, a: f64| (n as f64 * a).fract() - 0.5;
        (0..count)
            .map(|n| [part(n, 0.819_172_5), part(n, 0.671_043_6), part(n, 0.549_700_4)])
            .collect()
    }

    #[test]
    fn a_cube_of_a_grid_has_six_faces_of_four_corners() {
        let mut points = Vec::new();
        for i in 0..125 {
            let at = |n: usize| (n % 5) as f64 / 4.0 + 1e-9 * ((i * 7 + n) % 3) as f64;
            points.push([at(i), 2.0 * at(i / 5), 3.0 * at(i / 25)]);
        }
        let hull = Hull::new(&points).unwrap();
        assert_eq!(hull.faces.len(), 6);
        assert!(hull.faces.iter().all(|f| f.corners.len() == 4), "{:?}", hull.faces);
        assert!((volume(&hull) - 6.0).abs() < 1e-6, "{}", volume(&hull));
    }

    #[test]
    fn scattered_points_are_inside() {
        for count in [4, 5, 8, 30, 500] {
            let points = scattered(count);
            let hull = Hull::new(&points).unwrap();
            for face in &hull.faces {
                let normal = Vec3::from_array(face.normal);
                let height = normal.dot(hull.vertex(face.corners[0] as usize));
                let most = points.iter().map(|p| normal.dot(Vec3::from_array(*p)));
                assert!(most.fold(f64::MIN, f64::max) < height + 3e-7, "{count}");
            }
            // Euler's formula.
            assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4, "{count}");
            for n in 0..40 {
                let d = Vec3::from_array(scattered(40)[n]);
                let exact = points.iter().map(|p| d.dot(Vec3::from_array(*p)));
                let exact = exact.fold(f64::MIN, f64::max);
                let found = hull.vertex(hull.support(d, n % hull.vertices.len())).dot(d);
                assert!((found - exact).abs() < 2e-7, "{count}: {found} for {exact}");
            }
        }
    }

    #[test]
    fn a_ball_has_its_volume() {
        let points: Vec<[f64; 3]> = scattered(3000)
            .into_iter()
            .map(|p| Vec3::from_array(p).normalize().0.to_array())
            .collect();
        let hull = Hull::new(&points).unwrap();
        assert!((volume(&hull) - 4.18879).abs() < 0.03, "{}", volume(&hull));
    }

    #[test]
    fn flat_points_are_refused() {
        let flat: Vec<[f64; 3]> =
            scattered(20).into_iter().map(|[x, y, _]| [x, y, x - y]).collect();
        assert_eq!(Hull::new(&flat), Err(HullError::Flat));
        assert_eq!(Hull::new(&[[0.0; 3]; 9]), Err(HullError::Flat));
        assert_eq!(Hull::new(&[[f64::NAN; 3]; 9]), Err(HullError::NotFinite));
    }
}
