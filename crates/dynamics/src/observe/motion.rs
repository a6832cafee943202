//! The motion itself as observed values: states at chosen steps, with signals beside them.

use std::ops::Range;
use std::sync::Arc;

use super::SignalObserver;
use crate::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer};
use crate::system::System;

/// Observes the whole state at chosen steps, and signals if wanted.
///
/// The observed values are the position coordinates at all the steps (`[steps, position_len]`), then
/// the velocities (`[steps, dof]`), the activations (`[steps, activation_len]`), then the signals'
/// samples. Its parameters are those of the signals.
pub struct MotionObserver {
    /// Lengths of positions, velocities and activations.
    lengths: [usize; 3],
    at: Vec<usize>,
    signals: Option<Arc<SignalObserver>>,
    steps: usize,
}

impl MotionObserver {
    /// Observes the states at the steps `at` (0 is the start) of runs of at least `steps` steps,
    /// and the signals.
    pub fn new(
        system: &System,
        mut at: Vec<usize>,
        steps: usize,
        signals: Option<Arc<SignalObserver>>,
    ) -> Self {
        at.sort_unstable();
        at.dedup();
        let last = at.last().copied().unwrap_or(0);
        let served = signals.as_ref().map_or(0, |s| s.steps());
        // The state at step 0 is read in the first interval.
        let first = usize::from(!at.is_empty());
        let lengths = [system.position_len(), system.dof(), system.activation_len()];
        Self { lengths, steps: steps.max(last).max(served).max(first), at, signals }
    }

    /// The steps whose states are observed, ascending.
    pub fn at(&self) -> &[usize] {
        &self.at
    }

    /// The signals.
    pub fn signals(&self) -> Option<&SignalObserver> {
        self.signals.as_deref()
    }

    /// How many of the observed values belong to states; the signals' samples follow.
    pub fn states_len(&self) -> usize {
        self.at.len() * self.lengths.iter().sum::<usize>()
    }

    /// Where positions, velocities and activations of the states lie among the values.
    pub fn places(&self) -> [Range<usize>; 3] {
        let mut start = 0;
        self.lengths.map(|length| {
            let range = start..start + self.at.len() * length;
            start = range.end;
            range
        })
    }

    /// Where the state of step `step` lies among the kept ones.
    fn kept(&self, step: usize) -> Option<usize> {
        self.at.binary_search(&step).ok()
    }

    /// The kept states that belong to interval `step`: its end, and the start of the first one.
    fn in_interval(&self, step: usize) -> [Option<usize>; 2] {
        [if step == 0 { self.kept(0) } else { None }, self.kept(step + 1)]
    }

    /// Where positions, velocities and activations of kept state `i` lie among the values.
    fn place(&self, i: usize) -> [Range<usize>; 3] {
        let [q, v, act] = self.places().map(|range| range.start);
        let [nq, nv, na] = self.lengths;
        [
            q + i * nq..q + (i + 1) * nq,
            v + i * nv..v + (i + 1) * nv,
            act + i * na..act + (i + 1) * na,
        ]
    }
}

impl Observer for MotionObserver {
    fn len(&self) -> usize {
        self.states_len() + self.signals.as_ref().map_or(0, |s| s.len())
    }

    fn steps(&self) -> usize {
        self.steps
    }

    fn parameters_len(&self) -> usize {
        self.signals.as_ref().map_or(0, |s| s.parameters_len())
    }

    fn reads(&self, step: usize) -> bool {
        self.in_interval(step).iter().any(Option::is_some) || self.signals_read(step)
    }

    fn observe(&self, at: Interval, y: &mut [f64]) {
        let [first, last] = self.in_interval(at.step);
        for (kept, state) in [(first, at.start), (last, at.end)] {
            if let Some(i) = kept {
                let [q, v, act] = self.place(i);
                y[q].copy_from_slice(&state.q);
                y[v].copy_from_slice(&state.v);
                y[act].copy_from_slice(&state.act);
            }
        }
        if self.signals_read(at.step)
            && let Some(signals) = &self.signals
        {
            signals.observe(at, &mut y[self.states_len()..]);
        }
    }

    fn pushforward(&self, at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        let ([_, n, na], len) = (self.lengths, self.len());
        let [first, last] = self.in_interval(at.step);
        for (kept, state, of) in [(first, at.start, tangents.start), (last, at.end, tangents.end)] {
            let Some(i) = kept else { continue };
            for k in 0..tangents.columns {
                let [q, v, act] = self.place(i);
                let column = &mut y_dot[k * len..(k + 1) * len];
                let lifted = at.system.lift_positions(&state.q, &of.q[k * n..(k + 1) * n]);
                column[q].copy_from_slice(&lifted);
                column[v].copy_from_slice(&of.v[k * n..(k + 1) * n]);
                column[act].copy_from_slice(&of.act[k * na..(k + 1) * na]);
            }
        }
        let Some(signals) = self.signals.as_ref().filter(|_| self.signals_read(at.step)) else {
            return;
        };
        let (states, samples) = (self.states_len(), signals.len());
        if states == 0 {
            return signals.pushforward(at, tangents, y_dot);
        }
        let mut own = Vec::with_capacity(samples * tangents.columns);
        for k in 0..tangents.columns {
            own.extend_from_slice(&y_dot[k * len + states..(k + 1) * len]);
        }
        signals.pushforward(at, tangents, &mut own);
        for k in 0..tangents.columns {
            y_dot[k * len + states..(k + 1) * len]
                .copy_from_slice(&own[k * samples..(k + 1) * samples]);
        }
    }

    fn pullback(&self, at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        let IntervalAdjoints { start, end, c, u, p } = adjoints;
        let [first, last] = self.in_interval(at.step);
        for (kept, state, of) in [(first, at.start, &mut *start), (last, at.end, &mut *end)] {
            let Some(i) = kept else { continue };
            let [q, v, act] = self.place(i);
            at.system.lower_positions(&state.q, &y_bar[q], &mut of.q);
            of.v.iter_mut().zip(&y_bar[v]).for_each(|(a, b)| *a += b);
            of.act.iter_mut().zip(&y_bar[act]).for_each(|(a, b)| *a += b);
        }
        if self.signals_read(at.step)
            && let Some(signals) = &self.signals
        {
            let adjoints = IntervalAdjoints { start, end, c, u, p };
            signals.pullback(at, &y_bar[self.states_len()..], adjoints);
        }
    }
}

impl MotionObserver {
    fn signals_read(&self, step: usize) -> bool {
        self.signals.as_ref().is_some_and(|s| step < s.steps() && s.reads(step))
    }
}
