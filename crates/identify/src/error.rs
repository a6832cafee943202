//! What can go wrong with an identification.

use std::path::Path;

use costate_dynamics::DynamicsError;
use costate_model::ModelError;

use crate::result::NotIdentifiable;

/// Why an experiment was refused or did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifyError {
    /// A file is wrong or cannot be read or written; says where.
    #[error(transparent)]
    File(#[from] costate_formats::Error),
    /// A leaf, start or selection is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The start of the search cannot be simulated.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// Something about the experiment makes no sense.
    #[error("{element}: {message}")]
    Invalid {
        /// What: `recording.drop`, `method.loss`.
        element: String,
        /// Why, and what to do.
        message: String,
    },
    /// Parameters that the data cannot show.
    #[error("{}", list(.0))]
    NotIdentifiable(Vec<NotIdentifiable>),
    /// Stopped by the caller before there was anything to keep.
    #[error("interrupted")]
    Interrupted,
}

impl IdentifyError {
    pub(crate) fn invalid(element: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { element: element.into(), message: message.into() }
    }

    pub(crate) fn json(path: &Path, e: &serde_json::Error) -> Self {
        let kind = costate_formats::ErrorKind::Syntax;
        let error = costate_formats::Error::new(kind).in_file(path).found(e.to_string());
        Self::File(error.at(e.line(), e.column()))
    }

    /// A stable name of the kind, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::File(e) => e.kind().name(),
            Self::Model(_) => "model",
            Self::Dynamics(DynamicsError::UnstableStep { .. }) => "unstable_step",
            Self::Dynamics(DynamicsError::Diverged { .. }) => "diverged",
            Self::Dynamics(DynamicsError::Interrupted) | Self::Interrupted => "interrupted",
            Self::Dynamics(_) => "dynamics",
            Self::Invalid { .. } => "invalid",
            Self::NotIdentifiable(_) => "not_identifiable",
        }
    }
}

fn list(items: &[NotIdentifiable]) -> String {
    let mut text = String::from("the data cannot show everything that is asked for:");
    for item in items {
        let what = item.path.as_ref().or(item.combination.as_ref());
        text += &format!("\n  {}: {}", what.map_or("", String::as_str), item.reason);
    }
    text
}
