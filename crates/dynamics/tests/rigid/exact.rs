//! Derivatives with the exact diagonal of J M⁻¹Jᵀ (flag `diagexact`), on rows of every kind.

use costate_dynamics::rigid::{
    Adjoint, At, Evaluation, EvaluationAdjoint, Integrator, SensorKind, Wanted,
};
use serde_json::Value;

use crate::derivatives::{at_snapshot, widen};
use crate::proof::{prove, prove_sensors};
use crate::reference::{compare, load, numbers};

#[test]
fn derivatives_with_exact_diagonals_are_proved() {
    let mut failures = Vec::new();
    for (name, integrators) in [
        ("hopper__Euler_elliptic", &[Integrator::ImplicitFast][..]),
        ("half_cheetah__Euler_pyramidal", &[Integrator::Euler]),
        ("capsule_stack__Euler_elliptic", &[Integrator::Euler]),
        ("sphere_roll__Euler_pyramidal", &[Integrator::Rk4]),
        ("eq_connect__Euler", &[Integrator::Rk4]),
        ("eq_weld__Euler", &[Integrator::Implicit]),
        ("eq_joint__Euler", &[Integrator::Euler]),
        ("frictionloss__Euler", &[Integrator::Euler]),
        ("hinge_limit__Euler", &[Integrator::Implicit]),
        ("ball_limit__Euler", &[Integrator::Euler]),
    ] {
        let r = load(name);
        assert!(r.rows() > 0, "{name} has no rows");
        for &integrator in integrators {
            let mut p = at_snapshot(&r, integrator);
            p.mechanism.tree.options.exact_diagonal = true;
            widen(&mut p);
            let mut found = prove(&format!("{name} {integrator:?}"), &p, false);
            // Rows across a planar loop have no diagonal, and one at the least turn out of it.
            found.retain(|f| !(name.contains("connect") && f.contains("body_quat: difference")));
            // Terms of higher order move the state by less than differences show.
            found.retain(|f| !f.contains("poly: difference"));
            failures.extend(found);
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// The force of a limit is D (a_ref − J a), with D of the exact diagonal.
#[test]
fn sensors_of_limits_with_exact_diagonals_are_proved() {
    let r = load("hinge_limit__Euler");
    let mut p = at_snapshot(&r, Integrator::Euler);
    p.mechanism.tree.options.exact_diagonal = true;
    let joint = p.mechanism.tree.joints.iter().position(|joint| joint.limited).expect("a limit");
    let sensor = &mut p.mechanism.tree.sensors[0];
    sensor.kind = SensorKind::JointLimitForce(joint);
    sensor.data = sensor.data.start..sensor.data.start + 1;
    let mut failures = prove_sensors("hinge_limit", &p);
    // Terms of higher order move the force by less than differences show.
    failures.retain(|failure| !failure.contains("poly: difference"));
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// Against extrapolated differences of mujoco 4.0: Σ (1 + 0.1 i) times the acceleration i at the snapshot.
#[test]
fn gradients_with_exact_diagonals_are_the_recorded_ones() {
    let r = load("contact_params__Euler_pyramidal_diagexact");
    let file: Value =
        serde_json::from_str(include_str!("../data/mujoco/exact_diagonal.json")).expect("JSON");
    let (tree, layout) = (&r.tree, &r.layout);
    let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
    let at = At { qpos: &qpos, qvel: &qvel, act: &[], ctrl: &[], applied: &[] };
    let mut evaluation = Evaluation::new(tree);
    evaluation.update(tree, layout, &r.c, at, &[]).expect("it evaluates");
    let weights: Vec<f64> = (0..tree.nv).map(|i| 1.0 + 0.1 * i as f64).collect();
    let value: f64 = weights.iter().zip(&evaluation.qacc).map(|(w, a)| w * a).sum();
    compare("value", &[value], &[file["value"].as_f64().expect("a number")], 1e-10);
    let mut bar = Adjoint::zeros(tree, layout);
    let seeds = EvaluationAdjoint::of_step(&weights);
    evaluation.pullback(tree, layout, &r.c, at, seeds, Wanted::ALL, &mut bar).expect("it pulls");
    let blocks = layout.blocks();
    let mut count = 0;
    for (name, p) in file["params"].as_object().expect("parameters") {
        let (values, errors) = (numbers(&p["value"]), numbers(&p["err"]));
        for (n, index) in p["index"].as_array().expect("a list").iter().enumerate() {
            let index = numbers(index);
            let (i, k) = (index[0] as usize, index.get(1).map_or(0, |k| *k as usize));
            let got = match name.as_str() {
                "qvel" => bar.v[i],
                "qpos_tangent" => bar.q[i],
                name => {
                    let found = blocks.iter().find(|(block, _)| *block == name);
                    bar.c[found.expect("a block").1.at(i) + k]
                }
            };
            let allowed = (10.0 * errors[n]).max(1e-6 * values[n].abs()).max(1e-9);
            let error = (got - values[n]).abs();
            assert!(error <= allowed, "{name}{index:?}: {got} for {}, {allowed:e}", values[n]);
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}
