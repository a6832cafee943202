//! The examples `pendulum-1` and `pendulum-2`, reduced: fewer recordings, and shorter ones.

use std::path::Path;

use costate_identify::{Experiment, Identification, IdentifyOptions, Role, identify};

/// The named recordings of an example up to `end` (s).
fn reduced(example: &str, recordings: &[&str], end: f64) -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let mut experiment = Experiment::read(folder.join("experiment.toml")).unwrap();
    experiment.recordings.retain(|r| recordings.contains(&r.name.as_str()));
    assert_eq!(experiment.recordings.len(), recordings.len());
    for data in experiment.recordings.iter_mut().flat_map(|r| &mut r.data) {
        let kept = data.times.iter().filter(|&&t| t <= end).count();
        data.times.truncate(kept);
        data.values.truncate(kept);
    }
    experiment
}

fn solve(experiment: &Experiment) -> Identification {
    let result = identify(experiment, &IdentifyOptions::default()).unwrap();
    assert!(result.converged, "{:?} {:?}", result.status, result.warnings);
    result
}

fn estimate(result: &Identification, path: &str) -> f64 {
    result.parameters[path].estimate.as_slice()[0]
}

/// Largest root mean square of the residuals, rad.
fn worst(result: &Identification, role: Role) -> f64 {
    result.signals.iter().filter(|s| s.role == role).map(|s| s.rms).fold(0.0, f64::max)
}

#[test]
fn one_arm() {
    let result = solve(&reduced("pendulum-1", &["swing_0", "swing_2", "check_1"], 4.0));
    // About the pivot.
    let inertia = estimate(&result, "body.arm.diaginertia") + 0.147585 * 0.147755f64.powi(2);
    let frequency = 0.147585 * 0.147755 * 9.81 / inertia;
    assert!((frequency - 64.05).abs() < 0.15, "{frequency}");
    assert!(worst(&result, Role::Fitted) < 2e-3, "{}", worst(&result, Role::Fitted));
    assert!(worst(&result, Role::Validation) < 1e-2, "{}", worst(&result, Role::Validation));
    // Where a validation recording starts is found, with its uncertainty, after the fit.
    let own = &result.parameters["recording.check_1.joint.pivot.qpos"];
    assert!(own.std_error.is_some() && own.initial != own.estimate);
}

#[test]
fn two_arms() {
    let names = ["swing_4", "swing_12", "swing_24", "check_0"];
    let result = solve(&reduced("pendulum-2", &names, 1.6));
    assert!((estimate(&result, "body.upper.ipos") - 0.1086).abs() < 0.004);
    assert!((estimate(&result, "body.lower.diaginertia") - 1.274e-3).abs() < 3e-5);
    assert!((estimate(&result, "body.lower.pos") - 0.1732).abs() < 2e-3);
    assert!(worst(&result, Role::Fitted) < 5e-3, "{}", worst(&result, Role::Fitted));
    assert!(worst(&result, Role::Validation) < 5e-3, "{}", worst(&result, Role::Validation));
}
