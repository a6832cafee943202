//! Coulomb friction, regularised at small slip.

use costate_num::Scalar;

/// How the friction force grows from zero with slip speed s up to Coulomb's bound B = μ N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Friction {
    /// B (2 s/s₀ − s²/s₀²) up to the slip speed s₀, B beyond: C¹ in the slip. The mollifier of
    /// Li et al., Incremental Potential Contact, ACM Trans. Graph. 39(4), 2020, section 5.
    SlipSpeed,
    /// k_f s − k_f² s²/4B up to the slip speed 2 B/k_f, B beyond: the same curve, but with a slope
    /// k_f at zero slip that does not change with the load; C¹ in slip and load.
    Slope,
    /// min(k_f s, B): warp.sim's, with a kink. At the bound the derivative is that of the branch
    /// k_f s.
    SharpSlope,
}

impl Friction {
    /// Force over slip speed, N s/m: the friction force is −slip times this. `speed` = |slip|,
    /// `bound` = B ≥ 0; `value` is s₀ or k_f.
    #[inline(always)]
    pub fn factor<S: Scalar>(self, speed: S, bound: S, value: S) -> S {
        let at_rest = speed.equals(S::zero());
        let safe = S::select(at_rest, S::one(), speed);
        match self {
            Self::SlipSpeed => {
                let inverse = value.recip();
                let growing = bound * (inverse.scale(2.0) - speed * inverse * inverse);
                S::select(speed.lt(value), growing, bound / safe)
            }
            Self::Slope => {
                // A bound whose reciprocal would overflow counts as none.
                let grows = (value * speed).lt(bound.scale(2.0)) & bound.gt(S::splat(1e-300));
                let ratio = value * speed / S::select(grows, bound, S::one()).scale(4.0);
                S::select(grows, value * (S::one() - ratio), bound / safe)
            }
            Self::SharpSlope => {
                let sticks = (value * speed).le(bound);
                S::select(sticks, value, bound / safe)
            }
        }
    }

    /// Largest slope of the force over slip speed for a load of `load` (N) on a vertex, N s/m.
    pub fn slope(self, friction: f64, load: f64, value: f64) -> f64 {
        match self {
            Self::SlipSpeed => 2.0 * friction * load / value,
            Self::Slope | Self::SharpSlope => value,
        }
    }
}
