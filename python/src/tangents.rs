//! Sensitivities: tangents of motions along directions.

use std::sync::atomic::AtomicBool;

use costate::dynamics::StateTangents;
use costate::dynamics::rollout::Seeds;
use costate::model::{InputSignal, Inputs};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::errors::{Result, invalid};
use crate::interrupt::detached;
use crate::model::Model;
use crate::outputs::Outputs;
use crate::rollout::{explain, size};
use crate::setup::{Setup, state, tangent, values};

#[pymethods]
impl Model {
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
