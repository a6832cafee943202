//! Materials that make a thrown grid of tetrahedra come back to a target.

use costate::identify::{Experiment, Identification, IdentifyOptions, gradient, identify};

use crate::check::{Criterion, Group};

fn experiment(file: &str) -> Result<Experiment, String> {
    let path = crate::root().join("examples/bouncing-grid").join(file);
    Experiment::read(path).map_err(|e| e.to_string())
}

fn solve(file: &str) -> Result<Identification, String> {
    identify(&experiment(file)?, &IdentifyOptions::default()).map_err(|e| e.to_string())
}

/// How far from the target the centre of mass ends, m.
fn distance(result: &Identification) -> f64 {
    result.signals.iter().map(|s| s.rms * s.rms).sum::<f64>().sqrt()
}

fn per_element(group: &mut Group) -> Result<(), String> {
    let result = solve("experiment.toml")?;
    let at_most = Criterion::AtMost(1e-3);
    group.add("80 unknowns: distance, m", "newton 1.8: 0.082", at_most, distance(&result));
    let iterations = result.iterations as f64;
    group.add("80 unknowns: iterations", "newton 1.8: 50", Criterion::AtMost(15.0), iterations);
    Ok(())
}

fn uniform(group: &mut Group) -> Result<(), String> {
    let result = solve("uniform.toml")?;
    let at_most = Criterion::AtMost(1e-3);
    group.add("2 unknowns, many starts: distance, m", "target", at_most, distance(&result));
    let count = result.history.len() as f64;
    group.add("2 unknowns, many starts: gradients", "", Criterion::AtMost(400.0), count);
    let rough = f64::from(u8::from(result.warnings.iter().any(|w| w.contains("rough"))));
    group.add("2 unknowns: says that the cost is rough", "", Criterion::AtLeast(1.0), rough);
    Ok(())
}

/// The best of several gradients, on one thread.
fn time(group: &mut Group) -> Result<(), String> {
    let experiment = experiment("experiment.toml")?;
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let found = gradient(&experiment, None).map_err(|e| e.to_string())?;
        best = best.min(found.gradient_s);
    }
    let what = "one gradient by 80 unknowns, best of 20, ms";
    group.add(what, "newton 1.8: 2000", Criterion::AtMost(5.0), 1e3 * best);
    Ok(())
}

/// The target is met, per element and with one material.
pub fn run() -> Group {
    let mut group = Group::new(
        "The bouncing grid",
        "40 tetrahedra thrown at a wall and the ground, 960 steps; the centre of mass has to be at \
         a target after 1 s.",
    );
    for part in [per_element, uniform, time] {
        if let Err(error) = part(&mut group) {
            group.failed("the bouncing grid", error);
        }
    }
    group
}
