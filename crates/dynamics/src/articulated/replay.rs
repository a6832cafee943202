//! What the reverse sweep of a run keeps of articulated bodies between steps.
//!
//! Steps leave records for their adjoints ([`StepRecords`]). Adjoints of constants are summed in one place over
//! all steps and handed over at the end: there are thousands of them, and a step is short.

use super::Articulated;
use crate::rigid::{RigidWorkspace, StepRecords};
use crate::system::{System, Workspace};

/// Kept between the steps of a run.
#[derive(Default)]
pub(crate) struct Replay {
    /// What steps have left, where that is asked for.
    records: Option<StepRecords>,
    /// What the step has left whose adjoint comes next; nothing where it is not known.
    pub next: StepRecords,
    /// Whether adjoints of constants stay until they are collected.
    pub summing: bool,
}

impl Replay {
    /// Takes what a step has left, where that is asked for.
    pub fn record(&mut self, a: &Articulated, ws: &RigidWorkspace) {
        if let Some(records) = &mut self.records {
            records.push(&a.mechanism, ws);
        }
    }
}

impl Workspace {
    /// From here on, steps leave their records for [`recorded`](Self::recorded).
    pub(crate) fn record(&mut self) {
        if let Some(rigid) = &mut self.rigid {
            rigid.replay.records = Some(StepRecords::default());
        }
    }

    /// What articulated bodies have left in all steps since [`record`](Self::record).
    pub(crate) fn recorded(&mut self) -> StepRecords {
        self.rigid.as_mut().and_then(|rigid| rigid.replay.records.take()).unwrap_or_default()
    }
}

impl System {
    /// Most bytes that a step leaves for its adjoint.
    pub(crate) fn record_bytes(&self) -> usize {
        self.articulated.as_ref().map_or(0, |a| StepRecords::width(a.tree()) * size_of::<f64>())
    }

    /// Says that the next adjoint is of step `i` of those that left `records`.
    pub(crate) fn replay(&self, records: &StepRecords, i: usize, ws: &mut Workspace) {
        if let (Some(a), Some(rigid)) = (&self.articulated, &mut ws.rigid) {
            rigid.replay.next.copy(&a.mechanism, records, i);
        }
    }

    /// Lets the adjoints of articulated bodies' constants stay in `ws` until
    /// [`collect_constants`](Self::collect_constants). A control, whose adjoint reads them, prevents it.
    pub(crate) fn sum_constants(&self, ws: &mut Workspace) {
        if let (Some(rigid), None) = (&mut ws.rigid, &self.control) {
            rigid.replay.summing = true;
            rigid.bar.c.fill(0.0);
        }
    }

    /// Adds the adjoints of articulated bodies' constants that have been summed.
    pub(crate) fn collect_constants(&self, ws: &mut Workspace, c_bar: &mut [f64]) {
        let Some(rigid) = &mut ws.rigid else { return };
        if std::mem::take(&mut rigid.replay.summing) {
            let own = &mut c_bar[self.layout.rigid.clone()];
            own.iter_mut().zip(&rigid.bar.c).for_each(|(sum, bar)| *sum += bar);
        }
    }
}
