//! Plane and convex mesh: of the face that is turned to the plane, the four corners that span most, the lowest one
//! among them, as far as they are near enough.

use super::{Real, Shape, Surface, Touch, patch};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Surface<'_, S>, margin: S, out: &mut Vec<Touch<S>>) {
    let Some(hull) = b.hull else { return };
    let normal = a.axes.columns[2];
    let plain = b.shape.values();
    let down = plain.axes.apply_transposed(-a.values().axes.columns[2]);
    let lowest = hull.support(down, 0);
    let mut best = None;
    let mut most = f64::NEG_INFINITY;
    for &f in hull.faces_at(lowest) {
        let face = &hull.faces[f as usize];
        let cosine = down.dot(costate_num::Vec3::from_array(face.normal));
        if cosine > most {
            (best, most) = (Some(face), cosine);
        }
    }
    let Some(face) = best else { return };
    let ring = &face.corners;
    let first = ring.iter().position(|&v| v as usize == lowest);
    let mut found = Vec::with_capacity(ring.len() + 1);
    let mut add = |v: usize| {
        let corner = b.corner(v);
        let distance = (corner - a.position).dot(normal);
        found.push((corner - normal * distance.scale(0.5), distance));
    };
    if first.is_none() {
        // It lies in the face and is no corner of it.
        add(lowest);
    }
    for k in 0..ring.len() {
        add(ring[(first.unwrap_or(0) + k) % ring.len()] as usize);
    }
    for (point, distance) in patch::at_most_four(found, normal) {
        if distance.le(margin) {
            out.push(Touch::new(point, normal, distance));
        }
    }
}
