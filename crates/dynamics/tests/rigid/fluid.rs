//! Forces of a fluid, against recorded results of MuJoCo, and the derivatives of motions in it.

use std::path::Path;

use costate_dynamics::rigid::{CompileError, Derivation, Integrator, Mechanism, RigidState};
use costate_formats::read_mjcf;
use costate_model::Model;
use serde_json::Value;

use crate::leaves::Motion;
use crate::reference::{compare, numbers};

fn recorded() -> (Model, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mujoco");
    let text = std::fs::read_to_string(folder.join("fluid.json")).expect("a recording");
    let model = read_mjcf(folder.join("models/fluid.xml")).unwrap_or_else(|e| panic!("{e}"));
    (model, serde_json::from_str(&text).expect("a recording is JSON"))
}

/// The model's motion from a recorded state by an integrator.
fn motion<'a>(model: &'a Model, state: &Value, integrator: Integrator) -> Motion<'a> {
    let derivation = Derivation::new(model).unwrap_or_else(|e| panic!("{e}"));
    let mut tree = derivation.tree.clone();
    tree.options.integrator = integrator;
    let part = |name: &str| numbers(&state[name]);
    Motion {
        model,
        derivation,
        mechanism: Mechanism::new(tree),
        start: RigidState { qpos: part("qpos"), qvel: part("qvel"), act: part("act") },
        ctrl: part("ctrl"),
    }
}

#[test]
fn steps_in_a_fluid_are_the_recorded_ones() {
    let (model, file) = recorded();
    for (n, state) in file["states"].as_array().expect("states").iter().enumerate() {
        for (name, integrator) in [("Euler", Integrator::Euler), ("RK4", Integrator::Rk4)] {
            let Motion { derivation, mechanism: m, start, ctrl, .. } =
                motion(&model, state, integrator);
            let c = derivation.derive(&model.theta()).unwrap_or_else(|e| panic!("{e}"));
            let mut next = RigidState::default();
            m.step(&c, start.with(&ctrl), &[], &mut next, &mut m.workspace())
                .unwrap_or_else(|e| panic!("state {n}: {e}"));
            let wanted = &state[name];
            let what = |part: &str| format!("state {n} {name} {part}");
            compare(&what("qvel"), &next.qvel, &numbers(&wanted["qvel"]), 1e-11);
            compare(&what("qpos"), &next.qpos, &numbers(&wanted["qpos"]), 1e-12);
        }
    }
}

#[test]
fn every_leaf_that_moves_bodies_in_a_fluid_has_its_derivative() {
    let (model, file) = recorded();
    let mut failures = Vec::new();
    for state in file["states"].as_array().expect("states").iter().take(3) {
        for integrator in [Integrator::Euler, Integrator::Rk4] {
            let name = format!("{integrator:?}");
            failures.extend(motion(&model, state, integrator).failures(&name));
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_fluid_under_an_implicit_integrator_is_refused() {
    let (model, _) = recorded();
    let mut model = model;
    let a = model.articulation.as_mut().expect("a robot");
    a.options.integrator = costate_model::rigid::Integrator::ImplicitFast;
    let refused = Derivation::new(&model).err();
    assert!(matches!(refused, Some(CompileError::NotSimulated { .. })), "{refused:?}");
}
