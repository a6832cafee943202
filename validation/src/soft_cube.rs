//! The soft cube of the examples on a coarser grid: what is refused, and what is found.

use costate::dynamics::DynamicsError;
use costate::dynamics::observe::{Observation, Point, Signal};
use costate::identify::experiment::{
    Override, ParameterSpec, Place, Recording, Sigma, SignalData, SignalSpec,
};
use costate::identify::random::Random;
use costate::identify::{
    Experiment, Identification, IdentifyError, IdentifyOptions, Problem, identify,
};
use costate::model::{Entry, Transform};
use costate::prelude::*;

use crate::check::{Criterion, Group};

const MU: &str = "soft.cube.mu";
const TRUTH: f64 = 3000.0;
const NOISE: f64 = 1e-3;
const SEEDS: u64 = 40;

/// The example's scene with parts of its text replaced.
fn scene(changes: &[(&str, &str)]) -> Result<Model, String> {
    let path = crate::root().join("examples/soft-cube/scene.toml");
    let mut text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    for (from, to) in changes {
        if !text.contains(from) {
            return Err(format!("the scene has no `{from}`"));
        }
        text = text.replace(from, to);
    }
    Ok(Scene::parse(&path, &text).map_err(|e| e.to_string())?.model)
}

/// 10 x 2 x 5 cells at h = 4e-5 s.
fn coarse(more: &[(&str, &str)]) -> Result<Model, String> {
    let changes = [
        ("cells = [20, 4, 10]", "cells = [10, 2, 5]"),
        ("cell = [0.01, 0.005, 0.01]", "cell = [0.02, 0.01, 0.02]"),
        ("timestep = 2e-5 ", "timestep = 4e-5 "),
    ];
    scene(&[&changes, more].concat())
}

/// What the scene does at corners and mid length at 100 Hz for 0.5 s, noise to be added.
fn film(model: Model, place: Option<[f64; 3]>) -> Result<Experiment, String> {
    let mut experiment = Experiment::new("soft cube", model);
    let mut recording = Recording { name: "throw".into(), ..Default::default() };
    let times: Vec<f64> = (1..=50).map(|k| f64::from(k) * 0.01).collect();
    for vertex in [0, 5, 10, 22, 27, 32, 165, 170, 175, 187, 192, 197] {
        for component in 0..3 {
            let at = Observation::Position(Point::Vertex { body: "cube".into(), vertex });
            let signal = Signal::new(format!("v{vertex}.{component}"), at, component);
            recording.data.push(SignalData {
                signal: experiment.signals.len(),
                times: times.clone(),
                values: vec![0.0; times.len()],
                sigma: None,
            });
            experiment.signals.push(SignalSpec::new(signal, Sigma::Given(NOISE)));
        }
    }
    recording.overrides.extend(place.map(|place| Override {
        path: "soft.cube.position".into(),
        values: place.to_vec(),
        place: Place::default(),
    }));
    experiment.recordings.push(recording);
    let problem = Problem::new(&experiment).map_err(|e| e.to_string())?;
    let seen = problem.predict(0, &[]).map_err(|e| e.to_string())?;
    for (data, seen) in experiment.recordings[0].data.iter_mut().zip(seen.chunks(times.len())) {
        data.values.copy_from_slice(seen);
    }
    Ok(experiment)
}

fn noisy(clean: &Experiment, seed: u64) -> Experiment {
    let mut experiment = clean.clone();
    let mut random = Random::new(seed);
    for value in experiment.recordings[0].data.iter_mut().flat_map(|d| &mut d.values) {
        *value += NOISE * random.normal();
    }
    experiment
}

fn fit(experiment: &Experiment, start: f64) -> Result<Identification, IdentifyError> {
    let mut experiment = experiment.clone();
    let entry =
        Entry { start: Some(vec![start]), transform: Some(Transform::log()), ..Entry::new(MU) };
    experiment.parameters = vec![ParameterSpec::new(entry)];
    identify(&experiment, &IdentifyOptions::default())
}

/// 1 where a run said what it must.
fn said(group: &mut Group, what: &str, text: &str, needle: &str) {
    let value = f64::from(u8::from(text.contains(needle)));
    group.add(what, &format!("says \"{needle}\""), Criterion::AtLeast(1.0), value);
}

fn outcome(found: Result<Identification, IdentifyError>) -> String {
    match found {
        Ok(result) => result.warnings.join("; "),
        Err(error) => error.to_string(),
    }
}

fn refusals(group: &mut Group) -> Result<(), String> {
    let slow = ("timestep = 2e-5 ", "timestep = 5.208333e-4 ");
    let soft = ("lambda = 10000.0", "lambda = 1000.0");
    let model = scene(&[soft, slow])?;
    let system = System::new(&model).map_err(|e| e.to_string())?;
    let constants = system.derive(&system.theta()).map_err(|e| e.to_string())?;
    let state = system.initial_state(&constants, &[]);
    let bound = match system.check_timestep(&constants, &state, &[]) {
        Err(DynamicsError::UnstableStep { bound, .. }) => bound,
        _ => f64::NAN,
    };
    let within = Criterion::Within { reference: 3.9e-5, tolerance: 0.2 * 3.9e-5 };
    group.add("full grid, h = 1/1920 s: refused with this step, s", "trials", within, bound);
    let flight = film(coarse(&[])?, Some([0.0, 10.0, 0.0]))?;
    let text = outcome(fit(&flight, 300.0));
    said(group, "free flight: mu is refused", &text, "does not deform");
    let landing = film(coarse(&[soft])?, None)?;
    let text = outcome(fit(&landing, 30_000.0));
    said(group, "lambda 1000, started at mu 30 000", &text, "bulk modulus lambda − mu/8");
    Ok(())
}

fn fits(group: &mut Group) -> Result<(), String> {
    let clean = film(coarse(&[])?, None)?;
    for start in [300.0, 30_000.0] {
        let result = fit(&clean, start).map_err(|e| e.to_string())?;
        let error = (result.parameters[MU].estimate.as_slice()[0] / TRUTH - 1.0).abs();
        let what = format!("clean data, from mu {start}: relative error");
        group.add(&what, "truth 3000 Pa", Criterion::AtMost(1e-6), error);
        let what = format!("clean data, from mu {start}: iterations");
        group.add(
            &what,
            "a trial took 11 to 13",
            Criterion::AtMost(15.0),
            result.iterations as f64,
        );
    }
    let (mut covered, mut squares, mut errors) = (0, 0.0, 0.0);
    for seed in 0..SEEDS {
        let result = fit(&noisy(&clean, 1000 + seed), TRUTH).map_err(|e| e.to_string())?;
        let mu = &result.parameters[MU];
        let estimate = mu.estimate.as_slice()[0];
        let [low, high] = mu.ci95.as_ref().map_or([f64::NAN; 2], |c| c[0]);
        covered += u8::from((low..=high).contains(&TRUTH));
        squares += (estimate - TRUTH).powi(2) / SEEDS as f64;
        errors += mu.std_error.as_ref().map_or(f64::NAN, |e| e.as_slice()[0]) / SEEDS as f64;
    }
    let between = Criterion::Between(35.0, 40.0);
    group.add("1 mm of noise: 95 % intervals that cover, of 40", "38", between, covered.into());
    let ratio = squares.sqrt() / errors;
    let between = Criterion::Between(0.75, 1.3);
    let reference = format!("1 (mean standard error {errors:.2} Pa)");
    group.add("scatter of the estimates over their standard error", &reference, between, ratio);
    Ok(())
}

/// What is refused before the start, and what fits find.
pub fn run() -> Group {
    let mut group = Group::new(
        "The soft cube",
        "A slab thrown to the ground, recorded from its own simulation at mu 3000 (12 vertices, \
         100 Hz for 0.5 s); 10 x 2 x 5 cells, h = 4e-5 s.",
    );
    for part in [refusals, fits] {
        if let Err(error) = part(&mut group) {
            group.failed("the soft cube", error);
        }
    }
    group
}
