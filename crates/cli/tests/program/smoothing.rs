//! Smoothing of contacts and sensors of contacts, through the program.

use serde_json::Value;

use crate::common::Folder;

/// A pusher on a damped slide, short of a block that slides against friction.
const PUSHER: &str = r#"<mujoco model="pusher">
  <option timestep="0.002" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="0.1"/>
    <body name="pusher" pos="0 0 0.2">
      <joint name="pusher" type="slide" axis="1 0 0" damping="2"/>
      <geom name="pusher" size="0.05" mass="1"/>
    </body>
    <body name="block" pos="0.4 0 0.1">
      <joint name="x" type="slide" axis="1 0 0" damping="1"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="block" type="box" size="0.1 0.1 0.2" pos="0 0 0.1" mass="1" friction="0.1"/>
    </body>
  </worldbody>
  <sensor>
    <contact name="floor" geom1="floor" geom2="block" reduce="netforce" data="force"/>
    <contact name="count" geom1="floor" geom2="block" reduce="netforce"/>
  </sensor>
</mujoco>
"#;

/// The block's place and the floor's force on it after a push at 1.5 m/s, every 10 ms.
fn record(folder: &Folder) {
    folder.file("pusher.xml", PUSHER);
    let set = ["--set", "joint.pusher.qvel=1.5"];
    let args = ["simulate", "pusher.xml", "--duration", "0.8", "--out", "motion.csv"];
    let (code, value) = folder.json(&[&args[..], &set].concat());
    assert_eq!(code, 0, "{value}");
}

fn experiment(folder: &Folder, key: &str, signal: &str) {
    let motion = std::fs::read_to_string(folder.path().join("motion.csv")).unwrap();
    let header: Vec<&str> = motion.lines().next().unwrap().split(',').collect();
    let text = format!(
        r#"
costate = 1
name = "pusher"
scene = "pusher.xml"
{key}
[signal.x]
{signal}
column = "{}"
sigma = 1e-3
[recording.push]
file = "motion.csv"
time = "{}"
[parameters]
"joint.pusher.qvel" = {{ start = 0.4, bounds = [0, 4] }}
"#,
        header[2], header[0],
    );
    folder.file("experiment.toml", &text);
}

#[test]
fn a_push_that_misses_has_a_gradient_with_smoothing_alone() {
    let folder = Folder::new("smoothing");
    record(&folder);
    let slope = |value: &Value| {
        let found = &value["gradient"]["joint.pusher.qvel"];
        found.as_f64().or_else(|| found[0].as_f64()).unwrap()
    };
    let block = "joint_position = \"x\"";
    experiment(&folder, "", block);
    let (code, value) = folder.json(&["grad", "experiment.toml"]);
    assert_eq!((code, slope(&value)), (0, 0.0), "{value}");
    let cost = value["cost"].clone();
    assert_eq!(value["notes"].as_array().map(Vec::len), Some(0), "{value}");
    let (code, value) = folder.json(&["identify", "experiment.toml"]);
    assert_ne!(code, 0, "{value}");

    experiment(&folder, "smoothing = 0.001", block);
    let (code, value) = folder.json(&["grad", "experiment.toml"]);
    assert_eq!(code, 0, "{value}");
    assert!(slope(&value) < 0.0, "{value}");
    assert_eq!(value["cost"], cost, "residuals do not depend on it");
    assert!(value["notes"][0].as_str().is_some_and(|note| note.contains("0.001 m")), "{value}");
    let (_, value) = folder.json(&["identify", "experiment.toml"]);
    assert!(value.to_string().contains("relaxed over 0.001 m"), "{value}");

    folder.file("scene.toml", "costate = 1\nrobot = \"pusher.xml\"\noption.smoothing = -1\n");
    let (code, value) = folder.json(&["params", "scene.toml"]);
    assert_eq!(code, 2, "{value}");
}

#[test]
fn forces_of_contacts_are_observed_and_counts_are_refused() {
    let folder = Folder::new("contact-sensor");
    record(&folder);
    experiment(&folder, "", "sensor = \"floor\"\ncomponent = \"z\"");
    let (code, value) = folder.json(&["grad", "experiment.toml"]);
    assert_eq!(code, 0, "{value}");
    assert!(value["cost"].as_f64().is_some_and(|cost| cost > 1.0), "{value}");
    experiment(&folder, "", "sensor = \"count\"");
    let (code, value) = folder.json(&["grad", "experiment.toml"]);
    assert_ne!(code, 0, "{value}");
    assert!(value.to_string().contains("`found`"), "{value}");
}
