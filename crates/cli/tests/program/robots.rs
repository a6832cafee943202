//! Robots from MJCF through every command.

use serde_json::Value;

use crate::common::Folder;

const ARM: &str = r#"<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.002" gravity="0 0 -9.81"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" type="hinge" axis="0 1 0" damping="0.05" armature="0.01"/>
      <geom name="upper" type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.5"/>
      <body name="lower" pos="0 0 -0.3">
        <joint name="elbow" type="hinge" axis="0 1 0" damping="0.02"/>
        <geom name="lower" type="box" pos="0 0 -0.1" size="0.02 0.02 0.1" mass="0.2"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="shoulder" gear="2"/></actuator>
</mujoco>
"#;

/// Both angles of the arm pushed by 0.4 from its own start, every 10 ms, as the program writes them.
fn record(folder: &Folder) -> String {
    folder.file("push.csv", "t,actuator.push[0]\n0,0.4\n10,0.4\n");
    let set = ["--set", "joint.shoulder.qpos=0.4", "--set", "joint.elbow.qpos=0.3"];
    let args = ["simulate", "arm.xml", "--duration", "1", "--inputs", "push.csv"];
    let args = [&args[..], &set[..], &["--out", "motion.csv"]].concat();
    let (code, value) = folder.json(&args);
    assert_eq!(code, 0, "{value}");
    std::fs::read_to_string(folder.path().join("motion.csv")).unwrap()
}

#[test]
fn leaves_are_listed_by_mjcf_names() {
    let folder = Folder::new("robot-params");
    folder.file("arm.xml", ARM);
    let (code, value) = folder.json(&["params", "arm.xml"]);
    assert_eq!(code, 0);
    let leaves = value["leaves"].as_array().unwrap();
    let value = |path: &str| leaves.iter().find(|l| l["path"] == path).map(|l| l["value"].clone());
    assert_eq!(value("joint.elbow.damping"), Some(0.02.into()));
    assert_eq!(value("actuator.push.gear").map(|v| v.is_null()), Some(false));
    assert_eq!(value("geom.lower.mass"), Some(0.2.into()));
    assert_eq!(value("joint.shoulder.qvel"), Some(vec![0.0].into()));
}

#[test]
fn the_derivatives_of_every_leaf_are_proved() {
    let folder = Folder::new("robot-check");
    folder.file("arm.xml", ARM);
    let set = ["--set", "joint.shoulder.qpos=0.4", "--set", "joint.elbow.qvel=2"];
    let (code, value) = folder.json(&[&["check", "arm.xml", "--steps", "60"][..], &set].concat());
    assert_eq!(code, 0, "{value}");
    let leaves = value["leaves"].as_array().unwrap();
    let acts = |l: &&Value| l["derivative"].as_f64().is_some_and(|d| d != 0.0);
    assert!(leaves.iter().filter(acts).count() > 10, "{value}");
}

#[test]
fn a_robot_is_simulated_and_identified() {
    let folder = Folder::new("robot-identify");
    folder.file("arm.xml", ARM);
    let motion = record(&folder);
    let header: Vec<&str> = motion.lines().next().unwrap().split(',').collect();
    assert!(motion.lines().count() > 90, "{motion}");
    // Times and both angles, whatever the program calls them.
    assert_eq!(header.len(), 5, "{header:?}");
    let experiment = format!(
        r#"
costate = 1
name = "arm"
scene = "arm.xml"
[signal.shoulder]
joint_position = "shoulder"
column = "{}"
sigma = 1e-4
[signal.elbow]
joint_position = "elbow"
column = "{}"
sigma = 1e-4
[recording.push]
file = "motion.csv"
time = "{}"
[recording.push.inputs."actuator.push"]
value = 0.4
[parameters]
"geom.lower.mass" = {{ start = 0.5 }}
"joint.shoulder.damping" = {{ start = 0.2 }}
"joint.elbow.damping" = {{ start = 0.005 }}
"recording.push.joint.shoulder.qpos" = {{ start = {{ column = "{}" }} }}
"recording.push.joint.elbow.qpos" = {{ start = {{ column = "{}" }} }}
"#,
        header[1], header[2], header[0], header[1], header[2]
    );
    folder.file("experiment.toml", &experiment);

    let (code, value) = folder.json(&["grad", "experiment.toml"]);
    assert_eq!(code, 0, "{value}");
    assert!(value["gradient"]["geom.lower.mass"].as_f64().unwrap() != 0.0);

    let (code, value) = folder.json(&["identify", "experiment.toml"]);
    assert_eq!(code, 0, "{value}");
    assert_eq!(value["converged"], true);
    for (path, truth) in [
        ("geom.lower.mass", 0.2),
        ("joint.shoulder.damping", 0.05),
        ("joint.elbow.damping", 0.02),
        ("recording.push.joint.shoulder.qpos", 0.4),
    ] {
        let estimate = &value["parameters"][path]["estimate"];
        // That of a coordinate stands in an array, because other joints have several.
        let estimate = estimate.as_f64().or_else(|| estimate[0].as_f64()).unwrap();
        assert!((estimate / truth - 1.0).abs() < 1e-3, "{path}: {estimate}");
    }
    let page = std::fs::read_to_string(folder.path().join("runs/arm/report.html")).unwrap();
    assert!(page.contains("joint.elbow.damping") && page.contains("data:image/gif"));
}

#[test]
fn a_robot_is_drawn() {
    let folder = Folder::new("robot-gif");
    folder.file("arm.xml", ARM);
    let args = ["simulate", "arm.xml", "--duration", "0.2", "--set", "joint.elbow.qpos=1"];
    let (code, value) = folder.json(&[&args[..], &["--gif", "arm.gif"]].concat());
    assert_eq!(code, 0, "{value}");
    let gif = std::fs::read(folder.path().join("arm.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a") && gif.len() > 5000, "{}", gif.len());
}

#[test]
fn what_is_not_simulated_is_refused_unless_allowed() {
    let folder = Folder::new("robot-allow");
    folder.file("slip.xml", &ARM.replace("timestep=", "noslip_iterations=\"3\" timestep="));
    let (code, value) = folder.json(&["params", "slip.xml"]);
    assert_eq!(code, 2, "{value}");
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("noslip") && message.contains("slip.xml:3"), "{message}");
    assert!(message.contains("--allow noslip"), "{message}");
    let (code, _) = folder.json(&["params", "slip.xml", "--allow", "noslip"]);
    assert_eq!(code, 0);
}

#[test]
fn faults_of_the_file_have_their_place() {
    let folder = Folder::new("robot-faults");
    let cases = [
        ("0 0 0 0 0 -0.3", "0 0 0 0 0", 7, "6 numbers"),
        ("damping=\"0.05\"", "dampingg=\"0.05\"", 6, "damping"),
        ("</worldbody>", "", 15, "worldbody"),
        ("joint=\"shoulder\" gear", "joint=\"sholder\" gear", 14, "sholder"),
        ("mass=\"0.5\"", "mass=\"-0.5\"", 7, "-0.5"),
    ];
    for (from, to, line, word) in cases {
        folder.file("arm.xml", &ARM.replacen(from, to, 1));
        let (code, value) = folder.json(&["params", "arm.xml"]);
        assert_eq!(code, 2, "{to}: {value}");
        assert_eq!(value["error"]["line"], line, "{to}: {value}");
        assert!(value["error"]["file"].as_str().unwrap().ends_with("arm.xml"));
        assert!(value["error"]["message"].as_str().unwrap().contains(word), "{to}: {value}");
    }
}

#[test]
fn a_robot_starts_from_a_keyframe_and_holds_its_controls() {
    let folder = Folder::new("robot-keyframe");
    let keys = "<keyframe><key name=\"bent\" qpos=\"0.3 -0.2\" qvel=\"0.1 0\" ctrl=\"0.5\"/><key qpos=\"1 0\"/></keyframe>";
    folder.file("arm.xml", &ARM.replace("</mujoco>", &format!("{keys}</mujoco>")));
    folder.file("held.csv", "t,actuator.push[0]\n0,0.5\n");
    let run = |start: &[&str], out: &str| {
        let args = ["simulate", "arm.xml", "--duration", "0.2", "--out", out];
        let (code, value) = folder.json(&[&args[..], start].concat());
        assert_eq!(code, 0, "{value}");
        std::fs::read_to_string(folder.path().join(out)).unwrap()
    };
    let from_key = run(&["--keyframe", "bent"], "key.csv");
    let set = ["--set", "joint.shoulder.qpos=0.3", "--set", "joint.elbow.qpos=-0.2"];
    let rest = ["--set", "joint.shoulder.qvel=0.1", "--inputs", "held.csv"];
    assert_eq!(from_key, run(&[set, rest].concat(), "set.csv"));
    let numbered = run(&["--keyframe", "1"], "number.csv");
    assert_eq!(numbered, run(&["--set", "joint.shoulder.qpos=1"], "one.csv"));
    let (code, value) = folder.json(&["params", "arm.xml", "--keyframe", "home"]);
    assert_eq!(code, 2, "{value}");
    assert!(value.to_string().contains("known: bent, 1"), "{value}");
}
