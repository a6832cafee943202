//! warp.sim 1.8's contact of particles with shapes.

use costate_num::Scalar;

use super::{ContactLaw, ContactParameters, Friction, Push, Warp};

/// As [`Warp`], but Coulomb's bound uses only the spring: friction under μ k d. A vertex at depth
/// zero already touches.
pub struct WarpShape;

impl ContactLaw for WarpShape {
    const NAME: &'static str = "warp-shape";
    const SLOPE: Friction = Friction::SharpSlope;
    const TOUCHES_AT_ZERO: bool = true;

    #[inline(always)]
    fn push<S: Scalar>(depth: S, approach: S, p: &ContactParameters<S>) -> Push<S> {
        Push { load: p.stiffness * depth, ..Warp::push(depth, approach, p) }
    }

    #[inline(always)]
    fn energy<S: Scalar>(depth: S, p: &ContactParameters<S>) -> S {
        Warp::energy(depth, p)
    }
}
