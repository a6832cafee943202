//! Controllers in the loop, drives and laws of friction: closed forms and proofs of derivatives.

mod balance;
mod closed_forms;
mod proofs;

use costate_dynamics::System;
use costate_dynamics::rollout::Run;
use costate_formats::scene::Scene;
use costate_model::{InputSignal, Inputs, Interpolation, Trajectory};

/// A scene around one of the robots beside the tests.
pub fn system(text: &str) -> System {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/control/scene.toml");
    let scene = Scene::parse(path, text).unwrap_or_else(|e| panic!("{e}"));
    System::new(&scene.model).unwrap_or_else(|e| panic!("{e}"))
}

/// Inputs by the names of their channels, held between samples.
pub fn inputs(system: &System, given: &[(&str, InputSignal)]) -> Inputs {
    let signals = system.channels().iter().map(|channel| {
        given.iter().find(|(name, _)| *name == channel.name).map(|(_, signal)| signal.clone())
    });
    Inputs { signals: signals.collect() }
}

/// A sampled function of time.
pub fn sampled(count: usize, step: f64, f: impl Fn(f64) -> f64) -> InputSignal {
    let times: Vec<f64> = (0..count).map(|i| i as f64 * step).collect();
    let values = times.iter().map(|&t| f(t)).collect();
    InputSignal { times, values, interpolation: Interpolation::Linear }
}

/// The motion over some steps.
pub fn simulate(system: &System, inputs: &Inputs, steps: usize) -> Trajectory {
    let c = system.derive(&system.theta()).unwrap_or_else(|e| panic!("{e}"));
    Run::new(system, &c, inputs).rollout(steps, 1).unwrap_or_else(|e| panic!("{e}"))
}
