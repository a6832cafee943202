//! Hinges over the interior edges of a triangle mesh.

use std::collections::HashMap;

/// For every edge that two triangles share: the vertex opposite in the first, the one opposite
/// in the second, and the edge as the first triangle runs along it.
pub(super) fn interior_hinges(triangles: &[[u32; 3]]) -> Vec<[u32; 4]> {
    let mut open: HashMap<[u32; 2], (u32, [u32; 2], usize)> = HashMap::new();
    let mut hinges: Vec<(usize, [u32; 4])> = Vec::new();
    let mut order = 0;
    for &[a, b, c] in triangles {
        for (from, to, opposite) in [(a, b, c), (b, c, a), (c, a, b)] {
            let key = [from.min(to), from.max(to)];
            if let Some((first, edge, at)) = open.remove(&key) {
                hinges.push((at, [first, opposite, edge[0], edge[1]]));
            } else {
                open.insert(key, (opposite, [from, to], order));
                order += 1;
            }
        }
    }
    hinges.sort_by_key(|&(at, _)| at);
    hinges.into_iter().map(|(_, hinge)| hinge).collect()
}

/// Signed angle between the two triangles of a hinge, rad: zero when flat, as warp.sim signs it.
pub(super) fn angle(x: [[f64; 3]; 4]) -> f64 {
    use costate_num::{Scalar, Vec3};
    let [x1, x2, x3, x4] = x.map(Vec3::<f64>::from_array);
    let n1 = (x3 - x1).cross(x4 - x1);
    let n2 = (x4 - x2).cross(x3 - x2);
    let (u, _) = (x4 - x3).normalize();
    // atan2 stays accurate for nearly flat hinges, where acos does not.
    let sine = n2.cross(n1).dot(u);
    let cosine = n1.dot(n2);
    Scalar::atan2(sine, cosine)
}
