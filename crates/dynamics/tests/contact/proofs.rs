//! Tangents against differences, adjoints against tangents, forces against energies.

use costate_dynamics::System;
use costate_dynamics::contact::CONTACT_LAWS;
use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_model::Shape;
use proptest::prelude::*;

use crate::common::States;
use crate::harness::{Probe, SHAPES, Slip, cloud, dot, moved, scene};
use crate::proof::{noise, prove};

/// Best error of central differences of `f` at 0 over a sweep of widths.
fn best_error(f: impl Fn(f64) -> Vec<f64>, expected: &[f64]) -> f64 {
    let mut best = f64::INFINITY;
    for eps in [1e-4, 1e-5, 1e-6, 1e-7] {
        let (up, down) = (f(eps), f(-eps));
        let error: Vec<f64> =
            (0..up.len()).map(|i| (up[i] - down[i]) / (2.0 * eps) - expected[i]).collect();
        best = best.min(dot(&error, &error).sqrt());
    }
    best
}

fn prove_force(shape: Shape, law: &str, slip: Slip, seed: u64) {
    let (x, v) = cloud(seed, 12);
    let probe = Probe::new(&scene(shape, law, slip, &x, v));
    let direction = |n: usize, salt: u64, values: &[f64]| -> Vec<f64> {
        (0..n).map(|i| (values[i].abs() + 0.1) * noise(seed ^ salt, i)).collect()
    };
    let x_dot = direction(probe.x.len(), 11, &vec![0.0; probe.x.len()]);
    let v_dot = direction(probe.v.len(), 12, &probe.v);
    let c_dot = direction(probe.c.len(), 13, &probe.c);
    let f_dot = probe.tangent(&x_dot, &v_dot, &c_dot);
    let scale = dot(&f_dot, &f_dot).sqrt();
    let name = format!("{shape:?} {law} {slip:?} {seed}");
    let error = best_error(
        |e| {
            probe.evaluate(
                &moved(&probe.x, &x_dot, e),
                &moved(&probe.v, &v_dot, e),
                &moved(&probe.c, &c_dot, e),
            )
        },
        &f_dot,
    );
    assert!(error <= 1e-7 * scale.max(1.0), "{name}: {error:e} of {scale:e}");

    let lambda = direction(probe.x.len(), 14, &vec![1.0; probe.x.len()]);
    let [x_bar, v_bar, c_bar] = probe.adjoint(&lambda);
    let pulled = dot(&x_bar, &x_dot) + dot(&v_bar, &v_dot) + dot(&c_bar, &c_dot);
    let identity = (pulled - dot(&lambda, &f_dot)).abs();
    let size = scale * dot(&lambda, &lambda).sqrt();
    assert!(identity <= 1e-11 * size.max(1.0), "{name}: {identity:e} of {size:e}");

    let [x_bar, c_bar] = probe.energy_gradient();
    let along = dot(&x_bar, &x_dot) + dot(&c_bar, &c_dot);
    let energy =
        |e: f64| vec![probe.energy(&moved(&probe.x, &x_dot, e), &moved(&probe.c, &c_dot, e))];
    let error = best_error(energy, &[along]);
    assert!(error <= 1e-7 * along.abs().max(1.0), "{name}: energy {error:e} of {along:e}");

    // Without damping and friction the force is the energy's.
    let mut elastic = probe.c.clone();
    elastic[11] = 0.0;
    elastic[12] = 0.0;
    let f = probe.evaluate(&probe.x, &probe.v, &elastic);
    let difference: f64 = f.iter().zip(&x_bar).map(|(a, b)| (a + b).abs()).sum();
    assert!(difference <= 1e-11 * (1.0 + dot(&f, &f).sqrt()), "{name}: {difference:e}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_shape_under_every_law(seed in any::<u64>()) {
        for shape in SHAPES {
            for law in CONTACT_LAWS {
                for slip in [Slip::Speed(0.3), Slip::Slope(20.0)] {
                    prove_force(shape, law, slip, seed);
                }
            }
        }
    }
}

#[test]
fn whole_steps_by_every_leaf() {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for law in CONTACT_LAWS {
            let seed = 40 + i as u64;
            let (x, v) = cloud(seed, 6);
            let slip = if i % 2 == 0 { Slip::Speed(0.3) } else { Slip::Slope(20.0) };
            prove(&System::new(&scene(shape, law, slip, &x, v)).unwrap(), 3, seed);
        }
    }
}

/// The jump term of laws that jump, for contacts that close on every shape: the adjoint is that of
/// the tangent, and the term is there.
#[test]
fn the_jump_term_has_its_adjoint() {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for law in ["warp", "warp-shape", "smooth"] {
            let (x, v) = cloud(7 + i as u64, 40);
            let v = v.iter().map(|v| 3.0 * v).collect();
            let mut model = scene(shape, law, Slip::Slope(20.0), &x, v)
                .with("option.gravity", &[0.0; 3])
                .and_then(|m| m.with("soft.p.radius", &[0.05]))
                .unwrap();
            model.options.timestep = 2e-3;
            let mut run = |saltation: bool| {
                model.options.saltation = saltation;
                let system = System::new(&model).unwrap();
                let theta = system.theta();
                let c = system.derive(&theta).unwrap();
                let observer = States { at: vec![60], dof: system.dof() };
                let inputs = costate_model::Inputs::default();
                let run = Run::new(&system, &c, &inputs);
                let onsets = run.contact_report(60).unwrap().geoms[0].onsets;
                assert!(onsets > 3, "{shape:?}: {onsets}");
                let theta_dot: Vec<f64> = (0..theta.len()).map(|i| noise(3, i)).collect();
                let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
                let seeds = Seeds { columns: 1, c: c_dot, ..Seeds::default() };
                let y_dot = run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot;
                let y_bar: Vec<f64> = (0..y_dot.len()).map(|i| noise(4, i)).collect();
                let mut loss = |y: &[f64]| (dot(y, &y_bar), y_bar.clone());
                let options = AdjointOptions::default();
                let gradient = run.gradient(&observer, &[], &options, &mut loss).unwrap();
                let pulled = dot(&system.derive_pullback(&theta, &c, &gradient.c), &theta_dot);
                let pushed = dot(&y_bar, &y_dot);
                let size = dot(&y_dot, &y_dot).sqrt() * dot(&y_bar, &y_bar).sqrt();
                assert!((pulled - pushed).abs() <= 1e-11 * size, "{shape:?} {law}");
                y_dot
            };
            let (with, without) = (run(true), run(false));
            let change: f64 = with.iter().zip(&without).map(|(a, b)| (a - b).abs()).sum();
            assert_eq!(change > 1e-3, law != "smooth", "{shape:?} {law}: {change}");
        }
    }
}
