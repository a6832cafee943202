//! Steps with contacts relaxed over a width: proofs of their derivatives, closed forms, and the limit of hard
//! contacts.

use costate_dynamics::rigid::{Derivation, Integrator, Mechanism, RigidState};
use costate_formats::parse_mjcf;

use crate::derivatives::{at_snapshot, widen};
use crate::proof::prove;
use crate::reference::load;

#[test]
fn derivatives_of_relaxed_steps_are_proved() {
    let mut failures = Vec::new();
    for (name, integrator, width) in [
        ("hopper__Euler_elliptic", Integrator::ImplicitFast, 0.001),
        ("half_cheetah__Euler_pyramidal", Integrator::Euler, 0.002),
        ("sphere_roll__Euler_pyramidal", Integrator::Rk4, 0.001),
    ] {
        let r = load(name);
        for exact in [false, true] {
            let mut p = at_snapshot(&r, integrator);
            p.mechanism.tree.options.relaxation = width;
            p.mechanism.tree.options.exact_diagonal = exact;
            widen(&mut p);
            failures.extend(prove(&format!("{name} {exact}"), &p, false));
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// A ball of 1 kg on slides, `gap` above a plane, and its mechanism with contacts relaxed over `width`.
fn ball(cone: &str, gap: f64, width: f64) -> (Mechanism, Vec<f64>, RigidState) {
    let text = format!(
        r#"<mujoco model="ball">
  <option timestep="0.001" gravity="0 0 -9.81" cone="{cone}"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="ball" pos="0 0 0.1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="ball" size="0.1" mass="1" friction="0.4" priority="1" solref="0.05 0.8"/>
    </body>
  </worldbody>
</mujoco>"#
    );
    let model = parse_mjcf("ball.xml", &text).unwrap();
    let derivation = Derivation::new(&model).unwrap();
    let c = derivation.derive(&model.theta()).unwrap();
    let mut m = Mechanism::new(derivation.tree.clone());
    m.tree.options.relaxation = width;
    let state = RigidState { qpos: vec![0.0, gap], qvel: vec![0.0, -0.2], act: Vec::new() };
    (m, c, state)
}

fn acceleration(cone: &str, gap: f64, width: f64) -> [f64; 2] {
    let (m, c, state) = ball(cone, gap, width);
    let mut ws = m.workspace();
    let at = state.with(&[]);
    ws.evaluation.update(&m.tree, &m.layout, &c, at, &[]).unwrap();
    [ws.evaluation.qacc[0], ws.evaluation.qacc[1]]
}

/// The force f of the contact obeys f (x + f R) = w² K² d² / (4 R), from MuJoCo's K, B, d and R.
#[test]
fn forces_obey_the_central_path() {
    let (width, gap) = (0.002, 0.03);
    let a = acceleration("elliptic", gap, width)[1];
    let force = a + 9.81;
    let (dmax, time, ratio) = (0.95f64, 0.05, 0.8);
    let d = dmax;
    let stiffness = 1.0 / (dmax * dmax * time * time * ratio * ratio);
    // Two slides of 1 kg: the mean inverse mass of the body's three directions.
    let inverse_mass = 2.0 / 3.0;
    let r = (1.0 - d) / d * inverse_mass;
    let damping = 2.0 / (dmax * time);
    let x = a + damping * -0.2 + stiffness * d * gap;
    let rest = 1.0 - (gap / (100.0 * width)) * (gap / (100.0 * width));
    let w = stiffness * d * width * rest * rest;
    let expected = w * w / (4.0 * r);
    let error = (force * (x + force * r) - expected).abs();
    assert!(error <= 1e-9 * expected, "{force} {x}: {error:e} of {expected}");
}

#[test]
fn narrow_widths_are_hard_contacts() {
    for cone in ["elliptic", "pyramidal"] {
        for gap in [-0.004, 0.002] {
            let hard = acceleration(cone, gap, 0.0);
            let mut last = f64::INFINITY;
            // Those that are not made end with their reach.
            for width in [1e-4, 1e-5, 1e-6, 1e-7] {
                let found = acceleration(cone, gap, width);
                let error = (found[1] - hard[1]).abs();
                assert!(error <= 0.5 * last, "{cone} {gap} {width}: {found:?} for {hard:?}");
                last = error;
            }
            assert!(last < 1e-3, "{cone} {gap}: {last}");
        }
    }
}

/// A contact's relaxed force ends without a jump where it is looked for no more.
#[test]
fn relaxed_forces_end_smoothly() {
    let width = 0.01;
    for cone in ["elliptic", "pyramidal"] {
        let free = acceleration(cone, 1.1, width)[1];
        assert_eq!(free, -9.81);
        let near = acceleration(cone, 0.99, width)[1];
        assert!(near > free && near - free < 1e-6, "{near}");
    }
}
