//! Armature of tendons and slider-cranks against recorded results of MuJoCo, and the derivatives of motions with them.

use std::path::Path;

use costate_dynamics::rigid::{
    Derivation, DriveTangents, Integrator, Mechanism, RigidState, RigidTangents,
};
use costate_formats::read_mjcf;
use costate_model::Model;
use serde_json::Value;

use crate::leaves::Motion;
use crate::reference::{compare, numbers};

/// Integrators by their names in recordings.
pub const NAMES: [(Integrator, &str); 5] = [
    (Integrator::Euler, "Euler"),
    (Integrator::Rk4, "RK4"),
    (Integrator::Implicit, "implicit"),
    (Integrator::ImplicitFast, "implicitfast"),
    (Integrator::Discrete, "discrete"),
];

fn recorded() -> (Model, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mujoco");
    let text = std::fs::read_to_string(folder.join("armature_crank.json")).expect("a recording");
    let path = folder.join("models/armature_crank.xml");
    let model = read_mjcf(path).unwrap_or_else(|e| panic!("{e}"));
    (model, serde_json::from_str(&text).expect("a recording is JSON"))
}

/// The model as it was recorded: under discrete nothing is stiff or damped between branches, for which MuJoCo solves
/// iteratively.
fn as_recorded(model: &Model, integrator: Integrator) -> Model {
    let mut model = model.clone();
    if integrator == Integrator::Discrete {
        let zero: [(&str, &[f64]); 4] = [
            ("tendon.across.stiffness", &[0.0]),
            ("tendon.across.damping", &[0.0]),
            ("actuator.crank.biasprm", &[0.2, 0.0, 0.0]),
            ("actuator.short.biasprm", &[0.1, 0.0, 0.0]),
        ];
        for (path, first) in zero {
            let id = model.leaves.find(path).unwrap_or_else(|e| panic!("{e}"));
            let mut values = vec![0.0; model.leaves.get(id).values.len()];
            let n = values.len().min(first.len());
            values[..n].copy_from_slice(&first[..n]);
            model.leaves.set(id, &values).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    model
}

/// A model's motion from a recorded state by an integrator.
pub fn motion<'a>(model: &'a Model, state: &Value, integrator: Integrator) -> Motion<'a> {
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

/// The tangent of the next velocity along one number of a leaf.
pub fn push(motion: &Motion, leaf: &str, component: usize) -> Vec<f64> {
    let Motion { model, derivation, mechanism: m, start, ctrl } = motion;
    let theta = model.theta();
    let id = model.leaves.find(leaf).unwrap_or_else(|e| panic!("{e}"));
    let mut along = vec![0.0; theta.len()];
    along[model.leaves.range(id).start + component] = 1.0;
    let c = derivation.derive(&theta).unwrap_or_else(|e| panic!("{e}"));
    let c_dot = derivation.pushforward(&theta, &along).unwrap_or_else(|e| panic!("{e}"));
    let mut tangents = RigidTangents::zeros(&m.tree, 1);
    let (mut ws, mut push) = (m.workspace(), m.push_workspace());
    m.step_pushforward(
        &c,
        start.with(ctrl),
        &[],
        &mut tangents,
        &c_dot,
        DriveTangents::default(),
        &mut ws,
        &mut push,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    tangents.v
}

#[test]
fn matrices_lengths_and_steps_are_the_recorded_ones() {
    let (model, file) = recorded();
    for (n, state) in file["states"].as_array().expect("states").iter().enumerate() {
        for (integrator, recorded) in NAMES {
            let model = as_recorded(&model, integrator);
            let at = motion(&model, state, integrator);
            let m = &at.mechanism;
            let (tree, layout) = (&m.tree, &m.layout);
            let c = at.derivation.derive(&model.theta()).unwrap_or_else(|e| panic!("{e}"));
            for (name, block) in [
                ("tendon_invweight0", layout.tendon_invweight0),
                ("dof_invweight0", layout.dof_invweight0),
                ("actuator_acc0", layout.actuator_acc0),
            ] {
                compare(name, &c[block.range()], &numbers(&file["compiled"][name]), 1e-12);
            }
            let mut ws = m.workspace();
            let mut next = RigidState::default();
            m.step(&c, at.start.with(&at.ctrl), &[], &mut next, &mut ws)
                .unwrap_or_else(|e| panic!("state {n}: {e}"));
            let what = |part: &str| format!("state {n} {recorded} {part}");
            let d = &ws.evaluation.dynamics;
            compare(&what("qM"), &d.mass.to_dense(tree), &numbers(&state["qM"]), 1e-12);
            let wanted = numbers(&state["qfrc_bias"]);
            compare(&what("qfrc_bias"), &d.qfrc_bias, &wanted, 1e-12);
            compare(&what("length"), &d.actuation.length, &numbers(&state["length"]), 1e-12);
            compare(&what("velocity"), &d.actuation.velocity, &numbers(&state["velocity"]), 1e-12);
            // MuJoCo's own residual where a tendon or actuator is damped beyond one body.
            let tolerance = if integrator == Integrator::Discrete { 1e-9 } else { 1e-12 };
            let wanted = &state[recorded];
            compare(&what("qvel"), &next.qvel, &numbers(&wanted["qvel"]), tolerance);
            compare(&what("qpos"), &next.qpos, &numbers(&wanted["qpos"]), tolerance);
            if integrator == Integrator::Euler {
                let (mut sensors, mut out) = (m.sensor_workspace(), Vec::new());
                let start = at.start.with(&at.ctrl);
                m.sense(&c, start, 0.0, &[], &mut out, &mut ws, &mut sensors).expect("it measures");
                compare(&what("sensors"), &out, &numbers(&state["sensordata"]), 1e-12);
            }
        }
    }
}

#[test]
fn derivatives_by_single_numbers_are_the_recorded_ones() {
    let (model, file) = recorded();
    for wanted in file["derivatives"].as_array().expect("derivatives") {
        let leaf = wanted["leaf"].as_str().expect("a name");
        let component = wanted["component"].as_u64().unwrap_or(0) as usize;
        for (integrator, recorded) in NAMES {
            let model = as_recorded(&model, integrator);
            let at = motion(&model, &file["states"][0], integrator);
            let what = format!("{recorded} {leaf}[{component}]");
            compare(&what, &push(&at, leaf, component), &numbers(&wanted[recorded]), 1e-6);
        }
    }
}

#[test]
fn every_leaf_of_armature_and_slider_cranks_has_its_derivative() {
    let (model, file) = recorded();
    let mut failures = Vec::new();
    for (integrator, name) in NAMES {
        let mut found = motion(&model, &file["states"][1], integrator).failures(name);
        // Any row on a body that stands alone ends its implicit rotation under the discrete integrator: its dry
        // friction jumps at zero.
        let jumps = |failure: &String| {
            integrator == Integrator::Discrete && failure.contains("frictionloss")
        };
        found.retain(|failure| !jumps(failure));
        failures.extend(found);
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// A mass on a slide with a tendon's armature and a motor's through it: the sum of all accelerates.
#[test]
fn armature_is_inertia() {
    let text = r#"<mujoco><option gravity="0 0 0" timestep="0.01"/>
      <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/></body></worldbody>
      <tendon><fixed name="t" armature="0.5"><joint joint="x" coef="3"/></fixed></tendon>
      <actuator><motor joint="x"/><motor tendon="t" gear="2" armature="0.1"/></actuator></mujoco>"#;
    let model = costate_formats::parse_mjcf("armature.xml", text).unwrap_or_else(|e| panic!("{e}"));
    let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{e}"));
    let c = derivation.derive(&model.theta()).unwrap_or_else(|e| panic!("{e}"));
    let m = Mechanism::new(derivation.tree.clone());
    let start = RigidState { qpos: vec![0.3], qvel: vec![0.0], act: vec![] };
    let mut next = RigidState::default();
    m.step(&c, start.with(&[1.0, 0.0]), &[], &mut next, &mut m.workspace()).expect("it steps");
    let inertia = 2.0 + 9.0 * (0.5 + 4.0 * 0.1);
    assert!((next.qvel[0] - 0.01 / inertia).abs() < 1e-16, "{}", next.qvel[0]);
}

#[test]
fn armature_around_a_geom_is_refused_by_name() {
    let text = r#"<mujoco><worldbody><geom name="g" size="0.1"/><site name="a" pos="0 0 1"/>
      <body><joint type="hinge"/><geom size="0.1" pos="1 0 0"/><site name="b" pos="1 0 0"/></body></worldbody>
      <tendon><spatial name="t" armature="0.5"><site site="a"/><geom geom="g"/><site site="b"/></spatial></tendon>
      </mujoco>"#;
    let model = costate_formats::parse_mjcf("wrapped.xml", text).unwrap_or_else(|e| panic!("{e}"));
    let refused = Derivation::new(&model).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused.contains("tendon.t") && refused.contains("armature"), "{refused}");
}
