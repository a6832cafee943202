//! From plain data to what is evaluated.

use std::collections::HashMap;

use costate_model::{Bounds, Leaf, Leaves, Model, SoftBody};

use super::frame::{FramePlace, Kind};
use super::local::Observable;
use super::observer::{Job, SignalObserver, SignalPlace, Use};
use super::point::PointMap;
use super::schedule::ClockSchedule;
use super::spec::{Point, SignalSet};
use crate::error::DynamicsError;
use crate::system::System;

/// An observation compiled.
pub(super) struct Compiled {
    pub observable: Box<dyn Observable>,
    pub kind: Kind,
}

/// What a compilation knows and collects.
pub(super) struct Compiler<'a> {
    pub system: &'a System,
    pub leaves: Leaves,
    /// Markers met so far.
    pub markers: Vec<(String, Point, PointMap)>,
}

pub(super) fn invalid(element: &str, message: impl std::fmt::Display) -> DynamicsError {
    DynamicsError::Invalid(format!("{element}: {message}"))
}

impl Compiler<'_> {
    pub fn model(&self) -> &Model {
        self.system.model()
    }

    /// Index of the first vertex of a body, and the body.
    pub fn body(&self, name: &str) -> Result<(u32, &SoftBody), DynamicsError> {
        let model = self.model();
        let (index, body) = model.soft_body(name).ok_or_else(|| {
            let known: Vec<&str> = model.soft.iter().map(|b| &*b.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            invalid(&format!("soft.{name}"), format!("there is no such body; known: {known}"))
        })?;
        Ok((model.first_vertex(index) as u32, body))
    }

    pub fn add(&mut self, leaf: Leaf) -> Result<usize, DynamicsError> {
        let id = self.leaves.add(leaf)?;
        Ok(self.leaves.range(id).start)
    }

    fn frames(&mut self, set: &SignalSet) -> Result<Vec<FramePlace>, DynamicsError> {
        let mut places = Vec::new();
        for frame in &set.frames {
            let path = |what: &str| format!("frame.{}.{what}", frame.name);
            let rotation = Leaf::array(
                path("rotation"),
                frame.rotation.to_vec(),
                vec![3],
                "rad",
                "rotation vector from the model's frame to the measuring one",
            );
            let translation = Leaf::array(
                path("translation"),
                frame.translation.to_vec(),
                vec![3],
                "m",
                "where the measuring frame sees the model's origin",
            );
            let about = "measured length over the model's";
            let scale = Leaf::scalar(path("scale"), frame.scale, "", Bounds::POSITIVE, about);
            places.push(FramePlace {
                rotation: self.add(rotation)?,
                translation: self.add(translation)?,
                scale: self.add(scale)?,
            });
        }
        Ok(places)
    }

    fn clocks(&mut self, set: &SignalSet) -> Result<Vec<usize>, DynamicsError> {
        let mut places = Vec::new();
        for clock in &set.clocks {
            let [lower, upper] = clock.bounds;
            let bounds = Bounds { lower, upper, ..Bounds::ANY };
            let about = "time of the model when the recorder's clock shows zero";
            places.push(self.add(Leaf::scalar(&clock.path, clock.offset, "s", bounds, about))?);
        }
        Ok(places)
    }

    fn signals(&mut self, set: &SignalSet) -> Result<Vec<SignalPlace>, DynamicsError> {
        let mut places = Vec::new();
        for signal in &set.signals {
            let path = |what: &str| format!("signal.{}.{what}", signal.name);
            if signal.frame.is_some_and(|f| f >= set.frames.len()) {
                return Err(invalid(&path("frame"), "there is no such frame"));
            }
            if signal.clock.is_some_and(|c| c >= set.clocks.len()) {
                return Err(invalid(&path("clock"), "there is no such clock"));
            }
            let finite = signal.terms.iter().all(|t| t.coefficient.is_finite());
            if !(finite && signal.constant.is_finite()) {
                let message = "coefficients and constant must be finite";
                return Err(invalid(&format!("signal.{}", signal.name), message));
            }
            let about = "factor of the observed sum";
            let scale = Leaf::scalar(path("scale"), signal.scale, "", Bounds::ANY, about);
            let about = "added to the scaled sum";
            let bias = Leaf::scalar(path("bias"), signal.bias, signal.unit(), Bounds::ANY, about);
            places.push(SignalPlace {
                scale: self.add(scale)?,
                bias: self.add(bias)?,
                constant: signal.constant,
                wrap: signal.wrap,
            });
        }
        Ok(places)
    }
}

/// The signals' terms, each observation compiled once: per signal and term its place.
fn terms(
    compiler: &mut Compiler,
    set: &SignalSet,
) -> Result<(Vec<Compiled>, Vec<Vec<u32>>), DynamicsError> {
    let mut compiled = Vec::new();
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut places = Vec::new();
    for signal in &set.signals {
        let mut row = Vec::new();
        for term in &signal.terms {
            if term.component >= term.observation.components() {
                return Err(invalid(
                    &format!("signal.{}", signal.name),
                    format!(
                        "component {} of {} that there are",
                        term.component,
                        term.observation.components()
                    ),
                ));
            }
            // Floating-point fields rule out hashing the value itself.
            let key = format!("{:?} {:?}", term.observation, term.number());
            let place = match known.get(&key) {
                Some(&place) => place,
                None => {
                    let place = compiled.len() as u32;
                    compiled.push(compiler.observation(&term.observation, term.number())?);
                    known.insert(key, place);
                    place
                }
            };
            row.push(place);
        }
        places.push(row);
    }
    Ok((compiled, places))
}

/// Samples of one clock, by time.
fn sorted(set: &SignalSet, clock: Option<usize>) -> Vec<u32> {
    let mut samples: Vec<u32> = (0..set.samples.len() as u32)
        .filter(|&i| set.signals[set.samples[i as usize].signal].clock == clock)
        .collect();
    samples.sort_by(|&a, &b| set.samples[a as usize].time.total_cmp(&set.samples[b as usize].time));
    samples
}

pub(super) fn compile(system: &System, set: &SignalSet) -> Result<SignalObserver, DynamicsError> {
    let mut compiler = Compiler { system, leaves: Leaves::new(), markers: Vec::new() };
    let clocks = compiler.clocks(set)?;
    let frames = compiler.frames(set)?;
    let (observations, places) = terms(&mut compiler, set)?;
    let signals = compiler.signals(set)?;
    for (i, sample) in set.samples.iter().enumerate() {
        if sample.signal >= signals.len() || !sample.time.is_finite() {
            let message = "needs a known signal and a finite time";
            return Err(invalid(&format!("sample {i}"), message));
        }
    }
    let mut observer = SignalObserver {
        timestep: system.timestep(),
        leaves: compiler.leaves,
        observations,
        frames,
        signals,
        sample_signals: set.samples.iter().map(|s| s.signal as u32).collect(),
        schedules: Vec::new(),
        instant_samples: Vec::new(),
        instant_jobs: Vec::new(),
        samples: Vec::new(),
        jobs: Vec::new(),
        uses: Vec::new(),
        reads: Vec::new(),
    };
    for clock in std::iter::once(None).chain((0..set.clocks.len()).map(Some)) {
        let samples = sorted(set, clock);
        let mut times = Vec::new();
        let base = observer.instant_jobs.len();
        for group in
            samples.chunk_by(|&a, &b| set.samples[a as usize].time == set.samples[b as usize].time)
        {
            times.push(set.samples[group[0] as usize].time);
            add_instant(&mut observer, set, &places, group);
        }
        if !times.is_empty() {
            let offset = clock.map(|c| clocks[c]);
            let bounds = clock.map_or([0.0; 2], |c| set.clocks[c].bounds);
            let times = times.into_iter();
            observer.schedules.push(ClockSchedule::new(
                system.timestep(),
                offset,
                bounds,
                times,
                base,
            ));
        }
    }
    let steps = observer.schedules.iter().map(ClockSchedule::steps).max().unwrap_or(0);
    observer.reads = vec![false; steps];
    for schedule in &observer.schedules {
        schedule.mark(&mut observer.reads);
    }
    Ok(observer)
}

/// Adds the samples of one instant, so that each observation is evaluated once.
fn add_instant(observer: &mut SignalObserver, set: &SignalSet, places: &[Vec<u32>], group: &[u32]) {
    let mut uses: Vec<((u32, u32), Use)> = Vec::new();
    for &sample in group {
        let index = set.samples[sample as usize].signal;
        let signal = &set.signals[index];
        let frame = signal.frame.map_or(u32::MAX, |f| f as u32);
        for (term, &place) in signal.terms.iter().zip(&places[index]) {
            uses.push((
                (place, frame),
                Use {
                    sample,
                    signal: index as u32,
                    component: term.number().map_or(term.component, |_| 0) as u32,
                    coefficient: term.coefficient,
                },
            ));
        }
    }
    uses.sort_by_key(|(job, _)| *job);
    let first_job = observer.jobs.len() as u32;
    for job in uses.chunk_by(|a, b| a.0 == b.0) {
        let first = observer.uses.len() as u32;
        observer.uses.extend(job.iter().map(|(_, u)| *u));
        let (observation, frame) = job[0].0;
        observer.jobs.push(Job { observation, frame, uses: first..observer.uses.len() as u32 });
    }
    observer.instant_jobs.push(first_job..observer.jobs.len() as u32);
    let first_sample = observer.samples.len() as u32;
    observer.samples.extend_from_slice(group);
    observer.instant_samples.push(first_sample..observer.samples.len() as u32);
}
