//! The arm of `common/arm.rs` from bad starts, and its intervals on fresh noise, reduced.

#[path = "common/arm.rs"]
mod arm;

use arm::{JOINTS, TRUTH, clean, noisy};
use costate_identify::{Experiment, Identification, IdentifyOptions, identify};

fn solve(experiment: &Experiment) -> Identification {
    let result = identify(experiment, &IdentifyOptions::default()).unwrap();
    assert!(result.converged, "{:?}", result.warnings);
    result
}

/// Largest distance from the truth, in standard errors.
fn worst(result: &Identification) -> f64 {
    let mut largest = 0.0f64;
    for (key, values, _) in TRUTH {
        for (joint, truth) in JOINTS.iter().zip(values) {
            let found = &result.parameters[&format!("joint.{joint}.{key}")];
            let error = found.std_error.as_ref().unwrap().as_slice()[0];
            largest = largest.max((found.estimate.as_slice()[0] - truth).abs() / error);
        }
    }
    largest
}

#[test]
fn from_far_off_and_from_the_lower_bound() {
    let clean = clean(500).unwrap();
    let far = noisy(&clean, 1, |k, value| value * if k % 2 == 0 { 5.0 } else { 0.2 });
    assert!(worst(&solve(&far)) < 4.0);
    // Where everything is zero, the motion diverges before it ends, and no friction has a row.
    let bound = noisy(&clean, 2, |_, _| 0.0);
    assert!(worst(&solve(&bound)) < 4.0);
}

#[test]
fn a_start_that_diverges_in_a_third_of_the_recording_is_no_obstacle() {
    let bound = noisy(&clean(1000).unwrap(), 3, |_, _| 0.0);
    assert!(worst(&solve(&bound)) < 4.0);
}

#[test]
fn intervals_cover_the_truth() {
    let clean = clean(250).unwrap();
    let mut covered = 0;
    for seed in 0..10 {
        let result = solve(&noisy(&clean, 100 + seed, |_, value| 1.3 * value));
        for (key, values, _) in TRUTH {
            for (joint, truth) in JOINTS.iter().zip(values) {
                let found = &result.parameters[&format!("joint.{joint}.{key}")];
                let [low, high] = found.ci95.as_ref().unwrap()[0];
                covered += usize::from(low <= truth && truth <= high);
            }
        }
    }
    // Of 120; 99.9 % of right methods stay above 105.
    assert!(covered >= 105, "{covered}");
}
