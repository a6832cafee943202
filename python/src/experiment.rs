//! Experiments: from files or described in code, identified, evaluated, reported.

use std::collections::BTreeMap;
use std::path::PathBuf;

use costate::formats::table::Table;
use costate::identify::experiment::Tables;
use costate::identify::{
    Identification, IdentifyError, IdentifyOptions, Progress, evaluate, fitted_model, gradient,
    identify,
};
use costate::model::ModelError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::numbers;
use crate::errors::{Fault, Result, invalid};
use crate::interrupt::{detached, interruptible};
use crate::law::{Law, registry};
use crate::model::Model;

/// Work that may take long.
const LONG: usize = usize::MAX;

/// A scene, recordings of it, and what is unknown.
#[pyclass(frozen, module = "costate._costate")]
pub struct Experiment {
    inner: costate::identify::Experiment,
    /// The model it was described with; otherwise its scene file has it.
    model: Option<Py<Model>>,
}

fn result(text: &str) -> Result<Identification> {
    serde_json::from_str(text)
        .map_err(|e| Fault::Invalid(format!("this is no result of an identification: {e}")))
}

fn json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Fault::Internal(e.to_string()))
}

#[pymethods]
impl Experiment {
    /// Reads an experiment file with its scene and recordings.
    #[staticmethod]
    #[pyo3(signature = (path, laws = vec![], allow = vec![]))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        laws: Vec<PyRef<'_, Law>>,
        allow: Vec<String>,
    ) -> Result<Self> {
        let read = |_: &_| Ok(costate::identify::Experiment::read_allowing(&path, &allow)?);
        let mut inner = detached(py, 0, read)?;
        inner.materials = registry(&laws);
        Ok(Self { inner, model: None })
    }

    /// An experiment with a model and tables (columns by name) made in code, described by `text`.
    #[staticmethod]
    fn describe(
        py: Python<'_>,
        model: Py<Model>,
        text: &str,
        tables: &Bound<'_, PyDict>,
    ) -> Result<Self> {
        let mut read = Tables::new();
        for (name, columns) in tables.iter() {
            let name: String = name.extract()?;
            let columns: BTreeMap<String, Bound<'_, PyAny>> = columns.extract()?;
            let mut table = Vec::with_capacity(columns.len());
            for (column, values) in columns {
                let what = format!("recording.{name}: column \"{column}\"");
                table.push((column, numbers(&values, &what)?.0));
            }
            read.insert(name.clone(), Table::from_columns(format!("recording.{name}"), table)?);
        }
        let scene = model.get();
        let mut inner = costate::identify::Experiment::describe(
            scene.model.clone(),
            "<experiment>",
            text,
            &read,
        )?;
        inner.materials = scene.registry.clone();
        let _ = py;
        Ok(Self { inner, model: Some(model) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Names of recordings and whether each is kept for validation.
    #[getter]
    fn recordings(&self) -> Vec<(String, bool)> {
        self.inner.recordings.iter().map(|r| (r.name.clone(), r.validation)).collect()
    }

    /// Paths of the unknowns.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.inner.parameters.iter().map(|p| p.entry.path.clone()).collect()
    }

    /// Names and units of the signals.
    #[getter]
    fn signals(&self) -> Vec<(String, &'static str)> {
        self.inner.signals.iter().map(|s| (s.signal.name.clone(), s.signal.unit())).collect()
    }

    /// Finds the unknowns; the result as JSON. Ctrl-C ends the search with a partial result where
    /// there is one. `progress` is called with
    /// (iteration, max_iterations, cost, start, pass, values).
    fn identify(
        &self,
        py: Python<'_>,
        run_folder: Option<PathBuf>,
        resume: bool,
        max_iterations: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> Result<String> {
        let mut experiment = self.inner.clone();
        if let Some(most) = max_iterations {
            experiment.method.max_iterations = most;
        }
        let raised = std::sync::Mutex::new(None);
        let (found, interrupt) = interruptible(py, LONG, |flag| {
            let tell = |p: &Progress| {
                let Some(progress) = &progress else { return };
                let values: Vec<(&str, f64)> =
                    p.values.iter().map(|(name, x)| (name.as_str(), *x)).collect();
                let told = Python::attach(|py| {
                    let place = (p.iteration, p.max_iterations, p.cost, p.start, p.pass, values);
                    progress.call1(py, place).map(|_| ())
                });
                if let Err(error) = told {
                    flag.store(true, std::sync::atomic::Ordering::Relaxed);
                    if let Ok(mut slot) = raised.lock() {
                        slot.get_or_insert(error);
                    }
                }
            };
            let options = IdentifyOptions {
                run_folder: run_folder.as_deref(),
                resume,
                interrupt: Some(flag),
                progress: Some(&tell),
            };
            identify(&experiment, &options)
        });
        // A Ctrl-C that came while `progress` ran is one as any other.
        let interrupt = match raised.into_inner() {
            Ok(Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Some(error),
            Ok(Some(error)) => return Err(error.into()),
            _ => interrupt,
        };
        match (found?, interrupt) {
            (Ok(result), _) => json(&result),
            (Err(IdentifyError::Interrupted), Some(error)) => Err(error.into()),
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Predicts every recording with the estimates of a result (JSON); fits of signals as JSON.
    fn evaluate(&self, py: Python<'_>, found: &str) -> Result<String> {
        let found = result(found)?;
        json(&detached(py, LONG, |flag| Ok(evaluate(&self.inner, &found, Some(flag))?))?)
    }

    /// Cost at the start and its gradient, as JSON.
    fn gradient(&self, py: Python<'_>) -> Result<String> {
        json(&detached(py, LONG, |flag| Ok(gradient(&self.inner, Some(flag))?))?)
    }

    /// The model with the estimates of a result (JSON).
    fn fitted(&self, py: Python<'_>, found: &str) -> Result<Model> {
        let found = result(found)?;
        let changed = fitted_model(&self.inner, &found)?;
        match (&self.model, &self.inner.scene) {
            (Some(model), _) => Ok(model.get().like(changed)),
            (None, Some(path)) => {
                let (allow, laws) = (self.inner.allow.clone(), self.inner.materials.clone());
                let model = detached(py, 0, |_| Model::of_file(path, allow, laws))?;
                Ok(model.like(changed))
            }
            (None, None) => {
                Err(ModelError::invalid("experiment", "it has no model to put values into").into())
            }
        }
    }

    /// The report of a result (JSON) as HTML, with the motion if wanted.
    fn report(&self, py: Python<'_>, found: &str, motion: bool) -> Result<String> {
        let found = result(found)?;
        detached(py, LONG, |flag| {
            Ok(costate::report_page(&found, motion.then_some(&self.inner), Some(flag))?)
        })
    }
}

/// The report of a result (JSON) without its experiment, as HTML.
#[pyfunction]
pub fn report(py: Python<'_>, found: &str) -> Result<String> {
    let found = result(found)?;
    if found.schema != costate::identify::RESULT_SCHEMA {
        return invalid(format!("its schema is `{}`", found.schema));
    }
    detached(py, LONG, |_| Ok(costate::report_page(&found, None, None)?))
}
