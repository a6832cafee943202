//! The example `emps`: mass, friction and offset of a measured system in its control loop, and by the
//! linear regressor.

use std::path::Path;

use costate_identify::{Experiment, Identification, IdentifyOptions, identify};

/// Name, published value, tolerance.
const MASS: (&str, f64) = ("body.carriage.mass", 95.1089);
const VISCOUS: (&str, f64) = ("joint.slide.damping", 203.5034);
const DRY: (&str, f64) = ("joint.slide.frictionloss", 20.3935);
const OFFSET: (&str, f64) = ("controller.force.offset", -3.1648);

fn read(file: &str) -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/emps");
    Experiment::read(folder.join(file)).unwrap()
}

#[track_caller]
fn compare(result: &Identification, expected: &[((&str, f64), f64)]) {
    for &((path, published), tolerance) in expected {
        let parameter = &result.parameters[path];
        let value = parameter.estimate.as_slice()[0];
        let off = (value / published - 1.0).abs();
        assert!(off <= tolerance, "{path}: {value}, {:.1} % off", 100.0 * off);
        assert!(parameter.ci95.is_some(), "{path} has no interval");
    }
}

/// From starts more than twice off, over the first 12 s, every tenth sample.
#[test]
fn the_closed_loop_gives_mass_friction_and_offset() {
    let mut experiment = read("experiment.toml");
    for data in &mut experiment.recordings[0].data {
        let kept = |i: &usize| data.times[*i] <= 12.0 && i.is_multiple_of(3);
        let rows: Vec<usize> = (0..data.times.len()).filter(kept).collect();
        data.values = rows.iter().map(|&i| data.values[i]).collect();
        data.times = rows.iter().map(|&i| data.times[i]).collect();
    }
    let result = identify(&experiment, &IdentifyOptions::default()).unwrap();
    assert!(result.converged, "{:?}", result.warnings);
    // The residuals are strongly correlated, and intervals say so.
    assert!(result.widening > 1.5, "{}", result.widening);
    compare(&result, &[(MASS, 0.01), (VISCOUS, 0.04), (DRY, 0.04), (OFFSET, 0.1)]);
}

#[test]
fn the_regressor_gives_the_published_values_at_once() {
    let result = identify(&read("regressor.toml"), &IdentifyOptions::default()).unwrap();
    assert!(result.converged, "{:?}", result.warnings);
    compare(&result, &[(MASS, 0.01), (VISCOUS, 0.01), (DRY, 0.01), (OFFSET, 0.03)]);
}
