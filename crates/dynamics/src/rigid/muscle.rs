//! Muscles: activation and the curves of force, length and velocity.
//!
//! Formulas of MuJoCo's modelling chapter, section *Muscles*; activation by Millard et al., *Flexing
//! computational muscle* (2013).

use costate_num::Scalar;

/// Smaller denominators are replaced by this.
const SMALLEST: f64 = 1e-15;

#[inline(always)]
fn at_least<S: Scalar>(x: S) -> S {
    x.max(S::splat(SMALLEST))
}

/// What the force of a muscle is a function of, besides its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Muscle<S> {
    /// Length of the actuator.
    pub length: S,
    /// Its rate.
    pub velocity: S,
    /// Range of lengths.
    pub range: [S; 2],
    /// Acceleration by unit force at the reference pose.
    pub acc0: S,
}

impl<S: Scalar> Muscle<S> {
    /// Peak force, rest length and length in units of it.
    fn scaled(self, p: [S; 9]) -> (S, S, S) {
        let automatic = p[3] / at_least(self.acc0);
        let peak = S::select(p[2].lt(S::zero()), automatic, p[2]);
        let rest = (self.range[1] - self.range[0]) / at_least(p[1] - p[0]);
        let length = p[0] + (self.length - self.range[0]) / at_least(rest);
        (peak, rest, length)
    }

    /// Active force at full activation, and its slope by velocity.
    pub fn gain(self, p: [S; 9]) -> (S, S) {
        let (one, zero) = (S::one(), S::zero());
        let (peak, rest, length) = self.scaled(p);
        let scale = at_least(rest * p[6]);
        let v = self.velocity / scale;
        let y = p[8] - one;
        let shortening = (v + one) * (v + one);
        let lengthening = p[8] - (y - v) * (y - v) / at_least(y);
        let fast = S::select(v.le(y), lengthening, p[8]);
        let curve = S::select(v.le(-one), zero, S::select(v.le(zero), shortening, fast));
        let two = S::splat(2.0);
        let slope_fast = S::select(v.le(y), two * (y - v) / at_least(y), zero);
        let slope = S::select(v.le(-one), zero, S::select(v.le(zero), two * (v + one), slope_fast));
        let active = -(peak * force_by_length(length, p[4], p[5]));
        (active * curve, active * slope / scale)
    }

    /// Passive force.
    pub fn bias(self, p: [S; 9]) -> S {
        let (one, half) = (S::one(), S::splat(0.5));
        let (peak, _, length) = self.scaled(p);
        let upper = half * (one + p[5]);
        let width = at_least(upper - one);
        let (rising, beyond) = ((length - one) / width, (length - upper) / width);
        let curve = S::select(length.le(upper), half * rising * rising, half + beyond);
        let curve = S::select(length.le(one), S::zero(), curve);
        -(peak * p[7] * curve)
    }
}

/// Active force over length: a bump from `low` to `high` with its top at 1.
fn force_by_length<S: Scalar>(length: S, low: S, high: S) -> S {
    let (one, half) = (S::one(), S::splat(0.5));
    let (a, b) = (half * (low + one), half * (one + high));
    let first = (length - low) / at_least(a - low);
    let second = (one - length) / at_least(one - a);
    let third = (length - one) / at_least(b - one);
    let fourth = (high - length) / at_least(high - b);
    let square = |x: S| half * x * x;
    let right = S::select(length.le(b), one - square(third), square(fourth));
    let left = S::select(length.le(a), square(first), one - square(second));
    let inside = S::select(length.le(one), left, right);
    let outside = S::select(length.lt(low), S::zero(), inside);
    S::select(length.gt(high), S::zero(), outside)
}

/// Rate of activation: time constants of activation, deactivation and the width of the passage between
/// them are the parameters.
pub(crate) fn activation_rate<S: Scalar>(control: S, activation: S, p: [S; 3]) -> S {
    let (zero, one) = (S::zero(), S::one());
    let level = S::splat(0.5) + activation.clamp(zero, one).scale(1.5);
    let (rising, falling) = (p[0] * level, p[1] / level);
    let gap = control.clamp(zero, one) - activation;
    let hard = p[2].lt(S::splat(SMALLEST));
    let width = S::select(hard, one, p[2]);
    let smooth = falling + (rising - falling) * smooth_step(gap / width + S::splat(0.5));
    let sharp = S::select(gap.gt(zero), rising, falling);
    gap / at_least(S::select(hard, sharp, smooth))
}

/// 6x⁵ − 15x⁴ + 10x³ between 0 and 1.
fn smooth_step<S: Scalar>(x: S) -> S {
    let x = x.clamp(S::zero(), S::one());
    let inner = x.scale(3.0) * (x.scale(2.0) - S::splat(5.0)) + S::splat(10.0);
    x * x * x * inner
}
