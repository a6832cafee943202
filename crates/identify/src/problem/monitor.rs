//! Watching contacts along a run without keeping its states.

use std::sync::{Mutex, PoisonError};

use costate_dynamics::DynamicsError;
use costate_dynamics::contact::{ContactMonitor, ContactReport};
use costate_dynamics::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer, Run};

/// Feeds every state of a run to a contact monitor; observes no value.
struct Watch<'a> {
    steps: usize,
    monitor: Mutex<ContactMonitor<'a>>,
}

impl Observer for Watch<'_> {
    fn len(&self) -> usize {
        0
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, _step: usize) -> bool {
        true
    }
    fn observe(&self, at: Interval, _y: &mut [f64]) {
        // A monitor whose thread panicked is no longer reported on, but does no harm.
        let mut monitor = self.monitor.lock().unwrap_or_else(PoisonError::into_inner);
        if at.step == 0 {
            monitor.push(at.c, at.start);
        }
        monitor.push(at.c, at.end);
    }
    fn pushforward(&self, _at: Interval, _tangents: IntervalTangents, _y_dot: &mut [f64]) {}
    fn pullback(&self, _at: Interval, _y_bar: &[f64], _adjoints: IntervalAdjoints) {}
}

/// What happens in the contacts of a run of `steps` steps.
pub(crate) fn contact_report(run: &Run, steps: usize) -> Result<ContactReport, DynamicsError> {
    let watch = Watch { steps, monitor: Mutex::new(ContactMonitor::new(run.system)) };
    run.observe(&watch, &[])?;
    Ok(watch.monitor.into_inner().unwrap_or_else(PoisonError::into_inner).finish())
}
