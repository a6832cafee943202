//! The experiment: a scene, recordings of it, and what is unknown.

mod method;
mod read;
mod units;

pub use method::{Derivatives, Method, MethodKind, MultiStart, Shooting, Unidentifiable};
pub use read::{EXPERIMENT_VERSION, Tables};
pub use units::Unit;

use std::collections::BTreeMap;
use std::path::PathBuf;

use costate_dynamics::observe::{Frame, Signal};
use costate_dynamics::soft::Registry;
use costate_formats::ErrorKind;
use costate_model::{Entry, InputSignal, Model, ModelError};

use crate::error::IdentifyError;

/// Where in a file something was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// The file; none for experiments made in code.
    pub file: Option<PathBuf>,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl Place {
    /// An error about `element` that points here.
    pub(crate) fn error(&self, element: &str, message: impl ToString) -> IdentifyError {
        self.error_of(ErrorKind::OutOfBounds, element, message)
    }

    /// What the model has against `element`.
    pub(crate) fn model_error(&self, element: &str, error: &ModelError) -> IdentifyError {
        let kind = match error {
            ModelError::UnknownLeaf { .. } => ErrorKind::UnknownName,
            ModelError::DuplicateName { .. } | ModelError::ConflictingViews { .. } => {
                ErrorKind::Conflict
            }
            ModelError::WrongLength { .. } => ErrorKind::WrongLength,
            _ => ErrorKind::OutOfBounds,
        };
        self.error_of(kind, element, error)
    }

    pub(crate) fn error_of(
        &self,
        kind: ErrorKind,
        element: &str,
        message: impl ToString,
    ) -> IdentifyError {
        match &self.file {
            None => IdentifyError::invalid(element, message.to_string()),
            Some(file) => IdentifyError::File(
                costate_formats::Error::new(kind)
                    .in_file(file)
                    .at(self.line, self.column)
                    .element(element)
                    .found(message.to_string()),
            ),
        }
    }
}

/// The noise of a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sigma {
    /// Known standard deviation, in the signal's SI unit.
    Given(f64),
    /// Estimated from the residuals.
    #[default]
    Auto,
}

/// A signal and its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalSpec {
    /// What is observed (its clock is set by the recording).
    pub signal: Signal,
    /// Noise.
    pub sigma: Sigma,
    /// Where it was written.
    pub place: Place,
}

impl SignalSpec {
    /// A signal made in code.
    pub fn new(signal: Signal, sigma: Sigma) -> Self {
        Self { signal, sigma, place: Place::default() }
    }
}

/// The samples of one signal in a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalData {
    /// Index into [`Experiment::signals`].
    pub signal: usize,
    /// Sample times, ascending, s, by the recording's clock.
    pub times: Vec<f64>,
    /// Measured values, SI; NaN where missing.
    pub values: Vec<f64>,
    /// Noise in this recording where it differs from the signal's.
    pub sigma: Option<Sigma>,
}

/// A leaf that has another value in one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Override {
    /// Path of a leaf of the model (or of another view), or of the observation:
    /// `signal.NAME.bias`, `frame.NAME.scale`, `marker.NAME.offset`.
    pub path: String,
    /// Its values.
    pub values: Vec<f64>,
    /// Where it was written.
    pub place: Place,
}

/// One recorded motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Name; its leaves are `recording.NAME.…`.
    pub name: String,
    /// Predicted and reported, but never fitted.
    pub validation: bool,
    /// Leaves that differ from the scene's.
    pub overrides: Vec<Override>,
    /// Inputs by channel name.
    pub inputs: Vec<(String, InputSignal)>,
    /// What the recorder stamps with time t happens at t + offset in the model, s.
    pub offset: f64,
    /// Measured signals.
    pub data: Vec<SignalData>,
    /// The first row that counts: every column of the table with its value there, as written.
    pub first_row: BTreeMap<String, f64>,
    /// Where it was written.
    pub place: Place,
}

/// A start that is read from the first row of a recording that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstRow {
    /// Columns of the recording's table, one for each number.
    pub columns: Vec<String>,
    /// Their unit; that of the leaf where none is given.
    pub unit: Option<Unit>,
}

/// An unknown leaf of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Path, spread, transform, start, bounds and prior. Beside leaves of the model the path may
    /// be `frame.NAME.…`, `signal.NAME.scale`, `signal.NAME.bias`, `marker.NAME.offset`, and for
    /// one recording alone `recording.NAME.` with any of these or `offset`.
    pub entry: Entry,
    /// Whether each fitted recording has its own value.
    pub per_recording: bool,
    /// Whether each recording kept for validation has its own value too, found after the fit with
    /// everything else held.
    pub in_validation: bool,
    /// Where each recording's own value starts, where that is written in the recording.
    pub first: Option<FirstRow>,
    /// Values that are tried before the search; it starts from the best of them and the start.
    pub scan: Option<Vec<f64>>,
    /// Where it was written.
    pub place: Place,
}

impl ParameterSpec {
    /// A leaf that all recordings share.
    pub fn new(entry: Entry) -> Self {
        let place = Place::default();
        Self { entry, per_recording: false, in_validation: false, first: None, scan: None, place }
    }
}

/// A scene, recordings of it, and what is unknown.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Name, for reports and the run folder.
    pub name: String,
    /// The scene file, where there is one.
    pub scene: Option<PathBuf>,
    /// The scene.
    pub model: Model,
    /// What the scene asks for and is not simulated, allowed by `allow`: one sentence each.
    pub left_out: Vec<String>,
    /// Names of what may be left out.
    pub allow: Vec<String>,
    /// Frames of measuring systems.
    pub frames: Vec<Frame>,
    /// What is measured.
    pub signals: Vec<SignalSpec>,
    /// The recordings.
    pub recordings: Vec<Recording>,
    /// The unknowns.
    pub parameters: Vec<ParameterSpec>,
    /// How to search.
    pub method: Method,
    /// The material laws that the scene may use: the built-in ones and those of the user's own.
    pub materials: Registry,
}

impl Experiment {
    /// An experiment without recordings or unknowns.
    pub fn new(name: impl Into<String>, model: Model) -> Self {
        Self {
            name: name.into(),
            scene: None,
            model,
            left_out: Vec::new(),
            allow: Vec::new(),
            frames: Vec::new(),
            signals: Vec::new(),
            recordings: Vec::new(),
            parameters: Vec::new(),
            method: Method::default(),
            materials: Registry::default(),
        }
    }
}
