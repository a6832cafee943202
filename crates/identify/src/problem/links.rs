//! From parameters to unknowns, and from unknowns to what they move.

use std::collections::{BTreeSet, HashMap};

use costate_model::{Leaves, Model, ModelError, Selection};

use super::recording::BoundRecording;
use super::unknown::{Link, Unknown};
use super::wanted::{OFFSET, Scope, Wanted, model_path};
use crate::error::IdentifyError;
use crate::experiment::Experiment;

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
                Scope::Each if recordings[r].validation => continue,
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
