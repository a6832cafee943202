//! The exact gradient of a loss of one's own by every physical number of a scene at once.
//!
//! A jelly is thrown at the floor. The loss is how high it bounces: a smooth maximum of the height
//! of its centre over the last samples. Which of the scene's numbers matter most for it?
//!
//! `cargo run --release -p costate --example custom_loss`

use std::error::Error;

use costate::dynamics::observe::{Observation, Point, Sample, Signal, SignalObserver, SignalSet};
use costate::prelude::*;

const SCENE: &str = r#"
costate = 1
[option]
timestep = 2e-4
[soft.jelly]
grid = { cells = [3, 3, 3], cell = [0.02, 0.02, 0.02] }
position = [0.0, 0.0, 0.1]
velocity = [0.5, 0.0, -1.0]
material = "stable-neo-hookean"
young = 2e4
poisson = 0.4
density = 1000.0
stiffness_damping = 1e-3
[geom.floor]
type = "plane"
stiffness = 200.0
damping = 0.1
friction = 0.0
"#;

/// A smooth maximum of all but the first `skip` values, and its gradient.
fn bounce(y: &[f64], skip: usize) -> (f64, Vec<f64>) {
    const SHARPNESS: f64 = 1e3;
    let late = &y[skip..];
    let top = late.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = late.iter().map(|y| (SHARPNESS * (y - top)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mut bar = vec![0.0; skip];
    bar.extend(weights.iter().map(|w| w / sum));
    (top + sum.ln() / SHARPNESS, bar)
}

struct Sensitivity {
    path: String,
    /// ∂loss/∂value · value, m.
    relative: f64,
}

/// The loss after `changes` to the scene's leaves, and what each leaf does to it.
fn run(changes: &[(&str, f64)]) -> Result<(f64, Vec<Sensitivity>), Box<dyn Error>> {
    let mut model = Scene::parse("jelly.toml", SCENE)?.model;
    for &(path, value) in changes {
        model = model.with(path, &[value])?;
    }
    let centre = Point::CentreOfMass { body: "jelly".into(), region: None };
    let signals = SignalSet {
        signals: vec![Signal::new("height", Observation::Position(centre), 2)],
        samples: (1..=60).map(|k| Sample { signal: 0, time: 0.005 * k as f64 }).collect(),
        ..Default::default()
    };
    let system = System::new(&model)?;
    let theta = system.theta();
    let constants = system.derive(&theta)?;
    let inputs = Inputs::default();
    let observer = SignalObserver::new(&system, &signals)?;
    let run = Run::new(&system, &constants, &inputs);
    let mut loss = |y: &[f64]| bounce(y, 25);
    let own = observer.leaves().theta();
    let found = run.gradient(&observer, &own, &AdjointOptions::default(), &mut loss)?;
    let by_theta = system.derive_pullback(&theta, &constants, &found.c);
    let mut list = Vec::new();
    for (id, leaf) in model.leaves.iter() {
        let relative = model.leaves.range(id).map(|i| by_theta[i] * theta[i]).sum();
        list.push(Sensitivity { path: leaf.path.clone(), relative });
    }
    list.sort_by(|a, b| b.relative.abs().total_cmp(&a.relative.abs()));
    Ok((found.value, list))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (height, list) = run(&[])?;
    println!("the jelly bounces to {:.1} mm; 1 % more of … changes that by …", 1e3 * height);
    for s in list.iter().filter(|s| s.relative != 0.0).take(12) {
        println!("{:32} {:+.4} mm", s.path, 10.0 * s.relative);
    }
    Ok(())
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    let (_, list) = run(&[]).unwrap();
    for (path, value) in [("soft.jelly.young", 2e4), ("geom.floor.stiffness", 200.0)] {
        let at = |factor: f64| run(&[(path, factor * value)]).unwrap().0;
        let difference = (at(1.0 + 1e-5) - at(1.0 - 1e-5)) / 2e-5;
        let found = list.iter().find(|s| s.path == path).unwrap().relative;
        assert!((found / difference - 1.0).abs() < 1e-5, "{path}: {found} {difference}");
    }
}
