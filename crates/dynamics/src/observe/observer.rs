//! Signals read off a motion.

use std::ops::Range;

use costate_model::Leaves;
use costate_num::Vec3;

use super::compile::{Compiled, compile};
use super::frame::{FrameNow, FramePlace};
use super::hermite::Blend;
use super::local::{Local, Moment};
use super::schedule::ClockSchedule;
use super::spec::{SignalSet, Wrap};
use crate::error::DynamicsError;
use crate::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer};
use crate::system::System;

/// A signal's parameters and what else its samples need.
pub(super) struct SignalPlace {
    pub scale: usize,
    pub bias: usize,
    pub constant: f64,
    pub wrap: Wrap,
}

/// One evaluation of an observation in a frame (`u32::MAX` for the model's), with the samples
/// that use it.
pub(super) struct Job {
    pub observation: u32,
    pub frame: u32,
    pub uses: Range<u32>,
}

/// A term of a signal at a sample.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub sample: u32,
    pub signal: u32,
    pub component: u32,
    pub coefficient: f64,
}

/// The samples of a [`SignalSet`], read off a motion with their derivatives.
///
/// Its parameters p (clock offsets, frames, markers' offsets, scales and biases) are named by
/// [`leaves`](Self::leaves), whose values end to end are the initial p. Which interval a sample
/// is read in follows from its time and its clock's offset in p, within the clock's bounds;
/// values are C¹ in the offset where the motion is.
pub struct SignalObserver {
    pub(super) timestep: f64,
    pub(super) leaves: Leaves,
    pub(super) observations: Vec<Compiled>,
    pub(super) frames: Vec<FramePlace>,
    pub(super) signals: Vec<SignalPlace>,
    pub(super) sample_signals: Vec<u32>,
    pub(super) schedules: Vec<ClockSchedule>,
    /// Per instant of all clocks: its part of `samples`.
    pub(super) instant_samples: Vec<Range<u32>>,
    /// Per instant of all clocks: its part of `jobs`.
    pub(super) instant_jobs: Vec<Range<u32>>,
    pub(super) samples: Vec<u32>,
    pub(super) jobs: Vec<Job>,
    pub(super) uses: Vec<Use>,
    pub(super) reads: Vec<bool>,
}

fn slice<T>(values: &[T], range: &Range<u32>) -> impl Iterator<Item = T>
where
    T: Copy,
{
    values[range.start as usize..range.end as usize].iter().copied()
}

impl SignalObserver {
    /// Compiles signals for a system. Attachments are found in the rest shape of the system's
    /// model.
    ///
    /// # Errors
    /// An unknown body, region or geom, a point that lies outside its body, a name used twice,
    /// a number that is not finite or out of bounds.
    pub fn new(system: &System, signals: &SignalSet) -> Result<Self, DynamicsError> {
        compile(system, signals)
    }

    /// Names, units, bounds and initial values of the parameters p.
    pub fn leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// How the values of sample `i` compare.
    pub fn wrap(&self, sample: usize) -> Wrap {
        self.signals[self.sample_signals[sample] as usize].wrap
    }

    /// Calls `visit` with every instant of this interval.
    fn for_instants<'a>(
        &self,
        at: Interval<'a>,
        derivatives: bool,
        mut visit: impl FnMut(usize, Option<usize>, &Moment<'a>, &[FrameNow]),
    ) {
        let h = self.timestep;
        let mut frames = Vec::new();
        for schedule in &self.schedules {
            let (range, offset) = schedule.instants(h, at.p, at.step);
            for i in range {
                if frames.is_empty() {
                    frames.extend(self.frames.iter().map(|frame| frame.now(at.p)));
                }
                let tau = schedule.instants[i].time + offset - at.step as f64 * h;
                let moment = Moment { at, blend: Blend::new(h, tau), derivatives };
                visit(schedule.base + i, schedule.offset, &moment, &frames);
            }
        }
    }

    /// Evaluates a job; `scratch` is working memory.
    fn evaluate(
        &self,
        job: &Job,
        at: &Moment,
        frames: &[FrameNow],
        out: &mut Local,
        scratch: &mut Local,
    ) {
        let observation = &self.observations[job.observation as usize];
        out.clear();
        match frames.get(job.frame as usize) {
            None => observation.observable.evaluate(at, out),
            Some(frame) => {
                scratch.clear();
                observation.observable.evaluate(at, scratch);
                frame.apply(observation.kind, at.derivatives, scratch, out);
            }
        }
    }
}

impl Observer for SignalObserver {
    fn len(&self) -> usize {
        self.sample_signals.len()
    }

    fn steps(&self) -> usize {
        self.reads.len()
    }

    fn parameters_len(&self) -> usize {
        self.leaves.theta_len()
    }

    fn reads(&self, step: usize) -> bool {
        self.reads.get(step).copied().unwrap_or(false)
    }

    fn observe(&self, at: Interval, y: &mut [f64]) {
        let (mut local, mut scratch) = (Local::default(), Local::default());
        self.for_instants(at, false, |instant, _, moment, frames| {
            for sample in slice(&self.samples, &self.instant_samples[instant]) {
                let signal = &self.signals[self.sample_signals[sample as usize] as usize];
                y[sample as usize] = at.p[signal.scale] * signal.constant + at.p[signal.bias];
            }
            let jobs = &self.instant_jobs[instant];
            for job in &self.jobs[jobs.start as usize..jobs.end as usize] {
                self.evaluate(job, moment, frames, &mut local, &mut scratch);
                for used in slice(&self.uses, &job.uses) {
                    let scale = at.p[self.signals[used.signal as usize].scale];
                    y[used.sample as usize] +=
                        scale * used.coefficient * local.value[used.component as usize];
                }
            }
        });
    }

    fn pushforward(&self, at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        let (n, p_len) = (self.len(), self.parameters_len());
        let p_dot = |k: usize, i: usize| {
            if tangents.p.is_empty() { 0.0 } else { tangents.p[k * p_len + i] }
        };
        let (mut local, mut scratch) = (Local::default(), Local::default());
        self.for_instants(at, true, |instant, offset, moment, frames| {
            for sample in slice(&self.samples, &self.instant_samples[instant]) {
                let signal = &self.signals[self.sample_signals[sample as usize] as usize];
                for k in 0..tangents.columns {
                    y_dot[k * n + sample as usize] =
                        p_dot(k, signal.scale) * signal.constant + p_dot(k, signal.bias);
                }
            }
            let jobs = &self.instant_jobs[instant];
            for job in &self.jobs[jobs.start as usize..jobs.end as usize] {
                self.evaluate(job, moment, frames, &mut local, &mut scratch);
                let rate = match offset {
                    Some(_) => local.rate(moment),
                    None => Vec3::zero(),
                };
                for k in 0..tangents.columns {
                    let mut dot = local.tangent(moment, &tangents, k);
                    if let Some(offset) = offset {
                        dot += rate * p_dot(k, offset);
                    }
                    let dot = dot.to_array();
                    for used in slice(&self.uses, &job.uses) {
                        let scale = self.signals[used.signal as usize].scale;
                        let a = used.component as usize;
                        y_dot[k * n + used.sample as usize] += used.coefficient
                            * (at.p[scale] * dot[a] + p_dot(k, scale) * local.value[a]);
                    }
                }
            }
        });
    }

    fn pullback(&self, at: Interval, y_bar: &[f64], mut adjoints: IntervalAdjoints) {
        let (mut local, mut scratch) = (Local::default(), Local::default());
        self.for_instants(at, true, |instant, offset, moment, frames| {
            for sample in slice(&self.samples, &self.instant_samples[instant]) {
                let signal = &self.signals[self.sample_signals[sample as usize] as usize];
                adjoints.p[signal.scale] += y_bar[sample as usize] * signal.constant;
                adjoints.p[signal.bias] += y_bar[sample as usize];
            }
            let jobs = &self.instant_jobs[instant];
            for job in &self.jobs[jobs.start as usize..jobs.end as usize] {
                if slice(&self.uses, &job.uses).all(|used| y_bar[used.sample as usize] == 0.0) {
                    continue;
                }
                self.evaluate(job, moment, frames, &mut local, &mut scratch);
                let mut g = [0.0; 3];
                for used in slice(&self.uses, &job.uses) {
                    let scale = self.signals[used.signal as usize].scale;
                    let a = used.component as usize;
                    let bar = used.coefficient * y_bar[used.sample as usize];
                    g[a] += at.p[scale] * bar;
                    adjoints.p[scale] += bar * local.value[a];
                }
                let g = Vec3::from_array(g);
                local.pull(moment, g, &mut adjoints);
                if let Some(offset) = offset {
                    adjoints.p[offset] += local.rate(moment).dot(g);
                }
            }
        });
    }
}
