//! Two spheres: one point. Where the centres coincide the normal is across the two z axes.

use costate_num::Vec3;

use super::{Real, SMALLEST, Shape, Touch};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    out.extend(at(a, a.position, a.size.x, b, b.position, b.size.x, margin));
}

/// The contact of spheres of the given centres and radii in two geoms.
pub(super) fn at<S: Real>(
    a: &Shape<S>,
    first: Vec3<S>,
    first_radius: S,
    b: &Shape<S>,
    second: Vec3<S>,
    second_radius: S,
    margin: S,
) -> Option<Touch<S>> {
    let between = second - first;
    let reach = margin + first_radius + second_radius;
    if between.norm_squared().gt(reach * reach) {
        return None;
    }
    let (unit, length) = between.normalize();
    let normal = if length.lt(S::splat(SMALLEST)) {
        across(a.axes.columns[2], b.axes.columns[2])
    } else {
        unit
    };
    let distance = length - first_radius - second_radius;
    Some(Touch::new(first + normal * (first_radius + distance.scale(0.5)), normal, distance))
}

/// A unit vector across two others, x where they are parallel.
fn across<S: Real>(a: Vec3<S>, b: Vec3<S>) -> Vec3<S> {
    let (unit, length) = a.cross(b).normalize();
    if length.lt(S::splat(SMALLEST)) { Vec3::splat([1.0, 0.0, 0.0]) } else { unit }
}
