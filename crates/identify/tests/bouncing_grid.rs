//! The example `bouncing-grid`: materials that make a thrown grid of tetrahedra come back.

use std::path::Path;

use costate_identify::{Experiment, Identification, IdentifyOptions, Problem, identify};

fn experiment(file: &str) -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bouncing-grid");
    Experiment::read(folder.join(file)).unwrap()
}

/// How far from the target the centre of mass ends, m.
fn distance(result: &Identification) -> f64 {
    result.signals.iter().map(|s| s.rms * s.rms).sum::<f64>().sqrt()
}

fn show(result: &Identification) {
    let costs: Vec<f64> = result.history.iter().map(|i| i.cost).collect();
    println!(
        "{:.2e} m after {} iterations and {} linearisations, {:.1} s, {:?}, {:?}, {:?}",
        distance(result),
        result.iterations,
        result.history.len(),
        result.wall_s,
        result.status,
        result.warnings,
        costs
    );
}

#[test]
fn a_material_for_every_tetrahedron_hits_the_target() {
    let experiment = experiment("experiment.toml");
    assert_eq!(Problem::new(&experiment).unwrap().unknowns.len(), 80);
    let result = identify(&experiment, &IdentifyOptions::default()).unwrap();
    show(&result);
    assert!(distance(&result) < 1e-3);
    assert!(result.iterations <= 15);
}

#[test]
fn a_uniform_material_hits_the_target_from_one_of_many_starts() {
    let experiment = experiment("uniform.toml");
    let result = identify(&experiment, &IdentifyOptions::default()).unwrap();
    show(&result);
    for (path, parameter) in &result.parameters {
        println!("{path}: {:?}", parameter.estimate);
    }
    assert!(distance(&result) < 1e-3);
    assert!(result.history.len() <= 400);
    assert!(result.warnings.iter().any(|w| w.contains("rough")), "{:?}", result.warnings);
}
