//! The derivative of the solve: tangents against differences, adjoints against tangents.

use costate_dynamics::rigid::constraint::{Problem, ProblemTangents, Rows, Solver, SolverOptions};

use crate::snapshot::{Snapshot, snapshots};

fn wave(seed: usize, i: usize) -> f64 {
    (1.7 * i as f64 + 0.9 * seed as f64 + 0.3).sin()
}

/// A direction in which everything moves: relative to each number's size.
fn direction(s: &Snapshot, seed: usize) -> ProblemTangents {
    let n = s.force.len();
    let mut dot = ProblemTangents::zeros(s.problem());
    for i in 0..n {
        dot.force[i] = wave(seed, i);
    }
    for (k, value) in s.inertia.entries.iter().enumerate() {
        dot.inertia[k] = 0.2 * wave(seed + 1, 7 * k) * value;
    }
    for r in 0..s.rows.len() {
        let range = s.rows.entries(r);
        for (k, value) in range.clone().zip(s.rows.row(r).1) {
            dot.jacobian[k] = 0.1 * wave(seed + 2, k) * (value + 0.05);
        }
        dot.reference[r] = wave(seed + 3, r);
        dot.law.mass[r] = 0.3 * wave(seed + 4, r) * s.rows.mass[r];
        dot.law.loss[r] = 0.3 * wave(seed + 5, r) * s.rows.loss[r];
    }
    for (c, cone) in s.rows.cones.iter().enumerate() {
        dot.law.mu[c] = 0.2 * wave(seed + 6, c) * cone.mu;
        for k in 0..5 {
            dot.law.friction[c][k] = 0.2 * wave(seed + 7, 5 * c + k) * cone.friction[k];
        }
    }
    dot
}

/// The solution at a distance `width` along the direction.
fn moved(s: &Snapshot, dot: &ProblemTangents, width: f64) -> Vec<f64> {
    let add = |values: &[f64], by: &[f64]| -> Vec<f64> {
        values.iter().zip(by).map(|(a, b)| a + width * b).collect()
    };
    let mut rows: Rows = s.rows.clone();
    for r in 0..rows.len() {
        let range = rows.entries(r);
        for (value, by) in rows.row_mut(r).iter_mut().zip(&dot.jacobian[range]) {
            *value += width * by;
        }
    }
    rows.reference = add(&s.rows.reference, &dot.reference);
    rows.mass = add(&s.rows.mass, &dot.law.mass);
    rows.loss = add(&s.rows.loss, &dot.law.loss);
    for (c, cone) in rows.cones.iter_mut().enumerate() {
        cone.mu += width * dot.law.mu[c];
        for k in 0..5 {
            cone.friction[k] += width * dot.law.friction[c][k];
        }
    }
    let mut inertia = s.inertia.clone();
    inertia.entries = add(&s.inertia.entries, &dot.inertia);
    let force = add(&s.force, &dot.force);
    let problem = Problem { inertia: inertia.view(), force: &force, rows: &rows };
    let mut solver = Solver::default();
    let solved = solver.solve(problem, &[&s.numbers("qacc_smooth")], SolverOptions::default());
    assert!(solved.converged, "{}: {solved:?}", s.name);
    solver.acceleration
}

fn solved(s: &Snapshot) -> Solver {
    let mut solver = Solver::default();
    solver.solve(s.problem(), &[&s.numbers("qacc_smooth")], SolverOptions::default());
    solver
}

#[test]
fn tangents_agree_with_differences() {
    for s in snapshots() {
        let mut solver = solved(&s);
        for seed in 0..2 {
            let dot = direction(&s, 10 * seed);
            let mut a_dot = vec![0.0; s.force.len()];
            let mut f_dot = vec![0.0; s.rows.len()];
            assert!(solver.pushforward(s.problem(), &dot, &mut a_dot, &mut f_dot));
            let scale = a_dot.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            let mut best = f64::INFINITY;
            let mut wider: Option<Vec<f64>> = None;
            for width in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
                let (up, down) = (moved(&s, &dot, width), moved(&s, &dot, -width));
                let central: Vec<f64> =
                    up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * width)).collect();
                let error = |difference: &[f64]| {
                    let errors = difference.iter().zip(&a_dot).map(|(a, b)| (a - b).abs());
                    errors.fold(0.0f64, f64::max) / scale
                };
                best = best.min(error(&central));
                if let Some(wider) = &wider {
                    let extrapolated: Vec<f64> =
                        central.iter().zip(wider).map(|(a, b)| (100.0 * a - b) / 99.0).collect();
                    best = best.min(error(&extrapolated));
                }
                wider = Some(central);
            }
            assert!(best <= 1e-7, "{}: {best:e}", s.name);
        }
    }
}

#[test]
fn adjoints_agree_with_tangents() {
    for s in snapshots() {
        let mut solver = solved(&s);
        let n = s.force.len();
        for seed in 0..3 {
            let dot = direction(&s, 10 * seed);
            let mut a_dot = vec![0.0; n];
            let mut f_dot = vec![0.0; s.rows.len()];
            assert!(solver.pushforward(s.problem(), &dot, &mut a_dot, &mut f_dot));
            let a_bar: Vec<f64> = (0..n).map(|i| wave(seed + 50, i)).collect();
            let mut bar = ProblemTangents::zeros(s.problem());
            assert!(solver.pullback(s.problem(), &a_bar, &mut bar));
            let (mut left, mut size) = (0.0, 0.0);
            for (a, b) in a_bar.iter().zip(&a_dot) {
                left += a * b;
                size += (a * b).abs();
            }
            let mut right = 0.0;
            let mut add = |bar: &[f64], dot: &[f64]| {
                for (a, b) in bar.iter().zip(dot) {
                    right += a * b;
                    size += (a * b).abs();
                }
            };
            add(&bar.inertia, &dot.inertia);
            add(&bar.force, &dot.force);
            add(&bar.jacobian, &dot.jacobian);
            add(&bar.reference, &dot.reference);
            add(&bar.law.mass, &dot.law.mass);
            add(&bar.law.loss, &dot.law.loss);
            add(&bar.law.mu, &dot.law.mu);
            add(bar.law.friction.as_flattened(), dot.law.friction.as_flattened());
            assert!((left - right).abs() <= 1e-11 * size, "{}: {left:e} {right:e}", s.name);
        }
    }
}
