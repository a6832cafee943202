//! The default law: C¹ when contact closes, turns round and opens.

use costate_num::Scalar;

use super::{ContactLaw, ContactParameters, Friction, Push};

/// Spring and damper that both grow from zero over the ramp depth δ, and never pull.
///
/// With s = d/δ the spring is E(d) = k d²/2δ up to δ and k (d − δ/2) beyond; the damper's
/// coefficient is Q(d) = k_d s³ (10 − 15 s + 6 s²) up to δ and k_d beyond (C², because a dashpot
/// acts at full speed where the ramp begins). The normal force at approach speed a is
///
/// * E + Q a while the vertex comes in (a ≥ 0),
/// * E²/(E + Q |a|) while it leaves: this has the same slope at a = 0, so that the contact is a
///   plain dashpot about rest, and stays positive however fast the vertex leaves.
///
/// It is continuously differentiable in depth and speed for k > 0 and δ > 0. With δ = 0 it is
/// the linear spring and dashpot, which jumps at onset. The ramp of the damper makes its force
/// grow with depth, at up to 1.9 k_d a/δ: a fast impact on a thin ramp is stiff for that moment.
pub struct Smooth;

/// Spring and damper divided by σ = min(s, 1)², and σ: no underflow at tiny depths.
#[inline(always)]
fn ramped<S: Scalar>(depth: S, p: &ContactParameters<S>) -> (S, S, S) {
    let inside = depth.lt(p.ramp);
    let s = S::select(inside, depth / S::select(inside, p.ramp, S::one()), S::one());
    let half = p.ramp.scale(0.5);
    let spring = p.stiffness * S::select(inside, half, depth - half);
    let damper = p.damping * (s * (S::splat(10.0) - s.scale(15.0) + (s * s).scale(6.0)));
    (s * s, spring, damper)
}

impl ContactLaw for Smooth {
    const NAME: &'static str = "smooth";
    const SLOPE: Friction = Friction::Slope;
    const TOUCHES_AT_ZERO: bool = false;

    #[inline(always)]
    fn push<S: Scalar>(depth: S, approach: S, p: &ContactParameters<S>) -> Push<S> {
        let (weight, spring, damper) = ramped(depth, p);
        let coming = approach.ge(S::zero());
        let both = spring + damper * approach.abs();
        let nothing = both.lt(S::splat(1e-300));
        let share = spring / S::select(nothing, S::one(), both);
        let leaving = S::select(nothing, S::zero(), spring * share);
        let normal = weight * S::select(coming, spring + damper * approach, leaving);
        Push { normal, load: normal }
    }

    #[inline(always)]
    fn energy<S: Scalar>(depth: S, p: &ContactParameters<S>) -> S {
        let inside = depth.lt(p.ramp);
        let safe = S::select(inside, p.ramp, S::one());
        let ramp = depth * depth * depth / safe.scale(6.0);
        let beyond = depth * (depth - p.ramp).scale(0.5) + p.ramp * p.ramp.scale(1.0 / 6.0);
        p.stiffness * S::select(inside, ramp, beyond)
    }
}
