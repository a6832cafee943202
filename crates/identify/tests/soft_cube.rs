//! The example `soft-cube` on a coarser grid: what is refused before the start, and what is found.

use std::path::{Path, PathBuf};

use costate_dynamics::DynamicsError;
use costate_dynamics::observe::{Observation, Point, Signal};
use costate_formats::scene::Scene;
use costate_identify::experiment::{
    Override, ParameterSpec, Place, Recording, Sigma, SignalData, SignalSpec,
};
use costate_identify::random::Random;
use costate_identify::{
    Experiment, Identification, IdentifyError, IdentifyOptions, Problem, identify,
};
use costate_model::{Entry, Model, Transform};

const MU: &str = "soft.cube.mu";
const TRUTH: f64 = 3000.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/soft-cube")
}

/// The example's scene with some lines changed, each of which must be there.
fn scene(changes: &[(&str, &str)]) -> Model {
    let path = folder().join("scene.toml");
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "the scene has no `{from}`");
        text = text.replace(from, to);
    }
    Scene::parse(&path, &text).unwrap().model
}

const COARSE: &[(&str, &str)] = &[
    (
        "cells = [20, 4, 10], cell = [0.01, 0.005, 0.01]",
        "cells = [10, 2, 5], cell = [0.02, 0.01, 0.02]",
    ),
    ("timestep = 2e-5", "timestep = 4e-5"),
];

fn coarse(more: &[(&str, &str)]) -> Model {
    scene(&[COARSE, more].concat())
}

/// Corners and the four edges at mid length, seen at 100 Hz over `samples` samples with the given
/// noise (standard deviation, m), from another place than the scene's where asked.
fn experiment(model: Model, samples: usize, sigma: f64, place: Option<[f64; 3]>) -> Experiment {
    let mut experiment = Experiment::new("soft cube", model);
    let mut recording = Recording { name: "throw".into(), ..Default::default() };
    let times: Vec<f64> = (1..=samples).map(|k| k as f64 * 0.01).collect();
    for z in [0, 5] {
        for y in [0, 2] {
            for x in [0, 5, 10] {
                for component in 0..3 {
                    let vertex = 33 * z + 11 * y + x;
                    let at = Observation::Position(Point::Vertex { body: "cube".into(), vertex });
                    let signal = Signal::new(format!("v{vertex}.{component}"), at, component);
                    recording.data.push(SignalData {
                        signal: experiment.signals.len(),
                        times: times.clone(),
                        values: vec![0.0; samples],
                        sigma: None,
                    });
                    experiment.signals.push(SignalSpec::new(signal, Sigma::Given(sigma)));
                }
            }
        }
    }
    if let Some(place) = place {
        recording.overrides.push(Override {
            path: "soft.cube.position".into(),
            values: place.to_vec(),
            place: Place::default(),
        });
    }
    experiment.recordings.push(recording);
    experiment
}

/// Fills the recording with what the scene does.
fn record(experiment: &mut Experiment) {
    let values = Problem::new(experiment).unwrap().predict(0, &[]).unwrap();
    let data = &mut experiment.recordings[0].data;
    let samples = data[0].times.len();
    for (data, values) in data.iter_mut().zip(values.chunks(samples)) {
        data.values.copy_from_slice(values);
    }
}

fn ask(experiment: &mut Experiment, start: f64) {
    let entry =
        Entry { start: Some(vec![start]), transform: Some(Transform::log()), ..Entry::new(MU) };
    experiment.parameters = vec![ParameterSpec::new(entry)];
}

fn run(experiment: &Experiment) -> Result<Identification, IdentifyError> {
    identify(experiment, &IdentifyOptions::default())
}

#[test]
fn the_step_that_people_first_try_is_refused_with_the_stable_one() {
    let model = scene(&[
        ("lambda = 10000.0", "lambda = 1000.0"),
        ("timestep = 2e-5 ", "timestep = 5.208333e-4 "),
    ]);
    let mut experiment = experiment(model, 1, 1e-3, None);
    ask(&mut experiment, TRUTH);
    match run(&experiment) {
        Err(IdentifyError::Dynamics(DynamicsError::UnstableStep { bound, limited_by, .. })) => {
            assert!((bound / 3.9e-5 - 1.0).abs() < 0.2, "{bound}");
            assert!(limited_by.contains("damping"), "{limited_by}");
        }
        other => panic!("{other:?}"),
    }
}

/// In free flight without deformation no elastic force acts.
#[test]
fn free_flight_cannot_show_a_stiffness() {
    let far = Some([0.0, 10.0, 0.0]);
    let mut flight = experiment(coarse(&[]), 10, 1e-3, far);
    record(&mut flight);
    ask(&mut flight, 300.0);
    match run(&flight) {
        Err(IdentifyError::NotIdentifiable(hidden)) => {
            assert_eq!(hidden.len(), 1);
            assert_eq!(hidden[0].path.as_deref(), Some(MU));
            assert!(hidden[0].reason.contains("does not deform"), "{}", hidden[0].reason);
            assert!(hidden[0].reason.contains("free flight"), "{}", hidden[0].reason);
        }
        other => panic!("{other:?}"),
    }
    // warp.sim's damping deforms a body that flies, and what deforms shows its stiffness.
    let law = ("damping = 1.0 ", "damping_law = \"warp\"\ndamping = 1.0 ");
    let mut flight = experiment(coarse(&[law]), 10, 1e-5, far);
    record(&mut flight);
    ask(&mut flight, 2000.0);
    let result = run(&flight).unwrap();
    let estimate = result.parameters[MU].estimate.as_slice()[0];
    assert!((estimate / TRUTH - 1.0).abs() < 1e-4, "{estimate} {:?}", result.warnings);
}

#[test]
fn clean_data_give_the_truth_from_far_below_and_far_above() {
    let mut landing = experiment(coarse(&[]), 25, 1e-6, None);
    record(&mut landing);
    for start in [300.0, 30_000.0] {
        ask(&mut landing, start);
        let result = run(&landing).unwrap();
        let estimate = result.parameters[MU].estimate.as_slice()[0];
        println!(
            "from {start}: {estimate}, {:?}, {:.1} s, {:?}",
            result.history.iter().map(|i| i.iteration).collect::<Vec<_>>(),
            result.wall_s,
            result.status
        );
        assert!(result.converged, "{:?}", result.warnings);
        assert!((estimate / TRUTH - 1.0).abs() < 1e-6, "{estimate}");
        let iterations = result.history.iter().filter(|i| i.iteration > 0).count();
        assert!(iterations <= 15, "{iterations}");
        assert!(!result.warnings.iter().any(|w| w.contains("chaotic")), "{:?}", result.warnings);
    }
}

#[test]
fn noisy_data_give_the_truth_within_the_interval() {
    let mut landing = experiment(coarse(&[]), 25, 1e-3, None);
    record(&mut landing);
    let mut random = Random::new(5);
    for data in &mut landing.recordings[0].data {
        for value in &mut data.values {
            *value += 1e-3 * random.normal();
        }
    }
    ask(&mut landing, 2000.0);
    let result = run(&landing).unwrap();
    let error = result.parameters[MU].std_error.as_ref().unwrap().as_slice()[0];
    let estimate = result.parameters[MU].estimate.as_slice()[0];
    println!("{estimate} ± {error}, {} iterations, {:?}", result.iterations, result.warnings);
    assert!((estimate - TRUTH).abs() < 3.0 * error, "{estimate} ± {error}");
    assert!(error < 0.02 * TRUTH, "{error}");
    let rms = result.signals.iter().map(|s| s.rms * s.rms).sum::<f64>() / 36.0;
    assert!((rms.sqrt() / 1e-3 - 1.0).abs() < 0.1, "{rms}");
}

/// The law's bulk modulus is λ − μ/8.
#[test]
fn a_start_with_a_negative_bulk_modulus_is_told() {
    let mut landing =
        experiment(coarse(&[("lambda = 10000.0", "lambda = 1000.0")]), 20, 1e-3, None);
    record(&mut landing);
    ask(&mut landing, 30_000.0);
    landing.method.max_iterations = 1;
    let said = match run(&landing) {
        Ok(result) => result.warnings.join("; "),
        Err(e) => e.to_string(),
    };
    assert!(said.contains("bulk modulus lambda − mu/8"), "{said}");
    assert!(said.contains("-2750"), "{said}");
}
