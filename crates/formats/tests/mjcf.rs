//! Reading MJCF: what its attributes mean, and what is refused where.

use costate_formats::{ErrorKind, parse_mjcf};
use costate_model::Model;
use costate_model::rigid::{
    ActuatorLaw, Articulation, GeomMass, Inertial, JointKind, Placement, Tensor,
};

fn read(text: &str) -> Model {
    parse_mjcf("robot.xml", text).unwrap_or_else(|e| panic!("{e}"))
}

fn tree(model: &Model) -> &Articulation {
    model.articulation.as_ref().expect("an MJCF model has an articulation")
}

fn close(model: &Model, path: &str, expected: &[f64]) {
    let found = model.get(path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.len(), expected.len(), "{path}: {found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12, "{path}: {found:?}, expected {expected:?}");
    }
}

#[test]
fn defaults_classes_and_child_classes() {
    let model = read(
        r#"<mujoco>
  <compiler angle="radian"/>
  <default>
    <joint damping="0.2"/>
    <default class="light"><geom density="100"/><joint armature="0.3" range="-1 1"/>
      <default class="lighter"><geom density="10"/></default>
    </default>
  </default>
  <worldbody>
    <body name="a" childclass="light">
      <joint name="j" type="hinge"/><geom name="g" size="0.1"/>
      <body name="b"><joint name="k" class="main"/><geom name="h" class="lighter" size="0.1"/></body>
    </body>
  </worldbody>
</mujoco>"#,
    );
    close(&model, "joint.j.damping", &[0.2]);
    close(&model, "joint.j.armature", &[0.3]);
    close(&model, "joint.k.armature", &[0.0]);
    close(&model, "geom.g.density", &[100.0]);
    close(&model, "geom.h.density", &[10.0]);
    assert!(tree(&model).joints[0].limited);
    assert!(!tree(&model).joints[1].limited);
    assert_eq!(tree(&model).bodies[2].parent, 1);
    assert_eq!(model.options.timestep, 0.002);
}

#[test]
fn angles_frames_and_orientations() {
    let model = read(
        r#"<mujoco>
  <compiler eulerseq="XYZ"/>
  <worldbody>
    <body name="a" euler="90 0 90">
      <frame pos="1 0 0" euler="0 0 90">
        <joint name="j" axis="1 0 0" pos="1 0 0" range="-90 180" ref="45"/>
        <geom name="box" type="box" size="1 2 3" pos="1 0 0"/>
        <geom name="rod" type="capsule" size="0.1" fromto="0 0 1 0 0 0"/>
      </frame>
      <geom name="bar" type="capsule" size="0.1" fromto="0 0 1 0 0 0"/>
    </body>
  </worldbody>
</mujoco>"#,
    );
    let (half, pi) = (0.5f64.sqrt(), std::f64::consts::PI);
    close(&model, "body.a.quat", &[0.5, 0.5, 0.5, 0.5]);
    close(&model, "joint.j.axis", &[0.0, 1.0, 0.0]);
    close(&model, "joint.j.pos", &[1.0, 1.0, 0.0]);
    close(&model, "joint.j.range", &[-pi / 2.0, pi]);
    close(&model, "joint.j.ref", &[pi / 4.0]);
    close(&model, "geom.box.pos", &[1.0, 1.0, 0.0]);
    close(&model, "geom.box.quat", &[half, 0.0, 0.0, half]);
    close(&model, "geom.rod.size", &[0.1, 0.5]);
    close(&model, "geom.bar.size", &[0.1]);
    let a = tree(&model);
    assert!(matches!(a.geoms[2].placement, Placement::FromTo { .. }));
}

#[test]
fn replicas_take_what_refers_to_them_along() {
    let model = read(
        r#"<mujoco>
  <worldbody>
    <replicate count="2" offset="0 1 0" euler="90 0 0">
      <replicate count="2" sep="-" offset="1 0 0" euler="0 90 0">
        <body name="Alice"><joint name="hip"/><geom size="0.1"/></body>
      </replicate>
    </replicate>
  </worldbody>
  <actuator><motor name="Bob" joint="hip"/></actuator>
</mujoco>"#,
    );
    let a = tree(&model);
    let names: Vec<&str> = a.bodies[1..].iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["Alice-00", "Alice-10", "Alice-01", "Alice-11"]);
    let half = 0.5f64.sqrt();
    close(&model, "body.Alice-10.quat", &[half, 0.0, half, 0.0]);
    close(&model, "body.Alice-11.quat", &[0.5; 4]);
    close(&model, "body.Alice-11.pos", &[1.0, 1.0, 0.0]);
    assert_eq!(a.actuators.len(), 4);
    assert_eq!(a.actuators[3].name, "Bob-11");
}

#[test]
fn inertials_and_geoms_give_mass() {
    let model = read(
        r#"<mujoco>
  <compiler inertiagrouprange="1 2"/>
  <worldbody>
    <body name="full"><freejoint/>
      <inertial pos="0 0 0.1" mass="2" fullinertia="0.5 0.6 0.7 0.02 -0.03 0.04"/>
      <geom size="1" group="1"/></body>
    <body name="geoms"><joint type="slide"/>
      <geom name="in" size="1" mass="3" group="1"/><geom name="out" size="1"/></body>
  </worldbody>
</mujoco>"#,
    );
    let a = tree(&model);
    assert!(matches!(a.bodies[1].inertial, Inertial::Given { tensor: Tensor::Full { .. }, .. }));
    close(&model, "body.full.fullinertia", &[0.5, 0.6, 0.7, 0.02, -0.03, 0.04]);
    let counts: Vec<bool> = a.geoms.iter().map(|g| g.in_inertia).collect();
    assert_eq!(counts, [false, true, false]);
    assert!(matches!(a.geoms[1].mass, GeomMass::Mass(_)));
    assert_eq!(a.joints[0].kind, JointKind::Free);
    assert_eq!(a.joints[0].name, "joint0");
}

#[test]
fn actuators_inherit_gains_of_their_own_kind_only() {
    let model = read(
        r#"<mujoco>
  <compiler angle="radian"/>
  <default><position kp="7" dampratio="0.5" ctrlrange="-1 1"/></default>
  <worldbody>
    <body><joint name="j" range="0 2"/><geom size="0.1"/></body>
  </worldbody>
  <actuator>
    <position name="servo" joint="j"/>
    <position name="wide" joint="j" kv="2" ctrlrange="0 0" inheritrange="0.5"/>
    <velocity name="speed" joint="j"/>
    <intvelocity name="winch" joint="j" actrange="-3 3"/>
  </actuator>
</mujoco>"#,
    );
    close(&model, "actuator.servo.kp", &[7.0]);
    close(&model, "actuator.servo.dampratio", &[0.5]);
    close(&model, "actuator.servo.ctrlrange", &[-1.0, 1.0]);
    close(&model, "actuator.wide.kv", &[2.0]);
    close(&model, "actuator.wide.ctrlrange", &[0.5, 1.5]);
    close(&model, "actuator.speed.kv", &[1.0]);
    close(&model, "actuator.winch.kp", &[1.0]);
    assert_eq!(tree(&model).na(), 1);
    assert!(matches!(tree(&model).actuators[2].law, ActuatorLaw::Velocity { .. }));
}

/// The place, kind and message of what is wrong with a text.
fn fault(text: &str) -> (Option<usize>, ErrorKind, String) {
    match parse_mjcf("robot.xml", text) {
        Ok(_) => panic!("no fault found in {text}"),
        Err(e) => (e.line(), e.kind(), e.to_string()),
    }
}

#[test]
fn faults_are_named_with_their_place() {
    let body = |inside: &str| {
        format!("<mujoco>\n<worldbody>\n<body name=\"b\">\n{inside}\n</body></worldbody></mujoco>")
    };
    for (text, line, kind, part) in [
        (body("<joint dampin=\"1\"/>"), 4, ErrorKind::UnknownKey, "did you mean \"damping\""),
        (body("<jiont/>"), 4, ErrorKind::UnknownKey, "did you mean \"joint\""),
        (body("<joint axis=\"1 0\"/>"), 4, ErrorKind::WrongLength, "expected 3 numbers, found 2"),
        (body("<joint axis=\"0 0 0\"/>"), 4, ErrorKind::Conflict, "axis is zero"),
        (body("<joint pos=\"0 x 0\"/>"), 4, ErrorKind::NotANumber, "\"x\""),
        (
            body("<joint range=\"2 1\" limited=\"true\"/>"),
            4,
            ErrorKind::OutOfBounds,
            "first < second",
        ),
        (body("<joint type=\"hing\"/>"), 4, ErrorKind::WrongType, "one of free"),
        (body("<geom size=\"0\"/>"), 4, ErrorKind::OutOfBounds, "positive"),
        (body("<geom size=\"1\" class=\"x\"/>"), 4, ErrorKind::UnknownName, "default class"),
        (body("<geom type=\"mesh\" mesh=\"m\"/>"), 4, ErrorKind::UnknownName, "mesh asset"),
        (body("<joint/><freejoint/>"), 4, ErrorKind::Conflict, "only joint"),
        (body("<inertial pos=\"0 0 0\" mass=\"-1\"/>"), 4, ErrorKind::OutOfBounds, "mass"),
        (
            body("<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 3\"/>"),
            4,
            ErrorKind::OutOfBounds,
            "A + B >= C",
        ),
        (body("<body name=\"b\"/>"), 4, ErrorKind::Duplicate, "taken"),
        (body("<joint>"), 5, ErrorKind::Syntax, "joint"),
        (
            "<mujoco>\n<worldbody>\n<joint/></worldbody></mujoco>".into(),
            3,
            ErrorKind::UnknownKey,
            "<worldbody>",
        ),
        ("<robot/>".into(), 1, ErrorKind::Syntax, "<mujoco>"),
        (
            "<mujoco>\n<compiler coordinate=\"global\"/></mujoco>".into(),
            2,
            ErrorKind::Unsupported,
            "local",
        ),
        (
            "<mujoco>\n<actuator><motor joint=\"x\"/></actuator></mujoco>".into(),
            2,
            ErrorKind::UnknownName,
            "the name of a joint",
        ),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<mujoco/>".into(), 1, ErrorKind::Syntax, "DTD"),
        (
            "<mujoco>\n<include file=\"robot.xml\"/></mujoco>".into(),
            2,
            ErrorKind::Syntax,
            "second time",
        ),
        (
            "<mujoco>\n<include file=\"absent.xml\"/></mujoco>".into(),
            2,
            ErrorKind::Syntax,
            "absent.xml",
        ),
    ] {
        let (found, found_kind, message) = fault(&text);
        assert_eq!((found, found_kind), (Some(line), kind), "{text}\n{message}");
        assert!(message.contains(part), "{text}\n{message}");
        assert!(message.starts_with("robot.xml:"), "{message}");
    }
}

#[test]
fn what_is_not_simulated_is_listed_by_name() {
    let model = read(
        r#"<mujoco>
  <option viscosity="0.1" density="1.2" wind="1 0 0" noslip_iterations="3"/>
  <worldbody>
    <body><freejoint align="true"/><geom size="0.1" adhesion="2"/></body>
  </worldbody>
  <sensor><magnetometer name="north" site="s"/></sensor>
  <visual><map zfar="30"/></visual>
  <custom><numeric name="n" data="1"/></custom>
</mujoco>"#,
    );
    let a = tree(&model);
    let mut names: Vec<&str> = a.unsupported.iter().map(|u| u.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["adhesion", "alignfree", "noslip"]);
    let noslip = a.unsupported.iter().find(|u| u.name == "noslip").expect("listed above");
    assert_eq!(noslip.place, "robot.xml:2:3");
    assert_eq!(model.get("option.viscosity").unwrap(), [0.1]);
    assert_eq!(model.get("option.wind").unwrap(), [1.0, 0.0, 0.0]);
    assert_eq!(a.skipped_sensors[0].name, "north");
}

#[test]
fn ten_thousand_nested_bodies_are_read() {
    let mut text = String::from("<mujoco><worldbody>");
    for _ in 0..10_000 {
        text += "<body><joint/><geom size=\"0.1\"/>";
    }
    text += &"</body>".repeat(10_000);
    text += "</worldbody></mujoco>";
    let model = read(&text);
    assert_eq!(tree(&model).nv(), 10_000);
}

#[test]
fn replicas_without_end_are_refused() {
    let nested = "<replicate count=\"1000\">".repeat(5) + "<geom size=\"1\"/>";
    let text =
        format!("<mujoco><worldbody>{nested}{}</worldbody></mujoco>", "</replicate>".repeat(5));
    assert_eq!(fault(&text).1, ErrorKind::TooLarge);
    let text = "<mujoco><worldbody><replicate count=\"999999999999\"><body/></replicate></worldbody></mujoco>";
    assert_eq!(fault(text).1, ErrorKind::OutOfBounds);
}

#[test]
fn a_mesh_of_triangles_weighs_like_its_solid() {
    // A cube of side 2 about (1, 0, 0).
    let model = read(
        r#"<mujoco>
  <asset><mesh name="cube" inertia="exact" scale="1 1 1"
    vertex="0 -1 -1  2 -1 -1  2 1 -1  0 1 -1  0 -1 1  2 -1 1  2 1 1  0 1 1"
    face="0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="cube"/></body></worldbody>
</mujoco>"#,
    );
    let mesh = &tree(&model).meshes[0];
    assert!((mesh.volume - 8.0).abs() < 1e-12);
    assert!((mesh.center[0] - 1.0).abs() < 1e-12 && mesh.center[1].abs() < 1e-12);
    for i in 0..3 {
        assert!((mesh.inertia[i] - 8.0 * (4.0 + 4.0) / 12.0).abs() < 1e-12);
        assert!(mesh.inertia[3 + i].abs() < 1e-12);
    }
}

#[test]
fn heights_go_from_zero_to_the_given_one_and_rows_from_the_top() {
    let model = read(
        r#"<mujoco>
  <asset><hfield name="hills" nrow="2" ncol="3" size="2 1 0.5 0.1" elevation="1 2 3  5 4 3"/></asset>
  <worldbody><geom type="hfield" hfield="hills"/></worldbody>
</mujoco>"#,
    );
    let field = &tree(&model).fields[0];
    assert_eq!((field.rows, field.columns), (2, 3));
    assert_eq!(field.heights[..], [0.5, 0.375, 0.25, 0.0, 0.125, 0.25]);
    assert_eq!((field.point(0, 0), field.point(1, 2)), ([-2.0, -1.0, 0.5], [2.0, 1.0, 0.25]));
    let text = r#"<mujoco>
  <asset><hfield name="hills" nrow="2" ncol="2" size="2 1 0.5 0.1" elevation="1 2 3"/></asset>
  <worldbody><geom type="hfield" hfield="hills"/></worldbody>
</mujoco>"#;
    assert_eq!(fault(text).1, ErrorKind::WrongLength);
}

/// Mass, centre and inertia are those of mujoco 4.0, whose vertices are of single precision.
#[test]
fn a_mesh_without_faces_is_its_convex_hull() {
    let model = read(
        r#"<mujoco>
  <asset><mesh name="m" inertia="convex"
    vertex="0 0 0  .3 0 0  0 .2 0  0 0 .4  .05 .05 .05  .2 .15 .3"/></asset>
  <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>
</mujoco>"#,
    );
    let mesh = &tree(&model).meshes[0];
    assert_eq!(mesh.vertices.len(), 5);
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} for {b}");
    near(1000.0 * mesh.volume, 8.666_667_352_12);
    let center = [0.101_923_080_5, 0.070_192_309_4, 0.140_384_618_8];
    let inertia = [
        0.082_331_741_0,
        0.100_500_013_2,
        0.051_100_968_6,
        0.002_169_872_1,
        0.004_339_744_2,
        0.001_733_974_0,
    ];
    for i in 0..3 {
        near(mesh.center[i], center[i]);
    }
    for i in 0..6 {
        near(1000.0 * mesh.inertia[i], inertia[i]);
    }
}

#[test]
fn changed_numbers_go_back_into_the_file() {
    let text = r#"<mujoco>
  <default><joint damping="0.2"/></default> <!-- stays -->
  <worldbody>
    <body name="a"><joint name="j" range="-90 90"/><inertial pos="0 0 0.1" mass="2" diaginertia="1 1 1"/>
      <geom name="g" type="capsule" size="0.1 9" fromto="0 0 0 0 0 1"/></body>
  </worldbody>
  <actuator><position name="p" joint="j" kp="3"/></actuator>
</mujoco>"#;
    let mut model = read(text);
    for (path, values) in [
        ("joint.j.damping", &[0.5][..]),
        ("joint.j.range", &[-1.0, 1.5]),
        ("body.a.mass", &[2.5]),
        ("body.a.ipos", &[0.0, 0.0, 0.2]),
        ("geom.g.size", &[0.2]),
        ("actuator.p.kp", &[7.0]),
        ("option.gravity", &[0.0, 0.0, -1.6]),
    ] {
        model = model.with(path, values).unwrap_or_else(|e| panic!("{e}"));
    }
    // Leaves of the start are no part of the file.
    let mut a = model.articulation.take().expect("an MJCF model has an articulation");
    a.add_initial_state(&mut model.leaves, None).unwrap_or_else(|e| panic!("{e}"));
    model.articulation = Some(a);
    let path = std::path::Path::new("robot.xml");
    let new = costate_formats::mjcf_with_values(path, text, &model, path);
    let new = new.unwrap_or_else(|e| panic!("{e}"));
    assert!(new.contains("<joint damping=\"0.5\" name=\"j\""), "{new}");
    assert!(new.contains("<default><joint damping=\"0.2\"/></default> <!-- stays -->"), "{new}");
    assert!(new.contains("pos=\"0.0 0.0 0.2\" mass=\"2.5\" diaginertia=\"1 1 1\""), "{new}");
    assert!(new.contains("size=\"0.2 9\"") && new.contains("kp=\"7.0\""), "{new}");
    let same = costate_formats::mjcf_with_values(path, text, &read(text), path);
    assert_eq!(same.unwrap_or_else(|e| panic!("{e}")), text);
    let viewed = read(text).with_views(["body.a.fullinertia"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(costate_formats::mjcf_with_values(path, text, &viewed, path).is_err());
}

/// Numbers in frames, in included files and of replicas go back to where they came from.
#[test]
fn changed_numbers_go_back_through_frames_includes_and_replicas() {
    let folder = std::env::temp_dir().join(format!("costate-write-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let save = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    save("inner.xml", r#"<mujocoinclude><geom name="in" size="0.1" mass="1"/></mujocoinclude>"#);
    let part = r#"<mujocoinclude> <!-- a part -->
  <body name="part" pos="1 0 0"><joint name="turn" damping="0.1"/><include file="inner.xml"/></body>
</mujocoinclude>"#;
    save("part.xml", part);
    save("other.xml", r#"<mujoco><default><geom rgba="1 0 0 1"/></default></mujoco>"#);
    let text = r#"<mujoco>
  <include file="other.xml"/>
  <worldbody>
    <frame pos="0 0 1" euler="0 90 0">
      <body name="a" pos="0.1 0.2 0.3" euler="10 20 30">
        <frame pos="0 1 0" euler="0 0 90">
          <joint name="j" axis="0 1 0" pos="0.1 0 0"/>
          <geom name="g" type="capsule" pos="0 0 1" size="0.1 0.2"/>
          <geom name="ends" type="capsule" fromto="0 0 0 0 0 1" size="0.1"/>
        </frame>
      </body>
    </frame>
    <include file="part.xml"/>
    <replicate count="3" offset="0 2 0" euler="0 0 30">
      <body name="leg" pos="0 0 2"><joint name="hip" damping="0.3"/><geom size="0.1"/></body>
    </replicate>
  </worldbody>
</mujoco>"#;
    let path = folder.join("main.xml");
    let parse =
        |text: &str| costate_formats::parse_mjcf(&path, text).unwrap_or_else(|e| panic!("{e}"));
    let mut model = parse(text);
    let moved = |model: &costate_model::Model, leaf: &str| -> Vec<f64> {
        let old = model.get(leaf).unwrap_or_else(|e| panic!("{e}"));
        old.iter().enumerate().map(|(i, x)| x + 0.01 * (1.0 + i as f64)).collect()
    };
    for leaf in ["body.a.pos", "joint.j.pos", "geom.g.pos", "joint.turn.damping", "geom.in.mass"] {
        let values = moved(&model, leaf);
        model = model.with(leaf, &values).unwrap_or_else(|e| panic!("{e}"));
    }
    for (leaf, values) in [
        ("body.a.quat", &[0.6, 0.0, 0.8, 0.0][..]),
        ("joint.j.axis", &[0.6, 0.8, 0.0]),
        ("joint.hip0.damping", &[0.7]),
        ("joint.hip1.damping", &[0.7]),
        ("joint.hip2.damping", &[0.7]),
    ] {
        model = model.with(leaf, values).unwrap_or_else(|e| panic!("{e}"));
    }
    let new = costate_formats::mjcf_with_values(&path, text, &model, &path);
    let new = new.unwrap_or_else(|e| panic!("{e}"));
    let again = parse(&new);
    for (_, leaf) in model.leaves.iter() {
        let found = again.get(&leaf.path).unwrap_or_else(|e| panic!("{e}"));
        for (a, b) in found.iter().zip(&leaf.values) {
            assert!((a - b).abs() < 1e-14, "{}: {a} for {b}", leaf.path);
        }
    }
    // The files that hold a changed number are part of the text now, the other is still included.
    assert!(new.contains("<include file=\"other.xml\"/>") && !new.contains("part.xml"), "{new}");
    assert!(new.contains("<!-- a part -->") && !new.contains("inner.xml"), "{new}");
    assert!(new.contains("<joint name=\"hip\" damping=\"0.7\"/>"), "{new}");
    assert!(new.contains("name=\"a\"") && !new.contains("euler=\"10 20 30\""), "{new}");
    assert_eq!(std::fs::read_to_string(folder.join("part.xml")).unwrap(), part);

    let uneven = model.with("joint.hip1.damping", &[0.8]).unwrap_or_else(|e| panic!("{e}"));
    let refused = costate_formats::mjcf_with_values(&path, text, &uneven, &path);
    let refused = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused.contains("joint.hip") && refused.contains("replicas"), "{refused}");
    let place = moved(&model, "geom.ends.pos");
    let ends = model.with("geom.ends.pos", &place).unwrap_or_else(|e| panic!("{e}"));
    let refused = costate_formats::mjcf_with_values(&path, text, &ends, &path);
    let refused = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused.contains("geom.ends.pos") && refused.contains("fromto"), "{refused}");
    std::fs::remove_dir_all(folder).unwrap();
}
