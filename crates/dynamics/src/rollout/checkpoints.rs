//! Which states to keep for the reverse sweep.
//!
//! A stack of snapshots is filled during the forward run and worked off from its top: where the
//! steps above the top snapshot fit the free memory they are run again and stored, otherwise a
//! new snapshot is placed among them by the binomial rule (Griewank & Walther, Algorithm 799:
//! revolve, 2000). The result of a reverse sweep does not depend on any of this.

use crate::error::DynamicsError;

/// How the reverse sweep keeps states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Store all where that fits the budget, else two levels, else binomial.
    #[default]
    Automatic,
    /// Every state.
    StoreAll,
    /// Snapshots √N apart; each segment is run a second time.
    TwoLevel,
    /// As many snapshots as fit, placed by the binomial rule.
    Binomial,
}

/// Where the forward run leaves snapshots, and how many states may be held at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Steps whose state is kept, ascending, starting with 0.
    pub snapshots: Vec<usize>,
    /// States that may be held in all.
    pub capacity: usize,
}

/// Plans a run of `steps` steps with states of `bytes` bytes.
pub(super) fn plan(
    policy: Policy,
    steps: usize,
    bytes: usize,
    budget: usize,
) -> Result<Plan, DynamicsError> {
    let capacity = budget / bytes.max(1);
    let root = (steps as f64).sqrt().ceil().max(1.0) as usize;
    let two_levels = steps.div_ceil(root) + root;
    let policy = match policy {
        Policy::Automatic if steps < capacity => Policy::StoreAll,
        Policy::Automatic if two_levels <= capacity => Policy::TwoLevel,
        Policy::Automatic => Policy::Binomial,
        other => other,
    };
    match policy {
        Policy::StoreAll | Policy::Automatic => {
            Ok(Plan { snapshots: vec![0], capacity: steps + 1 })
        }
        Policy::TwoLevel => {
            Ok(Plan { snapshots: (0..steps.max(1)).step_by(root).collect(), capacity: two_levels })
        }
        Policy::Binomial => {
            if capacity < 2 {
                return Err(DynamicsError::Invalid(format!(
                    "a memory budget of {budget} bytes holds {capacity} states of {bytes} bytes; \
                     a gradient needs at least two: raise the budget to {} bytes",
                    2 * bytes
                )));
            }
            let mut snapshots = vec![0];
            let mut at = 0;
            while let Some(advance) = split(steps - at, capacity - snapshots.len()) {
                at += advance;
                snapshots.push(at);
            }
            Ok(Plan { snapshots, capacity })
        }
    }
}

/// How far to advance from a snapshot with `steps` steps above it and room for `free` more
/// states before placing the next one; `None` where the steps can all be stored, or nothing is
/// left but to run them again one by one.
pub(super) fn split(steps: usize, free: usize) -> Option<usize> {
    if steps <= free || free <= 1 {
        return None;
    }
    // One place stays free for the end of the step that is being reversed.
    let slots = free - 1;
    let mut repetitions = 1;
    while binomial(slots + repetitions, slots) < steps as u128 {
        repetitions += 1;
    }
    let above = binomial(slots - 1 + repetitions, slots - 1).min(steps as u128 - 1) as usize;
    Some((steps - above).max(1))
}

fn binomial(n: usize, k: usize) -> u128 {
    let k = k.min(n - k);
    let mut result: u128 = 1;
    for i in 0..k {
        result = result.saturating_mul((n - i) as u128) / (i as u128 + 1);
        if result > u64::MAX as u128 {
            return u64::MAX as u128;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_hold_two_roots() {
        let plan = plan(Policy::TwoLevel, 65_536, 1, 0).unwrap();
        assert_eq!(plan.snapshots.len(), 256);
        assert_eq!(plan.capacity, 512);
    }

    #[test]
    fn automatic_takes_the_cheapest_that_fits() {
        let snapshots = |budget| plan(Policy::Automatic, 10_000, 8, budget).unwrap();
        assert_eq!(snapshots(8 * 10_001).snapshots, [0]);
        assert_eq!(snapshots(8 * 200).snapshots.len(), 100);
        assert!(snapshots(8 * 20).snapshots.len() < 20);
        assert!(plan(Policy::Automatic, 10_000, 8, 8).is_err());
    }

    #[test]
    fn splits_leave_something_on_both_sides() {
        for steps in 2..200 {
            for free in 2..20 {
                if let Some(m) = split(steps, free) {
                    assert!(m >= 1 && m < steps, "{steps} {free} {m}");
                }
            }
        }
    }
}
