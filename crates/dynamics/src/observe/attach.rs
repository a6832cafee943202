//! Finding the element that a point of the rest shape belongs to.

use costate_num::{Mat3, Vec3};

/// A place on a triangle: barycentric coordinates and distance from what was asked for.
pub(super) struct Nearest {
    pub triangle: [u32; 3],
    pub weights: [f64; 3],
    pub distance: f64,
}

fn at(rest: &[f64], vertex: u32) -> Vec3<f64> {
    let i = 3 * vertex as usize;
    Vec3::new(rest[i], rest[i + 1], rest[i + 2])
}

/// Barycentric coordinates of the point of a triangle that is nearest to `p` (Ericson,
/// Real-Time Collision Detection, 2005, section 5.1.5).
fn nearest_on_triangle([a, b, c]: [Vec3<f64>; 3], p: Vec3<f64>) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// The point of a surface that is nearest to `p`; the first of several at one distance.
pub(super) fn nearest(surface: &[[u32; 3]], rest: &[f64], p: [f64; 3]) -> Option<Nearest> {
    let p = Vec3::from_array(p);
    let mut best: Option<Nearest> = None;
    for &triangle in surface {
        let corners = triangle.map(|v| at(rest, v));
        let weights = nearest_on_triangle(corners, p);
        let foot = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
        let distance = (p - foot).norm();
        if distance.is_finite() && best.as_ref().is_none_or(|b| distance < b.distance) {
            best = Some(Nearest { triangle, weights, distance });
        }
    }
    best
}

/// The tetrahedron that `p` lies in, or comes nearest to lying in, with its barycentric
/// coordinates; the smallest of them is negative outside.
pub(super) fn containing(
    tetrahedra: &[[u32; 4]],
    rest: &[f64],
    p: [f64; 3],
) -> Option<([u32; 4], [f64; 4])> {
    let p = Vec3::from_array(p);
    let smallest = |w: &[f64; 4]| w.iter().copied().fold(f64::INFINITY, f64::min);
    let mut best: Option<([u32; 4], [f64; 4])> = None;
    for &tetrahedron in tetrahedra {
        let [a, b, c, d] = tetrahedron.map(|v| at(rest, v));
        let [u, v, w] = Mat3::from_columns(b - a, c - a, d - a).inverse().apply(p - a).to_array();
        let weights = [1.0 - u - v - w, u, v, w];
        let finite = weights.iter().all(|w| w.is_finite());
        if finite && best.is_none_or(|(_, other)| smallest(&weights) > smallest(&other)) {
            best = Some((tetrahedron, weights));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_points_beat_a_fine_sampling() {
        let corners = [[0.1, 0.0, 0.2], [1.0, 0.3, -0.1], [0.2, 0.9, 0.4]].map(Vec3::from_array);
        for i in 0..200 {
            let angle = f64::from(i);
            let p = Vec3::new(angle.sin() * 1.5, (2.3 * angle).cos(), (0.7 * angle).sin());
            let w = nearest_on_triangle(corners, p);
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!(w.iter().all(|w| *w >= 0.0));
            let foot = |w: [f64; 3]| corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
            let found = (p - foot(w)).norm();
            for a in 0..=30 {
                for b in 0..=30 - a {
                    let (a, b) = (f64::from(a) / 30.0, f64::from(b) / 30.0);
                    assert!((p - foot([a, b, 1.0 - a - b])).norm() >= found - 1e-14);
                }
            }
        }
    }
}
