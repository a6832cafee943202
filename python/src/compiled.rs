//! Systems compiled once for each set of leaves that a model is asked about.

use std::sync::{Arc, Mutex, PoisonError};

use costate::dynamics::soft::Registry;
use costate::dynamics::{Constants, System};
use costate::model::{Extent, LeafId, Leaves, Model, ModelError};

use crate::errors::Result;

/// A compiled system at the model's own θ.
pub struct Compiled {
    /// The system, whose model has the views and expanded fields that were asked for.
    pub system: System,
    /// Its θ.
    pub theta: Vec<f64>,
    /// Its constants there.
    pub constants: Constants,
}

impl Compiled {
    fn new(model: &Model, registry: &Registry, wanted: Option<&[LeafId]>) -> Result<Self> {
        let mut system = System::with_registry(model, registry)?;
        if let Some(wanted) = wanted {
            system.narrow(wanted);
        }
        let theta = system.theta();
        let constants = system.derive(&theta)?;
        Ok(Self { system, theta, constants })
    }

    /// The leaves.
    pub fn leaves(&self) -> &Leaves {
        &self.system.model().leaves
    }
}

/// Values for leaves by path; one number sets a whole field.
pub type Values = Vec<(String, Vec<f64>)>;

/// What is changed about a model: which other views of quantities are chosen, which fields have a
/// value for each element, and which derivatives are wanted (all of them without a list).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Key {
    views: Vec<String>,
    expanded: Vec<String>,
    wanted: Option<Vec<String>>,
}

/// How many compiled systems a model keeps.
const KEPT: usize = 8;

/// The compiled systems of one model, made when they are needed.
#[derive(Default)]
pub struct Cache(Mutex<Vec<(Key, Arc<Compiled>)>>);

impl Cache {
    /// The system of `model` with the leaves that `values` and `wanted` name.
    ///
    /// # Errors
    /// Unknown paths, views that exclude each other, a model that does not compile.
    pub fn get(
        &self,
        model: &Model,
        registry: &Registry,
        values: &Values,
        wanted: Option<&[String]>,
    ) -> Result<Arc<Compiled>> {
        let key = Key::of(model, values, wanted)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(k, _)| *k == key) {
            let found = kept.remove(at);
            let compiled = found.1.clone();
            kept.push(found);
            return Ok(compiled);
        }
        let changed = key.apply(model)?;
        let ids: Option<Vec<LeafId>> = match &key.wanted {
            None => None,
            Some(paths) => {
                let find = |path: &String| changed.leaves.find(path);
                Some(paths.iter().map(find).collect::<std::result::Result<_, _>>()?)
            }
        };
        let compiled = Arc::new(Compiled::new(&changed, registry, ids.as_deref())?);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((key, compiled.clone()));
        Ok(compiled)
    }
}

impl Key {
    fn of(model: &Model, values: &Values, wanted: Option<&[String]>) -> Result<Self> {
        let mut key = Self::default();
        for (path, values) in values {
            match model.leaves.find(path) {
                Err(_) => key.views.push(path.clone()),
                Ok(id) => {
                    let leaf = model.leaves.get(id);
                    if let Extent::Field { count, .. } = leaf.extent
                        && leaf.values.len() == 1
                        && values.len() == count
                        && count > 1
                    {
                        key.expanded.push(path.clone());
                    }
                }
            }
        }
        if let Some(wanted) = wanted {
            for path in wanted {
                if model.leaves.find(path).is_err() {
                    key.views.push(path.clone());
                }
            }
            let mut wanted = wanted.to_vec();
            wanted.sort();
            wanted.dedup();
            key.wanted = Some(wanted);
        }
        if !key.views.is_empty() {
            // Leaves of the model's own view exclude others; a view's own field may be expanded.
            let named = values.iter().map(|(path, _)| path).chain(key.wanted.iter().flatten());
            key.views = named.cloned().collect();
            let viewed = with_views(model, &key.views)?;
            for (path, values) in values {
                if model.leaves.find(path).is_err() {
                    let leaf = viewed.leaves.get(viewed.leaves.find(path)?);
                    if matches!(leaf.extent, Extent::Field { count, .. }
                        if count > 1 && leaf.values.len() == 1 && values.len() == count)
                    {
                        key.expanded.push(path.clone());
                    }
                }
            }
        }
        for list in [&mut key.views, &mut key.expanded] {
            list.sort();
            list.dedup();
        }
        Ok(key)
    }

    fn apply(&self, model: &Model) -> Result<Model> {
        let mut changed =
            if self.views.is_empty() { model.clone() } else { with_views(model, &self.views)? };
        for path in &self.expanded {
            let id = changed.leaves.find(path)?;
            changed.leaves.expand(id)?;
        }
        Ok(changed)
    }
}

fn with_views(model: &Model, paths: &[String]) -> std::result::Result<Model, ModelError> {
    let viewed = model.with_views(paths.iter().map(String::as_str))?;
    for path in paths {
        // Names the nearest known paths of the model as it was given.
        if viewed.leaves.find(path).is_err() {
            model.leaves.find(path)?;
        }
    }
    Ok(viewed)
}

/// The model with other values, views and fields included.
pub fn with_values(model: &Model, values: &Values) -> Result<Model> {
    let mut changed = Key::of(model, values, None)?.apply(model)?;
    for (path, values) in values {
        let id = changed.leaves.find(path)?;
        changed.leaves.set(id, values)?;
    }
    Ok(changed)
}

/// θ with other values.
///
/// # Errors
/// A wrong number of values, or one out of its bounds.
pub fn theta_with(compiled: &Compiled, values: &Values) -> Result<Vec<f64>> {
    let leaves = compiled.leaves();
    let mut theta = compiled.theta.clone();
    for (path, values) in values {
        let id = leaves.find(path)?;
        let leaf = leaves.get(id);
        let place = &mut theta[leaves.range(id)];
        if values.len() == place.len() {
            place.copy_from_slice(values);
        } else if values.len() == 1 && matches!(leaf.extent, Extent::Field { .. }) {
            place.fill(values[0]);
        } else {
            return Err(ModelError::WrongLength {
                path: path.clone(),
                expected: place.len(),
                found: values.len(),
            }
            .into());
        }
        if let Some(index) = values.iter().position(|&v| !leaf.bounds.contain(v)) {
            let (value, bounds) = (values[index], leaf.bounds);
            return Err(ModelError::OutOfBounds { path: path.clone(), index, value, bounds }.into());
        }
    }
    Ok(theta)
}
