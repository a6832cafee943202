//! Scenes around robots: what is read, what is refused and where, and what is written back.

use std::path::{Path, PathBuf};

use costate_formats::scene::Scene;

const ROBOT: &str = r#"<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
<inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>
<actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"#;

/// A folder with the robot in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("robot.xml"), ROBOT).unwrap();
    folder
}

fn parse(folder: &Path, text: &str) -> Result<Scene, costate_formats::Error> {
    Scene::parse(folder.join("scene.toml"), &format!("costate = 1\nrobot = \"robot.xml\"\n{text}"))
}

const SERVO: &str = "[values]\n\"joint.hinge.damping\" = 0.2\n[input.target]\nunit = \"rad\"\n\
                     [controller.servo]\nactuator = \"motor\"\ntype = \"pd\"\njoint = \"hinge\"\n\
                     target = \"input.target\"\nkp = 5.0 # stiff\nkd = 0.1\n\
                     [friction.gear]\njoint = \"hinge\"\ndry = 0.01\n\
                     load = { coefficient = 0.1, torque = \"gear\" }\n";

#[test]
fn gains_and_values_are_leaves_and_inputs_are_channels() {
    let scene = parse(&folder("control-read"), SERVO).unwrap();
    let leaf = |path: &str| scene.model.get(path).unwrap()[0];
    assert_eq!(leaf("joint.hinge.damping"), 0.2);
    assert_eq!(leaf("controller.servo.kp"), 5.0);
    assert_eq!(leaf("friction.gear.load.coefficient"), 0.1);
    let channels: Vec<String> = scene.model.inputs().into_iter().map(|c| c.name).collect();
    assert_eq!(channels, ["input.target"]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = folder("control-errors");
    for (text, line, part) in [
        ("[controller.c]\nlaw = \"2 * input.x\"\n", 4, "input.x"),
        ("[controller.c]\nlaw = \"2 * (1\"\n", 4, "`)`"),
        ("[controller.c]\ntype = \"pd\"\njoint = \"hing\"\n", 5, "hinge"),
        ("[controller.c]\nlaw = \"0\"\nsample_tim = 0.1\n", 5, "sample_time"),
        (
            "[drive.d]\nactuator = \"motor\"\nvoltage = \"1\"\nresistance = 1\n",
            3,
            "torque_constant",
        ),
        (
            "[controller.c]\nactuator = \"motor\"\nlaw = \"0\"\n\
             [controller.d]\nactuator = \"motor\"\nlaw = \"1\"\n",
            7,
            "second",
        ),
        ("[friction.f]\njoint = \"hinge\"\ndry = -1.0\n", 5, "friction.f.dry"),
        ("[values]\n\"joint.hinge.dampin\" = 1\n", 4, "damping"),
        ("[geom.x]\ntype = \"plane\"\n", 3, "beside a robot alone"),
    ] {
        let error = parse(&folder, text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(error.contains(&format!("scene.toml:{line}:")), "{text}: {error}");
    }
}

#[test]
fn changed_gains_are_written_where_they_stand() {
    let folder = folder("control-write");
    let scene = parse(&folder, SERVO).unwrap();
    let changed = scene.model.with("controller.servo.kp", &[7.25]).unwrap();
    let changed = changed.with("joint.hinge.damping", &[0.5]).unwrap();
    let changed = changed.with("friction.gear.load.coefficient", &[0.3]).unwrap();
    let text = scene.with_values(&changed, &folder.join("fitted.toml")).unwrap();
    assert!(text.contains("kp = 7.25 # stiff"), "{text}");
    assert!(text.contains("\"joint.hinge.damping\" = 0.5"), "{text}");
    assert!(text.contains("coefficient = 0.3"), "{text}");
    // What stands in the robot's file only has no place here, and the way out is said.
    let mass = scene.model.with("body.arm.mass", &[2.0]).unwrap();
    let error = scene.with_values(&mass, &folder.join("fitted.toml")).unwrap_err().to_string();
    assert!(error.contains("[values]"), "{error}");
}
