//! Steps of every integrator, and whole trajectories.

use costate_dynamics::rigid::{Mechanism, RigidState};

use crate::reference::{Reference, compare, integrator, numbers, simulated, without_contacts};

const INTEGRATORS: [&str; 6] =
    ["Euler", "RK4", "implicit", "implicitfast", "discrete", "Euler_no_eulerdamp"];

fn mechanism(r: &Reference, name: &str) -> Mechanism {
    let mut tree = r.tree.clone();
    let euler = name.starts_with("Euler");
    tree.options.integrator = integrator(if euler { "Euler" } else { name });
    tree.options.implicit_damping = name == "Euler";
    Mechanism::new(tree)
}

#[test]
fn the_next_state_of_every_integrator_is_the_recorded_one() {
    let mut failures = Vec::new();
    // What touches is compared under the discrete integrator here, under others elsewhere.
    for r in simulated() {
        let touching = r.value["snapshot"]["contact"].as_array().is_some_and(|c| !c.is_empty());
        let state = RigidState {
            qpos: r.snapshot("qpos"),
            qvel: r.snapshot("qvel"),
            act: r.snapshot("act"),
        };
        let ctrl = r.snapshot("ctrl");
        for name in INTEGRATORS {
            let recorded = &r.value["snapshot"]["next"][name];
            let absent = !recorded["error"].is_null() || recorded.is_null();
            if absent || touching && name != "discrete" || r.tree.options.exact_diagonal {
                continue;
            }
            let m = mechanism(&r, name);
            let mut ws = m.workspace();
            let mut next = RigidState::default();
            let stepped = m.step(&r.c, state.with(&ctrl), &[], &mut next, &mut ws);
            if let Err(error) = stepped {
                failures.push(format!("{} {name}: {error}", r.name));
                continue;
            }
            let tolerance = if r.rows() == 0 { 1e-12 } else { 1e-9 };
            for (what, got) in [("qpos", &next.qpos), ("qvel", &next.qvel), ("act", &next.act)] {
                let expected = numbers(&recorded[what]);
                if recorded[what].is_null() {
                    continue;
                }
                let size = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                let error =
                    got.iter().zip(&expected).fold(0.0f64, |m, (g, e)| m.max((g - e).abs() / size));
                let within = error <= tolerance;
                if !within || got.len() != expected.len() {
                    failures.push(format!("{} {name} {what}: {error:e}", r.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn trajectories_are_the_recorded_ones() {
    for r in without_contacts() {
        let recorded = &r.value["trajectory"];
        let steps = numbers(&recorded["step"]);
        let part = |name: &str| -> Vec<Vec<f64>> {
            recorded[name].as_array().into_iter().flatten().map(numbers).collect()
        };
        let (qpos, qvel, act) = (part("qpos"), part("qvel"), part("act"));
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
                let name = format!("{} step {k}", r.name);
                compare(&format!("{name} qpos"), &state.qpos, &qpos[i], 1e-9);
                compare(&format!("{name} qvel"), &state.qvel, &qvel[i], 1e-8);
                if let Some(act) = act.get(i) {
                    compare(&format!("{name} act"), &state.act, act, 1e-9);
                }
            }
            let ctrl = r.control(k as f64 * r.tree.options.timestep);
            let stepped = m.step(&r.c, state.with(&ctrl), &warm, &mut next, &mut ws);
            stepped.unwrap_or_else(|e| panic!("{} step {k}: {e}", r.name));
            warm.clone_from(&ws.evaluation.qacc);
            std::mem::swap(&mut state, &mut next);
        }
    }
}
