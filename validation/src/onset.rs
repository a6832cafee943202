//! The derivative of a bounce: where an impact is resolved in many steps, exact gradients are
//! those of the motion.

use costate::model::Inputs;
use costate::prelude::*;

use crate::check::{Criterion, Group};
use crate::derivatives::Last;

/// A ball dropped from 1 m, 0.8 s: height at the end and its derivative by the start height.
fn bounce(h: f64, stiffness: f64, damping: f64, ramp: f64) -> Result<(f64, f64), String> {
    let mut model = Model::new("bounce");
    model.options.timestep = h;
    SoftBuilder::new("ball", vec![[0.0; 3]])
        .vertex_mass(vec![1.0])
        .position([0.0, 0.0, 1.0])
        .build(&mut model)
        .map_err(|e| e.to_string())?;
    GeomBuilder::new("floor", Shape::Plane, &[])
        .stiffness(stiffness)
        .damping(damping)
        .ramp(ramp)
        .build(&mut model)
        .map_err(|e| e.to_string())?;
    let system = System::new(&model).map_err(|e| e.to_string())?;
    let theta = system.theta();
    let c = system.derive(&theta).map_err(|e| e.to_string())?;
    let id = model.leaves.find("soft.ball.position").map_err(|e| e.to_string())?;
    let mut theta_dot = vec![0.0; theta.len()];
    theta_dot[model.leaves.range(id).start + 2] = 1.0;
    let seeds = Seeds {
        columns: 1,
        c: system.derive_pushforward(&theta, &c, &theta_dot),
        ..Seeds::default()
    };
    let observer = Last { steps: (0.8 / h).round() as usize, dof: 3 };
    let inputs = Inputs::default();
    let run = Run::new(&system, &c, &inputs);
    let s = run.sensitivities(&observer, &[], &seeds, &[]).map_err(|e| e.to_string())?;
    Ok((s.y[2], s.y_dot[2]))
}

/// Known slopes of undamped contact laws.
pub fn run() -> Group {
    let mut group = Group::new(
        "Contact onset",
        "A ball of 1 kg dropped at rest from 1 m; height z after 0.8 s and dz/dz₀. Force 1e6 depth² \
         has a closed solution; an ideal impact without loss would give 0.5436.",
    );
    let within = |reference, tolerance| Criterion::Within { reference, tolerance };
    for (h, tolerance) in [(1e-4, 0.005), (1e-5, 0.001)] {
        // The default law is force k depth²/2δ within its ramp δ.
        match bounce(h, 2e6, 0.0, 1.0) {
            Err(error) => group.failed("the bounce", error),
            Ok((z, slope)) => {
                let reference = "quadrature of the motion in continuous time";
                let what = format!("z at h = {h:.0e} s, m");
                group.add(&what, reference, within(0.92621, 20.0 * h), z);
                let what = format!("dz/dz₀ at h = {h:.0e} s");
                group.add(&what, reference, within(0.4607, tolerance), slope);
            }
        }
    }
    group
}
