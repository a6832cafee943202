//! Measured tosses of a cube.

use std::collections::BTreeMap;

use costate::identify::{Experiment, Identification, IdentifyOptions, Role, identify};

use crate::check::{Criterion, Group};

/// Median over the recordings of the rms of the centre, mm.
fn median(result: &Identification, role: Role) -> f64 {
    let mut tosses: BTreeMap<&str, f64> = BTreeMap::new();
    for signal in &result.signals {
        if signal.role == role && signal.signal.starts_with("centre") {
            *tosses.entry(&signal.recording).or_default() += signal.rms * signal.rms;
        }
    }
    let mut squares: Vec<f64> = tosses.into_values().collect();
    squares.sort_by(f64::total_cmp);
    squares.get(squares.len() / 2).map_or(f64::NAN, |x| 1e3 * x.sqrt())
}

fn measure(group: &mut Group) -> Result<(), String> {
    let path = crate::root().join("examples/cube-toss/experiment.toml");
    for start in [0.1, 0.3, 0.5] {
        let mut experiment = Experiment::read(&path).map_err(|e| e.to_string())?;
        for parameter in &mut experiment.parameters {
            if parameter.entry.path == "geom.cube.friction" {
                parameter.entry.start = Some(vec![start]);
            }
        }
        let result =
            identify(&experiment, &IdentifyOptions::default()).map_err(|e| e.to_string())?;
        let value =
            |path: &str| result.parameters.get(path).map_or(f64::NAN, |p| p.estimate.as_slice()[0]);
        group.add(
            &format!("friction, from a start of {start}"),
            "published nominal value 0.18",
            Criterion::Within { reference: 0.18, tolerance: 0.02 },
            value("geom.cube.friction"),
        );
        group.add(
            &format!("half width, m, friction started at {start}"),
            "height at rest",
            Criterion::Within { reference: 0.0512, tolerance: 5.12e-4 },
            value("geom.cube.size"),
        );
        if start == 0.5 {
            let fitted = median(&result, Role::Fitted);
            let what = "22 fitted tosses: centre off, median of their rms, mm";
            group.add(what, "", Criterion::AtMost(10.0), fitted);
            let left = median(&result, Role::Validation);
            let what =
                "92 tosses left out, from their first frame: centre off, median of their rms, mm";
            group.add(what, "a trial: 15.5", Criterion::AtMost(20.0), left);
        }
    }
    Ok(())
}

/// Friction and half width from tosses to rest.
pub fn run() -> Group {
    let mut group = Group::new(
        "Cube tosses, measured",
        "A cube thrown on a table (examples/cube-toss): 22 tosses fitted together to rest, each with its own start; 92 \
         predicted from their first frame. No prior on what is checked.",
    );
    if let Err(error) = measure(&mut group) {
        group.failed("the identification", error);
    }
    group
}
