//! Rows of dry friction: J is a unit row or the Jacobian of a tendon, there is no position, and the
//! force is within ±loss.
//!
//! There is no row where the loss is zero, because there is no force; what a first bit of loss would do
//! enters the derivatives by [`at_zero_loss`].

use costate_num::Scalar;

use super::build::{Constraints, RowInputs, RowState, Source};
use super::impedance::{Response, SolverParameters};
use super::law::Law;
use crate::rigid::collision::Real;
use crate::rigid::tree::Integrator;

/// What acceleration of a row is rounding, as a share of the largest of all accelerations.
const ROUNDING: f64 = 1e-12;

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

/// Visits the dry friction of zero loss: `visit(constant, dofs, jacobian, push)` with the place of the loss
/// among the constants, the row's Jacobian, and the derivative of its force by its loss from above, which is
/// against x = J a − a_ref, and zero where x is rounding.
pub(in crate::rigid) fn at_zero_loss<S: Scalar<Mask = bool>>(
    at: RowInputs<S>,
    a: &[S],
    mut visit: impl FnMut(usize, &[usize], &[S], f64),
) {
    let (layout, c, options) = (at.layout, at.c, &at.tree.options);
    if !options.constraints || !options.friction_loss {
        return;
    }
    // The discrete integrator's a_ref is −B v/(1 + h B).
    let h = if options.integrator == Integrator::Discrete { options.timestep } else { 0.0 };
    let least = at.least_time_constant();
    let largest = a.iter().fold(S::zero(), |largest, a| largest.max(a.abs()));
    let nothing = largest.scale(ROUNDING);
    let push = |x: S| f64::from(i8::from(x.lt(-nothing)) - i8::from(x.gt(nothing)));
    for dof in 0..at.tree.nv {
        let loss = layout.dof_frictionloss.at(dof);
        if c[loss].gt(S::zero()) {
            continue;
        }
        // Damping is not negative: where acceleration and velocity agree it does not matter.
        let (a, v) = (a[dof], at.qvel[dof]);
        let mut x = a;
        if push(a) == 0.0 || (a * v).lt(S::zero()) {
            let parameters = at.parameters(layout.dof_solref, layout.dof_solimp, dof);
            let (_, damping) = parameters.stiffness_damping(least);
            x += damping / (S::one() + damping.scale(h)) * v;
        }
        visit(loss, &[dof], &[S::one()], push(x));
    }
    let tendons = &at.dynamics.tendons;
    for t in 0..at.tree.tendons.len() {
        let loss = layout.tendon_frictionloss.at(t);
        if c[loss].gt(S::zero()) {
            continue;
        }
        let parameters = at.parameters(layout.tendon_solref_fri, layout.tendon_solimp_fri, t);
        let (_, damping) = parameters.stiffness_damping(least);
        let entries = tendons.entries(t);
        let (dofs, jacobian) = (&tendons.dofs[entries.clone()], &tendons.jacobian[entries]);
        let mut x = damping / (S::one() + damping.scale(h)) * tendons.velocity[t];
        for k in 0..dofs.len() {
            x += jacobian[k] * a[dofs[k]];
        }
        visit(loss, dofs, jacobian, push(x));
    }
}
