//! Motions that are known without a simulation.

use costate_dynamics::{StepInputs, System};
use costate_model::{InputSignal, Inputs, State};

use crate::{inputs, sampled, simulate, system};

const SLIDER: &str = "costate = 1\nrobot = \"slider.xml\"\n";

fn slider(text: &str) -> System {
    system(&format!("{SLIDER}{text}"))
}

/// Where a run ends, and its tangent by a leaf.
fn ends(system: &System, inputs: &Inputs, path: &str, steps: usize) -> (State, [f64; 2]) {
    let theta = system.theta();
    let c = system.derive(&theta).unwrap();
    let mut theta_dot = vec![0.0; theta.len()];
    let leaves = &system.model().leaves;
    theta_dot[leaves.range(leaves.find(path).unwrap())].fill(1.0);
    let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
    let mut ws = system.workspace();
    let mut u = Vec::new();
    inputs.sample(system.channels(), 0.0, &mut u);
    let mut state = system.initial_state(&c, &u);
    let mut tangents = system.zero_tangents(1);
    system.start_pushforward(&c, &c_dot, &[], &mut tangents);
    let mut next = State::default();
    for step in 0..steps {
        inputs.sample(system.channels(), state.time, &mut u);
        let now = StepInputs { now: &u, next: &u };
        let still = StepInputs { now: &[], next: &[] };
        system.step_pushforward(&c, &state, now, &mut tangents, &c_dot, still, &mut ws).unwrap();
        let now = StepInputs { now: &u, next: &u };
        system.step(&c, &state, now, step, &mut next, &mut ws).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    (state, [tangents.q[0], tangents.v[0]])
}

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

#[test]
fn a_slider_with_dry_friction_stops_where_it_should() {
    let s = slider(
        "[values]\n\"joint.slide.qvel\" = 1.0\n[friction.f]\njoint = \"slide\"\ndry = 0.5\n",
    );
    let (moving, [dx, dv]) = ends(&s, &Inputs::default(), "friction.f.dry", 1000);
    close(moving.v[0], 0.5, 1e-3);
    close(dv, -1.0, 2e-3);
    close(dx, -0.5, 2e-3);
    // It stops after 2 s, at v²/2F = 1 m.
    let (stopped, [dx, dv]) = ends(&s, &Inputs::default(), "friction.f.dry", 2500);
    close(stopped.v[0], 0.0, 1e-6);
    close(stopped.q[0], 1.0, 2e-3);
    close(dv, 0.0, 1e-6);
    close(dx, -2.0, 6e-3);
}

#[test]
fn a_held_law_is_the_loop_that_a_computer_would_run() {
    let s = slider(
        "[input.target]\n[controller.c]\nactuator = \"motor\"\nsample_time = 0.004\n\
         gains = { kp = 30.0, kv = 8.0 }\nsignals = { q = \"joint.slide.position\" }\n\
         law = \"clip(kv * (kp * (input.target - q) - (q - previous(q, 2)) / (2 * sample_time)), \
         -5, 5)\"\n",
    );
    let target = |t: f64| 0.1 * (3.0 * t).sin() + 0.02;
    let given = inputs(&s, &[("input.target", sampled(2000, 1e-3, target))]);
    let motion = simulate(&s, &given, 1500);
    let (h, mut x, mut v, mut u) = (1e-3, 0.0, 0.0, 0.0);
    let mut ticks: Vec<f64> = Vec::new();
    for (k, state) in motion.states.iter().enumerate() {
        close(state.q[0], x, 1e-12);
        if k % 4 == 0 {
            ticks.push(x);
            let before = ticks[ticks.len().saturating_sub(3)];
            let speed = (x - before) / 0.008;
            u = (8.0f64 * (30.0 * (target(k as f64 * h) - x) - speed)).clamp(-5.0, 5.0);
        }
        v += h * u;
        x += h * v;
    }
}

#[test]
fn a_delayed_output_arrives_late_and_between_steps_as_a_line() {
    let text = |delay: f64| {
        format!(
            "[input.force]\n[controller.c]\nactuator = \"motor\"\nlaw = \"input.force\"\n\
             delay = {delay}\nmax_delay = 0.02\n"
        )
    };
    let force = |t: f64| 1.0 + t * t;
    for delay in [0.0, 0.007, 0.0115, 0.02] {
        let s = slider(&text(delay));
        let given = inputs(&s, &[("input.force", sampled(200, 1e-3, force))]);
        let motion = simulate(&s, &given, 100);
        for (k, pair) in motion.states.windows(2).enumerate() {
            let f = (pair[1].v[0] - pair[0].v[0]) / 1e-3;
            let late = (k as f64 * 1e-3 - delay).max(0.0);
            let (below, above) = ((late / 1e-3).floor() * 1e-3, (late / 1e-3).ceil() * 1e-3);
            let part = (late - below) / 1e-3;
            let expected = (1.0 - part) * force(below) + part * force(above);
            close(f, expected, 2e-9);
        }
    }
}

#[test]
fn a_drive_approaches_its_speed_as_the_implicit_step_says() {
    let s = slider(
        "[input.voltage]\n[drive.d]\nactuator = \"motor\"\nvoltage = \"input.voltage\"\n\
         torque_constant = 0.5\nresistance = 2.0\nback_emf = 0.4\n\
         [values]\n\"actuator.motor.gear\" = 3.0\n",
    );
    let given = inputs(&s, &[("input.voltage", InputSignal::constant(&[6.0]))]);
    let motion = simulate(&s, &given, 3000);
    // k V gear/R and gear² k k_e/R.
    let (force, brake) = (0.5 * 6.0 * 3.0 / 2.0, 9.0 * 0.5 * 0.4 / 2.0);
    let mut v = 0.0;
    for state in &motion.states {
        close(state.v[0], v, 1e-11);
        v = (v + 1e-3 * force) / (1.0 + 1e-3 * brake);
    }
    close(motion.states[3000].v[0], force / brake, 0.1 * force / brake);
    let (_, [_, by_voltage_constant]) = ends(&s, &given, "drive.d.back_emf", 20_000);
    // v = V/(k_e gear): dv/dk_e = −V/(k_e² gear).
    close(by_voltage_constant, -6.0 / (0.4 * 0.4 * 3.0), 1e-5);
}

#[test]
fn stribeck_and_load_add_to_the_bound() {
    let base = "[input.force]\n[controller.c]\nactuator = \"motor\"\nlaw = \"input.force\"\n\
                [friction.f]\njoint = \"slide\"\ndry = 0.5\nviscous = 0.3\n\
                stribeck = { extra = 0.4, velocity = 0.2 }\n\
                load = { coefficient = 0.1, extra = 0.05, velocity = 0.1 }\n";
    let s = slider(&format!("{base}[values]\n\"joint.slide.qvel\" = 0.5\n"));
    let given = inputs(&s, &[("input.force", InputSignal::constant(&[2.0]))]);
    let motion = simulate(&s, &given, 400);
    let (h, mut v) = (1e-3, 0.5f64);
    for state in &motion.states {
        close(state.v[0], v, 2e-4);
        let bell = |scale: f64| (-(v / scale) * (v / scale)).exp();
        let bound = 0.5 + 0.4 * bell(0.2) + (0.1 + 0.05 * bell(0.1)) * 2.0;
        v = (v + h * (2.0 - bound)) / (1.0 + h * 0.3);
    }
    // At rest it sticks up to 0.5 + 0.4 + 0.15 F: F < 0.9/0.85 = 1.059.
    for (force, moves) in [(1.0, false), (1.12, true)] {
        let s = slider(base);
        let given = inputs(&s, &[("input.force", InputSignal::constant(&[force]))]);
        let end = simulate(&s, &given, 500).states.pop().unwrap();
        assert_eq!(end.v[0] > 1e-2, moves, "{force}: {}", end.v[0]);
    }
}

#[test]
fn bristles_bend_at_rest_and_slip_at_speed() {
    let text = "[input.force]\n[controller.c]\nactuator = \"motor\"\nlaw = \"input.force\"\n\
                [friction.f]\njoint = \"slide\"\nlaw = \"lugre\"\nstiffness = 1e5\ndamping = 300\n\
                viscous = 0.4\ndry = 1.0\nstribeck = { extra = 0.5, velocity = 0.01 }\n";
    let s = slider(text);
    let given = inputs(&s, &[("input.force", sampled(3000, 1e-3, |t| 0.8 * t.min(1.0)))]);
    let end = simulate(&s, &given, 3000).states.pop().unwrap();
    // Below the level g of friction, slowly: dz = dx (1 − σ₀ z/g), σ₀ z = F, so
    // x = −g/σ₀ ln(1 − F/g).
    close(end.q[0], -1.5e-5 * (1.0f64 - 0.8 / 1.5).ln(), 1e-7);
    close(end.v[0], 0.0, 1e-9);
    let given = inputs(&s, &[("input.force", InputSignal::constant(&[1.8]))]);
    let (end, [_, by_dry]) = ends(&s, &given, "friction.f.dry", 40_000);
    // (F − g)/σ₂, g being that of Coulomb at this speed.
    close(end.v[0], 2.0, 1e-5);
    close(by_dry, -1.0 / 0.4, 1e-5);
}

#[test]
fn a_rotor_crosses_its_play_before_the_joint_moves() {
    let text = "[input.voltage]\n[drive.d]\nactuator = \"motor\"\nvoltage = \"input.voltage\"\n\
                torque_constant = 0.5\nresistance = 2.0\nback_emf = 0.0\n\
                play = { width = 0.02, inertia = 0.05, stiffness = 1e5, damping = 200.0 }\n";
    let s = slider(text);
    let given = inputs(&s, &[("input.voltage", InputSignal::constant(&[2.0]))]);
    let motion = simulate(&s, &given, 2000);
    // 0.5 N on 0.05 kg crosses 0.01 m in √(2 · 0.01/10) = 44.7 ms.
    let moved = motion.states.iter().position(|state| state.v[0] != 0.0).unwrap();
    assert!((43..=47).contains(&moved), "{moved}");
    // Then both move as one.
    let speed = (motion.states[2000].v[0] - motion.states[1000].v[0]) / 1.0;
    close(speed, 0.5 / 1.05, 1e-3);
}
