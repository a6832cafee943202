//! Forward dynamics without constraints, stage by stage.

use costate_dynamics::rigid::{At, Dynamics, Integrator};
use costate_num::Vec3;

use crate::reference::{Reference, all, compare};

/// Evaluates the snapshot of a recording.
fn evaluate(r: &Reference) -> Dynamics<f64> {
    let mut d = Dynamics::new(&r.tree);
    let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
    let (act, ctrl) = (r.snapshot("act"), r.snapshot("ctrl"));
    let at = At { qpos: &qpos, qvel: &qvel, act: &act, ctrl: &ctrl, applied: &[] };
    let bad = d.evaluate(&r.tree, &r.layout, &r.c, at);
    assert_eq!(bad, None, "{}: pivot", r.name);
    d
}

#[test]
fn every_stage_is_the_recorded_one() {
    for r in all() {
        let d = evaluate(&r);
        let check = |name: &str, got: &[f64]| {
            compare(&format!("{} {name}", r.name), got, &r.snapshot(name), 1e-12);
        };
        check("qM", &d.mass.to_dense(&r.tree));
        check("qfrc_bias", &d.qfrc_bias);
        check("qfrc_passive", &d.qfrc_passive);
        check("qfrc_gravcomp", &d.qfrc_gravcomp);
        check("actuator_length", &d.actuation.length);
        check("actuator_velocity", &d.actuation.velocity);
        check("actuator_force", &d.actuation.force);
        check("act_dot", &d.actuation.act_dot);
        check("qfrc_actuator", &d.qfrc_actuator);
        check("qfrc_smooth", &d.qfrc_smooth);
        // That of the discrete integrator has the step's stiffness in its inertia.
        if r.tree.options.integrator != Integrator::Discrete {
            check("qacc_smooth", &d.qacc_smooth);
        }
    }
}

#[test]
fn twists_are_the_recorded_ones_about_the_subtree() {
    for r in all() {
        let d = evaluate(&r);
        let k = &d.kinematics;
        let (mut centers, mut masses) = (Vec::new(), Vec::new());
        k.subtree_centers(&r.tree, &r.layout, &r.c, &mut centers, &mut masses);
        let mut cvel = Vec::new();
        for (b, twist) in d.velocity.iter().enumerate() {
            let lever: Vec3<f64> = centers[r.tree.bodies[b].root] - k.origin[b];
            let linear = twist.linear + twist.angular.cross(lever);
            cvel.extend(twist.angular.to_array());
            cvel.extend(linear.to_array());
        }
        compare(&format!("{} cvel", r.name), &cvel, &r.snapshot("cvel"), 1e-12);
    }
}
