//! The constrained acceleration and its derivatives.

use costate_dynamics::rigid::collision::unsupported;
use costate_dynamics::rigid::constraint::{ConstraintStage, Constraints, RowInputs, SolverOptions};
use costate_dynamics::rigid::{Adjoint, At, Dynamics};
use costate_num::{Dual, DualN, Scalar};

use crate::reference::{Reference, all, compare, integers, numbers};
use crate::tangent::{moved, wave, waves};

/// One evaluation at the state of the snapshot.
struct Evaluation {
    dynamics: Dynamics<f64>,
    stage: ConstraintStage,
    qpos: Vec<f64>,
    qvel: Vec<f64>,
}

fn evaluate(r: &Reference) -> Evaluation {
    let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
    let (act, ctrl) = (r.snapshot("act"), r.snapshot("ctrl"));
    let mut dynamics = Dynamics::new(&r.tree);
    let at = At { qpos: &qpos, qvel: &qvel, act: &act, ctrl: &ctrl, applied: &[] };
    assert_eq!(dynamics.evaluate(&r.tree, &r.layout, &r.c, at), None);
    let mut stage = ConstraintStage::default();
    let starts: &[&[f64]] = &[&dynamics.qacc_smooth];
    let solved = stage.solve(
        inputs(r, &dynamics, &qpos, &qvel),
        dynamics.mass.symmetric_rows(&r.tree),
        &dynamics.qfrc_smooth,
        starts,
        SolverOptions::default(),
    );
    assert!(solved.converged, "{}: {solved:?}", r.name);
    Evaluation { dynamics, stage, qpos, qvel }
}

fn inputs<'a>(
    r: &'a Reference,
    dynamics: &'a Dynamics<f64>,
    qpos: &'a [f64],
    qvel: &'a [f64],
) -> RowInputs<'a, f64> {
    RowInputs { tree: &r.tree, layout: &r.layout, c: &r.c, dynamics, qpos, qvel }
}

/// Those with constraints at the snapshot, all contacts of which are simulated.
fn constrained() -> Vec<Reference> {
    let mut all = all();
    all.retain(|r| r.rows() > 0 && unsupported(&r.tree).is_empty());
    all
}

#[test]
fn constrained_accelerations_are_the_recorded_ones() {
    for r in constrained() {
        let e = evaluate(&r);
        compare(&r.name, &e.stage.solver.acceleration, &r.snapshot("qacc"), 1e-9);
        let mut force = vec![0.0; r.tree.nv];
        for (k, f) in e.stage.solver.force.iter().enumerate() {
            e.stage.constraints.rows.add_transposed(k, *f, &mut force);
        }
        compare(&r.name, &force, &r.snapshot("qfrc_constraint"), 1e-9);
    }
}

/// Tangent of the acceleration along those of configuration, velocity and constants; also that of
/// τ − M a at fixed a.
fn push(
    r: &Reference,
    e: &mut Evaluation,
    q: &[Dual<f64>],
    v: &[Dual<f64>],
    c: &[Dual<f64>],
) -> (Vec<f64>, Vec<f64>) {
    let splat = |x: &[f64]| x.iter().map(|x| Dual::splat(*x)).collect::<Vec<Dual<f64>>>();
    let (act, ctrl) = (splat(&r.snapshot("act")), splat(&r.snapshot("ctrl")));
    let a = splat(&e.stage.solver.acceleration);
    let at = At { qpos: q, qvel: v, act: &act, ctrl: &ctrl, applied: &[] };
    let mut dynamics = Dynamics::<DualN<f64, 1>>::new(&r.tree);
    // J̇ v needs the accelerations at zero joint acceleration, the residual those at a.
    assert_eq!(dynamics.evaluate(&r.tree, &r.layout, c, at), None);
    let mut rows = Constraints::<Dual<f64>>::default();
    let (tree, layout) = (&r.tree, &r.layout);
    rows.update(RowInputs { tree, layout, c, dynamics: &dynamics, qpos: q, qvel: v });
    let mut inertial = vec![Dual::splat(0.0); tree.nv];
    dynamics.mass.multiply(tree, &a, &mut inertial);
    let force_dot: Vec<f64> =
        (0..tree.nv).map(|i| (dynamics.qfrc_smooth[i] - inertial[i]).tangent[0]).collect();
    let mut a_dot = vec![0.0; tree.nv];
    let force = &e.dynamics.qfrc_smooth;
    let inertia = e.dynamics.mass.symmetric_rows(&r.tree);
    assert!(e.stage.pushforward(inertia, force, &rows.rows, &force_dot, &mut a_dot));
    (a_dot, force_dot)
}

fn constants(values: &[f64]) -> Vec<Dual<f64>> {
    values.iter().map(|x| Dual::constant(*x)).collect()
}

#[test]
fn tangents_agree_with_recorded_derivatives() {
    let mut checked = 0;
    for r in constrained() {
        let all = &r.value["qacc_derivatives"];
        if all.is_null() {
            continue;
        }
        let mut e = evaluate(&r);
        let (q, v, c) = (constants(&e.qpos), constants(&e.qvel), constants(&r.c));
        let mut check = |what: &str, got: &[f64], wanted: &[f64], error: f64| {
            let size = wanted.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (a, b) in got.iter().zip(wanted) {
                let allowed = (10.0 * error).max(1e-6 * size).max(1e-9);
                assert!((a - b).abs() <= allowed, "{} {what}: {a} for {b} ± {error}", r.name);
            }
            checked += 1;
        };
        for (name, block) in r.layout.blocks() {
            let frozen = &all[format!("{name}__frozen")];
            let entry = if frozen.is_null() { &all[name] } else { frozen };
            // The file moves principal moments; and of connect and weld what follows from eq_data too.
            let derived = name == "eq_data" && !r.name.contains("joint");
            if entry.is_null() || name == "body_inertia" || derived {
                continue;
            }
            let errors = numbers(&entry["err"]);
            for (i, index) in entry["index"].as_array().unwrap().iter().enumerate() {
                let index = integers(index);
                let offset = index.get(1).map_or(0, |x| *x as usize);
                // MuJoCo does not look at a frame that was the body's when it was compiled.
                let entry_now = &r.c[block.entry(index[0] as usize)];
                if ["body_ipos", "geom_pos"].contains(&name) && entry_now == [0.0; 3] {
                    continue;
                }
                let mut c = c.clone();
                c[block.at(index[0] as usize) + offset].tangent[0] = 1.0;
                let (a_dot, _) = push(&r, &mut e, &q, &v, &c);
                check(name, &a_dot, &numbers(&entry["dqacc"][i]), errors[i]);
            }
        }
        for dof in 0..r.tree.nv {
            let state = &all["state"];
            let error = |key: &str| state[key]["err"][dof].as_f64().unwrap();
            let mut unit = vec![0.0; r.tree.nv];
            unit[dof] = 1.0;
            let turned = moved(&r.tree, &e.qpos, &unit);
            let (a_dot, _) = push(&r, &mut e, &turned, &v, &c);
            let wanted = numbers(&state["qpos_tangent"]["dqacc"][dof]);
            check("qpos", &a_dot, &wanted, error("qpos_tangent"));
            let mut v = v.clone();
            v[dof].tangent[0] = 1.0;
            let (a_dot, _) = push(&r, &mut e, &q, &v, &c);
            check("qvel", &a_dot, &numbers(&state["qvel"]["dqacc"][dof]), error("qvel"));
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn adjoints_agree_with_tangents() {
    for r in constrained() {
        // What the exact diagonal is a function of enters the evaluation, not the stage alone.
        if r.tree.options.exact_diagonal {
            continue;
        }
        let mut e = evaluate(&r);
        let nv = r.tree.nv;
        for seed in 0..3 {
            let a_bar = waves(seed + 20, nv);
            let q_dot = waves(seed + 21, nv);
            let v_dot = waves(seed + 22, nv);
            let mut c_dot: Vec<f64> =
                (0..r.layout.len).map(|i| wave(seed + 23, i) * (r.c[i].abs() + 0.01)).collect();
            // Unit vectors and quaternions have proofs of their own.
            let layout = &r.layout;
            for block in [layout.jnt_axis, layout.body_quat, layout.site_quat, layout.geom_quat] {
                c_dot[block.range()].fill(0.0);
            }
            let dual = |x: &[f64], dot: &[f64]| -> Vec<Dual<f64>> {
                x.iter().zip(dot).map(|(x, d)| Dual::new(*x, *d)).collect()
            };
            let q = moved(&r.tree, &e.qpos, &q_dot);
            let (v, c) = (dual(&e.qvel, &v_dot), dual(&r.c, &c_dot));
            let (a_dot, force_dot) = push(&r, &mut e, &q, &v, &c);
            let force = e.dynamics.qfrc_smooth.clone();
            let inertia = e.dynamics.mass.symmetric_rows(&r.tree);
            let lambda = e.stage.multipliers(inertia, &force, &a_bar, &[]).unwrap().to_vec();
            let mut bar = Adjoint::zeros(&r.tree, &r.layout);
            e.stage.pullback(inputs(&r, &e.dynamics, &e.qpos, &e.qvel), &[], &[], &mut bar);
            let (mut right, mut size) = (0.0, 0.0);
            for (bar, dot) in
                [(&lambda, &force_dot), (&bar.q, &q_dot), (&bar.v, &v_dot), (&bar.c, &c_dot)]
            {
                for (a, b) in bar.iter().zip(dot) {
                    right += a * b;
                    size += (a * b).abs();
                }
            }
            let left: f64 = a_bar.iter().zip(&a_dot).map(|(a, b)| a * b).sum();
            let error = (left - right).abs() / size;
            assert!(error <= 1e-11, "{}: {left} {right}, {error:e}", r.name);
        }
    }
}
