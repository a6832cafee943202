//! The positioning system of the examples, in its control loop and by the linear regressor.

use costate::identify::{Experiment, Identification, IdentifyOptions, identify};

use crate::check::{Criterion, Group};

/// Path, name, published value, tolerances in the loop and of the regressor.
const PUBLISHED: [(&str, &str, f64, f64, f64); 4] = [
    ("body.carriage.mass", "mass, kg", 95.1089, 0.01, 0.01),
    ("joint.slide.damping", "viscous friction, N s/m", 203.5034, 0.04, 0.01),
    ("joint.slide.frictionloss", "dry friction, N", 20.3935, 0.04, 0.01),
    ("controller.force.offset", "offset, N", -3.1648, 0.03, 0.03),
];

/// From starts more than twice off, no priors.
pub fn run() -> Group {
    let mut group = Group::new(
        "EMPS, measured",
        "Mass, friction and offset of a carriage from 24.8 s in its control loop, simulated from the position \
         asked for; starts more than twice off, no priors. And the same by the linear regressor. Published: least \
         squares on filtered data, by the authors of the data.",
    );
    if let Err(error) = measure(&mut group) {
        group.failed("the identification", error);
    }
    group
}

fn fit(file: &str) -> Result<Identification, String> {
    let path = crate::root().join("examples/emps").join(file);
    let experiment = Experiment::read(&path).map_err(|e| e.to_string())?;
    identify(&experiment, &IdentifyOptions::default()).map_err(|e| e.to_string())
}

fn measure(group: &mut Group) -> Result<(), String> {
    for (file, how) in [("experiment.toml", "in the loop"), ("regressor.toml", "regressor")] {
        let result = fit(file)?;
        for (path, name, published, in_loop, by_regressor) in PUBLISHED {
            let tolerance = if how == "regressor" { by_regressor } else { in_loop };
            let parameter = result.parameters.get(path).ok_or("a parameter is missing")?;
            let value = parameter.estimate.as_slice().first().ok_or("an estimate is missing")?;
            group.add(
                &format!("{name}, {how}, relative difference"),
                &format!("published {published}"),
                Criterion::AtMost(tolerance),
                (value / published - 1.0).abs(),
            );
        }
    }
    Ok(())
}
