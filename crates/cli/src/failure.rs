//! Errors as the user and other programs see them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use costate::dynamics::DynamicsError;
use costate::formats;
use costate::identify::IdentifyError;
use costate::model::ModelError;

/// Exit code: it ran, but diverged or did not converge.
pub const NOT_CONVERGED: u8 = 1;
/// Exit code: refused before the start.
pub const REFUSED: u8 = 2;
/// Exit code: interrupted.
pub const INTERRUPTED: u8 = 130;

/// An error with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// Stable name of the kind of fault.
    pub kind: String,
    /// What happened, and what to do.
    pub message: String,
    /// The file at fault.
    pub file: Option<PathBuf>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// Exit code.
    pub code: u8,
    /// Further members of the JSON object.
    pub details: Box<Map<String, Value>>,
}

impl Failure {
    /// A refusal without a place in a file.
    pub fn refused(kind: &str, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            file: None,
            line: None,
            column: None,
            code: REFUSED,
            details: Box::default(),
        }
    }
    /// Names the file where none is known yet.
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_path_buf());
        self
    }
}

impl From<formats::Error> for Failure {
    fn from(error: formats::Error) -> Self {
        Self {
            kind: error.kind().name().into(),
            message: error.message(),
            file: error.file().map(Path::to_path_buf),
            line: error.line(),
            column: error.column(),
            code: REFUSED,
            details: Box::default(),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let kind = match &error {
            ModelError::UnknownLeaf { .. } => "unknown_name",
            ModelError::DuplicateName { .. } => "conflict",
            ModelError::WrongLength { .. } => "wrong_length",
            ModelError::OutOfBounds { .. } => "out_of_bounds",
            ModelError::ConflictingViews { .. } => "conflict",
            _ => "invalid_model",
        };
        Self::refused(kind, error.to_string())
    }
}

impl From<DynamicsError> for Failure {
    fn from(error: DynamicsError) -> Self {
        let (kind, code) = match &error {
            DynamicsError::Model(model) => return model.clone().into(),
            DynamicsError::UnknownLaw { .. } => ("unknown_name", REFUSED),
            DynamicsError::UnstableStep { .. } => ("unstable_step", REFUSED),
            DynamicsError::Diverged { .. } | DynamicsError::Stopped { .. } => {
                ("diverged", NOT_CONVERGED)
            }
            DynamicsError::NonFiniteDerivative { .. } => ("non_finite_derivative", NOT_CONVERGED),
            DynamicsError::Interrupted => ("interrupted", INTERRUPTED),
            _ => ("invalid", REFUSED),
        };
        Self { code, ..Self::refused(kind, error.to_string()) }
    }
}

impl From<costate::render::Error> for Failure {
    fn from(error: costate::render::Error) -> Self {
        Self::refused("render", error.to_string())
    }
}

impl From<costate::report::Error> for Failure {
    fn from(error: costate::report::Error) -> Self {
        Self::refused("report", error.to_string())
    }
}

impl From<costate::PageError> for Failure {
    fn from(error: costate::PageError) -> Self {
        match error {
            costate::PageError::Identify(e) => e.into(),
            costate::PageError::Dynamics(e) => e.into(),
            costate::PageError::Render(e) => e.into(),
            costate::PageError::Report(e) => e.into(),
            other => Self::refused("report", other.to_string()),
        }
    }
}

impl From<IdentifyError> for Failure {
    fn from(error: IdentifyError) -> Self {
        match error {
            IdentifyError::File(e) => e.into(),
            IdentifyError::Model(e) => e.into(),
            IdentifyError::Dynamics(e) => e.into(),
            IdentifyError::Interrupted => DynamicsError::Interrupted.into(),
            other => {
                let mut failure = Self::refused(other.kind(), other.to_string());
                if let IdentifyError::NotIdentifiable(list) = &other {
                    failure.details.insert("not_identifiable".into(), json!(list));
                }
                failure
            }
        }
    }
}
