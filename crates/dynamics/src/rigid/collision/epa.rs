//! How deep two convex sets overlap: the point of the boundary of their difference that is nearest to the
//! origin, by a polytope that grows towards it (van den Bergen 2001).

use costate_num::Vec3;

use super::few::Few;
use super::gjk::{Corner, Simplex};
use super::surface::Core;

type Point = Vec3<f64>;

/// Most corners of the polytope.
const MOST: usize = 200;
/// Heights that are shares of the extent below this are none.
const FLAT: f64 = 1e-12;
/// The face is found where the boundary is nearer to it than this share of the extent: for corners, and for round
/// sets, whose witnesses are sharpened afterwards.
const CONVERGED: [f64; 2] = [1e-11, 1e-5];

/// The face of the difference that is nearest to the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    /// From the first set to the second: out of the difference.
    pub normal: Point,
    /// How deep the sets overlap.
    pub depth: f64,
    /// The face, with the weights of the point nearest to the origin.
    pub simplex: Simplex,
}

#[derive(Clone, Copy)]
struct Face {
    corners: [usize; 3],
    normal: Point,
    /// From the origin; infinite where the face has no area.
    distance: f64,
}

fn face(all: &[Corner], corners: [usize; 3]) -> Face {
    let [a, b, c] = corners.map(|k| all[k].point);
    let (normal, twice_area) = (b - a).cross(c - a).normalize();
    let distance = if twice_area > 0.0 { normal.dot(a).max(normal.dot(b)) } else { f64::INFINITY };
    Face { corners, normal, distance }
}

/// A tetrahedron that has the simplex's corners; none where the difference is flat.
fn tetrahedron(sets: [&Core<'_>; 2], simplex: &Simplex, flat: f64) -> Option<Few<Corner, 32>> {
    let mut all = Few::new(simplex.corners[0]);
    all.extend(simplex.corners[..simplex.count].iter().copied());
    let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
    let mut directions = Few::<Point, 6>::new(Vec3::zero());
    directions.extend(axes.into_iter().flat_map(|axis| [axis, -axis]));
    if all.len() == 4 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| all[k].point);
        let normal = (b - a).cross(c - a).normalize().0;
        if normal.dot(d - a).abs() > flat {
            return Some(all);
        }
        all.truncate(3);
    }
    // Of two corners' difference, then of three corners' plane, the directions that lead away from it.
    while all.len() < 4 {
        let a = all[0].point;
        let away = |p: Point, all: &[Corner]| match all.len() {
            1 => (p - a).norm(),
            2 => {
                let along = (all[1].point - a).normalize().0;
                (p - a).cross(along).norm()
            }
            _ => {
                let normal = (all[1].point - a).cross(all[2].point - a).normalize().0;
                normal.dot(p - a).abs()
            }
        };
        if all.len() == 2 {
            let along = (all[1].point - a).normalize().0;
            directions.clear();
            let across = axes.into_iter().flat_map(|axis| [along.cross(axis), axis.cross(along)]);
            directions.extend(across.filter(|d| d.norm_squared() > 0.1));
        } else if all.len() == 3 {
            let normal = (all[1].point - a).cross(all[2].point - a).normalize().0;
            directions.clear();
            directions.extend([normal, -normal]);
        }
        let mut best: Option<(f64, Corner)> = None;
        for &direction in directions.iter() {
            let corner = Corner::support(sets, direction, all[0].ids);
            let far = away(corner.point, &all);
            if best.is_none_or(|(most, _)| far > most) {
                best = Some((far, corner));
            }
        }
        let (far, corner) = best?;
        if far <= flat {
            return None;
        }
        all.push(corner);
    }
    Some(all)
}

/// The faces that a point sees, connected to one of them, and their edges. That they are connected keeps the
/// polytope closed where rounding says of faces in one plane now this, now that.
fn see(
    faces: &[Face],
    first: usize,
    sees: impl Fn(&Face) -> bool,
    visible: &mut Few<usize, 32>,
    edges: &mut Few<[usize; 2], 64>,
) {
    visible.clear();
    edges.clear();
    visible.push(first);
    let mut at = 0;
    while at < visible.len() {
        let [a, b, c] = faces[visible[at]].corners;
        at += 1;
        for [from, to] in [[a, b], [b, c], [c, a]] {
            edges.push([from, to]);
            let beyond = faces.iter().position(|f| {
                let [a, b, c] = f.corners;
                [[a, b], [b, c], [c, a]].contains(&[to, from])
            });
            if let Some(n) = beyond
                && !visible.contains(&n)
                && sees(&faces[n])
            {
                visible.push(n);
            }
        }
    }
}

/// The nearest face; none where the difference of the sets has no volume.
pub(super) fn depth(sets: [&Core<'_>; 2], simplex: &Simplex) -> Option<Depth> {
    let extent = sets[0].extent() + sets[1].extent();
    let flat = FLAT * extent;
    let mut all = tetrahedron(sets, simplex, flat)?;
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| all[k].point);
    let up = (b - a).cross(c - a).dot(d - a) > 0.0;
    let loops = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    let turned = |[i, j, k]: [usize; 3]| if up { [i, k, j] } else { [i, j, k] };
    let mut faces = Few::<Face, 64>::new(face(&all, loops[0]));
    faces.extend(loops.into_iter().map(|l| face(&all, turned(l))));
    let round = !(sets[0].is_polytope() && sets[1].is_polytope());
    let tolerance = CONVERGED[usize::from(round)] * extent;
    let (mut visible, mut edges) = (Few::new(0), Few::new([0; 2]));
    let nearest = loop {
        let mut at = 0;
        for (n, f) in faces.iter().enumerate() {
            if f.distance < faces[at].distance {
                at = n;
            }
        }
        let nearest = *faces.get(at)?;
        if !nearest.distance.is_finite() {
            return None;
        }
        let hint = all[nearest.corners[0]].ids;
        let next = Corner::support(sets, nearest.normal, hint);
        let gain = nearest.normal.dot(next.point) - nearest.distance;
        let known = nearest.corners.iter().any(|&k| all[k].point == next.point);
        let full = all.len() >= MOST || faces.len() >= 4 * MOST;
        if gain <= tolerance || known || full {
            break nearest;
        }
        let sees = |f: &Face| {
            let above = f.normal.dot(next.point - all[f.corners[0]].point) > flat;
            above || !f.distance.is_finite()
        };
        see(&faces, at, sees, &mut visible, &mut edges);
        visible.sort_unstable();
        for &n in visible.iter().rev() {
            faces.swap_remove(n);
        }
        let eye = all.len();
        all.push(next);
        for &[from, to] in edges.iter() {
            if !edges.contains(&[to, from]) {
                faces.push(face(&all, [from, to, eye]));
            }
        }
    };
    let corners = nearest.corners.map(|k| all[k]);
    let p = corners.map(|corner| corner.point);
    let foot = nearest.normal * nearest.distance;
    let part = |i: usize, j: usize| nearest.normal.dot((p[i] - foot).cross(p[j] - foot));
    let areas = [part(1, 2), part(2, 0), part(0, 1)].map(|x| x.max(0.0));
    let total = areas[0] + areas[1] + areas[2];
    let [x, y, z] = if total > 0.0 { areas.map(|x| x / total) } else { [1.0 / 3.0; 3] };
    let simplex = Simplex {
        corners: [corners[0], corners[1], corners[2], corners[2]],
        weights: [x, y, z, 0.0],
        count: 3,
    };
    Some(Depth { normal: nearest.normal, depth: nearest.distance.max(0.0), simplex })
}
