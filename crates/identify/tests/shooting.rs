//! Multiple shooting: the same answer as one motion where both work, and one where one motion does not.

use std::path::Path;

use costate_dynamics::observe::{Observation, Point, Signal};
use costate_identify::experiment::{
    ParameterSpec, Place, Recording, Shooting, Sigma, SignalData, SignalSpec,
};
use costate_identify::random::Random;
use costate_identify::{Experiment, Identification, IdentifyOptions, Problem, identify};
use costate_model::{Entry, Model, SoftBuilder, SpringSettings};

/// Two arms on hinges, upright at zero.
const ARMS: &str = r#"<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body name="upper">
      <joint name="pivot" axis="0 1 0" damping="0.02"/>
      <inertial pos="0 0 0.15" mass="0.5" diaginertia="0.004 0.004 0.0005"/>
      <body name="lower" pos="0 0 0.3">
        <joint name="elbow" axis="0 1 0" damping="0.01"/>
        <inertial pos="0 0 0.12" mass="0.3" diaginertia="0.002 0.002 0.0003"/>
      </body>
    </body>
  </worldbody>
</mujoco>"#;

fn angle(name: &str) -> Signal {
    let joint = name.into();
    Signal::new(name, Observation::JointPosition { joint, slide: false }, 0)
}

fn unknown(path: &str, start: f64) -> ParameterSpec {
    ParameterSpec::new(Entry { start: Some(vec![start]), ..Entry::new(path) })
}

/// The signals of a model, sampled over some seconds at 50 Hz, with noise.
fn experiment(model: Model, signals: &[Signal], seconds: f64, sigma: f64, seed: u64) -> Experiment {
    let mut experiment = Experiment::new("windows", model);
    for signal in signals {
        experiment.signals.push(SignalSpec::new(signal.clone(), Sigma::Given(sigma)));
    }
    let times: Vec<f64> = (1..=(50.0 * seconds) as usize).map(|i| 0.02 * i as f64).collect();
    let data = (0..signals.len())
        .map(|signal| {
            let values = vec![0.0; times.len()];
            SignalData { signal, times: times.clone(), values, sigma: None }
        })
        .collect();
    experiment.recordings.push(Recording { name: "r".into(), data, ..Recording::default() });
    let y = Problem::new(&experiment).unwrap().predict(0, &[]).unwrap();
    let mut random = Random::new(seed);
    let mut y = y.into_iter();
    for value in experiment.recordings[0].data.iter_mut().flat_map(|d| &mut d.values) {
        *value = y.next().unwrap() + sigma * random.normal();
    }
    experiment
}

fn robot(text: &str) -> Model {
    let mut model = costate_formats::parse_mjcf(Path::new("robot.xml"), text).unwrap();
    let mut robot = model.articulation.take().unwrap();
    robot.add_initial_state(&mut model.leaves, None).unwrap();
    model.articulation = Some(robot);
    model
}

fn arms(start: [f64; 2]) -> Model {
    let mut model = robot(ARMS);
    for (joint, q) in ["pivot", "elbow"].iter().zip(start) {
        let id = model.leaves.find(&format!("joint.{joint}.qpos")).unwrap();
        model.leaves.set(id, &[q]).unwrap();
    }
    model
}

fn solve(experiment: &Experiment, shooting: Option<Shooting>) -> Identification {
    let mut experiment = experiment.clone();
    experiment.method.shooting = shooting;
    identify(&experiment, &IdentifyOptions::default()).unwrap()
}

fn estimate(result: &Identification, path: &str) -> [f64; 2] {
    let found = &result.parameters[path];
    let error = found.std_error.as_ref().unwrap_or_else(|| panic!("{:?}", result.warnings));
    [found.estimate.as_slice()[0], error.as_slice()[0]]
}

/// Estimates and standard errors of both methods agree.
fn agree(experiment: &Experiment, window: f64) {
    let one = solve(experiment, None);
    let many = solve(experiment, Some(Shooting { window, tolerance: 1e-5 }));
    assert!(one.converged && many.converged, "{:?} {:?}", one.warnings, many.warnings);
    for path in one.parameters.keys() {
        let ([a, a_error], [b, b_error]) = (estimate(&one, path), estimate(&many, path));
        assert!((a - b).abs() < 0.02 * a_error, "{path}: {a} {b} ± {a_error}");
        assert!((a_error / b_error - 1.0).abs() < 0.01, "{path}: {a_error} {b_error}");
    }
    for (a, b) in one.signals.iter().zip(&many.signals) {
        assert!((a.rms - b.rms).abs() < 1e-3 * a.rms, "{}: {} {}", a.signal, a.rms, b.rms);
    }
}

#[test]
fn windows_of_arms_give_what_one_motion_gives() {
    let mut swing = experiment(arms([2.6, 0.4]), &[angle("pivot"), angle("elbow")], 4.0, 2e-3, 1);
    swing.parameters = vec![
        unknown("joint.pivot.damping", 0.03),
        unknown("joint.elbow.damping", 0.006),
        unknown("joint.pivot.qpos", 2.5),
    ];
    agree(&swing, 0.7);
}

#[test]
fn windows_of_a_soft_body_give_what_one_motion_gives() {
    let mut model = Model::new("oscillator");
    model.options.timestep = 2e-3;
    let springs = SpringSettings { stiffness: vec![40.0], damping: vec![0.3], rest_length: None };
    SoftBuilder::new("a", vec![[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
        .start_position(vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.1])
        .with_springs(vec![[0, 1]], springs)
        .point_mass("bob", vec![1], 0.5)
        .fix(&[0])
        .build(&mut model)
        .unwrap();
    let height =
        Signal::new("z", Observation::Position(Point::Vertex { body: "a".into(), vertex: 1 }), 2);
    let mut swing = experiment(model, &[height], 4.0, 2e-3, 2);
    swing.parameters =
        vec![unknown("soft.a.springs.stiffness", 30.0), unknown("soft.a.springs.damping", 0.2)];
    agree(&swing, 0.5);
}

/// Case R37: arms that start upright tumble for 50 s; an error at the start grows by a factor of e many times
/// over, so that no single motion follows the record.
#[test]
fn arms_that_tumble_for_50_s() {
    let mut tumble = experiment(arms([0.3, 0.1]), &[angle("pivot"), angle("elbow")], 50.0, 5e-3, 3);
    tumble.parameters = vec![
        unknown("joint.pivot.damping", 0.08),
        unknown("joint.elbow.damping", 0.003),
        unknown("body.lower.mass", 0.5),
    ];
    tumble.method.max_iterations = 30;
    let many = solve(&tumble, Some(Shooting { window: 0.5, tolerance: 1e-5 }));
    assert!(many.converged, "{:?}", many.warnings);
    let truth =
        [("joint.pivot.damping", 0.02), ("joint.elbow.damping", 0.01), ("body.lower.mass", 0.3)];
    for (path, truth) in truth {
        let [found, error] = estimate(&many, path);
        assert!((found - truth).abs() < 4.0 * error + 1e-4 * truth, "{path}: {found} ± {error}");
        assert!(error < 0.02 * truth, "{path}: ± {error}");
    }
    for signal in &many.signals {
        assert!(signal.rms < 6e-3, "{}: {}", signal.signal, signal.rms);
    }
    // One motion from the same start does not get there.
    let one = solve(&tumble, None);
    assert!(one.signals.iter().any(|s| s.rms > 0.1), "{:?}", one.warnings);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let ball = r#"<mujoco><worldbody><body name="b"><joint name="j" type="ball"/>
        <geom type="sphere" size="0.1" pos="0 0 -0.3" contype="0" conaffinity="0"/></body></worldbody></mujoco>"#;
    let model = robot(ball);
    let mut cut = Experiment::new("ball", model);
    let observation = Observation::Energy;
    cut.signals.push(SignalSpec::new(Signal::new("e", observation, 0), Sigma::Given(1.0)));
    let times = vec![0.1, 0.2];
    let data = vec![SignalData { signal: 0, times, values: vec![0.0; 2], sigma: None }];
    cut.recordings.push(Recording {
        name: "r".into(),
        data,
        place: Place::default(),
        ..Recording::default()
    });
    cut.parameters = vec![unknown("joint.j.damping", 0.1)];
    cut.method.shooting = Some(Shooting { window: 0.1, tolerance: 1e-5 });
    let error = identify(&cut, &IdentifyOptions::default()).unwrap_err().to_string();
    assert!(error.contains("ball joints"), "{error}");
}
