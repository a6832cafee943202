//! What happens when a contact closes: the jump of the force and its share in derivatives.
//!
//! A force that jumps by Δf when the depth g(x, θ) of a vertex becomes positive changes the
//! derivative of the motion: a variation δg moves the instant of onset by −δg/ġ, so that the
//! velocity after it varies by (Δf/m) δg/ġ more than the derivative of either branch says (the
//! saltation matrix; Leine and Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical
//! Systems, 2004, section 7.2). A step that ends in contact and did not start in it holds such an
//! onset; everything is evaluated at its end.

use costate_num::{Dual, Vec3};

use super::constants::{POSE, RADII};
use super::force::{Contact, Touching, add3, moving, moving3, plain, vec3};
use super::laws::{self, ContactLaw};
use super::shapes::{self, Surface};
use crate::force::At;

/// A vertex in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The vertex.
    pub vertex: usize,
    /// Depth, m.
    pub depth: f64,
    /// Speed of approach, m/s; negative when it leaves.
    pub approach: f64,
    /// The geom's normal there, out of it.
    pub normal: Vec3<f64>,
    /// Magnitude of the contact force, N.
    pub force: f64,
    /// The contact force, N.
    pub push: Vec3<f64>,
    /// Magnitude of the force at depth zero and this velocity, N: what it jumps by at onset.
    pub jump: f64,
    /// Ramp depth of the law, m.
    pub ramp: f64,
}

/// A step of the system, as a force that acts at its end sees it.
#[derive(Clone, Copy, Debug)]
pub struct StepEnds<'a> {
    /// Positions at the start.
    pub start: &'a [f64],
    /// The state at the end.
    pub end: At<'a>,
    /// Inverse mass per vertex.
    pub inverse_mass: &'a [f64],
}

/// A force that begins when something touches.
pub trait OnsetForce {
    /// Name of the geom.
    fn geom(&self) -> &str;
    /// Name of the law.
    fn law(&self) -> &'static str;
    /// Whether the force jumps when a contact closes at speed.
    fn jumps(&self, c: &[f64]) -> bool;
    /// Lists the vertices in contact, in order.
    fn touches(&self, c: &[f64], at: At, out: &mut Vec<Touch>);
    /// Adds to the tangent v̇ of the velocity at the step's end what the onsets in this step add
    /// along the tangents ẋ of the positions there and ċ of the constants (empty: zero).
    fn jump_pushforward(
        &self,
        c: &[f64],
        step: StepEnds,
        x_dot: &[f64],
        c_dot: &[f64],
        v_dot: &mut [f64],
    );
    /// The adjoint: adds to x̄ at the step's end and to c̄ for v̄ there.
    fn jump_pullback(
        &self,
        c: &[f64],
        step: StepEnds,
        v_bar: &[f64],
        x_bar: &mut [f64],
        c_bar: &mut [f64],
    );
}

impl<F: Surface, L: ContactLaw> Contact<F, L> {
    /// The force at depth zero for a velocity.
    fn force_at_onset(&self, c: &[f64], normal: Vec3<f64>, velocity: Vec3<f64>) -> Vec3<f64> {
        let (_, parameters) = plain(c);
        laws::force::<L, f64>(0.0, normal, velocity, &parameters, self.friction)
    }

    /// Calls `visit` for every vertex whose contact closed in the step, with (Δf/m)/ġ.
    fn for_onsets(&self, c: &[f64], step: StepEnds, mut visit: impl FnMut(usize, Vec3<f64>)) {
        if !self.jumps(c) {
            return;
        }
        let (pose, _) = plain(c);
        self.for_touching(c, step.end.x, &mut Vec::new(), |Touching { vertex, normal, .. }| {
            let (before, _) = self.place(c, &pose, step.start, vertex);
            let velocity = vec3(step.end.v, vertex);
            let approach = -normal.dot(velocity);
            if !L::touches(before) && approach > 0.0 {
                let jump = self.force_at_onset(c, normal, velocity);
                visit(vertex, jump * (step.inverse_mass[vertex] / approach));
            }
        });
    }
}

impl<F: Surface, L: ContactLaw> OnsetForce for Contact<F, L> {
    fn geom(&self) -> &str {
        &self.geom
    }

    fn law(&self) -> &'static str {
        L::NAME
    }

    fn jumps(&self, c: &[f64]) -> bool {
        let (_, parameters) = plain(c);
        L::push::<f64>(0.0, 1.0, &parameters).normal > 0.0
    }

    fn touches(&self, c: &[f64], at: At, out: &mut Vec<Touch>) {
        let (_, parameters) = plain(c);
        self.for_touching(c, at.x, &mut Vec::new(), |t| {
            let velocity = vec3(at.v, t.vertex);
            let force =
                laws::force::<L, f64>(t.depth, t.normal, velocity, &parameters, self.friction);
            out.push(Touch {
                vertex: t.vertex,
                depth: t.depth,
                approach: -t.normal.dot(velocity),
                normal: t.normal,
                force: force.norm(),
                push: force,
                jump: self.force_at_onset(c, t.normal, velocity).norm(),
                ramp: parameters.ramp,
            });
        });
    }

    fn jump_pushforward(
        &self,
        c: &[f64],
        step: StepEnds,
        x_dot: &[f64],
        c_dot: &[f64],
        v_dot: &mut [f64],
    ) {
        let (pose, _) = moving(c, c_dot);
        self.for_onsets(c, step, |vertex, rate| {
            let x = moving3(step.end.x, x_dot, vertex);
            let (distance, _) = shapes::distance::<F, Dual<f64>>(x, &pose);
            let r_dot = if c_dot.is_empty() { 0.0 } else { c_dot[RADII + vertex] };
            add3(v_dot, vertex, rate * (r_dot - distance.tangent[0]));
        });
    }

    fn jump_pullback(
        &self,
        c: &[f64],
        step: StepEnds,
        v_bar: &[f64],
        x_bar: &mut [f64],
        c_bar: &mut [f64],
    ) {
        let (pose, _) = plain(c);
        self.for_onsets(c, step, |vertex, rate| {
            let depth_bar = rate.dot(vec3(v_bar, vertex));
            let x = vec3(step.end.x, vertex);
            let (by_x, by_pose) =
                shapes::distance_gradient::<F>(x, &pose, -depth_bar, Vec3::zero());
            add3(x_bar, vertex, by_x);
            for (bar, g) in c_bar[..POSE].iter_mut().zip(by_pose) {
                *bar += g;
            }
            c_bar[RADII + vertex] += depth_bar;
        });
    }
}
