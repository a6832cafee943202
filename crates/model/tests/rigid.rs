//! Building an articulation by hand.

use costate_model::Model;
use costate_model::rigid::{
    ActuatorSettings, Articulation, BodySettings, GeomSettings, InertialSettings, JointKind,
    JointSettings, LawSettings, Placement, PlacementSettings, ServoDamping, Transmission,
};

#[test]
fn every_number_is_a_leaf_under_its_name() {
    let mut model = Model::new("arm");
    let mut a = Articulation::new();
    let leaves = &mut model.leaves;
    let arm = BodySettings { name: "arm".into(), ..Default::default() };
    let arm = a.add_body(leaves, 0, &arm).unwrap();
    let knee =
        JointSettings { name: "knee".into(), damping: [0.5, 0.0, 0.0], ..Default::default() };
    let knee = a.add_joint(leaves, arm, &knee).unwrap();
    let geom = GeomSettings {
        name: "g".into(),
        placement: PlacementSettings::FromTo([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        form: costate_model::rigid::Form::Capsule,
        size: [0.1, 0.0, 0.0],
        ..Default::default()
    };
    a.add_geom(leaves, arm, &geom).unwrap();
    let servo = ActuatorSettings {
        name: "servo".into(),
        law: LawSettings::Position { kp: 3.0, damping: ServoDamping::Kv(0.2), timeconst: 0.0 },
        ..Default::default()
    };
    let at = Transmission::Joint { joint: knee, in_parent: false };
    a.add_actuator(leaves, at, &servo).unwrap();
    assert_eq!((a.nq(), a.nv(), a.na()), (1, 1, 0));
    assert!(matches!(a.geoms[0].placement, Placement::FromTo { .. }));
    model.articulation = Some(a);
    assert_eq!(model.get("joint.knee.damping").unwrap(), [0.5]);
    assert_eq!(model.get("geom.g.size").unwrap(), [0.1]);
    assert_eq!(model.get("actuator.servo.kv").unwrap(), [0.2]);
    assert_eq!(model.inputs()[0].name, "actuator.servo");
}

#[test]
fn what_cannot_be_is_refused() {
    let mut model = Model::new("wrong");
    let mut a = Articulation::new();
    let leaves = &mut model.leaves;
    let joint = |name: &str, kind| JointSettings { name: name.into(), kind, ..Default::default() };
    assert!(a.add_joint(leaves, 0, &joint("world", JointKind::Hinge)).is_err());
    let inertial = InertialSettings::Diagonal {
        mass: -1.0,
        pos: [0.0; 3],
        quat: [1.0, 0.0, 0.0, 0.0],
        diagonal: [1.0; 3],
    };
    let negative = BodySettings { name: "negative".into(), inertial, ..Default::default() };
    assert!(a.add_body(leaves, 0, &negative).is_err());
    let b =
        a.add_body(leaves, 0, &BodySettings { name: "b".into(), ..Default::default() }).unwrap();
    a.add_joint(leaves, b, &joint("free", JointKind::Free)).unwrap();
    assert!(a.add_joint(leaves, b, &joint("second", JointKind::Hinge)).is_err());
    let flat = JointSettings { axis: [0.0; 3], ..joint("flat", JointKind::Slide) };
    let c =
        a.add_body(leaves, b, &BodySettings { name: "c".into(), ..Default::default() }).unwrap();
    assert!(a.add_joint(leaves, c, &flat).is_err());
    assert!(a.add_joint(leaves, c, &joint("free", JointKind::Free)).is_err());
}
