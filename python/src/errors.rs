//! Faults of the Rust side as exceptions of `costate.errors`, with the same text.

use costate::dynamics::DynamicsError;
use costate::formats;
use costate::identify::IdentifyError;
use costate::model::ModelError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Names of texts that were made in code: nobody can look their lines up.
pub const IN_CODE: [&str; 2] = ["<scene>", "<experiment>"];

/// Anything that can go wrong in a call.
#[derive(Debug)]
pub enum Fault {
    /// An exception that is one already.
    Python(PyErr),
    /// A file is wrong.
    File(formats::Error),
    /// A model, leaf or value is wrong.
    Model(ModelError),
    /// A run did not finish.
    Dynamics(DynamicsError),
    /// An experiment was refused.
    Identify(IdentifyError),
    /// An argument makes no sense.
    Invalid(String),
    /// A fault of this library.
    Internal(String),
}

macro_rules! from {
    ($($variant:ident($error:ty)),*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}
from!(
    Python(PyErr),
    File(formats::Error),
    Model(ModelError),
    Dynamics(DynamicsError),
    Identify(IdentifyError)
);

impl From<costate::PageError> for Fault {
    fn from(error: costate::PageError) -> Self {
        match error {
            costate::PageError::Identify(e) => e.into(),
            costate::PageError::Dynamics(e) => e.into(),
            other => Self::Invalid(other.to_string()),
        }
    }
}

impl From<costate::render::Error> for Fault {
    fn from(error: costate::render::Error) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Fault>;

/// An argument that makes no sense.
pub fn invalid<T>(message: impl Into<String>) -> Result<T> {
    Err(Fault::Invalid(message.into()))
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        Python::attach(|py| fault.into_exception(py).unwrap_or_else(|error| error))
    }
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = ERRORS
        .get_or_try_init(py, || PyResult::Ok(PyModule::import(py, "costate.errors")?.unbind()))?;
    module.bind(py).getattr(name)
}

impl Fault {
    fn into_exception(self, py: Python<'_>) -> PyResult<PyErr> {
        let details = PyDict::new(py);
        let (name, message) = match self {
            Self::Python(error) => return Ok(error),
            Self::Invalid(message) => {
                details.set_item("kind", "invalid")?;
                ("BadInput", message)
            }
            Self::Internal(message) => ("InternalError", message),
            Self::Model(error)
            | Self::Dynamics(DynamicsError::Model(error))
            | Self::Identify(IdentifyError::Model(error)) => {
                details.set_item("kind", "model")?;
                let unknown = matches!(error, ModelError::UnknownLeaf { .. });
                (if unknown { "UnknownName" } else { "BadInput" }, error.to_string())
            }
            Self::File(error) | Self::Identify(IdentifyError::File(error)) => {
                details.set_item("kind", error.kind().name())?;
                let path = error.file().map(|f| f.display().to_string());
                if path.as_deref().is_some_and(|p| IN_CODE.contains(&p)) {
                    ("BadInput", error.message())
                } else {
                    details.set_item("file", path)?;
                    details.set_item("line", error.line())?;
                    details.set_item("column", error.column())?;
                    ("BadInput", error.to_string())
                }
            }
            Self::Dynamics(error) | Self::Identify(IdentifyError::Dynamics(error)) => {
                let message = error.to_string();
                match error {
                    DynamicsError::Interrupted => {
                        return Ok(PyKeyboardInterrupt::new_err(message));
                    }
                    DynamicsError::UnstableStep { step, bound, limited_by } => {
                        details.set_item("timestep", step)?;
                        details.set_item("bound", bound)?;
                        details.set_item("limited_by", limited_by)?;
                        ("UnstableStep", message)
                    }
                    DynamicsError::Diverged { step, time, element } => {
                        details.set_item("step", step)?;
                        details.set_item("time", time)?;
                        details.set_item("element", element)?;
                        ("Diverged", message)
                    }
                    DynamicsError::NonFiniteDerivative { .. } => ("NonFiniteDerivative", message),
                    _ => ("BadInput", message),
                }
            }
            Self::Identify(IdentifyError::Interrupted) => {
                return Ok(PyKeyboardInterrupt::new_err("interrupted"));
            }
            Self::Identify(error) => {
                let message = error.to_string();
                match &error {
                    IdentifyError::NotIdentifiable(items) => {
                        let list: Vec<(Option<&String>, &str)> = items
                            .iter()
                            .map(|i| (i.path.as_ref().or(i.combination.as_ref()), &*i.reason))
                            .collect();
                        details.set_item("items", list)?;
                        ("NotIdentifiable", message)
                    }
                    _ => ("BadInput", message),
                }
            }
        };
        let exception = class(py, name)?.call1((message,))?;
        for (key, value) in details.iter() {
            exception.setattr(key.extract::<String>()?.as_str(), value)?;
        }
        Ok(PyErr::from_value(exception))
    }
}
