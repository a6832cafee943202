//! One recording: its motion for given unknowns, with derivatives.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use costate_dynamics::observe::{SignalObserver, SignalSet};
use costate_dynamics::rollout::{AdjointOptions, Gradient, Loss, Observer, Run, Seeds};
use costate_dynamics::{Constants, DynamicsError, System};
use costate_model::Inputs;
use nalgebra::DMatrix;

use super::unknown::{Link, Unknown};
use crate::experiment::{Derivatives, Sigma};

/// A recording compiled.
pub struct BoundRecording {
    /// Name.
    pub name: String,
    /// Predicted and reported, never fitted.
    pub validation: bool,
    /// θ of everything that is known here (unknowns hold their value in the scene).
    pub theta: Vec<f64>,
    /// Inputs by channel.
    pub inputs: Inputs,
    /// The samples as functions of the motion.
    pub observer: SignalObserver,
    /// What the observer was made of.
    pub set: SignalSet,
    /// Its parameters that are known.
    pub observer_base: Vec<f64>,
    /// What the unknowns set here.
    pub links: Vec<Link>,
    /// What a recording kept for validation has of its own; it is found after the fit.
    pub own: Option<Own>,
    /// Measured value per sample.
    pub measured: Vec<f64>,
    /// Time per sample, by the recording's clock, s.
    pub times: Vec<f64>,
    /// Signal (of the experiment) per sample.
    pub signal_of: Vec<usize>,
    /// Noise per sample.
    pub sigma: Vec<Sigma>,
    /// Samples of one signal each, in order of time.
    pub series: Vec<Range<usize>>,
    /// Names of the bodies that its signals observe.
    pub bodies: Vec<String>,
}

/// Unknowns of a recording kept for validation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own {
    /// The unknowns.
    pub unknowns: Vec<Unknown>,
    /// What they set, by their indices here.
    pub links: Vec<Link>,
}

/// Times and norms of every column's position tangent.
pub(crate) type Growth = Vec<(f64, Vec<f64>)>;

/// Predicted values with their derivatives by the linked unknowns.
pub(crate) struct Linearised {
    pub y: Vec<f64>,
    /// Samples × links.
    pub jacobian: DMatrix<f64>,
    /// Norms of position tangents in time, from forward runs.
    pub growth: Growth,
}

impl BoundRecording {
    /// θ and the observer's parameters for p.
    pub fn parameters(&self, unknowns: &[Unknown], p: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut theta, mut observer) = (self.theta.clone(), self.observer_base.clone());
        for link in &self.links {
            let value = unknowns[link.unknown].transform.value(p[link.unknown]);
            for &i in &link.theta {
                theta[i] = value;
            }
            for &i in &link.observer {
                observer[i] = value;
            }
        }
        (theta, observer)
    }

    /// Refuses a time step that is unstable for these constants.
    pub(crate) fn check_timestep(
        &self,
        system: &System,
        constants: &Constants,
    ) -> Result<(), DynamicsError> {
        let mut u = Vec::new();
        self.inputs.sample(system.channels(), 0.0, &mut u);
        let state = system.initial_state(constants, &u);
        system.check_timestep(constants, &state, &u).map(|_| ())
    }

    /// Predicted value of every sample; `check` refuses an unstable step first.
    pub(crate) fn predict(
        &self,
        system: &System,
        unknowns: &[Unknown],
        p: &[f64],
        interrupt: Option<&AtomicBool>,
        check: bool,
    ) -> Result<Vec<f64>, DynamicsError> {
        let (theta, observer) = self.parameters(unknowns, p);
        let constants = system.derive(&theta)?;
        if check {
            self.check_timestep(system, &constants)?;
        }
        let run = Run { interrupt, ..Run::new(system, &constants, &self.inputs) };
        run.observe(&self.observer, &observer)
    }

    /// Predicted values and their Jacobian, by forward tangents or adjoint sweeps.
    pub(crate) fn linearise(
        &self,
        system: &System,
        unknowns: &[Unknown],
        p: &[f64],
        interrupt: Option<&AtomicBool>,
        derivatives: Derivatives,
        memory: usize,
    ) -> Result<Linearised, DynamicsError> {
        let (theta, observer) = self.parameters(unknowns, p);
        let constants = system.derive(&theta)?;
        let run = Run { interrupt, ..Run::new(system, &constants, &self.inputs) };
        let forward = match derivatives {
            Derivatives::Forward => true,
            Derivatives::Adjoint => false,
            // A tangent costs about one run, a row of the adjoint about three.
            Derivatives::Auto => self.links.len() <= 3 * self.measured.len(),
        };
        if forward {
            self.forward(&run, unknowns, p, &theta, &observer)
        } else {
            self.adjoint(&run, unknowns, p, &theta, &observer, memory)
        }
    }

    /// Directions of the linked unknowns.
    pub(super) fn seeds(
        &self,
        run: &Run,
        unknowns: &[Unknown],
        p: &[f64],
        theta: &[f64],
        observer: &[f64],
    ) -> Seeds {
        let columns = self.links.len();
        let mut seeds = Seeds { columns, ..Default::default() };
        for link in &self.links {
            let slope = unknowns[link.unknown].transform.slope(p[link.unknown]);
            let mut theta_dot = vec![0.0; theta.len()];
            for &i in &link.theta {
                theta_dot[i] = slope;
            }
            let mut observer_dot = vec![0.0; observer.len()];
            for &i in &link.observer {
                observer_dot[i] = slope;
            }
            seeds.c.extend(run.system.derive_pushforward(theta, run.constants, &theta_dot));
            seeds.p.extend(observer_dot);
        }
        seeds
    }

    fn forward(
        &self,
        run: &Run,
        unknowns: &[Unknown],
        p: &[f64],
        theta: &[f64],
        observer: &[f64],
    ) -> Result<Linearised, DynamicsError> {
        let seeds = self.seeds(run, unknowns, p, theta, observer);
        let found = run.sensitivities(&self.observer, observer, &seeds, &[])?;
        let jacobian = DMatrix::from_column_slice(self.measured.len(), seeds.columns, &found.y_dot);
        Ok(Linearised { y: found.y, jacobian, growth: found.growth })
    }

    fn adjoint(
        &self,
        run: &Run,
        unknowns: &[Unknown],
        p: &[f64],
        theta: &[f64],
        observer: &[f64],
        memory: usize,
    ) -> Result<Linearised, DynamicsError> {
        let n = self.measured.len();
        let mut jacobian = DMatrix::zeros(n, self.links.len());
        // One run forward serves every row.
        let recorded = run.record(&self.observer, observer, &adjoint_options(memory))?;
        let mut bar = vec![0.0; n];
        for i in 0..n {
            bar[i] = 1.0;
            let found = run.pullback(&self.observer, observer, &recorded, &bar)?;
            bar[i] = 0.0;
            for (k, value) in self.by_unknowns(run, unknowns, p, theta, &found).enumerate() {
                jacobian[(i, k)] = value;
            }
        }
        Ok(Linearised { y: recorded.y, jacobian, growth: Vec::new() })
    }

    /// Derivatives by the linked unknowns.
    fn by_unknowns<'a>(
        &'a self,
        run: &Run,
        unknowns: &'a [Unknown],
        p: &'a [f64],
        theta: &[f64],
        found: &'a Gradient,
    ) -> impl Iterator<Item = f64> + 'a {
        let theta_bar = run.system.derive_pullback(theta, run.constants, &found.c);
        self.links.iter().map(move |link| {
            let by_theta: f64 = link.theta.iter().map(|&i| theta_bar[i]).sum();
            let by_observer: f64 = link.observer.iter().map(|&i| found.p[i]).sum();
            unknowns[link.unknown].transform.slope(p[link.unknown]) * (by_theta + by_observer)
        })
    }

    /// Value and derivatives by the linked unknowns of a loss of the predictions.
    pub(crate) fn gradient(
        &self,
        system: &System,
        unknowns: &[Unknown],
        p: &[f64],
        interrupt: Option<&AtomicBool>,
        memory: usize,
        loss: &mut Loss,
    ) -> Result<(f64, Vec<f64>), DynamicsError> {
        let (theta, observer) = self.parameters(unknowns, p);
        let constants = system.derive(&theta)?;
        let run = Run { interrupt, ..Run::new(system, &constants, &self.inputs) };
        let found = run.gradient(&self.observer, &observer, &adjoint_options(memory), loss)?;
        Ok((found.value, self.by_unknowns(&run, unknowns, p, &theta, &found).collect()))
    }

    /// predicted − measured of sample `i`, modulo a turn for angles.
    pub(crate) fn difference(&self, i: usize, predicted: f64) -> f64 {
        self.observer.wrap(i).difference(predicted, self.measured[i])
    }

    /// The same with the samples up to time `end` (s, by its clock); `None` if there is none.
    pub(crate) fn until(&self, system: &System, end: f64) -> Result<Option<Self>, DynamicsError> {
        let kept: Vec<usize> = (0..self.times.len()).filter(|&i| self.times[i] <= end).collect();
        if kept.is_empty() {
            return Ok(None);
        }
        let mut set = self.set.clone();
        set.samples = kept.iter().map(|&i| self.set.samples[i]).collect();
        let series = self
            .series
            .iter()
            .map(|s| kept.partition_point(|&i| i < s.start)..kept.partition_point(|&i| i < s.end))
            .filter(|s| !s.is_empty())
            .collect();
        Ok(Some(Self {
            name: self.name.clone(),
            validation: self.validation,
            theta: self.theta.clone(),
            inputs: self.inputs.clone(),
            observer: SignalObserver::new(system, &set)?,
            set,
            observer_base: self.observer_base.clone(),
            links: self.links.clone(),
            own: self.own.clone(),
            measured: kept.iter().map(|&i| self.measured[i]).collect(),
            times: kept.iter().map(|&i| self.times[i]).collect(),
            signal_of: kept.iter().map(|&i| self.signal_of[i]).collect(),
            sigma: kept.iter().map(|&i| self.sigma[i]).collect(),
            series,
            bodies: self.bodies.clone(),
        }))
    }

    /// The same with nothing unknown but what it has of its own, the rest being what `p` says.
    ///
    /// # Errors
    /// None that the recording did not have when it was compiled.
    pub(crate) fn alone(
        &self,
        system: &System,
        own: &Own,
        unknowns: &[Unknown],
        p: &[f64],
    ) -> Result<Self, DynamicsError> {
        let (theta, observer_base) = self.parameters(unknowns, p);
        Ok(Self {
            name: self.name.clone(),
            validation: false,
            theta,
            inputs: self.inputs.clone(),
            observer: SignalObserver::new(system, &self.set)?,
            set: self.set.clone(),
            observer_base,
            links: own.links.clone(),
            own: None,
            measured: self.measured.clone(),
            times: self.times.clone(),
            signal_of: self.signal_of.clone(),
            sigma: self.sigma.clone(),
            series: self.series.clone(),
            bodies: self.bodies.clone(),
        })
    }

    /// Whether any of its signals observes a body.
    pub fn sees(&self, body: &str) -> bool {
        self.bodies.iter().any(|b| b == body)
    }

    /// Number of steps that its samples need.
    pub fn steps(&self) -> usize {
        self.observer.steps()
    }
}

/// States kept within a memory budget, bytes.
fn adjoint_options(memory: usize) -> AdjointOptions {
    AdjointOptions { budget: memory, ..AdjointOptions::default() }
}
