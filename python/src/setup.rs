//! One motion to be computed: parameters, initial state and inputs from Python values.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use costate::dynamics::rollout::Run;
use costate::dynamics::{Constants, StateAdjoint, StateTangents, System};
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

/// A state from `(q, v)` or `(q, v, act)`.
pub fn state(system: &System, given: &Bound<'_, PyAny>) -> Result<State> {
    let parts: Vec<Bound<'_, PyAny>> = given.extract().unwrap_or_default();
    let lengths = [system.position_len(), system.dof(), system.activation_len()];
    if !(2..=3).contains(&parts.len()) {
        return invalid("initial: expected positions and velocities");
    }
    let mut read = Vec::new();
    for ((part, name), expected) in parts.iter().zip(["q", "v", "act"]).zip(lengths) {
        let (values, _) = numbers(part, &format!("initial.{name}"))?;
        if values.len() != expected {
            return invalid(format!(
                "initial.{name}: the model has {expected} coordinates, found {}",
                values.len()
            ));
        }
        read.push(values);
    }
    let act = if read.len() == 3 { read.pop() } else { None };
    let act = act.unwrap_or_else(|| vec![0.0; system.activation_len()]);
    let v = read.pop().unwrap_or_default();
    Ok(State { time: 0.0, q: read.pop().unwrap_or_default(), v, act })
}

/// Where quaternions start in the position coordinates, and where their rotations do among the
/// degrees of freedom.
fn quaternions(system: &System) -> Vec<(usize, usize)> {
    let soft = 3 * system.vertex_count();
    let (mut q, mut v) = (soft, soft);
    let mut out = Vec::new();
    for joint in system.model().articulation.iter().flat_map(|a| &a.joints) {
        let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
        if nq > nv {
            out.push((q + nq - 4, v + nv - 3));
        }
        (q, v) = (q + nq, v + nv);
    }
    out
}

/// The tangent of a state at `q` whose coordinates move at the rates of `dot`: a quaternion's part
/// along itself, which moves nothing, is left out.
pub fn tangent(system: &System, q: &[f64], dot: &State) -> StateTangents {
    let mut out = system.zero_tangents(1);
    system.lower_positions(q, &dot.q, &mut out.q);
    // The columns of q ⊗ (0, ω/2) are orthogonal and of length 1/2.
    for (_, at) in quaternions(system) {
        out.q[at..at + 3].iter_mut().for_each(|x| *x *= 4.0);
    }
    out.v.copy_from_slice(&dot.v);
    out.act.copy_from_slice(&dot.act);
    out
}

/// The adjoint of a state at `q` by its coordinates; that of a quaternion is orthogonal to it.
pub fn cotangent(system: &System, q: &[f64], bar: &StateAdjoint) -> State {
    let mut by_q = system.lift_positions(q, &bar.q);
    for (at, _) in quaternions(system) {
        by_q[at..at + 4].iter_mut().for_each(|x| *x *= 4.0);
    }
    State { time: 0.0, q: by_q, v: bar.v.clone(), act: bar.act.clone() }
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
