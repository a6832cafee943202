//! The contacts of a run.

use super::forward::Run;
use crate::contact::{ContactMonitor, ContactReport};
use crate::error::DynamicsError;

impl Run<'_> {
    /// What the contacts of the first `steps` steps are like, without keeping the states.
    ///
    /// # Errors
    /// Divergence or an interrupt.
    pub fn contact_report(&self, steps: usize) -> Result<ContactReport, DynamicsError> {
        let mut monitor = ContactMonitor::new(self.system);
        let start = self.start();
        monitor.push(self.constants, &start);
        self.advance(start, 0..steps, &mut self.system.workspace(), |_, _, end, _| {
            monitor.push(self.constants, end);
            Ok(())
        })?;
        Ok(monitor.finish())
    }
}
