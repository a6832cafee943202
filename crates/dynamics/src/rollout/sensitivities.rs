//! Forward tangents: the Jacobian of the observed values by a set of directions.

use costate_model::{Inputs, State};

use super::forward::{InputWindow, Run};
use super::observer::{IntervalTangents, Observer};
use crate::error::DynamicsError;
use crate::step::{StateTangents, StepInputs};

/// Directions in which to differentiate; column k of each part belongs to direction k.
#[derive(Clone, Debug, Default)]
pub struct Seeds {
    /// How many directions.
    pub columns: usize,
    /// Tangents of the constants, columns of their length; empty means zero.
    pub c: Vec<f64>,
    /// Tangents of the observer's parameters, likewise.
    pub p: Vec<f64>,
    /// Tangents of the initial state where it is given; where it follows from θ it is derived
    /// from `c` and this is added.
    pub initial: Option<StateTangents>,
    /// Tangents of the input samples, one per direction (same times as the run's inputs); empty
    /// means zero.
    pub inputs: Vec<Inputs>,
}

/// Observed values with their Jacobian.
#[derive(Clone, Debug)]
pub struct Sensitivities {
    /// The observed values.
    pub y: Vec<f64>,
    /// Column k, `[k len .. (k + 1) len]`, is the derivative along direction k.
    pub y_dot: Vec<f64>,
    /// Time and the norm of each direction's position tangent, at up to about fifty times of the
    /// run: how sensitivities grow.
    pub growth: Vec<(f64, Vec<f64>)>,
}

/// The Jacobian over some steps, and where they end.
#[derive(Clone, Debug)]
pub struct Part {
    /// As of [`Sensitivities`].
    pub y_dot: Vec<f64>,
    /// As of [`Sensitivities`].
    pub growth: Vec<(f64, Vec<f64>)>,
    /// The state after the last step.
    pub end: State,
    /// Its tangents along all directions.
    pub end_tangents: StateTangents,
}

impl Run<'_> {
    /// Observed values and their derivatives along the seeds' directions.
    ///
    /// # Errors
    /// Divergence, an interrupt, a derivative that is not finite.
    pub fn sensitivities(
        &self,
        observer: &dyn Observer,
        p: &[f64],
        seeds: &Seeds,
        detach: &[usize],
    ) -> Result<Sensitivities, DynamicsError> {
        let mut y = vec![0.0; observer.len()];
        let part =
            self.sensitivities_over(0..observer.steps(), observer, p, seeds, detach, &mut y)?;
        Ok(Sensitivities { y, y_dot: part.y_dot, growth: part.growth })
    }

    /// As [`sensitivities`](Self::sensitivities) over the steps of `range`, from the start at the first of
    /// them. Values that belong to other steps stay as they are in `y`, with derivative zero.
    ///
    /// # Errors
    /// As of [`sensitivities`](Self::sensitivities).
    pub fn sensitivities_over(
        &self,
        range: std::ops::Range<usize>,
        observer: &dyn Observer,
        p: &[f64],
        seeds: &Seeds,
        detach: &[usize],
        y: &mut [f64],
    ) -> Result<Part, DynamicsError> {
        let (system, columns, n) = (self.system, seeds.columns, self.system.dof());
        let (first, steps) = (range.start, range.end);
        let ws = &mut system.workspace();
        let mut y_dot = vec![0.0; observer.len() * columns];
        let mut growth = Vec::new();
        let stride = (range.len() / 50).max(1);

        let mut windows: Vec<InputWindow> =
            seeds.inputs.iter().map(|inputs| InputWindow::new(&Run { inputs, ..*self })).collect();
        let mut window = InputWindow::new(self);
        let mut u_dot = (Vec::new(), Vec::new());
        gather(&mut windows, first, &mut u_dot);
        let moving = Moving::of(seeds, n, self.constants.values.len());
        let c_dot = moving.gather(&seeds.c, self.constants.values.len());
        system.promise_tangents(&c_dot, ws);
        let mut tangents = self.start_tangents(seeds, &moving, &c_dot, &u_dot.0);
        let mut before = tangents.clone();
        let zero = || system.zero_tangents(columns);
        let (mut start_tangents, mut end_tangents) = (zero(), zero());
        let (mut state, mut next) = (self.start(), State::default());
        for step in range {
            self.check_interrupt()?;
            if detach.contains(&step) {
                tangents.clear();
            }
            let u = window.at(step);
            gather(&mut windows, step, &mut u_dot);
            let u_tangent = StepInputs { now: &u_dot.0, next: &u_dot.1 };
            let reads = observer.reads(step);
            if reads {
                before.copy_from(&tangents);
            }
            system.step(self.constants, &state, u, step, &mut next, ws)?;
            let c = self.constants;
            ws.stepped = true;
            system.step_pushforward(c, &state, u, &mut tangents, &c_dot, u_tangent, ws)?;
            if reads {
                let interval = self.interval(p, step, &state, &next, u);
                observer.observe(interval, y);
                moving.spread(&before, &mut start_tangents);
                moving.spread(&tangents, &mut end_tangents);
                let at = IntervalTangents {
                    columns,
                    start: &start_tangents,
                    end: &end_tangents,
                    c: &seeds.c,
                    u: &u_dot.0,
                    p: &seeds.p,
                };
                observer.pushforward(interval, at, &mut y_dot);
            }
            if (step - first) % stride == 0 || step + 1 == steps {
                let mut norms = vec![0.0; columns];
                for (m, &k) in moving.columns.iter().enumerate() {
                    let q = &tangents.q[m * n..(m + 1) * n];
                    norms[k] = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                    if !norms[k].is_finite() {
                        let j = q.iter().position(|x| !x.is_finite()).unwrap_or(0);
                        return Err(DynamicsError::NonFiniteDerivative {
                            leaf: format!("direction {k}"),
                            step,
                            element: system.coordinate_name(j),
                        });
                    }
                }
                growth.push((next.time, norms));
            }
            std::mem::swap(&mut state, &mut next);
        }
        moving.spread(&tangents, &mut end_tangents);
        Ok(Part { y_dot, growth, end: state, end_tangents })
    }

    /// Tangents of the start in the directions that move the state.
    fn start_tangents(
        &self,
        seeds: &Seeds,
        moving: &Moving,
        c_dot: &[f64],
        u_dot: &[f64],
    ) -> StateTangents {
        let (n, columns) = (self.system.dof(), moving.columns.len());
        let mut tangents = match &seeds.initial {
            Some(given) => StateTangents {
                columns,
                q: moving.gather(&given.q, n),
                v: moving.gather(&given.v, n),
                act: moving.gather(&given.act, self.system.activation_len()),
            },
            None => self.system.zero_tangents(columns),
        };
        if self.initial.is_none() {
            self.system.start_pushforward(self.constants, c_dot, u_dot, &mut tangents);
        }
        tangents
    }
}

/// The directions along which the motion changes at all. Those of the observer alone (a clock's
/// offset, a marker's place, a bias) leave every state as it is, so no tangent of a state need be
/// carried along for them.
struct Moving {
    columns: Vec<usize>,
}

impl Moving {
    /// `n` is the length of the position, `len` that of the constants.
    fn of(seeds: &Seeds, n: usize, len: usize) -> Self {
        let nonzero = |all: &[f64], len: usize, k: usize| {
            !all.is_empty() && all[k * len..(k + 1) * len].iter().any(|&x| x != 0.0)
        };
        let moves = |&k: &usize| {
            // Inputs are gathered for all directions together.
            !seeds.inputs.is_empty()
                || nonzero(&seeds.c, len, k)
                || seeds.initial.as_ref().is_some_and(|s| {
                    let activations = s.act.len() / s.columns.max(1);
                    nonzero(&s.q, n, k) || nonzero(&s.v, n, k) || nonzero(&s.act, activations, k)
                })
        };
        Self { columns: (0..seeds.columns).filter(moves).collect() }
    }

    /// The moving ones of columns of length `len`.
    fn gather(&self, all: &[f64], len: usize) -> Vec<f64> {
        if all.is_empty() {
            return Vec::new();
        }
        self.columns.iter().flat_map(|&k| &all[k * len..(k + 1) * len]).copied().collect()
    }

    /// Puts the columns of `from` to their places in `to`, which is zero elsewhere.
    fn spread(&self, from: &StateTangents, to: &mut StateTangents) {
        let parts = [(&from.q, &mut to.q), (&from.v, &mut to.v), (&from.act, &mut to.act)];
        for (from, to) in parts {
            let Some(n) = from.len().checked_div(self.columns.len()) else { return };
            for (m, &k) in self.columns.iter().enumerate() {
                to[k * n..(k + 1) * n].copy_from_slice(&from[m * n..(m + 1) * n]);
            }
        }
    }
}

/// Input tangents of all directions at both ends of a step, as columns.
fn gather(windows: &mut [InputWindow], step: usize, out: &mut (Vec<f64>, Vec<f64>)) {
    out.0.clear();
    out.1.clear();
    for window in windows {
        let u = window.at(step);
        out.0.extend_from_slice(u.now);
        out.1.extend_from_slice(u.next);
    }
}
