//! Impacts at a fixed step: what derivatives of a motion are worth when a contact closes in it.
//!
//! Names such as R32 are those of published defect reports of other engines, each with the values
//! that a right engine gives.

mod common;

use common::States;
use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_model::{GeomBuilder, InputSignal, Inputs, Model, Shape, SoftBuilder};

const G: f64 = 9.81;
/// Time of impact and of reading of a ball dropped from 1 m.
const T1: f64 = 0.451_523_640_985;
const T: f64 = 0.8;

/// A ball of 1 kg, a point at `z` m, over a plane.
struct Ball {
    law: &'static str,
    h: f64,
    z: f64,
    stiffness: f64,
    damping: f64,
    ramp: f64,
    saltation: bool,
}

impl Default for Ball {
    fn default() -> Self {
        Self {
            law: "smooth",
            h: 1e-5,
            z: 1.0,
            stiffness: 1e4,
            damping: 0.0,
            ramp: 1e-3,
            saltation: false,
        }
    }
}

impl Ball {
    fn model(&self) -> Model {
        let mut model = Model::new("ball");
        model.options.timestep = self.h;
        model.options.saltation = self.saltation;
        SoftBuilder::new("b", vec![[0.0; 3]])
            .vertex_mass(vec![1.0])
            .radius(vec![0.1])
            .position([0.4, 0.0, self.z + 0.1])
            .load("push", vec![0])
            .build(&mut model)
            .unwrap();
        GeomBuilder::new("floor", Shape::Plane, &[])
            .law(self.law)
            .stiffness(self.stiffness)
            .damping(self.damping)
            .friction(0.3)
            .friction_damping(50.0)
            .ramp(self.ramp)
            .build(&mut model)
            .unwrap();
        model
    }
}

/// Runs `model` to `time` and returns (x, y, z, vx, vy, vz) of its first vertex.
fn end(model: &Model, time: f64) -> Vec<f64> {
    end_under(model, time, &Inputs::default())
}

fn end_under(model: &Model, time: f64, inputs: &Inputs) -> Vec<f64> {
    let system = System::new(model).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let steps = (time / system.timestep()).round() as usize;
    let observer = States { at: vec![steps], dof: system.dof() };
    Run::new(&system, &c, inputs).observe(&observer, &[]).unwrap()
}

/// Derivatives of [`end`] by entries of leaves; the adjoint must agree.
fn slopes(model: &Model, time: f64, leaves: &[(&str, usize)]) -> Vec<Vec<f64>> {
    let system = System::new(model).unwrap();
    let theta = system.theta();
    let c = system.derive(&theta).unwrap();
    let steps = (time / system.timestep()).round() as usize;
    let observer = States { at: vec![steps], dof: system.dof() };
    let inputs = Inputs::default();
    let run = Run::new(&system, &c, &inputs);
    let entry = |&(path, i): &(&str, usize)| {
        system.model().leaves.range(system.model().leaves.find(path).unwrap()).start + i
    };
    let mut seeds = Seeds { columns: leaves.len(), ..Seeds::default() };
    for leaf in leaves {
        let mut theta_dot = vec![0.0; theta.len()];
        theta_dot[entry(leaf)] = 1.0;
        seeds.c.extend(system.derive_pushforward(&theta, &c, &theta_dot));
    }
    let y_dot = run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot;

    let weights: Vec<f64> = (0..6).map(|i| (1.3 * f64::from(i) + 0.4).sin()).collect();
    let mut loss =
        |y: &[f64]| (y.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>(), weights.clone());
    let gradient = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
    let theta_bar = system.derive_pullback(&theta, &c, &gradient.c);
    let columns: Vec<Vec<f64>> = y_dot.chunks_exact(6).map(<[f64]>::to_vec).collect();
    for (leaf, column) in leaves.iter().zip(&columns) {
        let pushed: f64 = column.iter().zip(&weights).map(|(a, b)| a * b).sum();
        let size: f64 = column.iter().map(|y| y.abs()).sum();
        let pulled = theta_bar[entry(leaf)];
        // The runs have up to 800 000 steps, each with its rounding.
        let gap = (pushed - pulled).abs();
        assert!(gap <= 1e-9 * size, "{leaf:?}: {pushed} {pulled}");
    }
    columns
}

/// [`slopes`] by one entry.
fn slope(model: &Model, time: f64, path: &str, i: usize) -> Vec<f64> {
    slopes(model, time, &[(path, i)]).remove(0)
}

/// Central difference of [`end`] by entry `i` of a leaf, from `-width` to `width`.
fn wide(model: &Model, time: f64, path: &str, i: usize, width: f64) -> Vec<f64> {
    let at = |step: f64| {
        let mut values = model.get(path).unwrap().to_vec();
        values[i] += step;
        end(&model.with(path, &values).unwrap(), time)
    };
    at(width).iter().zip(at(-width)).map(|(a, b)| (a - b) / (2.0 * width)).collect()
}

fn close(what: &str, value: f64, expected: f64, relative: f64) {
    let error = (value - expected).abs();
    assert!(error <= relative * expected.abs(), "{what}: {value}, expected {expected}");
}

/// P1 and P2: laws without damping that have been worked out by hand or to convergence.
#[test]
fn case_r32_undamped_laws_give_their_known_slopes() {
    let p1 = Ball { law: "warp", ..Ball::default() }.model();
    close("P1 z", end(&p1, T)[2] - 0.1, 0.91073, 1e-3);
    let got = slope(&p1, T, "soft.b.position", 2)[2];
    assert!((got - 0.4027).abs() < 0.03, "P1 {got}");
    // force/m = 1e6 depth²: the ramp of the default law, never left.
    for (h, tolerance) in [(1e-4, 0.005), (1e-5, 0.001)] {
        let p2 = Ball { h, stiffness: 2e6, ramp: 1.0, ..Ball::default() }.model();
        close("P2 z", end(&p2, T)[2] - 0.1, 0.92621, 2.0 * h * G);
        let got = slope(&p2, T, "soft.b.position", 2)[2];
        assert!((got - 0.4607).abs() < tolerance, "P2 at {h}: {got}");
    }
}

/// Largest error of positions relative to the size of their derivative, and of velocities.
fn error(value: &[f64], expected: &[f64]) -> f64 {
    let norm = |a: &[f64]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let gap: Vec<f64> = value.iter().zip(expected).map(|(a, b)| a - b).collect();
    (norm(&gap[..3]) / norm(&expected[..3])).max(norm(&gap[3..]) / norm(&expected[3..]))
}

/// The default law at up to 300 1/s and at least a thousand steps in contact: derivatives by
/// everything that moves or shapes the contact are those of differences of width 1e-4.
#[test]
fn the_default_law_agrees_with_wide_differences() {
    for (rate, damping, slide) in [(100.0, 0.1, 0.5), (300.0, 0.05, 0.0), (300.0, 0.3, 0.0)] {
        let h = 1e-5;
        assert!(std::f64::consts::PI / (rate * h) > 1000.0);
        let (stiffness, damping) = (rate * rate, 2.0 * damping * rate);
        let ball = Ball { h, stiffness, damping, ..Ball::default() };
        let model = ball.model().with("soft.b.velocity", &[slide, 0.0, 0.0]).unwrap();
        let leaves = [
            ("soft.b.position", 2, 1e-4),
            ("soft.b.velocity", 2, 1e-4),
            ("soft.b.radius", 0, 1e-4),
            ("geom.floor.pos", 2, 1e-4),
            ("geom.floor.stiffness", 0, 1e-4 * stiffness),
            ("geom.floor.damping", 0, 1e-4 * damping),
            ("geom.floor.ramp", 0, 1e-4),
            ("soft.b.vertex_mass", 0, 1e-4),
        ];
        let exact = slopes(&model, T, &leaves.map(|(path, i, _)| (path, i)));
        for ((path, i, width), exact) in leaves.into_iter().zip(exact) {
            let wide = wide(&model, T, path, i, width);
            assert!(error(&exact, &wide) <= 0.01, "{path} {rate}: {exact:?} {wide:?}");
        }
    }
}

/// Damping so that a ball from 1 m leaves a contact of rate `rate` at 0.8 of its speed.
fn damping_for_restitution(ball: &Ball) -> f64 {
    let speed = |damping: f64| {
        let mut model = Ball { damping, z: 1e-9, ..*ball }.model();
        model = model.with("soft.b.velocity", &[0.0, 0.0, -G * T1]).unwrap();
        model = model.with("option.gravity", &[0.0; 3]).unwrap();
        end(&model, 2.0 * std::f64::consts::PI / ball.stiffness.sqrt())[5] / (G * T1)
    };
    let (mut low, mut high) = (0.0, ball.stiffness.sqrt());
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if speed(middle) > 0.8 { low = middle } else { high = middle }
    }
    low
}

/// R32: a ball that leaves at 0.8 of its speed. Converged in h, and towards the ideal impact as
/// the contact gets stiffer.
#[test]
fn case_r32_tends_to_the_ideal_impact() {
    let ideal = 1.8 * (T - T1) / T1 - 0.8;
    let mut gaps = Vec::new();
    for (rate, h) in [(100.0, 1e-5), (400.0, 4e-6), (1600.0, 1e-6)] {
        // The ramp shrinks with the depth, so that restitution does not depend on speed.
        let mut ball = Ball { h, stiffness: rate * rate, ramp: 0.1 / rate, ..Ball::default() };
        ball.damping = damping_for_restitution(&ball);
        let coarse = slope(&ball.model(), T, "soft.b.position", 2)[2];
        if rate < 1000.0 {
            ball.h = h / 4.0;
            let fine = slope(&ball.model(), T, "soft.b.position", 2)[2];
            close("converged in h", coarse, fine, 0.02);
        }
        gaps.push((coarse - ideal).abs());
    }
    assert!(gaps[1] < 0.5 * gaps[0] && gaps[2] < 0.5 * gaps[1], "{gaps:?}");
    assert!(gaps[2] < 0.02 * ideal, "{gaps:?} of {ideal}");
}

/// R64: the gradient by the damping of the bounce, which does not move its instant.
#[test]
fn case_r64_restitution_moves_the_position_after_the_bounce() {
    for law in ["smooth", "warp"] {
        let ball = Ball { law, h: 4e-6, stiffness: 1e6, damping: 400.0, ..Ball::default() };
        let d = slope(&ball.model(), T, "geom.floor.damping", 0);
        // The contact itself lasts a hundredth of that.
        close(law, d[2] / d[5], T - T1, 0.015);
        assert!(d[5] < 0.0);
        let before = slope(&ball.model(), 0.4, "geom.floor.damping", 0);
        assert_eq!((before[2], before[5]), (0.0, 0.0));
    }
}

/// R02: speed after a head-on impact on a linear spring with a dashpot that acts while the ball
/// comes in (warp.sim's law): e = exp(-z acos z / sqrt(1 - z²)).
#[test]
fn case_r02_restitution_of_the_linear_law() {
    let (rate, z, h): (f64, f64, f64) = (100.0, 0.2, 1e-5);
    let ball = Ball { law: "warp", h, z: -1e-12, damping: 2.0 * z * rate, ..Ball::default() };
    let model = ball.model().with("soft.b.velocity", &[0.0, 0.0, -1.0]).unwrap();
    let model = model.with("option.gravity", &[0.0; 3]).unwrap();
    let root = (1.0 - z * z).sqrt();
    let e = (-z * z.acos() / root).exp();
    let de = -e * (z.acos() / root.powi(3) - z / (root * root));
    let time = 0.1;
    close("e", end(&model, time)[5], e, 2.0 * h * rate);
    close("de/dv0", -slope(&model, time, "soft.b.velocity", 2)[5], e, 2.0 * h * rate);
    let by_damping = slope(&model, time, "geom.floor.damping", 0)[5];
    close("de/dz", by_damping * 2.0 * rate, de, 10.0 * h * rate);
}

/// warp.sim's law on R32: the branch derivative is wrong at every h and says so; with the jump
/// term it is what differences over many steps of onset are.
#[test]
fn case_r32_a_law_that_jumps_warns_and_the_saltation_term_mends_it() {
    // A jump of the velocity by h k_d v per whole step is what differences have to average.
    let mut ball =
        Ball { law: "warp", h: 4e-6, stiffness: 900.0, damping: 30.0, ..Ball::default() };
    let slide = |ball: &Ball| ball.model().with("soft.b.velocity", &[0.5, 0.0, 0.0]).unwrap();
    let plain = slide(&ball);
    ball.saltation = true;
    let mended = slide(&ball);
    let leaves = [
        ("soft.b.position", 2, 0.05),
        ("soft.b.radius", 0, 0.05),
        ("geom.floor.pos", 2, 0.05),
        ("geom.floor.quat", 2, 0.05),
        ("soft.b.velocity", 2, 0.05),
        ("option.gravity", 2, 0.5),
    ];
    let entries = leaves.map(|(path, i, _)| (path, i));
    let (with, without) = (slopes(&mended, T, &entries), slopes(&plain, T, &entries));
    for (k, (path, i, width)) in leaves.into_iter().enumerate() {
        let expected = wide(&plain, T, path, i, width);
        assert!(error(&with[k], &expected) <= 0.01, "{path}: {:?} {expected:?}", with[k]);
        assert!(error(&without[k], &expected) > 1.0, "{path}: {:?} {expected:?}", without[k]);
    }
    // What does not move the onset has no jump term.
    let by_damping = |model: &Model| slope(model, T, "geom.floor.damping", 0);
    assert_eq!(by_damping(&plain), by_damping(&mended));

    let report = |model: &Model| {
        let system = System::new(model).unwrap();
        let c = system.derive(&system.theta()).unwrap();
        let inputs = Inputs::default();
        let run = Run::new(&system, &c, &inputs);
        let report = run.contact_report(200_000).unwrap();
        let states = run.rollout(200_000, 1).unwrap().states;
        assert_eq!(report, system.contact_report(&c, &states));
        report
    };
    let contacts = report(&plain);
    let floor = &contacts.geoms[0];
    assert_eq!((floor.onsets, floor.jumps, floor.ended), (1, 1, 1));
    close("jump", floor.largest_jump, 30.0 * G * T1 * 1.09f64.sqrt(), 0.05);
    let warnings = contacts.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("geom.floor") && warnings[0].contains("\"warp\" jumped at 1 of 1")
    );
    assert!(report(&mended).warnings()[0].contains("include the jump"));
    assert!(report(&Ball::default().model()).warnings().is_empty());
    ball.damping = 0.0;
    assert!(report(&ball.model()).warnings().is_empty());
}

#[test]
fn coarse_contacts_are_reported() {
    let warnings = |ball: &Ball| {
        let system = System::new(&ball.model()).unwrap();
        let c = system.derive(&system.theta()).unwrap();
        let inputs = Inputs::default();
        let run = Run::new(&system, &c, &inputs);
        run.contact_report((T / ball.h).round() as usize).unwrap().warnings()
    };
    let coarse = warnings(&Ball { h: 4e-3, ramp: 0.1, ..Ball::default() });
    assert!(coarse.len() == 1 && coarse[0].contains("steps"), "{coarse:?}");
    let thin = warnings(&Ball { h: 1e-4, ramp: 1e-3, ..Ball::default() });
    assert!(thin.len() == 1 && thin[0].contains("ramp"), "{thin:?}");
    let none = warnings(&Ball { h: 1e-4, ramp: 0.0, damping: 1.0, ..Ball::default() });
    assert!(none.len() == 2 && none[0].contains("jumped"), "{none:?}");
}

/// R21: a point mass slides on a plane until friction has stopped it.
#[test]
fn case_r21_stopping_distance_of_a_sliding_mass() {
    let (mu, k, ramp, h) = (0.3, 1e4, 1e-3, 1e-4);
    let mut model = Model::new("slider");
    model.options.timestep = h;
    SoftBuilder::new("p", vec![[0.0; 3]])
        .vertex_mass(vec![1.0])
        .radius(vec![0.05])
        .position([0.0, 0.0, 0.05 - (G / k + 0.5 * ramp)])
        .velocity([1.0, 0.0, 0.0])
        .build(&mut model)
        .unwrap();
    GeomBuilder::new("floor", Shape::Plane, &[])
        .stiffness(k)
        .damping(200.0)
        .friction(mu)
        .slip_speed(1e-3)
        .ramp(ramp)
        .build(&mut model)
        .unwrap();
    let (distance, stop) = (1.0 / (2.0 * mu * G), 1.0 / (mu * G));
    let tolerance = 2.0 * h / stop;
    close("distance", end(&model, 0.5)[0], distance, tolerance);
    let d = slope(&model, 0.5, "geom.floor.friction", 0);
    close("d/dmu", d[0], -distance / mu, tolerance);
    let sliding = slope(&model, 0.2, "geom.floor.friction", 0);
    close("dv/dmu", sliding[3], -G * 0.2, tolerance);
    let by_stiffness = slope(&model, 0.5, "geom.floor.stiffness", 0);
    close("d(depth)/dk", -by_stiffness[2], -G / (k * k), 1e-3);
}

/// R04 and R41: at rest the depth is m g/k (half a ramp more under the default law), and the
/// centre stands on radius, position and half height.
#[test]
fn case_r04_depth_at_rest() {
    let (k, m) = (1e4, 2.0);
    for (law, ramp) in [("smooth", 1e-4), ("warp", 1e-4), ("warp-shape", 1e-4)] {
        let mut model = Model::new("rest");
        model.options.timestep = 1e-4;
        SoftBuilder::new("p", vec![[0.0; 3]])
            .vertex_mass(vec![m])
            .radius(vec![0.05])
            .position([0.0, 0.0, 0.3495])
            .build(&mut model)
            .unwrap();
        GeomBuilder::new("box", Shape::Box, &[0.5, 0.4, 0.1])
            .pos([0.0, 0.0, 0.2])
            .law(law)
            .stiffness(k)
            .damping(250.0)
            .ramp(ramp)
            .build(&mut model)
            .unwrap();
        let depth = m * G / k + if law == "smooth" { 0.5 * ramp } else { 0.0 };
        close(law, 0.35 - end(&model, 1.0)[2], depth, 1e-8);
        let z = |path: &str, i: usize| slope(&model, 1.0, path, i)[2];
        close(law, -z("soft.p.vertex_mass", 0), G / k, 1e-6);
        close(law, -z("geom.box.stiffness", 0), -m * G / (k * k), 1e-6);
        close(law, z("soft.p.radius", 0), 1.0, 1e-6);
        close(law, z("geom.box.pos", 2), 1.0, 1e-6);
        close(law, z("geom.box.size", 2), 1.0, 1e-6);
    }
}

/// R60: a ball on a plane pushed up by nearly its weight, critically damped.
#[test]
fn case_r60_push_on_either_side_of_the_weight() {
    let (k, time) = (1e4, 1.0);
    let ball =
        Ball { h: 1e-4, z: -1e-12, stiffness: k, damping: 200.0, ramp: 1e-5, ..Ball::default() };
    let system = System::new(&ball.model()).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let observer = States { at: vec![(time / ball.h).round() as usize], dof: 3 };
    let push = |u: f64| Inputs { signals: vec![Some(InputSignal::constant(&[0.0, 0.0, u]))] };
    let by_push = |u: f64| {
        let inputs = push(u);
        let run = Run::new(&system, &c, &inputs);
        let seeds = Seeds { columns: 1, inputs: vec![push(1.0)], ..Seeds::default() };
        run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot
    };
    let below = by_push(5.0);
    assert!(below[5].abs() < 1e-9, "{below:?}");
    close("settled", -below[2], -1.0 / k, 1e-6);
    close("lifted", by_push(12.0)[5], time, 1e-6);
    assert!(end_under(&ball.model(), time, &push(12.0))[2] > 1.0);
}
