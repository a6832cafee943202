//! A recording compiled for a system.

use costate_dynamics::System;
use costate_dynamics::observe::{Clock, Sample, SignalObserver, SignalSet, Term};
use costate_formats::ErrorKind;
use costate_model::{Inputs, Leaves, ModelError};

use super::recording::BoundRecording;
use super::wanted::{OFFSET, Scope, Wanted, is_observed, model_path};
use crate::error::IdentifyError;
use crate::experiment::{Experiment, Recording};

/// A recording without links, and the model's leaves with its overrides.
pub(super) fn bind_recording(
    experiment: &Experiment,
    system: &System,
    wanted: &[Wanted],
    recording: &Recording,
) -> Result<(BoundRecording, Leaves), IdentifyError> {
    let index = experiment.recordings.iter().position(|r| std::ptr::eq(r, recording));
    let model = system.model();
    let mut leaves = model.leaves.clone();
    for change in recording.overrides.iter().filter(|o| !is_observed(&o.path)) {
        let fail = |e: ModelError| change.place.model_error(&change.path, &e);
        let path =
            model_path(model, &change.path).map_err(|e| change.place.error(&change.path, e))?;
        let id = leaves.find(&path).map_err(fail)?;
        leaves.set(id, &change.values).map_err(fail)?;
    }
    let mut inputs = Inputs { signals: vec![None; system.channels().len()] };
    for (name, signal) in &recording.inputs {
        let Some(i) = system.channels().iter().position(|c| c.name == *name) else {
            let known: Vec<&str> = system.channels().iter().map(|c| &*c.name).collect();
            return Err(recording
                .place
                .error(name, format!("there is no such input; known: {}", known.join(", "))));
        };
        if signal.values.len() != signal.times.len() * system.channels()[i].size {
            return Err(recording.place.error(
                name,
                format!("it takes {} values at each time", system.channels()[i].size),
            ));
        }
        inputs.signals[i] = Some(signal.clone());
    }
    let mut set = SignalSet { clocks: vec![clock(wanted, recording, index)], ..Default::default() };
    let mut frames: Vec<usize> = Vec::new();
    let mut specs = Vec::new();
    let mut bound = BoundRecording {
        name: recording.name.clone(),
        validation: recording.validation,
        theta: leaves.theta(),
        inputs,
        observer: SignalObserver::new(system, &SignalSet::default())?,
        set: SignalSet::default(),
        observer_base: Vec::new(),
        links: Vec::new(),
        own: None,
        measured: Vec::new(),
        times: Vec::new(),
        signal_of: Vec::new(),
        sigma: Vec::new(),
        series: Vec::new(),
        bodies: Vec::new(),
    };
    for data in &recording.data {
        let spec = experiment.signals.get(data.signal).ok_or_else(|| {
            recording.place.error(&recording.name, "it refers to a signal that does not exist")
        })?;
        let mut signal = spec.signal.clone();
        signal.clock = Some(0);
        if let Some(f) = signal.frame {
            let at = frames.iter().position(|&g| g == f).unwrap_or_else(|| {
                frames.push(f);
                frames.len() - 1
            });
            signal.frame = Some(at);
        }
        let start = bound.measured.len();
        for (&time, &value) in data.times.iter().zip(&data.values) {
            if value.is_finite() && time.is_finite() {
                set.samples.push(Sample { signal: set.signals.len(), time });
                bound.measured.push(value);
                bound.times.push(time);
                bound.signal_of.push(data.signal);
                bound.sigma.push(data.sigma.unwrap_or(spec.sigma));
            }
        }
        if bound.measured.len() > start {
            for body in system.model().soft.iter().map(|b| &b.name) {
                let named = format!("body: {body:?}");
                let sees = |t: &Term| format!("{:?}", t.observation).contains(&named);
                if !bound.sees(body) && signal.terms.iter().any(sees) {
                    bound.bodies.push(body.clone());
                }
            }
            bound.series.push(start..bound.measured.len());
        }
        set.signals.push(signal);
        specs.push(spec);
    }
    if bound.measured.is_empty() {
        return Err(recording
            .place
            .error(&format!("recording.{}", recording.name), "it has no sample of any signal"));
    }
    for f in frames {
        let frame = experiment.frames.get(f).ok_or_else(|| {
            recording.place.error(&recording.name, "a signal refers to a frame that does not exist")
        })?;
        set.frames.push(frame.clone());
    }
    check_length(&set, system, recording)?;
    bound.observer = SignalObserver::new(system, &set).map_err(|e| {
        let at_fault = specs.iter().zip(&set.signals).find(|(_, signal)| {
            let alone =
                SignalSet { signals: vec![(*signal).clone()], samples: vec![], ..set.clone() };
            SignalObserver::new(system, &alone).is_err()
        });
        match at_fault {
            None => e.into(),
            Some((spec, signal)) => {
                let element = format!("signal.{}", signal.name);
                spec.place.error_of(ErrorKind::UnknownName, &element, e)
            }
        }
    })?;
    bound.set = set;
    let mut observer_leaves = bound.observer.leaves().clone();
    for change in recording.overrides.iter().filter(|o| is_observed(&o.path)) {
        let fail = |e: ModelError| change.place.model_error(&change.path, &e);
        let id = observer_leaves.find(&change.path).map_err(fail)?;
        observer_leaves.set(id, &change.values).map_err(fail)?;
    }
    bound.observer_base = observer_leaves.theta();
    Ok((bound, leaves))
}

/// Most steps of one motion: a recording that asks for more is mostly one whose times are in
/// another unit than is said.
const MOST_STEPS: f64 = 2e7;

fn check_length(
    set: &SignalSet,
    system: &System,
    recording: &Recording,
) -> Result<(), IdentifyError> {
    let latest = set.samples.iter().map(|s| s.time).fold(0.0, f64::max);
    let end = latest + set.clocks.iter().map(|c| c.bounds[1]).fold(0.0, f64::max);
    let steps = end / system.timestep();
    if steps <= MOST_STEPS {
        return Ok(());
    }
    let message = format!(
        "its last sample is at {end:.4e} s, {steps:.1e} steps of {:e} s and more than the \
         {MOST_STEPS:.0e} that are simulated; say the unit of its times, or take a range of them",
        system.timestep()
    );
    Err(recording.place.error(&format!("recording.{}", recording.name), message))
}

/// The recording's clock, with the bounds of its offset where that is unknown.
fn clock(wanted: &[Wanted], recording: &Recording, index: Option<usize>) -> Clock {
    let unknown = wanted.iter().filter(|w| w.entry.path == OFFSET).find(|w| match w.scope {
        Scope::One(r) => Some(r) == index,
        _ => true,
    });
    let offset = recording.offset;
    let mut bounds = [offset, offset];
    if let Some((lower, upper)) = unknown.and_then(|w| w.entry.bounds) {
        bounds = [lower.min(offset), upper.max(offset)];
    }
    Clock { path: OFFSET.into(), offset, bounds }
}
