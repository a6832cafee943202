//! What an identification found, as plain data and as JSON.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::IdentifyError;
use crate::least_squares::Status;

/// The value of [`Identification::schema`].
pub const RESULT_SCHEMA: &str = "costate.identification/1";

/// One number, or one per unknown of a leaf that is spread over elements, groups or components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Numbers {
    /// A single unknown.
    One(f64),
    /// One per unknown.
    Many(Vec<f64>),
}

impl Numbers {
    /// As a slice.
    pub fn as_slice(&self) -> &[f64] {
        match self {
            Self::One(x) => std::slice::from_ref(x),
            Self::Many(list) => list,
        }
    }
}

/// What is known of one leaf (or of one recording's own copy of it).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// SI unit.
    pub unit: String,
    /// Names of the unknowns where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Where the search started.
    pub initial: Numbers,
    /// The estimate.
    pub estimate: Numbers,
    /// Standard error; absent where the data give none.
    pub std_error: Option<Numbers>,
    /// Ends of the 95 % interval, one pair per unknown; absent where the data give none.
    pub ci95: Option<Vec<[f64; 2]>>,
    /// Transform in which the uncertainty is symmetric: "identity", "log", "bounded", "composed".
    pub transform: String,
    /// Whether the estimate lies on one of its bounds.
    pub at_bound: bool,
    /// The mean of the prior, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<f64>,
}

/// A parameter or combination of parameters that the data cannot show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotIdentifiable {
    /// Full path of the parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The combination in words: "soft.a.mass / soft.a.springs.stiffness".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combination: Option<String>,
    /// Why.
    pub reason: String,
}

/// A direction in the space of (transformed) parameters that the data hardly fix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeakDirection {
    /// In plain words.
    pub text: String,
    /// Standard deviation along the direction, in transformed parameters.
    pub deviation: f64,
    /// How much worse it is fixed than the best combination of the same parameters.
    pub ratio: f64,
    /// The main components by name.
    pub components: Vec<(String, f64)>,
}

/// Correlations of the estimates (transformed).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// Names of rows and columns.
    pub names: Vec<String>,
    /// Rows.
    pub matrix: Vec<Vec<f64>>,
}

/// How well one signal of one recording is explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalFit {
    /// Recording.
    pub recording: String,
    /// Signal.
    pub signal: String,
    /// Unit of everything below.
    pub unit: String,
    /// Whether the recording was fitted or kept for validation.
    pub role: Role,
    /// σ that it was weighted with.
    pub sigma: f64,
    /// Whether σ was estimated from the residuals.
    pub sigma_estimated: bool,
    /// Number of samples that count.
    pub samples: usize,
    /// Root mean square of measured − predicted.
    pub rms: f64,
    /// The same of the model before the fit.
    pub rms_initial: f64,
    /// The same of a model that does nothing: the signal stays at its first predicted value.
    pub rms_rest: f64,
    /// Root mean square of the signal about its own mean.
    pub rms_signal: f64,
    /// Correlation of successive residuals.
    pub autocorrelation: f64,
    /// Sample times, s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<f64>,
    /// Measured values; `None` where missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Option<f64>>,
    /// Values of the fitted model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<f64>,
    /// Values of the model before the fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial: Vec<f64>,
}

/// What a recording is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Fitted.
    Fitted,
    /// Kept aside and predicted.
    Validation,
}

/// Goodness of fit over all fitted signals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goodness {
    /// Sum of squared whitened residuals, priors apart.
    pub chi2: f64,
    /// Fitted samples.
    pub samples: usize,
    /// Unknowns.
    pub parameters: usize,
    /// Samples − unknowns.
    pub degrees_of_freedom: i64,
    /// chi2 over the degrees of freedom; about 1 where given σ are right.
    pub chi2_reduced: Option<f64>,
}

/// One iteration of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Number, from 0 for the start.
    pub iteration: usize,
    /// Cost: half the sum of squared whitened residuals (robust where asked), priors included.
    pub cost: f64,
    /// Wall time since the start, s.
    pub wall_s: f64,
    /// Which search it belongs to: parts of the recordings, starts of several and passes over the
    /// noise levels follow one another.
    pub pass: usize,
}

/// The outcome of an identification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identification {
    /// [`RESULT_SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Name of the experiment.
    pub experiment: String,
    /// "lm", "lbfgs" or "adam".
    pub method: String,
    /// By full path.
    pub parameters: BTreeMap<String, Parameter>,
    /// Cost at the estimate.
    pub cost: f64,
    /// Cost at the start, with the same σ.
    pub cost_initial: f64,
    /// Iterations of the search on all samples; those on first parts of the recordings, from a
    /// start that is far off, stand in the history only.
    pub iterations: usize,
    /// Simulations made, with and without derivatives.
    pub evaluations: usize,
    /// Whether the estimate is a solution within the tolerances, and some signal is explained no worse by it than
    /// by a model that does nothing.
    pub converged: bool,
    /// How the search ended.
    pub status: Status,
    /// Wall time, s.
    pub wall_s: f64,
    /// Fit over all signals.
    pub goodness: Goodness,
    /// Factor by which intervals were widened because residuals are correlated in time (the
    /// largest of all parameters; 1 where they are not).
    pub widening: f64,
    /// Correlations of the estimates.
    pub correlation: Correlation,
    /// Combinations that the data hardly fix.
    pub weak_directions: Vec<WeakDirection>,
    /// What the data cannot show (where the experiment allows to go on all the same).
    pub not_identifiable: Vec<NotIdentifiable>,
    /// Everything the user should know.
    pub warnings: Vec<String>,
    /// Signal by signal.
    pub signals: Vec<SignalFit>,
    /// Cost by iteration.
    pub history: Vec<Iteration>,
}

impl Identification {
    /// Iterations of everything that was searched: first parts of the recordings, several starts, passes over the
    /// noise levels, ways out of local minima.
    pub fn all_iterations(&self) -> usize {
        self.history.iter().filter(|i| i.iteration > 0).count().max(self.iterations)
    }

    /// The same without the samples of its signals: what fits on a screen.
    pub fn summary(&self) -> Self {
        let mut short = self.clone();
        for signal in &mut short.signals {
            signal.times.clear();
            signal.measured.clear();
            signal.predicted.clear();
            signal.initial.clear();
        }
        short
    }

    /// Reads a result file.
    ///
    /// # Errors
    /// A file that cannot be read or is no result of this version.
    pub fn read(path: &Path) -> Result<Self, IdentifyError> {
        let text = costate_formats::text::read_text(path)?;
        let result: Self =
            serde_json::from_str(&text).map_err(|e| IdentifyError::json(path, &e))?;
        if result.schema != RESULT_SCHEMA {
            return Err(IdentifyError::invalid(
                path.display().to_string(),
                format!("its schema is `{}`, not `{RESULT_SCHEMA}`", result.schema),
            ));
        }
        Ok(result)
    }

    /// Writes the result file in one piece.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), IdentifyError> {
        write_json(path, self)
    }
}

/// Writes a value as JSON so that the file is either the old or the new one.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), IdentifyError> {
    costate_formats::write_atomically(path, |w| {
        serde_json::to_writer_pretty(&mut *w, value)?;
        std::io::Write::write_all(w, b"\n")
    })?;
    Ok(())
}
