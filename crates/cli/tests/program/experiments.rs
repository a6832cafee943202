//! `grad`, `identify`, `evaluate` and `report` from end to end, on the spring cage.

use std::path::Path;
use std::time::Duration;

use crate::common::Folder;
use serde_json::Value;

/// A folder of the repository.
fn repository(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(path).canonicalize().unwrap().display().to_string()
}

fn experiment() -> String {
    repository("examples/spring-cage/experiment.toml")
}

#[test]
fn grad_gives_cost_and_gradient_by_path() {
    let folder = Folder::new("grad");
    let (code, value) = folder.json(&["grad", &experiment()]);
    assert_eq!(code, 0);
    assert!(value["cost"].as_f64().unwrap() > 0.0);
    assert!(value["gradient"]["soft.cage.springs.stiffness"].is_f64());
    assert_eq!(value["gradient"]["soft.cage.springs.rest_length"].as_array().unwrap().len(), 8);
    assert!(value["setup_s"].is_f64() && value["gradient_s"].is_f64());
}

#[test]
fn identify_finds_the_cage_and_its_files_agree() {
    let folder = Folder::new("identify");
    let (code, value) = folder.json(&["identify", &experiment(), "--write-model", "fitted.toml"]);
    assert_eq!(code, 0, "{value}");
    for key in ["cost", "iterations", "converged", "wall_s", "not_identifiable", "warnings"] {
        assert!(!value[key].is_null(), "{key}");
    }
    let stiffness = &value["parameters"]["soft.cage.springs.stiffness"];
    // The search starts from the logarithm.
    assert!((stiffness["initial"].as_f64().unwrap() - 300.0).abs() < 1e-9);
    let interval = &stiffness["ci95"][0];
    let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
    let estimate = stiffness["estimate"].as_f64().unwrap();
    assert!(low < estimate && estimate < high && low < 140.0 && 140.0 < high, "{stiffness}");
    assert!(stiffness["std_error"].as_f64().unwrap() > 0.0);

    // The default run folder holds result and report.
    let run = folder.path().join("runs/spring-cage");
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("soft.cage.springs.stiffness") && page.contains("data:image/gif"));
    let stored: Value =
        serde_json::from_slice(&std::fs::read(run.join("result.json")).unwrap()).unwrap();
    assert_eq!(stored["parameters"], value["parameters"]);

    // The written scene is the user's own with other numbers, and holds the estimates.
    let written = std::fs::read_to_string(folder.path().join("fitted.toml")).unwrap();
    let original = std::fs::read_to_string(repository("examples/spring-cage/scene.toml")).unwrap();
    assert_eq!(written.lines().count(), original.lines().count());
    let (_, params) = folder.json(&["params", "fitted.toml", "--filter", "springs.stiffness"]);
    assert_eq!(params["leaves"][0]["value"], stiffness["estimate"]);

    // Predictions of the stored result are those of the fit.
    let (code, predicted) = folder.json(&["evaluate", &experiment(), "--with", "runs/spring-cage"]);
    assert_eq!(code, 0);
    let rms = |v: &Value| -> Vec<String> {
        v["signals"].as_array().unwrap().iter().map(|s| s["rms"].to_string()).collect()
    };
    assert_eq!(rms(&predicted), rms(&value));
    assert!(rms(&value).len() == 9);

    let (code, _) = folder.json(&["report", "runs/spring-cage", "--out", "again.html"]);
    assert_eq!(code, 0);
    let again = std::fs::read_to_string(folder.path().join("again.html")).unwrap();
    assert!(again.contains("data:image/gif"), "the motion that identify drew is shown again");
}

/// Ctrl-C keeps a valid partial result; resuming ends where the uninterrupted run does.
#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_to_the_same_result() {
    let folder = Folder::new("interrupt");
    let whole = folder.json(&["identify", &experiment(), "--out", "whole", "--no-gif"]).1;
    let mut interrupted = false;
    for wait in [400, 200, 100, 50, 25] {
        let _ = std::fs::remove_dir_all(folder.path().join("part"));
        let mut child = folder
            .costate(&["identify", &experiment(), "--out", "part", "--no-gif", "-q"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let killed = std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        let code = child.wait().unwrap().code();
        if killed.success() && code == Some(130) && folder.path().join("part/result.json").exists()
        {
            interrupted = true;
            break;
        }
    }
    assert!(interrupted, "no attempt caught the run on its way");
    let text = std::fs::read(folder.path().join("part/result.json")).unwrap();
    let partial: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(partial["converged"], false);
    let (code, resumed) = folder.json(&["identify", &experiment(), "--resume", "part", "--no-gif"]);
    assert_eq!(code, 0);
    assert_eq!(resumed["parameters"], whole["parameters"]);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn wrong_experiments_are_refused_with_their_place() {
    let folder = Folder::new("refused");
    copy(Path::new(&repository("examples/spring-cage")), folder.path());
    let text = std::fs::read_to_string(experiment()).unwrap();
    folder.file("experiment.toml", &format!("{text}\n[nonsense]\nx = 1\n"));
    let (code, value) = folder.json(&["identify", "experiment.toml"]);
    assert_eq!((code, &value["error"]["kind"]), (2, &"unknown_key".into()), "{value}");
    assert!(value["error"]["line"].as_u64().unwrap() > 1);

    let spoilt = text.replacen("[parameters]", "[parameters]\n\"soft.cage.dampin\" = {}", 1);
    folder.file("experiment.toml", &spoilt);
    let (code, value) = folder.json(&["identify", "experiment.toml"]);
    assert_eq!((code, &value["error"]["kind"]), (2, &"unknown_name".into()), "{value}");
    let line = spoilt.lines().position(|l| l.contains("dampin\"")).unwrap() + 1;
    assert_eq!(value["error"]["line"], line);

    let signal = "[signal.lost]\ncontact_force = { geom = \"nowhere\" }\n";
    let spoilt = format!("{text}\n{signal}");
    folder.file("experiment.toml", &spoilt);
    let (code, value) = folder.json(&["identify", "experiment.toml"]);
    assert_eq!(code, 2, "{value}");
    assert!(value["error"]["line"].as_u64().unwrap() as usize > text.lines().count(), "{value}");

    let output = folder.run(&["identify", "nowhere.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let output = folder.run(&["identify"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(folder.run(&["--help"]).status.code(), Some(0));
}
