//! Run folders: results, interrupts and continuing to the same bits; several starts.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::*;
use costate_identify::experiment::{MethodKind, MultiStart, Sigma};
use costate_identify::least_squares::Status;
use costate_identify::{
    Experiment, Identification, IdentifyOptions, Progress, RESULT_FILE, identify,
};
use costate_model::Transform;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("costate-run-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn noisy(kind: MethodKind) -> Experiment {
    let recordings = vec![recording("r", 60, 0.02), recording("s", 30, 0.03)];
    let mut experiment = experiment(Sigma::Auto, recordings);
    add_noise(&mut experiment, 1e-3, 21);
    experiment.parameters = vec![spec(K, 10.0), spec(D, 0.1)];
    experiment.method.kind = kind;
    experiment.method.max_iterations = if kind == MethodKind::Lm { 100 } else { 40 };
    experiment
}

fn values(result: &Identification) -> Vec<u64> {
    let one = |p: &costate_identify::Parameter| {
        p.estimate
            .as_slice()
            .iter()
            .chain(p.std_error.iter().flat_map(|e| e.as_slice()))
            .map(|x| x.to_bits())
            .collect::<Vec<_>>()
    };
    result.parameters.values().flat_map(one).chain([result.cost.to_bits()]).collect()
}

#[test]
fn an_interrupted_run_leaves_a_result_and_continues_to_the_same_bits() {
    for kind in [MethodKind::Lm, MethodKind::Lbfgs, MethodKind::Adam] {
        let experiment = noisy(kind);
        let whole = run(&experiment);
        for after in [1, 3, 6] {
            let folder = folder(&format!("{kind:?}-{after}"));
            let (flag, count) = (AtomicBool::new(false), AtomicUsize::new(0));
            let stop = |_: &Progress| {
                if count.fetch_add(1, Ordering::Relaxed) + 1 >= after {
                    flag.store(true, Ordering::Relaxed);
                }
            };
            let options = IdentifyOptions {
                run_folder: Some(&folder),
                interrupt: Some(&flag),
                progress: Some(&stop),
                ..Default::default()
            };
            let partial = identify(&experiment, &options);
            if let Ok(partial) = &partial {
                assert_eq!(Identification::read(&folder.join(RESULT_FILE)).unwrap(), *partial);
                if partial.status == Status::Interrupted {
                    assert!(!partial.converged);
                }
            }
            let options =
                IdentifyOptions { run_folder: Some(&folder), resume: true, ..Default::default() };
            let rest = identify(&experiment, &options).unwrap();
            assert_eq!(values(&rest), values(&whole), "{kind:?} after {after}");
            assert_eq!(rest.iterations, whole.iterations);
            // What has ended continues to itself.
            let again = identify(&experiment, &options).unwrap();
            assert_eq!(values(&again), values(&whole));
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}

#[test]
fn a_checkpoint_of_another_experiment_is_refused() {
    let folder = folder("other");
    let mut experiment = noisy(MethodKind::Lm);
    let options = IdentifyOptions { run_folder: Some(&folder), resume: true, ..Default::default() };
    identify(&experiment, &options).unwrap();
    experiment.recordings[0].data[0].values[3] += 1e-9;
    let text = identify(&experiment, &options).unwrap_err().to_string();
    assert!(text.contains("another experiment"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn several_starts_leave_local_minima() {
    // Many periods: from a stiffness far off, the phase is lost and descent ends elsewhere.
    let mut experiment = experiment(Sigma::Given(1e-3), vec![recording("r", 150, 0.05)]);
    experiment.model = experiment.model.with("option.gravity", &[0.0; 3]).unwrap();
    experiment.model = experiment.model.with(D, &[0.0]).unwrap();
    synthesise(&mut experiment);
    add_noise(&mut experiment, 1e-3, 2);
    let mut stiffness = spec(K, 120.0);
    stiffness.entry.bounds = Some((10.0, 300.0));
    stiffness.entry.transform = Some(Transform::identity());
    experiment.parameters = vec![stiffness];
    let alone = run(&experiment);
    assert!((estimate(&alone, K) / STIFFNESS - 1.0).abs() > 0.1);
    let text = alone.warnings.join("\n");
    assert!(text.contains("larger than the given σ"), "{text}");

    // A quantity with a sign is sought over decades where its noise cannot explain what is left.
    experiment.parameters[0].entry.transform = Some(Transform::log());
    let escaped = run(&experiment);
    assert!((estimate(&escaped, K) / STIFFNESS - 1.0).abs() < 1e-2, "{:?}", escaped.parameters);
    assert!(escaped.all_iterations() > escaped.iterations);
    experiment.parameters[0].entry.transform = None;

    experiment.method.multi_start = Some(MultiStart { starts: 25, spread: 10.0, seed: 1 });
    let result = run(&experiment);
    assert!((estimate(&result, K) / STIFFNESS - 1.0).abs() < 1e-2, "{:?}", result.parameters);
    assert!(result.warnings.iter().any(|w| w.contains("local minim")), "{:?}", result.warnings);
}

#[test]
fn a_result_is_json_with_a_schema() {
    let result = run(&noisy(MethodKind::Lm));
    let json: serde_json::Value = serde_json::to_value(result.summary()).unwrap();
    assert_eq!(json["schema"], costate_identify::RESULT_SCHEMA);
    for key in ["initial", "estimate", "std_error", "ci95"] {
        assert!(!json["parameters"][K][key].is_null(), "{key}");
    }
    for key in ["cost", "iterations", "converged", "wall_s", "not_identifiable", "warnings"] {
        assert!(!json[key].is_null(), "{key}");
    }
}
