//! A mechanism with one of everything that the recorded models leave out, and the proofs of its derivatives.

use costate_dynamics::rigid::{
    Actuator, BiasKind, Body, Dynamics, DynamicsKind, GainKind, GeomKind, Integrator, Joint,
    JointKind, Layout, Mechanism, PathElement, RigidState, Sensor, SensorKind, SensorObject, Site,
    Tendon, TendonPath, Transmission, Tree,
};

use crate::proof::{INTEGRATORS, Point, prove, prove_sensors};
use crate::tangent::{wave, waves};

fn joint(kind: JointKind, body: usize) -> Joint {
    Joint {
        kind,
        body,
        qpos: 0,
        dof: 0,
        limited: false,
        actuator_force_limited: false,
        actuator_gravity_compensation: false,
    }
}

fn actuator(transmission: Transmission, gain: GainKind, bias: BiasKind) -> Actuator {
    Actuator {
        transmission,
        dynamics: DynamicsKind::None,
        gain,
        bias,
        activation: None,
        early: false,
        control_limited: false,
        force_limited: false,
        activation_limited: false,
    }
}

/// A free trunk with two limbs, one on a ball, one of a hinge and a slide in one body; a fixed tip; a
/// second free body that stands alone.
fn tree() -> Tree {
    let mut tree = Tree::default();
    for (parent, gravity_compensated) in
        [(0, false), (0, false), (1, true), (2, false), (1, false), (4, true), (0, false)]
    {
        tree.bodies.push(Body { parent, gravity_compensated, ..Body::default() });
    }
    let mut driven = joint(JointKind::Hinge, 3);
    driven.actuator_force_limited = true;
    driven.actuator_gravity_compensation = true;
    tree.joints = vec![
        joint(JointKind::Free, 1),
        joint(JointKind::Ball, 2),
        driven,
        joint(JointKind::Hinge, 4),
        joint(JointKind::Slide, 4),
        joint(JointKind::Free, 6),
    ];
    tree.index().expect("a tree");
    tree.sites = [2, 3, 5, 0, 6]
        .map(|body| Site { body, kind: GeomKind::Sphere, size: [0.005; 3] })
        .to_vec();
    let tendon =
        |path, wraps| Tendon { path, wraps, limited: false, actuator_force_limited: false };
    let site = PathElement::Site;
    let path = vec![site(0), site(1), PathElement::Pulley, site(2), site(3), site(4)];
    let mut pulled = tendon(TendonPath::Fixed { joints: vec![2, 3, 4] }, 0..3);
    pulled.actuator_force_limited = true;
    tree.tendons = vec![pulled, tendon(TendonPath::Spatial { path }, 3..9)];
    let affine = |t| actuator(t, GainKind::Affine, BiasKind::Affine);
    let site = |site, reference| Transmission::Site { site, reference };
    let mut muscle = actuator(Transmission::Tendon(1), GainKind::Muscle, BiasKind::Muscle);
    muscle.dynamics = DynamicsKind::Muscle;
    let mut early = affine(Transmission::Joint(3));
    (early.dynamics, early.early) = (DynamicsKind::Filter, true);
    let mut exact = affine(Transmission::Tendon(0));
    exact.dynamics = DynamicsKind::FilterExact;
    let mut integrator = affine(site(1, None));
    (integrator.dynamics, integrator.activation_limited) = (DynamicsKind::Integrator, true);
    let mut strong = affine(Transmission::Joint(2));
    (strong.control_limited, strong.force_limited) = (true, false);
    let mut clamped = affine(Transmission::Joint(4));
    clamped.force_limited = true;
    tree.actuators = vec![
        affine(Transmission::Joint(0)),
        affine(Transmission::JointInParent(0)),
        affine(Transmission::Joint(1)),
        affine(Transmission::JointInParent(1)),
        affine(site(0, None)),
        affine(site(1, Some(2))),
        affine(site(1, Some(3))),
        affine(site(1, Some(0))),
        muscle,
        early,
        exact,
        integrator,
        strong,
        clamped,
        affine(Transmission::Tendon(0)),
    ];
    for actuator in &mut tree.actuators {
        if actuator.dynamics != DynamicsKind::None {
            actuator.activation = Some(tree.na);
            tree.na += 1;
        }
    }
    tree.options.timestep = 0.003;
    tree
}

/// Numbers for it, none zero.
fn constants(tree: &Tree, layout: &Layout) -> Vec<f64> {
    let mut c = vec![0.0; layout.len];
    let mut fill = |name: &str, size: f64, base: f64| {
        let block = layout.blocks().iter().find(|(n, _)| *n == name).expect("a block").1;
        for at in block.range() {
            c[at] = base + size * wave(name.len(), at);
        }
    };
    fill("gravity", 5.0, -4.0);
    for name in ["body_pos", "body_ipos", "jnt_pos", "site_pos"] {
        fill(name, 0.2, 0.05);
    }
    for name in ["body_quat", "body_iquat", "site_quat", "jnt_axis"] {
        fill(name, 1.0, 0.1);
    }
    fill("body_mass", 0.5, 1.5);
    fill("body_inertia", 0.01, 0.0);
    fill("body_gravcomp", 0.3, 0.6);
    fill("jnt_stiffness", 0.5, 1.5);
    fill("jnt_stiffnesspoly", 0.2, 0.4);
    fill("qpos0", 0.1, 0.1);
    fill("qpos_spring", 0.3, 0.4);
    fill("dof_armature", 0.02, 0.04);
    fill("dof_damping", 0.1, 0.2);
    fill("dof_dampingpoly", 0.02, 0.03);
    fill("wrap_prm", 0.3, 0.9);
    fill("tendon_stiffness", 1.0, 3.0);
    fill("tendon_stiffnesspoly", 0.5, 1.0);
    fill("tendon_damping", 0.2, 0.4);
    fill("tendon_dampingpoly", 0.02, 0.04);
    fill("tendon_lengthspring", 0.01, 0.02);
    fill("actuator_gear", 0.4, 0.6);
    fill("actuator_dynprm", 0.01, 0.03);
    fill("actuator_gainprm", 0.3, 0.8);
    fill("actuator_biasprm", 0.2, -0.5);
    for (block, width) in
        [(layout.body_quat, 4), (layout.body_iquat, 4), (layout.site_quat, 4), (layout.jnt_axis, 3)]
    {
        for i in 0..block.count {
            normalise(&mut c[block.at(i)..block.at(i) + width]);
        }
    }
    for b in 0..layout.body_inertia.count {
        let at = layout.body_inertia.at(b);
        for diagonal in [0, 2, 5] {
            c[at + diagonal] += 0.05;
        }
    }
    for joint in &tree.joints {
        let at = match joint.kind {
            JointKind::Free => joint.qpos + 3,
            JointKind::Ball => joint.qpos,
            JointKind::Slide | JointKind::Hinge => continue,
        };
        for block in [layout.qpos0, layout.qpos_spring] {
            normalise(&mut c[block.at(at)..block.at(at) + 4]);
        }
    }
    // Two totals are beyond their bounds, as are one control and one force.
    let mut range = |at: usize, low: f64, high: f64| (c[at], c[at + 1]) = (low, high);
    range(layout.jnt_actfrcrange.at(2), -0.2, 0.2);
    range(layout.tendon_actfrcrange.at(0), -0.1, 0.1);
    range(layout.actuator_ctrlrange.at(12), -0.1, 0.1);
    range(layout.actuator_forcerange.at(13), -0.05, 0.05);
    range(layout.actuator_actrange.at(11), -5.0, 5.0);
    let muscle = 8;
    range(layout.actuator_lengthrange.at(muscle), 0.1, 1.4);
    c[layout.actuator_acc0.at(muscle)] = 0.7;
    let numbers = [0.75, 1.05, 30.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2];
    for block in [layout.actuator_gainprm, layout.actuator_biasprm] {
        let at = block.at(muscle);
        c[at..at + 9].copy_from_slice(&numbers);
    }
    let at = layout.actuator_dynprm.at(muscle);
    c[at..at + 3].copy_from_slice(&[0.01, 0.04, 0.2]);
    c
}

fn normalise(x: &mut [f64]) {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.iter_mut().for_each(|x| *x /= length);
}

pub fn point(integrator: Integrator) -> Point {
    let mut tree = tree();
    tree.options.integrator = integrator;
    let mechanism = Mechanism::new(tree);
    let tree = &mechanism.tree;
    let c = constants(tree, &mechanism.layout);
    let mut qpos = waves(3, tree.nq);
    for joint in &tree.joints {
        match joint.kind {
            JointKind::Free => normalise(&mut qpos[joint.qpos + 3..joint.qpos + 7]),
            JointKind::Ball => normalise(&mut qpos[joint.qpos..joint.qpos + 4]),
            JointKind::Slide | JointKind::Hinge => {}
        }
    }
    let act = waves(5, tree.na).iter().map(|x| 0.5 + 0.3 * x).collect();
    let state = RigidState { qpos, qvel: waves(4, tree.nv), act };
    let ctrl = waves(6, tree.actuators.len()).iter().map(|x| 0.5 + 0.3 * x).collect();
    Point { mechanism, c, state, ctrl, applied: Vec::new() }
}

#[test]
fn one_of_everything_has_proved_derivatives() {
    let mut failures = Vec::new();
    for integrator in INTEGRATORS {
        failures.extend(prove(&format!("{integrator:?}"), &point(integrator), false));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// One of every sensor that has derivatives, with and without a frame of reference.
pub fn sensors() -> Vec<Sensor> {
    use SensorKind as K;
    use SensorObject::{Body, BodyFrame, Site};
    let mut kinds = vec![
        K::Accelerometer(1),
        K::Velocimeter(1),
        K::Gyro(2),
        K::Force(0),
        K::Torque(1),
        K::Magnetometer(2),
        K::JointPosition(3),
        K::JointVelocity(4),
        K::TendonPosition(1),
        K::TendonVelocity(1),
        K::TendonPosition(0),
        K::ActuatorPosition(5),
        K::ActuatorVelocity(6),
        K::ActuatorForce(8),
        K::ActuatorForce(10),
        K::JointActuatorForce(2),
        K::JointActuatorForce(3),
        K::TendonActuatorForce(0),
        K::BallQuaternion(1),
        K::BallAngularVelocity(1),
        K::FrameLinearAcceleration(Site(2)),
        K::FrameAngularAcceleration(BodyFrame(3)),
        K::SubtreeCenter(1),
        K::SubtreeCenter(0),
        K::SubtreeLinearVelocity(2),
        K::SubtreeLinearVelocity(0),
        K::SubtreeAngularMomentum(1),
        K::SubtreeAngularMomentum(0),
        K::PotentialEnergy,
        K::KineticEnergy,
        K::Clock,
    ];
    for (object, reference) in
        [(Site(1), None), (Body(3), Some(Site(2))), (BodyFrame(5), Some(BodyFrame(6)))]
    {
        kinds.extend([
            K::FramePosition(object, reference),
            K::FrameQuaternion(object, reference),
            K::FrameAxis(object, reference, 1),
            K::FrameLinearVelocity(object, reference),
            K::FrameAngularVelocity(object, reference),
        ]);
    }
    let mut start = 0;
    let width = |kind: SensorKind| match kind {
        K::FrameQuaternion(..) | K::BallQuaternion(_) => 4,
        K::JointPosition(_) | K::JointVelocity(_) | K::TendonPosition(_) => 1,
        K::TendonVelocity(_) | K::ActuatorPosition(_) | K::ActuatorVelocity(_) => 1,
        K::ActuatorForce(_) | K::JointActuatorForce(_) | K::TendonActuatorForce(_) => 1,
        K::PotentialEnergy | K::KineticEnergy | K::Clock => 1,
        _ => 3,
    };
    kinds
        .into_iter()
        .map(|kind| {
            let data = start..start + width(kind);
            start = data.end;
            Sensor { kind, data }
        })
        .collect()
}

#[test]
fn sensors_have_proved_derivatives() {
    let mut failures = Vec::new();
    for integrator in [Integrator::Euler, Integrator::ImplicitFast, Integrator::Discrete] {
        let mut p = point(integrator);
        p.mechanism.tree.sensors = sensors();
        failures.extend(prove_sensors(&format!("{integrator:?}"), &p));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn muscles_and_limits_are_where_the_test_wants_them() {
    let p = point(Integrator::Euler);
    let (tree, layout) = (&p.mechanism.tree, &p.mechanism.layout);
    let mut d = Dynamics::new(tree);
    let at = p.state.with(&p.ctrl);
    assert_eq!(d.evaluate(tree, layout, &p.c, at), None);
    assert!(d.actuation.force[8] < -0.1, "the muscle pulls: {}", d.actuation.force[8]);
    assert!((d.actuation.force[13].abs() - 0.05).abs() < 1e-15);
    let dof = tree.joints[2].dof;
    assert!((d.qfrc_actuator[dof].abs() - 0.2).abs() < 1e-15);
    let pulls = d.actuation.force[10] + d.actuation.force[14];
    assert!((pulls.abs() - 0.1).abs() < 1e-14, "{pulls}");
}
