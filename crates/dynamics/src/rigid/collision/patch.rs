//! Where a face of a convex shape is against a face, an edge or a side of another: the corners of the patch
//! that they have in common, four at most.
//!
//! The reference is the shape that has a face across the contact's normal. What the other turns to it is clipped to
//! that face (Sutherland and Hodgman 1974); distances are along the face's normal.

use costate_num::Vec3;

use super::few::Few;
use super::surface::{Core, Surface};
use super::{Real, Touch};
use crate::rigid::tree::GeomKind;

/// A face is across the normal where the cosine of its own normal is at least this.
const ACROSS: f64 = 1.0 - 1.3e-6;
/// The end, the side and the axis of round shapes lie against a face where they are turned to it by less (rad).
const TURNED: f64 = 0.1;
/// Corners of the polygon that stands for the end of a cylinder.
const ROUND: usize = 16;
/// Where an edge runs along the plane that clips it, to within this share of the face, its point's place
/// on it is held in derivatives.
const ALONG: f64 = 1e-7;
/// Points nearer than this share of the face's size are one.
const SAME: f64 = 1e-7;
/// Most contacts.
const MOST: usize = 4;
/// An area must be larger by this share to be preferred: those of regular polygons tie, and rounding is not to
/// choose among them.
const LARGER: f64 = 1.0 + 1e-6;
/// A corner must be deeper than the chosen ones by this share of their distance to take the place of one.
const DEEPER: f64 = 1e-4;

/// Corners in derivatives of dual lanes are large; faces of hulls that have more than this are rare.
const SHORT: usize = 16;

type Corners<S> = Few<Vec3<S>, SHORT>;
/// Points with their distances.
type Points<S> = Few<(Vec3<S>, S), SHORT>;

/// A face: its corners, counterclockwise seen from outside, and its outward normal.
struct Face<S> {
    corners: Corners<S>,
    normal: Vec3<S>,
}

/// What a shape turns to a face: corners, and the radius of a ball about each.
struct Turned<S> {
    corners: Corners<S>,
    radius: S,
}

/// Which face of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    Box { axis: usize, upper: bool },
    Mesh(usize),
    Cap(bool),
}

/// Adds the corners of a common patch of two or more; false where there is none.
pub(super) fn touch<S: Real>(
    a: &Surface<'_, S>,
    b: &Surface<'_, S>,
    cores: [&Core<'_>; 2],
    normal: Vec3<f64>,
    margin: S,
    out: &mut Vec<Touch<S>>,
) -> bool {
    let faces = [across(cores[0], normal), across(cores[1], -normal)];
    let cosine = |k: usize| faces[k].map_or(0.0, |(_, cosine)| cosine);
    let reference = usize::from(cosine(1) > cosine(0));
    let Some((which, cosine)) = faces[reference] else { return false };
    if cosine < ACROSS {
        return false;
    }
    let outward = if reference == 0 { normal } else { -normal };
    let surfaces = [a, b];
    let other = 1 - reference;
    let face = face(surfaces[reference], which);
    let towards = (-outward, -face.normal);
    let Some(turned) = turned(surfaces[other], cores[other], towards) else { return false };
    let normal = if reference == 0 { face.normal } else { -face.normal };
    let found = corners(&face, turned, margin);
    if found.len() < 2 {
        return false;
    }
    for &(point, distance) in found.iter() {
        out.push(Touch::new(point, normal, distance));
    }
    true
}

/// The face of a shape whose normal is nearest to a direction, and their cosine.
fn across(core: &Core<'_>, outward: Vec3<f64>) -> Option<(Which, f64)> {
    let shape = core.surface.shape;
    let local = shape.axes.apply_transposed(outward);
    match core.surface.kind {
        GeomKind::Box => {
            let parts = local.to_array();
            let mut axis = 0;
            for k in 1..3 {
                if parts[k].abs() > parts[axis].abs() {
                    axis = k;
                }
            }
            Some((Which::Box { axis, upper: parts[axis] > 0.0 }, parts[axis].abs()))
        }
        GeomKind::Cylinder => Some((Which::Cap(local.z > 0.0), local.z.abs())),
        _ => {
            let hull = core.surface.hull?;
            let corner = hull.support(local, 0);
            let mut best: Option<(Which, f64)> = None;
            for &f in hull.faces_at(corner) {
                let normal = Vec3::from_array(hull.faces[f as usize].normal);
                let cosine = normal.dot(local);
                if best.is_none_or(|(_, most)| cosine > most) {
                    best = Some((Which::Mesh(f as usize), cosine));
                }
            }
            best
        }
    }
}

fn face<S: Real>(surface: &Surface<'_, S>, which: Which) -> Face<S> {
    let shape = surface.shape;
    match which {
        Which::Box { axis, upper } => {
            let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
            let base = if upper { 1 << axis } else { 0 };
            let ring = if upper { [u | v, v, 0, u] } else { [u | v, u, 0, v] };
            let corners = list(ring.iter().map(|bits| surface.corner(base | bits)));
            let axis = shape.axes.columns[axis];
            Face { corners, normal: if upper { axis } else { -axis } }
        }
        Which::Cap(upper) => {
            let [x, y, z] = shape.axes.columns;
            let (sign, end) = if upper { (1.0, shape.size.y) } else { (-1.0, -shape.size.y) };
            let corner = |k: usize| {
                let angle = std::f64::consts::TAU * k as f64 / ROUND as f64;
                let (sine, cosine) = (S::splat(angle).sin(), S::splat(angle).cos());
                let radial = x * cosine + y * sine.scale(sign);
                shape.position + z * end + radial * shape.size.x
            };
            Face { corners: list((0..ROUND).map(corner)), normal: z * S::splat(sign) }
        }
        Which::Mesh(f) => {
            let Some(hull) = surface.hull else {
                return Face { corners: list([]), normal: Vec3::zero() };
            };
            let face = &hull.faces[f];
            let corners = list(face.corners.iter().map(|&v| surface.corner(v as usize)));
            Face { corners, normal: shape.axes.apply(Vec3::splat(face.normal)) }
        }
    }
}

/// What a shape turns towards a direction, given without and with derivatives; none where that is only a point.
fn turned<S: Real>(
    surface: &Surface<'_, S>,
    core: &Core<'_>,
    (outward, direction): (Vec3<f64>, Vec3<S>),
) -> Option<Turned<S>> {
    let shape = surface.shape;
    let [_, _, axis] = shape.axes.columns;
    let along = core.surface.shape.axes.columns[2].dot(outward);
    match surface.kind {
        GeomKind::Capsule if along.abs() < TURNED => {
            let corners = list([surface.corner(0), surface.corner(1)]);
            Some(Turned { corners, radius: shape.size.x })
        }
        GeomKind::Cylinder if along.abs() < TURNED => {
            let (radial, _) = (direction - axis * axis.dot(direction)).normalize();
            let middle = shape.position + radial * shape.size.x;
            let half = axis * shape.size.y;
            Some(Turned { corners: list([middle - half, middle + half]), radius: S::zero() })
        }
        GeomKind::Cylinder if along.abs() < TURNED.cos() => None,
        GeomKind::Box | GeomKind::Mesh | GeomKind::Cylinder => {
            let (which, _) = across(core, outward)?;
            Some(Turned { corners: face(surface, which).corners, radius: S::zero() })
        }
        _ => None,
    }
}

/// The part of a polygon or a segment within the prism over a face.
fn clipped<S: Real>(face: &Face<S>, mut polygon: Corners<S>) -> Corners<S> {
    let zero = S::zero();
    let count = face.corners.len();
    for n in 0..count {
        let (from, to) = (face.corners[n], face.corners[(n + 1) % count]);
        let (inward, _) = face.normal.cross(to - from).normalize();
        let size = (to - from).norm();
        let beyond = |p: Vec3<S>| -inward.dot(p - from);
        let is_segment = polygon.len() == 2;
        let mut kept = list([]);
        for k in 0..polygon.len() {
            let p = polygon[k];
            let at = beyond(p);
            if at.le(zero) {
                kept.push(p);
            }
            if is_segment && k == 1 {
                continue;
            }
            let q = polygon[(k + 1) % polygon.len()];
            let next = beyond(q);
            if at.lt(zero) == next.lt(zero) || at.equals(next) {
                continue;
            }
            let mut place = at / (at - next);
            if (at - next).abs().lt(size.scale(ALONG)) {
                place = S::splat(place.value());
            }
            kept.push(p + (q - p) * place);
        }
        polygon = kept;
    }
    polygon
}

/// Points midway between the face and what is turned to it, with their distances.
fn corners<S: Real>(face: &Face<S>, turned: Turned<S>, margin: S) -> Points<S> {
    let mut found = points([]);
    let Some(&origin) = face.corners.first() else { return found };
    let size = face.corners.iter().map(|p| (*p - origin).norm().value()).fold(0.0, f64::max);
    for &p in clipped(face, turned.corners).iter() {
        let distance = (p - origin).dot(face.normal) - turned.radius;
        let point = p - face.normal * (turned.radius + distance.scale(0.5));
        let is_near = |(q, _): &(Vec3<S>, S)| (*q - point).norm().value() < SAME * size;
        if distance.le(margin) && !found.iter().any(is_near) {
            found.push((point, distance));
        }
    }
    at_most_four(found, face.normal)
}

/// Of the corners of a convex polygon, those of its largest quadrilateral.
pub(super) fn at_most_four<S: Real>(found: Points<S>, normal: Vec3<S>) -> Points<S> {
    if found.len() <= MOST {
        return found;
    }
    points(widest(&found, normal).into_iter().map(|k| found[k]))
}

/// A list of corners.
fn list<S: Real>(all: impl IntoIterator<Item = Vec3<S>>) -> Corners<S> {
    let mut out = Few::new(Vec3::zero());
    out.extend(all);
    out
}

/// A list of points with their distances.
pub(super) fn points<S: Real>(all: impl IntoIterator<Item = (Vec3<S>, S)>) -> Points<S> {
    let mut out = Few::new((Vec3::zero(), S::zero()));
    out.extend(all);
    out
}

/// The four corners of a convex polygon with the largest area, in its order; the deepest one takes the place of
/// the nearest of them where it is not among them.
fn widest<S: Real>(found: &[(Vec3<S>, S)], normal: Vec3<S>) -> [usize; MOST] {
    let count = found.len();
    let plain = |v: Vec3<S>| Vec3::new(v.x.value(), v.y.value(), v.z.value());
    let points = list(found.iter().map(|(p, _)| plain(*p)));
    let normal = plain(normal);
    let area = |i: usize, j: usize, k: usize| {
        let p = points[i];
        (points[j] - p).cross(points[k] - p).dot(normal).abs()
    };
    let mut best = ([0, 1, 2, 3], 0.0);
    for i in 0..count {
        for j in i + 2..count {
            // The farthest corner on either side of the diagonal.
            let farthest = |range: &mut dyn Iterator<Item = usize>| {
                let mut most = (i, 0.0);
                for k in range {
                    if area(i, j, k) > LARGER * most.1 {
                        most = (k, area(i, j, k));
                    }
                }
                most
            };
            let inner = farthest(&mut (i + 1..j));
            let outer = farthest(&mut (j + 1..count).chain(0..i));
            let is_quadrilateral = inner.1 > 0.0 && outer.1 > 0.0;
            if is_quadrilateral && inner.1 + outer.1 > LARGER * best.1 {
                best = ([i, inner.0, j, outer.0], inner.1 + outer.1);
            }
        }
    }
    let mut kept = best.0;
    let depth = |k: usize| found[k].1.value();
    let mut deepest = kept[0];
    for k in kept {
        if depth(k) < depth(deepest) {
            deepest = k;
        }
    }
    let step = DEEPER * (points[kept[0]] - points[kept[2]]).norm();
    for k in 0..count {
        if depth(k) < depth(deepest) - step {
            deepest = k;
        }
    }
    if !kept.contains(&deepest) {
        let mut nearest = 0;
        for k in 1..MOST {
            let to = |k: usize| (points[kept[k]] - points[deepest]).norm_squared();
            if to(k) < to(nearest) {
                nearest = k;
            }
        }
        kept[nearest] = deepest;
    }
    kept.sort_unstable();
    kept
}
