//! Contact laws: how a vertex below a surface is pushed back.

mod friction;
mod smooth;
mod warp;
mod warp_shape;

pub use friction::Friction;
pub use smooth::Smooth;
pub use warp::Warp;
pub use warp_shape::WarpShape;

use costate_num::{DualN, Scalar, Vec3};

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
    let factor = friction.factor(slip.norm(), p.friction * push.load, p.slip);
    normal * push.normal - slip * factor
}

/// Derivatives of λ·f for the force f of [`force`].
#[derive(Clone, Copy, Debug)]
pub struct ForceGradient {
    /// By the depth.
    pub depth: f64,
    /// By the normal.
    pub normal: Vec3<f64>,
    /// By the velocity.
    pub velocity: Vec3<f64>,
    /// By stiffness, damping, friction, slip and ramp.
    pub parameters: [f64; 5],
}

/// Derivatives of λ·f: the chain rule over [`ContactLaw::push`] and [`Friction::factor`], each by
/// dual directions.
pub fn force_gradient<L: ContactLaw>(
    depth: f64,
    normal: Vec3<f64>,
    velocity: Vec3<f64>,
    p: &ContactParameters<f64>,
    friction: Friction,
    lambda: Vec3<f64>,
) -> ForceGradient {
    type D = DualN<f64, 5>;
    let constant = D::constant(0.0);
    let speed = normal.dot(velocity);
    let parameters = ContactParameters {
        stiffness: D::variable(p.stiffness, 2),
        damping: D::variable(p.damping, 3),
        // The normal force does not read these.
        friction: constant,
        slip: constant,
        ramp: D::variable(p.ramp, 4),
    };
    let push = L::push(D::variable(depth, 0), D::variable(-speed, 1), &parameters);

    let slip = velocity - normal * speed;
    let (along, slip_speed) = slip.normalize();
    let factor = friction.factor::<DualN<f64, 3>>(
        DualN::variable(slip_speed, 0),
        DualN::variable(p.friction * push.load.value, 1),
        DualN::variable(p.slip, 2),
    );
    let brake = -lambda.dot(slip);
    let [by_speed, by_bound, by_slip] = factor.tangent;
    let (by_bound, by_slip) = (brake * by_bound, brake * by_slip);
    let slip_bar = along * (brake * by_speed) - lambda * factor.value;

    let mut by_push = [0.0; 5];
    for (i, slot) in by_push.iter_mut().enumerate() {
        *slot = lambda.dot(normal) * push.normal.tangent[i]
            + by_bound * p.friction * push.load.tangent[i];
    }
    let speed_bar = -slip_bar.dot(normal) - by_push[1];
    ForceGradient {
        depth: by_push[0],
        normal: lambda * push.normal.value - slip_bar * speed + velocity * speed_bar,
        velocity: slip_bar + normal * speed_bar,
        parameters: [by_push[2], by_push[3], by_bound * push.load.value, by_slip, by_push[4]],
    }
}
