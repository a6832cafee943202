//! Pairs that are searched: against the distance that any direction bounds, and against MuJoCo, whose search is
//! less sharp.

use costate_dynamics::rigid::GeomKind;
use costate_dynamics::rigid::collision::Touch;
use costate_num::Vec3;

use crate::cases::{Case, all};

/// How far the geom is along a direction.
fn reach(case: &Case, k: usize, direction: Vec3<f64>) -> f64 {
    let shape = &case.shapes[k];
    let local = shape.axes.apply_transposed(direction);
    let size = shape.size;
    let own = match case.kinds[k] {
        GeomKind::Sphere => size.x,
        GeomKind::Capsule => size.x + size.y * local.z.abs(),
        GeomKind::Ellipsoid => local.component_mul(size).norm(),
        GeomKind::Cylinder => {
            size.x * (local.x * local.x + local.y * local.y).sqrt() + size.y * local.z.abs()
        }
        GeomKind::Box => size.x * local.x.abs() + size.y * local.y.abs() + size.z * local.z.abs(),
        _ => {
            let hull = case.hulls[k].as_ref().unwrap();
            let along = hull.vertices.iter().map(|v| Vec3::from_array(*v).dot(local));
            along.fold(f64::NEG_INFINITY, f64::max)
        }
    };
    shape.position.dot(direction) + own
}

/// How far apart the geoms are along a direction: at most their distance, and equal to it along the best one.
fn separation(case: &Case, direction: Vec3<f64>) -> f64 {
    -reach(case, 1, -direction) - reach(case, 0, direction)
}

/// A separation better than a direction's: by steps to and fro that shrink.
fn best_near(case: &Case, start: Vec3<f64>) -> f64 {
    let (mut best, mut at) = (separation(case, start), start);
    let mut width = 0.3;
    for _ in 0..60 {
        let mut better = false;
        for n in 0..26 {
            let step = |k: u32| f64::from((n + 14) % 27 / 3i32.pow(k) % 3 - 1) * width;
            let next = (at + Vec3::new(step(0), step(1), step(2))).normalize().0;
            let value = separation(case, next);
            if value > best {
                (best, at, better) = (value, next, true);
            }
        }
        if !better {
            width *= 0.4;
        }
    }
    best
}

/// The largest separation found along many directions; the largest of all is the distance.
fn exact(case: &Case, hint: Option<Vec3<f64>>) -> f64 {
    let mut starts: Vec<Vec3<f64>> = (0..400)
        .map(|n| {
            // Points of a spiral over the sphere.
            let z = 1.0 - (2.0 * f64::from(n) + 1.0) / 400.0;
            let angle = 2.399_963 * f64::from(n);
            let r = (1.0 - z * z).sqrt();
            Vec3::new(r * angle.cos(), r * angle.sin(), z)
        })
        .collect();
    starts.sort_by(|a, b| separation(case, *b).total_cmp(&separation(case, *a)));
    starts.truncate(3);
    starts.extend(hint);
    starts.into_iter().map(|d| best_near(case, d)).fold(f64::NEG_INFINITY, f64::max)
}

fn deepest(touches: &[Touch<f64>]) -> Option<&Touch<f64>> {
    touches.iter().min_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// Distances are exact. Where both find one point, MuJoCo's is the same or, deep in round shapes, less deep:
/// its last polytope is inside of them. It gives several points of a patch in fewer places.
fn compare(pair: &str, failures: &mut Vec<String>) {
    let (mut cases, mut as_many) = (0, 0);
    for case in all(pair) {
        let found = case.find(&case.shapes);
        let exact = exact(&case, deepest(&found).map(|t| t.normal));
        let Some(own) = deepest(&found) else {
            if exact < case.margin - 1e-6 {
                failures.push(format!("{}: none at {exact}", case.name));
            }
            continue;
        };
        cases += 1;
        as_many += usize::from(found.len() == case.contacts.len());
        assert!((own.normal.norm() - 1.0).abs() < 1e-12, "{}", case.name);
        // A patch on the polygon that stands for a cylinder's end may leave out the lowest point of the rim.
        let patch = found.len() > 1 && case.kinds.contains(&GeomKind::Cylinder);
        let allowed = if patch { 2e-3 } else { 1e-6 };
        let recorded = deepest(&case.contacts).map(|t| t.distance);
        let agrees = found.len() > 1
            || case.contacts.len() > 1
            || recorded.is_none_or(|d| d > own.distance - 1e-5 && d < own.distance + 5e-3);
        if (own.distance - exact).abs() > allowed || !agrees {
            let by_normal = separation(&case, own.normal);
            failures.push(format!(
                "{}: {} ({by_normal} along its normal) for {exact}; {} contacts, recorded {:?}",
                case.name,
                own.distance,
                found.len(),
                case.contacts.iter().map(|c| c.distance).collect::<Vec<_>>(),
            ));
        }
    }
    println!("{pair}: as many contacts in {as_many} of {cases}");
}

#[test]
fn distances_are_exact() {
    let mut failures = Vec::new();
    for pair in [
        "sphere_ellipsoid",
        "sphere_mesh",
        "capsule_ellipsoid",
        "capsule_cylinder",
        "capsule_mesh",
        "ellipsoid_ellipsoid",
        "ellipsoid_cylinder",
        "ellipsoid_box",
        "ellipsoid_mesh",
        "cylinder_cylinder",
        "cylinder_box",
        "cylinder_mesh",
        "box_mesh",
        "mesh_mesh",
    ] {
        compare(pair, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The lowest corner is MuJoCo's, and so are the others where it finds as many and they do not tie.
#[test]
fn meshes_on_planes() {
    let (mut cases, mut as_many) = (0, 0);
    for case in all("plane_mesh") {
        let found = case.find(&case.shapes);
        assert_eq!(found.is_empty(), case.contacts.is_empty(), "{}", case.name);
        let (Some(own), Some(recorded)) = (found.first(), case.contacts.first()) else { continue };
        cases += 1;
        as_many += usize::from(found.len() == case.contacts.len());
        // Coordinates of meshes are of single precision there.
        assert!((own.distance - recorded.distance).abs() < 1e-7, "{}", case.name);
        assert!(found.iter().all(|t| t.distance <= case.margin && t.normal == own.normal));
        if !case.aligned {
            assert!((own.position - recorded.position).norm() < 1e-6, "{}", case.name);
        }
    }
    println!("plane_mesh: as many contacts in {as_many} of {cases}");
    assert!(as_many * 10 > cases * 8, "{as_many} of {cases}");
}

/// Contacts with the prisms of height fields: as many as MuJoCo finds, and as deep; in polytopes without a margin
/// its search ends early, so that it finds less.
#[test]
fn shapes_on_height_fields() {
    let (mut contacts, mut as_deep) = (0, 0);
    for pair in ["hfield_sphere", "hfield_capsule", "hfield_box"] {
        for case in all(pair) {
            let sorted = |touches: &[Touch<f64>]| {
                let mut all: Vec<f64> = touches.iter().map(|t| t.distance).collect();
                all.sort_by(f64::total_cmp);
                all
            };
            let found = case.find(&case.shapes);
            let (own, recorded) = (sorted(&found), sorted(&case.contacts));
            assert_eq!(own.len(), recorded.len(), "{}", case.name);
            for (own, recorded) in own.iter().zip(&recorded) {
                assert!(*own < recorded + 1e-5, "{}: {own} for {recorded}", case.name);
                contacts += 1;
                as_deep += usize::from((own - recorded).abs() < 1e-5);
            }
            let is_near = |a: &Touch<f64>, b: &Touch<f64>| {
                (a.position - b.position).norm() < 2e-3 && (a.distance - b.distance).abs() < 1e-5
            };
            if pair == "hfield_sphere" {
                let is_found = |b: &Touch<f64>| found.iter().any(|a| is_near(a, b));
                assert!(case.contacts.iter().all(is_found), "{}", case.name);
            }
        }
    }
    println!("height fields: {as_deep} of {contacts} as deep");
    assert!(as_deep * 10 > contacts * 7, "{as_deep} of {contacts}");
}
