//! Soft bodies and robots in one scene, through the program.

use serde_json::Value;

use crate::common::Folder;

/// A ball on a vertical slide above a soft block.
const BALL: &str = r#"<mujoco model="ball">
  <option timestep="0.0005"/>
  <worldbody>
    <body name="ball" pos="0.05 0.05 0.17">
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="ball" size="0.05" mass="0.12"/>
    </body>
  </worldbody>
</mujoco>
"#;

const SCENE: &str = r#"costate = 1
robot = "ball.xml"

[values]
"geom.ball.mass" = 0.12

[soft.block]
grid = { cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }
material = "neo-hookean"
young = 2e4
poisson = 0.3
density = 100.0
damping = 8.0
fixed = { side = "z-" }

[geom.ball.soft]
stiffness = 500.0
damping = 1.0
ramp = 0.005
friction_damping = 0.5
"#;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("ball.xml", BALL);
    folder.file("scene.toml", SCENE);
    folder
}

#[test]
fn leaves_of_both_are_listed_and_proved() {
    let folder = folder("mixed-check");
    let (code, value) = folder.json(&["params", "scene.toml"]);
    assert_eq!(code, 0, "{value}");
    let leaves = value["leaves"].as_array().unwrap();
    let value = |path: &str| leaves.iter().find(|l| l["path"] == path).map(|l| l["value"].clone());
    assert_eq!(value("geom.ball.soft.stiffness"), Some(500.0.into()));
    assert_eq!(value("soft.block.young"), Some(2e4.into()));
    assert_eq!(value("geom.ball.mass"), Some(0.12.into()));
    let set = ["--set", "joint.z.qpos=-0.03", "--set", "joint.z.qvel=-1"];
    let (code, value) =
        folder.json(&[&["check", "scene.toml", "--steps", "30"][..], &set].concat());
    assert_eq!(code, 0, "{value}");
    let leaves = value["leaves"].as_array().unwrap();
    let acts = |path: &str| {
        let leaf = leaves.iter().find(|l| l["path"] == path);
        leaf.is_some_and(|l: &Value| l["derivative"].as_f64().is_some_and(|d| d != 0.0))
    };
    for path in ["geom.ball.soft.stiffness", "geom.ball.mass", "soft.block.young", "geom.ball.size"]
    {
        assert!(acts(path), "{path}: {value}");
    }
}

/// The mass of a ball dropped on a soft block, and the block's modulus, from the ball's recorded motion.
#[test]
fn the_mass_of_a_ball_is_found_from_its_fall_on_a_block() {
    let folder = folder("mixed-identify");
    let args = ["simulate", "scene.toml", "--duration", "0.5", "--out", "motion.csv"];
    let (code, value) = folder.json(&[&args[..], &["--gif", "motion.gif"]].concat());
    assert_eq!(code, 0, "{value}");
    assert!(std::fs::metadata(folder.path().join("motion.gif")).unwrap().len() > 1000);
    let motion = std::fs::read_to_string(folder.path().join("motion.csv")).unwrap();
    let header: Vec<&str> = motion.lines().next().unwrap().split(',').collect();
    let z = header.iter().find(|name| name.contains("joint.z.qpos")).unwrap();
    let experiment = format!(
        r#"
costate = 1
name = "drop"
scene = "scene.toml"
[signal.z]
joint_position = "z"
column = "{z}"
sigma = 1e-4
[recording.drop]
file = "motion.csv"
time = "{}"
[parameters]
"geom.ball.mass" = {{ start = 0.2, transform = "log" }}
"soft.block.young" = {{ start = 1.4e4, transform = "log" }}
"#,
        header[0]
    );
    folder.file("experiment.toml", &experiment);
    let args = ["identify", "experiment.toml", "--out", "run", "--write-model", "fitted.toml"];
    let (code, value) = folder.json(&args);
    assert_eq!(code, 0, "{value}");
    let text = std::fs::read_to_string(folder.path().join("fitted.toml")).unwrap();
    let number = |key: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split('=').nth(1).unwrap().trim().parse().unwrap()
    };
    let (mass, young) = (number("\"geom.ball.mass\""), number("young"));
    assert!((mass / 0.12 - 1.0).abs() < 1e-4, "{mass}");
    assert!((young / 2e4 - 1.0).abs() < 1e-4, "{young}");
}
