//! Sensors of forces of contacts, and of limits beside them.

use std::path::Path;

use costate_dynamics::rigid::{Derivation, Integrator, Mechanism, RigidState};
use serde_json::Value;

use crate::derivatives::widen;
use crate::proof::{Point, prove, prove_sensors};
use crate::reference::{compare, numbers};

/// The state of `touch.xml` at which the numbers below were recorded with mujoco 4.0: velocity i is
/// 0.1 sin(1 + i), hinge and slide are beyond their limits.
fn touching(elliptic: bool) -> Point {
    let mut p = point("touch.xml", elliptic);
    let scalar = p.state.qpos.len() - 2;
    p.state.qpos[scalar..].copy_from_slice(&[0.71, 0.045]);
    p
}

/// A model in its reference pose, velocity i being 0.1 sin(1 + i).
fn point(file: &str, elliptic: bool) -> Point {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mujoco/models");
    let model = costate_formats::read_mjcf(folder.join(file)).expect("it reads");
    let derivation = Derivation::new(&model).expect("it compiles");
    let c = derivation.derive(&model.theta()).expect("it derives");
    let mut tree = derivation.tree.clone();
    tree.options.elliptic = elliptic;
    let qpos = model.articulation.as_ref().expect("a robot").reference_pose(&model.leaves);
    let qvel = (0..tree.nv).map(|i| 0.1 * (1.0 + i as f64).sin()).collect();
    let state = RigidState { qpos, qvel, act: Vec::new() };
    Point { mechanism: Mechanism::new(tree), c, state, ctrl: Vec::new(), applied: Vec::new() }
}

#[test]
fn forces_of_contacts_and_limits_are_the_recorded_ones() {
    let limits = [
        -0.011868299202268173,
        -0.014987720966295234,
        0.0,
        -0.004999999999999996,
        -0.09129452507276277,
        1.5107781501257054,
        -0.019499999999999962,
        -0.05613866721278805,
        8.484388020533837,
    ];
    let touch = [
        [
            10.408_299_919_401_33,
            10.408_299_919_401_33,
            0.0,
            7.131_304_886_085_536,
            14.781_398_091_211_779,
            3.861_305_869_720_935,
        ],
        [
            10.408_299_919_401_33,
            10.408_299_919_401_33,
            0.0,
            9.578_204_087_972_53,
            11.806_870_413_889_271,
            4.151_160_726_522_93,
        ],
    ];
    for (elliptic, touch) in [(true, touch[0]), (false, touch[1])] {
        let p = touching(elliptic);
        let m = &p.mechanism;
        let (mut ws, mut sensors, mut out) = (m.workspace(), m.sensor_workspace(), Vec::new());
        m.sense(&p.c, p.state.with(&p.ctrl), 0.0, &[], &mut out, &mut ws, &mut sensors)
            .expect("it measures");
        compare(&format!("elliptic {elliptic}"), &out, &[&touch[..], &limits].concat(), 1e-9);
    }
}

#[test]
fn their_derivatives_are_proved() {
    let mut failures = Vec::new();
    for (elliptic, integrator) in [
        (true, Integrator::Euler),
        (false, Integrator::Euler),
        (true, Integrator::Discrete),
        (false, Integrator::Discrete),
    ] {
        let mut p = touching(elliptic);
        p.mechanism.tree.options.integrator = integrator;
        // Wide differences must leave inertias positive.
        for at in p.mechanism.layout.body_inertia.range() {
            p.c[at] *= 100.0;
        }
        widen(&mut p);
        let layout = &p.mechanism.layout;
        // Slopes that would destabilise are left out of the discrete metric: none may change its sign.
        for block in [
            layout.jnt_stiffness,
            layout.dof_damping,
            layout.tendon_stiffness,
            layout.tendon_damping,
        ] {
            for at in block.range() {
                p.c[at] = if p.c[at] == 0.0 { 0.5 } else { p.c[at] };
            }
        }
        let name = format!("elliptic {elliptic} {integrator:?}");
        failures.extend(prove_sensors(&name, &p));
        if integrator == Integrator::Discrete {
            failures.extend(prove(&name, &p, false));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn sensors_of_contacts_measure_what_is_recorded() {
    let file: Value =
        serde_json::from_str(include_str!("../data/mujoco/contact_sensors.json")).expect("JSON");
    for (elliptic, cone) in [(true, "elliptic"), (false, "pyramidal")] {
        let p = point("contact_sensors.xml", elliptic);
        let m = &p.mechanism;
        compare("qpos", &p.state.qpos, &numbers(&file["qpos"]), 1e-15);
        compare("qvel", &p.state.qvel, &numbers(&file["qvel"]), 1e-15);
        let (mut ws, mut sensors, mut out) = (m.workspace(), m.sensor_workspace(), Vec::new());
        m.sense(&p.c, p.state.with(&p.ctrl), 0.0, &[], &mut out, &mut ws, &mut sensors)
            .expect("it measures");
        compare(cone, &out, &numbers(&file[cone]), 1e-9);
    }
}

#[test]
fn derivatives_of_sensors_of_contacts_are_proved() {
    let mut failures = Vec::new();
    for elliptic in [true, false] {
        let mut p = point("contact_sensors.xml", elliptic);
        // Wide differences must leave inertias positive.
        for at in p.mechanism.layout.body_inertia.range() {
            p.c[at] *= 100.0;
        }
        widen(&mut p);
        failures.extend(prove_sensors(&format!("elliptic {elliptic}"), &p));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
