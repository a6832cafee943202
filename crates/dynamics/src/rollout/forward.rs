//! The forward run.

use std::sync::atomic::{AtomicBool, Ordering};

use costate_model::{InputChannel, Inputs, State, Trajectory};

use super::observer::{Interval, Observer};
use crate::constants::Constants;
use crate::error::DynamicsError;
use crate::step::StepInputs;
use crate::system::{System, Workspace};

/// Everything a motion is a function of.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The system.
    pub system: &'a System,
    /// Its constants for the θ of this run.
    pub constants: &'a Constants,
    /// Its inputs.
    pub inputs: &'a Inputs,
    /// The state to start from; `None` takes the one that follows from θ.
    pub initial: Option<&'a State>,
    /// Raised by another thread to stop the run.
    pub interrupt: Option<&'a AtomicBool>,
}

/// A run that did not finish, with what it had.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error} ({} states kept)", partial.states.len())]
pub struct Failure {
    /// Why.
    pub error: DynamicsError,
    /// The states up to there.
    pub partial: Trajectory,
}

/// The inputs at both ends of the current step.
pub(super) struct InputWindow<'a> {
    channels: &'a [InputChannel],
    inputs: &'a Inputs,
    h: f64,
    now: Vec<f64>,
    next: Vec<f64>,
    step: usize,
}

impl<'a> InputWindow<'a> {
    pub(super) fn new(run: &Run<'a>) -> Self {
        let (channels, inputs) = (run.system.channels(), run.inputs);
        let h = run.system.timestep();
        let (mut now, mut next) = (Vec::new(), Vec::new());
        inputs.sample(channels, 0.0, &mut now);
        inputs.sample(channels, h, &mut next);
        Self { channels, inputs, h, now, next, step: 0 }
    }
    pub(super) fn at(&mut self, step: usize) -> StepInputs<'_> {
        if step == self.step + 1 {
            std::mem::swap(&mut self.now, &mut self.next);
            self.inputs.sample(self.channels, (step + 1) as f64 * self.h, &mut self.next);
        } else if step != self.step {
            self.inputs.sample(self.channels, step as f64 * self.h, &mut self.now);
            self.inputs.sample(self.channels, (step + 1) as f64 * self.h, &mut self.next);
        }
        self.step = step;
        StepInputs { now: &self.now, next: &self.next }
    }
}

impl<'a> Run<'a> {
    /// A run from the start that θ gives.
    pub fn new(system: &'a System, constants: &'a Constants, inputs: &'a Inputs) -> Self {
        Self { system, constants, inputs, initial: None, interrupt: None }
    }

    /// The state at step zero.
    pub fn start(&self) -> State {
        match self.initial {
            Some(state) => state.clone(),
            None => {
                let mut u = Vec::new();
                self.inputs.sample(self.system.channels(), 0.0, &mut u);
                self.system.initial_state(self.constants, &u)
            }
        }
    }

    pub(super) fn check_interrupt(&self) -> Result<(), DynamicsError> {
        match self.interrupt {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(DynamicsError::Interrupted),
            _ => Ok(()),
        }
    }

    /// Calls `visit` with every interval up to `steps`, in order, and returns the last state.
    pub(super) fn advance(
        &self,
        from: State,
        range: std::ops::Range<usize>,
        ws: &mut Workspace,
        mut visit: impl FnMut(usize, &State, &State, StepInputs) -> Result<(), DynamicsError>,
    ) -> Result<State, DynamicsError> {
        let mut window = InputWindow::new(self);
        let (mut state, mut next) = (from, State::default());
        for step in range {
            self.check_interrupt()?;
            let u = window.at(step);
            self.system.step(self.constants, &state, u, step, &mut next, ws)?;
            visit(step, &state, &next, u)?;
            std::mem::swap(&mut state, &mut next);
        }
        Ok(state)
    }

    /// Simulates `steps` steps, keeping every `stride`-th state (and the first and the last).
    ///
    /// # Errors
    /// Divergence or an interrupt, with the states kept so far.
    pub fn rollout(&self, steps: usize, stride: usize) -> Result<Trajectory, Box<Failure>> {
        self.rollout_with(steps, stride, |_| {})
    }

    /// As [`rollout`](Self::rollout), showing every state to `visit`, the start included.
    ///
    /// # Errors
    /// As [`rollout`](Self::rollout).
    pub fn rollout_with(
        &self,
        steps: usize,
        stride: usize,
        mut visit: impl FnMut(&State),
    ) -> Result<Trajectory, Box<Failure>> {
        let stride = stride.max(1);
        let start = self.start();
        visit(&start);
        let mut states = vec![start.clone()];
        let result =
            self.advance(start, 0..steps, &mut self.system.workspace(), |step, _, end, _| {
                visit(end);
                if (step + 1) % stride == 0 || step + 1 == steps {
                    states.push(end.clone());
                }
                Ok(())
            });
        let partial = Trajectory { states };
        match result {
            Ok(_) => Ok(partial),
            Err(error) => Err(Box::new(Failure { error, partial })),
        }
    }

    /// Simulates and reads the observed values.
    ///
    /// # Errors
    /// Divergence or an interrupt.
    pub fn observe(&self, observer: &dyn Observer, p: &[f64]) -> Result<Vec<f64>, DynamicsError> {
        let mut y = vec![0.0; observer.len()];
        self.observe_over(0..observer.steps(), observer, p, &mut y)?;
        Ok(y)
    }

    /// Simulates the steps of `range`, from the start at the first of them, and reads the values that belong
    /// to them into `y`; the others stay as they are. Returns the state at the end.
    ///
    /// # Errors
    /// Divergence or an interrupt.
    pub fn observe_over(
        &self,
        range: std::ops::Range<usize>,
        observer: &dyn Observer,
        p: &[f64],
        y: &mut [f64],
    ) -> Result<State, DynamicsError> {
        let ws = &mut self.system.workspace();
        self.advance(self.start(), range, ws, |step, start, end, u| {
            if observer.reads(step) {
                observer.observe(self.interval(p, step, start, end, u), y);
            }
            Ok(())
        })
    }

    pub(super) fn interval<'b>(
        &'b self,
        p: &'b [f64],
        step: usize,
        start: &'b State,
        end: &'b State,
        u: StepInputs<'b>,
    ) -> Interval<'b> {
        Interval { system: self.system, c: self.constants, p, step, start, end, u }
    }
}
