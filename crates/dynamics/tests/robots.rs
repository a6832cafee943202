//! Derivatives of robots through whole runs: leaves and starts of free and ball joints, sensors
//! between steps, checkpoints, cuts.

use costate_dynamics::observe::{Clock, Observation, Sample, Signal, SignalObserver, SignalSet};
use costate_dynamics::rollout::{AdjointOptions, Policy, Run, Seeds};
use costate_dynamics::{Constants, System};
use costate_formats::parse_mjcf;
use costate_model::{InputSignal, Inputs, Interpolation};

const FLYER: &str = r#"<mujoco model="flyer">
  <compiler angle="radian"/>
  <option timestep="0.004" gravity="0 0 -9.81"/>
  <worldbody>
    <body name="hull" pos="0.1 -0.2 1" quat="0.9 0.1 -0.3 0.2">
      <freejoint name="free"/>
      <inertial mass="1.3" pos="0.02 0.01 -0.03" fullinertia="0.02 0.03 0.025 0.002 -0.001 0.003"/>
      <site name="imu" pos="0.05 0.02 0.01" quat="0.8 0.2 0.1 0.5"/>
      <body name="tail" pos="0.2 0 0" quat="0.7 0.1 0.4 0.2">
        <joint name="ball" type="ball" damping="0.02" stiffness="0.1"/>
        <inertial mass="0.4" pos="0.1 0.02 0" diaginertia="0.003 0.004 0.002"/>
        <body name="fin" pos="0.2 0.03 0">
          <joint name="hinge" axis="0.2 1 0.3" damping="0.01" armature="0.001"/>
          <inertial mass="0.2" pos="0.05 0 0.02" diaginertia="0.001 0.0012 0.0008"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <general name="servo" joint="hinge" gear="1.5" dyntype="filter" dynprm="0.03" gainprm="0.2"/>
  </actuator>
  <sensor>
    <gyro name="gyro" site="imu" noise="0.01"/>
    <accelerometer name="accelerometer" site="imu"/>
    <framequat name="attitude" objtype="site" objname="imu"/>
    <framepos name="place" objtype="site" objname="imu"/>
    <actuatorfrc name="effort" actuator="servo"/>
    <subtreeangmom name="spin" body="hull"/>
    <jointpos name="angle" joint="hinge"/>
  </sensor>
</mujoco>
"#;

fn system() -> System {
    let mut model = parse_mjcf("flyer.xml", FLYER).unwrap_or_else(|e| panic!("{e}"));
    let robot = model.articulation.as_mut().unwrap();
    robot.add_initial_state(&mut model.leaves, None).unwrap();
    for (path, values) in [
        ("joint.free.qvel", &[0.3, -0.2, 0.5, 0.7, -0.4, 0.9][..]),
        ("joint.ball.qpos", &[0.9, 0.2, -0.1, 0.3]),
        ("joint.ball.qvel", &[0.5, 1.1, -0.7]),
        ("joint.hinge.qpos", &[0.4]),
    ] {
        let id = model.leaves.find(path).unwrap();
        model.leaves.set(id, values).unwrap();
    }
    System::new(&model).unwrap_or_else(|e| panic!("{e}"))
}

/// A control that changes all the time.
fn inputs(system: &System) -> Inputs {
    assert_eq!(system.channels().len(), 1);
    let times: Vec<f64> = (0..40).map(|i| 0.01 * f64::from(i)).collect();
    let values = times.iter().map(|t| (20.0 * t).sin()).collect();
    Inputs {
        signals: vec![Some(InputSignal { times, values, interpolation: Interpolation::Linear })],
    }
}

fn sensor(name: &str, components: usize, component: usize) -> Signal {
    let observation = Observation::Sensor { sensor: name.into(), components, unit: "" };
    Signal { clock: Some(0), ..Signal::new(format!("{name}{component}"), observation, component) }
}

/// Every kind of sensor, on steps and between them, by a clock that may be off.
fn observer(system: &System) -> SignalObserver {
    let bounds = [-0.003, 0.003];
    let clocks = vec![Clock { path: "recording.a.offset".into(), offset: 0.0007, bounds }];
    let signals = vec![
        sensor("gyro", 3, 0),
        sensor("gyro", 3, 2),
        sensor("accelerometer", 3, 1),
        sensor("attitude", 4, 0),
        sensor("attitude", 4, 3),
        sensor("place", 3, 2),
        sensor("effort", 1, 0),
        sensor("spin", 3, 1),
    ];
    let samples = (0..signals.len())
        .flat_map(|signal| [0.02, 0.0311, 0.0999].map(|time| Sample { signal, time }))
        .collect();
    SignalObserver::new(system, &SignalSet { clocks, signals, samples, ..Default::default() })
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Weights of the observed values.
fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect()
}

fn value(system: &System, observer: &SignalObserver, theta: &[f64], p: &[f64]) -> f64 {
    let c = system.derive(theta).unwrap();
    let inputs = inputs(system);
    let y = Run::new(system, &c, &inputs).observe(observer, p).unwrap();
    y.iter().zip(weights(y.len())).map(|(y, w)| y * w).sum()
}

/// Derivatives by θ and p of the weighted sum, from one adjoint sweep.
fn gradient(
    system: &System,
    observer: &SignalObserver,
    options: &AdjointOptions,
) -> (f64, Vec<f64>, Vec<f64>) {
    let (theta, p) = (system.theta(), observer.leaves().theta());
    let c = system.derive(&theta).unwrap();
    let inputs = inputs(system);
    let mut loss = |y: &[f64]| {
        let w = weights(y.len());
        (y.iter().zip(&w).map(|(y, w)| y * w).sum(), w)
    };
    let run = Run::new(system, &c, &inputs);
    let found = run.gradient(observer, &p, options, &mut loss).unwrap();
    (found.value, system.derive_pullback(&theta, &c, &found.c), found.p)
}

/// Derivative along a direction, by tangents.
fn tangent(
    system: &System,
    observer: &SignalObserver,
    (theta_dot, p_dot): (&[f64], &[f64]),
    detach: &[usize],
) -> f64 {
    let theta = system.theta();
    let c: Constants = system.derive(&theta).unwrap();
    let inputs = inputs(system);
    let seeds = Seeds {
        columns: 1,
        c: system.derive_pushforward(&theta, &c, theta_dot),
        p: p_dot.to_vec(),
        ..Default::default()
    };
    let p = observer.leaves().theta();
    let run = Run::new(system, &c, &inputs);
    let found = run.sensitivities(observer, &p, &seeds, detach).unwrap();
    found.y_dot.iter().zip(weights(found.y.len())).map(|(y, w)| y * w).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A direction in one leaf, of the size of its values.
fn direction(system: &System, path: &str) -> Vec<f64> {
    let leaves = &system.model().leaves;
    let range = leaves.range(leaves.find(path).unwrap_or_else(|e| panic!("{e}")));
    let theta = system.theta();
    let mut out = vec![0.0; theta.len()];
    for (k, i) in range.enumerate() {
        out[i] =
            (theta[i].abs() + if theta[i] == 0.0 { 0.1 } else { 0.0 }) * (k as f64 + 1.0).cos();
    }
    out
}

/// A gradient narrowed to one leaf has the same bits for it, and no number for the others.
#[test]
fn narrowed_gradients_of_robots_are_the_same_or_not_numbers() {
    let whole = system();
    let observer = observer(&whole);
    let (_, by_theta, _) = gradient(&whole, &observer, &AdjointOptions::default());
    for (id, leaf) in whole.model().leaves.iter() {
        let mut system = System::new(whole.model()).unwrap();
        system.narrow(&[id]);
        let (_, narrowed, _) = gradient(&system, &observer, &AdjointOptions::default());
        let range = whole.model().leaves.range(id);
        for (i, (one, all)) in narrowed.iter().zip(&by_theta).enumerate() {
            let same = one.to_bits() == all.to_bits();
            assert!(if range.contains(&i) { same } else { one.is_nan() }, "{}", leaf.path);
        }
    }
}

#[test]
fn leaves_and_starts_through_a_run_of_a_flying_robot() {
    let system = system();
    let observer = observer(&system);
    let p = observer.leaves().theta();
    let (_, by_theta, _) = gradient(&system, &observer, &AdjointOptions::default());
    for path in [
        "joint.free.qpos",
        "joint.free.qvel",
        "joint.ball.qpos",
        "joint.ball.qvel",
        "joint.hinge.qpos",
        "actuator.servo.act",
        "body.hull.mass",
        "body.hull.ipos",
        "body.hull.fullinertia",
        "body.tail.quat",
        "body.fin.diaginertia",
        "joint.ball.damping",
        "joint.ball.stiffness",
        "joint.hinge.axis",
        "joint.hinge.armature",
        "actuator.servo.gear",
        "site.imu.pos",
        "site.imu.quat",
        "option.gravity",
    ] {
        let theta_dot = direction(&system, path);
        let pushed = tangent(&system, &observer, (&theta_dot, &[]), &[]);
        let pulled = dot(&by_theta, &theta_dot);
        let size = pushed.abs().max(1e-9);
        assert!((pulled - pushed).abs() <= 1e-11 * size, "{path}: {pulled} {pushed}");
        let theta = system.theta();
        let at = |e: f64| {
            let moved: Vec<f64> = theta.iter().zip(&theta_dot).map(|(a, b)| a + e * b).collect();
            value(&system, &observer, &moved, &p)
        };
        let error = |e: &f64| ((at(*e) - at(-*e)) / (2.0 * e) - pushed).abs() / size;
        let best = [1e-3, 1e-4, 1e-5, 1e-6].iter().map(error).fold(f64::INFINITY, f64::min);
        assert!(best <= 1e-7, "{path}: {pushed}, differences are off by {best}");
    }
}

#[test]
fn sensors_between_steps_by_the_clock() {
    let system = system();
    let observer = observer(&system);
    let theta = system.theta();
    let p = observer.leaves().theta();
    let (_, _, by_p) = gradient(&system, &observer, &AdjointOptions::default());
    let none = vec![0.0; theta.len()];
    for k in 0..p.len() {
        let mut p_dot = vec![0.0; p.len()];
        p_dot[k] = 1.0;
        let pushed = tangent(&system, &observer, (&none, &p_dot), &[]);
        assert!((by_p[k] - pushed).abs() <= 1e-11 * pushed.abs().max(1e-9), "{k}");
        let at = |e: f64| {
            let mut moved = p.clone();
            moved[k] += e;
            value(&system, &observer, &theta, &moved)
        };
        // Straight between steps: no narrower difference is better.
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((difference - pushed).abs() <= 1e-7 * pushed.abs().max(1.0), "{k}: {difference}");
    }
}

#[test]
fn a_hinge_is_seen_alike_by_sensor_and_joint() {
    let system = system();
    let joint = Observation::JointPosition { joint: "hinge".into(), slide: false };
    let signals =
        vec![sensor("angle", 1, 0), Signal { clock: Some(0), ..Signal::new("q", joint, 0) }];
    let clocks = vec![Clock { path: "recording.a.offset".into(), offset: 0.0, bounds: [0.0; 2] }];
    // On the steps, where nothing lies between.
    let samples = (0..2).map(|signal| Sample { signal, time: 0.04 }).collect();
    let set = SignalSet { clocks, signals, samples, ..Default::default() };
    let observer = SignalObserver::new(&system, &set).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let inputs = inputs(&system);
    let run = Run::new(&system, &c, &inputs);
    let y = run.observe(&observer, &observer.leaves().theta()).unwrap();
    assert!((y[0] - y[1]).abs() < 1e-12 && y[0] != 0.4, "{y:?}");
}

#[test]
fn checkpoints_do_not_change_a_bit() {
    let system = system();
    let observer = observer(&system);
    let reference = gradient(&system, &observer, &AdjointOptions::default());
    for policy in [Policy::StoreAll, Policy::TwoLevel, Policy::Binomial] {
        let options = AdjointOptions { policy, budget: 1 << 20, ..Default::default() };
        assert_eq!(gradient(&system, &observer, &options), reference, "{policy:?}");
    }
}

#[test]
fn a_cut_gradient_is_the_cut_tangent() {
    let system = system();
    let observer = observer(&system);
    let options = AdjointOptions { detach: vec![6], ..Default::default() };
    let (_, cut, _) = gradient(&system, &observer, &options);
    let (_, whole, _) = gradient(&system, &observer, &AdjointOptions::default());
    for path in ["joint.ball.qvel", "body.tail.mass"] {
        let theta_dot = direction(&system, path);
        let pushed = tangent(&system, &observer, (&theta_dot, &[]), &[6]);
        let pulled = dot(&cut, &theta_dot);
        assert!((pulled - pushed).abs() <= 1e-11 * pushed.abs().max(1e-9), "{path}");
        assert!((pulled - dot(&whole, &theta_dot)).abs() > 1e-6, "{path}");
    }
}

#[test]
fn unknown_sensors_are_told() {
    let system = system();
    let set = SignalSet { signals: vec![sensor("gyre", 3, 0)], ..Default::default() };
    let set = SignalSet { signals: vec![Signal { clock: None, ..set.signals[0].clone() }], ..set };
    let error = SignalObserver::new(&system, &set).err().map(|e| e.to_string()).unwrap();
    assert!(error.contains("gyre") && error.contains("gyro"), "{error}");
}
