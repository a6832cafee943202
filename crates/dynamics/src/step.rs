//! One step of semi-implicit (symplectic) Euler, its tangent and its adjoint.
//!
//! v⁺ = v + h (M⁻¹ f(x, v, u) + g − α v),  x⁺ = x + h v⁺.

use costate_model::State;

use crate::constants::Constants;
use crate::error::DynamicsError;
use crate::force::{Adjoints, At, Tangents};
use crate::system::{Motion, System, Workspace};

/// The inputs of a step: all channels at its start and at its end.
#[derive(Clone, Copy, Debug)]
pub struct StepInputs<'a> {
    /// At the start.
    pub now: &'a [f64],
    /// At the end; prescribed paths arrive there.
    pub next: &'a [f64],
}

/// Tangents of a state, or of constants and inputs: `columns` of them, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTangents {
    /// How many columns.
    pub columns: usize,
    /// Of the positions.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub v: Vec<f64>,
}

/// The adjoint of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateAdjoint {
    /// Of the positions.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub v: Vec<f64>,
}

/// Adjoints of what a run is a function of; a step adds to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputAdjoints {
    /// Of the constants.
    pub c: Vec<f64>,
    /// Of the inputs at the step's start.
    pub now: Vec<f64>,
    /// Of the inputs at the step's end.
    pub next: Vec<f64>,
}

impl System {
    /// Advances `state` by one step into `next`.
    ///
    /// # Errors
    /// [`DynamicsError::Diverged`] where the new state is not finite.
    pub fn step(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        step: usize,
        next: &mut State,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let h = self.timestep();
        self.net_forces(c, state, u.now, ws);
        self.advance(c, state, u.next, &ws.force, next);
        next.time = (step + 1) as f64 * h;
        match next.q.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(j) => Err(DynamicsError::Diverged {
                step: step + 1,
                time: next.time,
                element: self.fault(c, state, u.now).unwrap_or_else(|| self.vertex_name(j / 3)),
            }),
        }
    }

    /// The state after one step under the forces `f`; its time is left as it is.
    pub(crate) fn advance(
        &self,
        c: &Constants,
        state: &State,
        u_next: &[f64],
        f: &[f64],
        next: &mut State,
    ) {
        let h = self.timestep();
        next.q.resize(state.q.len(), 0.0);
        next.v.resize(state.v.len(), 0.0);
        let g = &c.values[self.layout.gravity.clone()];
        let x0 = &c.values[self.layout.start_position.clone()];
        for (i, motion) in self.motion.iter().enumerate() {
            let w = c.values[self.layout.inverse_mass.start + i];
            let alpha = c.values[self.layout.mass_damping.start + self.body_of[i] as usize];
            for k in 0..3 {
                let j = 3 * i + k;
                let (x, v) = (state.q[j], state.v[j]);
                match *motion {
                    Motion::Free => {
                        let v = v + h * (w * f[j] + g[k] - alpha * v);
                        next.v[j] = v;
                        next.q[j] = x + h * v;
                    }
                    Motion::Fixed => {
                        next.v[j] = 0.0;
                        next.q[j] = x;
                    }
                    Motion::Path(input) => {
                        let to = x0[j] + u_next[input + k];
                        next.v[j] = (to - x) / h;
                        next.q[j] = to;
                    }
                }
            }
        }
    }

    /// The element whose force is not finite at a state.
    fn fault(&self, c: &Constants, state: &State, u: &[f64]) -> Option<String> {
        let at = At { x: &state.q, v: &state.v, u };
        let mut forces = self.forces.iter().zip(&self.layout.forces);
        forces.find_map(|(force, range)| force.fault(&c.values[range.clone()], at))
    }

    /// All forces on the vertices at a state, N, into `ws.force`.
    pub(crate) fn net_forces(&self, c: &Constants, state: &State, u: &[f64], ws: &mut Workspace) {
        let Workspace { force: f, scratch, .. } = ws;
        f.fill(0.0);
        let at = At { x: &state.q, v: &state.v, u };
        for ((force, range), scratch) in
            self.forces.iter().zip(&self.layout.forces).zip(scratch.iter_mut())
        {
            force.add_forces(&c.values[range.clone()], at, f, scratch);
        }
        for load in &self.loads {
            let share = 1.0 / load.vertices.len() as f64;
            for &v in &load.vertices {
                for k in 0..3 {
                    f[3 * v as usize + k] += share * u[load.input + k];
                }
            }
        }
    }

    /// Tangent of [`step`](Self::step): from ẋ, ċ (`c_dot`, columns of the length of the
    /// constants, or empty for zero) and u̇ (columns, or empty) to ẋ⁺, in place of `tangents`.
    pub fn step_pushforward(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        tangents: &mut StateTangents,
        c_dot: &[f64],
        u_dot: StepInputs,
        ws: &mut Workspace,
    ) {
        let h = self.timestep();
        let (n, columns) = (self.dof(), tangents.columns);
        // Forces matter to the tangent through the masses only, and to the jump term.
        let weighed =
            |column: &[f64]| column[self.layout.inverse_mass.clone()].iter().any(|&w| w != 0.0);
        if c_dot.chunks(self.layout.len).any(weighed) || self.model.options.saltation {
            self.net_forces(c, state, u.now, ws);
        }
        ws.tangent.clear();
        ws.tangent.resize(n * columns, 0.0);
        let mut f_dot = std::mem::take(&mut ws.tangent);
        let at = At { x: &state.q, v: &state.v, u: u.now };
        let mut local = Vec::new();
        for ((force, range), scratch) in
            self.forces.iter().zip(&self.layout.forces).zip(&mut ws.scratch)
        {
            local.clear();
            if !c_dot.is_empty() {
                for k in 0..columns {
                    let column = &c_dot[k * self.layout.len..(k + 1) * self.layout.len];
                    local.extend_from_slice(&column[range.clone()]);
                }
            }
            let local_tangents =
                Tangents { columns, x: &tangents.q, v: &tangents.v, u: u_dot.now, c: &local };
            force.pushforward(&c.values[range.clone()], at, local_tangents, &mut f_dot, scratch);
        }
        let m = self.input_len;
        for k in 0..columns {
            let c_dot = if c_dot.is_empty() { c_dot } else { &c_dot[k * self.layout.len..] };
            let dot = |at: usize| if c_dot.is_empty() { 0.0 } else { c_dot[at] };
            let u_now = |i: usize| if u_dot.now.is_empty() { 0.0 } else { u_dot.now[k * m + i] };
            let u_next = |i: usize| if u_dot.next.is_empty() { 0.0 } else { u_dot.next[k * m + i] };
            let f_dot = &mut f_dot[k * n..(k + 1) * n];
            for load in &self.loads {
                let share = 1.0 / load.vertices.len() as f64;
                for &v in &load.vertices {
                    for j in 0..3 {
                        f_dot[3 * v as usize + j] += share * u_now(load.input + j);
                    }
                }
            }
            for (i, motion) in self.motion.iter().enumerate() {
                let at_w = self.layout.inverse_mass.start + i;
                let at_alpha = self.layout.mass_damping.start + self.body_of[i] as usize;
                let (w, w_dot) = (c.values[at_w], dot(at_w));
                let (alpha, alpha_dot) = (c.values[at_alpha], dot(at_alpha));
                for a in 0..3 {
                    let j = 3 * i + a;
                    let (x_dot, v_dot) = (tangents.q[k * n + j], tangents.v[k * n + j]);
                    let (x_new, v_new) = match *motion {
                        Motion::Free => {
                            let v_new = v_dot
                                + h * (w * f_dot[j]
                                    + w_dot * ws.force[j]
                                    + dot(self.layout.gravity.start + a)
                                    - alpha * v_dot
                                    - alpha_dot * state.v[j]);
                            (x_dot + h * v_new, v_new)
                        }
                        Motion::Fixed => (x_dot, 0.0),
                        Motion::Path(input) => {
                            let to = dot(self.layout.start_position.start + j) + u_next(input + a);
                            (to, (to - x_dot) / h)
                        }
                    };
                    tangents.q[k * n + j] = x_new;
                    tangents.v[k * n + j] = v_new;
                }
            }
        }
        ws.tangent = f_dot;
        if self.model.options.saltation {
            self.jump_pushforward(c, state, u.next, tangents, c_dot, ws);
        }
    }

    /// Adjoint of [`step`](Self::step): from x̄⁺ to x̄ in place, adding to c̄ and ū.
    pub fn step_pullback(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        adjoint: &mut StateAdjoint,
        inputs: &mut InputAdjoints,
        ws: &mut Workspace,
    ) {
        let h = self.timestep();
        // Forces matter to the adjoint through the masses only, and to the jump term.
        let masses = self.wants_masses();
        if masses || self.model.options.saltation {
            self.net_forces(c, state, u.now, ws);
        }
        if self.model.options.saltation {
            self.jump_pullback(c, state, u.next, adjoint, inputs, ws);
        }
        for (i, motion) in self.motion.iter().enumerate() {
            let at_w = self.layout.inverse_mass.start + i;
            let at_alpha = self.layout.mass_damping.start + self.body_of[i] as usize;
            let (w, alpha) = (c.values[at_w], c.values[at_alpha]);
            for k in 0..3 {
                let j = 3 * i + k;
                let (x_bar, v_bar) = (adjoint.q[j], adjoint.v[j]);
                ws.lambda[j] = 0.0;
                match *motion {
                    Motion::Free => {
                        let v_new = v_bar + h * x_bar;
                        ws.lambda[j] = h * w * v_new;
                        if masses {
                            inputs.c[at_w] += h * v_new * ws.force[j];
                        }
                        inputs.c[self.layout.gravity.start + k] += h * v_new;
                        inputs.c[at_alpha] -= h * v_new * state.v[j];
                        adjoint.v[j] = v_new - h * alpha * v_new;
                    }
                    Motion::Fixed => adjoint.v[j] = 0.0,
                    Motion::Path(input) => {
                        let to = x_bar + v_bar / h;
                        inputs.c[self.layout.start_position.start + j] += to;
                        inputs.next[input + k] += to;
                        adjoint.q[j] = -v_bar / h;
                        adjoint.v[j] = 0.0;
                    }
                }
            }
        }
        for load in &self.loads {
            let share = 1.0 / load.vertices.len() as f64;
            for &v in &load.vertices {
                for k in 0..3 {
                    inputs.now[load.input + k] += share * ws.lambda[3 * v as usize + k];
                }
            }
        }
        let at = At { x: &state.q, v: &state.v, u: u.now };
        for ((force, range), scratch) in
            self.forces.iter().zip(&self.layout.forces).zip(&mut ws.scratch)
        {
            let adjoints = Adjoints {
                x: &mut adjoint.q,
                v: &mut adjoint.v,
                u: &mut inputs.now,
                c: &mut inputs.c[range.clone()],
            };
            force.pullback(&c.values[range.clone()], at, &ws.lambda, adjoints, scratch);
        }
    }
}
