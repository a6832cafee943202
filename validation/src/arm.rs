//! A simulated arm on fresh noise: how often intervals cover the truth.

use costate::identify::{IdentifyOptions, identify};

use crate::arm_problem::{JOINTS, TRUTH, clean, noisy};
use crate::check::{Criterion, Group};

const DRAWS: u64 = 100;

/// 100 fits of 20 unknowns.
pub fn run() -> Group {
    let mut group = Group::new(
        "Arm, simulated, 100 draws of noise",
        "Damping, armature and dry friction of the four joints of an arm (12 numbers) from 4 s of positions and \
         velocities at 250 Hz with noise of 2 mrad and 20 mrad/s, whose size is estimated; where the motion starts \
         is unknown too. How often 95 % intervals cover the truth, over 100 draws of noise.",
    );
    if let Err(error) = measure(&mut group) {
        group.failed("the identification", error);
    }
    group
}

fn measure(group: &mut Group) -> Result<(), String> {
    let clean = clean(1000).map_err(|e| e.to_string())?;
    let mut covered = [0u32; 12];
    for seed in 0..DRAWS {
        let experiment = noisy(&clean, 1000 + seed, |_, value| 1.5 * value);
        let result =
            identify(&experiment, &IdentifyOptions::default()).map_err(|e| e.to_string())?;
        let mut place = 0;
        for (key, values, _) in TRUTH {
            for (joint, truth) in JOINTS.iter().zip(values) {
                let found = result.parameters.get(&format!("joint.{joint}.{key}"));
                let interval = found.and_then(|p| p.ci95.as_ref()).and_then(|i| i.first());
                if interval.is_some_and(|[low, high]| *low <= truth && truth <= *high) {
                    covered[place] += 1;
                }
                place += 1;
            }
        }
    }
    let draws = DRAWS as f64;
    let pooled = 100.0 * f64::from(covered.iter().sum::<u32>()) / (12.0 * draws);
    group.add("all 12 together, %", "95", Criterion::Between(93.0, 97.0), pooled);
    let least = covered.iter().copied().min().unwrap_or(0);
    group.add("the least of the 12, of 100", "95", Criterion::AtLeast(88.0), f64::from(least));
    Ok(())
}
