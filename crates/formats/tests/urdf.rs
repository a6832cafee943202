//! Reading URDF.

use std::path::Path;

use costate_formats::{ErrorKind, parse_urdf, urdf_with_values};
use costate_model::rigid::JointKind;

const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
    <visual><geometry><mesh filename="a.dae"/></geometry></visual>
    <collision><geometry><box size="0.2 0.4 0.6"/></geometry></collision>
  </link>
  <link name="finger"><inertial><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><origin xyz="0 0 1" rpy="0 0 0"/><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="3"/><dynamics damping="0.5" friction="0.2"/></joint>
  <joint name="grip" type="prismatic"><parent link="upper"/><child link="finger"/>
    <limit lower="0" upper="0.1" effort="1" velocity="1"/><mimic joint="shoulder" multiplier="0.05" offset="0.01"/></joint>
  <transmission name="t"><anything goes="here"/></transmission>
</robot>"#;

#[test]
fn links_joints_and_limits() {
    let model = parse_urdf("arm.urdf", ARM).unwrap_or_else(|e| panic!("{e}"));
    let a = model.articulation.as_ref().expect("a robot has an articulation");
    assert_eq!(a.bodies.len(), 4);
    assert_eq!(a.joints[0].kind, JointKind::Hinge);
    assert!(a.joints[0].limited);
    assert_eq!(model.get("joint.shoulder.damping").unwrap(), [0.5]);
    assert_eq!(model.get("joint.shoulder.frictionloss").unwrap(), [0.2]);
    assert_eq!(model.get("joint.shoulder.range").unwrap(), [-1.0, 2.0]);
    assert_eq!(model.get("joint.shoulder.actuatorfrcrange").unwrap(), [-30.0, 30.0]);
    assert_eq!(model.get("joint.grip.axis").unwrap(), [1.0, 0.0, 0.0]);
    assert_eq!(model.get("equality.grip.polycoef").unwrap(), [0.01, 0.05, 0.0, 0.0, 0.0]);
    assert_eq!(model.get("geom.geom0.size").unwrap(), [0.1, 0.2, 0.3]);
    let full = model.get("body.upper.fullinertia").unwrap();
    for (got, expected) in full.iter().zip([0.2, 0.1, 0.25, 0.0, 0.0, 0.0]) {
        assert!((got - expected).abs() < 1e-15, "{full:?}");
    }
    assert_eq!(a.actuators.len(), 1);
    assert_eq!(a.actuators[0].name, "shoulder");
}

#[test]
fn faults_are_named_with_their_place() {
    for (from, to, kind) in [
        ("damping=", "dampin=", ErrorKind::UnknownKey),
        ("<axis", "<axes", ErrorKind::UnknownKey),
        ("child link=\"finger\"", "child link=\"upper\"", ErrorKind::Conflict),
        ("parent link=\"base\"", "parent link=\"finger\"", ErrorKind::Conflict),
        ("parent link=\"base\"", "parent link=\"nobody\"", ErrorKind::UnknownName),
        ("ixx=\"0.1\"", "ixx=\"3\"", ErrorKind::OutOfBounds),
        ("mass value=\"2\"", "mass value=\"-2\"", ErrorKind::OutOfBounds),
        ("joint=\"shoulder\"", "joint=\"grip\"", ErrorKind::UnknownName),
        ("type=\"revolute\"", "type=\"planar\"", ErrorKind::WrongType),
        ("</robot>", "", ErrorKind::Syntax),
    ] {
        let text = ARM.replacen(from, to, 1);
        assert_ne!(text, ARM, "{from}");
        let Err(e) = parse_urdf("arm.urdf", &text) else { panic!("{to} was accepted") };
        assert_eq!(e.kind(), kind, "{to}: {e}");
        assert!(e.line().is_some(), "{e}");
    }
}

#[test]
fn changed_numbers_are_written_back_and_nothing_else() {
    let model = parse_urdf("arm.urdf", ARM).unwrap_or_else(|e| panic!("{e}"));
    let path = Path::new("arm.urdf");
    let write = |model: &costate_model::Model| urdf_with_values(path, ARM, model, path);
    assert_eq!(write(&model).unwrap(), ARM);
    let mut changed = model.clone();
    for (leaf, values) in [
        ("body.upper.mass", &[2.5][..]),
        ("body.upper.ipos", &[0.12, 0.01, 0.0]),
        ("body.upper.fullinertia", &[0.21, 0.11, 0.26, 0.01, -0.02, 0.005]),
        ("body.upper.pos", &[0.0, 0.0, 1.1]),
        ("joint.shoulder.damping", &[0.6]),
        ("joint.shoulder.frictionloss", &[0.3]),
        ("joint.shoulder.range", &[-1.5, 2.5]),
        ("joint.grip.damping", &[0.7]),
        ("joint.grip.frictionloss", &[0.05]),
    ] {
        changed = changed.with(leaf, values).unwrap_or_else(|e| panic!("{e}"));
    }
    let text = write(&changed).unwrap_or_else(|e| panic!("{e}"));
    assert!(text.contains("<mass value=\"2.5\"/>"), "{text}");
    assert!(text.contains("<dynamics damping=\"0.7\" friction=\"0.05\"/>"), "{text}");
    assert!(text.contains("<transmission name=\"t\"><anything goes=\"here\"/>"), "{text}");
    // What URDF has no place for is named.
    for (leaf, values) in
        [("joint.shoulder.armature", &[0.1][..]), ("geom.geom0.friction", &[0.5, 0.005, 0.0001])]
    {
        let changed = model.with(leaf, values).unwrap_or_else(|e| panic!("{e}"));
        let error = write(&changed).expect_err("URDF cannot say it").to_string();
        assert!(error.contains(leaf), "{error}");
    }
}
