//! Any two convex shapes: nearest or deepest points, and, where a face is against something flat, the points of
//! their common patch.

use costate_num::Vec3;

use super::gjk::{Proximity, proximity};
use super::surface::{Core, Surface};
use super::witness::{Found, Witness};
use super::{Real, Shape, Touch, epa, patch};
use crate::rigid::tree::GeomKind;

pub(super) fn touch<S: Real>(
    a: &Surface<'_, S>,
    b: &Surface<'_, S>,
    margin: S,
    out: &mut Vec<Touch<S>>,
) {
    let plain = [a.shape.values(), b.shape.values()];
    let cores = [core(a, &plain[0]), core(b, &plain[1])];
    let cores = [&cores[0], &cores[1]];
    let Some(found) = Pair::find(cores, margin.value()) else { return };
    if !patch::touch(a, b, cores, found.normal(), margin, out) {
        out.push(found.touch(a, b, &plain));
    }
}

/// The contact at the nearest or deepest points.
pub(super) fn nearest<S: Real>(
    a: &Surface<'_, S>,
    b: &Surface<'_, S>,
    margin: S,
) -> Option<Touch<S>> {
    let plain = [a.shape.values(), b.shape.values()];
    let cores = [core(a, &plain[0]), core(b, &plain[1])];
    let found = Pair::find([&cores[0], &cores[1]], margin.value())?;
    Some(found.touch(a, b, &plain))
}

/// What was found between two shapes, and the features that it is between.
struct Pair {
    found: Found,
    witness: Option<Witness>,
}

impl Pair {
    fn find(cores: [&Core<'_>; 2], margin: f64) -> Option<Self> {
        let found = search(cores, margin)?;
        let witness = Witness::at(cores, &found);
        let distance = witness.as_ref().map_or(found.distance, Witness::distance);
        (distance <= margin).then_some(Self { found, witness })
    }

    fn normal(&self) -> Vec3<f64> {
        self.witness.as_ref().map_or(self.found.normal, Witness::normal)
    }

    fn touch<S: Real>(
        &self,
        a: &Surface<'_, S>,
        b: &Surface<'_, S>,
        plain: &[Shape<f64>; 2],
    ) -> Touch<S> {
        match &self.witness {
            Some(witness) => {
                let nearest = witness.nearest([a, b], [radius(a), radius(b)]);
                Touch::new(nearest.middle, nearest.normal, nearest.distance)
            }
            None => held(a, b, plain, &self.found),
        }
    }
}

fn core<'a, S: Real>(surface: &Surface<'a, S>, plain: &'a Shape<f64>) -> Core<'a> {
    let Surface { kind, hull, field, corners, .. } = *surface;
    Core::new(Surface { kind, shape: plain, hull, field, corners })
}

/// Radius of the ball about the core.
fn radius<S: Real>(surface: &Surface<'_, S>) -> S {
    match surface.kind {
        GeomKind::Sphere | GeomKind::Capsule => surface.shape.size.x,
        _ => S::zero(),
    }
}

/// The nearest points, or the deepest; none beyond the margin.
fn search(cores: [&Core<'_>; 2], margin: f64) -> Option<Found> {
    let radii = cores[0].radius + cores[1].radius;
    let simplex = match proximity(cores, margin + radii) {
        Proximity::Far => return None,
        Proximity::Apart(simplex) => {
            let points = simplex.witnesses();
            let (normal, length) = (points[1] - points[0]).normalize();
            return Some(Found { normal, distance: length - radii, points, simplex });
        }
        Proximity::Overlap(simplex) => simplex,
    };
    match epa::depth(cores, &simplex) {
        Some(found) => {
            let (normal, simplex) = (found.normal, found.simplex);
            let points = simplex.witnesses();
            Some(Found { normal, distance: -found.depth - radii, points, simplex })
        }
        None => {
            // The cores touch in a plane: across it.
            let [p, q, r] = [0, 1, 2].map(|k| simplex.corners[k].point);
            let (normal, length) = (q - p).cross(r - p).normalize();
            let normal = if length > 0.0 { normal } else { Vec3::new(1.0, 0.0, 0.0) };
            let points = simplex.witnesses();
            Some(Found { normal, distance: -radii, points, simplex })
        }
    }
}

/// A contact whose normal is held and whose points move with the two geoms.
fn held<S: Real>(
    a: &Surface<'_, S>,
    b: &Surface<'_, S>,
    plain: &[Shape<f64>; 2],
    found: &Found,
) -> Touch<S> {
    let moved = |surface: &Surface<'_, S>, plain: &Shape<f64>, point: Vec3<f64>| {
        let local = plain.axes.apply_transposed(point - plain.position);
        surface.shape.position + surface.shape.axes.apply(Vec3::splat(local.to_array()))
    };
    let normal = Vec3::splat(found.normal.to_array());
    let first = moved(a, &plain[0], found.points[0]) + normal * radius(a);
    let second = moved(b, &plain[1], found.points[1]) - normal * radius(b);
    let distance = (second - first).dot(normal);
    Touch::new((first + second) * S::splat(0.5), normal, distance)
}
