//! Adjoints of motions.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use costate::dynamics::observe::MotionObserver;
use costate::dynamics::rollout::{Gradient, Observer, Recorded};
use costate::model::State;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{array, numbers};
use crate::errors::{Result, invalid};
use crate::interrupt::detached;
use crate::outputs::Outputs;
use crate::rollout::each;
use crate::setup::{Setup, cotangent};

/// A forward run that adjoints can be carried back through, any number of times.
#[pyclass(frozen, module = "costate._costate")]
pub struct Record {
    pub setup: Setup,
    pub outputs: Arc<Outputs>,
    pub observer: MotionObserver,
    pub recorded: Recorded,
    pub wanted: Option<Vec<String>>,
}

/// Carries adjoints back through records: for each the derivatives `(parameters, initial, controls)`,
/// by path, as `(q, v, act)`, and by channel in the order of its controls.
#[pyfunction]
pub fn pullback<'py>(
    py: Python<'py>,
    records: Vec<PyRef<'py, Record>>,
    adjoints: &Bound<'py, PyList>,
) -> Result<Bound<'py, PyList>> {
    let mut y_bars = Vec::new();
    for (record, adjoint) in records.iter().zip(adjoints.iter()) {
        y_bars.push(record.y_bar(&adjoint)?);
    }
    if y_bars.len() != records.len() {
        return invalid("one adjoint for each record");
    }
    let records: Vec<&Record> = records.iter().map(|r| &**r).collect();
    let work: usize =
        records.iter().map(|r| 3 * r.setup.compiled.system.dof() * r.observer.steps()).sum();
    let found = detached(py, work, |interrupt| {
        each(&records, |i, record| record.pull(&y_bars[i], interrupt))
    })?;
    let list = PyList::empty(py);
    for (record, (gradient, theta_bar, initial)) in records.iter().zip(found) {
        list.append(record.derivatives(py, gradient, &theta_bar, initial)?)?;
    }
    Ok(list)
}

impl Record {
    /// An adjoint of the observed values from `(q, v, act, signals)`, each None for zero.
    fn y_bar(&self, given: &Bound<'_, PyAny>) -> Result<Vec<f64>> {
        let parts: [Bound<'_, PyAny>; 4] = given.extract()?;
        let mut y_bar = vec![0.0; self.observer.len()];
        let [q, v, act] = self.observer.places();
        let places = [q, v, act, self.observer.states_len()..y_bar.len()];
        let names = ["positions", "velocities", "activations", "signals"];
        for ((part, place), name) in parts.into_iter().zip(places).zip(names) {
            if part.is_none() {
                continue;
            }
            let (values, _) = numbers(&part, &format!("cotangent of {name}"))?;
            if values.len() != place.len() {
                return invalid(format!(
                    "the cotangent of {name} takes {} values, found {}",
                    place.len(),
                    values.len()
                ));
            }
            y_bar[place].copy_from_slice(&values);
        }
        Ok(y_bar)
    }

    fn pull(&self, y_bar: &[f64], interrupt: &AtomicBool) -> Result<(Gradient, Vec<f64>, State)> {
        let ready = self.setup.ready()?;
        let run = ready.run(interrupt);
        let gradient = run.pullback(&self.observer, &self.outputs.p(), &self.recorded, y_bar)?;
        let system = &self.setup.compiled.system;
        let theta_bar = system.derive_pullback(self.setup.theta(), ready.constants(), &gradient.c);
        let initial = cotangent(system, &run.start().q, &gradient.initial);
        Ok((gradient, theta_bar, initial))
    }

    fn derivatives<'py>(
        &self,
        py: Python<'py>,
        gradient: Gradient,
        theta_bar: &[f64],
        initial: State,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let leaves = self.setup.compiled.leaves();
        let by_path = PyDict::new(py);
        for (id, leaf) in leaves.iter() {
            if self.wanted.as_ref().is_none_or(|w| w.contains(&leaf.path)) {
                let values = theta_bar[leaves.range(id)].to_vec();
                by_path.set_item(&leaf.path, array(py, values, &leaf.shape)?)?;
            }
        }
        let flat = |values: Vec<f64>| {
            let n = [values.len()];
            array(py, values, &n)
        };
        let initial = (flat(initial.q)?, flat(initial.v)?, flat(initial.act)?);
        let mut by_channel = gradient.inputs;
        let controls = PyList::empty(py);
        for &channel in &self.setup.channels {
            let values = std::mem::take(&mut by_channel[channel]);
            let size = self.setup.compiled.system.channels()[channel].size;
            controls.append(array(py, values.clone(), &[values.len() / size, size])?)?;
        }
        (by_path, initial, controls).into_pyobject(py)
    }
}

#[pymethods]
impl Record {
    /// The observed values as `(q, v, act, signals)`.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.outputs.split(py, &self.setup.compiled.system, self.recorded.y.clone())
    }
}
