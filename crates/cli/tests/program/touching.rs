//! Robots whose boxes and meshes touch, through the program.

use crate::common::Folder;

/// Three boxes, one on the other, the middle one a mesh; the topmost turned.
const STACK: &str = r#"<mujoco model="stack">
  <option timestep="0.002"/>
  <asset><mesh name="brick" vertex="-.1 -.08 -.05  .1 -.08 -.05  -.1 .08 -.05  .1 .08 -.05
    -.1 -.08 .05  .1 -.08 .05  -.1 .08 .05  .1 .08 .05"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 1"/>
    <body name="low" pos="0 0 0.05"><freejoint/>
      <geom name="low" type="box" size="0.12 0.1 0.05" mass="1"/></body>
    <body name="middle" pos="0.01 0.01 0.15"><freejoint/>
      <geom name="middle" type="mesh" mesh="brick" mass="0.7"/></body>
    <body name="top" pos="0 0.01 0.25" euler="0 0 40"><freejoint/>
      <geom name="top" type="box" size="0.06 0.06 0.05" mass="0.5"/></body>
  </worldbody>
</mujoco>
"#;

#[test]
fn a_stack_of_boxes_and_a_mesh_stands() {
    let folder = Folder::new("touching-stack");
    folder.file("stack.xml", STACK);
    let args = ["simulate", "stack.xml", "--duration", "0.6", "--out", "motion.csv"];
    let (code, value) = folder.json(&args);
    assert_eq!(code, 0, "{value}");
    let motion = std::fs::read_to_string(folder.path().join("motion.csv")).unwrap();
    let header: Vec<&str> = motion.lines().next().unwrap().split(',').collect();
    let last: Vec<f64> =
        motion.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    // Position and quaternion of three free joints come first after the time.
    let heights = [last[3], last[10], last[17]];
    for (height, expected) in heights.into_iter().zip([0.05, 0.15, 0.25]) {
        assert!((height - expected).abs() < 2e-3, "{heights:?} {header:?}");
    }
}

/// A box that slides on a box that stands still, and one on slopes of a mesh.
const SLIDERS: &str = r#"<mujoco model="sliders">
  <option timestep="0.002"/>
  <asset><mesh name="wedge" vertex="-.5 -.2 0  .5 -.2 0  .5 -.2 .2  -.5 .2 0  .5 .2 0  .5 .2 .2"/></asset>
  <default><geom friction="0.3 0.005 0.0001"/></default>
  <worldbody>
    <geom name="table" type="box" size="1 0.2 0.05" pos="0 0 -0.05"/>
    <geom name="slope" type="mesh" mesh="wedge" pos="0.1667 1 0.0667"/>
    <body name="box" pos="-0.5 0 0.0998">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <joint name="tilt" type="hinge" axis="0 1 0"/>
      <geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
    <body name="rider" pos="0.3 1 0.27">
      <joint name="rx" type="slide" axis="1 0 0"/><joint name="rz" type="slide" axis="0 0 1"/>
      <joint name="rtilt" type="hinge" axis="0 1 0"/>
      <geom name="rider" type="box" size="0.06 0.06 0.05" mass="1"/>
    </body>
  </worldbody>
</mujoco>
"#;

#[test]
fn frictions_of_boxes_and_meshes_have_gradients() {
    let folder = Folder::new("touching-slide");
    folder.file("sliders.xml", SLIDERS);
    let set = ["--set", "joint.x.qvel=1.5"];
    let args = ["simulate", "sliders.xml", "--duration", "0.4", "--out", "motion.csv"];
    let (code, value) = folder.json(&[&args[..], &set].concat());
    assert_eq!(code, 0, "{value}");
    let motion = std::fs::read_to_string(folder.path().join("motion.csv")).unwrap();
    let header: Vec<&str> = motion.lines().next().unwrap().split(',').collect();
    let experiment = format!(
        r#"
costate = 1
name = "sliders"
scene = "sliders.xml"
[signal.x]
joint_position = "x"
column = "{}"
sigma = 1e-3
[signal.rx]
joint_position = "rx"
column = "{}"
sigma = 1e-3
[recording.slide]
file = "motion.csv"
time = "{}"
[parameters]
"geom.table.friction" = {{ start = [0.4, 0.005, 0.0001] }}
"geom.slope.friction" = {{ start = [0.2, 0.005, 0.0001] }}
"geom.rider.mass" = {{ start = 0.8 }}
"recording.slide.joint.x.qvel" = {{ start = [1.4] }}
"#,
        header[1], header[4], header[0],
    );
    folder.file("experiment.toml", &experiment);
    let (code, value) = folder.json(&["grad", "experiment.toml"]);
    assert_eq!(code, 0, "{value}");
    let gradient = &value["gradient"];
    let table = &gradient["geom.table.friction"];
    let friction = table.as_f64().or_else(|| table[0].as_f64()).unwrap();
    assert!(friction.is_finite() && friction != 0.0, "{value}");
}
