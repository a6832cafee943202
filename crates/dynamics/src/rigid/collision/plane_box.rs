//! Plane and box: the corners that are near enough and on the plane's side of the centre, four at most.

use costate_num::Vec3;

use super::{Real, Shape, Touch};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let normal = a.axes.columns[2];
    let height = (b.position - a.position).dot(normal);
    let mut found = 0;
    for i in 0..8 {
        let side = |bit: usize, x: S| if i & bit != 0 { x } else { -x };
        let corner =
            b.axes.apply(Vec3::new(side(1, b.size.x), side(2, b.size.y), side(4, b.size.z)));
        let below = normal.dot(corner);
        let distance = height + below;
        if distance.gt(margin) || below.gt(S::zero()) {
            continue;
        }
        let position = b.position + corner - normal * distance.scale(0.5);
        out.push(Touch::new(position, normal, distance));
        found += 1;
        if found == 4 {
            return;
        }
    }
}
