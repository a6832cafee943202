//! What is observed of contacts between soft and articulated bodies, on steps and between them.

use costate_dynamics::System;
use costate_dynamics::observe::{Clock, Observation, Sample, Signal, SignalObserver, SignalSet};
use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_model::Inputs;

use crate::world::{block, compile, contact, robot};

fn system() -> System {
    let mut model = robot(
        r#"<mujoco model="hammer">
  <option timestep="0.0005"/>
  <worldbody>
    <body name="arm" pos="-0.1 0.05 0.118">
      <joint name="hinge" axis="0.1 1 0"/>
      <geom name="rod" type="capsule" size="0.02 0.1" pos="0.08 0 0" quat="0.7 0 0.7 0" mass="0.05"/>
      <geom name="head" size="0.03" pos="0.15 0 0" mass="0.1"/>
      <site name="imu" pos="0.1 0.01 0.02"/>
    </body>
  </worldbody>
  <sensor>
    <accelerometer name="felt" site="imu"/>
    <gyro name="rate" site="imu"/>
  </sensor>
</mujoco>"#,
    )
    .with("joint.hinge.qvel", &[8.0])
    .unwrap();
    block("block", 5.0).build(&mut model).unwrap();
    for geom in ["head", "rod"] {
        model.add_soft_contact(geom, &contact(900.0, 2.0, 0.4)).unwrap();
    }
    compile(&model)
}

fn observer(system: &System) -> SignalObserver {
    let force = |geom: &str, a: usize| {
        let body = Some("block".to_owned());
        let observed = Observation::ContactForce { geom: geom.into(), body, region: None };
        Signal { clock: Some(0), ..Signal::new(format!("{geom}{a}"), observed, a) }
    };
    let felt = |sensor: &str, a: usize| {
        let observed = Observation::Sensor { sensor: sensor.into(), components: 3, unit: "" };
        Signal { clock: Some(0), ..Signal::new(format!("{sensor}{a}"), observed, a) }
    };
    let energy = Signal { clock: Some(0), ..Signal::new("energy", Observation::Energy, 0) };
    let signals = vec![
        force("head", 0),
        force("head", 2),
        force("rod", 2),
        felt("felt", 0),
        felt("felt", 2),
        felt("rate", 1),
        energy,
    ];
    let times = [0.004, 0.0071, 0.0119];
    let sample = |signal: usize| times.map(|time| Sample { signal, time });
    let samples = (0..signals.len()).flat_map(sample).collect();
    let bounds = [-0.001, 0.001];
    let clocks = vec![Clock { path: "recording.a.offset".into(), offset: 0.00021, bounds }];
    let set = SignalSet { clocks, signals, samples, ..SignalSet::default() };
    SignalObserver::new(system, &set).unwrap_or_else(|e| panic!("{e}"))
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn forces_energies_and_sensors_have_proved_derivatives() {
    let (system, inputs) = (system(), Inputs::default());
    let observer = observer(&system);
    let (theta, p) = (system.theta(), observer.leaves().theta());
    let c = system.derive(&theta).unwrap();
    let run = Run::new(&system, &c, &inputs);
    let y = run.observe(&observer, &p).unwrap();
    assert!(y[1].abs() > 0.5 && y.iter().all(|y| y.is_finite()), "{y:?}");
    let w = weights(y.len());
    let dot = |y: &[f64]| y.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>();
    let mut loss = |y: &[f64]| (dot(y), w.clone());
    let found = run.gradient(&observer, &p, &AdjointOptions::default(), &mut loss).unwrap();
    let bar = system.derive_pullback(&theta, &c, &found.c);
    let leaves = &system.model().leaves;
    for path in [
        "geom.head.mass",
        "geom.head.size",
        "geom.rod.pos",
        "geom.rod.quat",
        "geom.head.soft.stiffness",
        "geom.head.soft.damping",
        "geom.rod.soft.friction",
        "joint.hinge.qvel",
        "joint.hinge.axis",
        "body.arm.pos",
        "soft.block.young",
        "soft.block.density",
        "soft.block.radius",
        "soft.block.position",
        "option.gravity",
    ] {
        let range = leaves.range(leaves.find(path).unwrap());
        let mut theta_dot = vec![0.0; theta.len()];
        for (k, i) in range.enumerate() {
            let size = if theta[i] == 0.0 { 0.1 } else { theta[i].abs() };
            theta_dot[i] = size * (k as f64 + 1.0).cos();
        }
        let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
        let seeds = Seeds { columns: 1, c: c_dot, p: vec![0.0; p.len()], ..Seeds::default() };
        let y_dot = run.sensitivities(&observer, &p, &seeds, &[]).unwrap().y_dot;
        let pushed = dot(&y_dot);
        let scale = y_dot.iter().map(|y| y * y).sum::<f64>().sqrt();
        let pulled: f64 = bar.iter().zip(&theta_dot).map(|(a, b)| a * b).sum();
        assert!((pulled - pushed).abs() < 1e-11 * scale, "{path}: {pulled} {pushed}");
        let at = |e: f64| {
            let moved: Vec<f64> = theta.iter().zip(&theta_dot).map(|(a, b)| a + e * b).collect();
            let c = system.derive(&moved).unwrap();
            dot(&Run::new(&system, &c, &inputs).observe(&observer, &p).unwrap())
        };
        let central = |e: f64| (at(e) - at(-e)) / (2.0 * e);
        let best = [1e-3, 1e-4, 1e-5, 1e-6]
            .map(|e| {
                let (wide, narrow) = (central(e), central(0.5 * e));
                (narrow + (narrow - wide) / 3.0 - pushed).abs() / scale
            })
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        assert!(best < 1e-7, "{path}: {best:e} of {scale:e}");
    }
    // The clock, by which what runs straight between steps is moved.
    let at =
        |offset: f64| dot(&run.observe(&observer, &moved_clock(&observer, &p, offset)).unwrap());
    let slope = (at(1e-7) - at(-1e-7)) / 2e-7;
    let i = observer.leaves().range(observer.leaves().find("recording.a.offset").unwrap()).start;
    assert!((found.p[i] - slope).abs() < 1e-6 * slope.abs(), "{} {slope}", found.p[i]);
}

fn moved_clock(observer: &SignalObserver, p: &[f64], by: f64) -> Vec<f64> {
    let i = observer.leaves().range(observer.leaves().find("recording.a.offset").unwrap()).start;
    let mut moved = p.to_vec();
    moved[i] += by;
    moved
}
