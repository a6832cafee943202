//! Where a search stands, so that it can be continued to the same result.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::shooting::Stages;
use super::sigma::Noise;
use crate::error::IdentifyError;
use crate::experiment::MethodKind;
use crate::first_order::AdamState;
use crate::least_squares::{LmState, Status};
use crate::problem::Problem;
use crate::result::{Iteration, write_json};

/// The state of the running method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Running {
    /// Levenberg-Marquardt.
    Lm(LmState),
    /// Adam.
    Adam(AdamState),
    /// L-BFGS: its start and every cost and gradient that it asked for, which it replays.
    Lbfgs { start: Vec<f64>, journal: Vec<(f64, Vec<f64>)> },
}

/// The end of one of several starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub p: Vec<f64>,
    pub cost: f64,
    pub status: Status,
}

/// Everything that the rest of a search follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    schema: String,
    fingerprint: String,
    /// Starts that have ended.
    pub ended: Vec<Ended>,
    /// Turning points of the cost along scans, by unknown.
    pub turning_points: Vec<(String, usize)>,
    /// How many of the growing horizons have been worked off, and where they led.
    pub horizon: usize,
    pub approached: Option<Vec<f64>>,
    /// Whether the start diverges before the recordings end, once that is known.
    #[serde(default)]
    pub diverges: Option<bool>,
    /// The best of the values that were scanned.
    #[serde(default)]
    pub scanned: Option<Vec<f64>>,
    /// Whether a better minimum has been looked for.
    #[serde(default)]
    pub escaped: bool,
    /// Where multiple shooting stands.
    #[serde(default)]
    pub stages: Option<Stages>,
    /// Pass over the noise levels.
    pub pass: usize,
    pub noise: Noise,
    pub running: Option<Running>,
    pub history: Vec<Iteration>,
    /// Wall time of the runs before this one, s.
    pub wall_s: f64,
    /// Simulations of the runs before this one.
    pub runs: usize,
}

const SCHEMA: &str = "costate.checkpoint/1";
/// Name of the file that a run goes on from, in its folder.
pub const CHECKPOINT_FILE: &str = "checkpoint.json";

impl Checkpoint {
    pub fn new(problem: &Problem) -> Self {
        Self {
            schema: SCHEMA.into(),
            fingerprint: fingerprint(problem),
            ended: Vec::new(),
            turning_points: Vec::new(),
            horizon: 0,
            approached: None,
            diverges: None,
            scanned: None,
            escaped: false,
            stages: None,
            pass: 0,
            noise: Noise::initial(problem),
            running: None,
            history: Vec::new(),
            wall_s: 0.0,
            runs: 0,
        }
    }

    /// A fresh state of the method at `p`.
    pub fn begin(kind: MethodKind, p: Vec<f64>) -> Running {
        match kind {
            MethodKind::Lm | MethodKind::Regressor => Running::Lm(LmState::new(p)),
            MethodKind::Adam => Running::Adam(AdamState::new(p)),
            MethodKind::Lbfgs => Running::Lbfgs { start: p, journal: Vec::new() },
        }
    }

    /// The checkpoint of a run folder; `None` if it has none.
    pub fn read(folder: &Path, problem: &Problem) -> Result<Option<Self>, IdentifyError> {
        let path = folder.join(CHECKPOINT_FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text = costate_formats::text::read_text(&path)?;
        let found: Self =
            serde_json::from_str(&text).map_err(|e| IdentifyError::json(&path, &e))?;
        if found.schema != SCHEMA || found.fingerprint != fingerprint(problem) {
            return Err(IdentifyError::invalid(
                path.display().to_string(),
                "it was written for another experiment (scene, data, parameters or method have \
                 changed); start again without resuming",
            ));
        }
        Ok(Some(found))
    }

    pub fn write(&self, folder: &Path) -> Result<(), IdentifyError> {
        write_json(&folder.join(CHECKPOINT_FILE), self)
    }
}

/// A hash (FNV-1a) of everything that a search depends on.
fn fingerprint(problem: &Problem) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut bytes = |data: &[u8]| {
        for b in data {
            hash = (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for unknown in &problem.unknowns {
        bytes(format!("{unknown:?}").as_bytes());
    }
    // More iterations may be asked for when a run is continued.
    let mut method = problem.method.clone();
    method.max_iterations = 0;
    bytes(format!("{method:?} {}", problem.system.timestep()).as_bytes());
    for recording in &problem.recordings {
        bytes(
            format!("{} {:?} {:?}", recording.name, recording.sigma, recording.inputs).as_bytes(),
        );
        for list in
            [&recording.measured, &recording.times, &recording.theta, &recording.observer_base]
        {
            for x in list {
                bytes(&x.to_bits().to_le_bytes());
            }
        }
    }
    format!("{hash:016x}")
}
