//! Capsule and box: spheres about the axis point that is nearest to the box and about a second one, where
//! the capsule lies along a face or an edge: as far from the first as both shapes reach (the choice of the
//! second is MuJoCo's).

use costate_num::Vec3;

use super::{Real, SMALLEST, Shape, Touch, sphere_box};

/// Where the capsule runs along what ends the second point, to within this share of the box, its place is held
/// in derivatives.
const ALONG: f64 = 1e-9;

/// A capsule's axis in the axes of a box.
struct Segment<S> {
    center: [S; 3],
    /// From the centre to the upper end.
    half: [S; 3],
    /// The box's half lengths.
    size: [S; 3],
}

/// Which part of a line is nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Lower,
    Inside,
    Upper,
}

/// Where a capsule's axis is nearest to an edge.
struct OnEdge<S> {
    /// Along the edge, from −1 to 1.
    edge: S,
    edge_end: End,
    /// Along the capsule, from −1 to 1.
    axis: S,
    squared_distance: S,
}

/// What of the box is nearest to the capsule's axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nearest {
    /// An end of the capsule (−1 or 1) and a face, by its axis; none inside the box.
    Face { end: i8, face: Option<usize> },
    /// The edge along axis `along` at a corner, by bits of its sides.
    Edge { along: usize, corner: usize },
}

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let segment = Segment::new(a, b);
    let (capsule, solid) = (a.values(), b.values());
    let Some(nearest) = nearest(&capsule, &solid, margin.value()) else { return };
    let (first, second) = match nearest {
        Nearest::Face { end, face } => {
            (S::splat(f64::from(end)), face.map(|face| segment.over_face(f64::from(end), face)))
        }
        Nearest::Edge { along, corner } => {
            let found = segment.on_edge(along, corner);
            // An edge has the corner at its upper end too.
            let corner = match found.edge_end {
                End::Upper => corner | 1 << along,
                End::Lower | End::Inside => corner,
            };
            let second = if found.edge_end == End::Inside {
                segment.across_edge(&found, along, corner)
            } else {
                segment.beyond_corner(&found, corner)
            };
            (found.axis, second)
        }
    };
    let mut add = |x: S| {
        let point = [0, 1, 2].map(|k| segment.center[k] + segment.half[k] * x);
        let position = b.position + b.axes.apply(Vec3::from_array(point));
        sphere_box::touch(&Shape { position, ..*a }, b, margin, out);
    };
    add(first);
    if let Some(step) = second {
        add(first + step);
    }
}

/// What of the box is nearest to the axis of the capsule.
fn nearest(a: &Shape<f64>, b: &Shape<f64>, margin: f64) -> Option<Nearest> {
    let segment = Segment::new(a, b);
    let size = segment.size;
    let mut best = margin + 2.0 * (a.size.x + a.size.y + size[0] + size[1] + size[2]);
    let mut found = None;
    for end in [-1i8, 1] {
        let (mut outside, mut face, mut squared) = (0, None, 0.0);
        for k in 0..3 {
            let x = segment.center[k] + f64::from(end) * segment.half[k];
            let beyond = x.abs() - size[k];
            if x < -size[k] || x > size[k] {
                outside += 1;
                face = Some(k);
                squared += beyond * beyond;
            }
        }
        if outside <= 1 && squared < best {
            best = squared;
            found = Some(Nearest::Face { end, face });
        }
    }
    for along in 0..3 {
        for corner in (0..8).filter(|corner| corner & (1 << along) == 0) {
            if segment.is_parallel(along) {
                continue;
            }
            let squared = segment.on_edge(along, corner).squared_distance;
            if squared < best - SMALLEST {
                best = squared;
                found = Some(Nearest::Edge { along, corner });
            }
        }
    }
    found
}

/// A number and which part of the range from −1 to 1 it is in, clamped to it.
fn clamped<S: Real>(x: S) -> (S, End) {
    if x.gt(S::one()) {
        (S::one(), End::Upper)
    } else if x.lt(-S::one()) {
        (-S::one(), End::Lower)
    } else {
        (x, End::Inside)
    }
}

impl<S: Real> Segment<S> {
    fn new(a: &Shape<S>, b: &Shape<S>) -> Self {
        let center = b.axes.apply_transposed(a.position - b.position);
        let half = b.axes.apply_transposed(a.axes.columns[2]) * a.size.y;
        Self { center: center.to_array(), half: half.to_array(), size: b.size.to_array() }
    }

    /// Numbers of the normal equations of the nearest points of the axis and an edge.
    fn products(&self, along: usize) -> (S, S, S) {
        let half = Vec3::from_array(self.half);
        let size = self.size[along];
        (size * size, -size * self.half[along], half.norm_squared())
    }

    fn is_parallel(&self, along: usize) -> bool {
        let (ma, mb, mc) = self.products(along);
        (ma * mc - mb * mb).abs().lt(S::splat(SMALLEST))
    }

    fn on_edge(&self, along: usize, corner: usize) -> OnEdge<S> {
        let size = self.size;
        let mut middle = [0, 1, 2].map(|k| if corner & 1 << k != 0 { size[k] } else { -size[k] });
        middle[along] = S::zero();
        let between = [0, 1, 2].map(|k| middle[k] - self.center[k]);
        let (ma, mb, mc) = self.products(along);
        let u = -size[along] * between[along];
        let v = Vec3::from_array(self.half).dot(Vec3::from_array(between));
        let determinant = ma * mc - mb * mb;
        let (mut edge, mut edge_end) = clamped((mc * u - mb * v) / determinant);
        let mut axis = (ma * v - mb * u) / determinant;
        if edge_end != End::Inside {
            axis = (v - mb * edge) / mc;
        }
        let (clamped_axis, axis_end) = clamped(axis);
        axis = clamped_axis;
        if axis_end != End::Inside {
            (edge, edge_end) = match clamped((u - mb * axis) / ma) {
                // What was clamped before stays so where it lies within.
                (x, End::Inside) => (x, edge_end),
                outside => outside,
            };
        }
        let mut offset = [0, 1, 2].map(|k| between[k] - self.half[k] * axis);
        offset[along] += size[along] * edge;
        let squared_distance = Vec3::from_array(offset).norm_squared();
        OnEdge { edge, edge_end, axis, squared_distance }
    }

    /// Sides of the box that the axis points to, as bits.
    fn direction(&self) -> usize {
        (0..3).filter(|&k| self.half[k].gt(S::zero())).map(|k| 1 << k).sum()
    }

    /// A length over the axis's part along `k`.
    fn over(&self, length: S, k: usize) -> S {
        let part = self.half[k].abs();
        if part.lt(self.size[k].scale(ALONG)) {
            S::splat(length.value() / part.value())
        } else {
            length / part
        }
    }

    /// From the nearest point at a corner: along the edge or the face that the capsule lies along.
    fn beyond_corner(&self, found: &OnEdge<S>, corner: usize) -> Option<S> {
        let one = S::one();
        let turn = self.direction() ^ corner;
        let (bit, sign) = match turn {
            0 | 7 => return None,
            1 | 2 | 4 => (turn, 1.0),
            _ => (7 - turn, -1.0),
        };
        let ahead = one - found.axis.scale(sign);
        let behind = one + found.axis.scale(sign);
        let k = bit.trailing_zeros() as usize;
        let length = Vec3::from_array(self.half).norm_squared();
        if (self.half[k] * self.half[k]).gt(length.scale(0.5)) {
            let step = shorter(ahead, self.over(self.size[k].scale(2.0), k));
            return Some(step.scale(sign));
        }
        let mut step = behind;
        for k in [(k + 1) % 3, (k + 2) % 3] {
            step = shorter(step, self.over(self.size[k].scale(2.0), k));
        }
        Some(step.scale(-sign))
    }

    /// From the nearest point within an edge: across the face that the capsule is less inclined to.
    fn across_edge(&self, found: &OnEdge<S>, along: usize, corner: usize) -> Option<S> {
        let one = S::one();
        let direction = self.direction();
        let turn = (direction ^ corner) & !(1 << along);
        if turn.count_ones() != 1 {
            return None;
        }
        let (next, last) = ((along + 1) % 3, (along + 2) % 3);
        let across = if self.half[next].abs().gt(self.half[last].abs()) { next } else { last };
        let forward = turn & 1 << across != 0;
        let sign = if forward { 1.0 } else { -1.0 };
        let mut step = one - found.axis.scale(sign);
        step = shorter(step, self.over(self.size[across].scale(2.0), across));
        let upward = (direction & 1 << along != 0) == forward;
        let rest = if upward { one - found.edge } else { one + found.edge };
        step = shorter(step, self.over(self.size[along] * rest, along));
        Some(step.scale(sign))
    }

    /// From an end over a face: to where the axis leaves the face.
    fn over_face(&self, end: f64, face: usize) -> S {
        let sign = -end;
        let mut step = S::splat(2.0);
        for k in (0..3).filter(|&k| k != face) {
            let at = self.center[k] - self.half[k].scale(sign);
            for side in [1.0, -1.0] {
                let place = (self.size[k].scale(side) - at) / self.half[k].scale(sign);
                if place.gt(S::zero()) {
                    step = shorter(step, place);
                }
            }
        }
        step.scale(sign)
    }
}

/// The smaller of two lengths; the first where the other is none.
fn shorter<S: Real>(a: S, b: S) -> S {
    if b.lt(a) { b } else { a }
}
