//! Set-ups that broke other tools, cut down to point masses, springs and loads, with the answers
//! that are right. Each test is named after its case.

mod common;

use common::States;
use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_model::{InputSignal, Inputs, Model, SoftBuilder, SpringSettings};

fn empty(timestep: f64, gravity: f64) -> Model {
    let mut model = Model::new("case");
    model.options.timestep = timestep;
    model.with("option.gravity", &[0.0, 0.0, gravity]).unwrap()
}

/// A mass at `x`, on a spring to a fixed vertex at the origin where one is given.
fn mass(model: &mut Model, m: f64, x: [f64; 3], v: [f64; 3], spring: Option<[f64; 3]>) {
    let mut body = SoftBuilder::new("b", vec![x, [0.0; 3]])
        .vertex_mass(vec![m])
        .start_velocity(vec![v[0], v[1], v[2], 0.0, 0.0, 0.0])
        .load("push", vec![0])
        .fix(&[1]);
    if let Some([stiffness, damping, rest]) = spring {
        let settings = SpringSettings {
            stiffness: vec![stiffness],
            damping: vec![damping],
            rest_length: Some(vec![rest]),
        };
        body = body.with_springs(vec![[0, 1]], settings);
    }
    body.build(model).unwrap();
}

fn push(force: [f64; 3]) -> Inputs {
    Inputs { signals: vec![Some(InputSignal::constant(&force))] }
}

/// ∂y/∂θ and ∂y/∂(constant push) of one number of the final state of two vertices: 0 to 5
/// positions, 6 to 11 velocities.
struct Answer {
    value: f64,
    theta: Vec<f64>,
    push: Vec<f64>,
}

fn answer(system: &System, steps: usize, inputs: &Inputs, of: usize, detach: &[usize]) -> Answer {
    let theta = system.theta();
    let c = system.derive(&theta).unwrap();
    let run = Run::new(system, &c, inputs);
    let observer = States { at: vec![steps], dof: system.dof() };
    let mut loss = |y: &[f64]| {
        let mut bar = vec![0.0; y.len()];
        bar[of] = 1.0;
        (y[of], bar)
    };
    let options = AdjointOptions { detach: detach.to_vec(), ..AdjointOptions::default() };
    let g = run.gradient(&observer, &[], &options, &mut loss).unwrap();
    let push = g.inputs.first().cloned().unwrap_or_default();
    Answer { value: g.value, theta: system.derive_pullback(&theta, &c, &g.c), push }
}

fn by(system: &System, answer: &Answer, path: &str, i: usize) -> f64 {
    let leaves = &system.model().leaves;
    answer.theta[leaves.range(leaves.find(path).unwrap()).start + i]
}

#[track_caller]
fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "{found} {expected}");
}

/// The Jacobian accumulated over the steps of a damped oscillator follows exp(A T) and does not
/// grow; its determinant is that of explicit damping.
#[test]
fn case_r07_accumulated_jacobian_of_an_oscillator() {
    let (h, c, w2, n) = (0.002, 0.5, 9.81, 500);
    let mut model = empty(h, 0.0);
    mass(&mut model, 1.0, [0.3, 0.0, 0.0], [0.0; 3], Some([w2, 0.0, 0.0]));
    let model = model.with("soft.b.mass_damping", &[c]).unwrap();
    let system = System::new(&model).unwrap();
    let constants = system.derive(&system.theta()).unwrap();
    let start = system.initial_state(&constants, &[0.0; 3]);
    let inputs = Inputs::default();
    let run = Run { initial: Some(&start), ..Run::new(&system, &constants, &inputs) };
    let mut initial = system.zero_tangents(2);
    initial.q[0] = 1.0;
    initial.v[6] = 1.0;
    let seeds = Seeds { columns: 2, initial: Some(initial), ..Seeds::default() };
    let observer = States { at: vec![n], dof: 6 };
    let j = run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot;
    let (xx, vx, xv, vv) = (j[0], j[6], j[12], j[18]);
    let expected = [-0.77744, 0.00486, -0.04770, -0.77987];
    for (found, expected) in [xx, xv, vx, vv].iter().zip(expected) {
        assert!((found - expected).abs() < 2.0 * h, "{found} {expected}");
    }
    close(xx * vv - xv * vx, (1.0 - h * c).powi(n as i32), 1e-12);
}

/// v ← a v for ten steps with a = 1 − h α, cut after the fifth: nothing flows back to the start,
/// and a counts five times. (a is below one here, as a damping rate cannot be negative.)
#[test]
fn case_r13_a_cut_gradient() {
    let (h, a) = (0.1, 0.99f64);
    let mut model = empty(h, 0.0);
    mass(&mut model, 1.0, [0.0; 3], [1.0, 0.0, 0.0], None);
    let model = model.with("soft.b.mass_damping", &[(1.0 - a) / h]).unwrap();
    let system = System::new(&model).unwrap();
    let cut = answer(&system, 10, &Inputs::default(), 6, &[5]);
    assert_eq!(by(&system, &cut, "soft.b.start_velocity", 0), 0.0);
    let by_a = by(&system, &cut, "soft.b.mass_damping", 0) / -h;
    close(by_a, 5.0 * a.powi(4) * a.powi(5), 1e-12);
    let whole = answer(&system, 10, &Inputs::default(), 6, &[]);
    close(by(&system, &whole, "soft.b.mass_damping", 0) / -h, 10.0 * a.powi(9), 1e-12);
    close(by(&system, &whole, "soft.b.start_velocity", 0), a.powi(10), 1e-12);
}

/// The force is minus the gradient of an energy inside the step, and the outer gradient by the
/// stiffness is that of the force written by hand.
#[test]
fn case_r19_gradient_of_a_gradient() {
    let (h, k, s, m) = (1e-3, 40.0, 0.2, 0.7);
    let mut model = empty(h, 0.0);
    mass(&mut model, m, [1.0 + s, 0.0, 0.0], [0.0; 3], Some([k, 0.0, 1.0]));
    let system = System::new(&model).unwrap();
    let dv = answer(&system, 1, &Inputs::default(), 6, &[]);
    close(dv.value, -h * k * s / m, 1e-12);
    close(by(&system, &dv, "soft.b.springs.stiffness", 0), -h * s / m, 1e-12);
    close(by(&system, &dv, "soft.b.springs.rest_length", 0), h * k / m, 1e-12);
    close(by(&system, &dv, "soft.b.rest_position", 0), -h * k / m, 1e-12);
}

/// Loops inside loops count once: a force that two springs and a load add up on one vertex, over
/// steps, has the sum of their gradients; the share of a load is 1/n for n vertices.
#[test]
fn case_r20_sums_and_loops_count_once() {
    let (h, m) = (0.01, 2.0);
    let build = |copies: usize| {
        let mut model = empty(h, 0.0);
        let settings = SpringSettings {
            stiffness: vec![8.0 / copies as f64],
            damping: vec![0.0],
            rest_length: Some(vec![0.0]),
        };
        SoftBuilder::new("b", vec![[0.5, 0.1, 0.0], [0.0; 3]])
            .vertex_mass(vec![m])
            .with_springs(vec![[0, 1]; copies], settings)
            .load("push", vec![0, 1])
            .fix(&[1])
            .build(&mut model)
            .unwrap();
        System::new(&model).unwrap()
    };
    let one = build(1);
    let (single, double) = (
        answer(&one, 7, &push([1.0, 0.0, 0.0]), 0, &[]),
        answer(&build(2), 7, &push([1.0, 0.0, 0.0]), 0, &[]),
    );
    close(double.value, single.value, 1e-14);
    close(
        by(&one, &double, "soft.b.springs.stiffness", 0),
        2.0 * by(&one, &single, "soft.b.springs.stiffness", 0),
        1e-12,
    );
    // One step: Δx = h² f/(2 m).
    let step = answer(&one, 1, &push([1.0, 0.0, 0.0]), 0, &[]);
    close(step.push[0], h * h / (2.0 * m), 1e-12);
    assert_eq!(&step.push[1..], [0.0, 0.0]);
}

/// A cart pushed by a constant force has a gradient by the force, not only by its start.
#[test]
fn case_r28_gradient_by_a_force() {
    let (h, m, n) = (0.01, 1.0, 100.0);
    let mut model = empty(h, 0.0);
    mass(&mut model, m, [0.0; 3], [0.0; 3], None);
    let system = System::new(&model).unwrap();
    let x = answer(&system, 100, &push([2.0, 0.0, 0.0]), 0, &[]);
    close(x.push[0], 0.505, 1e-12);
    close(x.push[0], h * h * n * (n + 1.0) / (2.0 * m), 1e-12);
    let v = answer(&system, 100, &push([2.0, 0.0, 0.0]), 6, &[]);
    close(v.push[0], n * h / m, 1e-12);
    close(by(&system, &x, "soft.b.position", 0), 1.0, 1e-14);
}

/// Two bodies that never touch: the blocks off the diagonal are exactly zero, and each block is
/// that of the body alone.
#[test]
fn case_r31_two_bodies_do_not_mix() {
    let build = |names: &[&str]| {
        let mut model = empty(1e-3, -9.81);
        for name in names {
            let side = if *name == "a" { 0.3 } else { 0.2 };
            let settings = SpringSettings {
                stiffness: vec![100.0],
                damping: vec![0.2],
                rest_length: Some(vec![0.25]),
            };
            let vertices = vec![[0.0; 3], [side, 0.0, 0.0], [0.0, side, 0.0], [0.0, 0.0, side]];
            SoftBuilder::new(name, vertices)
                .vertex_mass(vec![0.1, 0.2, 0.3, 0.4])
                .velocity([0.1, 0.0, 0.0])
                .with_springs(vec![[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [1, 3]], settings)
                .build(&mut model)
                .unwrap();
        }
        System::new(&model).unwrap()
    };
    let both = build(&["a", "b"]);
    for (name, first) in [("a", 0), ("b", 12)] {
        let alone = build(&[name]);
        for of in [0, 7, 11] {
            let one = answer(&alone, 50, &Inputs::default(), of, &[]);
            let two = answer(&both, 50, &Inputs::default(), first + of, &[]);
            close(two.value, one.value, 1e-14);
            for (id, leaf) in both.model().leaves.iter() {
                let range = both.model().leaves.range(id);
                if leaf.path.starts_with("option") {
                    continue;
                }
                if leaf.path.starts_with(&format!("soft.{name}")) {
                    for i in 0..range.len() {
                        let single = by(&alone, &one, &leaf.path, i);
                        let error = (two.theta[range.start + i] - single).abs();
                        assert!(error <= 1e-12 * single.abs().max(1e-9), "{}", leaf.path);
                    }
                } else {
                    assert!(two.theta[range].iter().all(|g| *g == 0.0), "{}", leaf.path);
                }
            }
        }
    }
}

/// The gradient of height by thrust grows as T²/2m, and that is right.
#[test]
fn case_r34_growth_by_thrust() {
    let (h, m) = (0.01, 3.0);
    let mut model = empty(h, -9.81);
    mass(&mut model, m, [0.0, 0.0, 1.0], [0.0; 3], None);
    let system = System::new(&model).unwrap();
    for n in [10usize, 100, 1000] {
        let height = answer(&system, n, &push([0.0, 0.0, 40.0]), 2, &[]);
        let expected = h * h * (n * (n + 1)) as f64 / (2.0 * m);
        close(height.push[2], expected, 1e-12);
    }
}

/// The gradient by mass is not left zero.
#[test]
fn case_r40_gradient_by_mass() {
    let (h, m, f, n) = (0.01, 2.0, 5.0, 100.0);
    let mut model = empty(h, 0.0);
    mass(&mut model, m, [0.0; 3], [0.0; 3], None);
    let mut model = model.clone();
    let id = model.leaves.find("soft.b.vertex_mass").unwrap();
    model.leaves.expand(id).unwrap();
    let system = System::new(&model).unwrap();
    let x = answer(&system, 100, &push([f, 0.0, 0.0]), 0, &[]);
    close(
        by(&system, &x, "soft.b.vertex_mass", 0),
        -f * h * h * n * (n + 1.0) / (2.0 * m * m),
        1e-12,
    );
    assert_eq!(by(&system, &x, "soft.b.vertex_mass", 1), 0.0);
}

/// A run that starts at zero length: finite everywhere, zero where nothing moves.
#[test]
fn case_r43_a_run_from_zero_length() {
    for rest in [0.0, 0.3] {
        let mut model = empty(1e-3, 0.0);
        mass(&mut model, 1.0, [0.0; 3], [0.0; 3], Some([50.0, 0.5, rest]));
        let system = System::new(&model).unwrap();
        let x = answer(&system, 20, &Inputs::default(), 0, &[]);
        assert_eq!(x.value, 0.0);
        assert!(x.theta.iter().all(|g| g.is_finite()));
        assert_eq!(by(&system, &x, "soft.b.springs.stiffness", 0), 0.0);
    }
}

/// Asked ten times in a row, a gradient is the same each time: −6 for |z − 200| after three steps
/// of z ← z + 2 t.
#[test]
fn case_r46_gradients_do_not_pile_up() {
    let mut model = empty(2.0, 0.0);
    mass(&mut model, 1.0, [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], None);
    let system = System::new(&model).unwrap();
    let theta = system.theta();
    let c = system.derive(&theta).unwrap();
    let inputs = Inputs::default();
    let run = Run::new(&system, &c, &inputs);
    let observer = States { at: vec![3], dof: system.dof() };
    let mut loss = |y: &[f64]| {
        let mut bar = vec![0.0; y.len()];
        bar[0] = (y[0] - 200.0).signum();
        ((y[0] - 200.0).abs(), bar)
    };
    for _ in 0..10 {
        let g = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
        let theta_bar = system.derive_pullback(&theta, &c, &g.c);
        assert_eq!(theta_bar[system.model().leaves.range(velocity(&system)).start], -6.0);
    }
}

fn velocity(system: &System) -> costate_model::LeafId {
    system.model().leaves.find("soft.b.start_velocity").unwrap()
}

/// Twenty runs of one mass-spring scene in one process give the same bits.
#[test]
fn case_r48_repeated_runs_are_equal() {
    let run = || {
        let mut model = empty(1e-3, -9.81);
        mass(&mut model, 0.3, [0.3, 0.1, -0.2], [0.5, 0.0, 0.1], Some([80.0, 0.3, 0.2]));
        let system = System::new(&model).unwrap();
        let x = answer(&system, 400, &Inputs::default(), 2, &[]);
        (x.value.to_bits(), x.theta.iter().map(|g| g.to_bits()).collect::<Vec<_>>())
    };
    let first = run();
    for _ in 1..20 {
        assert_eq!(run(), first);
    }
}
