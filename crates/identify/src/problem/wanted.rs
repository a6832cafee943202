//! What an experiment asks for, with its paths resolved.

use costate_model::{Entry, Extent, Model, ModelError, Selection};

use crate::error::IdentifyError;
use crate::experiment::{Experiment, ParameterSpec};

/// In which recordings a parameter has its own value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scope {
    Shared,
    Each,
    One(usize),
}

impl Scope {
    /// The higher one has the say where two parameters name the same quantity.
    pub fn rank(self) -> usize {
        match self {
            Self::Shared => 0,
            Self::Each => 1,
            Self::One(_) => 2,
        }
    }
}

/// A parameter with its path resolved.
pub(super) struct Wanted<'a> {
    pub spec: &'a ParameterSpec,
    pub scope: Scope,
    /// The entry with the path inside the model or the observer.
    pub entry: Entry,
    pub observed: bool,
}

pub(super) fn is_observed(path: &str) -> bool {
    ["signal.", "frame.", "marker."].iter().any(|p| path.starts_with(p))
}

/// The path of a recording's clock offset inside its observer.
pub(super) const OFFSET: &str = "recording.offset";

/// A path of the model as experiments may write it: `initial.velocity` is `soft.BODY.velocity`
/// where there is one body only, and a point mass may be called by its key in the scene file,
/// `soft.BODY.point_mass.NAME.mass`.
pub(super) fn model_path(model: &Model, path: &str) -> Result<String, String> {
    if let Some(rest) = path.strip_prefix("initial.") {
        return match model.soft.as_slice() {
            [body] => Ok(format!("soft.{}.{rest}", body.name)),
            _ => Err(format!("the scene has several bodies; write soft.BODY.{rest} instead")),
        };
    }
    let short = path.strip_suffix(".mass").filter(|p| p.contains(".point_mass."));
    Ok(short.unwrap_or(path).to_owned())
}

/// Resolves the paths of the parameters.
pub(super) fn resolve(experiment: &Experiment) -> Result<Vec<Wanted<'_>>, IdentifyError> {
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
                    "recording `{}` is kept for validation and is never fitted; per_recording = \"all\" \
                     of a parameter that each recording has gives it a value of its own",
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
pub(super) fn with_views(
    experiment: &Experiment,
    wanted: &[Wanted],
) -> Result<Model, IdentifyError> {
    let mut paths: Vec<(&str, IdentifyErrorAt)> = Vec::new();
    for one in wanted.iter().filter(|w| !w.observed) {
        paths.push((
            &one.entry.path,
            Box::new(|e| one.spec.place.model_error(&one.spec.entry.path, &e)),
        ));
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
        paths.push((path, Box::new(|e| change.place.model_error(&change.path, &e))));
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
            Err(e) => return Err(one.spec.place.model_error(&one.spec.entry.path, &e)),
        }
        model.leaves = leaves;
    }
    for (path, change) in &overrides {
        let fail = |e: ModelError| change.place.model_error(&change.path, &e);
        let id = model.leaves.find(path).map_err(fail)?;
        let field = matches!(model.leaves.get(id).extent, Extent::Field { .. });
        if field && change.values.len() > 1 {
            model.leaves.expand(id).map_err(fail)?;
        }
    }
    Ok(model)
}

type IdentifyErrorAt<'a> = Box<dyn Fn(ModelError) -> IdentifyError + 'a>;
