//! Agreement with warp.sim 1.8.1 (see `data/warp/README.md`).

mod common;
#[path = "common/recording.rs"]
mod recording;
#[path = "common/warp.rs"]
mod reference;

use costate_dynamics::soft::{Element, Membrane, Scope, Tetrahedron, Warp, WarpHinge};
use costate_num::{Mat3, Vec3};
use recording::{load, number, numbers};
use reference::{Scene, scene};
use serde_json::Value;

fn vectors<const N: usize>(value: &Value) -> [Vec3<f64>; N] {
    let flat = numbers(value);
    std::array::from_fn(|i| Vec3::new(flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]))
}

fn flat<const N: usize>(vectors: &[Vec3<f64>; N]) -> Vec<f64> {
    vectors.iter().flat_map(|v| v.to_array()).collect()
}

/// The largest difference relative to the largest number expected.
fn worst(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    let error = found.iter().zip(expected).fold(0.0f64, |m, (f, e)| m.max((f - e).abs()));
    if largest > 0.0 { error / largest } else { error }
}

#[track_caller]
fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let error = worst(found, expected);
    if std::env::var_os("COSTATE_SHOW").is_some() {
        println!("{what}: {error:.1e} (of {tolerance:.0e})");
    }
    assert!(error <= tolerance, "{what}: {error:e} of {tolerance:e}");
}

#[test]
fn single_triangles() {
    let json = load("tri_single").unwrap();
    for (i, case) in json["cases"].as_array().unwrap().iter().enumerate() {
        let what = |what: &str| format!("triangle {i} {what}");
        let inverse = numbers(&case["rest_inverse"]);
        let m = numbers(&case["ke_ka_kd_drag_lift"]);
        let activation = number(&case["activation"]);
        let c = [m[0], m[1], m[2], m[3], m[4], activation, inverse[0], inverse[1], inverse[3]];
        let (x, v) = (vectors(&case["positions"]), vectors(&case["velocities"]));
        let f = Membrane::<true>::force(&x, &v, &c);
        close(&what("force"), &flat(&f), &numbers(&case["forces_float64"]), 1e-6);
        close(&what("force in float32"), &flat(&f), &numbers(&case["forces"]), 2e-6);
        let g = Membrane::<true>::adjoint(&x, &v, &c, &vectors(&case["cotangent"]));
        close(&what("by positions"), &flat(&g.x), &numbers(&case["vjp_positions"]), 1e-5);
        close(&what("by velocities"), &flat(&g.v), &numbers(&case["vjp_velocities"]), 1e-5);
        close(&what("by materials"), &g.c[..5], &numbers(&case["vjp_materials"]), 1e-5);
        close(&what("by activation"), &g.c[5..6], &numbers(&case["vjp_activation"]), 1e-5);
        let by_inverse = numbers(&case["vjp_rest_inverse"]);
        let expected = [by_inverse[0], by_inverse[1], by_inverse[3]];
        close(&what("by the rest shape"), &g.c[6..], &expected, 1e-5);
    }
}

#[test]
fn single_hinges() {
    let json = load("bend_single").unwrap();
    for (i, case) in json["cases"].as_array().unwrap().iter().enumerate() {
        let what = |what: &str| format!("hinge {i} {what}");
        let k = numbers(&case["ke_kd"]);
        let c = [k[0], k[1], number(&case["rest_angle"])];
        let (x, v) = (vectors(&case["positions"]), vectors(&case["velocities"]));
        let f = WarpHinge::force(&x, &v, &c);
        close(&what("force"), &flat(&f), &numbers(&case["forces_float64"]), 1e-6);
        close(&what("force in float32"), &flat(&f), &numbers(&case["forces"]), 1e-5);
        let g = WarpHinge::adjoint(&x, &v, &c, &vectors(&case["cotangent"]));
        close(&what("by positions"), &flat(&g.x), &numbers(&case["vjp_positions"]), 1e-4);
        close(&what("by velocities"), &flat(&g.v), &numbers(&case["vjp_velocities"]), 1e-4);
        close(&what("by stiffness"), &g.c[..2], &numbers(&case["vjp_ke_kd"]), 1e-4);
        close(&what("by rest angle"), &g.c[2..], &numbers(&case["vjp_rest_angle"]), 1e-4);
    }
}

/// A named gradient of a scene, laid out as the recording has it.
fn named(scene: &Scene, g: &costate_dynamics::rollout::Gradient, name: &str) -> Vec<f64> {
    let table = |leaves: &[&str]| -> Vec<f64> {
        let columns: Vec<Vec<f64>> = leaves.iter().map(|l| scene.by_leaf(g, l)).collect();
        (0..columns[0].len()).flat_map(|e| columns.iter().map(move |c| c[e])).collect()
    };
    let hinges = |values: Vec<f64>, width: usize| -> Vec<f64> {
        let row = |h: &Option<usize>| match h {
            Some(e) => values[width * e..width * (e + 1)].to_vec(),
            None => vec![0.0; width],
        };
        scene.hinges.iter().flat_map(row).collect()
    };
    match name {
        "spring_stiffness" => scene.by_leaf(g, "springs.stiffness"),
        "spring_damping" => scene.by_leaf(g, "springs.damping"),
        "spring_rest_length" => scene.by_leaf(g, "springs.rest_length"),
        "tri_materials" => table(&[
            "membrane.stiffness",
            "membrane.area_stiffness",
            "membrane.damping",
            "membrane.drag",
            "membrane.lift",
        ]),
        "tri_activations" => scene.by_leaf(g, "membrane.activation"),
        "edge_properties" => hinges(table(&["bending.stiffness", "bending.damping"]), 2),
        "edge_rest_angle" => hinges(scene.by_leaf(g, "bending.rest_angle"), 1),
        "tet_materials" => table(&["mu", "lambda", "damping"]),
        "tet_activations" => scene.by_leaf(g, "activation"),
        "inverse_masses" => g.c[scene.system.layout().inverse_mass.clone()].to_vec(),
        "initial_positions" => g.initial.q.clone(),
        "initial_velocities" => g.initial.v.clone(),
        other => panic!("no gradient `{other}`"),
    }
}

/// How many numbers a recorded gradient has per element.
fn width(leaf: &str) -> usize {
    match leaf {
        "tri_materials" => 5,
        "tet_materials" | "initial_positions" | "initial_velocities" => 3,
        "edge_properties" => 2,
        _ => 1,
    }
}

/// Runs a recorded scene: forces at the start, positions (m) and velocities at the recorded steps,
/// loss, and gradients against the float64 ones (`by` gives their tolerances; 1e-5 where it does
/// not).
fn agree(name: &str, position: f64, by: &[(&str, f64)]) {
    let json = load(name).unwrap_or_else(|| panic!("there is no recording {name}"));
    let scene = scene(&json);
    let outputs = &json["outputs"];
    let stride = outputs["particle_subsample_stride"].as_u64().unwrap() as usize;
    assert_eq!(stride, 1);
    if let Some(forces) = outputs.get("forces_at_step0") {
        let found = scene.forces();
        let expected = numbers(forces);
        let largest = expected.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        // At rest the recorded forces are nothing but rounding.
        if largest > 1e-2 {
            close(&format!("{name} forces"), &found, &expected, 1e-4);
        }
    }
    let steps: Vec<usize> = numbers(&outputs["step"]).iter().map(|&k| k as usize).collect();
    for (i, (q, v)) in scene.states(&steps).iter().enumerate() {
        let error = |found: &[f64], expected: &Value| {
            let pairs = found.iter().zip(numbers(expected));
            pairs.fold(0.0f64, |m, (f, e)| m.max((f - e).abs()))
        };
        let (x, u) = (error(q, &outputs["positions"][i]), error(v, &outputs["velocities"][i]));
        if std::env::var_os("COSTATE_SHOW").is_some() {
            println!("{name} step {}: {x:.1e} m, {u:.1e} m/s", steps[i]);
        }
        assert!(x <= position, "{name} step {}: positions differ by {x:e}", steps[i]);
        assert!(u <= 1e-4, "{name} step {}: velocities differ by {u:e}", steps[i]);
    }
    let g = scene.gradient(&numbers(&json["loss"]["target_final_positions"]));
    let value = number(&json["loss"]["value"]);
    close(&format!("{name} loss"), &[g.value], &[value], 1e-4);
    let truth = json["gradients_float64_central_difference"].as_object().unwrap();
    for (leaf, entries) in truth.iter().filter(|(leaf, _)| *leaf != "method") {
        let all = named(&scene, &g, leaf);
        let width = width(leaf);
        let found: Vec<f64> = entries["index"]
            .as_array()
            .unwrap()
            .iter()
            .map(|index| {
                let index = numbers(index);
                all[index.iter().fold(0, |at, &i| at * width + i as usize)]
            })
            .collect();
        let tolerance = by.iter().find(|(l, _)| l == leaf).map_or(1e-5, |&(_, t)| t);
        let what = format!("{name} by {leaf}");
        close(&what, &found, &numbers(&entries["value"]), tolerance);
    }
}

#[test]
fn springs() {
    agree("spring_chain_10", 2e-6, &[]);
    agree("spring_cage_8", 2e-6, &[]);
}

#[test]
fn bouncing_particles() {
    agree("bounce_friction_5", 1e-4, &[]);
}

#[test]
fn hanging_cloth() {
    agree("cloth_grid_8x8_hanging", 2e-6, &[("edge_properties", 1e-4), ("edge_rest_angle", 1e-4)]);
}

#[test]
fn single_tetrahedra() {
    let json = load("tet_single").unwrap();
    for (i, case) in json["cases"].as_array().unwrap().iter().enumerate() {
        let what = |what: &str| format!("tetrahedron {i} {what}");
        let inverse = numbers(&case["rest_inverse"]);
        let cofactor = Mat3::from_rows(std::array::from_fn(|k| inverse[k])).cofactor();
        let det = cofactor.columns[0].dot(Vec3::new(inverse[0], inverse[3], inverse[6]));
        let mut c = [0.0; 15];
        c[..9].copy_from_slice(&inverse);
        c[9] = 1.0 / (6.0 * det);
        c[10..13].copy_from_slice(&numbers(&case["mu_lambda_damp"]));
        c[14] = number(&case["activation"]);
        let (x, v) = (vectors(&case["positions"]), vectors(&case["velocities"]));
        type Law = Tetrahedron<Warp, 2>;
        let scope = Scope { warp: true, ..Scope::ALL };
        let f = <Law as Element<4, 6, 15>>::force_within(&x, &v, &c, scope);
        close(&what("force"), &flat(&f), &numbers(&case["forces_float64"]), 1e-6);
        close(&what("force in float32"), &flat(&f), &numbers(&case["forces"]), 1e-6);
        let lambda = vectors(&case["cotangent"]);
        let g = <Law as Element<4, 6, 15>>::adjoint_within(&x, &v, &c, &lambda, scope);
        close(&what("by positions"), &flat(&g.x), &numbers(&case["vjp_positions"]), 5e-6);
        close(&what("by velocities"), &flat(&g.v), &numbers(&case["vjp_velocities"]), 5e-6);
        close(&what("by materials"), &g.c[10..13], &numbers(&case["vjp_mu_lambda_damp"]), 2e-5);
        close(&what("by activation"), &g.c[14..], &numbers(&case["vjp_activation"]), 5e-6);
        // Theirs goes through V = 1 / 6 det B too: ∂V/∂B = −V cof B / det B.
        let through = cofactor.to_rows();
        let by_inverse: Vec<f64> =
            (0..9).map(|k| g.c[k] - g.c[9] * c[9] * through[k] / det).collect();
        close(&what("by the rest shape"), &by_inverse, &numbers(&case["vjp_rest_inverse"]), 2e-5);
    }
}

#[test]
fn tetrahedra() {
    agree("two_tet", 2e-6, &[]);
    agree("beam_4x1x1_fixed_left", 2e-6, &[]);
    agree("soft_grid_3x2x2_flight", 2e-6, &[]);
}

#[test]
fn a_grid_falls_on_the_ground() {
    agree("soft_grid_3x2x2_ground", 2e-6, &[]);
}
