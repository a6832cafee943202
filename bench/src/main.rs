//! Nanoseconds per tetrahedron and step of a soft grid in flight, forward and with its gradient.
//!
//! `costate-bench CELLS_X CELLS_Y CELLS_Z STEPS REPEATS [--damped] [--narrow]` prints one JSON
//! object. `COSTATE_ISA` and `RAYON_NUM_THREADS` choose instruction set and threads.

use std::time::Instant;

use costate_dynamics::System;
use costate_dynamics::rollout::{
    AdjointOptions, Interval, IntervalAdjoints, IntervalTangents, Observer, Run,
};
use costate_model::{GridSplit, Inputs, MaterialSettings, Model, SoftBuilder, TetrahedraSettings};

/// The positions at the end.
struct Last {
    steps: usize,
    dof: usize,
}

impl Observer for Last {
    fn len(&self) -> usize {
        self.dof
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, step: usize) -> bool {
        step + 1 == self.steps
    }
    fn observe(&self, at: Interval, y: &mut [f64]) {
        y.copy_from_slice(&at.end.q);
    }
    fn pushforward(&self, _at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        y_dot.copy_from_slice(&tangents.end.q);
    }
    fn pullback(&self, _at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        for (to, bar) in adjoints.end.q.iter_mut().zip(y_bar) {
            *to += bar;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let &[nx, ny, nz, steps, repeats] = numbers.as_slice() else {
        return Err("five numbers: cells in x, y and z, steps, repeats".into());
    };
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let mut model = Model::new("grid");
    model.options.timestep = 1e-5;
    let mut settings =
        TetrahedraSettings::new(MaterialSettings::lame("warp", 3000.0, 10000.0), 10.0);
    settings.damping.viscosity = vec![if has("--damped") { 1.0 } else { 0.0 }];
    let grid = SoftBuilder::grid("body", [nx, ny, nz], [0.01, 0.005, 0.01], GridSplit::Five);
    let stretched = grid.vertices().iter().flat_map(|[x, y, z]| [1.05 * x, 0.98 * y, *z]).collect();
    grid.start_position(stretched).tetrahedra(settings).build(&mut model)?;
    let mut system = System::new(&model)?;
    if has("--narrow") {
        let leaf = |name: &str| model.leaves.find(&format!("soft.body.{name}"));
        system.narrow(&[leaf("mu")?, leaf("lambda")?, leaf("damping")?, leaf("velocity")?]);
    }
    let inputs = Inputs::default();
    let c = system.derive(&system.theta())?;
    let observer = Last { steps, dof: system.dof() };
    let run = Run::new(&system, &c, &inputs);
    let options = AdjointOptions { budget: 8 << 30, ..AdjointOptions::default() };
    let tetrahedra = 5 * nx * ny * nz;
    let unit = 1e9 / (tetrahedra * steps) as f64;
    let (mut forward, mut both) = (Vec::new(), Vec::new());
    for _ in 0..repeats.max(1) {
        let start = Instant::now();
        run.observe(&observer, &[])?;
        forward.push(start.elapsed().as_secs_f64() * unit);
        let start = Instant::now();
        let mut loss = |y: &[f64]| (y.iter().sum(), vec![1.0; y.len()]);
        run.gradient(&observer, &[], &options, &mut loss)?;
        both.push(start.elapsed().as_secs_f64() * unit);
    }
    let spread = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        format!(
            "{{\"min\": {:.2}, \"median\": {:.2}, \"max\": {:.2}}}",
            values[0],
            values[values.len() / 2],
            values[values.len() - 1]
        )
    };
    println!(
        "{{\"tetrahedra\": {tetrahedra}, \"steps\": {steps}, \"isa\": \"{}\", \"threads\": {}, \
         \"forward_ns\": {}, \"gradient_ns\": {}}}",
        costate_num::isa()?,
        rayon::current_num_threads(),
        spread(&mut forward),
        spread(&mut both)
    );
    Ok(())
}
