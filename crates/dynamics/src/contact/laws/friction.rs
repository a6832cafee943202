//! Coulomb friction, regularised at small slip.

use costate_num::{Scalar, Vec3};

/// How the friction force grows from zero with slip speed s up to Coulomb's bound B = μ N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Friction {
    /// B (2 s/s₀ − s²/s₀²) up to the slip speed s₀, B beyond: C¹ in the slip. The mollifier of
    /// Li et al., Incremental Potential Contact, ACM Trans. Graph. 39(4), 2020, section 5.
    SlipSpeed,
    /// min(k_f s, B) with the slope k_f: warp.sim's. At the bound the derivative is that of the
    /// branch k_f s.
    Slope,
}

impl Friction {
    /// Friction force on a vertex that slips at `slip` (tangential velocity, m/s) under the bound
    /// `bound` ≥ 0 (N); `value` is s₀ or k_f.
    #[inline(always)]
    pub fn force<S: Scalar>(self, slip: Vec3<S>, bound: S, value: S) -> Vec3<S> {
        let speed = slip.norm();
        let at_rest = speed.equals(S::zero());
        let safe = S::select(at_rest, S::one(), speed);
        match self {
            Self::SlipSpeed => {
                let inverse = value.recip();
                let growing = inverse.scale(2.0) - speed * inverse * inverse;
                let factor = S::select(speed.lt(value), growing, safe.recip());
                slip * -(bound * factor)
            }
            Self::Slope => {
                let sticks = (value * speed).le(bound);
                slip * -S::select(sticks, value, bound / safe)
            }
        }
    }

    /// Largest slope of the force over slip speed for a load of `load` (N) on a vertex, N s/m.
    pub fn slope(self, friction: f64, load: f64, value: f64) -> f64 {
        match self {
            Self::SlipSpeed => 2.0 * friction * load / value,
            Self::Slope => value,
        }
    }
}
