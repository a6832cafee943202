//! Scenes of soft bodies beside a robot: what is read, what is refused and where, and what is written back.

use std::path::{Path, PathBuf};

use costate_formats::scene::Scene;

const ROBOT: &str = r#"<mujoco><option timestep="0.004" gravity="0 0 -5"/><worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body name="arm"><joint name="hinge" axis="0 1 0"/><geom name="ball" size="0.1"/>
<geom name="can" type="cylinder" size="0.1 0.1"/></body></worldbody></mujoco>"#;

const SOFT: &str = "[soft.cube] # a cube\ngrid = { cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }\n\
                    material = \"neo-hookean\"\nyoung = 1e4 # soft\npoisson = 0.3\ndensity = 100.0\n\
                    [geom.ball.soft]\nstiffness = 700.0 # firm\nfriction = 0.3\n\
                    [geom.table]\ntype = \"plane\"\npos = [0, 0, -1]\n";

/// A folder with the robot in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("robot.xml"), ROBOT).unwrap();
    let weightless =
        ROBOT.replace("/><worldbody>", "><flag gravity=\"disable\"/></option><worldbody>");
    std::fs::write(folder.join("weightless.xml"), weightless).unwrap();
    folder
}

fn parse(folder: &Path, text: &str) -> Result<Scene, costate_formats::Error> {
    Scene::parse(folder.join("scene.toml"), &format!("costate = 1\nrobot = \"robot.xml\"\n{text}"))
}

#[test]
fn soft_bodies_stand_beside_a_robot() {
    let scene = parse(&folder("mixed-read"), SOFT).unwrap();
    let leaf = |path: &str| scene.model.get(path).unwrap().to_vec();
    assert_eq!(leaf("geom.ball.soft.stiffness"), [700.0]);
    assert_eq!(leaf("geom.ball.soft.damping"), [10.0]);
    assert_eq!(leaf("geom.ball.soft.friction_damping"), [10.0]);
    assert_eq!(leaf("geom.table.slip_speed"), [0.01]);
    // The geom's own friction is of contacts with other geoms.
    assert_eq!((leaf("geom.ball.soft.friction").len(), leaf("geom.ball.friction").len()), (1, 3));
    assert_eq!(leaf("geom.table.pos"), [0.0, 0.0, -1.0]);
    let a = scene.model.articulation.as_ref().unwrap();
    assert_eq!(a.soft_contacts.len(), 1);
    assert_eq!(a.geoms[a.soft_contacts[0].geom].name, "ball");
    assert_eq!((scene.model.soft.len(), scene.model.geoms.len()), (1, 1));
}

/// Time step and gravity are the robot's unless the scene gives them.
#[test]
fn one_time_step_and_one_gravity_hold_for_all() {
    let folder = folder("mixed-options");
    let scene = parse(&folder, SOFT).unwrap();
    assert_eq!(scene.model.options.timestep, 0.004);
    assert_eq!(scene.model.get("option.gravity").unwrap(), [0.0, 0.0, -5.0]);
    let option = "[option]\ntimestep = 1e-4\ngravity = [0, 0, -3] # moon\n";
    let scene = parse(&folder, &format!("{option}{SOFT}")).unwrap();
    assert_eq!(scene.model.options.timestep, 1e-4);
    assert_eq!(scene.model.get("option.gravity").unwrap(), [0.0, 0.0, -3.0]);
    let changed = scene.model.with("option.gravity", &[0.0, 0.0, -2.5]).unwrap();
    let text = scene.with_values(&changed, &folder.join("fitted.toml")).unwrap();
    assert!(text.contains("gravity = [0, 0, -2.5] # moon"), "{text}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let folder = folder("mixed-errors");
    for (text, line, part) in [
        ("[geom.bell.soft]\nstiffness = 1.0\n", 15, "known: floor, ball, can"),
        ("[geom.can.soft]\nstiffness = 1.0\n", 15, "this is a cylinder"),
        ("[geom.floor.soft]\nstiffness = -1.0\n", 16, "geom.floor.soft.stiffness"),
        ("[geom.floor.soft]\nstifness = 1.0\n", 16, "stiffness"),
        ("[geom.floor]\nfriction = 0.3\n", 15, "soft"),
        ("[geom.floor]\ntype = \"plane\"\n", 15, "[geom.floor.soft]"),
        ("[option]\nup = \"y\"\n", 16, "up"),
        (
            "[option]\ngravity = [0, 0, 0]\n[values]\n\"option.gravity\" = [0, 0, -1]\n",
            18,
            "one place",
        ),
        ("[values]\n\"soft.cube.young\" = 1.0\n", 16, "soft.cube.young"),
    ] {
        let error = parse(&folder, &format!("{SOFT}{text}")).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(error.contains(&format!("scene.toml:{line}:")), "{text}: {error}");
    }
    let text = format!("costate = 1\nrobot = \"weightless.xml\"\n{SOFT}");
    let error = Scene::parse(folder.join("scene.toml"), &text).unwrap_err().to_string();
    assert!(error.contains("scene.toml:2:") && error.contains("one gravity"), "{error}");
    let option = format!("{text}[option]\ngravity = [0, 0, 0]\n");
    Scene::parse(folder.join("scene.toml"), &option).unwrap();
}

#[test]
fn changed_values_are_written_where_they_stand() {
    let folder = folder("mixed-write");
    let scene = parse(&folder, SOFT).unwrap();
    let changed = [
        ("geom.ball.soft.stiffness", 650.0),
        ("geom.ball.soft.damping", 4.0),
        ("soft.cube.young", 9000.0),
        ("geom.table.friction", 0.25),
    ];
    let mut model = scene.model.clone();
    for (path, value) in changed {
        model = model.with(path, &[value]).unwrap();
    }
    let text = scene.with_values(&model, &folder.join("fitted.toml")).unwrap();
    assert!(text.contains("stiffness = 650.0 # firm"), "{text}");
    assert!(text.contains("young = 9000.0 # soft"), "{text}");
    let again = Scene::parse(folder.join("fitted.toml"), &text).unwrap();
    assert_eq!(again.model.theta(), model.theta());
    // What stands in the robot's file only has no place here, and the way out is said.
    let other = scene.model.with("geom.ball.density", &[500.0]).unwrap();
    let error = scene.with_values(&other, &folder.join("fitted.toml")).unwrap_err().to_string();
    assert!(error.contains("[values] \"geom.ball.density\""), "{error}");
}
