//! The gradient of a loss of observed values, by one reverse sweep.

use costate_model::State;

use super::checkpoints::{Policy, plan, split};
use super::forward::{InputWindow, Run};
use super::observer::{IntervalAdjoints, Observer};
use crate::error::DynamicsError;
use crate::rigid::StepRecords;
use crate::step::{InputAdjoints, StateAdjoint, StepInputs};
use crate::system::Workspace;

/// How to run the reverse sweep.
#[derive(Clone, Debug)]
pub struct AdjointOptions {
    /// How states are kept.
    pub policy: Policy,
    /// Memory for states, bytes.
    pub budget: usize,
    /// Steps at which the gradient is cut: nothing flows back through the state there.
    pub detach: Vec<usize>,
}

impl Default for AdjointOptions {
    /// Automatic policy within 1 GiB, nothing cut.
    fn default() -> Self {
        Self { policy: Policy::Automatic, budget: 1 << 30, detach: Vec::new() }
    }
}

/// A loss: takes the observed values y, returns its value and ∂loss/∂y.
pub type Loss<'a> = dyn FnMut(&[f64]) -> (f64, Vec<f64>) + 'a;

/// A loss and its gradient.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The loss.
    pub value: f64,
    /// The observed values.
    pub y: Vec<f64>,
    /// By the constants; [`System::derive_pullback`](crate::System::derive_pullback) takes it to
    /// θ. Where the start follows from θ its part is included.
    pub c: Vec<f64>,
    /// By the observer's parameters.
    pub p: Vec<f64>,
    /// By the samples of each input signal (empty for a channel without one).
    pub inputs: Vec<Vec<f64>>,
    /// By the initial state.
    pub initial: StateAdjoint,
    /// The largest number of states held at once.
    pub peak_states: usize,
    /// Steps run in all, the first forward run included.
    pub forward_steps: usize,
}

/// A forward run with what its reverse sweep needs.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The observed values.
    pub y: Vec<f64>,
    stack: Vec<(usize, State)>,
    /// Every state after the first, where all are kept.
    stored: Segment,
    /// States that may be held in all.
    capacity: usize,
    detach: Vec<usize>,
}

/// Steps one after the other.
#[derive(Clone, Debug, Default)]
struct Segment {
    /// The state after each.
    states: Vec<State>,
    /// What articulated bodies have left in each.
    records: StepRecords,
}

/// What the reverse sweep carries.
struct Sweep<'a> {
    run: &'a Run<'a>,
    observer: &'a dyn Observer,
    p: &'a [f64],
    y_bar: &'a [f64],
    detach: &'a [usize],
    adjoint: StateAdjoint,
    at_start: StateAdjoint,
    inputs: InputAdjoints,
    signals: Vec<Vec<f64>>,
    p_bar: Vec<f64>,
}

impl Run<'_> {
    /// The gradient of `loss(y)`, which returns its value and ∂loss/∂y.
    ///
    /// # Errors
    /// Divergence, an interrupt, a budget too small for two states, a derivative that is not
    /// finite.
    pub fn gradient(
        &self,
        observer: &dyn Observer,
        p: &[f64],
        options: &AdjointOptions,
        loss: &mut Loss,
    ) -> Result<Gradient, DynamicsError> {
        let recorded = self.record(observer, p, options)?;
        let (value, y_bar) = loss(&recorded.y);
        if !value.is_finite() {
            return Err(DynamicsError::Invalid("the loss or its cotangent is not finite".into()));
        }
        Ok(Gradient { value, ..self.pullback(observer, p, &recorded, &y_bar)? })
    }

    /// Runs forward, reads the observed values and keeps the states that
    /// [`pullback`](Self::pullback) needs.
    ///
    /// # Errors
    /// Divergence, an interrupt, a budget too small for two states.
    pub fn record(
        &self,
        observer: &dyn Observer,
        p: &[f64],
        options: &AdjointOptions,
    ) -> Result<Recorded, DynamicsError> {
        let steps = observer.steps();
        let system = self.system;
        let numbers = system.position_len() + system.dof() + system.activation_len();
        let bytes = numbers * size_of::<f64>() + size_of::<State>() + system.record_bytes();
        let plan = plan(options.policy, steps, bytes, options.budget)?;
        let store_all = plan.capacity > steps;
        let ws = &mut self.system.workspace();
        let start = self.start();
        let mut stack: Vec<(usize, State)> = vec![(0, start.clone())];
        let mut stored = Segment::default();
        if store_all {
            ws.record();
        }
        let mut planned = plan.snapshots.iter().copied().skip(1).peekable();
        let mut y = vec![0.0; observer.len()];
        let mut visit = |step: usize, from: &State, to: &State, u: StepInputs| {
            if planned.peek() == Some(&step) {
                planned.next();
                stack.push((step, from.clone()));
            }
            if observer.reads(step) {
                observer.observe(self.interval(p, step, from, to, u), &mut y);
            }
            Ok(())
        };
        if store_all {
            self.keep(&start, 0..steps, ws, &mut stored.states, visit)?;
        } else {
            self.advance(start, 0..steps, ws, &mut visit)?;
        }
        stored.records = ws.recorded();
        Ok(Recorded { y, stack, stored, capacity: plan.capacity, detach: options.detach.clone() })
    }

    /// Carries the adjoint `y_bar` of the observed values back through a recorded run, which must
    /// be of this run with the same observer and p. The value of the gradient is zero.
    ///
    /// # Errors
    /// An adjoint that is not finite, an interrupt, a derivative that is not finite.
    pub fn pullback(
        &self,
        observer: &dyn Observer,
        p: &[f64],
        recorded: &Recorded,
        y_bar: &[f64],
    ) -> Result<Gradient, DynamicsError> {
        if y_bar.len() != observer.len() || recorded.y.len() != observer.len() {
            return Err(DynamicsError::Invalid(format!(
                "{} values are observed, the adjoint has {}",
                recorded.y.len(),
                y_bar.len()
            )));
        }
        if !y_bar.iter().all(|b| b.is_finite()) {
            return Err(DynamicsError::Invalid("the loss or its cotangent is not finite".into()));
        }
        let steps = observer.steps();
        let store_all = recorded.capacity > steps;
        let ws = &mut self.system.workspace();
        let mut stack = recorded.stack.clone();
        // What is stored of the whole run is read in place.
        let mut segment = Segment::default();
        self.system.sum_constants(ws);
        let zero = self.system.zero_adjoint();
        let m = self.system.input_len();
        let mut sweep = Sweep {
            run: self,
            observer,
            p,
            y_bar,
            detach: &recorded.detach,
            adjoint: zero.clone(),
            at_start: zero,
            inputs: InputAdjoints {
                c: vec![0.0; self.system.layout().len],
                now: vec![0.0; m],
                next: vec![0.0; m],
            },
            signals: self
                .inputs
                .signals
                .iter()
                .map(|s| s.as_ref().map_or(Vec::new(), |s| vec![0.0; s.values.len()]))
                .collect(),
            p_bar: vec![0.0; observer.parameters_len()],
        };
        let (mut forward_steps, mut peak) = (steps, stack.len() + recorded.stored.states.len());
        let mut end = steps;
        while let Some((at, snapshot)) = stack.last() {
            let (at, mut state) = (*at, snapshot.clone());
            if at == end {
                stack.pop();
                continue;
            }
            let free = recorded.capacity.saturating_sub(stack.len());
            if !store_all && let Some(advance) = split(end - at, free) {
                state = self.advance(state, at..at + advance, ws, |_, _, _, _| Ok(()))?;
                forward_steps += advance;
                stack.push((at + advance, state));
                peak = peak.max(stack.len());
                continue;
            }
            // Run what is stored at once; with room for one state only, the last step alone.
            let from = if end - at <= free.max(1) { at } else { end - 1 };
            if !store_all {
                state = self.advance(state, at..from, ws, |_, _, _, _| Ok(()))?;
                ws.record();
                self.keep(&state, from..end, ws, &mut segment.states, |_, _, _, _| Ok(()))?;
                segment.records = ws.recorded();
                forward_steps += end - at;
                peak = peak.max(stack.len() + segment.states.len());
            }
            let stored = if store_all { &recorded.stored } else { &segment };
            sweep.reverse(&state, stored, from, ws)?;
            end = from;
        }
        self.system.collect_constants(ws, &mut sweep.inputs.c);
        sweep.finish(0.0, recorded.y.clone(), peak, forward_steps)
    }

    /// As [`advance`](Self::advance), keeping every state after the first: each is written where it stays.
    fn keep(
        &self,
        from: &State,
        range: std::ops::Range<usize>,
        ws: &mut Workspace,
        states: &mut Vec<State>,
        mut visit: impl FnMut(usize, &State, &State, StepInputs) -> Result<(), DynamicsError>,
    ) -> Result<(), DynamicsError> {
        states.clear();
        states.reserve_exact(range.len());
        let mut window = InputWindow::new(self);
        for step in range {
            self.check_interrupt()?;
            let u = window.at(step);
            let mut next = State::default();
            let state = states.last().unwrap_or(from);
            self.system.step(self.constants, state, u, step, &mut next, ws)?;
            visit(step, state, &next, u)?;
            states.push(next);
        }
        Ok(())
    }
}

impl Sweep<'_> {
    /// Reverses the steps from `first`, whose state is `start`, through the stored ones.
    fn reverse(
        &mut self,
        start: &State,
        stored: &Segment,
        first: usize,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let run = self.run;
        let mut window = InputWindow::new(run);
        let Segment { states, records } = stored;
        for i in (0..states.len()).rev() {
            run.check_interrupt()?;
            let step = first + i;
            let from = if i == 0 { start } else { &states[i - 1] };
            let u = window.at(step);
            run.system.replay(records, i, ws);
            self.reverse_step(step, from, &states[i], u, ws)?;
        }
        Ok(())
    }

    fn reverse_step(
        &mut self,
        step: usize,
        from: &State,
        to: &State,
        u: StepInputs,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let run = self.run;
        if self.detach.contains(&(step + 1)) {
            self.adjoint.clear();
        }
        self.inputs.now.fill(0.0);
        self.inputs.next.fill(0.0);
        let reads = self.observer.reads(step);
        if reads {
            self.at_start.clear();
            let adjoints = IntervalAdjoints {
                start: &mut self.at_start,
                end: &mut self.adjoint,
                c: &mut self.inputs.c,
                u: &mut self.inputs.now,
                p: &mut self.p_bar,
            };
            let interval = run.interval(self.p, step, from, to, u);
            self.observer.pullback(interval, self.y_bar, adjoints);
        }
        let (adjoint, inputs) = (&mut self.adjoint, &mut self.inputs);
        run.system.step_pullback(run.constants, from, u, adjoint, inputs, ws)?;
        if reads {
            self.adjoint.add(&self.at_start);
        }
        self.collect_inputs(step);
        if self.adjoint.is_finite() {
            return Ok(());
        }
        let StateAdjoint { q, v, .. } = &self.adjoint;
        let at = (0..q.len()).find(|&j| !(q[j].is_finite() && v[j].is_finite()));
        let element = at.map_or("an activation".into(), |j| run.system.coordinate_name(j));
        Err(DynamicsError::NonFiniteDerivative { leaf: "the state".into(), step, element })
    }

    /// Adds the adjoints of this step's inputs to those of the samples they are made of.
    fn collect_inputs(&mut self, step: usize) {
        let h = self.run.system.timestep();
        let ends = [(step, &self.inputs.now), (step + 1, &self.inputs.next)];
        collect(self.run, &mut self.signals, ends.map(|(k, bar)| (k as f64 * h, bar.as_slice())));
    }

    fn finish(
        mut self,
        value: f64,
        y: Vec<f64>,
        peak_states: usize,
        forward_steps: usize,
    ) -> Result<Gradient, DynamicsError> {
        let system = self.run.system;
        if self.detach.contains(&0) {
            self.adjoint.clear();
        }
        if self.run.initial.is_none() {
            let mut at_zero = vec![0.0; system.input_len()];
            let c = self.run.constants;
            system.start_pullback(c, &self.adjoint, &mut self.inputs.c, &mut at_zero);
            collect(self.run, &mut self.signals, [(0.0, at_zero.as_slice())]);
        }
        if let Some(i) = self.inputs.c.iter().position(|b| !b.is_finite()) {
            return Err(DynamicsError::NonFiniteDerivative {
                leaf: system.constant_name(i),
                step: 0,
                element: "summed over the run".into(),
            });
        }
        Ok(Gradient {
            value,
            y,
            c: self.inputs.c,
            p: self.p_bar,
            inputs: self.signals,
            initial: self.adjoint,
            peak_states,
            forward_steps,
        })
    }
}

fn collect<const N: usize>(run: &Run, signals: &mut [Vec<f64>], ends: [(f64, &[f64]); N]) {
    let mut offset = 0;
    for (i, channel) in run.system.channels().iter().enumerate() {
        if let Some(Some(signal)) = run.inputs.signals.get(i) {
            for (time, bar) in ends {
                for (sample, weight) in signal.weights(time) {
                    for k in 0..channel.size {
                        signals[i][sample * channel.size + k] += weight * bar[offset + k];
                    }
                }
            }
        }
        offset += channel.size;
    }
}
