//! Examples whose recordings are simulated from a known truth.

use costate::identify::{IdentifyOptions, Role, evaluate, identify};
use costate::prelude::*;

use crate::check::{Criterion, Group};

/// A leaf and its true value.
type Truth = (&'static str, f64);

const CLOTH: &[Truth] = &[
    ("soft.cloth.membrane.stiffness", 40.0),
    ("soft.cloth.membrane.area_stiffness", 70.0),
    ("soft.cloth.membrane.damping", 0.08),
    ("soft.cloth.membrane.drag", 0.25),
    ("soft.cloth.bending.stiffness", 8e-4),
];
const CAGE: &[Truth] =
    &[("soft.cage.springs.stiffness", 140.0), ("soft.cage.springs.damping", 2.5)];

/// Truth in units of the standard error, and the prediction of what was not fitted.
pub fn run() -> Group {
    let mut group = Group::new(
        "Simulated recordings",
        "Examples fitted from their shipped starts: distance of each estimate from the truth in \
         standard errors (99.9 % of draws lie below 3.3), and the rms of recordings that were kept \
         for validation, in units of the noise.",
    );
    for (name, truth, noise) in [("spring-cage", CAGE, 1e-3), ("hanging-cloth", CLOTH, 5e-4)] {
        if let Err(error) = one(&mut group, name, truth, noise) {
            group.failed(name, error);
        }
    }
    group
}

fn one(group: &mut Group, name: &str, truth: &[Truth], noise: f64) -> Result<(), String> {
    let path = crate::root().join("examples").join(name).join("experiment.toml");
    let experiment = Experiment::read(&path).map_err(|e| e.to_string())?;
    let result = identify(&experiment, &IdentifyOptions::default()).map_err(|e| e.to_string())?;
    for (leaf, value) in truth {
        let found = result.parameters.get(*leaf).and_then(|p| {
            let estimate = p.estimate.as_slice()[0];
            p.std_error.as_ref().map(|s| (estimate - value).abs() / s.as_slice()[0])
        });
        let what = format!("{name}: `{leaf}`");
        let reference = format!("truth {value}");
        group.add(&what, &reference, Criterion::AtMost(3.3), found.unwrap_or(f64::NAN));
    }
    let fits = evaluate(&experiment, &result, None).map_err(|e| e.to_string())?;
    let kept = fits.iter().filter(|f| f.role == Role::Validation);
    let (sum, count) = kept.fold((0.0, 0.0), |(sum, count), f| {
        let samples = f.samples as f64;
        (sum + samples * f.rms * f.rms, count + samples)
    });
    let what = format!("{name}: all validation signals together, rms over noise");
    let reference = format!("1 ± {:.3}", (0.5 / count).sqrt());
    group.add(&what, &reference, Criterion::AtMost(1.05), (sum / count).sqrt() / noise);
    Ok(())
}
