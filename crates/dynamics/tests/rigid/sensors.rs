//! What sensors measure.

use costate_dynamics::rigid::{Integrator, Mechanism, RigidState};

use crate::derivatives::at_snapshot;
use crate::proof::prove_sensors;
use crate::reference::{compare, without_contacts};

#[test]
fn measured_numbers_are_the_recorded_ones() {
    let mut count = 0;
    for r in without_contacts() {
        if r.tree.sensors.is_empty() {
            continue;
        }
        let m = Mechanism::new(r.tree.clone());
        let state = RigidState {
            qpos: r.snapshot("qpos"),
            qvel: r.snapshot("qvel"),
            act: r.snapshot("act"),
        };
        let (ctrl, mut out) = (r.snapshot("ctrl"), Vec::new());
        let time = r.value["snapshot"]["time"].as_f64().expect("a time");
        let (mut ws, mut sensors) = (m.workspace(), m.sensor_workspace());
        m.sense(&r.c, state.with(&ctrl), time, &[], &mut out, &mut ws, &mut sensors)
            .unwrap_or_else(|e| panic!("{}: {e}", r.name));
        let tolerance = if r.rows() == 0 { 1e-12 } else { 1e-9 };
        compare(&format!("{} sensors", r.name), &out, &r.snapshot("sensordata"), tolerance);
        count += out.len();
    }
    assert!(count > 100, "{count} numbers");
}

#[test]
fn derivatives_of_recorded_sensors_are_proved() {
    let mut failures = Vec::new();
    for r in without_contacts() {
        // One file per model is enough.
        if r.tree.sensors.is_empty() || !r.name.ends_with("__Euler") {
            continue;
        }
        for integrator in [Integrator::Euler, Integrator::ImplicitFast, Integrator::Discrete] {
            let p = at_snapshot(&r, integrator);
            failures.extend(prove_sensors(&format!("{} {integrator:?}", r.name), &p));
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
