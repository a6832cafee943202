//! A box as the image of all of space, for methods that know no bounds.

use costate_model::{Map, Transform};

/// A lower end so far below a start is that of a logarithm's range and never met.
const FAR: f64 = 20.0;
/// How near to a one-sided bound a start may be.
const MARGIN: f64 = 1e-6;

/// The map z → p of each parameter onto the inside of its bounds.
pub(super) struct Interior {
    maps: Vec<Transform>,
}

impl Interior {
    pub fn new(bounds: &[(f64, f64)], p: &[f64]) -> Self {
        let maps = bounds
            .iter()
            .zip(p)
            .map(|(&(lower, upper), &p)| {
                let list = match (lower.is_finite(), upper.is_finite()) {
                    (true, true) if lower < upper => vec![Map::Bounded { lower, upper }],
                    (true, false) if p - lower < FAR => {
                        vec![Map::Affine { offset: lower, scale: 1.0 }, Map::Log]
                    }
                    (false, true) if upper - p < FAR => {
                        vec![Map::Affine { offset: upper, scale: -1.0 }, Map::Log]
                    }
                    _ => vec![],
                };
                // The numbers are finite and ordered, so the maps are valid.
                Transform::new(list).unwrap_or_default()
            })
            .collect();
        Self { maps }
    }

    pub fn inverse(&self, bounds: &[(f64, f64)], p: &[f64]) -> Vec<f64> {
        self.maps
            .iter()
            .zip(bounds)
            .zip(p)
            .map(|((map, &(lower, upper)), &p)| {
                let margin = MARGIN * p.abs().max(1.0);
                let p = match map.maps() {
                    [Map::Affine { scale, .. }, Map::Log] if *scale > 0.0 => p.max(lower + margin),
                    [Map::Affine { .. }, Map::Log] => p.min(upper - margin),
                    _ => p,
                };
                map.start(p)
            })
            .collect()
    }

    pub fn value(&self, z: &[f64]) -> Vec<f64> {
        self.maps.iter().zip(z).map(|(map, &z)| map.value(z)).collect()
    }

    /// ∂cost/∂z from ∂cost/∂p.
    pub fn pullback(&self, z: &[f64], gradient: &[f64]) -> Vec<f64> {
        self.maps.iter().zip(z).zip(gradient).map(|((map, &z), g)| map.slope(z) * g).collect()
    }
}
