//! Rollouts, their sensitivities and their adjoints.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use costate::dynamics::observe::MotionObserver;
use costate::dynamics::rollout::{AdjointOptions, Gradient, Observer, Policy, Recorded, Seeds};
use costate::dynamics::{DynamicsError, StateTangents, System};
use costate::model::{InputSignal, Inputs, State};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};
use rayon::prelude::*;

use crate::arrays::{array, numbers};
use crate::errors::{Fault, Result, invalid};
use crate::interrupt::detached;
use crate::model::{Model, times};
use crate::setup::{Setup, cotangent, state, tangent, values};

/// Most memory that the states of a rollout may take, bytes.
const MOST_BYTES: f64 = 64e9;

/// What a rollout gives: the states at every `every`-th step and the end, and signals at times.
struct Outputs {
    steps: usize,
    at: Vec<usize>,
    signals: Option<Arc<crate::model::Signals>>,
    times: usize,
}

impl Outputs {
    /// From `(steps, every, signals, times)`; `every` is None for no states.
    fn read(model: &Model, given: &Bound<'_, PyTuple>) -> Result<Self> {
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

    fn observer(&self, setup: &Setup) -> MotionObserver {
        let signals = self.signals.as_ref().map(|s| s.observer.clone());
        MotionObserver::new(&setup.compiled.system, self.at.clone(), self.steps, signals)
    }

    /// The parameters of the signals.
    fn p(&self) -> Vec<f64> {
        self.signals.as_ref().map_or_else(Vec::new, |s| s.observer.leaves().theta())
    }

    /// Observed values as `(q, v, act, signals)`: arrays `[states, …]` three times (None without
    /// states) and `[signals, times]` (None without signals), all of them views of one vector.
    fn split<'py>(
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

/// One result for each setup, on all cores where there are several; the first fault wins.
fn each<T: Send, S: Sync>(
    items: &[S],
    work: impl Fn(usize, &S) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    match items {
        [one] => Ok(vec![work(0, one)?]),
        many => many.par_iter().enumerate().map(|(i, item)| work(i, item)).collect(),
    }
}

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

fn size(setups: &[Setup], steps: usize) -> usize {
    setups.iter().map(|s| s.compiled.system.dof()).sum::<usize>().saturating_mul(steps)
}

/// A run that diverged because its time step is unstable says so.
fn explain(setup: &Setup, fault: Fault) -> Fault {
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
    /// Runs forward: one `(q, v, act, signals)` for each setup.
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        items: &Bound<'py, PyList>,
        outputs: &Bound<'py, PyTuple>,
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
                run.observe(&observer, &p).map_err(|e| explain(setup, e.into()))
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

    /// Runs tangents forward along the given directions, each `(parameters, initial, controls)` with
    /// None for zero: `(y, y_dot)` as `(q, v, act, signals)`, one tangent for each direction.
    fn pushforward<'py>(
        &self,
        py: Python<'py>,
        item: &Bound<'py, PyTuple>,
        outputs: &Bound<'py, PyTuple>,
        directions: &Bound<'py, PyList>,
    ) -> Result<(Bound<'py, PyTuple>, Bound<'py, PyList>)> {
        let setup = Setup::read(self, item, None)?;
        let outputs = Outputs::read(self, outputs)?;
        let system = &setup.compiled.system;
        let mut theta_dots = Vec::new();
        let (mut initial_dot, mut any_initial) = (system.zero_tangents(0), false);
        let mut input_dots = Vec::new();
        let start = setup.ready()?.run(&AtomicBool::new(false)).start();
        for direction in directions.iter() {
            let Ok(direction) = direction.cast::<PyTuple>() else {
                return invalid("a direction is (parameters, initial, controls)");
            };
            theta_dots.push(theta_dot(&setup, &direction.get_item(0)?)?);
            let initial = direction.get_item(1)?;
            let one = if initial.is_none() {
                system.zero_tangents(1)
            } else {
                any_initial = true;
                tangent(system, &start.q, &state(system, &initial)?)
            };
            initial_dot.q.extend(one.q);
            initial_dot.v.extend(one.v);
            initial_dot.act.extend(one.act);
            input_dots.push(input_dot(&setup, &direction.get_item(2)?)?);
        }
        let columns = theta_dots.len();
        let p = outputs.p();
        let moved = input_dots.iter().any(Option::is_some);
        let (y, y_dot) = detached(
            py,
            size(std::slice::from_ref(&setup), outputs.steps * (1 + columns)),
            |interrupt| {
                let ready = setup.ready()?;
                let mut c = Vec::new();
                for theta_dot in &theta_dots {
                    c.extend(system.derive_pushforward(
                        setup.theta(),
                        ready.constants(),
                        theta_dot,
                    ));
                }
                let zero = || Inputs {
                    signals: setup
                        .inputs
                        .signals
                        .iter()
                        .map(|s| {
                            s.as_ref().map(|s| InputSignal {
                                values: vec![0.0; s.values.len()],
                                ..s.clone()
                            })
                        })
                        .collect(),
                };
                let seeds = Seeds {
                    columns,
                    c,
                    p: Vec::new(),
                    initial: any_initial.then_some(StateTangents { columns, ..initial_dot }),
                    inputs: if moved {
                        input_dots.into_iter().map(|d| d.unwrap_or_else(zero)).collect()
                    } else {
                        Vec::new()
                    },
                };
                let observer = outputs.observer(&setup);
                let found = ready.run(interrupt).sensitivities(&observer, &p, &seeds, &[]);
                let found = found.map_err(|e| explain(&setup, e.into()))?;
                Ok((found.y, found.y_dot))
            },
        )?;
        let len = y.len();
        let list = PyList::empty(py);
        for k in 0..columns {
            list.append(outputs.split(py, system, y_dot[k * len..(k + 1) * len].to_vec())?)?;
        }
        Ok((outputs.split(py, system, y)?, list))
    }
}

/// A direction of θ.
fn theta_dot(setup: &Setup, given: &Bound<'_, PyAny>) -> Result<Vec<f64>> {
    let leaves = setup.compiled.leaves();
    let mut out = vec![0.0; leaves.theta_len()];
    for (path, values) in values(given)? {
        let place = &mut out[leaves.range(leaves.find(&path)?)];
        if values.len() == place.len() {
            place.copy_from_slice(&values);
        } else if values.len() == 1 {
            place.fill(values[0]);
        } else {
            return invalid(format!(
                "the tangent of `{path}` takes {} values, found {}",
                place.len(),
                values.len()
            ));
        }
    }
    Ok(out)
}

/// A direction of the inputs: values by channel, of the lengths of the inputs' own.
fn input_dot(setup: &Setup, given: &Bound<'_, PyAny>) -> Result<Option<Inputs>> {
    if given.is_none() {
        return Ok(None);
    }
    let mut tangent = setup.inputs.clone();
    for signal in tangent.signals.iter_mut().flatten() {
        signal.values.fill(0.0);
    }
    for (name, values) in values(given)? {
        let channels = setup.compiled.system.channels();
        let at = channels.iter().position(|c| c.name == name);
        match at.and_then(|i| tangent.signals.get_mut(i)).and_then(Option::as_mut) {
            Some(signal) if signal.values.len() == values.len() => signal.values = values,
            Some(signal) => {
                return invalid(format!(
                    "the tangent of {name} takes {} values, found {}",
                    signal.values.len(),
                    values.len()
                ));
            }
            None => return invalid(format!("the run has no input \"{name}\" to differentiate by")),
        }
    }
    Ok(Some(tangent))
}

/// A forward run that adjoints can be carried back through, any number of times.
#[pyclass(frozen, module = "costate._costate")]
pub struct Record {
    setup: Setup,
    outputs: Arc<Outputs>,
    observer: MotionObserver,
    recorded: Recorded,
    wanted: Option<Vec<String>>,
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
