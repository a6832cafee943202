//! Writes the recordings of `examples/soft-cube`: what its scene does, seen at twelve vertices at
//! 100 Hz, without noise, with 1 mm of noise, and in free flight.
//!
//! `cargo run --release -p costate --example record_soft_cube`

use std::error::Error;
use std::path::{Path, PathBuf};

use costate::dynamics::observe::{Observation, Point, Signal};
use costate::formats::table::write_csv;
use costate::identify::experiment::{Override, Place, Recording, Sigma, SignalData, SignalSpec};
use costate::identify::random::Random;
use costate::identify::{Experiment, Problem};
use costate::prelude::*;

/// Standard deviation of the noise, m.
const NOISE: f64 = 1e-3;
const SEED: u64 = 7;

/// Corners and the four edges at mid length, by the name of the signal.
const VERTICES: [(&str, u32); 12] = [
    ("a1", 0),
    ("b1", 10),
    ("c1", 20),
    ("a2", 84),
    ("b2", 94),
    ("c2", 104),
    ("a3", 1050),
    ("b3", 1060),
    ("c3", 1070),
    ("a4", 1134),
    ("b4", 1144),
    ("c4", 1154),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/soft-cube");
    let model = Scene::read(folder.join("scene.toml"))?.model;
    let landing = motion(&model, None)?;
    write(&folder.join("data/clean.csv"), &landing, 0.0)?;
    write(&folder.join("data/noisy.csv"), &landing, NOISE)?;
    write(&folder.join("data/free-flight.csv"), &motion(&model, Some([0.0, 10.0, 0.0]))?, NOISE)
}

/// Sample times, s.
fn times() -> Vec<f64> {
    (1..=50).map(|k| k as f64 * 0.01).collect()
}

/// Names of columns and their values, m; from another place than the scene's where asked.
fn motion(model: &Model, start: Option<[f64; 3]>) -> Result<Vec<Column>, Box<dyn Error>> {
    let mut experiment = Experiment::new("recording", model.clone());
    let mut recording = Recording { name: "only".into(), ..Default::default() };
    for (name, vertex) in VERTICES {
        for (component, axis) in ["x", "y", "z"].into_iter().enumerate() {
            let at = Observation::Position(Point::Vertex { body: "cube".into(), vertex });
            let signal = Signal::new(format!("{name}_{axis}"), at, component);
            let values = vec![0.0; times().len()];
            recording.data.push(SignalData {
                signal: experiment.signals.len(),
                times: times(),
                values,
                sigma: None,
            });
            experiment.signals.push(SignalSpec::new(signal, Sigma::Auto));
        }
    }
    if let Some(start) = start {
        recording.overrides.push(Override {
            path: "soft.cube.position".into(),
            values: start.to_vec(),
            place: Place::default(),
        });
    }
    experiment.recordings.push(recording);
    let values = Problem::new(&experiment)?.predict(0, &[])?;
    let names = experiment.signals.iter().map(|s| s.signal.name.clone());
    Ok(names.zip(values.chunks(times().len()).map(<[f64]>::to_vec)).collect())
}

type Column = (String, Vec<f64>);

/// Writes columns in mm: noisy ones to a micrometre, clean ones to 12 decimals.
fn write(path: &Path, columns: &[Column], noise: f64) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(SEED);
    let digits = if noise > 0.0 { 1e3 } else { 1e12 };
    let mut table = vec![("time".to_owned(), times())];
    for (name, values) in columns {
        let mm = |x: &f64| ((x + noise * random.normal()) * 1e3 * digits).round() / digits;
        table.push((name.clone(), values.iter().map(mm).collect()));
    }
    let columns: Vec<(&str, &[f64])> = table.iter().map(|(n, v)| (&**n, &**v)).collect();
    write_csv(path, &columns)?;
    println!("wrote {}", path.display());
    Ok(())
}
