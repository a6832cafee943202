//! Identification through the library, without files: a soft slab is thrown to the ground, twelve of
//! its vertices are filmed, and its stiffness is found from the film.
//!
//! `cargo run --release -p costate --example fit_soft_cube`

use std::error::Error;

use costate::dynamics::observe::{Observation, Point, Signal};
use costate::identify::experiment::{ParameterSpec, Recording, Sigma, SignalData, SignalSpec};
use costate::identify::random::Random;
use costate::identify::{Experiment, Identification, IdentifyOptions, Problem, identify};
use costate::model::{Damping, Entry, Transform};
use costate::prelude::*;

/// Pa.
const TRUTH: f64 = 3000.0;
/// Standard deviation of the film's noise, m.
const NOISE: f64 = 1e-3;
const CELLS: [usize; 3] = [6, 3, 2];

/// A slab of 0.18 x 0.09 x 0.02 m, tilted by 20°.
fn slab(mu: f64) -> Result<Model, Box<dyn Error>> {
    let mut model = Model::new("slab");
    model.options.timestep = 5e-5;
    let half = 10f64.to_radians();
    SoftBuilder::grid("slab", CELLS, [0.03, 0.03, 0.01], GridSplit::Five)
        .position([0.0, 0.0, 0.05])
        .rotation([half.cos(), 0.0, -half.sin(), 0.0])
        .velocity([-2.0, 0.0, 0.0])
        .tetrahedra(TetrahedraSettings {
            damping: Damping { viscosity: vec![1.0], ..Default::default() },
            ..TetrahedraSettings::new(MaterialSettings::lame("warp", mu, 10_000.0), 10.0)
        })
        .build(&mut model)?;
    GeomBuilder::new("ground", Shape::Plane, &[])
        .stiffness(10.0)
        .damping(0.02)
        .friction_damping(0.02)
        .build(&mut model)?;
    Ok(model)
}

/// A film of the slab: corners and mid length, 100 frames a second.
fn film(model: Model, frames: usize) -> Experiment {
    let mut experiment = Experiment::new("slab", model);
    let mut recording = Recording { name: "throw".into(), ..Default::default() };
    let [nx, ny, nz] = CELLS;
    for (x, y, z) in [0, nx / 2, nx].into_iter().flat_map(|x| {
        [0, ny].into_iter().flat_map(move |y| [0, nz].into_iter().map(move |z| (x, y, z)))
    }) {
        let vertex = ((nx + 1) * (ny + 1) * z + (nx + 1) * y + x) as u32;
        let at = Observation::Position(Point::Vertex { body: "slab".into(), vertex });
        for component in 0..3 {
            let signal = Signal::new(format!("vertex {vertex}.{component}"), at.clone(), component);
            let times: Vec<f64> = (1..=frames).map(|k| 0.01 * k as f64).collect();
            let values = vec![0.0; frames];
            let signal_index = experiment.signals.len();
            let data = SignalData { signal: signal_index, times, values, sigma: None };
            recording.data.push(data);
            experiment.signals.push(SignalSpec::new(signal, Sigma::Given(NOISE)));
        }
    }
    experiment.recordings.push(recording);
    experiment
}

/// Makes the film with the true stiffness and fits it from another.
fn fit(frames: usize, start: f64) -> Result<Identification, Box<dyn Error>> {
    let mut experiment = film(slab(TRUTH)?, frames);
    let seen = Problem::new(&experiment)?.predict(0, &[])?;
    let mut random = Random::new(1);
    for (data, seen) in experiment.recordings[0].data.iter_mut().zip(seen.chunks(frames)) {
        data.values = seen.iter().map(|x| x + NOISE * random.normal()).collect();
    }
    experiment.parameters = vec![ParameterSpec::new(Entry {
        start: Some(vec![start]),
        transform: Some(Transform::log()),
        ..Entry::new("soft.slab.mu")
    })];
    Ok(identify(&experiment, &IdentifyOptions::default())?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let result = fit(30, 300.0)?;
    for (path, p) in &result.parameters {
        println!("{path}: {:?} ± {:?} {} (truth {TRUTH})", p.estimate, p.std_error, p.unit);
    }
    println!("{} iterations, {:.2} s; {:?}", result.iterations, result.wall_s, result.warnings);
    Ok(())
}

#[test]
fn it_finds_the_truth() {
    let result = fit(15, 2000.0).unwrap();
    let mu = &result.parameters["soft.slab.mu"];
    let error = mu.std_error.as_ref().unwrap().as_slice()[0];
    let estimate = mu.estimate.as_slice()[0];
    assert!(result.converged && error < 0.05 * TRUTH, "{result:?}");
    assert!((estimate - TRUTH).abs() < 3.5 * error, "{estimate} ± {error}");
}
