//! Plane and capsule: a point under each end that is near enough; the tangent follows the capsule.

use super::{Real, Shape, Touch, plane_sphere};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let axis = b.axes.columns[2];
    let normal = a.axes.columns[2];
    for end in [b.size.y, -b.size.y] {
        let found = plane_sphere::at(a.position, normal, b.position + axis * end, b.size.x, margin);
        out.extend(found.map(|touch| Touch { along: axis, ..touch }));
    }
}
