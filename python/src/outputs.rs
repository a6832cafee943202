//! What a rollout gives: states and signals, as arrays over one buffer.

use std::sync::Arc;

use costate::dynamics::System;
use costate::dynamics::observe::MotionObserver;
use costate::dynamics::rollout::Observer;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use crate::errors::{Result, invalid};
use crate::model::{Model, times};
use crate::setup::Setup;

/// Most memory that the states of a rollout may take, bytes.
const MOST_BYTES: f64 = 64e9;

/// What a rollout gives: the states at every `every`-th step and the end, and signals at times.
pub struct Outputs {
    /// How many steps.
    pub steps: usize,
    at: Vec<usize>,
    signals: Option<Arc<crate::model::Signals>>,
    times: usize,
}

impl Outputs {
    /// From `(steps, every, signals, times)`; `every` is None for no states.
    pub fn read(model: &Model, given: &Bound<'_, PyTuple>) -> Result<Self> {
        let (steps, every, text, sampled): (
            Option<usize>,
            Option<usize>,
            Option<String>,
            Bound<'_, PyAny>,
        ) = given.extract()?;
        let sampled = times(&sampled)?;
        let signals = text.map(|text| model.signals(&text, &sampled)).transpose()?;
        let steps = match (steps, &signals) {
            (Some(steps), _) => steps,
            (None, Some(signals)) => signals.observer.steps(),
            (None, None) => return invalid("say how long: steps, duration, or times of signals"),
        };
        let states = match every {
            None => 0,
            Some(0) => return invalid("every: at least 1"),
            Some(every) => steps / every + 2,
        };
        let system = &model.compiled(&Vec::new(), None)?.system;
        let numbers = system.position_len() + system.dof() + system.activation_len();
        let bytes = 8.0 * states as f64 * numbers.max(1) as f64;
        if bytes > MOST_BYTES {
            return invalid(format!(
                "{states} states take {:.0} GB; keep fewer of them with a larger `every`",
                bytes / 1e9
            ));
        }
        let mut at = Vec::with_capacity(states);
        if let Some(every) = every {
            at.extend((0..=steps).step_by(every));
            if at.last() != Some(&steps) {
                at.push(steps);
            }
        }
        Ok(Self { steps, at, signals, times: sampled.len() })
    }

    /// What observes it.
    pub fn observer(&self, setup: &Setup) -> MotionObserver {
        let signals = self.signals.as_ref().map(|s| s.observer.clone());
        MotionObserver::new(&setup.compiled.system, self.at.clone(), self.steps, signals)
    }

    /// The parameters of the signals.
    pub fn p(&self) -> Vec<f64> {
        self.signals.as_ref().map_or_else(Vec::new, |s| s.observer.leaves().theta())
    }

    /// Observed values as `(q, v, act, signals)`: arrays `[states, …]` three times (None without
    /// states) and `[signals, times]` (None without signals), all of them views of one vector.
    pub fn split<'py>(
        &self,
        py: Python<'py>,
        system: &System,
        y: Vec<f64>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rows = self.at.len();
        let all = y.into_pyarray(py);
        let none = py.None().into_bound(py);
        let mut start = 0;
        let mut part = |rows: usize, columns: usize| -> PyResult<Bound<'py, PyAny>> {
            let end = start + rows * columns;
            let slice = PySlice::new(py, start as isize, end as isize, 1);
            start = end;
            all.get_item(slice)?.call_method1("reshape", (rows, columns))
        };
        let mut parts = Vec::new();
        for n in [system.position_len(), system.dof(), system.activation_len()] {
            parts.push(if rows > 0 { part(rows, n)? } else { none.clone() });
        }
        parts.push(match &self.signals {
            Some(signals) => part(signals.names.len(), self.times)?,
            None => none,
        });
        PyTuple::new(py, parts)
    }
}
