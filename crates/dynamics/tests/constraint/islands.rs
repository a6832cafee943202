//! Problems that nothing couples, side by side: each is solved as it is alone.

use costate_dynamics::rigid::constraint::{
    Cone, Problem, ProblemTangents, Rows, Solver, SolverOptions,
};

use crate::snapshot::{Inertia, Snapshot, snapshots};

/// Adds the rows of a problem whose first degree of freedom is `first`.
fn append(to: &mut Rows, from: &Rows, first: usize) {
    let before = to.len();
    for cone in &from.cones {
        to.cones.push(Cone { row: before + cone.row, ..*cone });
    }
    for r in 0..from.len() {
        let (dofs, values) = from.row(r);
        for (dof, value) in dofs.iter().zip(values) {
            to.entry(first + dof, *value);
        }
        to.push(from.law[r], from.reference[r], from.mass[r], from.loss[r]);
    }
}

/// Both problems as one, with one more degree of freedom that nothing holds behind each.
fn beside(a: &Snapshot, b: &Snapshot) -> (Inertia, Vec<f64>, Rows) {
    let (n, m) = (a.force.len(), b.force.len());
    let total = n + m + 2;
    let mut dense = vec![0.0; total * total];
    for (s, first) in [(a, 0), (b, n + 1)] {
        let view = s.inertia.view();
        for i in 0..view.len() {
            for at in view.rows[i].clone() {
                dense[(first + i) * total + first + view.columns[at]] = view.entries[at];
            }
        }
    }
    for loose in [n, total - 1] {
        dense[loose * total + loose] = 2.0;
    }
    let force = [&a.force[..], &[4.0], &b.force, &[-6.0]].concat();
    let mut rows = Rows::new();
    append(&mut rows, &a.rows, 0);
    append(&mut rows, &b.rows, n + 1);
    (Inertia::dense(&dense, total), force, rows)
}

#[test]
fn problems_side_by_side_are_solved_apart() {
    let all = snapshots();
    let options = SolverOptions::default();
    for pair in all.windows(2) {
        let (inertia, force, rows) = beside(&pair[0], &pair[1]);
        let problem = Problem { inertia: inertia.view(), force: &force, rows: &rows };
        let smooth = pair.iter().map(|s| s.numbers("qacc_smooth")).collect::<Vec<_>>();
        let start = [&smooth[0][..], &[2.0], &smooth[1], &[-3.0]].concat();
        let mut both = Solver::default();
        let name = format!("{} and {}", pair[0].name, pair[1].name);
        let solved = both.solve(problem, &[&start], options);
        assert!(solved.converged, "{name}: {solved:?}");
        let n = pair[0].force.len();
        assert_eq!((both.acceleration[n], both.acceleration[force.len() - 1]), (2.0, -3.0));
        let (mut dof, mut row) = (0, 0);
        for (s, smooth) in pair.iter().zip(&smooth) {
            let mut alone = Solver::default();
            alone.solve(s.problem(), &[smooth], options);
            let found = &both.acceleration[dof..dof + s.force.len()];
            let error = found
                .iter()
                .zip(&alone.acceleration)
                .fold(0.0f64, |most, (a, b)| most.max((a - b).abs() / (1.0 + b.abs())));
            assert!(error <= 1e-14, "{name}: {error:e}");
            for (a, b) in both.force[row..].iter().zip(&alone.force) {
                assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{name}: {a} {b}");
            }
            assert_eq!(both.zone[row..row + s.rows.len()], alone.zone[..], "{name}");
            dof += s.force.len() + 1;
            row += s.rows.len();
        }
        // Derivatives take the factors of all of it.
        let (mut by_both, mut at) = (both.acceleration.clone(), 0);
        let mut bar = ProblemTangents::zeros(problem);
        by_both.fill(1.0);
        assert!(both.pullback(problem, &by_both, &mut bar), "{name}");
        for (s, smooth) in pair.iter().zip(&smooth) {
            let mut alone = Solver::default();
            alone.solve(s.problem(), &[smooth], options);
            let mut own = ProblemTangents::zeros(s.problem());
            assert!(alone.pullback(s.problem(), &vec![1.0; s.force.len()], &mut own));
            for (a, b) in bar.force[at..].iter().zip(&own.force) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{name}: {a} {b}");
            }
            at += s.force.len() + 1;
        }
    }
}
