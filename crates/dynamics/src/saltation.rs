//! The jump (saltation) term of a step in which contacts close, for derivatives.

use costate_model::State;

use crate::constants::Constants;
use crate::contact::StepEnds;
use crate::step::{InputAdjoints, StateAdjoint, StateTangents};
use crate::system::{System, Workspace};

impl System {
    /// Adds the jump term to the tangents at the end of the step from `state`, whose forces are
    /// in `ws.force`.
    pub(crate) fn jump_pushforward(
        &self,
        c: &Constants,
        state: &State,
        u_next: &[f64],
        tangents: &mut StateTangents,
        c_dot: &[f64],
        ws: &mut Workspace,
    ) {
        let Workspace { force, next, .. } = ws;
        self.advance(c, state, u_next, force, next);
        let step = self.step_ends(c, state, next);
        let (n, len) = (self.soft_len(), self.layout.len);
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            let Some(onset) = force.onset() else { continue };
            for k in 0..tangents.columns {
                let column = k * n..(k + 1) * n;
                let c_dot = if c_dot.is_empty() { c_dot } else { &c_dot[k * len..][range.clone()] };
                let v_dot = &mut tangents.v[column.clone()];
                onset.jump_pushforward(
                    &c.values[range.clone()],
                    step,
                    &tangents.q[column],
                    c_dot,
                    v_dot,
                );
            }
        }
    }

    /// The adjoint of [`jump_pushforward`](Self::jump_pushforward), for the adjoint of the state
    /// at the step's end.
    pub(crate) fn jump_pullback(
        &self,
        c: &Constants,
        state: &State,
        u_next: &[f64],
        adjoint: &mut StateAdjoint,
        inputs: &mut InputAdjoints,
        ws: &mut Workspace,
    ) {
        let Workspace { force, next, .. } = ws;
        self.advance(c, state, u_next, force, next);
        let step = self.step_ends(c, state, next);
        let soft = self.soft_len();
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            let Some(onset) = force.onset() else { continue };
            onset.jump_pullback(
                &c.values[range.clone()],
                step,
                &adjoint.v[..soft],
                &mut adjoint.q[..soft],
                &mut inputs.c[range.clone()],
            );
        }
    }

    fn step_ends<'a>(&self, c: &'a Constants, state: &'a State, next: &'a State) -> StepEnds<'a> {
        StepEnds {
            start: self.soft_at(state, &[]).x,
            end: self.soft_at(next, &[]),
            inverse_mass: &c.values[self.layout.inverse_mass.clone()],
        }
    }
}
