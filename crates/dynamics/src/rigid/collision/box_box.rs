//! Two boxes: the axis along which they overlap least, of the face normals of both and the products of
//! their edges; then a face of one box against the face of the other that is turned most to it, clipped
//! to it, or a point between two edges (Gottschalk, Lin and Manocha 1996; Sutherland and Hodgman 1974;
//! the preferences among axes are those of MuJoCo 4.0).

use costate_num::{Mat3, Vec3};

use super::{Real, SMALLEST, Shape, Touch, clamp};

/// Edges are parallel where the squared sine of their angle is below this.
const PARALLEL: f64 = 1e-16;
/// By how much of its own separation an axis across two edges must win against a face's.
const EDGE_BIAS: f64 = 1e-6;
/// An axis across two edges with this cosine to the best face's normal gives way to the face ...
const ALIGNED: f64 = 0.99;
/// ... unless it wins by this share of the face's separation.
const FACE_SHARE: f64 = 0.05;
/// Below this part of the axis, the side of an edge is open and both are tried.
const OPEN_SIDE: f64 = 1e-9;
/// Points of one face nearer than this, in its squared size, are one.
const SAME_POINT: f64 = 1e-14;
/// Where an edge runs along the plane that clips it, to within this share of the face, its point's place
/// on it is held in derivatives.
const ALONG: f64 = 1e-7;
/// A rectangle clipped by four half planes has at most 8 corners.
const MOST: usize = 8;
/// The corners of a face, one after the other.
const CORNERS: [[f64; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];

/// The axis along which two boxes overlap least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    /// The normal of a face of the first or the second box.
    Face { of_second: bool, axis: usize },
    /// Across two edges, by the axes that they run along.
    Edges(usize, usize),
}

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    match least_overlap(&a.values(), &b.values(), margin.value()) {
        None => {}
        Some(Axis::Face { of_second: false, axis }) => faces(a, b, axis, false, margin, out),
        Some(Axis::Face { of_second: true, axis }) => faces(b, a, axis, true, margin, out),
        Some(Axis::Edges(i, j)) => out.extend(edges(a, b, i, j, margin)),
    }
}

/// The second box in the first one's axes: its centre and, as columns, its axes.
fn relative<S: Real>(a: &Shape<S>, b: &Shape<S>) -> (Vec3<S>, Mat3<S>) {
    let center = a.axes.apply_transposed(b.position - a.position);
    let [x, y, z] = b.axes.columns.map(|axis| a.axes.apply_transposed(axis));
    (center, Mat3::from_columns(x, y, z))
}

/// The unit vector across axis `i` of the first box and `j` of the second, in the first one's axes, where
/// they are not parallel.
fn across<S: Real>(turn: &Mat3<S>, i: usize, j: usize) -> Option<Vec3<S>> {
    let other = turn.columns[j].to_array();
    let (next, last) = ((i + 1) % 3, (i + 2) % 3);
    let squared = other[last] * other[last] + other[next] * other[next];
    if squared.lt(S::splat(PARALLEL)) {
        return None;
    }
    let inverse = squared.sqrt().recip();
    let mut axis = [S::zero(); 3];
    axis[next] = -other[last] * inverse;
    axis[last] = other[next] * inverse;
    Some(Vec3::from_array(axis))
}

/// None where an axis separates the boxes by more than the margin.
fn least_overlap(a: &Shape<f64>, b: &Shape<f64>, margin: f64) -> Option<Axis> {
    let (center, turn) = relative(a, b);
    let back = b.axes.apply_transposed(a.position - b.position);
    let (center, back) = (center.to_array(), back.to_array());
    let columns = turn.columns.map(Vec3::to_array);
    let (first, second) = (a.size.to_array(), b.size.to_array());
    let (mut face, mut best) = ((f64::NEG_INFINITY, None), f64::NEG_INFINITY);
    for n in 0..6 {
        let (of_second, i) = (n >= 3, n % 3);
        let mut reach = 0.0;
        for k in 0..3 {
            reach += if of_second {
                columns[i][k].abs() * first[k]
            } else {
                columns[k][i].abs() * second[k]
            };
        }
        let (distance, own) = if of_second { (back[i], second[i]) } else { (center[i], first[i]) };
        let separation = distance.abs() - own - reach;
        if separation > margin {
            return None;
        }
        if separation > face.0 {
            face = (separation, Some((of_second, i)));
        }
    }
    best = best.max(face.0);
    let (of_second, axis) = face.1?;
    let mut found = None;
    for i in 0..3 {
        for j in 0..3 {
            let Some(direction) = across(&turn, i, j) else { continue };
            let other = turn.apply_transposed(direction).to_array();
            let direction = direction.to_array();
            let (mut reach, mut distance) = (0.0, 0.0);
            for k in 0..3 {
                // Both edges are across the axis.
                reach += if k == i { 0.0 } else { first[k] * direction[k].abs() };
                reach += if k == j { 0.0 } else { second[k] * other[k].abs() };
                distance += direction[k] * center[k];
            }
            let separation = distance.abs() - reach;
            if separation > margin {
                return None;
            }
            if separation - EDGE_BIAS * separation.abs() > best && separation > face.0 {
                best = separation;
                found = Some((i, j, direction));
            }
        }
    }
    let by_face = Axis::Face { of_second, axis };
    let Some((i, j, direction)) = found else { return Some(by_face) };
    // One face gives several points where near ties would alternate between it and an edge.
    let direction = Vec3::from_array(direction);
    let cosine =
        if of_second { turn.columns[axis].dot(direction) } else { direction.to_array()[axis] };
    let gives_way = cosine.abs() > ALIGNED && best < face.0 + FACE_SHARE * face.0.abs() + SMALLEST;
    Some(if gives_way { by_face } else { Axis::Edges(i, j) })
}

/// The point midway between two edges.
fn edges<S: Real>(a: &Shape<S>, b: &Shape<S>, i: usize, j: usize, margin: S) -> Option<Touch<S>> {
    let (center, turn) = relative(a, b);
    let axis = across(&turn, i, j)?;
    let axis = if axis.dot(center).lt(S::zero()) { -axis } else { axis };
    let other = turn.apply_transposed(axis);
    let direction = turn.columns[j];
    let cosine = direction.to_array()[i];
    let sine = S::one() - cosine * cosine;
    let (half, other_half) = (a.size.to_array()[i], b.size.to_array()[j]);
    let mut nearest: Option<(f64, Vec3<S>, Vec3<S>)> = None;
    for corner in sides(axis, i, a.size) {
        for other_corner in sides(-other, j, b.size) {
            let second = turn.apply(other_corner) + center;
            let between = second - corner;
            let (along, other_along) = (between.to_array()[i], direction.dot(between));
            let s = if sine.lt(S::splat(SMALLEST)) {
                S::zero()
            } else {
                (along - cosine * other_along) / sine
            };
            let s = clamp(s, -half, half);
            let t = clamp(cosine * s - other_along, -other_half, other_half);
            let s = clamp(along + cosine * t, -half, half);
            let mut p = corner.to_array();
            p[i] += s;
            let (p, q) = (Vec3::from_array(p), second + direction * t);
            let gap = (q - p).norm_squared().value();
            if nearest.is_none_or(|(least, ..)| gap < least) {
                nearest = Some((gap, p, q));
            }
        }
    }
    let (_, p, q) = nearest?;
    let distance = (q - p).dot(axis);
    if distance.gt(margin) {
        return None;
    }
    let middle = a.position + a.axes.apply((p + q) * S::splat(0.5));
    Some(Touch::new(middle, a.axes.apply(axis), distance))
}

/// The middle of the edge along `i` that is farthest along `axis`; of both where that is open.
fn sides<S: Real>(axis: Vec3<S>, i: usize, size: Vec3<S>) -> impl Iterator<Item = Vec3<S>> {
    let (axis, size) = (axis.to_array(), size.to_array());
    let mut corner = [S::zero(); 3];
    let mut open = None;
    for k in [(i + 2) % 3, (i + 1) % 3] {
        corner[k] = if axis[k].ge(S::zero()) { size[k] } else { -size[k] };
        if axis[k].abs().lt(S::splat(OPEN_SIDE)) {
            open = Some(k);
        }
    }
    let other = open.map(|k| {
        let mut other = corner;
        other[k] = -other[k];
        Vec3::from_array(other)
    });
    std::iter::once(Vec3::from_array(corner)).chain(other)
}

/// Corners of a polygon on a face: two places along it, and the height above it.
#[derive(Clone, Copy)]
struct Polygon<S> {
    corners: [[S; 3]; MOST],
    count: usize,
}

impl<S: Real> Polygon<S> {
    fn empty() -> Self {
        Self { corners: [[S::zero(); 3]; MOST], count: 0 }
    }

    fn push(&mut self, corner: [S; 3]) {
        if self.count < MOST {
            self.corners[self.count] = corner;
            self.count += 1;
        }
    }

    /// The part of it where `sign` times coordinate `k` is at most `limit`.
    fn clipped(&self, k: usize, sign: f64, limit: S) -> Self {
        let above = |corner: &[S; 3]| corner[k].scale(sign) - limit;
        let corners = &self.corners[..self.count];
        let zero = S::zero();
        if corners.iter().all(|corner| above(corner).le(zero)) {
            return *self;
        }
        let mut out = Self::empty();
        for (n, p) in corners.iter().enumerate() {
            let q = &corners[(n + 1) % self.count];
            let (from, to) = (above(p), above(q));
            if from.le(zero) {
                out.push(*p);
            }
            if from.lt(zero) == to.lt(zero) || from.equals(to) {
                continue;
            }
            let mut place = from / (from - to);
            if (from - to).abs().lt(limit.scale(ALONG)) {
                place = S::splat(place.value());
            }
            out.push([0, 1, 2].map(|i| p[i] + place * (q[i] - p[i])));
        }
        out
    }
}

/// The face of `reference` across its axis `a`, against the face of `incident` that is turned to it.
fn faces<S: Real>(
    reference: &Shape<S>,
    incident: &Shape<S>,
    a: usize,
    reference_is_second: bool,
    margin: S,
    out: &mut Vec<Touch<S>>,
) {
    let (center, turn) = relative(reference, incident);
    let center = center.to_array();
    let columns = turn.columns.map(Vec3::to_array);
    let (size, other) = (reference.size.to_array(), incident.size.to_array());
    let sign = if center[a].ge(S::zero()) { 1.0 } else { -1.0 };
    let mut b = 0;
    for k in 1..3 {
        if columns[k][a].abs().gt(columns[b][a].abs()) {
            b = k;
        }
    }
    let towards = if columns[b][a].scale(sign).gt(S::zero()) { -1.0 } else { 1.0 };
    let places = [(a + 1) % 3, (a + 2) % 3, a];
    let (u, v) = ((b + 1) % 3, (b + 2) % 3);
    let mut polygon = Polygon::empty();
    for [su, sv] in CORNERS {
        let mut corner = places.map(|k| {
            center[k]
                + other[b].scale(towards) * columns[b][k]
                + (other[u] * columns[u][k]).scale(su)
                + (other[v] * columns[v][k]).scale(sv)
        });
        corner[2] = corner[2].scale(sign) - size[a];
        polygon.push(corner);
    }
    for k in 0..2 {
        for side in [1.0, -1.0] {
            polygon = polygon.clipped(k, side, size[places[k]]);
        }
    }
    let [w, h] = [size[places[0]].value(), size[places[1]].value()];
    let same = SAME_POINT * (w * w + h * h);
    let outward = reference.axes.columns[a] * S::splat(sign);
    let normal = if reference_is_second { -outward } else { outward };
    let first = out.len();
    let mut kept: [[f64; 2]; MOST] = [[0.0; 2]; MOST];
    for corner in &polygon.corners[..polygon.count] {
        let at = [corner[0].value(), corner[1].value()];
        let count = out.len() - first;
        let is_near = |k: &[f64; 2]| {
            let d = [k[0] - at[0], k[1] - at[1]];
            d[0] * d[0] + d[1] * d[1] < same
        };
        if corner[2].gt(margin) || kept[..count].iter().any(is_near) {
            continue;
        }
        kept[count] = at;
        let mut point = [S::zero(); 3];
        point[places[0]] = corner[0];
        point[places[1]] = corner[1];
        point[a] = (size[a] + corner[2].scale(0.5)).scale(sign);
        let position = reference.position + reference.axes.apply(Vec3::from_array(point));
        out.push(Touch::new(position, normal, corner[2]));
    }
}
