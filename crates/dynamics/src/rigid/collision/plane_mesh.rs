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
    let height = |v: u32| {
        let corner = b.corner(v as usize);
        let distance = (corner - a.position).dot(normal);
        (corner - normal * distance.scale(0.5), distance)
    };
    let found = patch::at_most_four(patch::points(face.corners.iter().map(|&v| height(v))), normal);
    let mut first = 0;
    for k in 1..found.len() {
        if found[k].1.lt(found[first].1) {
            first = k;
        }
    }
    for k in 0..found.len() {
        let (point, distance) = found[(first + k) % found.len()];
        if distance.le(margin) {
            out.push(Touch::new(point, normal, distance));
        }
    }
}
