//! Sphere and box: the box's point nearest to the centre; from inside, the nearest face.

use costate_num::Vec3;

use super::{Real, SMALLEST, Shape, Touch, clamp};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let radius = a.size.x;
    let center = b.axes.apply_transposed(a.position - b.position);
    let size = b.size;
    let nearest = Vec3::new(
        clamp(center.x, -size.x, size.x),
        clamp(center.y, -size.y, size.y),
        clamp(center.z, -size.z, size.z),
    );
    let (direction, length) = (nearest - center).normalize();
    if (length - radius).gt(margin) {
        return;
    }
    let (position, normal, distance) = if length.le(S::splat(SMALLEST)) {
        let (outward, depth) = nearest_face(center, size);
        let position = center - outward * (radius - depth).scale(0.5);
        (position, -outward, -depth - radius)
    } else {
        let surface = center + direction * radius;
        ((nearest + surface) * S::splat(0.5), direction, length - radius)
    };
    out.push(Touch::new(b.position + b.axes.apply(position), b.axes.apply(normal), distance));
}

/// The outward normal of the face nearest to a point inside, and how far it is.
fn nearest_face<S: Real>(point: Vec3<S>, size: Vec3<S>) -> (Vec3<S>, S) {
    let (p, s) = (point.to_array(), size.to_array());
    let mut best = (Vec3::splat([-1.0, 0.0, 0.0]), p[0] + s[0]);
    for i in 0..3 {
        for sign in [-1.0, 1.0] {
            let depth = s[i] - p[i].scale(sign);
            if depth.lt(best.1) {
                let mut outward = [0.0; 3];
                outward[i] = sign;
                best = (Vec3::splat(outward), depth);
            }
        }
    }
    best
}
