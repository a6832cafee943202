//! Contacts that close at speed.

use costate_dynamics::System;
use costate_dynamics::rollout::Run;
use costate_model::{Inputs, Model};

use crate::harness::{Ball, G, T, T1, close, end, slope, slopes, wide};

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
