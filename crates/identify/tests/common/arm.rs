//! An arm of four hinges driven by motors: damping, armature and dry friction of every joint (12 numbers) from
//! 4 s of positions and velocities at 250 Hz, where the motion starts being unknown too.

use std::path::Path;

use costate_dynamics::observe::{Observation, Signal};
use costate_identify::experiment::{
    FirstRow, ParameterSpec, Recording, Sigma, SignalData, SignalSpec,
};
use costate_identify::random::Random;
use costate_identify::{Experiment, IdentifyError, Problem};
use costate_model::{Entry, InputSignal, Interpolation, Transform};

pub const JOINTS: [&str; 4] = ["base", "shoulder", "elbow", "wrist"];
/// What is unknown of every joint, its true values, and its upper bound.
pub const TRUTH: [(&str, [f64; 4], f64); 3] = [
    ("damping", [1.0, 0.8, 0.5, 0.2], 20.0),
    ("armature", [0.20, 0.15, 0.08, 0.03], 4.0),
    ("frictionloss", [0.8, 0.6, 0.4, 0.15], 16.0),
];
const START: [f64; 4] = [0.3, -0.4, 0.5, -0.2];
const RATE: [f64; 4] = [0.4, -0.3, 0.2, 0.5];
/// Noise of positions and velocities.
const SIGMA: [f64; 2] = [2e-3, 2e-2];
const STEP: f64 = 0.004;
/// Position of each joint in the body before it, axis, mass, centre of mass, inertia.
const LINKS: [(&str, &str, f64, &str, &str); 4] = [
    ("0 0 0.1", "0 0 1", 2.0, "0 0 0.1", "0.02 0.02 0.01"),
    ("0 0 0.2", "0 1 0", 1.6, "0 0 0.15", "0.016 0.016 0.004"),
    ("0 0 0.3", "0 1 0", 1.0, "0 0 0.12", "0.008 0.008 0.002"),
    ("0 0 0.25", "1 0 0", 0.5, "0 0 0.08", "0.003 0.003 0.001"),
];

fn mjcf() -> String {
    let (mut bodies, mut motors) = (String::new(), String::new());
    for (i, (pos, axis, mass, centre, inertia)) in LINKS.iter().enumerate() {
        let values: String =
            TRUTH.iter().map(|(key, values, _)| format!(" {key}=\"{}\"", values[i])).collect();
        let joint = JOINTS[i];
        bodies += &format!(
            "<body name=\"link{i}\" pos=\"{pos}\"><inertial pos=\"{centre}\" mass=\"{mass}\" \
             diaginertia=\"{inertia}\"/><joint name=\"{joint}\" axis=\"{axis}\"{values}/>"
        );
        motors += &format!("<motor name=\"{joint}\" joint=\"{joint}\"/>");
    }
    format!(
        "<mujoco><option timestep=\"{STEP}\" integrator=\"implicitfast\"/><worldbody>{bodies}{}</worldbody>\
         <actuator>{motors}</actuator></mujoco>",
        "</body>".repeat(4)
    )
}

/// Torque of motor `i` at time `t`.
fn torque(i: usize, t: f64) -> f64 {
    let (a, f, p) = ([8.0, 14.0, 6.0, 1.2][i], [0.7, 0.9, 1.3, 1.9][i], [0.0, 0.6, 1.2, 1.8][i]);
    let turn = std::f64::consts::TAU * f * t;
    a * (turn + p).sin() + 0.4 * a * (2.7 * turn).sin()
}

/// `steps` + 1 samples of every signal, without noise; σ is estimated. Nothing is unknown yet.
pub fn clean(steps: usize) -> Result<Experiment, IdentifyError> {
    let mut model = costate_formats::parse_mjcf(Path::new("arm.xml"), &mjcf())?;
    if let Some(mut robot) = model.articulation.take() {
        robot.add_initial_state(&mut model.leaves, None)?;
        model.articulation = Some(robot);
    }
    for (i, joint) in JOINTS.iter().enumerate() {
        for (what, value) in [("qpos", START[i]), ("qvel", RATE[i])] {
            let id = model.leaves.find(&format!("joint.{joint}.{what}"))?;
            model.leaves.set(id, &[value])?;
        }
    }
    let mut experiment = Experiment::new("arm", model);
    let times: Vec<f64> = (0..=steps).map(|k| k as f64 * STEP).collect();
    let mut recording = Recording { name: "motion".into(), ..Recording::default() };
    for (i, joint) in JOINTS.iter().enumerate() {
        let values = times.iter().map(|&t| torque(i, t)).collect();
        let input =
            InputSignal { times: times.clone(), values, interpolation: Interpolation::Hold };
        recording.inputs.push((format!("actuator.{joint}"), input));
        let joint = (*joint).to_owned();
        let observations = [
            Observation::JointPosition { joint: joint.clone(), slide: false },
            Observation::JointVelocity { joint: joint.clone(), slide: false },
        ];
        for (kind, observation) in ["q", "v"].iter().zip(observations) {
            let signal = Signal::new(format!("{kind}{i}"), observation, 0);
            let (values, signal_index) = (vec![0.0; times.len()], experiment.signals.len());
            experiment.signals.push(SignalSpec::new(signal, Sigma::Auto));
            let data =
                SignalData { signal: signal_index, times: times.clone(), values, sigma: None };
            recording.data.push(data);
        }
    }
    experiment.recordings.push(recording);
    let y = Problem::new(&experiment)?.predict(0, &[])?;
    let mut y = y.into_iter();
    for value in experiment.recordings[0].data.iter_mut().flat_map(|d| &mut d.values) {
        *value = y.next().unwrap_or(f64::NAN);
    }
    Ok(experiment)
}

/// The same with noise, and everything unknown: each of the 12 numbers starts at what `start` makes of its true
/// value (with its place among them), the motion at its first, noisy sample.
pub fn noisy(clean: &Experiment, seed: u64, start: impl Fn(usize, f64) -> f64) -> Experiment {
    let mut experiment = clean.clone();
    let mut random = Random::new(seed);
    let recording = &mut experiment.recordings[0];
    for (k, data) in recording.data.iter_mut().enumerate() {
        for value in &mut data.values {
            *value += SIGMA[k % 2] * random.normal();
        }
        recording.first_row.insert(format!("{}", k), data.values[0]);
    }
    let mut place = 0;
    for (key, values, upper) in TRUTH {
        for (joint, value) in JOINTS.iter().zip(values) {
            let mut entry = Entry::new(format!("joint.{joint}.{key}"));
            entry.start = Some(vec![start(place, value)]);
            entry.bounds = Some((0.0, upper));
            entry.transform = Some(Transform::identity());
            experiment.parameters.push(ParameterSpec::new(entry));
            place += 1;
        }
    }
    for (i, joint) in JOINTS.iter().enumerate() {
        for (k, what) in ["qpos", "qvel"].iter().enumerate() {
            let mut spec = ParameterSpec::new(Entry::new(format!("joint.{joint}.{what}")));
            spec.per_recording = true;
            spec.first = Some(FirstRow { columns: vec![format!("{}", 2 * i + k)], unit: None });
            experiment.parameters.push(spec);
        }
    }
    experiment
}
