//! Tendons around spheres and cylinders, from either side, from inside and after pulleys, against recorded
//! results of MuJoCo, and the derivatives of motions with them.

use std::path::Path;

use costate_dynamics::rigid::{Derivation, Mechanism, RigidState};
use costate_formats::read_mjcf;
use costate_model::Model;
use serde_json::Value;

use crate::leaves::Motion;
use crate::proof::INTEGRATORS;
use crate::reference::{compare, numbers};

fn recorded() -> (Model, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mujoco");
    let text = std::fs::read_to_string(folder.join("tendon_wrap.json")).expect("a recording");
    let model = read_mjcf(folder.join("models/tendon_wrap.xml")).unwrap_or_else(|e| panic!("{e}"));
    (model, serde_json::from_str(&text).expect("a recording is JSON"))
}

/// MuJoCo stops looking for the point that touches from inside at this residual.
const INSIDE: f64 = 1e-6;

#[test]
fn lengths_jacobians_and_steps_are_the_recorded_ones() {
    let (model, file) = recorded();
    let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{e}"));
    let c = derivation.derive(&model.theta()).unwrap_or_else(|e| panic!("{e}"));
    let m = Mechanism::new(derivation.tree.clone());
    let (tree, layout) = (&m.tree, &m.layout);
    for (name, block) in [
        ("tendon_length0", layout.tendon_length0),
        ("tendon_invweight0", layout.tendon_invweight0),
        ("actuator_acc0", layout.actuator_acc0),
    ] {
        compare(name, &c[block.range()], &numbers(&file[name]), INSIDE);
    }
    let mut ws = m.workspace();
    for (n, state) in file["states"].as_array().expect("states").iter().enumerate() {
        let part = |name: &str| numbers(&state[name]);
        let start = RigidState { qpos: part("qpos"), qvel: part("qvel"), act: part("act") };
        let mut next = RigidState::default();
        m.step(&c, start.with(&part("ctrl")), &[], &mut next, &mut ws)
            .unwrap_or_else(|e| panic!("state {n}: {e}"));
        let tendons = &ws.evaluation.dynamics.tendons;
        let (lengths, jacobians) = (part("length"), part("J"));
        for (t, name) in ["biceps", "free", "sided", "through"].iter().enumerate() {
            let tolerance = if *name == "through" { INSIDE } else { 1e-12 };
            let what = format!("state {n}, {name}");
            compare(&what, &tendons.length[t..=t], &lengths[t..=t], tolerance);
            let mut dense = vec![0.0; tree.nv];
            for e in tendons.entries(t) {
                dense[tendons.dofs[e]] += tendons.jacobian[e];
            }
            let wanted = &jacobians[t * tree.nv..(t + 1) * tree.nv];
            compare(&format!("{what} J"), &dense, wanted, tolerance);
        }
        let wanted = &state["next"];
        compare(&format!("state {n} qvel"), &next.qvel, &numbers(&wanted["qvel"]), INSIDE);
        compare(&format!("state {n} qpos"), &next.qpos, &numbers(&wanted["qpos"]), INSIDE);
        compare(&format!("state {n} act"), &next.act, &numbers(&wanted["act"]), 1e-12);
    }
}

#[test]
fn every_leaf_that_moves_wrapped_tendons_has_its_derivative() {
    let (model, file) = recorded();
    let mut failures = Vec::new();
    for (n, state) in file["states"].as_array().expect("states").iter().take(6).enumerate() {
        let part = |name: &str| numbers(&state[name]);
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{e}"));
        let mut tree = derivation.tree.clone();
        tree.options.integrator = INTEGRATORS[n % 4];
        let motion = Motion {
            model: &model,
            derivation,
            mechanism: Mechanism::new(tree),
            start: RigidState { qpos: part("qpos"), qvel: part("qvel"), act: part("act") },
            ctrl: part("ctrl"),
        };
        failures.extend(motion.failures(&format!("state {n}")));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
