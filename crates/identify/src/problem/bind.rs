//! From an experiment to a compiled problem.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use costate_dynamics::observe::{Clock, Sample, SignalObserver, SignalSet, Term};
use costate_dynamics::soft::Registry;
use costate_dynamics::{DynamicsError, System};
use costate_model::{Entry, Extent, Inputs, Leaves, Model, ModelError, Selection};

use super::recording::BoundRecording;
use super::unknown::{Link, Unknown};
use crate::error::IdentifyError;
use crate::experiment::{Experiment, Method, ParameterSpec, Recording, Sigma};
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
    /// Name, unit and noise of every signal of the experiment.
    pub signals: Vec<(String, &'static str, Sigma)>,
}

/// In which recordings a parameter has its own value.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Shared,
    Each,
    One(usize),
}

/// A parameter with its path resolved.
struct Wanted<'a> {
    spec: &'a ParameterSpec,
    scope: Scope,
    /// The entry with the path inside the model or the observer.
    entry: Entry,
    observed: bool,
}

fn is_observed(path: &str) -> bool {
    ["signal.", "frame.", "marker."].iter().any(|p| path.starts_with(p))
}

/// The path of a recording's clock offset inside its observer.
const OFFSET: &str = "recording.offset";

impl Problem {
    /// Compiles an experiment.
    ///
    /// # Errors
    /// Anything that contradicts itself: unknown paths, conflicting views, starts out of bounds,
    /// recordings without samples, inputs that the model does not have.
    pub fn new(experiment: &Experiment) -> Result<Self, IdentifyError> {
        let wanted = resolve(experiment)?;
        let model = with_views(experiment, &wanted)?;
        let system = Arc::new(System::with_registry(&model, &experiment.materials)?);
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
        };
        for (i, one) in wanted.iter().enumerate() {
            binder.bind(one, &wanted[..], i, &model, &recordings, &leaves)?;
        }
        let Binder { shared, local, links, .. } = binder;
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
        let unknowns = shared.into_iter().chain(local.into_iter().flatten()).collect();
        let signals = experiment
            .signals
            .iter()
            .map(|s| (s.signal.name.clone(), s.signal.unit(), s.sigma))
            .collect();
        Ok(Self {
            name: experiment.name.clone(),
            system,
            unknowns,
            recordings,
            fitted,
            structure,
            method: experiment.method.clone(),
            materials: experiment.materials.clone(),
            signals,
        })
    }

    /// The start, in p.
    pub fn start(&self) -> Vec<f64> {
        self.unknowns.iter().map(|u| u.start).collect()
    }

    /// Number of fitted samples.
    pub fn samples(&self) -> usize {
        self.fitted.iter().map(|&r| self.recordings[r].measured.len()).sum()
    }

    /// The same problem with the samples of the first part of every fitted recording only, up to
    /// `fraction` of its last time; `None` where that leaves too few to say anything.
    ///
    /// # Errors
    /// None that the whole problem does not have.
    pub fn until(&self, fraction: f64) -> Result<Option<Self>, IdentifyError> {
        let mut recordings = Vec::new();
        for &r in &self.fitted {
            let recording = &self.recordings[r];
            let last = recording.times.iter().copied().fold(0.0, f64::max);
            match recording.until(&self.system, fraction * last)? {
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

/// A path of the model as experiments may write it: `initial.velocity` is `soft.BODY.velocity`
/// where there is one body only, and a point mass may be called by its key in the scene file,
/// `soft.BODY.point_mass.NAME.mass`.
fn model_path(model: &Model, path: &str) -> Result<String, String> {
    if let Some(rest) = path.strip_prefix("initial.") {
        return match model.soft.as_slice() {
            [body] => Ok(format!("soft.{}.{rest}", body.name)),
            _ => Err(format!("the scene has several bodies; write soft.BODY.{rest} instead")),
        };
    }
    let short = path.strip_suffix(".mass").filter(|p| p.contains(".point_mass."));
    Ok(short.unwrap_or(path).to_owned())
}

fn resolve(experiment: &Experiment) -> Result<Vec<Wanted<'_>>, IdentifyError> {
    let mut out = Vec::new();
    for spec in &experiment.parameters {
        let path = spec.entry.path.as_str();
        let fail = |message: String| spec.place.error(path, message);
        let (mut scope, mut inner) =
            (if spec.per_recording { Scope::Each } else { Scope::Shared }, path.to_owned());
        if path != OFFSET
            && let Some(rest) = path.strip_prefix("recording.")
        {
            let found = experiment
                .recordings
                .iter()
                .enumerate()
                .filter(|(_, r)| {
                    rest.strip_prefix(r.name.as_str()).is_some_and(|t| t.starts_with('.'))
                })
                .max_by_key(|(_, r)| r.name.len());
            let Some((index, recording)) = found else {
                let known: Vec<&str> = experiment.recordings.iter().map(|r| &*r.name).collect();
                return Err(fail(format!(
                    "there is no such recording; known: {}",
                    known.join(", ")
                )));
            };
            if recording.validation {
                return Err(fail(format!(
                    "recording `{}` is kept for validation and is never fitted",
                    recording.name
                )));
            }
            scope = Scope::One(index);
            inner = rest[recording.name.len() + 1..].to_owned();
            if inner == "offset" {
                inner = OFFSET.to_owned();
            }
        }
        let observed = inner == OFFSET || is_observed(&inner);
        if !observed {
            inner = model_path(&experiment.model, &inner).map_err(fail)?;
        }
        if inner == OFFSET && spec.entry.bounds.is_none() {
            return Err(fail(
                "a time offset needs bounds, so that the simulation covers all of them".into(),
            ));
        }
        let mut entry = spec.entry.clone();
        entry.path = inner;
        out.push(Wanted { spec, scope, entry, observed });
    }
    Ok(out)
}

/// The model in the views and with the fields that parameters and overrides ask for.
fn with_views(experiment: &Experiment, wanted: &[Wanted]) -> Result<Model, IdentifyError> {
    let mut paths: Vec<(&str, IdentifyErrorAt)> = Vec::new();
    for one in wanted.iter().filter(|w| !w.observed) {
        paths.push((&one.entry.path, Box::new(|e| one.spec.place.error(&one.spec.entry.path, e))));
    }
    let mut overrides = Vec::new();
    for recording in &experiment.recordings {
        for change in recording.overrides.iter().filter(|o| !is_observed(&o.path)) {
            let path = model_path(&experiment.model, &change.path)
                .map_err(|e| change.place.error(&change.path, e))?;
            overrides.push((path, change));
        }
    }
    for (path, change) in &overrides {
        paths.push((path, Box::new(|e| change.place.error(&change.path, e))));
    }
    // One path more at a time, so that an error is that of the path that brings it in.
    let mut model = experiment.model.clone();
    for n in 1..=paths.len() {
        let known = paths[..n].iter().map(|(p, _)| *p);
        model = experiment.model.with_views(known).map_err(|e| paths[n - 1].1(e))?;
    }
    for one in wanted.iter().filter(|w| !w.observed) {
        let selection = Selection { entries: vec![Entry { start: None, ..one.entry.clone() }] };
        let mut leaves = model.leaves.clone();
        match selection.bind_leaves(&mut leaves) {
            // A start given per element may be what makes differing elements agree.
            Ok(_) | Err(ModelError::Invalid { .. } | ModelError::OutOfBounds { .. }) => {}
            Err(e) => return Err(one.spec.place.error(&one.spec.entry.path, e)),
        }
        model.leaves = leaves;
    }
    for (path, change) in &overrides {
        let fail = |e| change.place.error(&change.path, e);
        let id = model.leaves.find(path).map_err(fail)?;
        let field = matches!(model.leaves.get(id).extent, Extent::Field { .. });
        if field && change.values.len() > 1 {
            model.leaves.expand(id).map_err(fail)?;
        }
    }
    Ok(model)
}

type IdentifyErrorAt<'a> = Box<dyn Fn(ModelError) -> IdentifyError + 'a>;

/// A recording without links, and the model's leaves with its overrides.
fn bind_recording(
    experiment: &Experiment,
    system: &System,
    wanted: &[Wanted],
    recording: &Recording,
) -> Result<(BoundRecording, Leaves), IdentifyError> {
    let index = experiment.recordings.iter().position(|r| std::ptr::eq(r, recording));
    let model = system.model();
    let mut leaves = model.leaves.clone();
    for change in recording.overrides.iter().filter(|o| !is_observed(&o.path)) {
        let fail = |e: ModelError| change.place.error(&change.path, e);
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
    let mut bound = BoundRecording {
        name: recording.name.clone(),
        validation: recording.validation,
        theta: leaves.theta(),
        inputs,
        observer: SignalObserver::new(system, &SignalSet::default())?,
        set: SignalSet::default(),
        observer_base: Vec::new(),
        links: Vec::new(),
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
    bound.observer = SignalObserver::new(system, &set)?;
    bound.set = set;
    let mut observer_leaves = bound.observer.leaves().clone();
    for change in recording.overrides.iter().filter(|o| is_observed(&o.path)) {
        let fail = |e: ModelError| change.place.error(&change.path, e);
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

struct Binder<'a> {
    experiment: &'a Experiment,
    shared: Vec<Unknown>,
    by_name: HashMap<String, usize>,
    local: Vec<Vec<Unknown>>,
    /// Per recording: whether the link is to one of its own unknowns (then counted from its
    /// first), and the link.
    links: Vec<Vec<(bool, Link)>>,
    taken: Vec<BTreeSet<(bool, usize)>>,
}

impl Binder<'_> {
    fn bind(
        &mut self,
        one: &Wanted,
        all: &[Wanted],
        index: usize,
        model: &Model,
        recordings: &[BoundRecording],
        leaves: &[Leaves],
    ) -> Result<(), IdentifyError> {
        let fail = |e: ModelError| one.spec.place.error(&one.spec.entry.path, e);
        let count = recordings.len();
        let (mut seen, mut bound) = (false, false);
        for r in 0..count {
            let own = match one.scope {
                Scope::Shared => false,
                Scope::Each if recordings[r].validation => continue,
                Scope::Each => true,
                Scope::One(only) if only != r => continue,
                Scope::One(_) => true,
            };
            // Something more special has the say in this recording.
            let special = all.iter().enumerate().any(|(j, other)| {
                j != index
                    && other.entry.path == one.entry.path
                    && rank(other.scope) > rank(one.scope)
                    && match other.scope {
                        Scope::One(only) => only == r,
                        _ => !recordings[r].validation,
                    }
            });
            let overridden = !own
                && self.experiment.recordings[r].overrides.iter().any(|o| {
                    o.path == one.entry.path
                        || model_path(model, &o.path).is_ok_and(|p| p == one.entry.path)
                });
            if special || overridden {
                seen = true;
                continue;
            }
            let mut tree = match (one.observed, own) {
                (true, _) => {
                    let mut tree = recordings[r].observer.leaves().clone();
                    tree = tree.with_theta(&recordings[r].observer_base).map_err(fail)?;
                    if one.entry.path != OFFSET && tree.find(&one.entry.path).is_err() {
                        continue; // This recording does not sample that signal.
                    }
                    tree
                }
                (false, true) => leaves[r].clone(),
                (false, false) => model.leaves.clone(),
            };
            seen = true;
            let selection = Selection { entries: vec![one.entry.clone()] };
            let binding = selection.bind_leaves(&mut tree).map_err(fail)?;
            for found in binding.unknowns {
                bound = true;
                let prefix = match (own, one.entry.path.as_str()) {
                    (true, OFFSET) => format!("recording.{}.offset", recordings[r].name),
                    (true, path) => format!("recording.{}.{path}", recordings[r].name),
                    (false, path) => path.to_owned(),
                };
                let name = format!("{prefix}{}", &found.name[one.entry.path.len()..]);
                let targets = found.targets;
                let unknown = Unknown {
                    name: name.clone(),
                    group: prefix,
                    recording: own.then_some(r),
                    transform: found.transform,
                    start: found.start,
                    bounds: (found.lower, found.upper),
                    prior: found.prior,
                    unit: found.unit,
                };
                for &t in &targets {
                    if !self.taken[r].insert((one.observed, t)) {
                        let message = format!("`{name}` is selected twice");
                        return Err(one.spec.place.error(&one.spec.entry.path, message));
                    }
                }
                let at = if own {
                    self.local[r].push(unknown);
                    self.local[r].len() - 1
                } else {
                    let next = self.shared.len();
                    let at = *self.by_name.entry(name).or_insert(next);
                    if at == next {
                        self.shared.push(unknown);
                    }
                    at
                };
                let (theta, observer) =
                    if one.observed { (Vec::new(), targets) } else { (targets, Vec::new()) };
                self.links[r].push((own, Link { unknown: at, theta, observer }));
            }
        }
        if !seen {
            let known: Vec<String> = recordings
                .first()
                .map(|r| r.observer.leaves().iter().map(|(_, l)| l.path.clone()).collect())
                .unwrap_or_default();
            let message = if one.observed {
                format!("no recording observes it; known: {}", known.join(", "))
            } else {
                "no recording depends on it".into()
            };
            return Err(one.spec.place.error(&one.spec.entry.path, message));
        }
        if !bound {
            let message = "nothing of it is left to find: every recording sets it by an override \
                           or a parameter of its own, or it selects no element";
            return Err(one.spec.place.error(&one.spec.entry.path, message));
        }
        Ok(())
    }
}

fn rank(scope: Scope) -> usize {
    match scope {
        Scope::Shared => 0,
        Scope::Each => 1,
        Scope::One(_) => 2,
    }
}
