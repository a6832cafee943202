//! Rollouts, adjoints under every checkpoint policy, sensitivities, cuts.

mod common;

use common::States;
use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Policy, Run, Seeds};
use costate_model::{InputSignal, Inputs, Interpolation, Model, SoftBuilder, SpringSettings};

/// A chain of three masses with a load on the last, the first on a path.
fn chain(timestep: f64) -> Model {
    let mut model = Model::new("chain");
    model.options.timestep = timestep;
    let springs = SpringSettings {
        stiffness: vec![50.0, 80.0],
        damping: vec![0.1],
        rest_length: Some(vec![0.9, 1.1]),
    };
    SoftBuilder::new("c", vec![[0.0; 3], [1.0, 0.0, 0.2], [2.0, 0.1, 0.0]])
        .vertex_mass(vec![0.4, 0.5, 0.7])
        .mass_damping(0.3)
        .radius(vec![0.01])
        .velocity([0.1, 0.2, 0.3])
        .angular_velocity([0.0, 0.4, 0.1])
        .with_springs(vec![[0, 1], [1, 2]], springs)
        .load("tip", vec![2])
        .path("root", vec![0])
        .build(&mut model)
        .unwrap();
    model
}

fn inputs() -> Inputs {
    let load = InputSignal {
        times: vec![0.0, 0.02, 0.05],
        values: vec![0.0, 1.0, 0.0, 0.5, 0.0, -1.0, 2.0, 1.0, 0.0],
        interpolation: Interpolation::Hold,
    };
    let path = InputSignal {
        times: vec![0.0, 0.03, 0.1],
        values: vec![0.01, 0.0, 0.0, 0.1, 0.0, 0.05, 0.0, 0.1, 0.0],
        interpolation: Interpolation::Linear,
    };
    Inputs { signals: vec![Some(load), Some(path)] }
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64).sin() + 0.1).collect()
}

struct Setup {
    system: System,
    observer: States,
}

fn setup() -> Setup {
    let system = System::new(&chain(1e-3)).unwrap();
    let observer = States { at: vec![7, 40, 100], dof: system.dof() };
    Setup { system, observer }
}

#[test]
fn adjoint_and_tangent_agree_for_every_input() {
    let Setup { system, observer } = setup();
    let (theta, inputs) = (system.theta(), inputs());
    let c = system.derive(&theta).unwrap();
    let run = Run::new(&system, &c, &inputs);
    let y_bar = weights(2 * 9 * 3);
    let mut loss =
        |y: &[f64]| (y.iter().zip(&y_bar).map(|(a, b)| a * b).sum::<f64>(), y_bar.clone());
    let g = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
    let theta_bar = system.derive_pullback(&theta, &c, &g.c);

    let theta_dot = weights(theta.len());
    let mut inputs_dot = inputs.clone();
    let mut expected: f64 = theta_bar.iter().zip(&theta_dot).map(|(a, b)| a * b).sum();
    for (i, signal) in inputs_dot.signals.iter_mut().enumerate() {
        let signal = signal.as_mut().unwrap();
        signal.values = weights(signal.values.len());
        expected += signal.values.iter().zip(&g.inputs[i]).map(|(a, b)| a * b).sum::<f64>();
    }
    let seeds = Seeds {
        columns: 1,
        c: system.derive_pushforward(&theta, &c, &theta_dot),
        inputs: vec![inputs_dot.clone()],
        ..Seeds::default()
    };
    let s = run.sensitivities(&observer, &[], &seeds, &[]).unwrap();
    let along: f64 = s.y_dot.iter().zip(&y_bar).map(|(a, b)| a * b).sum();
    assert!((along - expected).abs() < 1e-11 * expected.abs(), "{along} {expected}");
    assert_eq!(s.y, g.y);

    // Both against central differences.
    let at = |eps: f64| {
        let theta: Vec<f64> = theta.iter().zip(&theta_dot).map(|(a, b)| a + eps * b).collect();
        let c = system.derive(&theta).unwrap();
        let mut moved = inputs.clone();
        for (m, d) in moved.signals.iter_mut().zip(&inputs_dot.signals) {
            let (m, d) = (m.as_mut().unwrap(), d.as_ref().unwrap());
            m.values.iter_mut().zip(&d.values).for_each(|(a, b)| *a += eps * b);
        }
        let y = Run::new(&system, &c, &moved).observe(&observer, &[]).unwrap();
        y.iter().zip(&y_bar).map(|(a, b)| a * b).sum::<f64>()
    };
    let best = [1e-4, 1e-5, 1e-6]
        .map(|eps| ((at(eps) - at(-eps)) / (2.0 * eps) - along).abs() / along.abs())
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    assert!(best < 1e-7, "{best}");
}

/// Case R22: every policy and budget gives the plain gradient bit for bit; two levels hold at
/// most 2 √N states, so that 65 536 steps run in a fixed memory.
#[test]
fn case_r22_checkpoints_give_the_same_bits() {
    let Setup { system, .. } = setup();
    let (theta, inputs) = (system.theta(), inputs());
    let c = system.derive(&theta).unwrap();
    let run = Run::new(&system, &c, &inputs);
    let gradient = |steps: usize, policy, states: usize| {
        let observer = States { at: vec![steps / 3, steps], dof: 9 };
        let bytes = 2 * 9 * 8 + size_of::<costate_model::State>();
        let options = AdjointOptions { policy, budget: states * bytes, detach: vec![] };
        let mut loss = |y: &[f64]| (y.iter().sum(), vec![1.0; y.len()]);
        run.gradient(&observer, &[], &options, &mut loss).unwrap()
    };
    let plain = gradient(333, Policy::StoreAll, 0);
    assert_eq!(plain.forward_steps, 333);
    for (policy, states) in [
        (Policy::TwoLevel, 40),
        (Policy::Binomial, 2),
        (Policy::Binomial, 3),
        (Policy::Binomial, 5),
        (Policy::Binomial, 12),
        (Policy::Binomial, 100),
        (Policy::Automatic, 60),
        (Policy::Automatic, 10),
    ] {
        let other = gradient(333, policy, states);
        assert_eq!(plain.c, other.c, "{policy:?} {states}");
        assert_eq!(plain.inputs, other.inputs);
        assert_eq!(plain.initial, other.initial);
        assert!(other.peak_states <= states, "{policy:?} {states}: {}", other.peak_states);
    }
    let long = gradient(65_536, Policy::TwoLevel, 0);
    assert!(long.peak_states <= 512, "{}", long.peak_states);
    assert!(long.forward_steps <= 2 * 65_536);
    let short = gradient(65_536, Policy::Automatic, 64);
    assert_eq!(long.c, short.c);
    assert!(short.peak_states <= 64 && short.forward_steps < 4 * 65_536);
}

/// Case R13: nothing leaks through a cut, in either direction of differentiation.
#[test]
fn case_r13_a_cut_gradient_does_not_leak() {
    let Setup { system, observer } = setup();
    let (theta, inputs) = (system.theta(), inputs());
    let c = system.derive(&theta).unwrap();
    let run = Run::new(&system, &c, &inputs);
    let y_bar: Vec<f64> =
        weights(54).into_iter().enumerate().map(|(i, w)| if i < 36 { 0.0 } else { w }).collect();
    let mut loss =
        |y: &[f64]| (y.iter().zip(&y_bar).map(|(a, b)| a * b).sum::<f64>(), y_bar.clone());
    let options = AdjointOptions { detach: vec![50], ..AdjointOptions::default() };
    let g = run.gradient(&observer, &[], &options, &mut loss).unwrap();
    assert!(g.initial.q.iter().chain(&g.initial.v).all(|b| *b == 0.0));
    let theta_dot = weights(theta.len());
    let theta_bar = system.derive_pullback(&theta, &c, &g.c);
    let expected: f64 = theta_bar.iter().zip(&theta_dot).map(|(a, b)| a * b).sum();
    let seeds = Seeds {
        columns: 1,
        c: system.derive_pushforward(&theta, &c, &theta_dot),
        ..Seeds::default()
    };
    let s = run.sensitivities(&observer, &[], &seeds, &[50]).unwrap();
    let along: f64 = s.y_dot.iter().zip(&y_bar).map(|(a, b)| a * b).sum();
    assert!((along - expected).abs() < 1e-11 * expected.abs(), "{along} {expected}");
    let uncut = run.sensitivities(&observer, &[], &seeds, &[]).unwrap();
    assert_ne!(uncut.y_dot, s.y_dot);
}

/// Case R23: the forward path is the same bits with and without gradients.
#[test]
fn case_r23_gradients_do_not_change_the_motion() {
    let Setup { system, observer } = setup();
    let c = system.derive(&system.theta()).unwrap();
    let inputs = inputs();
    let run = Run::new(&system, &c, &inputs);
    let y = run.observe(&observer, &[]).unwrap();
    let mut loss = |y: &[f64]| (0.0, vec![0.0; y.len()]);
    let g = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
    assert_eq!(y, g.y);
}

/// The bound of a mass on a spring with a damper: h²k + 2hc = 4 for k and c per mass.
#[test]
fn the_stable_step_of_an_oscillator_is_exact() {
    for (k, d) in [(100.0, 0.0), (100.0, 3.0), (1.0, 50.0)] {
        let mut model = Model::new("oscillator");
        let springs = SpringSettings { stiffness: vec![k], damping: vec![d], rest_length: None };
        SoftBuilder::new("o", vec![[0.0; 3], [1.0, 0.0, 0.0]])
            .vertex_mass(vec![0.5])
            .fix(&[0])
            .with_springs(vec![[0, 1]], springs)
            .build(&mut model)
            .unwrap();
        let unit = d / 0.5;
        let exact = 4.0 / (unit + (unit * unit + 4.0 * k / 0.5_f64).sqrt());
        for (h, stable) in [(0.99 * exact, true), (1.01 * exact, false)] {
            model.options.timestep = h;
            let system = System::new(&model).unwrap();
            let c = system.derive(&system.theta()).unwrap();
            let result = system.check_timestep(&c, &system.initial_state(&c, &[]), &[]);
            assert_eq!(result.is_ok(), stable, "{k} {d} {h}: {result:?}");
            // And the bound is what the motion does.
            let mut moved = model.clone();
            moved = moved.with("soft.o.velocity", &[1e-6, 0.0, 0.0]).unwrap();
            moved = moved.with("option.gravity", &[0.0; 3]).unwrap();
            let system = System::new(&moved).unwrap();
            let c = system.derive(&system.theta()).unwrap();
            let inputs = Inputs::default();
            let last = Run::new(&system, &c, &inputs).rollout(4000, 4000);
            let grown = last.map_or(f64::INFINITY, |t| t.states[1].v[3].abs());
            assert_eq!(grown < 1e-3, stable, "{k} {d} {h}: {grown}");
        }
    }
}

#[test]
fn every_leaf_of_a_scene_passes_its_proofs() {
    let Setup { system, .. } = setup();
    let checks = costate_dynamics::check(&system, &inputs(), 60, None).unwrap();
    assert_eq!(checks.len(), system.model().leaves.len());
    for check in &checks {
        assert!(check.passes(), "{check:?}");
    }
    assert!(checks.iter().filter(|c| c.influences).count() >= 9);
}
