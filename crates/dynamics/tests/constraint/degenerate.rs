//! Rows that say too much, too little, or the same twice.

use costate_dynamics::rigid::constraint::{
    Cone, Law, Problem, ProblemTangents, Rows, Solver, SolverOptions,
};

use crate::snapshot::Inertia;

fn finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}

/// Solves, and asserts that the solution and its adjoints are finite.
fn solve(mass_matrix: &[f64], force: &[f64], rows: &Rows) -> Vec<f64> {
    let inertia = Inertia::dense(mass_matrix, force.len());
    let problem = Problem { inertia: inertia.view(), force, rows };
    let mut solver = Solver::default();
    let solved = solver.solve(problem, &[], SolverOptions::default());
    assert!(solved.converged, "{solved:?}");
    assert!(finite(&solver.acceleration) && finite(&solver.force));
    let mut bar = ProblemTangents::zeros(problem);
    assert!(solver.pullback(problem, &vec![1.0; force.len()], &mut bar));
    assert!(finite(&bar.inertia) && finite(&bar.force) && finite(&bar.jacobian));
    assert!(finite(&bar.reference) && finite(&bar.law.mass) && finite(&bar.law.loss));
    assert!(finite(&bar.law.mu) && bar.law.friction.iter().all(|f| finite(f)));
    solver.acceleration
}

#[test]
fn nothing_moves() {
    assert!(solve(&[], &[], &Rows::new()).is_empty());
}

#[test]
fn no_rows() {
    assert!((solve(&[2.0], &[6.0], &Rows::new())[0] - 3.0).abs() < 1e-15 * 3.0);
}

#[test]
fn the_same_equality_many_times() {
    let mut rows = Rows::new();
    for _ in 0..5 {
        rows.entry(0, 1.0);
        rows.entry(1, -1.0);
        rows.push(Law::Equality, 4.0, 1e9, 0.0);
    }
    let a = solve(&[1.0, 0.0, 0.0, 3.0], &[1.0, 1.0], &rows);
    // The relative acceleration is met, and the sum of forces is unchanged.
    assert!((a[0] - a[1] - 4.0).abs() < 1e-8);
    assert!((a[0] + 3.0 * a[1] - 2.0).abs() < 1e-6);
}

#[test]
fn rows_as_stiff_as_rows_can_be() {
    for mass in [1e12, 1e15] {
        let mut rows = Rows::new();
        rows.entry(0, 1.0);
        rows.entry(1, 1.0);
        rows.push(Law::Equality, 0.0, mass, 0.0);
        rows.entry(1, 1.0);
        rows.push(Law::Unilateral, 2.0, mass, 0.0);
        let a = solve(&[1.0, 0.2, 0.2, 3.0], &[1.0, -5.0], &rows);
        assert!((a[1] - 2.0).abs() < 1e-6 && (a[0] + 2.0).abs() < 1e-6, "{a:?}");
    }
}

#[test]
fn an_empty_row() {
    let mut rows = Rows::new();
    rows.push(Law::Equality, 1.0, 10.0, 0.0);
    assert!((solve(&[2.0], &[6.0], &rows)[0] - 3.0).abs() < 1e-15 * 3.0);
}

#[test]
fn a_cone_at_its_apex_and_on_its_axis() {
    for (force, reference) in [([0.0; 3], [0.0; 3]), ([-4.0, 0.0, 0.0], [0.0; 3])] {
        let mut rows = Rows::new();
        rows.cones.push(Cone { row: 0, dim: 3, mu: 0.5, friction: [0.5; 5] });
        for r in 0..3 {
            for dof in 0..3 {
                rows.entry(dof, if r == dof { 1.0 } else { 0.0 });
            }
            rows.push(Law::Elliptic, reference[r], 10.0, 0.0);
        }
        let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let a = solve(&unit, &force, &rows);
        assert!((a[0] - force[0] / 11.0).abs() < 1e-12 && a[1] == 0.0 && a[2] == 0.0);
    }
}

#[test]
fn a_row_exactly_on_its_bound() {
    // A limit that is met with no force, dry friction that is just held, and a loss of zero.
    let mut rows = Rows::new();
    rows.entry(0, 1.0);
    rows.push(Law::Unilateral, 3.0, 10.0, 0.0);
    rows.entry(1, 1.0);
    rows.push(Law::Friction, 1.0, 2.0, 2.0);
    rows.entry(2, 1.0);
    rows.push(Law::Friction, 0.0, 5.0, 0.0);
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let a = solve(&unit, &[3.0, 0.0, 7.0], &rows);
    assert!((a[0] - 3.0).abs() < 1e-12 && (a[2] - 7.0).abs() < 1e-12);
}

#[test]
fn numbers_that_are_none_are_reported() {
    let mut rows = Rows::new();
    rows.entry(0, f64::NAN);
    rows.push(Law::Equality, 0.0, 1.0, 0.0);
    let inertia = Inertia::dense(&[1.0], 1);
    let problem = Problem { inertia: inertia.view(), force: &[1.0], rows: &rows };
    let solved = Solver::default().solve(problem, &[], SolverOptions::default());
    assert!(!solved.converged);
}

#[test]
fn what_lies_on_one_piece_takes_one_step() {
    // An equality and dry friction far from its bound: quadratic all over.
    let mut rows = Rows::new();
    rows.entry(0, 1.0);
    rows.entry(1, -2.0);
    rows.push(Law::Equality, 3.0, 10.0, 0.0);
    rows.entry(1, 1.0);
    rows.push(Law::Friction, 0.5, 2.0, 1e9);
    let inertia = Inertia::dense(&[2.0, 0.3, 0.3, 1.0], 2);
    let problem = Problem { inertia: inertia.view(), force: &[1.0, -4.0], rows: &rows };
    let mut solver = Solver::default();
    let solved = solver.solve(problem, &[&[7.0, 8.0]], SolverOptions::default());
    assert!(solved.converged && solved.iterations == 1, "{solved:?}");
    // From the solution it takes none.
    let found = solver.acceleration.clone();
    let again = solver.solve(problem, &[&found], SolverOptions::default());
    assert!(again.converged && again.iterations == 0, "{again:?}");
    // The adjoint of the first solve takes the factors that are there, that of the second makes them.
    let mut bars = [ProblemTangents::zeros(problem), ProblemTangents::zeros(problem)];
    assert!(solver.pullback(problem, &[1.0, 2.0], &mut bars[0]));
    solver.solve(problem, &[&[7.0, 8.0]], SolverOptions::default());
    assert!(solver.pullback(problem, &[1.0, 2.0], &mut bars[1]));
    for (a, b) in bars[0].force.iter().zip(&bars[1].force) {
        assert!((a - b).abs() <= 1e-14 * b.abs(), "{a} {b}");
    }
}
