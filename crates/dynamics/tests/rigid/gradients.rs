//! Gradients of whole trajectories against recorded extrapolated differences of MuJoCo, constants that
//! follow from others held.

use std::sync::OnceLock;

use costate_dynamics::rigid::{
    Adjoint, At, Derivation, Evaluation, EvaluationAdjoint, Integrator, JointKind, Layout,
    Mechanism, RigidState, StepRecords, Wanted, lower_adjoint,
};
use costate_num::{Mat3, Quat, Vec3};
use serde_json::Value;

use crate::compile::model;
use crate::reference::{Reference, numbers, simulated};

/// The recorded loss at one state: its value and adjoints by coordinates and velocities.
fn loss(state: &RigidState, steps: usize) -> (f64, Vec<f64>, Vec<f64>) {
    let n = 1.0 / steps as f64;
    let weight_q = |i: usize| n * (1.0 + 0.1 * i as f64);
    let weight_v = |j: usize| n * 0.1 * (1.0 + 0.1 * j as f64);
    let (mut value, mut by_q, mut by_v) = (0.0, Vec::new(), Vec::new());
    for (i, q) in state.qpos.iter().enumerate() {
        value += 0.5 * weight_q(i) * q * q;
        by_q.push(weight_q(i) * q);
    }
    for (j, v) in state.qvel.iter().enumerate() {
        value += 0.5 * weight_v(j) * v * v;
        by_v.push(weight_v(j) * v);
    }
    (value, by_q, by_v)
}

/// The gradient of the recorded loss, and the adjoint of the controls at each step.
struct Gradient {
    loss: f64,
    bar: Adjoint,
    ctrl: Vec<Vec<f64>>,
}

fn gradient(r: &Reference, m: &Mechanism, c: &[f64]) -> Gradient {
    let steps = r.value["gradient"]["nstep"].as_u64().expect("a count") as usize;
    let init = &r.value["init"];
    let mut states = vec![RigidState {
        qpos: numbers(&init["qpos"]),
        qvel: numbers(&init["qvel"]),
        act: numbers(&init["act"]),
    }];
    let h = m.tree.options.timestep;
    let controls: Vec<Vec<f64>> = (0..steps).map(|k| r.control(k as f64 * h)).collect();
    let mut ws = m.workspace();
    let mut total = 0.0;
    let (mut warm, mut records) = (Vec::new(), StepRecords::default());
    for k in 0..steps {
        let mut next = RigidState::default();
        m.step(c, states[k].with(&controls[k]), &warm, &mut next, &mut ws)
            .unwrap_or_else(|e| panic!("{} step {k}: {e}", r.name));
        warm.clone_from(&ws.evaluation.qacc);
        records.push(m, &ws);
        total += loss(&next, steps).0;
        states.push(next);
    }
    let mut bar = Adjoint::zeros(&m.tree, &m.layout);
    let mut ctrl = vec![Vec::new(); steps];
    for k in (0..steps).rev() {
        let (_, by_q, by_v) = loss(&states[k + 1], steps);
        lower_adjoint(&m.tree, &states[k + 1].qpos, &by_q, &mut bar.q);
        bar.v.iter_mut().zip(by_v).for_each(|(slot, x)| *slot += x);
        bar.ctrl.fill(0.0);
        m.replay_pullback(c, states[k].with(&controls[k]), records.get(m, k), &mut bar, &mut ws)
            .unwrap_or_else(|e| panic!("{} step {k}: {e}", r.name));
        ctrl[k].clone_from(&bar.ctrl);
    }
    Gradient { loss: total, bar, ctrl }
}

/// The derivative by entry `index` of the parameter `name`; `None` where it is none of the step's.
fn entry(r: &Reference, layout: &Layout, g: &Gradient, name: &str, index: &[usize]) -> Option<f64> {
    let c = &g.bar.c;
    let blocks = layout.blocks();
    let plain = |name: &str, i: usize, k: usize| {
        let block = blocks.iter().find(|(n, _)| *n == name).map(|(_, b)| *b)?;
        Some(c[block.at(i) + k])
    };
    let (i, k) = (index[0], index.get(1).copied().unwrap_or(0));
    let compiled = &r.value["compiled"];
    let scripted = |weight: &dyn Fn(f64) -> f64| {
        let h = r.tree.options.timestep;
        Some(g.ctrl.iter().enumerate().map(|(s, u)| u[i] * weight(s as f64 * h)).sum())
    };
    match name {
        "qpos_init_tangent" => Some(g.bar.q[i]),
        "qvel_init" => Some(g.bar.v[i]),
        "act_init" => Some(g.bar.act[i]),
        "ctrl_bias" => scripted(&|_| 1.0),
        "ctrl_amp" => {
            let part = |what: &str| numbers(&r.value["ctrl"][what])[i];
            let (f, phase) = (part("freq"), part("phase"));
            scripted(&|t| (std::f64::consts::TAU * f * t + phase).sin())
        }
        "actuator_gain0" => plain("actuator_gainprm", i, 0),
        "actuator_bias" => plain("actuator_biasprm", i, k),
        "actuator_gear0" => plain("actuator_gear", i, 0),
        "actuator_dynprm0" => plain("actuator_dynprm", i, 0),
        "gravity" => plain("gravity", 0, i),
        "body_inertia" => {
            let quat = &numbers(&compiled["body_iquat"])[4 * i..4 * i + 4];
            let axes: Mat3<f64> = Quat::new(quat[0], quat[1], quat[2], quat[3]).to_matrix();
            let axis: Vec3<f64> = axes.columns[k];
            let at = layout.body_inertia.at(i);
            let (x, y, z) = (axis.x, axis.y, axis.z);
            let products = [x * x, x * y, y * y, x * z, y * z, z * z];
            Some(products.iter().zip(&c[at..at + 6]).map(|(p, b)| p * b).sum())
        }
        "body_mass_scaled" => {
            let mass = r.c[r.layout.body_mass.at(i)];
            let own = &r.c[r.layout.body_inertia.entry(i)];
            let bars = &c[layout.body_inertia.entry(i)];
            let by: f64 = own.iter().zip(bars).map(|(x, b)| x * b).sum();
            Some(c[layout.body_mass.at(i)] + by / mass)
        }
        "ctrl_step" | "geom_size_recompiled" | "geom_size_raw" => None,
        "eq_data" if k >= 11 => None,
        other => plain(other, i, k),
    }
}

/// The recorded numbers with derived constants held, and their errors.
fn recorded(r: &Reference, name: &str, p: &Value) -> (Vec<f64>, Vec<f64>) {
    let held = ["frozen", "rederived", "value"].into_iter().find(|key| !p[*key].is_null());
    numbers_of(r, name, p, held.expect("numbers"))
}

/// The numbers of a parameter and their errors. Those in `rounded_gradients.json` stand in for recorded ones
/// that are the loss's rounding over a width so small that neighbouring widths agree by chance: they are
/// regressions of the same engine's differences over many widths.
fn numbers_of(r: &Reference, name: &str, p: &Value, key: &str) -> (Vec<f64>, Vec<f64>) {
    let own = format!("{key}_err");
    let error = if p[&own].is_null() { "err" } else { &own };
    let (mut values, mut errors) = (numbers(&p[key]), numbers(&p[error]));
    for better in better().as_array().expect("a list") {
        if better["file"] == r.name.as_str() && better["parameter"] == name && better["key"] == key
        {
            let index = numbers(&better["index"]);
            let n = match p["steps"].as_array() {
                Some(_) => {
                    let steps = numbers(&p["steps"]);
                    let step = steps.iter().position(|s| *s == index[0]).expect("the step");
                    step * r.tree.actuators.len() + index[1] as usize
                }
                None => {
                    let all = indices(p, values.len());
                    all.iter()
                        .position(|i| i.iter().map(|x| *x as f64).eq(index.iter().copied()))
                        .expect("the entry")
                }
            };
            values[n] = better["value"].as_f64().expect("a number");
            errors[n] = better["error"].as_f64().expect("a number");
        }
    }
    (values, errors)
}

fn better() -> &'static Value {
    static BETTER: OnceLock<Value> = OnceLock::new();
    BETTER.get_or_init(|| {
        let text = include_str!("../data/mujoco/rounded_gradients.json");
        serde_json::from_str(text).expect("JSON")
    })
}

/// Whether the recorded number is not the derivative with derived constants held.
fn artefact(r: &Reference, name: &str, index: &[usize], held: bool) -> bool {
    // Files of larger models have these with derived constants re-derived only.
    let derives =
        ["body_mass", "body_mass_scaled", "body_inertia", "body_ipos", "body_pos", "dof_armature"];
    if !held && derives.contains(&name) && touches(r) {
        return true;
    }
    let c = &r.c;
    let compiled = &r.value["compiled"];
    let i = index[0];
    match name {
        // Recorded with the other anchor re-derived only.
        "eq_data" => !held,
        // MuJoCo takes the two frames of a body that was compiled with both in one place for the same, until
        // its flags are re-derived.
        "body_ipos" => {
            let quat = &numbers(&compiled["body_iquat"])[4 * i..4 * i + 4];
            let same = c[r.layout.body_ipos.entry(i)].iter().all(|x| *x == 0.0);
            // A geom in the inertial frame moves with it.
            let center = &c[r.layout.body_ipos.entry(i)];
            let carried = r
                .tree
                .geoms
                .iter()
                .enumerate()
                .any(|(g, geom)| geom.body == i && &c[r.layout.geom_pos.entry(g)] == center);
            same && quat == [1.0, 0.0, 0.0, 0.0] || carried && touches(r)
        }
        // So it does with a geom's frame and those of its body.
        "geom_pos" => {
            let place = &c[r.layout.geom_pos.entry(i)];
            let center = &c[r.layout.body_ipos.entry(r.tree.geoms[i].body)];
            place == [0.0; 3] || place.iter().zip(center).all(|(a, b)| (a - b).abs() < 1e-12)
        }
        // A free body counts as standing alone while its mass is that of its subtree, which is held.
        "body_mass" | "body_mass_scaled" => {
            let free =
                r.tree.joints.iter().any(|joint| joint.kind == JointKind::Free && joint.body == i);
            free && r.tree.options.integrator == Integrator::ImplicitFast
        }
        // At the bound of two time steps central differences are half the derivative from inside.
        "jnt_solref" | "dof_solref" | "eq_solref" | "geom_solref" if index[1] == 0 => {
            let blocks = r.layout.blocks();
            let block = blocks.iter().find(|(n, _)| *n == name).expect("a block").1;
            (c[block.at(i)] - 2.0 * r.tree.options.timestep).abs() < 1e-12
        }
        _ => false,
    }
}

/// Whether anything touches in a recording.
fn touches(r: &Reference) -> bool {
    numbers(&r.value["trajectory"]["ncon"]).iter().any(|n| *n > 0.0)
}

/// What a comparison counts and finds.
#[derive(Default)]
struct Tally {
    count: usize,
    failures: Vec<String>,
    /// The loss: a derivative that is zero is recorded as the loss's rounding.
    loss: f64,
}

impl Tally {
    fn check(&mut self, what: impl Fn() -> String, got: f64, expected: f64, error: f64) {
        let least = 1e-12 * self.loss.abs().max(1.0);
        let allowed = (10.0 * error).max(1e-6 * expected.abs()).max(least);
        self.count += 1;
        let within = (got - expected).abs() <= allowed;
        if !within {
            self.failures.push(format!("{}: {got} for {expected}, allowed {allowed:e}", what()));
        }
    }
    fn finish(self, least: usize) {
        let Self { count, failures, .. } = self;
        assert!(
            failures.is_empty(),
            "{} of {count} fail:\n{}",
            failures.len(),
            failures.join("\n")
        );
        assert!(count > least, "{count} entries");
    }
}

/// The entries that a parameter of a file lists.
fn indices(p: &Value, n: usize) -> Vec<Vec<usize>> {
    match p["index"].as_array() {
        Some(list) => {
            list.iter().map(|index| numbers(index).iter().map(|x| *x as usize).collect()).collect()
        }
        None => (0..n).map(|i| vec![i]).collect(),
    }
}

#[test]
fn gradients_of_trajectories_are_the_recorded_ones() {
    let mut tally = Tally::default();
    for r in simulated() {
        let gradients = &r.value["gradient"];
        if gradients.is_null() {
            continue;
        }
        let m = Mechanism::new(r.tree.clone());
        let g = gradient(&r, &m, &r.c);
        let expected = gradients["loss"].as_f64().expect("a loss");
        tally.loss = expected;
        let error = (g.loss - expected).abs();
        assert!(error <= 1e-9 * expected.abs().max(1.0), "{} loss: {error:e}", r.name);
        for (name, p) in gradients["params"].as_object().expect("parameters") {
            if gradients["not_smooth"].get(name).is_some() {
                continue;
            }
            if name == "ctrl_step" {
                let (values, errors) = numbers_of(&r, name, p, "value");
                let nu = r.tree.actuators.len();
                for (s, step) in numbers(&p["steps"]).iter().enumerate() {
                    for a in 0..nu {
                        let (got, n) = (g.ctrl[*step as usize][a], s * nu + a);
                        let what = || format!("{} control {a} at step {step}", r.name);
                        tally.check(what, got, values[n], errors[n]);
                    }
                }
                continue;
            }
            let (values, errors) = recorded(&r, name, p);
            for (n, index) in indices(p, values.len()).iter().enumerate() {
                if artefact(&r, name, index, !p["frozen"].is_null()) {
                    continue;
                }
                if let Some(got) = entry(&r, &r.layout, &g, name, index) {
                    let what = || format!("{} {name}{index:?}", r.name);
                    tally.check(what, got, values[n], errors[n]);
                }
            }
        }
    }
    tally.finish(1000);
}

#[test]
fn derivatives_of_accelerations_are_the_recorded_ones() {
    let mut tally = Tally::default();
    for r in simulated() {
        let file = &r.value["qacc_derivatives"];
        if file.is_null() || r.tree.options.integrator == Integrator::Discrete {
            continue;
        }
        // The acceleration does not depend on the integrator; without implicit damping it is the step's.
        let mut tree = r.tree.clone();
        tree.options.integrator = Integrator::Euler;
        tree.options.implicit_damping = false;
        let layout = &r.layout;
        let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
        let (act, ctrl) = (r.snapshot("act"), r.snapshot("ctrl"));
        let at = At { qpos: &qpos, qvel: &qvel, act: &act, ctrl: &ctrl, applied: &[] };
        let mut evaluation = Evaluation::new(&tree);
        evaluation.update(&tree, layout, &r.c, at, &[]).expect("it evaluates");
        for dof in 0..tree.nv {
            let mut seed = vec![0.0; tree.nv];
            seed[dof] = 1.0;
            let mut bar = Adjoint::zeros(&tree, layout);
            let seeds = EvaluationAdjoint::of_step(&seed);
            evaluation
                .pullback(&tree, layout, &r.c, at, seeds, Wanted::ALL, &mut bar)
                .expect("it pulls");
            let g = Gradient { loss: 0.0, bar, ctrl: Vec::new() };
            for (name, p) in file.as_object().expect("parameters") {
                let plain = name.trim_end_matches("__frozen");
                let held = name.ends_with("__frozen");
                let superseded = !held && file.get(format!("{name}__frozen")).is_some();
                if name == "state" || superseded {
                    continue;
                }
                let rows = p["dqacc"].as_array().expect("rows");
                for (n, index) in indices(p, rows.len()).iter().enumerate() {
                    if artefact(&r, plain, index, held) {
                        continue;
                    }
                    if let Some(got) = entry(&r, &r.layout, &g, plain, index) {
                        let what = || format!("{} qacc[{dof}] by {name}{index:?}", r.name);
                        tally.check(what, got, numbers(&rows[n])[dof], numbers(&p["err"])[n]);
                    }
                }
            }
            for (name, bar) in
                [("qpos_tangent", &g.bar.q), ("qvel", &g.bar.v), ("ctrl", &g.bar.ctrl)]
            {
                let p = &file["state"][name];
                for (n, row) in p["dqacc"].as_array().into_iter().flatten().enumerate() {
                    let what = || format!("{} qacc[{dof}] by {name}[{n}]", r.name);
                    tally.check(what, bar[n], numbers(row)[dof], numbers(&p["err"])[n]);
                }
            }
        }
    }
    tally.finish(1000);
}

#[test]
fn gradients_with_derived_constants_are_the_recorded_ones() {
    let mut tally = Tally::default();
    for r in simulated() {
        let gradients = &r.value["gradient"];
        if gradients.is_null() {
            continue;
        }
        tally.loss = gradients["loss"].as_f64().expect("a loss");
        let model = model(&r);
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{}: {e}", r.name));
        let theta = model.theta();
        let c = derivation.derive(&theta).unwrap_or_else(|e| panic!("{}: {e}", r.name));
        let mut tree = derivation.tree.clone();
        tree.options = r.tree.options.clone();
        let m = Mechanism::new(tree);
        let mut g = gradient(&r, &m, &c);
        derivation.rederive(&theta, &mut g.bar.c).unwrap_or_else(|e| panic!("{}: {e}", r.name));
        for (name, p) in gradients["params"].as_object().expect("parameters") {
            if gradients["not_smooth"].get(name).is_some() || p["rederived"].is_null() {
                continue;
            }
            let (values, errors) = numbers_of(&r, name, p, "rederived");
            for (n, index) in indices(p, values.len()).iter().enumerate() {
                let derived = name.starts_with("body_mass");
                if !derived && artefact(&r, name, index, true) {
                    continue;
                }
                if let Some(got) = entry(&r, &m.layout, &g, name, index) {
                    let what = || format!("{} {name}{index:?}", r.name);
                    tally.check(what, got, values[n], errors[n]);
                }
            }
        }
    }
    tally.finish(1000);
}
