//! The examples `spring-cage` and `hanging-cloth` find what their recordings were made with.

use std::path::Path;

use costate_identify::{Experiment, Identification, IdentifyOptions, Role, identify};

fn experiment(name: &str) -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Experiment::read(folder.join("experiment.toml")).unwrap()
}

fn run(experiment: &Experiment) -> Identification {
    let result = identify(experiment, &IdentifyOptions::default()).unwrap();
    assert!(result.converged, "{:?} {:?}", result.status, result.warnings);
    result
}

/// Each estimate is within four standard errors of the truth, which are at most `relative` of it.
#[track_caller]
fn agree(result: &Identification, path: &str, truth: &[f64], relative: f64) {
    let parameter = &result.parameters[path];
    let errors = parameter.std_error.as_ref().unwrap().as_slice();
    for ((estimate, error), truth) in parameter.estimate.as_slice().iter().zip(errors).zip(truth) {
        println!("{path}: {estimate:.6} ± {error:.1e} (truth {truth})");
        assert!((estimate - truth).abs() < 4.0 * error, "{path}: {estimate} ± {error}, {truth}");
        assert!(*error < relative * truth, "{path}: {estimate} ± {error}");
    }
    assert_eq!(parameter.estimate.as_slice().len(), truth.len());
}

/// What was not fitted is predicted to the noise, and was not before.
fn validated(result: &Identification, noise: f64) {
    let mut rms = [0.0f64; 3];
    let kept = result.signals.iter().filter(|s| s.role == Role::Validation);
    let count = kept.clone().count() as f64;
    for signal in kept {
        for (sum, x) in rms.iter_mut().zip([signal.rms, signal.rms_initial, signal.rms_rest]) {
            *sum += x * x / count;
        }
    }
    let [fitted, before, rest] = rms.map(f64::sqrt);
    println!(
        "validation: rms {fitted:.2e} m, before the fit {before:.2e}, at rest {rest:.2e}; {} \
         iterations, {:.2} s, {:?}, {:?}",
        result.iterations,
        result.wall_s,
        result.weak_directions.iter().map(|w| &w.text).collect::<Vec<_>>(),
        result.warnings
    );
    assert!(fitted < 1.1 * noise, "{fitted}");
    assert!(before > 3.0 * noise, "{before}");
}

#[test]
fn spring_cage() {
    let result = run(&experiment("spring-cage"));
    let lengths = [0.62, 0.71, 0.58, 0.66, 0.74, 0.60, 0.69, 0.64];
    agree(&result, "soft.cage.springs.rest_length", &lengths, 0.03);
    agree(&result, "soft.cage.springs.stiffness", &[140.0], 0.03);
    agree(&result, "soft.cage.springs.damping", &[2.5], 0.01);
    validated(&result, 1e-3);
}

/// One of the two recordings is enough here; `COSTATE_FULL` fits both.
#[test]
fn hanging_cloth() {
    let mut experiment = experiment("hanging-cloth");
    if std::env::var_os("COSTATE_FULL").is_none() {
        experiment.recordings.retain(|r| r.name != "swing");
    }
    let result = run(&experiment);
    agree(&result, "soft.cloth.membrane.stiffness", &[40.0], 0.02);
    agree(&result, "soft.cloth.membrane.area_stiffness", &[70.0], 0.04);
    agree(&result, "soft.cloth.membrane.damping", &[0.08], 0.2);
    agree(&result, "soft.cloth.membrane.drag", &[0.25], 0.02);
    agree(&result, "soft.cloth.bending.stiffness", &[8e-4], 0.02);
    validated(&result, 5e-4);
}
