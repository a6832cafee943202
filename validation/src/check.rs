//! What a check is.

/// How a measured value is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// Within this distance of the reference.
    Within {
        /// The reference value.
        reference: f64,
        /// The distance.
        tolerance: f64,
    },
    /// Between two values.
    Between(f64, f64),
}

/// One measured value and what it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What is measured.
    pub what: String,
    /// What it is compared with.
    pub reference: String,
    /// How it is judged; set before the measurement.
    pub criterion: Criterion,
    /// What came out; NaN where it could not be measured.
    pub measured: f64,
}

impl Check {
    /// A check.
    pub fn new(what: &str, reference: &str, criterion: Criterion, measured: f64) -> Self {
        Self { what: what.into(), reference: reference.into(), criterion, measured }
    }
    /// Whether the measured value is as it must be.
    pub fn passes(&self) -> bool {
        let x = self.measured;
        match self.criterion {
            Criterion::AtMost(limit) => x <= limit,
            Criterion::AtLeast(limit) => x >= limit,
            Criterion::Within { reference, tolerance } => (x - reference).abs() <= tolerance,
            Criterion::Between(low, high) => low <= x && x <= high,
        }
    }
}

/// Checks that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Heading.
    pub title: String,
    /// What is done, in a sentence or two.
    pub about: String,
    /// The checks.
    pub checks: Vec<Check>,
}

impl Group {
    /// An empty group.
    pub fn new(title: &str, about: &str) -> Self {
        Self { title: title.into(), about: about.into(), checks: Vec::new() }
    }
    /// Adds a check.
    pub fn add(&mut self, what: &str, reference: &str, criterion: Criterion, measured: f64) {
        self.checks.push(Check::new(what, reference, criterion, measured));
    }
    /// Adds a check that could not be measured, with the reason in place of the reference.
    pub fn failed(&mut self, what: &str, reason: impl std::fmt::Display) {
        self.checks.push(Check::new(what, &reason.to_string(), Criterion::AtMost(0.0), f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_fails() {
        let mut group = Group::new("", "");
        group.failed("x", "no data");
        group.add("y", "", Criterion::Within { reference: 1.0, tolerance: 0.1 }, 1.05);
        group.add("z", "", Criterion::AtLeast(2.0), 1.0);
        let verdicts: Vec<bool> = group.checks.iter().map(Check::passes).collect();
        assert_eq!(verdicts, [false, true, false]);
    }
}
