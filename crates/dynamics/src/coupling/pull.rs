//! Adjoints of the coupling.
//!
//! With λ the adjoints of the forces f on vertices and μ those of the applied forces −Jᵀf, the function
//! that is differentiated is Σ f·(λ − u), where u is the velocity that μ, as joint velocities, gives the
//! body's point at the vertex. Its derivatives by the body's twist, by u and by the geom's place are
//! wrenches, summed over the vertices of a body before they are carried to the joints.

use costate_model::State;
use costate_num::Vec3;
use costate_num::spatial::{Force, Motion};

use super::pair::{Meeting, MeetingGradient, velocity_at};
use super::{Coupling, CouplingScratch, Here, Touching};
use crate::constants::Constants;
use crate::contact::constants::FIRST_RADIUS;
use crate::contact::force::{add3, vec3};
use crate::rigid::inverse::twists;
use crate::rigid::{Kinematics, Place};
use crate::system::System;

/// Where adjoints accumulate; all are added to.
pub(crate) struct CoupledAdjoints<'a> {
    /// Of the whole state, positions in their tangent space.
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    /// Of all constants.
    pub c: &'a mut [f64],
}

/// What wrenches a body passes on: by its twist, by the velocities μ gives, by its geom's displacement.
#[derive(Clone, Copy)]
struct Passed {
    by_twist: Force<f64>,
    by_multiplier: Force<f64>,
    displacement: Force<f64>,
}

impl Passed {
    fn nothing() -> Self {
        let nothing = Force::zero();
        Self { by_twist: nothing, by_multiplier: nothing, displacement: nothing }
    }
}

impl Coupling {
    /// Adds the adjoints of a sum over the vertices that touch (those of one surface where `only` says so),
    /// whose derivatives `gradient` gives.
    pub(super) fn pull(
        &self,
        at: Here,
        mu: &[f64],
        only: Option<usize>,
        scratch: &mut CouplingScratch,
        starts: [usize; 2],
        gradient: impl Fn(&Meeting<f64>, Touching, Vec3<f64>) -> MeetingGradient,
        out: CoupledAdjoints,
    ) {
        let [rigid, own] = starts;
        if mu.is_empty() {
            scratch.multipliers.fill(Motion::zero());
        } else {
            let subspace = &scratch.kinematics.subspace;
            twists(at.tree, subspace, mu, &mut scratch.multipliers);
        }
        let mut bar = std::mem::take(&mut scratch.bar);
        bar.clear();
        let mut passed = vec![Passed::nothing(); at.tree.bodies.len()];
        for (surface, s) in self.surfaces.iter().enumerate() {
            if only.is_some_and(|only| only != surface) {
                continue;
            }
            let mut placed = Force::zero();
            let body = at.tree.geoms[s.geom].body;
            for t in scratch.touching.iter().filter(|t| t.surface == surface) {
                let (meeting, _) = self.meeting(at, scratch, *t);
                let (arm, along) = (meeting.arm(), scratch.multipliers[body]);
                let g = gradient(&meeting, *t, velocity_at(along, arm));
                add3(out.q, t.vertex, g.x - g.force.cross(along.angular));
                add3(out.v, t.vertex, g.v);
                placed += g.displacement;
                let passed = &mut passed[body];
                passed.by_twist -= Force::at_point(g.v, arm);
                passed.by_multiplier -= Force::at_point(g.force, arm);
                let size = at.layout.geom_size.at(s.geom);
                for (k, x) in g.size.into_iter().enumerate() {
                    bar.c[size + k] += x;
                }
                let own = own + s.constants.start;
                for (k, x) in g.parameters.into_iter().enumerate() {
                    out.c[own + k] += x;
                }
                out.c[own + FIRST_RADIUS + t.vertex] += g.radius;
            }
            passed[body].displacement += placed;
            let frame = (at.layout.geom_pos, at.layout.geom_quat);
            place(at, &scratch.kinematics).pull_frame(body, frame, s.geom, placed, &mut bar);
        }
        let CouplingScratch { kinematics, v_bar, .. } = scratch;
        let (place, q) = (place(at, kinematics), at.qpos());
        v_bar.fill(0.0);
        for (body, passed) in passed.iter().enumerate().skip(1) {
            let (by, moved) = (passed.by_twist, passed.displacement);
            place.pull_chain(body, by, at.qvel(), moved, q, true, v_bar, &mut bar);
            if !mu.is_empty() {
                let by = passed.by_multiplier;
                place.pull_chain(body, by, mu, Force::zero(), q, true, &mut [], &mut bar);
            }
        }
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        add(&mut out.q[at.soft..], &bar.q);
        add(&mut out.v[at.soft..], v_bar);
        add(&mut out.c[rigid..], &bar.c);
        scratch.bar = bar;
    }
}

fn place<'a>(at: Here<'a>, k: &'a Kinematics<f64>) -> Place<'a> {
    Place { tree: at.tree, layout: at.layout, c: at.rigid, k }
}

impl System {
    /// Adds the adjoints of what [`couple`](Self::couple) has found, for those of the forces on vertices
    /// (λ) and of the applied forces (μ; empty for zero).
    pub(crate) fn couple_pullback(
        &self,
        c: &Constants,
        state: &State,
        [lambda, mu]: [&[f64]; 2],
        only: Option<usize>,
        out: CoupledAdjoints,
        scratch: &mut CouplingScratch,
    ) {
        let (Some(coupling), Some(at)) = (&self.coupling, self.coupled_at(c, state)) else {
            return;
        };
        if scratch.touching.is_empty() {
            return;
        }
        let gradient = |m: &Meeting<f64>, t: Touching, u: Vec3<f64>| {
            let lambda = if lambda.is_empty() { Vec3::zero() } else { vec3(lambda, t.vertex) };
            coupling.surfaces[t.surface].pair.gradient(m, lambda - u)
        };
        let starts = [self.layout.rigid.start, self.layout.coupling.start];
        coupling.pull(at, mu, only, scratch, starts, gradient, out);
    }
}
