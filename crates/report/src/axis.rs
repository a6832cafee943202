//! Axes: the range shown and where the labelled ticks are. The plotting library's own search for
//! ticks works with absolute tolerances, which fails on narrow and on far ranges.

use crate::number::{significant, superscript};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// A range of values and its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    /// Values and their labels.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// About `count` ticks at 1, 2 or 5 times a power of ten.
    pub(crate) fn linear([low, high]: [f64; 2], count: usize) -> Self {
        Self { low, high, ticks: Vec::new() }.with_ticks(&round_values(low, high, count), plain)
    }

    /// As [`Axis::linear`], at whole numbers only.
    pub(crate) fn whole([low, high]: [f64; 2], count: usize) -> Self {
        let mut values = round_values(low, high, count);
        values.retain(|v| v.fract() == 0.0);
        Self { low, high, ticks: Vec::new() }.with_ticks(&values, plain)
    }

    /// A range of decimal logarithms, labelled by the values themselves.
    pub(crate) fn logarithmic([low, high]: [f64; 2]) -> Self {
        let new = Self { low, high, ticks: Vec::new() };
        let decades = high - low;
        if decades >= 3.0 {
            let values = round_values(low, high, 6);
            let whole: Vec<f64> = values.into_iter().filter(|v| v.fract() == 0.0).collect();
            return new.with_ticks(&whole, |v, _| format!("10{}", superscript(v as i32)));
        }
        let label = |v: f64, _| significant(10f64.powf(v), if decades < 0.3 { 3 } else { 1 });
        if decades < 0.3 {
            let values = round_values(low, high, 4);
            return new.with_ticks(&values, label);
        }
        let powers = low.floor() as i32..=high.ceil() as i32;
        let parts = [1.0f64, 2.0, 5.0];
        let values: Vec<f64> =
            powers.flat_map(|k| parts.map(|m| f64::from(k) + m.log10())).collect();
        new.with_ticks(&values, label)
    }

    /// Room for so many rows, each of height one, without ticks.
    pub(crate) fn rows(count: usize) -> Self {
        Self { low: 0.0, high: count as f64, ticks: Vec::new() }
    }

    fn with_ticks(mut self, values: &[f64], label: impl Fn(f64, f64) -> String) -> Self {
        let step = match values {
            [a, b, ..] => b - a,
            _ => self.high - self.low,
        };
        let mut last = f64::NEG_INFINITY;
        for v in values {
            let place = self.place(*v);
            // Values that rounding makes coincide would be written over each other.
            if (-1e-9..=1.0 + 1e-9).contains(&place) && place - last > 1e-3 {
                last = place;
                self.ticks.push((*v, label(*v, step)));
            }
        }
        self
    }

    /// Where a value lies, 0 at the low end and 1 at the high one.
    fn place(&self, v: f64) -> f64 {
        (v - self.low) / (self.high - self.low)
    }

    /// The range.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        [self.low, self.high]
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, v: &f64, (from, to): (i32, i32)) -> i32 {
        // A conversion of NaN gives 0, one of a huge number the largest that fits.
        let place = self.place(*v) * f64::from(to - from);
        from.saturating_add(place.round() as i32)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|t| t.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(v: &f64) -> String {
        significant(*v, 4)
    }

    fn format_ext(&self, v: &f64) -> String {
        let tick = self.ticks.iter().find(|t| t.0 == *v);
        tick.map_or(String::new(), |t| t.1.clone())
    }
}

/// Multiples of 1, 2 or 5 times a power of ten within a range, about `count`.
fn round_values(low: f64, high: f64, count: usize) -> Vec<f64> {
    let wanted = (high - low) / count as f64;
    if !(wanted > 0.0 && wanted.is_finite()) {
        return Vec::new();
    }
    let power = 10f64.powf(wanted.log10().floor());
    let digit = wanted / power;
    let step = power
        * if digit < 1.5 {
            1.0
        } else if digit < 3.5 {
            2.0
        } else if digit < 7.5 {
            5.0
        } else {
            10.0
        };
    let first = (low / step - 1e-9).ceil();
    (0..=2 * count).map(|k| (first + k as f64) * step).take_while(|v| *v <= high).collect()
}

/// With just the decimals that the step needs.
fn plain(v: f64, step: f64) -> String {
    let decimals = (-(step * 1.000_001).log10().floor()).clamp(0.0, 12.0) as usize;
    if v.abs() >= 1e13 || (v != 0.0 && step < 1e-12) {
        return significant(v, 4);
    }
    let v = if v.abs() < 1e-6 * step { 0.0 } else { v };
    format!("{v:.decimals$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::linear([-0.25, 0.26], 5)), ["−0.2", "−0.1", "0.0", "0.1", "0.2"]);
        assert_eq!(labels(&Axis::linear([0.0, 2.0], 4)), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(labels(&Axis::whole([0.0, 3.0], 8)), ["0", "1", "2", "3"]);
        let axis = Axis::linear([10.0, 20.0], 2);
        assert_eq!(axis.ticks[1], (15.0, "15".into()));
        assert_eq!(axis.format_ext(&15.0), "15");
        assert_eq!(axis.map(&15.0, (0, 100)), 50);
        assert_eq!(axis.map(&f64::NAN, (0, 100)), 0);
    }

    #[test]
    fn logarithms_are_labelled_by_values() {
        assert_eq!(labels(&Axis::logarithmic([-2.0, 2.0])), ["10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]);
        assert_eq!(labels(&Axis::logarithmic([0.0, 1.0])), ["1", "2", "5", "10"]);
        assert!(Axis::logarithmic([0.0, 0.1]).ticks.len() >= 3);
    }

    #[test]
    fn any_range_has_few_ticks() {
        let ranges =
            [[0.0, 0.0], [1e-320, 2e-320], [1e16, 1e16 + 4.0], [-1e290, 1e290], [1.0, f64::NAN]];
        for range in ranges {
            for axis in [Axis::linear(range, 6), Axis::whole(range, 6)] {
                assert!(axis.ticks.len() <= 13, "{range:?}");
                let inside = |t: &(f64, String)| (0..=100).contains(&axis.map(&t.0, (0, 100)));
                assert!(axis.ticks.iter().all(inside));
            }
        }
    }
}
