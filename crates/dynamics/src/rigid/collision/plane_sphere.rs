//! Plane and sphere: one point.

use costate_num::Vec3;

use super::{Real, Shape, Touch};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    out.extend(at(a.position, a.axes.columns[2], b.position, b.size.x, margin));
}

/// The contact of a sphere with the half space below `point`, whose normal is `normal`.
pub(super) fn at<S: Real>(
    point: Vec3<S>,
    normal: Vec3<S>,
    center: Vec3<S>,
    radius: S,
    margin: S,
) -> Option<Touch<S>> {
    let height = (center - point).dot(normal);
    if height.gt(margin + radius) {
        return None;
    }
    let distance = height - radius;
    Some(Touch::new(center - normal * (radius + distance.scale(0.5)), normal, distance))
}
