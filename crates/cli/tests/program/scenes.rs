//! `params`, `simulate` and `check` from end to end.

use crate::common::Folder;

const SCENE: &str = r#"
costate = 1
[option]
timestep = 1e-3
duration = 0.2
[soft.cage]
vertices = [[0, 0, 1], [0.1, 0, 1], [0, 0.1, 1], [0, 0, 1.1]]
vertex_mass = 0.01
velocity = [0.5, 0.0, 0.0]
fixed = [0]
[soft.cage.springs]
ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
stiffness = [100, 100, 100, 80, 80, 80]
damping = 0.1
[soft.cage.load.pull]
at = [3]
"#;

#[test]
fn params_lists_every_leaf() {
    let folder = Folder::new("params");
    folder.file("scene.toml", SCENE);
    let (code, value) = folder.json(&["params", "scene.toml"]);
    assert_eq!(code, 0);
    let leaves = value["leaves"].as_array().unwrap();
    let stiffness =
        leaves.iter().find(|l| l["path"] == "soft.cage.springs.stiffness").expect("the leaf");
    assert_eq!(stiffness["value"].as_array().unwrap().len(), 6);
    assert_eq!(stiffness["unit"], "N/m");
    assert_eq!(stiffness["shape"][0], 6);
    assert_eq!(stiffness["bounds"][0], 0.0);
    assert!(stiffness["bounds"][1].is_null() && stiffness["about"].is_string());
    let damping = leaves.iter().find(|l| l["path"] == "soft.cage.springs.damping").unwrap();
    assert_eq!(damping["value"], 0.1);
    let (_, set) = folder.json(&["params", "scene.toml", "--set", "soft.cage.springs.damping=0.3"]);
    assert_ne!(set, value);
}

#[test]
fn a_motion_goes_on_from_its_file() {
    let folder = Folder::new("simulate");
    folder.file("scene.toml", SCENE);
    let run = |args: &[&str]| {
        let (code, value) = folder.json(&[&["simulate", "scene.toml"], args].concat());
        assert_eq!(code, 0, "{value}");
        value
    };
    let whole = run(&["--out", "whole.csv", "--every", "0.1", "--gif", "motion.gif"]);
    assert_eq!(whole["steps"], 200);
    assert!(std::fs::read(folder.path().join("motion.gif")).unwrap().starts_with(b"GIF89a"));
    for middle in ["half.csv", "half.npz"] {
        run(&["--out", middle, "--every", "0.1", "--duration", "0.1"]);
        run(&["--initial", middle, "--out", "rest.csv", "--every", "0.1", "--duration", "0.1"]);
        let last = |name: &str| {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
            let line = text.lines().last().unwrap().to_string();
            // All but the time, which starts anew.
            line.split_once(',').unwrap().1.to_string()
        };
        assert_eq!(last("whole.csv"), last("rest.csv"), "{middle}");
    }
    run(&["--out", "frames.vtk.series"]);
    assert!(folder.path().join("frames.vtk.series").exists());

    folder.file("push.csv", "t,soft.cage.load.pull.z\n0,0\n0.2,1\n");
    run(&["--inputs", "push.csv", "--out", "pushed.csv", "--every", "0.1"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_ne!(read("pushed.csv"), read("whole.csv"));
    folder.file("push.csv", "t,soft.cage.load.pul.z\n0,0\n0.2,1\n");
    let (code, value) = folder.json(&["simulate", "scene.toml", "--inputs", "push.csv"]);
    assert_eq!((code, &value["error"]["kind"]), (2, &"unknown_name".into()));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let folder = Folder::new("wrong");
    let scene = SCENE.replace("damping = 0.1", "dampin = 0.1");
    folder.file("scene.toml", &scene);
    let (code, value) = folder.json(&["params", "scene.toml"]);
    assert_eq!(code, 2);
    let error = &value["error"];
    assert_eq!(error["kind"], "unknown_key");
    let line = scene.lines().position(|l| l.starts_with("dampin")).unwrap() + 1;
    assert_eq!(error["line"], line);
    assert!(error["file"].as_str().unwrap().ends_with("scene.toml"));
    assert!(error["message"].as_str().unwrap().contains("did you mean \"damping\"?"));
    let output = folder.run(&["params", "scene.toml"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("scene.toml:{line}:1")) && text.contains("dampin = 0.1"));
    assert!(output.stdout.is_empty());

    let (code, value) = folder.json(&["simulate", "missing.toml"]);
    assert_eq!((code, &value["error"]["kind"]), (2, &"io".into()));
    for bad in ["nonsense", "soft.cage.springs.damping=x", "soft.cage.springs.damping=-1", "a=1"] {
        folder.file("scene.toml", SCENE);
        let (code, _) = folder.json(&["simulate", "scene.toml", "--set", bad]);
        assert_eq!(code, 2, "{bad}");
    }
}

#[test]
fn an_unstable_step_is_refused_and_a_divergence_told() {
    let folder = Folder::new("unstable");
    folder.file("scene.toml", SCENE);
    let stiff = ["simulate", "scene.toml", "--set", "soft.cage.springs.stiffness=1e7"];
    let (code, value) = folder.json(&stiff);
    assert_eq!((code, &value["error"]["kind"]), (2, &"unstable_step".into()));
    assert!(value["error"]["message"].as_str().unwrap().contains("soft.cage springs"));
    let more = ["--unstable", "--duration", "10", "--out", "partial.csv", "--every", "1e-3"];
    let (code, value) = folder.json(&[&stiff[..], &more].concat());
    assert_eq!((code, &value["error"]["kind"]), (1, &"diverged".into()));
    assert!(value["error"]["message"].as_str().unwrap().contains("step"));
    let partial = std::fs::read_to_string(folder.path().join("partial.csv")).unwrap();
    assert!(partial.lines().count() > 2, "what it had is written");
}

#[test]
fn check_proves_the_derivatives_of_a_scene() {
    let folder = Folder::new("check");
    folder.file("scene.toml", SCENE);
    let (code, value) = folder.json(&["check", "scene.toml"]);
    assert_eq!((code, &value["failed"]), (0, &0.into()), "{value}");
    let leaves = value["leaves"].as_array().unwrap();
    assert!(leaves.iter().filter(|l| l["influences"] == true).count() >= 9);
}

#[test]
fn no_file_that_is_read_is_overwritten() {
    let folder = Folder::new("overwrite");
    folder.file("scene.toml", SCENE);
    let inputs = "t,soft.cage.load.pull.x\n0,0\n1,1\n";
    folder.file("pull.csv", inputs);
    let refused = |args: &[&str], what: &str| {
        let (code, value) = folder.json(args);
        assert_eq!(code, 2, "{value}");
        let message = value["error"]["message"].as_str().unwrap();
        assert!(message.contains(what), "{message}");
    };
    let simulate = ["simulate", "scene.toml", "--inputs", "pull.csv"];
    refused(&[&simulate[..], &["--out", "./pull.csv"]].concat(), "is read by the command");
    refused(&[&simulate[..], &["--gif", "scene.toml"]].concat(), "ends in .gif");
    refused(&[&simulate[..], &["--duration", "1e-5"]].concat(), "less than half a step");
    assert_eq!(std::fs::read_to_string(folder.path().join("pull.csv")).unwrap(), inputs);
    assert_eq!(std::fs::read_to_string(folder.path().join("scene.toml")).unwrap(), SCENE);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_an_error() {
    let folder = Folder::new("full");
    folder.file("scene.toml", SCENE);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = folder.costate(&["params", "scene.toml"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be printed"));
}
