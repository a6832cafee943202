//! Touch sensors: the normal forces of contacts inside a site's shape.
//!
//! Each is a sum of forces of rows. By the implicit function theorem its adjoint is one more seed of the
//! constraint stage's multipliers, and its tangent follows from that of the rows' forces.

use costate_num::Vec3;

use super::constants::Layout;
use super::constraint::{ConstraintStage, Contact, Source};
use super::forward::Dynamics;
use super::tree::{GeomKind, SensorKind, Tree};

/// Visits the rows whose forces a touch sensor adds up; none for sensors of anything else.
pub(crate) fn visit_rows(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    d: &Dynamics<f64>,
    stage: &ConstraintStage,
    kind: SensorKind,
    mut visit: impl FnMut(usize),
) {
    let SensorKind::Touch(site) = kind else { return };
    let constraints = &stage.constraints;
    for item in &constraints.items {
        let Source::Contact(i) = item.source else { continue };
        let contact = &constraints.contacts[i];
        if counts(tree, layout, c, d, site, contact) {
            // The normal force: the first row of a cone, the sum of a pyramid's edges.
            let normal = tree.options.elliptic || contact.parameters.dim == 1;
            let count = if normal { 1 } else { item.count };
            (item.row..item.row + count).for_each(&mut visit);
        }
    }
}

/// Whether a touch sensor counts a contact: one of its site's body whose normal, from the contact's point out
/// of that body's surface, meets the site's shape.
fn counts(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    d: &Dynamics<f64>,
    site: usize,
    contact: &Contact,
) -> bool {
    let body = tree.sites[site].body;
    let [first, second] = contact.candidate.geoms.map(|g| tree.geoms[g].body);
    let direction = match (first == body, second == body) {
        (_, true) => -contact.touch.normal,
        (true, false) => contact.touch.normal,
        (false, false) => return false,
    };
    let pose = d.kinematics.site(tree, layout, c, site);
    let back = pose.orientation.conjugate();
    let start = back.rotate(contact.touch.position - pose.position);
    let shape = &tree.sites[site];
    meets(shape.kind, Vec3::from_array(shape.size), start, back.rotate(direction))
}

/// Whether a site's shape holds a point of the world.
pub(crate) fn holds(
    tree: &Tree,
    layout: &Layout,
    c: &[f64],
    d: &Dynamics<f64>,
    site: usize,
    point: Vec3<f64>,
) -> bool {
    let pose = d.kinematics.site(tree, layout, c, site);
    let p = pose.orientation.conjugate().rotate(point - pose.position);
    let shape = &tree.sites[site];
    let size = Vec3::from_array(shape.size);
    let aside = p.x * p.x + p.y * p.y;
    let radius = size.x * size.x;
    match shape.kind {
        GeomKind::Box => p.x.abs() <= size.x && p.y.abs() <= size.y && p.z.abs() <= size.z,
        GeomKind::Cylinder => aside <= radius && p.z.abs() <= size.y,
        GeomKind::Capsule => {
            let beyond = (p.z.abs() - size.y).max(0.0);
            aside + beyond * beyond <= radius
        }
        GeomKind::Ellipsoid => {
            let [x, y, z] = [p.x / size.x, p.y / size.y, p.z / size.z];
            x * x + y * y + z * z <= 1.0
        }
        _ => p.norm_squared() <= radius,
    }
}

/// Whether a ray meets a shape about the origin.
fn meets(kind: GeomKind, size: Vec3<f64>, start: Vec3<f64>, direction: Vec3<f64>) -> bool {
    let range = match kind {
        GeomKind::Ellipsoid => {
            let scaled = |v: Vec3<f64>| Vec3::new(v.x / size.x, v.y / size.y, v.z / size.z);
            in_ball(scaled(start), scaled(direction), 1.0)
        }
        GeomKind::Box => {
            let mut range = EVERYWHERE;
            for k in 0..3 {
                let [p, v, s] = [start, direction, size].map(|x| x.to_array()[k]);
                range = common(range, in_slab(p, v, s));
            }
            range
        }
        GeomKind::Cylinder => in_cylinder(start, direction, size),
        GeomKind::Capsule => {
            let end = |z: f64| in_ball(start - Vec3::new(0.0, 0.0, z), direction, size.x);
            let parts = [in_cylinder(start, direction, size), end(size.y), end(-size.y)];
            return parts.into_iter().any(is_ahead);
        }
        _ => in_ball(start, direction, size.x),
    };
    is_ahead(range)
}

/// A range of a ray's parameter; empty where it ends before it starts.
type Range = [f64; 2];
const EVERYWHERE: Range = [f64::NEG_INFINITY, f64::INFINITY];
const NOWHERE: Range = [f64::INFINITY, f64::NEG_INFINITY];

fn is_ahead([from, to]: Range) -> bool {
    from <= to && to >= 0.0
}

fn common(a: Range, b: Range) -> Range {
    [a[0].max(b[0]), a[1].min(b[1])]
}

fn in_slab(start: f64, direction: f64, half: f64) -> Range {
    if direction == 0.0 {
        return if start.abs() <= half { EVERYWHERE } else { NOWHERE };
    }
    let (a, b) = ((-half - start) / direction, (half - start) / direction);
    [a.min(b), a.max(b)]
}

/// Where a t² + 2 b t + c ≤ 0.
fn below(a: f64, b: f64, c: f64) -> Range {
    if a == 0.0 {
        return if c <= 0.0 { EVERYWHERE } else { NOWHERE };
    }
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return NOWHERE;
    }
    let root = discriminant.sqrt();
    [(-b - root) / a, (-b + root) / a]
}

fn in_ball(start: Vec3<f64>, direction: Vec3<f64>, radius: f64) -> Range {
    let c = start.norm_squared() - radius * radius;
    below(direction.norm_squared(), start.dot(direction), c)
}

fn in_cylinder(start: Vec3<f64>, direction: Vec3<f64>, size: Vec3<f64>) -> Range {
    let flat = |v: Vec3<f64>| Vec3::new(v.x, v.y, 0.0);
    let (p, v) = (flat(start), flat(direction));
    let side = below(v.norm_squared(), p.dot(v), p.norm_squared() - size.x * size.x);
    common(side, in_slab(start.z, direction.z, size.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_meet_shapes_ahead_of_them() {
        let size = Vec3::new(0.5, 1.0, 0.25);
        let up = Vec3::new(0.0, 0.0, 1.0);
        let meets_at = |kind, x: f64, z: f64| meets(kind, size, Vec3::new(x, 0.0, z), up);
        for kind in [
            GeomKind::Sphere,
            GeomKind::Capsule,
            GeomKind::Ellipsoid,
            GeomKind::Cylinder,
            GeomKind::Box,
        ] {
            assert!(meets_at(kind, 0.0, 0.0), "{kind:?}: inside");
            assert!(meets_at(kind, 0.1, -5.0), "{kind:?}: ahead");
            assert!(!meets_at(kind, 0.1, 5.0), "{kind:?}: behind");
            assert!(!meets_at(kind, 0.6, -5.0), "{kind:?}: beside");
        }
        // The round end of a capsule is beyond its cylinder.
        assert!(meets_at(GeomKind::Capsule, 0.0, 1.4) && !meets_at(GeomKind::Cylinder, 0.0, 1.4));
        assert!(meets_at(GeomKind::Box, 0.49, 0.0) && !meets_at(GeomKind::Ellipsoid, 0.49, 0.2));
    }
}
