//! Which samples are read in which interval.

use std::ops::Range;

use super::hermite::EDGE;

/// Samples that are taken at one time of one clock.
#[derive(Clone, Debug)]
pub(super) struct Instant {
    /// Time by the clock, s.
    pub time: f64,
    /// The interval may be one of these, whatever the offset within its bounds.
    first: usize,
    last: usize,
}

/// The instants of one clock, in order of time.
#[derive(Clone, Debug)]
pub(super) struct ClockSchedule {
    /// Where its offset lies among the observer's parameters, if it has one.
    pub offset: Option<usize>,
    pub instants: Vec<Instant>,
    /// Index of its first instant among those of all clocks.
    pub base: usize,
}

/// The interval of length `h` that `time` falls in; a time on a step belongs to the interval
/// that ends there, so that a run need not go past its last sample.
fn interval(h: f64, time: f64) -> usize {
    ((time / h - EDGE).ceil() - 1.0).max(0.0) as usize
}

impl ClockSchedule {
    /// A schedule for ascending times and offsets within `bounds`.
    pub fn new(
        h: f64,
        offset: Option<usize>,
        bounds: [f64; 2],
        times: impl Iterator<Item = f64>,
        base: usize,
    ) -> Self {
        let instants = times.map(|time| Instant {
            time,
            first: interval(h, time + bounds[0]),
            last: interval(h, time + bounds[1]),
        });
        Self { offset, instants: instants.collect(), base }
    }

    /// Number of steps that serve every offset within the bounds.
    pub fn steps(&self) -> usize {
        self.instants.last().map_or(0, |instant| instant.last + 1)
    }

    /// Marks every interval that may be read.
    pub fn mark(&self, reads: &mut [bool]) {
        let mut marked = 0;
        for instant in &self.instants {
            for read in &mut reads[instant.first.max(marked).min(instant.last)..=instant.last] {
                *read = true;
            }
            marked = instant.last + 1;
        }
    }

    /// The instants that fall into interval `step` for the parameters `p`, and the offset.
    pub fn instants(&self, h: f64, p: &[f64], step: usize) -> (Range<usize>, f64) {
        let offset = self.offset.map_or(0.0, |i| p[i]);
        // An offset beyond its bounds keeps the interval at the bound, so that every sample is
        // read once; the motion is extrapolated there.
        let at = |i: &Instant| interval(h, i.time + offset).clamp(i.first, i.last);
        let start = self.instants.partition_point(|i| at(i) < step);
        let length = self.instants[start..].partition_point(|i| at(i) == step);
        (start..start + length, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> ClockSchedule {
        let times = (0..8).map(|i| 0.01 * f64::from(i));
        ClockSchedule::new(1e-3, Some(0), [-3e-3, 4e-3], times, 0)
    }

    #[test]
    fn every_sample_is_read_once_and_only_where_it_may_be() {
        let schedule = schedule();
        let mut reads = vec![false; schedule.steps()];
        schedule.mark(&mut reads);
        assert_eq!(reads.len(), 74);
        for offset in [-3e-3, -2.7e-3, -1e-9, 0.0, 1e-3, 1.31e-3, 4e-3, 0.5, -0.5] {
            let mut seen = Vec::new();
            for (step, reads) in reads.iter().enumerate() {
                let (range, _) = schedule.instants(1e-3, &[offset], step);
                assert!(*reads || range.is_empty());
                for i in range {
                    seen.push(i);
                    let tau = schedule.instants[i].time + offset - 1e-3 * step as f64;
                    let inside =
                        (-1e-9..=1e-3 + 1.1e-10).contains(&tau) || (step == 0 && tau < 0.0);
                    assert!(inside || offset.abs() > 0.1, "{offset} {step} {tau}");
                }
            }
            assert_eq!(seen, (0..8).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_sample_on_a_step_asks_for_no_further_one() {
        let times = [0.0, 0.01];
        let schedule = ClockSchedule::new(2e-5, None, [0.0; 2], times.into_iter(), 0);
        assert_eq!(schedule.steps(), 500);
        assert_eq!(schedule.instants(2e-5, &[], 499).0, 1..2);
    }
}
