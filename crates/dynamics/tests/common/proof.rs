//! The proofs that every derivative of a system must pass.

use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_model::Inputs;

use crate::common::States;

/// A number between −1 and 1 that depends on nothing but `i` and `seed`.
pub fn noise(seed: u64, i: usize) -> f64 {
    let mut z = seed.wrapping_add((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Proves the derivatives of the whole state after `steps` steps by every leaf, in a random
/// direction of each: pushforward against central differences (best of a sweep of widths, to 1e-7)
/// and pullback against pushforward (to 1e-11), relative to the size of the derivative.
///
/// # Panics
/// Where one fails, with the leaf's name.
pub fn prove(system: &System, steps: usize, seed: u64) {
    let theta = system.theta();
    let observer = States { at: vec![steps], dof: system.dof() };
    let inputs = Inputs::default();
    let observe = |theta: &[f64]| {
        let c = system.derive(theta).ok()?;
        Some(Run::new(system, &c, &inputs).observe(&observer, &[]).unwrap())
    };
    let c = system.derive(&theta).unwrap();
    let run = Run::new(system, &c, &inputs);
    let y = run.observe(&observer, &[]).unwrap();
    assert!(y.iter().all(|y| y.is_finite()));
    let y_bar: Vec<f64> = (0..y.len()).map(|i| noise(seed, i)).collect();
    let mut loss = |y: &[f64]| (dot(y, &y_bar), y_bar.clone());
    let gradient = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
    let theta_bar = system.derive_pullback(&theta, &c, &gradient.c);
    assert!(theta_bar.iter().all(|g| g.is_finite()));

    for (id, leaf) in system.model().leaves.iter() {
        let range = system.model().leaves.range(id);
        let size = leaf.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let size = if size > 0.0 { size } else { 0.1 };
        let mut theta_dot = vec![0.0; theta.len()];
        for i in range {
            theta_dot[i] = size * noise(seed ^ 0x5A5A, i);
        }
        let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
        let seeds = Seeds { columns: 1, c: c_dot, ..Seeds::default() };
        let y_dot = run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot;
        let along = dot(&theta_bar, &theta_dot);
        let scale = norm(&y_dot);
        let identity = (dot(&y_bar, &y_dot) - along).abs();
        let path = &leaf.path;
        // Below this a derivative is zero but for rounding, as that of a sphere by its orientation.
        let nothing = f64::EPSILON * norm(&y) * norm(&y_bar);
        let allowed = (1e-11 * scale * norm(&y_bar)).max(nothing);
        assert!(identity <= allowed, "{path}: identity {identity:e}");

        // A value on its bound cannot move to both sides.
        if leaf.values.iter().any(|&v| v == leaf.bounds.lower || v == leaf.bounds.upper) {
            continue;
        }
        let mut best = f64::INFINITY;
        for exponent in [-3.0, -4.0, -5.0, -6.0] {
            let eps = 10f64.powf(exponent);
            let at = |sign: f64| {
                let moved: Vec<f64> =
                    theta.iter().zip(&theta_dot).map(|(a, b)| a + sign * eps * b).collect();
                observe(&moved)
            };
            // Out of a leaf's bounds there is nothing to compare with.
            let (Some(up), Some(down)) = (at(1.0), at(-1.0)) else { continue };
            let error: Vec<f64> =
                (0..y.len()).map(|i| (up[i] - down[i]) / (2.0 * eps) - y_dot[i]).collect();
            // What rounding alone leaves in the difference.
            let rounding = 4.0 * f64::EPSILON * norm(&y) / eps;
            best = best.min((norm(&error) - rounding).max(0.0));
        }
        assert!(best <= 1e-7 * scale, "{path}: difference {:e} of {scale:e}", best);
    }
}
