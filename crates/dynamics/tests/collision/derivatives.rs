//! Derivatives of contacts by the places and sizes of the geoms.

use costate_dynamics::rigid::collision::{Shape, Touch};
use costate_num::{Dual, Mat3, Quat, Vec3};

use crate::cases::{Case, all};

/// A direction in which both geoms move: turn, shift, change of size.
type Direction = [[Vec3<f64>; 3]; 2];

/// Numbers between −1 and 1 that do not repeat.
pub fn direction(seed: usize) -> Direction {
    let number =
        |n: usize| ((seed * 18 + n) as f64 * 0.7548776662466927 + 0.11).fract() * 2.0 - 1.0;
    let vector = |n: usize| Vec3::new(number(n), number(n + 1), number(n + 2));
    [0, 9].map(|at| [vector(at), vector(at + 3), vector(at + 6) * 0.1])
}

fn moved(shapes: &[Shape<f64>; 2], by: &Direction, h: f64) -> [Shape<f64>; 2] {
    [0, 1].map(|k| {
        let [turn, shift, growth] = by[k];
        let turn = Quat::from_rotation_vector(turn * h).to_matrix();
        Shape {
            position: shapes[k].position + shift * h,
            axes: turn.matmul(shapes[k].axes),
            size: shapes[k].size + growth * h,
        }
    })
}

fn lifted(v: Vec3<f64>, d: Vec3<f64>) -> Vec3<Dual<f64>> {
    Vec3::new(Dual::new(v.x, d.x), Dual::new(v.y, d.y), Dual::new(v.z, d.z))
}

/// The geoms with their tangents along a direction.
pub fn duals(shapes: &[Shape<f64>; 2], by: &Direction) -> [Shape<Dual<f64>>; 2] {
    [0, 1].map(|k| {
        let [turn, shift, growth] = by[k];
        let [x, y, z] = shapes[k].axes.columns.map(|axis| lifted(axis, turn.cross(axis)));
        Shape {
            position: lifted(shapes[k].position, shift),
            axes: Mat3::from_columns(x, y, z),
            size: lifted(shapes[k].size, growth),
        }
    })
}

fn flat(t: &Touch<f64>) -> [f64; 13] {
    let [a, b] = t.tangents();
    let mut out = [t.distance; 13];
    for (n, v) in [t.position, t.normal, a, b].into_iter().enumerate() {
        out[1 + 3 * n..4 + 3 * n].copy_from_slice(&v.to_array());
    }
    out
}

fn tangents(t: &Touch<Dual<f64>>) -> [f64; 13] {
    let [a, b] = t.tangents();
    let mut out = [t.distance.tangent[0]; 13];
    for (n, v) in [t.position, t.normal, a, b].into_iter().enumerate() {
        out[1 + 3 * n..4 + 3 * n].copy_from_slice(&v.to_array().map(|x| x.tangent[0]));
    }
    out
}

/// The largest difference between the tangents of the contacts and differences of them, in the best of a
/// sweep of widths; none where contacts come or go nearby.
pub fn error(case: &Case, by: &Direction) -> Option<f64> {
    let found = case.find(&duals(&case.shapes, by));
    let exact: Vec<[f64; 13]> = found.iter().map(tangents).collect();
    assert!(exact.iter().flatten().all(|x| x.is_finite()), "{}: {exact:?}", case.name);
    let mut best = f64::INFINITY;
    for width in [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6] {
        let at = |h: f64| -> Vec<[f64; 13]> {
            case.find(&moved(&case.shapes, by, h)).iter().map(flat).collect()
        };
        // Fourth order.
        let [a, b, c, d] = [at(-2.0 * width), at(-width), at(width), at(2.0 * width)];
        if [&a, &b, &c, &d].iter().any(|x| x.len() != exact.len()) {
            continue;
        }
        let mut worst = 0.0f64;
        for (n, tangents) in exact.iter().enumerate() {
            let size = tangents.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            for k in 0..13 {
                let slope = (8.0 * (c[n][k] - b[n][k]) - (d[n][k] - a[n][k])) / (12.0 * width);
                worst = worst.max((slope - tangents[k]).abs() / size);
            }
        }
        best = best.min(worst);
    }
    best.is_finite().then_some(best)
}

/// Most cases that are not aligned are away from switches; there differences agree.
fn prove(pair: &str, least_share: f64) {
    let (mut agree, mut total) = (0, 0);
    let mut others = Vec::new();
    for (n, case) in all(pair).iter().enumerate() {
        if case.find(&case.shapes).is_empty() {
            continue;
        }
        if case.aligned {
            // On a switch: finite.
            error(case, &direction(n));
            continue;
        }
        total += 1;
        match error(case, &direction(n)) {
            Some(e) if e < 1e-7 => agree += 1,
            e => {
                let count = case.find(&case.shapes).len();
                others.push(format!("{} ({count}) {e:?}", case.name));
            }
        }
    }
    println!("{pair}: {agree} of {total}; {others:?}");
    let share = f64::from(agree) / f64::from(total);
    assert!(share >= least_share, "{pair}: {agree} of {total}; {others:?}");
}

#[test]
fn closed_forms_agree_with_differences() {
    for pair in ["capsule_box", "box_box", "plane_mesh"] {
        prove(pair, 0.8);
    }
}

#[test]
fn witnesses_agree_with_differences() {
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
        "hfield_sphere",
        "hfield_capsule",
        "hfield_box",
    ] {
        prove(pair, 0.8);
    }
}
