//! Closed forms of point masses.

use costate::model::{InputSignal, Inputs, Model, SoftBuilder};
use costate::prelude::*;

use crate::check::{Criterion, Group};

/// A free mass pushed by a constant force: x = F h² n(n+1)/2m.
pub fn run() -> Group {
    let mut group = Group::new(
        "Closed forms",
        "A mass of 2 kg pushed by 3 N from rest for 100 symplectic steps of 10 ms.",
    );
    let mut model = Model::new("pushed");
    model.options.timestep = 0.01;
    let built = SoftBuilder::new("cart", vec![[0.0; 3]])
        .vertex_mass(vec![2.0])
        .load("push", vec![0])
        .build(&mut model)
        .and_then(|()| model.with("option.gravity", &[0.0; 3]));
    let model = match built {
        Ok(model) => model,
        Err(error) => {
            group.failed("the model", error);
            return group;
        }
    };
    let (m, f, h, n) = (2.0, 3.0, 0.01, 100.0);
    let expected = f * h * h * n * (n + 1.0) / (2.0 * m);
    let result = System::new(&model).and_then(|system| {
        let theta = system.theta();
        let c = system.derive(&theta)?;
        let push = InputSignal::constant(&[f, 0.0, 0.0]);
        let inputs = Inputs { signals: vec![Some(push)] };
        let observer = crate::derivatives::Last { steps: 100, dof: 3 };
        let run = Run::new(&system, &c, &inputs);
        let mut loss = |y: &[f64]| {
            let mut bar = vec![0.0; y.len()];
            bar[0] = 1.0;
            (y[0], bar)
        };
        let g = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss)?;
        let theta_bar = system.derive_pullback(&theta, &c, &g.c);
        let range = model.leaves.range(model.leaves.find("soft.cart.vertex_mass")?);
        Ok((g.value, theta_bar[range.start], g.inputs[0][0]))
    });
    match result {
        Err(error) => group.failed("the run", error),
        Ok((x, by_mass, by_force)) => {
            let relative = |found: f64, exact: f64| (found - exact).abs() / exact.abs();
            let tight = Criterion::AtMost(1e-12);
            group.add("position, relative error", "F h² n(n+1)/2m", tight, relative(x, expected));
            let exact = -expected / m;
            group.add("by mass, relative error", "−x/m", tight, relative(by_mass, exact));
            let exact = expected / f;
            group.add("by force, relative error", "x/F", tight, relative(by_force, exact));
        }
    }
    group
}
