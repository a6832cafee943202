//! How to search.

use crate::least_squares::{LmOptions, Loss};

/// The method of search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MethodKind {
    /// Levenberg-Marquardt on the residuals.
    #[default]
    Lm,
    /// L-BFGS on the adjoint gradient: for very many unknowns.
    Lbfgs,
    /// Adam on the adjoint gradient: for very many unknowns and rough costs.
    Adam,
    /// The linear regressor: least squares on the balance of forces along the recorded motion, without
    /// simulation.
    Regressor,
}

impl MethodKind {
    /// "lm", "lbfgs", "adam" or "regressor".
    pub fn name(self) -> &'static str {
        match self {
            Self::Lm => "lm",
            Self::Lbfgs => "lbfgs",
            Self::Adam => "adam",
            Self::Regressor => "regressor",
        }
    }
}

/// How the Jacobian of the residuals is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derivatives {
    /// Whichever is cheaper.
    #[default]
    Auto,
    /// One forward tangent per unknown.
    Forward,
    /// One adjoint sweep per residual.
    Adjoint,
}

/// What to do where the data cannot show a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unidentifiable {
    /// Refuse, naming it.
    #[default]
    Refuse,
    /// Say so and go on.
    Warn,
}

/// Several starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiStart {
    /// How many, the given start included.
    pub starts: usize,
    /// Unknowns without finite bounds are drawn within this factor of their start (log-uniform),
    /// or this many times their size where they can be negative.
    pub spread: f64,
    /// Seed of the draws.
    pub seed: u64,
}

/// Multiple shooting: recordings cut into windows whose states are unknowns of their own, tied by the gaps
/// between the end of one window and the start of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shooting {
    /// Length of a window, s.
    pub window: f64,
    /// Standard deviation of a gap, as a share of the size of the motion: small enough, the windows are one
    /// motion; larger, the model may err by that much per window.
    pub tolerance: f64,
}

/// How to search, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Which method.
    pub kind: MethodKind,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Relative decrease of the cost that counts as none.
    pub cost_tolerance: f64,
    /// Relative change of the unknowns that counts as none.
    pub step_tolerance: f64,
    /// Loss of the whitened residuals.
    pub loss: Loss,
    /// Several starts.
    pub multi_start: Option<MultiStart>,
    /// Up to which times the recordings are fitted first, one after the other, s; 25, 40 and 65 % of
    /// each recording where the start is far off, if not given.
    pub horizons: Option<Vec<f64>>,
    /// Multiple shooting; without it every recording is one motion from its start.
    pub shooting: Option<Shooting>,
    /// How the Jacobian is computed.
    pub derivatives: Derivatives,
    /// Memory for the states of adjoint sweeps, bytes.
    pub memory: usize,
    /// Step of Adam, in transformed unknowns.
    pub learning_rate: f64,
    /// What to do where the data cannot show a parameter.
    pub unidentifiable: Unidentifiable,
    /// Up to which frequency the regressor takes positions for motion, Hz; a tenth of the sampling
    /// frequency without one.
    pub cutoff: Option<f64>,
    /// Of how many samples the regressor keeps one, once balances have been filtered.
    pub decimate: usize,
}

impl Default for Method {
    fn default() -> Self {
        let lm = LmOptions::default();
        Self {
            kind: MethodKind::default(),
            max_iterations: lm.max_iterations,
            cost_tolerance: lm.cost_tolerance,
            step_tolerance: lm.step_tolerance,
            loss: Loss::Squares,
            multi_start: None,
            horizons: None,
            shooting: None,
            derivatives: Derivatives::default(),
            memory: 1 << 30,
            learning_rate: 0.05,
            unidentifiable: Unidentifiable::default(),
            cutoff: None,
            decimate: 10,
        }
    }
}
