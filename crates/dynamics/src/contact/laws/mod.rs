//! Contact laws: how a vertex below a surface is pushed back.

mod friction;
mod smooth;
mod warp;
mod warp_shape;

pub use friction::Friction;
pub use smooth::Smooth;
pub use warp::Warp;
pub use warp_shape::WarpShape;

use costate_num::{Scalar, Vec3};

/// Parameters of a contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactParameters<S> {
    /// Stiffness k, N/m.
    pub stiffness: S,
    /// Damping, N s/m.
    pub damping: S,
    /// Coulomb coefficient μ.
    pub friction: S,
    /// How friction starts, as [`Friction`] says: a slip speed, m/s, or a slope, N s/m.
    pub slip: S,
    /// Ramp depth δ, m.
    pub ramp: S,
}

/// The push along the normal, and the load that bounds friction, N; both ≥ 0.
#[derive(Clone, Copy, Debug)]
pub struct Push<S> {
    /// Force along the outward normal.
    pub normal: S,
    /// Normal force in Coulomb's bound.
    pub load: S,
}

/// A law for the normal force of one vertex.
pub trait ContactLaw: Send + Sync + 'static {
    /// Registered name.
    const NAME: &'static str;
    /// How friction with a given slope starts.
    const SLOPE: Friction;
    /// Whether a vertex at depth zero already touches.
    const TOUCHES_AT_ZERO: bool;

    /// Normal force at `depth` ≥ 0 (m) while the vertex comes in at `approach` (m/s, negative
    /// when it leaves).
    fn push<S: Scalar>(depth: S, approach: S, p: &ContactParameters<S>) -> Push<S>;

    /// Energy of the contact spring at `depth` ≥ 0, J.
    fn energy<S: Scalar>(depth: S, p: &ContactParameters<S>) -> S;

    /// Whether a vertex at this depth touches.
    #[inline(always)]
    fn touches(depth: f64) -> bool {
        if Self::TOUCHES_AT_ZERO { depth >= 0.0 } else { depth > 0.0 }
    }
}

/// Force on a vertex that touches, N.
#[inline(always)]
pub fn force<L: ContactLaw, S: Scalar>(
    depth: S,
    normal: Vec3<S>,
    velocity: Vec3<S>,
    p: &ContactParameters<S>,
    friction: Friction,
) -> Vec3<S> {
    let speed = normal.dot(velocity);
    let push = L::push(depth, -speed, p);
    let slip = velocity - normal * speed;
    normal * push.normal + friction.force(slip, p.friction * push.load, p.slip)
}
