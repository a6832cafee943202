//! Transforms between what an optimiser moves and the physical value.

use crate::error::ModelError;
use crate::leaf::Bounds;

/// One monotone map from an optimiser's number z to a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Map {
    /// The value is exp z: always positive, steps are relative.
    Log,
    /// The value is lower + (upper − lower) / (1 + exp −z): always between the two.
    Bounded {
        /// Lower end, approached as z → −∞.
        lower: f64,
        /// Upper end, approached as z → ∞.
        upper: f64,
    },
    /// The value is offset + scale z.
    Affine {
        /// Value at z = 0.
        offset: f64,
        /// Value per unit of z; not zero.
        scale: f64,
    },
}

/// How near to its ends, in units of the interval, a bounded map lets a start come: at the ends
/// themselves z is infinite and nothing would move.
const MARGIN: f64 = 1e-6;

impl Map {
    fn value(self, z: f64) -> f64 {
        match self {
            Self::Log => z.exp(),
            Self::Bounded { lower, upper } => {
                // From the nearer end, so that no digits are lost there.
                let width = upper - lower;
                if z < 0.0 {
                    let e = z.exp();
                    lower + width * (e / (1.0 + e))
                } else {
                    let e = (-z).exp();
                    upper - width * (e / (1.0 + e))
                }
            }
            Self::Affine { offset, scale } => offset + scale * z,
        }
    }

    fn slope(self, z: f64) -> f64 {
        match self {
            Self::Log => z.exp(),
            Self::Bounded { lower, upper } => {
                let e = (-z.abs()).exp();
                (upper - lower) * e / ((1.0 + e) * (1.0 + e))
            }
            Self::Affine { scale, .. } => scale,
        }
    }

    fn inverse(self, value: f64) -> f64 {
        match self {
            Self::Log => value.ln(),
            Self::Bounded { lower, upper } => ((value - lower) / (upper - value)).ln(),
            Self::Affine { offset, scale } => (value - offset) / scale,
        }
    }

    fn valid(self) -> Result<(), String> {
        match self {
            Self::Log => Ok(()),
            Self::Bounded { lower, upper } => {
                if lower < upper && (upper - lower).is_finite() {
                    Ok(())
                } else {
                    Err(format!(
                        "a bounded transform needs finite ends, the lower first, not {lower} and \
                         {upper}"
                    ))
                }
            }
            Self::Affine { offset, scale } => {
                if scale != 0.0 && scale.is_finite() && offset.is_finite() {
                    Ok(())
                } else {
                    Err(format!(
                        "an affine transform needs a finite scale other than 0, not {scale}"
                    ))
                }
            }
        }
    }
}

/// A composition of maps between the optimiser's number p and the physical value θ: the first map
/// makes θ, the last one takes p. Empty is the identity.
///
/// ```
/// use costate_model::Transform;
///
/// let stiffness = Transform::log();
/// let p = stiffness.inverse(2000.0);
/// assert!((stiffness.value(p) - 2000.0).abs() < 1e-9);
/// assert!((stiffness.slope(p) - 2000.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transform {
    maps: Vec<Map>,
}

impl Transform {
    /// θ = p.
    pub fn identity() -> Self {
        Self::default()
    }
    /// θ = exp p.
    pub fn log() -> Self {
        Self { maps: vec![Map::Log] }
    }
    /// θ strictly between two numbers, by the logistic function.
    ///
    /// # Errors
    /// Ends that are not finite or not ascending.
    pub fn bounded(lower: f64, upper: f64) -> Result<Self, ModelError> {
        Self::new(vec![Map::Bounded { lower, upper }])
    }
    /// θ = offset + scale p.
    ///
    /// # Errors
    /// A scale of zero or a number that is not finite.
    pub fn affine(offset: f64, scale: f64) -> Result<Self, ModelError> {
        Self::new(vec![Map::Affine { offset, scale }])
    }
    /// A composition; the first map is the outermost, the one that makes θ.
    ///
    /// # Errors
    /// A map whose numbers make no sense.
    pub fn new(maps: Vec<Map>) -> Result<Self, ModelError> {
        for map in &maps {
            map.valid().map_err(|message| ModelError::invalid("transform", message))?;
        }
        Ok(Self { maps })
    }
    /// This transform of what `inner` makes: θ = self(inner(p)).
    pub fn then(mut self, inner: &Self) -> Self {
        self.maps.extend_from_slice(&inner.maps);
        self
    }
    /// The maps, outermost first.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }
    /// Whether θ = p.
    pub fn is_identity(&self) -> bool {
        self.maps.is_empty()
    }

    /// θ at p.
    pub fn value(&self, p: f64) -> f64 {
        self.maps.iter().rev().fold(p, |z, map| map.value(z))
    }
    /// dθ/dp at p.
    pub fn slope(&self, p: f64) -> f64 {
        let (mut z, mut slope) = (p, 1.0);
        for map in self.maps.iter().rev() {
            slope *= map.slope(z);
            z = map.value(z);
        }
        slope
    }
    /// The p that gives θ; NaN or infinite where none does.
    pub fn inverse(&self, value: f64) -> f64 {
        self.maps.iter().fold(value, |v, map| map.inverse(v))
    }
    /// A p from which an optimiser can start at θ: as [`inverse`](Self::inverse), but a θ on an end
    /// of a bounded map is moved inside by 1e-6 of the interval, where the slope is not zero.
    pub fn start(&self, value: f64) -> f64 {
        self.maps.iter().fold(value, |v, map| match *map {
            Map::Bounded { lower, upper } => {
                let margin = MARGIN * (upper - lower);
                map.inverse(v.clamp(lower + margin, upper - margin))
            }
            _ => map.inverse(v),
        })
    }
    /// The largest step in p in which the linear picture of θ(p) is worth anything: two orders of
    /// magnitude for the innermost logarithm; infinite for linear maps.
    pub fn step_limit(&self) -> f64 {
        let mut scale = 1.0;
        for map in self.maps.iter().rev() {
            match *map {
                Map::Log | Map::Bounded { .. } => return 100f64.ln() / f64::abs(scale),
                Map::Affine { scale: s, .. } => scale *= s,
            }
        }
        f64::INFINITY
    }
    /// The interval of p that belongs to an interval of θ (values on the ends may be infinite).
    pub fn inverse_interval(&self, lower: f64, upper: f64) -> (f64, f64) {
        let end = |value: f64, far: f64| {
            let p = self.maps.iter().fold(value, |v, map| match *map {
                Map::Log if v <= 0.0 => f64::NEG_INFINITY,
                Map::Bounded { lower, .. } if v <= lower => f64::NEG_INFINITY,
                Map::Bounded { upper, .. } if v >= upper => f64::INFINITY,
                _ => map.inverse(v),
            });
            if p.is_nan() { far } else { p }
        };
        let (a, b) = (end(lower, f64::NEG_INFINITY), end(upper, f64::INFINITY));
        if a <= b { (a, b) } else { (b, a) }
    }
    /// What suits a quantity of the given bounds started at `start`: a logarithm for positive ones
    /// without upper end, the identity for all others.
    pub fn natural(bounds: &Bounds, start: f64) -> Self {
        if bounds.lower == 0.0 && bounds.upper == f64::INFINITY && start > 0.0 {
            Self::log()
        } else {
            Self::identity()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_transform() -> impl Strategy<Value = Transform> {
        let map = prop_oneof![
            Just(Map::Log),
            (-3.0..3.0f64, 0.1..5.0f64)
                .prop_map(|(lower, width)| Map::Bounded { lower, upper: lower + width }),
            (-2.0..2.0f64, 0.2..3.0f64, any::<bool>()).prop_map(|(offset, scale, flip)| {
                Map::Affine { offset, scale: if flip { -scale } else { scale } }
            }),
        ];
        proptest::collection::vec(map, 0..3).prop_map(|maps| Transform::new(maps).unwrap())
    }

    proptest! {
        #[test]
        fn inverse_undoes_value(t in any_transform(), p in -2.0..2.0f64) {
            let value = t.value(p);
            let back = t.inverse(value);
            prop_assume!(back.is_finite());
            // Where a map is flat, p is only known as well as the value allows.
            let allowed = 1e-12 * (1.0 + value.abs()) / t.slope(p).abs() + 1e-12;
            prop_assert!((back - p).abs() <= allowed, "{p} {back}");
        }

        #[test]
        fn slope_is_the_derivative(t in any_transform(), p in -2.0..2.0f64) {
            let slope = t.slope(p);
            prop_assume!(slope.abs() > 1e-3 * t.value(p).abs());
            let best = (2..9)
                .map(|k| {
                    let d = 10f64.powi(-k);
                    let difference = (t.value(p + d) - t.value(p - d)) / (2.0 * d);
                    ((difference - slope) / slope).abs()
                })
                .fold(f64::INFINITY, f64::min);
            prop_assert!(best < 1e-7, "{best}");
        }

        #[test]
        fn bounds_hold_everywhere(p in -1e3..1e3f64, lower in -5.0..5.0f64, width in 1e-3..10.0f64) {
            let value = Transform::bounded(lower, lower + width).unwrap().value(p);
            prop_assert!(value >= lower && value <= lower + width);
        }
    }

    #[test]
    fn starts_on_an_end_can_move() {
        let t = Transform::bounded(0.0, 2.0).unwrap();
        for end in [0.0, 2.0] {
            let p = t.start(end);
            assert!(p.is_finite() && t.slope(p) > 1e-7);
        }
        assert_eq!(Transform::log().start(1e-8), 1e-8f64.ln());
    }

    #[test]
    fn intervals_and_limits() {
        let t = Transform::log();
        assert_eq!(t.inverse_interval(0.0, f64::INFINITY), (f64::NEG_INFINITY, f64::INFINITY));
        let (a, b) = Transform::affine(0.0, -2.0).unwrap().inverse_interval(1.0, 4.0);
        assert_eq!((a, b), (-2.0, -0.5));
        assert_eq!(Transform::identity().step_limit(), f64::INFINITY);
        assert_eq!(t.step_limit(), 100f64.ln());
        assert!(Transform::bounded(1.0, 1.0).is_err());
        assert!(Transform::affine(0.0, 0.0).is_err());
    }
}
