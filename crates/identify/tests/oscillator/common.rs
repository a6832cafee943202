//! A mass on a spring, whose truth is known.

use costate_dynamics::observe::{Observation, Point, Signal};
use costate_identify::experiment::{
    Override, ParameterSpec, Place, Recording, Sigma, SignalData, SignalSpec,
};
use costate_identify::random::Random;
use costate_identify::{Experiment, Identification, IdentifyOptions, Numbers, Problem, identify};
use costate_model::{Entry, Model, SoftBuilder, SpringSettings};

pub const STIFFNESS: f64 = 40.0;
pub const DAMPING: f64 = 0.3;
pub const MASS: f64 = 0.5;

/// A mass below a fixed point on a spring of unit length, released 0.1 m below its rest length.
pub fn oscillator() -> Model {
    let mut model = Model::new("oscillator");
    model.options.timestep = 2e-3;
    SoftBuilder::new("a", vec![[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
        .start_position(vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.1])
        .with_springs(
            vec![[0, 1]],
            SpringSettings {
                stiffness: vec![STIFFNESS],
                damping: vec![DAMPING],
                rest_length: None,
            },
        )
        .point_mass("bob", vec![1], MASS)
        .fix(&[0])
        .build(&mut model)
        .unwrap();
    model
}

pub const K: &str = "soft.a.springs.stiffness";
pub const D: &str = "soft.a.springs.damping";
pub const M: &str = "soft.a.point_mass.bob";

pub fn height() -> Signal {
    Signal::new("z", Observation::Position(Point::Vertex { body: "a".into(), vertex: 1 }), 2)
}

pub fn spec(path: &str, start: f64) -> ParameterSpec {
    ParameterSpec::new(Entry { start: Some(vec![start]), ..Entry::new(path) })
}

/// Times from `dt` on.
pub fn times(count: usize, dt: f64) -> Vec<f64> {
    (1..=count).map(|i| i as f64 * dt).collect()
}

pub fn recording(name: &str, count: usize, dt: f64) -> Recording {
    let times = times(count, dt);
    let values = vec![0.0; count];
    let data = vec![SignalData { signal: 0, times, values, sigma: None }];
    Recording { name: name.into(), data, ..Default::default() }
}

pub fn with_override(mut recording: Recording, path: &str, values: &[f64]) -> Recording {
    recording.overrides.push(Override {
        path: path.into(),
        values: values.to_vec(),
        place: Place::default(),
    });
    recording
}

/// An experiment whose recordings hold what the model itself does, without noise.
pub fn experiment(sigma: Sigma, recordings: Vec<Recording>) -> Experiment {
    let mut experiment = Experiment::new("oscillator", oscillator());
    experiment.signals.push(SignalSpec::new(height(), sigma));
    experiment.recordings = recordings;
    synthesise(&mut experiment);
    experiment
}

/// Fills the recordings with what the model does.
pub fn synthesise(experiment: &mut Experiment) {
    let parameters = std::mem::take(&mut experiment.parameters);
    let problem = Problem::new(experiment).unwrap();
    for r in 0..experiment.recordings.len() {
        let mut y = problem.predict(r, &[]).unwrap().into_iter();
        for data in &mut experiment.recordings[r].data {
            for value in data.values.iter_mut().filter(|v| v.is_finite()) {
                *value = y.next().unwrap();
            }
        }
    }
    experiment.parameters = parameters;
}

pub fn add_noise(experiment: &mut Experiment, sigma: f64, seed: u64) {
    let mut random = Random::new(seed);
    for recording in &mut experiment.recordings {
        for data in &mut recording.data {
            for value in &mut data.values {
                *value += sigma * random.normal();
            }
        }
    }
}

pub fn run(experiment: &Experiment) -> Identification {
    identify(experiment, &IdentifyOptions::default()).unwrap()
}

pub fn estimate(result: &Identification, path: &str) -> f64 {
    one(&result.parameters[path].estimate)
}

pub fn one(numbers: &Numbers) -> f64 {
    assert_eq!(numbers.as_slice().len(), 1);
    numbers.as_slice()[0]
}

pub fn interval(result: &Identification, path: &str) -> [f64; 2] {
    result.parameters[path].ci95.as_ref().unwrap()[0]
}
