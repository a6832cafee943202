//! One arm and two, measured while they swing freely.

use costate::identify::{Experiment, Identification, IdentifyOptions, Role, identify};

use crate::check::{Criterion, Group};

fn solve(file: &str) -> Result<Identification, String> {
    let path = crate::root().join("examples").join(file);
    let experiment = Experiment::read(path).map_err(|e| e.to_string())?;
    identify(&experiment, &IdentifyOptions::default()).map_err(|e| e.to_string())
}

/// Root mean square of all residuals of a role, rad.
fn pooled(result: &Identification, role: Role) -> f64 {
    let (mut squares, mut samples) = (0.0, 0.0);
    for signal in result.signals.iter().filter(|s| s.role == role) {
        squares += signal.samples as f64 * signal.rms * signal.rms;
        samples += signal.samples as f64;
    }
    (squares / samples).sqrt()
}

fn worst(result: &Identification, role: Role) -> f64 {
    result.signals.iter().filter(|s| s.role == role).map(|s| s.rms).fold(0.0, f64::max)
}

fn one_arm(group: &mut Group) -> Result<(), String> {
    let published = "published values: 27";
    let full = solve("pendulum-1/experiment.toml")?;
    let what = "one arm: viscous, quadratic and dry friction, four times 9 s, mrad rms";
    group.add(what, published, Criterion::AtMost(2.0), 1e3 * pooled(&full, Role::Fitted));
    let what = "one arm: worst validation recording, start refitted, mrad rms";
    let published = "published values: 12.9";
    group.add(what, published, Criterion::AtMost(10.0), 1e3 * worst(&full, Role::Validation));
    let viscous = solve("pendulum-1/viscous.toml")?;
    let what = "one arm: viscous friction alone, mrad rms";
    group.add(what, "", Criterion::AtMost(5.0), 1e3 * pooled(&viscous, Role::Fitted));
    Ok(())
}

fn two_arms(group: &mut Group) -> Result<(), String> {
    let full = solve("pendulum-2/experiment.toml")?;
    let what = "two arms: 26 times 2.7 s, mrad rms";
    let published = "published values: 3.83";
    group.add(what, published, Criterion::AtMost(3.83), 1e3 * pooled(&full, Role::Fitted));
    let what = "two arms: worst validation recording, start refitted, mrad rms";
    let published = "published values: 2.78";
    group.add(what, published, Criterion::AtMost(2.78), 1e3 * worst(&full, Role::Validation));
    let ratio = |path: &str, reference: f64| {
        full.parameters.get(path).map_or(f64::NAN, |p| p.estimate.as_slice()[0] / reference)
    };
    let near = Criterion::Within { reference: 1.0, tolerance: 0.03 };
    let what = "two arms: inertia of the lower arm, over the published";
    group.add(what, "1.26883e-3 kg m²", near, ratio("body.lower.diaginertia", 1.26883e-3));
    let what = "two arms: length of the upper arm, over the published";
    group.add(what, "0.172719 m", near, ratio("body.lower.pos", 0.172719));
    Ok(())
}

/// Inertia and friction from measured free swinging.
pub fn run() -> Group {
    let mut group = Group::new(
        "Swinging arms",
        "Encoder angles of one arm and of two on a fixed pivot (examples/pendulum-1, \
         examples/pendulum-2), from starts at least twice off and without priors. What the published \
         values leave is with the starts of the motions fitted to them likewise.",
    );
    for part in [one_arm, two_arms] {
        if let Err(error) = part(&mut group) {
            group.failed("swinging arms", error);
        }
    }
    group
}
