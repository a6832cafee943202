//! From parameters to unknowns, and from unknowns to what they move.

use std::collections::{BTreeSet, HashMap};

use costate_model::{Leaves, Model, ModelError, Selection};

use super::recording::BoundRecording;
use super::unknown::{Link, Unknown};
use super::wanted::{OFFSET, Scope, Wanted, model_path};
use crate::error::IdentifyError;
use crate::experiment::{Experiment, FirstRow, Recording};

/// Links the entries of p to what they move.
pub(super) struct Binder<'a> {
    pub experiment: &'a Experiment,
    pub shared: Vec<Unknown>,
    pub by_name: HashMap<String, usize>,
    pub local: Vec<Vec<Unknown>>,
    /// Per recording: whether the link is to one of its own unknowns (then counted from its
    /// first), and the link.
    pub links: Vec<Vec<(bool, Link)>>,
    pub taken: Vec<BTreeSet<(bool, usize)>>,
    /// Per recording kept for validation: what its first row says of what each fitted recording has of
    /// its own, as (whether observed, position, value).
    pub first_rows: Vec<Vec<(bool, usize, f64)>>,
}

impl Binder<'_> {
    /// Links what one parameter selects, in every recording that it has the say in.
    pub fn bind(
        &mut self,
        one: &Wanted,
        all: &[Wanted],
        index: usize,
        model: &Model,
        recordings: &[BoundRecording],
        leaves: &[Leaves],
    ) -> Result<(), IdentifyError> {
        let fail = |e: ModelError| one.spec.place.model_error(&one.spec.entry.path, &e);
        let count = recordings.len();
        let (mut seen, mut bound) = (false, false);
        for r in 0..count {
            let own = match one.scope {
                Scope::Shared => false,
                // Where such a motion starts is what its first row says.
                Scope::Each if recordings[r].validation && !one.spec.in_validation => {
                    if one.spec.first.is_none() {
                        continue;
                    }
                    true
                }
                Scope::Each => true,
                Scope::One(only) if only != r => continue,
                Scope::One(_) => true,
            };
            // Something more special has the say in this recording.
            let special = all.iter().enumerate().any(|(j, other)| {
                j != index
                    && other.entry.path == one.entry.path
                    && other.scope.rank() > one.scope.rank()
                    && match other.scope {
                        Scope::One(only) => only == r,
                        _ => !recordings[r].validation || other.spec.in_validation,
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
            let mut entry = one.entry.clone();
            if let Some(from) = &one.spec.first {
                let unit = tree.find(&entry.path).map(|id| tree.get(id).unit).unwrap_or_default();
                let recording = &self.experiment.recordings[r];
                entry.start = Some(read_first_row(one, from, own, unit, recording)?);
            }
            let selection = Selection { entries: vec![entry] };
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
                let scan = one.spec.scan.iter().flatten().map(|&v| found.transform.inverse(v));
                let unknown = Unknown {
                    scan: scan.filter(|p| (found.lower..=found.upper).contains(p)).collect(),
                    name: name.clone(),
                    group: prefix,
                    recording: own.then_some(r),
                    transform: found.transform,
                    start: found.start,
                    bounds: (found.lower, found.upper),
                    prior: found.prior,
                    unit: found.unit,
                };
                if matches!(one.scope, Scope::Each)
                    && recordings[r].validation
                    && !one.spec.in_validation
                {
                    let value = unknown.transform.value(unknown.start);
                    self.first_rows[r].extend(targets.iter().map(|&t| (one.observed, t, value)));
                    continue;
                }
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

/// The start of a recording's own value in its first row.
fn read_first_row(
    one: &Wanted,
    from: &FirstRow,
    own: bool,
    unit: &str,
    recording: &Recording,
) -> Result<Vec<f64>, IdentifyError> {
    let fail = |message: String| one.spec.place.error(&one.spec.entry.path, message);
    if !own {
        return Err(fail(
            "every recording has a first row of its own: say per_recording = true, or name one \
             recording"
                .into(),
        ));
    }
    if let Some(given) = from.unit.filter(|u| !u.fits(unit)) {
        return Err(fail(format!("`{}` is no unit of what is measured in {unit}", given.name)));
    }
    let factor = from.unit.map_or(1.0, |u| u.factor);
    let value = |column: &String| match recording.first_row.get(column) {
        Some(x) if x.is_finite() => Ok(x * factor),
        Some(_) => Err(fail(format!(
            "the first row of recording `{}` has no value of `{column}`",
            recording.name
        ))),
        None => {
            let known: Vec<&str> = recording.first_row.keys().map(String::as_str).collect();
            Err(fail(format!(
                "recording `{}` has no column `{column}`; known: {}",
                recording.name,
                if known.is_empty() { "none".into() } else { known.join(", ") }
            )))
        }
    };
    from.columns.iter().map(value).collect()
}
