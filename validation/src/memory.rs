//! Gradients within a memory budget.

use costate::model::Inputs;
use costate::prelude::*;

use crate::check::{Criterion, Group};
use crate::derivatives::Last;

/// The soft cube over 300 frames' worth of steps within 64 MB.
pub fn run() -> Group {
    let mut group = Group::new(
        "Memory",
        "The gradient of the soft cube's final state, 4000 tetrahedra, 3200 steps.",
    );
    let path = crate::root().join("examples/soft-cube/scene.toml");
    let result = Scene::read(&path).map_err(|e| e.to_string()).and_then(|scene| {
        let system = System::new(&scene.model).map_err(|e| e.to_string())?;
        let c = system.derive(&system.theta()).map_err(|e| e.to_string())?;
        let inputs = Inputs::default();
        let run = Run::new(&system, &c, &inputs);
        let observer = Last { steps: 3200, dof: system.dof() };
        let gradient = |policy, budget| {
            let options = AdjointOptions { policy, budget, detach: vec![] };
            let mut loss = |y: &[f64]| (y.iter().map(|x| x * x).sum::<f64>(), doubled(y));
            run.gradient(&observer, &[], &options, &mut loss).map_err(|e| e.to_string())
        };
        let plain = gradient(Policy::StoreAll, 0)?;
        let small = gradient(Policy::Automatic, 64 << 20)?;
        let bytes = 2 * system.dof() * size_of::<f64>();
        let differing = plain.c.iter().zip(&small.c).filter(|(a, b)| a != b).count();
        Ok((small.peak_states * bytes, differing, small.forward_steps))
    });
    match result {
        Err(error) => group.failed("the gradient", error),
        Ok((bytes, differing, steps)) => {
            let budget = (64 << 20) as f64;
            group.add("bytes of states held", "64 MiB", Criterion::AtMost(budget), bytes as f64);
            group.add(
                "entries that differ from the gradient with all states stored",
                "bit for bit",
                Criterion::AtMost(0.0),
                differing as f64,
            );
            group.add(
                "forward steps run, per step of the motion",
                "two-level checkpoints",
                Criterion::AtMost(2.0),
                steps as f64 / 3200.0,
            );
        }
    }
    group
}

fn doubled(y: &[f64]) -> Vec<f64> {
    y.iter().map(|x| 2.0 * x).collect()
}
