//! Selections of leaves: an optimiser's vector and what it means.

use costate::identify::Experiment;
use costate::identify::experiment::Tables;
use costate::model::{Binding, LeafId, Selection as Chosen};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array, numbers};
use crate::errors::{Result, invalid};
use crate::model::Model;

/// Leaves chosen by an optimiser, with spreads and transforms.
#[pyclass(frozen, module = "costate._costate")]
pub struct Selection {
    model: costate::model::Model,
    binding: Binding,
    /// The selected leaves.
    leaves: Vec<LeafId>,
}

#[pymethods]
impl Model {
    /// The selection that `text` describes as the `[parameters]` of experiment files do.
    fn select(&self, text: &str) -> Result<Selection> {
        let tables = Tables::new();
        let described = Experiment::describe(self.model.clone(), "<selection>", text, &tables)?;
        for spec in &described.parameters {
            let path = &spec.entry.path;
            let of_recordings = spec.per_recording || spec.in_validation || spec.first.is_some();
            if of_recordings || spec.scan.is_some() || spec.entry.prior.is_some() {
                return invalid(format!(
                    "{path}: priors, scans and what differs by recording are an experiment's"
                ));
            }
        }
        let entries = described.parameters.into_iter().map(|spec| spec.entry).collect();
        let (model, binding) = Chosen { entries }.bind(&self.model)?;
        let leaves = model.leaves.iter().map(|(id, _)| id);
        let leaves = leaves
            .filter(|&id| {
                let range = model.leaves.range(id);
                binding.unknowns.iter().any(|u| u.targets.iter().any(|t| range.contains(t)))
            })
            .collect();
        Ok(Selection { model, binding, leaves })
    }
}

impl Selection {
    fn read(&self, p: &Bound<'_, PyAny>) -> Result<Vec<f64>> {
        let (p, _) = numbers(p, "p")?;
        if p.len() != self.binding.len() {
            return invalid(format!(
                "p: the selection has {} numbers, found {}",
                self.binding.len(),
                p.len()
            ));
        }
        Ok(p)
    }
}

#[pymethods]
impl Selection {
    /// Name, unit, start, lower and upper bound of every number of p; all but the first two in p.
    #[getter]
    fn unknowns(&self) -> Vec<(String, &'static str, f64, f64, f64)> {
        let unknowns = self.binding.unknowns.iter();
        unknowns.map(|u| (u.name.clone(), u.unit, u.start, u.lower, u.upper)).collect()
    }

    /// Values of the selected leaves by path.
    fn values<'py>(&self, py: Python<'py>, p: &Bound<'_, PyAny>) -> Result<Bound<'py, PyDict>> {
        let theta = self.binding.theta(&self.read(p)?);
        let out = PyDict::new(py);
        for &id in &self.leaves {
            let leaf = self.model.leaves.get(id);
            let values = theta[self.model.leaves.range(id)].to_vec();
            out.set_item(&leaf.path, array(py, values, &leaf.shape)?)?;
        }
        Ok(out)
    }

    /// Derivatives by p from those by the leaves, of their shapes.
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        p: &Bound<'_, PyAny>,
        bars: &Bound<'_, PyDict>,
    ) -> Result<Bound<'py, PyAny>> {
        let p = self.read(p)?;
        let mut theta_bar = vec![0.0; self.binding.base.len()];
        for &id in &self.leaves {
            let path = &self.model.leaves.get(id).path;
            let Some(bar) = bars.get_item(path)? else {
                return invalid(format!("there is no derivative by {path}; ask for it with wrt"));
            };
            let (values, _) = numbers(&bar, path)?;
            let place = &mut theta_bar[self.model.leaves.range(id)];
            if values.len() != place.len() {
                return invalid(format!(
                    "the derivative by {path} has {} numbers, found {}",
                    place.len(),
                    values.len()
                ));
            }
            place.copy_from_slice(&values);
        }
        let bar = self.binding.pullback(&p, &theta_bar);
        let n = [bar.len()];
        Ok(array(py, bar, &n)?)
    }
}
