//! Against MuJoCo's own numbers.

use costate_dynamics::rigid::constraint::impedance::{
    SolverParameters, reference_acceleration, regularisation,
};
use costate_dynamics::rigid::constraint::{Solver, SolverOptions, Zone};

use crate::snapshot::{Snapshot, numbers, snapshots};

fn close(what: &str, name: &str, found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    let scale = wanted.iter().fold(1e-9f64, |a, x| a.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(wanted).enumerate() {
        assert!((a - b).abs() <= tolerance * scale, "{name}: {what}[{i}] is {a:e}, not {b:e}");
    }
}

/// The numbers of a row that is not of a contact; of a contact's normal, the contact's.
fn parameters(s: &Snapshot, r: usize) -> SolverParameters<f64> {
    let id = s.json["id"][r].as_u64().unwrap() as usize;
    let (solref, solimp) = match s.json["type"][r].as_u64().unwrap() {
        0 => (&s.json["eq_solref"][id], &s.json["eq_solimp"][id]),
        1 => (&s.json["dof_solref"][id], &s.json["dof_solimp"][id]),
        3 => (&s.json["jnt_solref"][id], &s.json["jnt_solimp"][id]),
        _ => (&s.json["contact"][id]["solref"], &s.json["contact"][id]["solimp"]),
    };
    SolverParameters {
        solref: numbers(solref).try_into().unwrap(),
        solimp: numbers(solimp).try_into().unwrap(),
    }
}

#[test]
fn impedances_and_references_agree() {
    for s in snapshots() {
        let kinds = s.numbers("type");
        let (position, margin) = (s.numbers("pos"), s.numbers("margin"));
        let (velocity, diagonal) = (s.numbers("vel"), s.numbers("diagA"));
        let timestep = s.json["timestep"].as_f64().unwrap();
        let kbip = s.json["KBIP"].as_array().unwrap();
        let mut found: [Vec<f64>; 5] = Default::default();
        let mut wanted: [Vec<f64>; 5] = Default::default();
        let (r_all, aref) = (s.numbers("R"), s.numbers("aref"));
        for r in 0..kinds.len() {
            let kbi = numbers(&kbip[r]);
            // Connect and weld take the norm of their rows, and their aref has a velocity term.
            let body_equality =
                kinds[r] == 0.0 && (s.name.contains("weld") || s.name.contains("connect"));
            // Rows of an elliptic cone but its normal have no stiffness and their own R.
            let tangential = s.rows.cones.iter().any(|c| r > c.row && r < c.row + c.dim);
            if tangential {
                continue;
            }
            let p = parameters(&s, r);
            let distance = if body_equality {
                position.iter().map(|x| x * x).sum::<f64>().sqrt()
            } else {
                position[r] - margin[r]
            };
            let mut response = p.response(distance, 2.0 * timestep);
            if kinds[r] == 1.0 {
                response.stiffness = 0.0;
            }
            let values = [response.stiffness, response.damping, response.impedance];
            for k in 0..3 {
                found[k].push(values[k]);
                wanted[k].push(kbi[k]);
            }
            if kinds[r] < 6.0 {
                found[3].push(regularisation(response.impedance, diagonal[r]) / r_all[r]);
                wanted[3].push(1.0);
            }
            if !body_equality {
                let distance = position[r] - margin[r];
                found[4].push(reference_acceleration(response, velocity[r], distance));
                wanted[4].push(aref[r]);
            }
        }
        for (k, what) in ["K", "B", "impedance", "R", "aref"].into_iter().enumerate() {
            close(what, &s.name, &found[k], &wanted[k], 1e-12);
        }
    }
}

#[test]
fn forces_and_accelerations_agree() {
    let mut solver = Solver::default();
    for s in snapshots() {
        let smooth = s.numbers("qacc_smooth");
        let solved = solver.solve(s.problem(), &[&smooth], SolverOptions::default());
        assert!(solved.converged, "{}: {solved:?}", s.name);
        close("qacc", &s.name, &solver.acceleration, &s.numbers("qacc"), 1e-9);
        close("force", &s.name, &solver.force, &s.numbers("force"), 1e-9);
        let states: Vec<f64> = solver
            .zone
            .iter()
            .map(|zone| match zone {
                Zone::Satisfied => 0.0,
                Zone::Quadratic => 1.0,
                Zone::Bound(-1) => 3.0,
                Zone::Bound(_) => 2.0,
                Zone::Surface => 4.0,
                Zone::Relaxed => unreachable!("the recorded penalties are hard"),
            })
            .collect();
        assert_eq!(states, s.numbers("state"), "{}", s.name);
    }
}

#[test]
fn the_start_does_not_matter() {
    let mut solver = Solver::default();
    for s in snapshots() {
        let smooth = s.numbers("qacc_smooth");
        solver.solve(s.problem(), &[&smooth], SolverOptions::default());
        let cold = solver.acceleration.clone();
        let far: Vec<f64> = (0..smooth.len()).map(|i| 300.0 * (1.3 * i as f64).sin()).collect();
        let near: Vec<f64> = cold.iter().map(|a| a * (1.0 + 1e-6)).collect();
        for start in [&far, &near] {
            let only: &[&[f64]] = &[start];
            let both: &[&[f64]] = &[&smooth, start];
            for starts in [only, both] {
                let solved = solver.solve(s.problem(), starts, SolverOptions::default());
                assert!(solved.converged, "{}: {solved:?}", s.name);
                close("acceleration", &s.name, &solver.acceleration, &cold, 1e-11);
            }
        }
    }
}
