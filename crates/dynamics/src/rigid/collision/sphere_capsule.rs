//! Sphere and capsule: the sphere about the capsule's nearest axis point.

use super::{Real, Shape, Touch, clamp, sphere_sphere};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let axis = b.axes.columns[2];
    let x = clamp(axis.dot(a.position - b.position), -b.size.y, b.size.y);
    let nearest = b.position + axis * x;
    out.extend(sphere_sphere::at(a, a.position, a.size.x, b, nearest, b.size.x, margin));
}
