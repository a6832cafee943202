//! Sphere and cylinder: against the side, a cap or the rim.

use costate_num::Vec3;

use super::{Real, Shape, Touch, plane_sphere, sphere_sphere};

pub(super) fn touch<S: Real>(a: &Shape<S>, b: &Shape<S>, margin: S, out: &mut Vec<Touch<S>>) {
    let (radius, half) = (b.size.x, b.size.y);
    let axis = b.axes.columns[2];
    let offset = a.position - b.position;
    let x = axis.dot(offset);
    let on_axis = axis * x;
    let radial = offset - on_axis;
    let squared = radial.norm_squared();
    let mut side = x.abs().lt(half);
    let mut cap = squared.lt(radius * radius);
    if side && cap {
        // The centre is inside: out by the nearer surface.
        cap = (half - x.abs()).lt(radius - squared.sqrt());
        side = !cap;
    }
    let end = if x.gt(S::zero()) { half } else { -half };
    let found = if side {
        sphere_sphere::at(a, a.position, a.size.x, b, b.position + on_axis, radius, margin)
    } else if cap {
        let normal = if x.gt(S::zero()) { axis } else { -axis };
        let plane = b.position + axis * end;
        let found = plane_sphere::at(plane, normal, a.position, a.size.x, margin);
        found.map(|touch| Touch { normal: -touch.normal, ..touch })
    } else {
        let rim: Vec3<S> = radial * (radius / squared.sqrt()) + axis * end + b.position;
        sphere_sphere::at(a, a.position, a.size.x, b, rim, S::zero(), margin)
    };
    out.extend(found);
}
