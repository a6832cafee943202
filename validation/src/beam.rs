//! The silicone beam from its measured free vibration.

use std::collections::BTreeMap;

use costate::formats::table::Table;
use costate::identify::{Experiment, Identification, IdentifyOptions, SignalFit, identify};

use crate::check::{Criterion, Group};

const TIPS: [&str; 3] = ["tip1", "tip2", "tip3"];
const MARKERS: [&str; 6] = ["tip1", "tip2", "tip3", "base1", "base2", "base3"];
const AXES: [&str; 3] = ["x", "y", "z"];

/// Times of a recording over which the motion of the tip is compared, s.
const MOTION: f64 = 1.5;
/// Frames at the end of a recording in which the beam rests.
const RESTING: usize = 50;

/// E and damping from `gravity_a`, from starts on both sides; `gravity_b` is predicted.
pub fn run() -> Group {
    let mut group = Group::new(
        "Silicone beam, measured",
        "Young's modulus, damping and release time from the free vibration gravity_a; gravity_b is \
         predicted. Starts 3 times too soft and 3 times too stiff.",
    );
    if let Err(error) = measure(&mut group) {
        group.failed("the identification", error);
    }
    group
}

fn measure(group: &mut Group) -> Result<(), String> {
    let path = crate::root().join("examples/silicone-beam/experiment.toml");
    let mut experiment = Experiment::read(&path).map_err(|e| e.to_string())?;
    let fit = |experiment: &Experiment| {
        identify(experiment, &IdentifyOptions::default()).map_err(|e| e.to_string())
    };
    let soft = fit(&experiment)?;
    let young = estimate(&soft)?;
    let parameter = experiment.parameters.iter_mut().find(|p| p.entry.path == YOUNG);
    parameter.ok_or("the experiment does not ask for E")?.entry.start = Some(vec![3.0 * young]);
    let stiff = fit(&experiment)?;
    group.add(
        "E, Pa",
        "263 824 Pa, fitted by others to the resting shape",
        Criterion::Between(200e3, 330e3),
        young,
    );
    group.add(
        "E from the two starts, relative difference",
        "one minimum",
        Criterion::AtMost(1e-3),
        (estimate(&stiff)? / young - 1.0).abs(),
    );
    for recording in ["gravity_a", "gravity_b"] {
        compare(group, &soft, recording)?;
    }
    Ok(())
}

const YOUNG: &str = "soft.beam.young";

fn estimate(result: &Identification) -> Result<f64, String> {
    let parameter = result.parameters.get(YOUNG).ok_or("the result has no E")?;
    parameter.estimate.as_slice().first().copied().ok_or_else(|| "E has no value".into())
}

fn compare(group: &mut Group, result: &Identification, recording: &str) -> Result<(), String> {
    let signals: BTreeMap<&str, &SignalFit> = result
        .signals
        .iter()
        .filter(|s| s.recording == recording)
        .map(|s| (s.signal.as_str(), s))
        .collect();
    let find = |name: &str| signals.get(name).copied().ok_or_else(|| format!("no signal {name}"));
    let file = crate::root().join(format!("examples/silicone-beam/data/{recording}.csv"));
    let table = Table::read(&file).map_err(|e| e.to_string())?;
    let rest = |marker: &str, axis: &str| {
        let column = table.column(&format!("{marker}_{axis}_m")).map_err(|e| e.to_string())?;
        Ok::<f64, String>(mean(&column.values[column.values.len().saturating_sub(RESTING)..]))
    };
    let (mut off, mut moved) = (0.0, 0.0);
    let (mut before, mut after) = (0.0, 0.0);
    for marker in TIPS {
        for axis in AXES {
            let fit = find(&format!("{marker}.{axis}"))?;
            let rest = rest(marker, axis)?;
            before += fit.rms_initial.powi(2);
            after += fit.rms.powi(2);
            for ((t, y), predicted) in fit.times.iter().zip(&fit.measured).zip(&fit.predicted) {
                if let (Some(y), true) = (y, *t <= MOTION) {
                    off += (y - predicted).powi(2);
                    moved += (y - rest).powi(2);
                }
            }
        }
    }
    group.add(
        &format!("{recording}: tip markers off over 1.5 s, % of their motion about rest"),
        "a body at rest scores 100",
        Criterion::AtMost(25.0),
        100.0 * (off / moved).sqrt(),
    );
    group.add(
        &format!("{recording}: tip markers over 2 s, rms before the fit over rms after it"),
        "1 where nothing is learnt",
        Criterion::AtLeast(5.0),
        (before / after).sqrt(),
    );
    let mut worst = 0.0f64;
    for marker in MARKERS {
        let mut sum = 0.0;
        for axis in AXES {
            sum += find(&format!("{marker}.{axis}"))?.rms.powi(2);
        }
        worst = worst.max(sum.sqrt());
    }
    group.add(
        &format!("{recording}: worst marker over 2 s, mm rms"),
        "places known to 1 mm",
        Criterion::AtMost(1.0),
        1e3 * worst,
    );
    let height = find("tip2.z")?;
    let measured: Vec<f64> = height.measured.iter().map(|y| y.unwrap_or(f64::NAN)).collect();
    // After 1.7 s the model's swing has died down to a hundredth of a millimetre.
    let last = &height.predicted[height.predicted.len().saturating_sub(26)..];
    let seen = dips(&height.times, &measured, rest("tip2", "z")?);
    let found = dips(&height.times, &height.predicted, mean(last));
    let (seen, found) = (Swing::of(&seen)?, Swing::of(&found)?);
    group.add(
        &format!("{recording}: frequency, relative error"),
        "four dips of tip2",
        Criterion::AtMost(0.02),
        (found.frequency / seen.frequency - 1.0).abs(),
    );
    group.add(
        &format!("{recording}: a dip over the one before, relative error"),
        "four dips of tip2 below rest",
        Criterion::AtMost(0.15),
        (found.ratio / seen.ratio - 1.0).abs(),
    );
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Frequency, and how much smaller each dip is than the one before, from the first four.
struct Swing {
    frequency: f64,
    ratio: f64,
}

impl Swing {
    fn of(dips: &[(f64, f64)]) -> Result<Self, String> {
        match dips {
            [first, _, _, fourth, ..] => Ok(Self {
                frequency: 3.0 / (fourth.0 - first.0),
                ratio: (fourth.1 / first.1).cbrt(),
            }),
            _ => Err(format!("only {} dips", dips.len())),
        }
    }
}

/// Time and depth below rest of every dip, from the parabola through its three lowest samples.
fn dips(t: &[f64], z: &[f64], rest: f64) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    for i in 1..z.len().saturating_sub(1) {
        let (a, b, c) = (z[i - 1], z[i], z[i + 1]);
        let bend = a - 2.0 * b + c;
        if b < rest && b <= a && b < c && bend > 0.0 {
            let shift = 0.5 * (a - c) / bend;
            let time = t[i] + shift * (t[i + 1] - t[i]);
            found.push((time, rest - (b - 0.25 * (a - c) * shift)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damped_cosine_has_its_frequency_and_decay() {
        let t: Vec<f64> = (0..200).map(|i| 0.01 * f64::from(i)).collect();
        let w = 2.0 * std::f64::consts::PI * 5.0;
        let z: Vec<f64> = t.iter().map(|t| 0.3 + (-2.0 * t).exp() * (w * t).cos()).collect();
        let swing = Swing::of(&dips(&t, &z, 0.3)).unwrap();
        assert!((swing.frequency - 5.0).abs() < 0.01, "{}", swing.frequency);
        assert!((swing.ratio - (-0.4f64).exp()).abs() < 0.01, "{}", swing.ratio);
    }
}
