//! Steps and gradients with contacts.

use costate_dynamics::rigid::collision::unsupported;
use costate_dynamics::rigid::{Integrator, Mechanism, RigidState};

use crate::reference::{Reference, all, compare, integrator, numbers};

/// The recordings with contacts, all of which are simulated.
fn touching() -> Vec<Reference> {
    let mut all = all();
    all.retain(|r| {
        let contacts = numbers(&r.value["trajectory"]["ncon"]);
        contacts.iter().any(|n| *n > 0.0) && unsupported(&r.tree).is_empty()
    });
    all
}

#[test]
fn next_states_are_the_recorded_ones() {
    let mut failures = Vec::new();
    for r in touching() {
        let state = RigidState {
            qpos: r.snapshot("qpos"),
            qvel: r.snapshot("qvel"),
            act: r.snapshot("act"),
        };
        let ctrl = r.snapshot("ctrl");
        let next = r.value["snapshot"]["next"].as_object().unwrap();
        for (name, expected) in next {
            if expected["error"].is_string() {
                continue;
            }
            let mut tree = r.tree.clone();
            tree.options.implicit_damping = name != "Euler_no_eulerdamp";
            tree.options.integrator = integrator(name.trim_end_matches("_no_eulerdamp"));
            if tree.options.integrator == Integrator::Discrete {
                continue;
            }
            let m = Mechanism::new(tree);
            let mut ws = m.workspace();
            let mut found = RigidState::default();
            if let Err(e) = m.step(&r.c, state.with(&ctrl), &[], &mut found, &mut ws) {
                failures.push(format!("{} {name}: {e}", r.name));
                continue;
            }
            for (what, got) in [("qpos", &found.qpos), ("qvel", &found.qvel)] {
                let expected = numbers(&expected[what]);
                let size = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                let error =
                    got.iter().zip(&expected).fold(0.0f64, |m, (g, e)| m.max((g - e).abs() / size));
                if error > 1e-9 {
                    failures.push(format!("{} {name} {what}: {error:e}", r.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// MuJoCo's own runs, started warm and cold, differ by up to 2e-12 here.
#[test]
fn trajectories_with_contacts_are_the_recorded_ones() {
    for r in touching() {
        let recorded = &r.value["trajectory"];
        let steps = numbers(&recorded["step"]);
        let part = |name: &str| -> Vec<Vec<f64>> {
            recorded[name].as_array().into_iter().flatten().map(numbers).collect()
        };
        let (qpos, qvel) = (part("qpos"), part("qvel"));
        let m = Mechanism::new(r.tree.clone());
        let mut ws = m.workspace();
        let init = &r.value["init"];
        let mut state = RigidState {
            qpos: numbers(&init["qpos"]),
            qvel: numbers(&init["qvel"]),
            act: numbers(&init["act"]),
        };
        let mut next = RigidState::default();
        let last = steps.last().map_or(0, |s| *s as usize);
        let mut warm = Vec::new();
        for k in 0..=last {
            if let Some(i) = steps.iter().position(|s| *s as usize == k) {
                compare(&format!("{} qpos at {k}", r.name), &state.qpos, &qpos[i], 1e-10);
                compare(&format!("{} qvel at {k}", r.name), &state.qvel, &qvel[i], 1e-9);
            }
            let ctrl = r.control(k as f64 * r.tree.options.timestep);
            m.step(&r.c, state.with(&ctrl), &warm, &mut next, &mut ws)
                .unwrap_or_else(|e| panic!("{} step {k}: {e}", r.name));
            warm.clone_from(&ws.evaluation.qacc);
            std::mem::swap(&mut state, &mut next);
        }
    }
}
