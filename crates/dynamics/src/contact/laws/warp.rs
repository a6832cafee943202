//! warp.sim 1.8's ground contact.

use costate_num::Scalar;

use super::{ContactLaw, ContactParameters, Friction, Push};

/// Linear spring and a dashpot that acts in full at zero depth while the vertex comes in:
/// N = k d + k_d max(a, 0), and friction under μ N.
///
/// The force jumps by k_d a when contact closes, so each whole step of onset is a jump in any
/// loss; see the saltation option.
pub struct Warp;

impl ContactLaw for Warp {
    const NAME: &'static str = "warp";
    const SLOPE: Friction = Friction::SharpSlope;
    const TOUCHES_AT_ZERO: bool = false;

    #[inline(always)]
    fn push<S: Scalar>(depth: S, approach: S, p: &ContactParameters<S>) -> Push<S> {
        let coming = S::select(approach.gt(S::zero()), approach, S::zero());
        let normal = p.stiffness * depth + p.damping * coming;
        Push { normal, load: normal }
    }

    #[inline(always)]
    fn energy<S: Scalar>(depth: S, p: &ContactParameters<S>) -> S {
        p.stiffness * depth * depth.scale(0.5)
    }
}
