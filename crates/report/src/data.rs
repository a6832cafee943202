//! What a report shows, as plain data.

/// Everything that a report shows. Parts that are empty are left out of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportData {
    /// Heading.
    pub title: String,
    /// One or a few sentences on what was asked and what came out.
    pub summary: String,
    /// How the search ended; `None` where nothing was fitted (a prediction).
    pub outcome: Option<Outcome>,
    /// Identified parameters.
    pub parameters: Vec<Parameter>,
    /// Measured signals beside the model's.
    pub signals: Vec<Signal>,
    /// The cost at the start and after each iteration, one list per pass (over noise levels, or
    /// from several starts), drawn one after another.
    pub cost: Vec<Vec<f64>>,
    /// The cost at the estimates.
    pub final_cost: Option<f64>,
    /// Correlations of the estimates.
    pub correlation: Option<Correlation>,
    /// Combinations of parameters that the data hardly fix, in words.
    pub weak_directions: Vec<String>,
    /// What the data cannot show at all.
    pub not_identifiable: Vec<NotIdentifiable>,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// The motion as a GIF file.
    pub motion: Option<Motion>,
    /// Where the numbers come from.
    pub provenance: Provenance,
}

/// How a search ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the estimates are a solution within the tolerances.
    pub converged: bool,
    /// In a word or two: "converged", "interrupted" …
    pub text: String,
}

/// An identified parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameter {
    /// Full path of the leaf, `soft.beam.young`.
    pub path: String,
    /// SI unit; empty where it has none.
    pub unit: String,
    /// Value that the iterations started from.
    pub initial: f64,
    /// Value found.
    pub estimate: f64,
    /// Standard error, in the parameter's own unit.
    pub std_error: Option<f64>,
    /// 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// How it was searched: identity, log, bounded …
    pub transform: String,
    /// What else to know of it: "at its bound", "prior 0.45".
    pub note: String,
}

/// One measured signal of one recording beside what the model says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signal {
    /// Name; signals of the same name are shown beside each other.
    pub name: String,
    /// SI unit.
    pub unit: String,
    /// Recording that it belongs to.
    pub recording: String,
    /// Whether the recording was kept for validation, so never fitted.
    pub validation: bool,
    /// Instants in seconds.
    pub t: Vec<f64>,
    /// Measured values; NaN where missing.
    pub measured: Vec<f64>,
    /// The model's values with the estimates.
    pub fitted: Vec<f64>,
    /// The model's values with the initial parameters.
    pub initial_guess: Option<Vec<f64>>,
    /// How large the residuals are.
    pub stats: Stats,
}

/// Size and pattern of a signal's residuals, measured minus fitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Samples with a value.
    pub count: usize,
    /// Root mean square of the residuals, in the signal's unit.
    pub rms: f64,
    /// Root mean square of the signal itself about its mean, or about rest where that is known.
    pub signal_rms: f64,
    /// What a model that does nothing scores, root mean square in the signal's unit.
    pub do_nothing_rms: Option<f64>,
    /// What the model with the initial parameters scores.
    pub initial_rms: Option<f64>,
    /// Correlation of a residual with the next one, −1 to 1; `None` for fewer than three.
    pub lag1: Option<f64>,
    /// Standard deviation of the noise that the fit assumed or estimated.
    pub sigma: Option<f64>,
    /// Whether that was estimated from the residuals.
    pub sigma_estimated: bool,
}

impl Stats {
    /// From samples; values that are missing or not finite are left out. `signal_rms` is about
    /// the mean of the measured values; what else there is stays unknown.
    pub fn of(measured: &[f64], fitted: &[f64]) -> Self {
        let values: Vec<f64> = measured.iter().copied().filter(|v| v.is_finite()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let about_mean: Vec<f64> = values.iter().map(|v| v - mean).collect();
        let residuals = residuals(measured, fitted);
        let known: Vec<f64> = residuals.iter().copied().filter(|v| v.is_finite()).collect();
        Self {
            count: known.len(),
            rms: rms(&known),
            signal_rms: rms(&about_mean),
            do_nothing_rms: None,
            initial_rms: None,
            lag1: autocorrelation(&residuals, 1).get(1).copied(),
            sigma: None,
            sigma_estimated: false,
        }
    }

    /// Residuals relative to the signal's own size; `None` for a signal that does not move.
    pub fn relative(&self) -> Option<f64> {
        let share = self.rms / self.signal_rms;
        share.is_finite().then_some(share)
    }
}

/// Measured minus fitted; NaN where either is missing.
pub(crate) fn residuals(measured: &[f64], fitted: &[f64]) -> Vec<f64> {
    measured.iter().zip(fitted).map(|(m, f)| m - f).collect()
}

/// Root mean square; zero for nothing. Scaled, so that squares of huge values stay finite.
fn rms(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let sum: f64 = values.iter().map(|v| (v / largest) * (v / largest)).sum();
    largest * (sum / values.len() as f64).sqrt()
}

/// Autocorrelation at lags 0 to `most`, of values with gaps (not finite): pairs with a gap are
/// left out. Empty for fewer than three values, or for values that are all the same.
pub(crate) fn autocorrelation(values: &[f64], most: usize) -> Vec<f64> {
    let known: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let n = known.len();
    let mean = known.iter().sum::<f64>() / n as f64;
    let spread = rms(&known.iter().map(|v| v - mean).collect::<Vec<_>>());
    if n < 3 || spread.is_nan() || spread <= 0.0 {
        return Vec::new();
    }
    let unit: Vec<f64> = values.iter().map(|v| (v - mean) / spread).collect();
    let at = |lag: usize| {
        let pairs = unit.iter().zip(&unit[lag..]).map(|(a, b)| a * b);
        pairs.filter(|p| p.is_finite()).sum::<f64>() / n as f64
    };
    (0..=most.min(n - 2)).map(at).collect()
}

/// Correlations of the estimates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Correlation {
    /// Names, one per row.
    pub names: Vec<String>,
    /// The matrix, row by row; entries that are missing count as NaN.
    pub values: Vec<f64>,
}

impl Correlation {
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values.get(row * self.names.len() + column).copied().unwrap_or(f64::NAN)
    }
}

/// A parameter, or a combination, that the data cannot show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotIdentifiable {
    /// Path or combination.
    pub what: String,
    /// Likely reason.
    pub reason: String,
}

/// An animation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Motion {
    /// The GIF file.
    pub gif: Vec<u8>,
    /// What it shows.
    pub caption: String,
}

impl Motion {
    /// Draws a trajectory (see [`costate_render::motion_gif`]).
    ///
    /// # Errors
    /// A trajectory without states, an image size out of range.
    pub fn of(
        model: &costate_model::Model,
        trajectory: &costate_model::Trajectory,
        settings: &costate_render::MotionSettings,
    ) -> Result<Self, costate_render::Error> {
        let gif = costate_render::motion_gif(model, trajectory, settings)?;
        let any = |measured: bool| settings.tracks.iter().any(|t| t.measured == measured);
        let mut caption = "Motion with the estimates.".to_string();
        if any(true) {
            caption.push_str(" Rings: measured.");
        }
        if any(false) {
            caption.push_str(" Balls: the same points of the model.");
        }
        Ok(Self { gif, caption })
    }
}

/// Where the numbers come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// Program and version.
    pub program: String,
    /// Role and path of each file that was read.
    pub files: Vec<(String, String)>,
    /// Iterations done.
    pub iterations: Option<usize>,
    /// Wall time in seconds.
    pub wall_s: Option<f64>,
    /// Further facts, such as the date, the machine and the settings of the optimiser.
    pub facts: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_leave_gaps_out() {
        let s = Stats::of(&[1.0, f64::NAN, 3.0, 5.0], &[1.0, 2.0, 2.0, f64::NAN]);
        assert_eq!(s.count, 2);
        assert!((s.rms - 0.5f64.sqrt()).abs() < 1e-15);
        assert!((s.signal_rms - (8.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(s.lag1, None);
    }

    #[test]
    fn one_sample_none_and_huge_ones_have_stats() {
        assert_eq!(Stats::of(&[], &[]), Stats::default());
        let one = Stats::of(&[2.0], &[1.0]);
        assert_eq!((one.count, one.rms, one.signal_rms), (1, 1.0, 0.0));
        assert_eq!(one.relative(), None);
        let huge = Stats::of(&[1e300, -1e300], &[0.0, 0.0]);
        assert_eq!((huge.rms, huge.signal_rms), (1e300, 1e300));
    }

    #[test]
    fn autocorrelation_tells_alternation_from_drift() {
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(1 - 2 * (i % 2))).collect();
        let a = autocorrelation(&alternating, 5);
        assert_eq!(a.len(), 6);
        assert!((a[0] - 1.0).abs() < 1e-12 && a[1] < -0.95 && a[2] > 0.95);
        let drift: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(autocorrelation(&drift, 1)[1] > 0.9);
        assert!(autocorrelation(&[1.0; 10], 3).is_empty());
        assert!(autocorrelation(&[f64::NAN; 10], 3).is_empty());
    }
}
