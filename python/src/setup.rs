//! One motion to be computed: parameters, initial state and inputs from Python values.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use costate::dynamics::rollout::Run;
use costate::dynamics::{Constants, System};
use costate::model::{InputSignal, Inputs, Interpolation, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::numbers;
use crate::compiled::{Compiled, Values, theta_with};
use crate::errors::{Result, invalid};
use crate::model::Model;

/// Everything that a motion is a function of.
pub struct Setup {
    /// The compiled system.
    pub compiled: Arc<Compiled>,
    /// θ where it is not the model's own.
    pub theta: Option<Vec<f64>>,
    /// The state to start from, where it does not follow from θ.
    pub initial: Option<State>,
    /// Inputs.
    pub inputs: Inputs,
    /// The channels that have one, in the order they were given.
    pub channels: Vec<usize>,
}

/// A setup with its constants.
pub struct Ready<'a> {
    setup: &'a Setup,
    /// Derived constants where θ is not the model's own.
    own: Option<Constants>,
}

impl Setup {
    /// Reads `(parameters, initial, controls)`: a dict of numbers by path or None; `(q, v)` or None;
    /// a list of `(channel, times, values, linear)`.
    pub fn read(
        model: &Model,
        item: &Bound<'_, PyTuple>,
        wanted: Option<&[String]>,
    ) -> Result<Self> {
        let values = values(&item.get_item(0)?)?;
        let compiled = model.compiled(&values, wanted)?;
        let theta = if values.is_empty() { None } else { Some(theta_with(&compiled, &values)?) };
        let system = &compiled.system;
        let initial = item.get_item(1)?;
        let initial = if initial.is_none() { None } else { Some(state(system, &initial)?) };
        let (inputs, channels) = inputs(system, &item.get_item(2)?)?;
        Ok(Self { compiled, theta, initial, inputs, channels })
    }

    /// θ of this motion.
    pub fn theta(&self) -> &[f64] {
        self.theta.as_deref().unwrap_or(&self.compiled.theta)
    }

    /// Derives the constants.
    pub fn ready(&self) -> Result<Ready<'_>> {
        let own = match &self.theta {
            Some(theta) => Some(self.compiled.system.derive(theta)?),
            None => None,
        };
        Ok(Ready { setup: self, own })
    }
}

impl Ready<'_> {
    /// The constants.
    pub fn constants(&self) -> &Constants {
        self.own.as_ref().unwrap_or(&self.setup.compiled.constants)
    }

    /// The motion.
    pub fn run<'b>(&'b self, interrupt: &'b AtomicBool) -> Run<'b> {
        let setup = self.setup;
        Run {
            initial: setup.initial.as_ref(),
            interrupt: Some(interrupt),
            ..Run::new(&setup.compiled.system, self.constants(), &setup.inputs)
        }
    }
}

/// Numbers by path.
pub fn values(given: &Bound<'_, PyAny>) -> Result<Values> {
    if given.is_none() {
        return Ok(Vec::new());
    }
    let Ok(dict) = given.cast::<PyDict>() else {
        return invalid("parameters: expected a dict of values by path");
    };
    let mut out = Vec::with_capacity(dict.len());
    for (path, value) in dict.iter() {
        let Ok(path) = path.extract::<String>() else {
            return invalid("parameters: paths are strings");
        };
        let (values, _) = numbers(&value, &path)?;
        out.push((path, values));
    }
    Ok(out)
}

/// A state from `(q, v)`.
pub fn state(system: &System, given: &Bound<'_, PyAny>) -> Result<State> {
    let Ok((q, v)) = given.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return invalid("initial: expected positions and velocities");
    };
    let read = |value: &Bound<'_, PyAny>, what: &str| {
        let (values, _) = numbers(value, what)?;
        if values.len() != system.dof() {
            return invalid(format!(
                "{what}: the model has {} coordinates, found {}",
                system.dof(),
                values.len()
            ));
        }
        Ok(values)
    };
    Ok(State {
        time: 0.0,
        q: read(&q, "initial.q")?,
        v: read(&v, "initial.v")?,
        act: vec![0.0; system.activation_len()],
    })
}

/// Inputs from a list of `(channel, times, values, linear)`.
fn inputs(system: &System, given: &Bound<'_, PyAny>) -> Result<(Inputs, Vec<usize>)> {
    let mut inputs = Inputs::default();
    let mut order = Vec::new();
    if given.is_none() {
        return Ok((inputs, order));
    }
    let Ok(list) = given.cast::<PyList>() else {
        return invalid("controls: expected a dict of values by channel");
    };
    if list.is_empty() {
        return Ok((inputs, order));
    }
    let channels = system.channels();
    inputs.signals.resize(channels.len(), None);
    for item in list.iter() {
        let (name, times, values, linear): (String, Bound<'_, PyAny>, Bound<'_, PyAny>, bool) =
            item.extract()?;
        let Some(at) = channels.iter().position(|c| c.name == name) else {
            let known: Vec<&str> = channels.iter().map(|c| &*c.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return invalid(format!(
                "controls: the model has no input \"{name}\"; its inputs: {known}"
            ));
        };
        let (times, _) = numbers(&times, &format!("times of {name}"))?;
        let (values, _) = numbers(&values, &name)?;
        let size = channels[at].size;
        if times.is_empty() || values.len() != times.len() * size {
            return invalid(format!(
                "{name} takes {size} values for each of its {} times, found {}",
                times.len(),
                values.len()
            ));
        }
        if times.windows(2).any(|w| w[0].partial_cmp(&w[1]) != Some(std::cmp::Ordering::Less))
            || !times.iter().chain(&values).all(|x| x.is_finite())
        {
            return invalid(format!("{name}: times must ascend, and all numbers be finite"));
        }
        let interpolation = if linear { Interpolation::Linear } else { Interpolation::Hold };
        inputs.signals[at] = Some(InputSignal { times, values, interpolation });
        order.push(at);
    }
    Ok((inputs, order))
}
