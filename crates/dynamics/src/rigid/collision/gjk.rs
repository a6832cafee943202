//! How far apart two convex sets are: the point of their difference that is nearest to the origin, by
//! growing simplices (Gilbert, Johnson and Keerthi 1988; regions of simplices as in Ericson 2005).

use costate_num::Vec3;

use super::surface::Core;

type Point = Vec3<f64>;

/// Most supporting points.
const MOST: usize = 96;
/// The nearest point is found where its squared length could fall by no more than this share.
const CONVERGED: f64 = 1e-14;
/// Sets touch where they are nearer than this share of their extent.
const TOUCHING: f64 = 1e-10;

/// A point of the difference of two sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// The first set's point less the second's.
    pub point: Point,
    /// The points.
    pub of: [Point; 2],
    /// Their numbers among the corners of the sets.
    pub ids: [usize; 2],
}

impl Corner {
    /// The farthest one along a direction.
    pub fn support(sets: [&Core<'_>; 2], direction: Point, hint: [usize; 2]) -> Self {
        let (first, i) = sets[0].support(direction, hint[0]);
        let (second, j) = sets[1].support(-direction, hint[1]);
        Self { point: first - second, of: [first, second], ids: [i, j] }
    }
}

/// At most four points of the difference, with the weights of the point nearest to the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simplex {
    pub corners: [Corner; 4],
    pub weights: [f64; 4],
    pub count: usize,
}

/// How two sets lie.
pub(super) enum Proximity {
    /// Farther apart than asked for.
    Far,
    /// Apart, with the nearest simplex.
    Apart(Simplex),
    /// They touch or overlap.
    Overlap(Simplex),
}

impl Simplex {
    fn new(corner: Corner) -> Self {
        Self { corners: [corner; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1 }
    }

    fn sum(&self, f: impl Fn(&Corner) -> Point) -> Point {
        let mut total = Vec3::zero();
        for k in 0..self.count {
            total += f(&self.corners[k]) * self.weights[k];
        }
        total
    }

    /// The point nearest to the origin.
    pub fn nearest(&self) -> Point {
        self.sum(|corner| corner.point)
    }

    /// The points of the two sets that it is the difference of.
    pub fn witnesses(&self) -> [Point; 2] {
        [self.sum(|corner| corner.of[0]), self.sum(|corner| corner.of[1])]
    }

    /// Keeps some of the corners, with weights.
    fn keep(&mut self, kept: &[(usize, f64)]) {
        let corners = self.corners;
        for (k, &(from, weight)) in kept.iter().enumerate() {
            self.corners[k] = corners[from];
            self.weights[k] = weight;
        }
        self.count = kept.len();
    }

    /// Finds the point nearest to the origin and keeps the corners that it is between. False where the origin
    /// is inside.
    fn reduce(&mut self) -> bool {
        let p = self.corners.map(|corner| corner.point);
        match self.count {
            2 => {
                let (kept, count) = on_segment(p, [0, 1]);
                self.keep(&kept[..count]);
            }
            3 => {
                let (kept, count) = on_triangle(p, [0, 1, 2]);
                self.keep(&kept[..count]);
            }
            4 => {
                let mut best: Option<(f64, Kept)> = None;
                for [a, b, c, opposite] in [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]]
                {
                    let normal = (p[b] - p[a]).cross(p[c] - p[a]);
                    let (origin, inside) = (-normal.dot(p[a]), normal.dot(p[opposite] - p[a]));
                    // A flat tetrahedron has no inside.
                    if origin * inside >= 0.0 && inside != 0.0 {
                        continue;
                    }
                    let kept = on_triangle(p, [a, b, c]);
                    let mut point = Vec3::zero();
                    for &(k, weight) in &kept.0[..kept.1] {
                        point += p[k] * weight;
                    }
                    let squared = point.norm_squared();
                    if best.is_none_or(|(least, _)| squared < least) {
                        best = Some((squared, kept));
                    }
                }
                let Some((_, (kept, count))) = best else { return false };
                self.keep(&kept[..count]);
            }
            _ => self.weights[0] = 1.0,
        }
        true
    }
}

/// Corners with weights, and how many.
type Kept = ([(usize, f64); 3], usize);

fn on_segment(p: [Point; 4], [a, b]: [usize; 2]) -> Kept {
    let along = p[b] - p[a];
    let squared = along.norm_squared();
    let t = -p[a].dot(along);
    if t <= 0.0 || squared == 0.0 {
        ([(a, 1.0), (0, 0.0), (0, 0.0)], 1)
    } else if t >= squared {
        ([(b, 1.0), (0, 0.0), (0, 0.0)], 1)
    } else {
        let t = t / squared;
        ([(a, 1.0 - t), (b, t), (0, 0.0)], 2)
    }
}

fn on_triangle(p: [Point; 4], [a, b, c]: [usize; 3]) -> Kept {
    let normal = (p[b] - p[a]).cross(p[c] - p[a]);
    let squared = normal.norm_squared();
    // Areas of the origin's projection with each edge.
    let part = |i: usize, j: usize| normal.dot(p[i].cross(p[j]));
    let areas = [part(b, c), part(c, a), part(a, b)];
    if squared > 0.0 && areas.iter().all(|x| *x >= 0.0) {
        let total = areas[0] + areas[1] + areas[2];
        if total > 0.0 {
            let [x, y, z] = areas.map(|x| x / total);
            return ([(a, x), (b, y), (c, z)], 3);
        }
    }
    let mut best: Option<(f64, Kept)> = None;
    for (edge, area) in [([a, b], areas[2]), ([b, c], areas[0]), ([c, a], areas[1])] {
        if squared > 0.0 && area > 0.0 {
            continue;
        }
        let kept = on_segment(p, edge);
        let mut point = Vec3::zero();
        for &(k, weight) in &kept.0[..kept.1] {
            point += p[k] * weight;
        }
        let length = point.norm_squared();
        if best.is_none_or(|(least, _)| length < least) {
            best = Some((length, kept));
        }
    }
    best.map_or(([(a, 1.0), (0, 0.0), (0, 0.0)], 1), |(_, kept)| kept)
}

/// How two sets lie; `Far` where they are farther apart than `reach`.
pub(super) fn proximity(sets: [&Core<'_>; 2], reach: f64) -> Proximity {
    let extent = sets[0].extent().min(sets[1].extent());
    let touching = TOUCHING * TOUCHING * extent * extent;
    let start = sets[0].surface.shape.position - sets[1].surface.shape.position;
    let first = if start.norm_squared() > 0.0 { -start } else { Vec3::new(1.0, 0.0, 0.0) };
    let mut simplex = Simplex::new(Corner::support(sets, first, [0, 0]));
    for _ in 0..MOST {
        let nearest = simplex.nearest();
        let squared = nearest.norm_squared();
        if squared <= touching {
            return Proximity::Overlap(simplex);
        }
        let hint = simplex.corners[simplex.count - 1].ids;
        let next = Corner::support(sets, -nearest, hint);
        let along = nearest.dot(next.point);
        if along > 0.0 && along * along > squared * reach * reach {
            return Proximity::Far;
        }
        let known = simplex.corners[..simplex.count].iter().any(|c| c.point == next.point);
        if known || squared - along <= CONVERGED * squared {
            return Proximity::Apart(simplex);
        }
        let before = simplex;
        simplex.corners[simplex.count] = next;
        simplex.count += 1;
        if !simplex.reduce() {
            return Proximity::Overlap(simplex);
        }
        if simplex.nearest().norm_squared() >= squared {
            // Rounding is all that is left.
            return Proximity::Apart(before);
        }
    }
    Proximity::Apart(simplex)
}
