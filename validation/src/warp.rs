//! Agreement with warp.sim's recorded motions and gradients.

use serde_json::Value;

use crate::check::{Criterion, Group};
use crate::recording::{load, numbers};
use crate::warp_scene::{Scene, scene};

/// A gradient of a recording and the leaf that it is by.
type ByLeaf = (&'static str, &'static str);

/// Recordings with the tolerance of their positions (m), and the gradients that are compared.
const RECORDINGS: &[(&str, f64, &[ByLeaf])] = &[
    (
        "spring_chain_10",
        2e-6,
        &[("spring_stiffness", "springs.stiffness"), ("spring_damping", "springs.damping")],
    ),
    ("spring_cage_8", 2e-6, &[("spring_rest_length", "springs.rest_length")]),
    ("two_tet", 2e-6, &[("tet_activations", "activation")]),
    ("beam_4x1x1_fixed_left", 2e-6, &[]),
    ("soft_grid_3x2x2_flight", 2e-6, &[]),
    ("soft_grid_3x2x2_ground", 2e-6, &[]),
    ("cloth_grid_8x8_hanging", 2e-6, &[("edge_rest_angle", "bending.rest_angle")]),
    ("bounce_friction_5", 1e-4, &[]),
];

/// Positions over the whole run, forces at its start, gradients.
pub fn run() -> Group {
    let mut group = Group::new(
        "warp.sim 1.8.1",
        "Scenes of warp.sim under its own laws: recorded float32 motions, and gradients from an \
         independent float64 evaluation of its formulas by central differences.",
    );
    for (name, tolerance, gradients) in RECORDINGS {
        match load(name) {
            Err(error) => group.failed(name, error),
            Ok(json) => {
                let scene = scene(&json);
                motion(&mut group, name, &json, &scene, *tolerance);
                let target = numbers(&json["loss"]["target_final_positions"]);
                let gradient = scene.gradient(&target);
                let masses = scene.system.layout().inverse_mass.clone();
                compare(&mut group, name, &json, "inverse_masses", &gradient.c[masses]);
                for (recorded, leaf) in *gradients {
                    let mut found = scene.by_leaf(&gradient, leaf);
                    if leaf.starts_with("bending") {
                        // Recorded hinges on the border are none here.
                        let at = |h: &Option<usize>| h.map_or(0.0, |e| found[e]);
                        found = scene.hinges.iter().map(at).collect();
                    }
                    compare(&mut group, name, &json, recorded, &found);
                }
            }
        }
    }
    group
}

fn motion(group: &mut Group, name: &str, json: &Value, scene: &Scene, tolerance: f64) {
    let outputs = &json["outputs"];
    let steps: Vec<usize> = numbers(&outputs["step"]).iter().map(|&k| k as usize).collect();
    let mut worst = 0.0f64;
    for (i, (q, _)) in scene.states(&steps).iter().enumerate() {
        let recorded = numbers(&outputs["positions"][i]);
        worst = q.iter().zip(&recorded).fold(worst, |m, (a, b)| m.max((a - b).abs()));
    }
    let what = format!("{name}: positions over {} steps, m", scene.steps);
    group.add(&what, "recorded motion", Criterion::AtMost(tolerance), worst);
    let recorded = numbers(&outputs["forces_at_step0"]);
    let largest = recorded.iter().fold(0.0f64, |m, f| m.max(f.abs()));
    // At rest the recorded forces are nothing but rounding.
    if largest > 1e-2 {
        let found = scene.forces();
        let error = found.iter().zip(&recorded).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        let what = format!("{name}: forces at the start, relative");
        group.add(&what, "recorded forces", Criterion::AtMost(1e-4), error / largest);
    }
}

/// The entries that the recording has, relative to the largest.
fn compare(group: &mut Group, name: &str, json: &Value, recorded: &str, found: &[f64]) {
    let truth = &json["gradients_float64_central_difference"][recorded];
    let values = numbers(&truth["value"]);
    if values.is_empty() {
        return;
    }
    let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let indices = numbers(&truth["index"]);
    let error = indices.iter().zip(&values).fold(0.0f64, |m, (&i, value)| {
        found.get(i as usize).map_or(f64::INFINITY, |x| m.max((x - value).abs()))
    });
    let what = format!("{name}: gradient by {recorded}, relative");
    // Hinges go through an acos near its end in the recording.
    let tolerance = if recorded.starts_with("edge") { 1e-4 } else { 1e-5 };
    group.add(&what, "float64 differences", Criterion::AtMost(tolerance), error / largest);
}
