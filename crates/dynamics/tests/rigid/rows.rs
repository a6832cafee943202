//! Constraint rows of a state, against MuJoCo's.

use costate_dynamics::rigid::constraint::{Constraints, RowInputs};
use costate_dynamics::rigid::{At, Dynamics};

use crate::reference::{Reference, all, compare, numbers};

/// Dynamics and rows at the state of the snapshot.
fn at_snapshot(r: &Reference) -> (Dynamics<f64>, Constraints) {
    let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
    let (act, ctrl) = (r.snapshot("act"), r.snapshot("ctrl"));
    let mut dynamics = Dynamics::new(&r.tree);
    let at = At { qpos: &qpos, qvel: &qvel, act: &act, ctrl: &ctrl };
    assert_eq!(dynamics.evaluate(&r.tree, &r.layout, &r.c, at), None);
    let mut constraints = Constraints::default();
    constraints.update(RowInputs {
        tree: &r.tree,
        layout: &r.layout,
        c: &r.c,
        dynamics: &dynamics,
        qpos: &qpos,
        qvel: &qvel,
    });
    (dynamics, constraints)
}

#[test]
fn rows_agree() {
    let mut count = 0;
    for r in all() {
        if r.rows() == 0 {
            continue;
        }
        let efc = &r.value["snapshot"]["efc"];
        // Rows of contacts come last.
        let kinds = numbers(&efc["type"]);
        let m = kinds.iter().filter(|&&kind| kind < 5.0).count();
        let (_, found) = at_snapshot(&r);
        assert!(found.rows.len() >= m, "{}: {} rows of {m}", r.name, found.rows.len());
        let n = r.tree.nv;
        let mut dense = vec![0.0; m * n];
        for k in 0..m {
            let (dofs, values) = found.rows.row(k);
            for (dof, value) in dofs.iter().zip(values) {
                dense[k * n + dof] += value;
            }
        }
        let name = &r.name;
        compare(&format!("{name} J"), &dense, &numbers(&efc["J"])[..m * n], 1e-12);
        for (what, got, key) in
            [("aref", &found.rows.reference, "aref"), ("D", &found.rows.mass, "D")]
        {
            compare(&format!("{name} {what}"), &got[..m], &numbers(&efc[key])[..m], 1e-12);
        }
        let loss = numbers(&efc["frictionloss"]);
        compare(&format!("{name} loss"), &found.rows.loss[..m], &loss[..m], 1e-15);
        count += m;
    }
    assert!(count > 20, "{count} rows");
}
