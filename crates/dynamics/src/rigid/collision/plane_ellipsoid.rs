//! Plane and ellipsoid: the point of the ellipsoid that is lowest.

use super::{Real, Shape, Touch};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let normal = a.axes.columns[2];
    // The support point in direction −n is −D² n / |D n|, D the semi-axes, in the ellipsoid's axes.
    let scaled = b.axes.apply_transposed(normal).component_mul(b.size);
    let (unit, _) = scaled.normalize();
    let lowest = b.position - b.axes.apply(unit.component_mul(b.size));
    let distance = (lowest - a.position).dot(normal);
    if distance.gt(margin) {
        return;
    }
    out.push(Touch::new(lowest - normal * distance.scale(0.5), normal, distance));
}
