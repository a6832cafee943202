//! Plane and cylinder: the lowest point of the lower rim, the one of the upper rim on the same side, and
//! two more of the lower rim that make a triangle with the first.

use super::{Real, SMALLEST, Shape, Touch};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let normal = a.axes.columns[2];
    let (radius, half) = (b.size.x, b.size.y);
    // The axis that points towards the plane.
    let up = b.axes.columns[2];
    let axis = if normal.dot(up).gt(S::zero()) { -up } else { up };
    let along = normal.dot(axis);
    let height = (b.position - a.position).dot(normal);
    let (unit, length) = (axis * along - normal).normalize();
    let flat = length.lt(S::splat(SMALLEST));
    let rim = (if flat { b.axes.columns[0] } else { unit }) * radius;
    let rim_height = rim.dot(normal);
    let (axis, along) = (axis * half, along * half);
    let mut add = |offset: costate_num::Vec3<S>, distance: S| {
        let position = b.position + offset - normal * distance.scale(0.5);
        out.push(Touch::new(position, normal, distance));
    };
    let lowest = height + along + rim_height;
    if lowest.gt(margin) {
        return;
    }
    add(rim + axis, lowest);
    let other = height - along + rim_height;
    if other.le(margin) {
        add(rim - axis, other);
    }
    let third = height + along - rim_height.scale(0.5);
    if third.le(margin) {
        let (side, _) = rim.cross(axis).normalize();
        let side = side * radius.scale(0.75f64.sqrt());
        add(axis - rim * S::splat(0.5) + side, third);
        add(axis - rim * S::splat(0.5) - side, third);
    }
}
