//! The example `cube-toss`, reduced: fewer tosses, and their first 30 frames.

use std::path::Path;

use costate_identify::{Experiment, IdentifyOptions, Role, identify};

#[test]
fn friction_and_half_width_of_a_thrown_cube() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cube-toss");
    let mut experiment = Experiment::read(folder.join("experiment.toml")).unwrap();
    let fitted = [0, 50, 100, 150, 200, 250, 300, 350];
    let names = |kind: &str| fitted.map(|n| format!("{kind}_{n}"));
    let kept = [names("toss"), names("rest")].concat();
    let left: Vec<String> = [5, 30, 55, 80].iter().map(|n| format!("left_{n}")).collect();
    experiment.recordings.retain(|r| kept.contains(&r.name) || left.contains(&r.name));
    assert_eq!(experiment.recordings.len(), kept.len() + left.len());
    for data in experiment.recordings.iter_mut().flat_map(|r| &mut r.data) {
        let end = data.times.iter().filter(|&&t| t <= 0.2).count();
        data.times.truncate(end);
        data.values.truncate(end);
    }
    let result = identify(&experiment, &IdentifyOptions::default()).unwrap();
    assert!(result.converged, "{:?} {:?}", result.status, result.warnings);
    let estimate = |path: &str| result.parameters[path].estimate.as_slice()[0];
    let friction = estimate("geom.cube.friction");
    assert!((friction - 0.19).abs() < 0.05, "{friction}");
    let half = estimate("geom.cube.size");
    assert!((half / 0.0512 - 1.0).abs() < 0.01, "{half}");
    // The centre, all components together; what is left out starts where its first frame says.
    let off = |role: Role| {
        let centre =
            |s: &&costate_identify::SignalFit| s.role == role && s.signal.starts_with("centre");
        let squares: f64 = result.signals.iter().filter(centre).map(|s| s.rms * s.rms).sum();
        (squares / (result.signals.iter().filter(centre).count() as f64 / 3.0)).sqrt()
    };
    assert!(off(Role::Fitted) < 5e-3, "{}", off(Role::Fitted));
    assert!(off(Role::Validation) < 2e-2, "{}", off(Role::Validation));
}
