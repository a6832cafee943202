//! Selections: which leaves are unknown, spread over what, through which transform.

use std::collections::BTreeMap;

use crate::error::ModelError;
use crate::leaf::{Bounds, Extent, LeafId, Leaves};
use crate::model::Model;
use crate::transform::Transform;

/// Over what an unknown leaf may vary.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Spread {
    /// As the leaf stands: one unknown for a scalar or for all elements of a field, one per
    /// component of a vector.
    #[default]
    Uniform,
    /// One unknown per element of a field.
    PerElement,
    /// One unknown per named group of elements; elements of no group keep their value. `None` takes
    /// every group there is.
    PerGroup(Option<Vec<String>>),
}

/// What is known beforehand, as a normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Mean; `None` is where the search starts.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: f64,
    /// Whether both speak of the transformed value p (as `log`, a relative deviation) and not of
    /// the physical value. The mean is a physical value all the same.
    pub transformed: bool,
}

/// One unknown leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Full path of the leaf or of another view of it.
    pub path: String,
    /// Over what it varies.
    pub spread: Spread,
    /// Which components of a vector leaf, or which elements of a field, are unknown; all if `None`.
    pub components: Option<Vec<usize>>,
    /// Whether its components are one number, and so one unknown: the three sizes of a cube.
    pub tied: bool,
    /// From p to the value; `None` takes [`Transform::natural`].
    pub transform: Option<Transform>,
    /// Where the search starts: one number for all or one per unknown; `None` is the model's value.
    pub start: Option<Vec<f64>>,
    /// What is known beforehand.
    pub prior: Option<Prior>,
    /// Closed bounds of the value, inside the leaf's own.
    pub bounds: Option<(f64, f64)>,
}

impl Entry {
    /// A leaf, uniform, from the model's value, without a prior.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            spread: Spread::Uniform,
            components: None,
            tied: false,
            transform: None,
            start: None,
            prior: None,
            bounds: None,
        }
    }
}

/// The unknown leaves of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// In the order in which they stand in p.
    pub entries: Vec<Entry>,
}

/// One entry of p.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Full name: `soft.beam.young`, `option.gravity[2]`, `soft.beam.young[tip]`.
    pub name: String,
    /// Which entry of the selection it belongs to.
    pub entry: usize,
    /// The positions of θ that take its value.
    pub targets: Vec<usize>,
    /// From p to the value.
    pub transform: Transform,
    /// Start, in p.
    pub start: f64,
    /// Closed bounds, in p.
    pub lower: f64,
    /// Closed bounds, in p.
    pub upper: f64,
    /// What is known beforehand.
    pub prior: Option<Prior>,
    /// SI unit of the value.
    pub unit: &'static str,
}

/// A selection bound to leaves: how the optimiser's vector p makes θ.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// θ of everything that is not selected (and the starts of what is).
    pub base: Vec<f64>,
    /// The entries of p.
    pub unknowns: Vec<Unknown>,
}

impl Selection {
    /// Binds the selection to a model: chooses views, expands fields, and gives the model in that
    /// form together with the map from p to its θ.
    ///
    /// # Errors
    /// Unknown paths, conflicting views, leaves chosen twice, fields asked of leaves that are none,
    /// unknown groups or groups that share elements, starts out of bounds.
    pub fn bind(&self, model: &Model) -> Result<(Model, Binding), ModelError> {
        let mut bound = model.with_views(self.entries.iter().map(|e| e.path.as_str()))?;
        let binding = self.bind_leaves(&mut bound.leaves)?;
        Ok((bound, binding))
    }

    /// Binds the selection to a tree of leaves without views; fields are expanded in place.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_leaves(&self, leaves: &mut Leaves) -> Result<Binding, ModelError> {
        for entry in &self.entries {
            let id = leaves.find(&entry.path)?;
            let partial =
                entry.components.is_some() && matches!(leaves.get(id).extent, Extent::Field { .. });
            if entry.spread != Spread::Uniform || partial {
                leaves.expand(id)?;
            }
        }
        let mut unknowns = Vec::new();
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let id = leaves.find(&entry.path)?;
            let mut parts = parts(entry, leaves, id)?;
            if entry.tied {
                let targets = parts.into_iter().flat_map(|(_, targets)| targets).collect();
                parts = vec![(entry.path.clone(), targets)];
            }
            let starts = starts(entry, leaves, id, &parts)?;
            for ((name, targets), start) in parts.into_iter().zip(starts) {
                for &target in &targets {
                    if taken.insert(target, index).is_some() {
                        return Err(ModelError::invalid(name, "selected twice"));
                    }
                }
                let leaf = leaves.get(id);
                let bounds = narrowed(&leaf.bounds, entry, &name, start)?;
                unknowns.push(unknown(
                    entry,
                    index,
                    name,
                    targets,
                    start,
                    bounds,
                    &leaf.bounds,
                    leaf.unit,
                )?);
            }
        }
        let mut base = leaves.theta();
        for unknown in &unknowns {
            for &target in &unknown.targets {
                base[target] = unknown.transform.value(unknown.start);
            }
        }
        Ok(Binding { base, unknowns })
    }
}

/// The named parts of a leaf that are one unknown each, with their positions in θ.
fn parts(
    entry: &Entry,
    leaves: &Leaves,
    id: LeafId,
) -> Result<Vec<(String, Vec<usize>)>, ModelError> {
    let leaf = leaves.get(id);
    let range = leaves.range(id);
    let one_each = |chosen: Vec<usize>| -> Vec<(String, Vec<usize>)> {
        chosen
            .into_iter()
            .map(|i| (format!("{}[{i}]", entry.path), vec![range.start + i]))
            .collect()
    };
    let chosen = match &entry.components {
        None => None,
        Some(list) => {
            if list.is_empty() {
                let message = "its list of components is empty; leave it out to take all of them";
                return Err(ModelError::invalid(&entry.path, message));
            }
            if let Some(&bad) = list.iter().find(|&&i| i >= range.len()) {
                return Err(ModelError::invalid(
                    &entry.path,
                    format!("there is no component {bad}; it has {}", range.len()),
                ));
            }
            Some(list.clone())
        }
    };
    let field = match &leaf.extent {
        Extent::Field { groups, .. } => Some(groups),
        Extent::Whole => None,
    };
    match (&entry.spread, field) {
        (Spread::Uniform, Some(_)) => {
            let targets = match chosen {
                None => range.collect(),
                Some(list) => list.into_iter().map(|i| range.start + i).collect(),
            };
            Ok(vec![(entry.path.clone(), targets)])
        }
        (Spread::Uniform, None) if leaf.shape.is_empty() => {
            Ok(vec![(entry.path.clone(), vec![range.start])])
        }
        (Spread::Uniform, None) | (Spread::PerElement, Some(_)) => {
            Ok(one_each(chosen.unwrap_or_else(|| (0..range.len()).collect())))
        }
        (Spread::PerGroup(names), Some(groups)) => {
            let names: Vec<String> = match names {
                Some(names) => names.clone(),
                None => groups.keys().cloned().collect(),
            };
            if names.is_empty() {
                return Err(ModelError::invalid(&entry.path, "there are no groups of elements"));
            }
            let mut out = Vec::new();
            for name in names {
                let Some(elements) = groups.get(&name) else {
                    let known: Vec<&str> = groups.keys().map(String::as_str).collect();
                    return Err(ModelError::invalid(
                        &entry.path,
                        format!("there is no group `{name}`; known ones: {}", known.join(", ")),
                    ));
                };
                let targets: Vec<usize> = elements
                    .iter()
                    .map(|&e| e as usize)
                    .filter(|e| chosen.as_ref().is_none_or(|list| list.contains(e)))
                    .map(|e| range.start + e)
                    .collect();
                if !targets.is_empty() {
                    out.push((format!("{}[{name}]", entry.path), targets));
                }
            }
            Ok(out)
        }
        (Spread::PerElement | Spread::PerGroup(_), None) => {
            Err(ModelError::NotAField { path: entry.path.clone() })
        }
    }
}

fn starts(
    entry: &Entry,
    leaves: &Leaves,
    id: LeafId,
    parts: &[(String, Vec<usize>)],
) -> Result<Vec<f64>, ModelError> {
    if let Some(start) = &entry.start {
        return match start.len() {
            1 => Ok(vec![start[0]; parts.len()]),
            n if n == parts.len() => Ok(start.clone()),
            n => Err(ModelError::WrongLength {
                path: format!("start of {}", entry.path),
                expected: parts.len(),
                found: n,
            }),
        };
    }
    let (values, first) = (&leaves.get(id).values, leaves.range(id).start);
    parts
        .iter()
        .map(|(name, targets)| {
            let value = values[targets[0] - first];
            if targets.iter().all(|&t| values[t - first] == value) {
                Ok(value)
            } else {
                Err(ModelError::invalid(
                    name,
                    "its elements have different values; give a start to tie them together, or \
                     select it per element",
                ))
            }
        })
        .collect()
}

/// The leaf's bounds narrowed by the entry's, which the start must keep.
fn narrowed(bounds: &Bounds, entry: &Entry, name: &str, start: f64) -> Result<Bounds, ModelError> {
    let mut bounds = *bounds;
    if let Some((lower, upper)) = entry.bounds {
        if lower.is_nan() || upper.is_nan() || lower >= upper {
            return Err(ModelError::invalid(
                format!("bounds of {}", entry.path),
                format!("the lower end {lower} is not below the upper end {upper}"),
            ));
        }
        if lower > bounds.lower {
            (bounds.lower, bounds.open_below) = (lower, false);
        }
        if upper < bounds.upper {
            (bounds.upper, bounds.open_above) = (upper, false);
        }
    }
    if !bounds.contain(start) {
        let path = format!("start of {name}");
        return Err(ModelError::OutOfBounds { path, index: 0, value: start, bounds });
    }
    Ok(bounds)
}

/// How near an open end may come, as a share of the start's distance from it.
const OPEN_MARGIN: f64 = 1e-9;
/// How far below its start a value under a logarithm may fall.
const LOG_RANGE: f64 = 1e-12;

fn unknown(
    entry: &Entry,
    index: usize,
    name: String,
    targets: Vec<usize>,
    start: f64,
    bounds: Bounds,
    natural: &Bounds,
    unit: &'static str,
) -> Result<Unknown, ModelError> {
    let transform = entry.transform.clone().unwrap_or_else(|| Transform::natural(natural, start));
    let p = transform.start(start);
    if !p.is_finite() {
        return Err(ModelError::invalid(
            format!("start of {name}"),
            format!("the transform does not reach {start}; choose another start or transform"),
        ));
    }
    if let Some(prior) = &entry.prior {
        let mean = prior.mean.unwrap_or(start);
        if !(prior.sd > 0.0 && prior.sd.is_finite() && mean.is_finite())
            || (prior.transformed && !transform.inverse(mean).is_finite())
        {
            return Err(ModelError::invalid(
                format!("prior of {name}"),
                "it needs a mean that the transform reaches and a standard deviation above 0",
            ));
        }
    }
    let mut low = bounds.lower;
    let mut high = bounds.upper;
    if bounds.open_below && low.is_finite() {
        low += OPEN_MARGIN * (start - low);
    }
    if bounds.open_above && high.is_finite() {
        high -= OPEN_MARGIN * (high - start);
    }
    let (mut lower, mut upper) = transform.inverse_interval(low, high);
    if transform == Transform::log() {
        lower = lower.max(p + LOG_RANGE.ln());
    }
    // Rounding in the transform must not put a start on a bound outside of it.
    lower = lower.min(p);
    upper = upper.max(p);
    Ok(Unknown {
        name,
        entry: index,
        targets,
        transform,
        start: p,
        lower,
        upper,
        prior: entry.prior,
        unit,
    })
}

impl Binding {
    /// Number of entries of p.
    pub fn len(&self) -> usize {
        self.unknowns.len()
    }
    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.unknowns.is_empty()
    }
    /// The start, in p.
    pub fn start(&self) -> Vec<f64> {
        self.unknowns.iter().map(|u| u.start).collect()
    }
    /// The names of the entries of p.
    pub fn names(&self) -> Vec<&str> {
        self.unknowns.iter().map(|u| u.name.as_str()).collect()
    }
    /// θ for p; what is not selected keeps its value to the bit.
    pub fn theta(&self, p: &[f64]) -> Vec<f64> {
        let mut theta = self.base.clone();
        for (unknown, &p) in self.unknowns.iter().zip(p) {
            let value = unknown.transform.value(p);
            for &target in &unknown.targets {
                theta[target] = value;
            }
        }
        theta
    }
    /// θ̇ for ṗ.
    pub fn pushforward(&self, p: &[f64], p_dot: &[f64]) -> Vec<f64> {
        let mut theta_dot = vec![0.0; self.base.len()];
        for ((unknown, &p), &dot) in self.unknowns.iter().zip(p).zip(p_dot) {
            let slope = unknown.transform.slope(p) * dot;
            for &target in &unknown.targets {
                theta_dot[target] = slope;
            }
        }
        theta_dot
    }
    /// p̄ for θ̄.
    pub fn pullback(&self, p: &[f64], theta_bar: &[f64]) -> Vec<f64> {
        self.unknowns
            .iter()
            .zip(p)
            .map(|(unknown, &p)| {
                let sum: f64 = unknown.targets.iter().map(|&t| theta_bar[t]).sum();
                unknown.transform.slope(p) * sum
            })
            .collect()
    }
}
