//! Nanoseconds per tetrahedron and step of a soft grid in flight, forward and with its gradient.
//!
//! `costate-bench CELLS_X CELLS_Y CELLS_Z STEPS REPEATS [--damped] [--narrow] [--elastic]` prints one
//! JSON object. `--narrow` asks for the gradient by μ, λ, viscosity and velocity only, `--elastic` by μ,
//! λ and velocity. `COSTATE_ISA` and `RAYON_NUM_THREADS` choose instruction set and threads.
//! `costate-bench --experiment FILE REPEATS` times the gradient of an experiment's cost at its start, ms.
//! `costate-bench --chain LINKS STEPS REPEATS` times a step of a chain of hinges, its pullback, and the gradient
//! of a whole motion by all inertial parameters, ns per step.
//! `costate-bench --robot FILE STEPS REPEATS` times a step of a robot from MJCF, its pullback, and the gradient of
//! a motion by every mass, damping, armature and friction, ns per step;
//! `--boxes COUNT STEPS REPEATS` times those of columns of boxes, whose MJCF `--boxes COUNT --mjcf` prints.
//! `costate-bench --bits` checks that all instruction sets of this processor give the same bits.

mod bits;
mod chain;
mod clock;
mod grid;
mod robot;

use std::path::Path;

use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Run};
use costate_identify::{Experiment, gradient};
use costate_model::{DampingLaw, Inputs};

use clock::Clock;
use grid::{Grid, Last};

/// Wall and processor times of repeats, by unit of work.
#[derive(Default)]
struct Times([Vec<f64>; 2]);

impl Times {
    fn push(&mut self, clock: &Clock, unit: f64) {
        for (times, seconds) in self.0.iter_mut().zip(clock.read()) {
            times.push(seconds * unit);
        }
    }

    /// As two entries of a JSON object.
    fn json(mut self, name: &str) -> String {
        let [wall, cpu] = self.0.each_mut().map(|values| {
            values.sort_by(f64::total_cmp);
            let (least, most) = (values[0], values[values.len() - 1]);
            let median = values[values.len() / 2];
            format!("{{\"min\": {least:.2}, \"median\": {median:.2}, \"max\": {most:.2}}}")
        });
        format!("\"{name}_ns\": {wall}, \"{name}_cpu_ns\": {cpu}")
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    if has("--bits") {
        return bits::compare();
    }
    if has("--digests") {
        return bits::print();
    }
    if has("--experiment") {
        return experiment(&arguments);
    }
    let numbers: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    if has("--chain") {
        let &[links, steps, repeats] = numbers.as_slice() else {
            return Err("--chain takes three numbers: links, steps, repeats".into());
        };
        return chain::measure(links, steps, repeats);
    }
    if has("--robot") {
        let (Some(file), &[steps, repeats]) = (arguments.get(1), numbers.as_slice()) else {
            return Err("--robot takes a file, then numbers of steps and repeats".into());
        };
        return robot::measure(&costate_formats::read_mjcf(file)?, steps, repeats);
    }
    if has("--boxes") {
        let text = robot::boxes(numbers.first().copied().unwrap_or(100));
        if has("--mjcf") {
            print!("{text}");
            return Ok(());
        }
        let &[_, steps, repeats] = numbers.as_slice() else {
            return Err("--boxes takes three numbers: boxes, steps, repeats".into());
        };
        return robot::measure(&costate_formats::parse_mjcf("boxes.xml", &text)?, steps, repeats);
    }
    let &[nx, ny, nz, steps, repeats] = numbers.as_slice() else {
        return Err("five numbers: cells in x, y and z, steps, repeats".into());
    };
    let viscosity = if has("--damped") { 1.0 } else { 0.0 };
    let damping = DampingLaw::FrameIndifferent;
    let grid = Grid { cells: [nx, ny, nz], law: "warp", viscosity, damping };
    let model = grid.model()?;
    let mut system = System::new(&model)?;
    if has("--elastic") {
        grid.narrow(&mut system, &["mu", "lambda"])?;
    } else if has("--narrow") {
        grid.narrow(&mut system, &["mu", "lambda", "damping"])?;
    }
    let inputs = Inputs::default();
    let c = system.derive(&system.theta())?;
    let observer = Last { steps, dof: system.dof() };
    let run = Run::new(&system, &c, &inputs);
    let options = AdjointOptions { budget: 8 << 30, ..AdjointOptions::default() };
    let unit = 1e9 / (grid.tetrahedra() * steps) as f64;
    let (mut forward, mut both) = (Times::default(), Times::default());
    for _ in 0..repeats.max(1) {
        let clock = Clock::start();
        run.observe(&observer, &[])?;
        forward.push(&clock, unit);
        let clock = Clock::start();
        let mut loss = |y: &[f64]| (y.iter().sum(), vec![1.0; y.len()]);
        run.gradient(&observer, &[], &options, &mut loss)?;
        both.push(&clock, unit);
    }
    println!(
        "{{\"tetrahedra\": {}, \"steps\": {steps}, \"isa\": \"{}\", \"threads\": {}, {}, {}}}",
        grid.tetrahedra(),
        costate_num::isa()?,
        rayon::current_num_threads(),
        forward.json("forward"),
        both.json("gradient")
    );
    Ok(())
}

/// Gradients of the cost of an experiment at its start.
fn experiment(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [_, file, repeats] = arguments else {
        return Err("--experiment takes a file and a number of repeats".into());
    };
    let experiment = Experiment::read(Path::new(file))?;
    let mut times = Vec::new();
    for _ in 0..repeats.parse::<usize>()?.max(1) {
        times.push(1e3 * gradient(&experiment, None)?.gradient_s);
    }
    let first = times[0];
    times.sort_by(f64::total_cmp);
    let (least, median, most) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{{\"gradient_ms\": {{\"first\": {first:.2}, \"min\": {least:.2}, \"median\": {median:.2}, \"max\": {most:.2}}}}}"
    );
    Ok(())
}
