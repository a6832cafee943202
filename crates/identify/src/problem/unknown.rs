//! One entry of the optimiser's vector, across all recordings.

use costate_model::{Prior, Transform};

/// One unknown number of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Full name: `soft.beam.young`, `recording.drop.soft.cube.velocity[0]`.
    pub name: String,
    /// Name of the parameter it is part of: `soft.beam.young`, `recording.drop.soft.cube.velocity`.
    pub group: String,
    /// The fitted recording that it belongs to; `None` if shared.
    pub recording: Option<usize>,
    /// From p to the value.
    pub transform: Transform,
    /// Start, in p.
    pub start: f64,
    /// Closed bounds, in p.
    pub bounds: (f64, f64),
    /// What is known beforehand.
    pub prior: Option<Prior>,
    /// Values of p that are tried before the search.
    pub scan: Vec<f64>,
    /// SI unit of the value.
    pub unit: &'static str,
}

impl Unknown {
    /// The prior's residual at p and its slope.
    pub fn prior_residual(&self, p: f64) -> Option<(f64, f64)> {
        let prior = self.prior?;
        Some(if prior.transformed {
            let mean = prior.mean.map_or(self.start, |mean| self.transform.inverse(mean));
            ((p - mean) / prior.sd, 1.0 / prior.sd)
        } else {
            let mean = prior.mean.unwrap_or_else(|| self.transform.value(self.start));
            let slope = self.transform.slope(p) / prior.sd;
            ((self.transform.value(p) - mean) / prior.sd, slope)
        })
    }

    /// A change of p below which nothing changes.
    pub fn floor(&self) -> f64 {
        // Logarithms and logistic functions have unit size; plain values that of their start.
        if self.transform.is_identity() { self.start.abs().max(1e-12) } else { 1.0 }
    }

    /// "identity", "log", "bounded" or "composed".
    pub fn transform_name(&self) -> &'static str {
        use costate_model::Map;
        match self.transform.maps() {
            [] => "identity",
            [Map::Log] => "log",
            [Map::Bounded { .. }] => "bounded",
            [Map::Affine { .. }] => "affine",
            _ => "composed",
        }
    }

    /// Whether p is the logarithm of the value.
    pub fn is_logarithm(&self) -> bool {
        self.transform == Transform::log()
    }
}

/// What an unknown sets in one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Index of the unknown.
    pub unknown: usize,
    /// Positions of the model's θ.
    pub theta: Vec<usize>,
    /// Positions of the observer's parameters.
    pub observer: Vec<usize>,
}
