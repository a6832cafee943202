//! Rows of dry friction: J is a unit row or the Jacobian of a tendon, there is no position, and the
//! force is within ±loss.
//!
//! There is no row where the loss is zero and is not to be identified.

use costate_num::Scalar;

use super::build::{Constraints, RowInputs, RowState, Source};
use super::impedance::{Response, SolverParameters};
use super::law::Law;
use crate::rigid::collision::Real;

/// The response of dry friction: damping only.
#[inline(always)]
pub(super) fn response<S: Scalar>(p: SolverParameters<S>, least_time_constant: S) -> Response<S> {
    let mut response = p.response(S::zero(), least_time_constant);
    response.stiffness = S::zero();
    response
}

/// Adds the rows of all degrees of freedom, then of all tendons.
pub(super) fn add_rows<S: Real>(out: &mut Constraints<S>, at: RowInputs<S>) {
    let (layout, c) = (at.layout, at.c);
    let least = at.least_time_constant();
    for dof in 0..at.tree.nv {
        let loss = c[layout.dof_frictionloss.at(dof)];
        if !loss.gt(S::zero()) {
            continue;
        }
        out.begin(Source::DofFriction(dof));
        out.rows.entry(dof, S::one());
        let response = response(at.parameters(layout.dof_solref, layout.dof_solimp, dof), least);
        let state = RowState {
            position: S::zero(),
            velocity: at.qvel[dof],
            bias: S::zero(),
            diagonal: c[layout.dof_invweight0.at(dof)],
        };
        out.push(at, Law::Friction, response, state, loss);
    }
    let tendons = &at.dynamics.tendons;
    for t in 0..at.tree.tendons.len() {
        let loss = c[layout.tendon_frictionloss.at(t)];
        if !loss.gt(S::zero()) {
            continue;
        }
        out.begin(Source::TendonFriction(t));
        for k in tendons.entries(t) {
            out.rows.entry(tendons.dofs[k], tendons.jacobian[k]);
        }
        let p = at.parameters(layout.tendon_solref_fri, layout.tendon_solimp_fri, t);
        let state = RowState {
            position: S::zero(),
            velocity: tendons.velocity[t],
            bias: S::zero(),
            diagonal: c[layout.tendon_invweight0.at(t)],
        };
        out.push(at, Law::Friction, response(p, least), state, loss);
    }
}
