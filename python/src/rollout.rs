//! Rollouts, on all cores where there are several.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use costate::dynamics::DynamicsError;
use costate::dynamics::rollout::{AdjointOptions, Policy};
use costate::model::State;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rayon::prelude::*;

use crate::arrays::array;
use crate::errors::{Fault, Result, invalid};
use crate::interrupt::detached;
use crate::model::Model;
use crate::outputs::Outputs;
use crate::record::Record;
use crate::setup::Setup;

/// One result for each setup, on all cores where there are several; the first fault wins.
pub fn each<T: Send, S: Sync>(
    items: &[S],
    work: impl Fn(usize, &S) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    match items {
        [one] => Ok(vec![work(0, one)?]),
        many => many.par_iter().enumerate().map(|(i, item)| work(i, item)).collect(),
    }
}

/// Setups of a batch.
fn setups(
    model: &Model,
    items: &Bound<'_, PyList>,
    wanted: Option<&[String]>,
) -> Result<Vec<Setup>> {
    let read = |item: Bound<'_, PyAny>| match item.cast::<PyTuple>() {
        Ok(item) => Setup::read(model, item, wanted),
        Err(_) => invalid("a setup is (parameters, initial, controls)"),
    };
    items.iter().map(read).collect()
}

/// Coordinates times steps of some runs.
pub fn size(setups: &[Setup], steps: usize) -> usize {
    setups.iter().map(|s| s.compiled.system.dof()).sum::<usize>().saturating_mul(steps)
}

/// A run that diverged because its time step is unstable says so.
pub fn explain(setup: &Setup, fault: Fault) -> Fault {
    let Fault::Dynamics(DynamicsError::Diverged { .. }) = fault else { return fault };
    let Ok(ready) = setup.ready() else { return fault };
    let system = &setup.compiled.system;
    let flag = AtomicBool::new(false);
    let start = ready.run(&flag).start();
    let mut u = Vec::new();
    setup.inputs.sample(system.channels(), 0.0, &mut u);
    match system.check_timestep(ready.constants(), &start, &u) {
        Err(unstable) => Fault::Dynamics(unstable),
        Ok(_) => fault,
    }
}

#[pymethods]
impl Model {
    /// Runs forward: one `(q, v, act, signals)` for each setup. A run that diverges because of its time
    /// step says so unless `unstable` allows it.
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        items: &Bound<'py, PyList>,
        outputs: &Bound<'py, PyTuple>,
        unstable: bool,
    ) -> Result<Bound<'py, PyList>> {
        let setups = setups(self, items, None)?;
        let outputs = Outputs::read(self, outputs)?;
        let p = outputs.p();
        let ys = detached(py, size(&setups, outputs.steps), |interrupt| {
            each(&setups, |_, setup| {
                let ready = setup.ready()?;
                let run = ready.run(interrupt);
                if outputs.steps == 0 {
                    let start = run.start();
                    return Ok([start.q, start.v, start.act].concat());
                }
                let observer = outputs.observer(setup);
                run.observe(&observer, &p).map_err(|e| match unstable {
                    true => e.into(),
                    false => explain(setup, e.into()),
                })
            })
        })?;
        let list = PyList::empty(py);
        for (setup, y) in setups.iter().zip(ys) {
            list.append(outputs.split(py, &setup.compiled.system, y)?)?;
        }
        Ok(list)
    }

    /// The states of a run until it stops, at every `every`-th step: `(time, q, v, act)`.
    fn rollout_until_fault<'py>(
        &self,
        py: Python<'py>,
        item: &Bound<'py, PyTuple>,
        steps: usize,
        every: usize,
    ) -> Result<Bound<'py, PyTuple>> {
        let setup = Setup::read(self, item, None)?;
        let n = setup.compiled.system.dof();
        let states = detached(py, n.saturating_mul(steps), |interrupt| {
            let ready = setup.ready()?;
            Ok(match ready.run(interrupt).rollout(steps, every.max(1)) {
                Ok(trajectory) => trajectory.states,
                Err(failure) => failure.partial.states,
            })
        })?;
        let time: Vec<f64> = states.iter().map(|s| s.time).collect();
        let mut parts = vec![array(py, time, &[states.len()])?];
        for part in 0..3 {
            let of = |s: &State| [&s.q, &s.v, &s.act][part].clone();
            let values: Vec<f64> = states.iter().flat_map(of).collect();
            let shape = [states.len(), values.len() / states.len().max(1)];
            parts.push(array(py, values, &shape)?);
        }
        Ok(PyTuple::new(py, parts)?)
    }

    /// Runs forward and keeps what adjoints need: one [`Record`] for each setup. Derivatives by the
    /// leaves `wanted` will be asked for (all of them for None).
    #[pyo3(signature = (items, outputs, wanted, memory, detach))]
    fn record<'py>(
        &self,
        py: Python<'py>,
        items: &Bound<'py, PyList>,
        outputs: &Bound<'py, PyTuple>,
        wanted: Option<Vec<String>>,
        memory: usize,
        detach: Vec<usize>,
    ) -> Result<Vec<Record>> {
        let setups = setups(self, items, wanted.as_deref())?;
        let outputs = Arc::new(Outputs::read(self, outputs)?);
        if outputs.steps == 0 {
            return invalid("a derivative needs at least one step");
        }
        let options = AdjointOptions {
            budget: memory / setups.len().max(1),
            policy: Policy::Automatic,
            detach,
        };
        let p = outputs.p();
        let recorded = detached(py, size(&setups, outputs.steps), |interrupt| {
            each(&setups, |_, setup| {
                let ready = setup.ready()?;
                let observer = outputs.observer(setup);
                let run = ready.run(interrupt);
                run.record(&observer, &p, &options).map_err(|e| explain(setup, e.into()))
            })
        })?;
        let records = setups.into_iter().zip(recorded).map(|(setup, recorded)| Record {
            observer: outputs.observer(&setup),
            setup,
            outputs: outputs.clone(),
            recorded,
            wanted: wanted.clone(),
        });
        Ok(records.collect())
    }
}
