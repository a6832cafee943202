//! From an experiment to a compiled problem.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use costate_dynamics::soft::Registry;
use costate_dynamics::{DynamicsError, System};
use costate_model::{LeafId, Model, ModelError};

use super::bind_recording::bind_recording;
use super::links::Binder;
use super::recording::{BoundRecording, Own};
use super::unknown::{Link, Unknown};
use super::wanted::{resolve, with_views};
use crate::error::IdentifyError;
use crate::experiment::{Experiment, Method, Sigma};
use crate::least_squares::Structure;

/// An experiment compiled: everything that residuals and derivatives are computed from.
pub struct Problem {
    /// Name of the experiment.
    pub name: String,
    /// The system; its model has the views that were chosen.
    pub system: Arc<System>,
    /// The entries of p: shared ones first, then those of each fitted recording.
    pub unknowns: Vec<Unknown>,
    /// All recordings, in the order of the experiment.
    pub recordings: Vec<BoundRecording>,
    /// Which of them are fitted: block b of the residuals is recording `fitted[b]`.
    pub fitted: Vec<usize>,
    /// Layout of p; a last block without recordings holds the priors of shared unknowns.
    pub structure: Structure,
    /// How to search.
    pub method: Method,
    /// The material laws that the system was made with.
    pub materials: Registry,
    /// What the scene asks for and is not simulated, and whether derivatives are smoothed.
    pub left_out: Vec<String>,
    /// Name, unit and noise of every signal of the experiment.
    pub signals: Vec<(String, &'static str, Sigma)>,
}

impl Problem {
    /// Compiles an experiment.
    ///
    /// # Errors
    /// Anything that contradicts itself: unknown paths, conflicting views, starts out of bounds,
    /// recordings without samples, inputs that the model does not have.
    pub fn new(experiment: &Experiment) -> Result<Self, IdentifyError> {
        let wanted = resolve(experiment)?;
        let model = with_views(experiment, &wanted)?;
        let mut system = System::with_registry(&model, &experiment.materials)?;
        let fitted: Vec<usize> = (0..experiment.recordings.len())
            .filter(|&r| !experiment.recordings[r].validation)
            .collect();
        if fitted.is_empty() && !experiment.recordings.is_empty() {
            return Err(IdentifyError::invalid(
                "validation",
                "every recording is kept for validation; there is none to fit",
            ));
        }
        let mut recordings = Vec::new();
        let mut leaves = Vec::new();
        for recording in &experiment.recordings {
            let (bound, own) = bind_recording(experiment, &system, &wanted, recording)?;
            recordings.push(bound);
            leaves.push(own);
        }
        let mut binder = Binder {
            experiment,
            shared: Vec::new(),
            by_name: HashMap::new(),
            local: vec![Vec::new(); experiment.recordings.len()],
            links: vec![Vec::new(); experiment.recordings.len()],
            taken: vec![BTreeSet::new(); experiment.recordings.len()],
            first_rows: vec![Vec::new(); experiment.recordings.len()],
        };
        for (i, one) in wanted.iter().enumerate() {
            binder.bind(one, &wanted[..], i, &model, &recordings, &leaves)?;
        }
        let Binder { shared, mut local, mut links, first_rows, .. } = binder;
        for (r, recording) in recordings.iter_mut().enumerate().filter(|(_, r)| r.validation) {
            recording.own = take_own(recording, &mut local[r], &mut links[r]);
            for &(observed, target, value) in &first_rows[r] {
                let base =
                    if observed { &mut recording.observer_base } else { &mut recording.theta };
                base[target] = value;
            }
        }
        system.narrow(&linked(&model, &recordings, &links));
        let mut structure = Structure {
            shared: shared.len(),
            local: fitted.iter().map(|&r| local[r].len()).collect(),
        };
        // A last block for the priors of shared unknowns.
        structure.local.push(0);
        let mut first = vec![0; recordings.len()];
        for (b, &r) in fitted.iter().enumerate() {
            first[r] = structure.local_range(b).start;
        }
        for ((r, recording), links) in recordings.iter_mut().enumerate().zip(links) {
            recording.links = links
                .into_iter()
                .map(|(own, mut link)| {
                    if own {
                        link.unknown += first[r];
                    }
                    link
                })
                .collect();
        }
        let mut left_out = experiment.left_out.clone();
        left_out.extend(system.articulated().iter().flat_map(|a| a.left_out()).cloned());
        left_out.extend(system.articulated().and_then(|a| a.smoothing()));
        let unknowns = shared.into_iter().chain(local.into_iter().flatten()).collect();
        let signals = experiment
            .signals
            .iter()
            .map(|s| (s.signal.name.clone(), s.signal.unit(), s.sigma))
            .collect();
        Ok(Self {
            name: experiment.name.clone(),
            system: Arc::new(system),
            unknowns,
            recordings,
            fitted,
            structure,
            method: experiment.method.clone(),
            materials: experiment.materials.clone(),
            left_out,
            signals,
        })
    }

    /// The problem of recording `r`, kept for validation, alone: its own unknowns, everything else
    /// as `p` says; `None` where it has none of its own.
    ///
    /// # Errors
    /// None that the whole problem does not have.
    pub(crate) fn alone(&self, r: usize, p: &[f64]) -> Result<Option<Self>, IdentifyError> {
        let recording = &self.recordings[r];
        let Some(own) = &recording.own else { return Ok(None) };
        let unknowns = own.unknowns.iter().map(|u| Unknown { recording: Some(0), ..u.clone() });
        Ok(Some(Self {
            name: self.name.clone(),
            system: self.system.clone(),
            unknowns: unknowns.collect(),
            recordings: vec![recording.alone(&self.system, own, &self.unknowns, p)?],
            fitted: vec![0],
            structure: Structure { shared: 0, local: vec![own.unknowns.len(), 0] },
            method: self.method.clone(),
            materials: self.materials.clone(),
            left_out: self.left_out.clone(),
            signals: self.signals.clone(),
        }))
    }

    /// The start, in p.
    pub fn start(&self) -> Vec<f64> {
        self.unknowns.iter().map(|u| u.start).collect()
    }

    /// Number of fitted samples.
    pub fn samples(&self) -> usize {
        self.fitted.iter().map(|&r| self.recordings[r].measured.len()).sum()
    }

    /// The same problem with the samples of the first part of every fitted recording only; `None`
    /// where that leaves too few to say anything.
    ///
    /// # Errors
    /// None that the whole problem does not have.
    pub fn until(&self, part: Part) -> Result<Option<Self>, IdentifyError> {
        let mut recordings = Vec::new();
        for &r in &self.fitted {
            let recording = &self.recordings[r];
            let last = recording.times.iter().copied().fold(0.0, f64::max);
            let end = match part {
                Part::Fraction(fraction) => fraction * last,
                Part::Time(time) => time,
            };
            match recording.until(&self.system, end)? {
                Some(part) => recordings.push(part),
                None => return Ok(None),
            }
        }
        let index = |r: usize| self.fitted.iter().position(|&f| f == r);
        let unknowns = self
            .unknowns
            .iter()
            .map(|u| Unknown { recording: u.recording.and_then(index), ..u.clone() })
            .collect();
        let part = Self {
            name: self.name.clone(),
            system: self.system.clone(),
            unknowns,
            fitted: (0..recordings.len()).collect(),
            recordings,
            structure: self.structure.clone(),
            method: self.method.clone(),
            signals: self.signals.clone(),
            materials: self.materials.clone(),
            left_out: self.left_out.clone(),
        };
        Ok((part.samples() > 2 * part.unknowns.len()).then_some(part))
    }

    /// Predicted value of every sample of recording `r` at p.
    ///
    /// # Errors
    /// Values out of bounds, divergence.
    pub fn predict(&self, r: usize, p: &[f64]) -> Result<Vec<f64>, DynamicsError> {
        self.recordings[r].predict(&self.system, &self.unknowns, p, None, false)
    }

    /// The model with the values that p gives to the shared unknowns of the model.
    pub fn model_at(&self, p: &[f64]) -> Result<Model, ModelError> {
        let mut theta = self.system.model().theta();
        for recording in &self.recordings {
            for link in &recording.links {
                let unknown = &self.unknowns[link.unknown];
                if unknown.recording.is_none() {
                    for &i in &link.theta {
                        theta[i] = unknown.transform.value(p[link.unknown]);
                    }
                }
            }
        }
        self.system.model().with_theta(&theta)
    }
}

/// The first part of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// Up to this share of its last sample's time.
    Fraction(f64),
    /// Up to this time by its clock, s.
    Time(f64),
}

/// Leaves of the model that an unknown of any recording changes.
fn linked(
    model: &Model,
    recordings: &[BoundRecording],
    links: &[Vec<(bool, Link)>],
) -> Vec<LeafId> {
    let shared = links.iter().flatten().map(|(_, link)| link);
    let own = recordings.iter().filter_map(|r| r.own.as_ref()).flat_map(|own| &own.links);
    let entries: BTreeSet<usize> =
        shared.chain(own).flat_map(|link| &link.theta).copied().collect();
    let is_linked = |id: &LeafId| entries.range(model.leaves.range(*id)).next().is_some();
    model.leaves.iter().map(|(id, _)| id).filter(is_linked).collect()
}

/// Takes the unknowns of a recording kept for validation away from those of the fit, and leaves
/// their starts in its parameters.
fn take_own(
    recording: &mut BoundRecording,
    unknowns: &mut Vec<Unknown>,
    links: &mut Vec<(bool, Link)>,
) -> Option<Own> {
    let own = Own {
        unknowns: std::mem::take(unknowns),
        links: links.iter().filter(|(own, _)| *own).map(|(_, link)| link.clone()).collect(),
    };
    links.retain(|(own, _)| !own);
    for link in &own.links {
        let unknown = &own.unknowns[link.unknown];
        let value = unknown.transform.value(unknown.start);
        link.theta.iter().for_each(|&i| recording.theta[i] = value);
        link.observer.iter().for_each(|&i| recording.observer_base[i] = value);
    }
    (!own.unknowns.is_empty()).then_some(own)
}
