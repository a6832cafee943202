//! A soft vertex against the surface of a geom that moves: the force on the vertex and its derivatives.
//!
//! The body feels the opposite force at the vertex's centre, as at a point of its own there, and the
//! relative velocity of damping and friction is that against this point. So nothing is lost of momentum or
//! of angular momentum, and friction takes energy away whatever the radius of the vertex is.

use std::marker::PhantomData;

use costate_num::spatial::{Force, Motion};
use costate_num::{DualN, Scalar, Vec3};

use crate::contact::constants::{PARAMETERS, parameters};
use crate::contact::force::near;
use crate::contact::laws::{self, ContactLaw, ContactParameters, Friction};
use crate::contact::shapes::{self, Pose, Surface};
use crate::rigid::D;

/// A vertex and a surface.
pub(super) struct Meeting<S> {
    pub x: Vec3<S>,
    pub v: Vec3<S>,
    pub radius: S,
    /// Pose and size of the geom.
    pub pose: Pose<S>,
    /// Twist of its body about `origin`.
    pub twist: Motion<S>,
    pub origin: Vec3<S>,
    pub parameters: ContactParameters<S>,
}

impl<S: Scalar> Meeting<S> {
    /// Where the vertex is from the point that twists and wrenches are about.
    pub fn arm(&self) -> Vec3<S> {
        self.x - self.origin
    }
    /// Speed at which the vertex comes in along a normal.
    pub fn approach(&self, normal: Vec3<S>) -> S {
        -normal.dot(self.relative())
    }
    /// Velocity of the vertex against the body's point there.
    fn relative(&self) -> Vec3<S> {
        self.v - velocity_at(self.twist, self.arm())
    }
}

/// Velocity of the point at `arm` of a body with this twist.
pub(super) fn velocity_at<S: Scalar>(twist: Motion<S>, arm: Vec3<S>) -> Vec3<S> {
    twist.linear + twist.angular.cross(arm)
}

/// Derivatives of λ·f by what a [`Meeting`] holds.
#[derive(Clone, Copy)]
pub(super) struct MeetingGradient {
    /// The force itself.
    pub force: Vec3<f64>,
    pub x: Vec3<f64>,
    pub v: Vec3<f64>,
    pub radius: f64,
    /// By a displacement of the geom, about the origin.
    pub displacement: Force<f64>,
    pub size: [f64; 3],
    pub parameters: [f64; PARAMETERS],
}

/// Shape and law of a contact.
pub(super) trait Pair: Send + Sync {
    /// Name of the law.
    fn law(&self) -> &'static str;
    /// How friction starts.
    fn friction(&self) -> Friction;
    /// Radius about the frame's origin that holds the shape; `None` where it has no bound.
    fn reach(&self, size: &[f64; 3]) -> Option<f64>;
    /// As [`near`].
    fn near(&self, radii: &[f64], pose: &Pose<f64>, x: &[f64], near: &mut Vec<u32>) -> usize;
    /// Depth of a vertex and the surface's normal, where it touches.
    fn touch(&self, x: Vec3<f64>, radius: f64, pose: &Pose<f64>) -> Option<(f64, Vec3<f64>)>;
    /// Force on the vertex.
    fn force(&self, m: &Meeting<f64>) -> Vec3<f64>;
    /// Its tangents.
    fn force_dot(&self, m: &Meeting<D>) -> Vec3<D>;
    /// Its derivatives along λ.
    fn gradient(&self, m: &Meeting<f64>, lambda: Vec3<f64>) -> MeetingGradient;
    /// Force at depth zero.
    fn force_at_onset(&self, m: &Meeting<f64>, normal: Vec3<f64>) -> Vec3<f64>;
    /// Energy of the contact's spring and its derivatives.
    fn energy(&self, m: &Meeting<f64>) -> (f64, MeetingGradient);
}

/// A [`Pair`] of a shape and a law.
pub(super) struct Kind<F, L> {
    friction: Friction,
    kind: PhantomData<(F, L)>,
}

impl<F: Surface, L: ContactLaw> Kind<F, L> {
    pub fn new(friction: Friction) -> Self {
        Self { friction, kind: PhantomData }
    }

    #[inline(always)]
    fn push<S: Scalar>(&self, m: &Meeting<S>) -> Vec3<S> {
        let (distance, normal) = shapes::distance::<F, S>(m.x, &m.pose);
        let depth = m.radius - distance;
        laws::force::<L, S>(depth, normal, m.relative(), &m.parameters, self.friction)
    }
}

/// What a gradient by depth and normal alone is by the vertex, a displacement of the geom and its size.
fn by_place<F: Surface>(m: &Meeting<f64>, by_depth: f64, by_normal: Vec3<f64>) -> MeetingGradient {
    let (x, pose) = shapes::distance_gradient::<F>(m.x, &m.pose, -by_depth, by_normal);
    let (_, normal) = shapes::distance::<F, f64>(m.x, &m.pose);
    // To move the geom is to move the vertex back and to turn the normal along.
    let moment = normal.cross(by_normal) - m.arm().cross(x);
    MeetingGradient {
        force: Vec3::zero(),
        x,
        v: Vec3::zero(),
        radius: by_depth,
        displacement: Force::new(moment, -x),
        size: [pose[7], pose[8], pose[9]],
        parameters: [0.0; PARAMETERS],
    }
}

impl<F: Surface, L: ContactLaw> Pair for Kind<F, L> {
    fn law(&self) -> &'static str {
        L::NAME
    }

    fn friction(&self) -> Friction {
        self.friction
    }

    fn reach(&self, size: &[f64; 3]) -> Option<f64> {
        F::reach(size)
    }

    fn near(&self, radii: &[f64], pose: &Pose<f64>, x: &[f64], list: &mut Vec<u32>) -> usize {
        near::<F>(radii, pose, x, list)
    }

    fn touch(&self, x: Vec3<f64>, radius: f64, pose: &Pose<f64>) -> Option<(f64, Vec3<f64>)> {
        let (distance, normal) = shapes::distance::<F, f64>(x, pose);
        let depth = radius - distance;
        L::touches(depth).then_some((depth, normal))
    }

    fn force(&self, m: &Meeting<f64>) -> Vec3<f64> {
        self.push(m)
    }

    fn force_dot(&self, m: &Meeting<D>) -> Vec3<D> {
        self.push(m)
    }

    fn gradient(&self, m: &Meeting<f64>, lambda: Vec3<f64>) -> MeetingGradient {
        let (distance, normal) = shapes::distance::<F, f64>(m.x, &m.pose);
        let (depth, v) = (m.radius - distance, m.relative());
        let g = laws::force_gradient::<L>(depth, normal, v, &m.parameters, self.friction, lambda);
        let place = by_place::<F>(m, g.depth, g.normal);
        MeetingGradient {
            force: laws::force::<L, f64>(depth, normal, v, &m.parameters, self.friction),
            // The body's velocity at the vertex depends on where that is.
            x: place.x - g.velocity.cross(m.twist.angular),
            v: g.velocity,
            parameters: g.parameters,
            ..place
        }
    }

    fn force_at_onset(&self, m: &Meeting<f64>, normal: Vec3<f64>) -> Vec3<f64> {
        laws::force::<L, f64>(0.0, normal, m.relative(), &m.parameters, self.friction)
    }

    fn energy(&self, m: &Meeting<f64>) -> (f64, MeetingGradient) {
        type E = DualN<f64, { PARAMETERS + 1 }>;
        let (distance, _) = shapes::distance::<F, f64>(m.x, &m.pose);
        let p = &m.parameters;
        let values = [p.stiffness, p.damping, p.friction, p.slip, p.ramp];
        let mut lifted = [E::constant(0.0); PARAMETERS];
        for (i, slot) in lifted.iter_mut().enumerate() {
            *slot = E::variable(values[i], 1 + i);
        }
        let energy = L::energy(E::variable(m.radius - distance, 0), &parameters(&lifted));
        let mut place = by_place::<F>(m, energy.tangent[0], Vec3::zero());
        place.parameters.copy_from_slice(&energy.tangent[1..]);
        (energy.value, place)
    }
}
