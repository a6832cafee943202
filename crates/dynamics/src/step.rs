//! One step of semi-implicit (symplectic) Euler, its tangent and its adjoint.
//!
//! v⁺ = v + h (M⁻¹ f(x, v, u) + g − α v),  x⁺ = x + h v⁺.

use costate_model::State;
use rayon::prelude::*;

use crate::constants::Constants;
use crate::coupling::CoupledAdjoints;
use crate::error::DynamicsError;
use crate::force::{Adjoints, At, Tangents};
use crate::system::{Motion, System, Workspace};
use crate::variation::all_finite;
pub use crate::variation::{InputAdjoints, StateAdjoint, StateTangents};

/// Vertices that one thread takes at a time.
pub(crate) const VERTICES: usize = 1024;
/// From how many vertices on the work is spread over threads.
pub(crate) const PARALLEL: usize = 4096;

/// The inputs of a step: all channels at its start and at its end.
#[derive(Clone, Copy, Debug)]
pub struct StepInputs<'a> {
    /// At the start.
    pub now: &'a [f64],
    /// At the end; prescribed paths arrive there.
    pub next: &'a [f64],
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
        self.step_rigid(c, state, u.now, step, next, ws)?;
        next.time = (step + 1) as f64 * h;
        let soft = &next.q[..self.soft_len()];
        if all_finite(soft) {
            return Ok(());
        }
        match soft.iter().position(|x| !x.is_finite()) {
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
        let soft = self.soft_len();
        // New memory stays untouched here, so that threads fault in the parts that they write.
        for (next, len) in [(&mut next.q, state.q.len()), (&mut next.v, state.v.len())] {
            if next.len() != len {
                *next = vec![0.0; len];
            }
        }
        let mut g = [0.0; 3];
        g.copy_from_slice(&c.values[self.layout.gravity.clone()]);
        let x0 = &c.values[self.layout.start_position.clone()];
        let inverse_mass = &c.values[self.layout.inverse_mass.clone()];
        let mass_damping = &c.values[self.layout.mass_damping.clone()];
        let parts =
            next.q[..soft].chunks_mut(3 * VERTICES).zip(next.v[..soft].chunks_mut(3 * VERTICES));
        self.each_part(parts, |first, (q, v)| {
            let from = 3 * first;
            let old = state.q[from..].chunks_exact(3).zip(state.v[from..].chunks_exact(3));
            let vertices = (q.chunks_exact_mut(3).zip(v.chunks_exact_mut(3)))
                .zip(old.zip(f[from..].chunks_exact(3)))
                .zip(inverse_mass[first..].iter().zip(&self.motion[first..]));
            for (at, (((q, v), ((x_old, v_old), f)), (w, motion))) in vertices.enumerate() {
                match *motion {
                    Motion::Free => {
                        let alpha = mass_damping[self.body_of[first + at] as usize];
                        for k in 0..3 {
                            v[k] = v_old[k] + h * (w * f[k] + g[k] - alpha * v_old[k]);
                            q[k] = x_old[k] + h * v[k];
                        }
                    }
                    Motion::Fixed => {
                        v.fill(0.0);
                        q.copy_from_slice(x_old);
                    }
                    Motion::Path(input) => {
                        for k in 0..3 {
                            q[k] = x0[3 * (first + at) + k] + u_next[input + k];
                            v[k] = (q[k] - x_old[k]) / h;
                        }
                    }
                }
            }
        });
    }

    /// Runs `work(first vertex, part)` on the parts of [`VERTICES`] vertices, over threads where there
    /// are many.
    fn each_part<T: Send>(
        &self,
        parts: impl Iterator<Item = T>,
        work: impl Fn(usize, T) + Sync + Send,
    ) {
        if self.motion.len() > PARALLEL {
            let parts: Vec<(usize, T)> = parts.enumerate().collect();
            parts.into_par_iter().for_each(|(i, part)| work(i * VERTICES, part));
        } else {
            parts.enumerate().for_each(|(i, part)| work(i * VERTICES, part));
        }
    }

    /// The element whose force is not finite at a state.
    fn fault(&self, c: &Constants, state: &State, u: &[f64]) -> Option<String> {
        let at = self.soft_at(state, u);
        let mut forces = self.forces.iter().zip(&self.layout.forces);
        forces.find_map(|(force, range)| force.fault(&c.values[range.clone()], at))
    }

    /// What forces on vertices read of a state.
    pub(crate) fn soft_at<'a>(&self, state: &'a State, u: &'a [f64]) -> At<'a> {
        let soft = self.soft_len();
        At { x: &state.q[..soft], v: &state.v[..soft], u }
    }

    /// All forces on the vertices at a state, N, into `ws.force`, and those that vertices apply to
    /// articulated bodies into `ws.coupling`.
    pub(crate) fn net_forces(&self, c: &Constants, state: &State, u: &[f64], ws: &mut Workspace) {
        self.each_part(ws.force.chunks_mut(3 * VERTICES), |_, part| part.fill(0.0));
        self.couple(c, state, ws);
        let Workspace { force: f, scratch, .. } = ws;
        let at = self.soft_at(state, u);
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
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn step_pushforward(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        tangents: &mut StateTangents,
        c_dot: &[f64],
        u_dot: StepInputs,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        self.couple(c, state, ws);
        self.couple_pushforward(c, state, tangents, c_dot, ws);
        self.step_rigid_pushforward(c, state, u, tangents, c_dot, u_dot, ws)?;
        let (soft, n, columns) = (self.soft_len(), self.dof(), tangents.columns);
        if soft == n {
            self.step_soft_pushforward(c, state, u, tangents, c_dot, u_dot, ws);
        } else if soft > 0 {
            let part = |all: &[f64]| -> Vec<f64> {
                (0..columns).flat_map(|k| &all[k * n..k * n + soft]).copied().collect()
            };
            let (q, v) = (part(&tangents.q), part(&tangents.v));
            let mut own = StateTangents { columns, q, v, act: Vec::new() };
            self.step_soft_pushforward(c, state, u, &mut own, c_dot, u_dot, ws);
            for (all, own) in [(&mut tangents.q, &own.q), (&mut tangents.v, &own.v)] {
                for (k, own) in own.chunks_exact(soft).enumerate() {
                    all[k * n..k * n + soft].copy_from_slice(own);
                }
            }
        }
        Ok(())
    }

    /// The part of the tangent that belongs to vertices.
    fn step_soft_pushforward(
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
        let (n, columns) = (self.soft_len(), tangents.columns);
        // Forces matter to the tangent through the masses only, and to the jump term.
        let weighed =
            |column: &[f64]| column[self.layout.inverse_mass.clone()].iter().any(|&w| w != 0.0);
        if c_dot.chunks(self.layout.len).any(weighed) || self.model.options.saltation {
            self.net_forces(c, state, u.now, ws);
        }
        ws.tangent.clear();
        if let Some(coupled) = &ws.coupling {
            ws.tangent.extend_from_slice(&coupled.force_dot);
        }
        ws.tangent.resize(n * columns, 0.0);
        let mut f_dot = std::mem::take(&mut ws.tangent);
        let at = self.soft_at(state, u.now);
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
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn step_pullback(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        adjoint: &mut StateAdjoint,
        inputs: &mut InputAdjoints,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        // Forces matter to the adjoint through the work that they do along λ, of which adjoints of masses
        // are made, and to the jump term.
        let masses = self.wants_masses();
        if self.model.options.saltation {
            self.net_forces(c, state, u.now, ws);
        } else {
            if masses && self.coupling.is_some() {
                ws.force.fill(0.0);
            }
            self.couple(c, state, ws);
        }
        self.step_rigid_pullback(c, state, u, adjoint, inputs, ws)?;
        if self.model.options.saltation {
            self.jump_pullback(c, state, u.next, adjoint, inputs, ws);
        }
        self.advance_pullback(c, state, adjoint, inputs, ws);
        ws.work.clear();
        ws.work.resize(if masses { self.motion.len() } else { 0 }, 0.0);
        for load in &self.loads {
            let share = 1.0 / load.vertices.len() as f64;
            for &v in &load.vertices {
                for k in 0..3 {
                    let lambda = ws.lambda[3 * v as usize + k];
                    inputs.now[load.input + k] += share * lambda;
                    if let Some(work) = ws.work.get_mut(v as usize) {
                        *work += share * u.now[load.input + k] * lambda;
                    }
                }
            }
        }
        let at = self.soft_at(state, u.now);
        let soft = self.soft_len();
        for ((force, range), scratch) in
            self.forces.iter().zip(&self.layout.forces).zip(&mut ws.scratch)
        {
            let adjoints = Adjoints {
                x: &mut adjoint.q[..soft],
                v: &mut adjoint.v[..soft],
                u: &mut inputs.now,
                c: &mut inputs.c[range.clone()],
                work: &mut ws.work,
            };
            force.pullback(&c.values[range.clone()], at, &ws.lambda, adjoints, scratch);
        }
        if masses {
            self.masses_pullback_of_step(c, &mut inputs.c, ws);
        }
        if let (Some(scratch), Some(rigid)) = (&mut ws.coupling, &ws.rigid) {
            let bars = [&*ws.lambda, rigid.applied_bar()];
            let out = CoupledAdjoints { q: &mut adjoint.q, v: &mut adjoint.v, c: &mut inputs.c };
            self.couple_pullback(c, state, bars, None, out, scratch);
        }
        Ok(())
    }

    /// Adjoints of the inverse masses: with λ = h w v̄, that of w is h v̄·f, the work λ·f over w.
    fn masses_pullback_of_step(&self, c: &Constants, c_bar: &mut [f64], ws: &mut Workspace) {
        let inverse_mass = &c.values[self.layout.inverse_mass.clone()];
        // What articulated bodies push with; forces have added theirs.
        let pushed = self.coupling.is_some() && !self.model.options.saltation;
        let bars = c_bar[self.layout.inverse_mass.clone()].chunks_mut(VERTICES);
        self.each_part(bars.zip(ws.work.chunks(VERTICES)), |first, (bars, work)| {
            for (at, (bar, work)) in bars.iter_mut().zip(work).enumerate() {
                let i = first + at;
                if self.motion[i] != Motion::Free || inverse_mass[i] == 0.0 {
                    continue;
                }
                let mut work = *work;
                if pushed {
                    for j in 3 * i..3 * i + 3 {
                        work += ws.lambda[j] * ws.force[j];
                    }
                }
                *bar += work / inverse_mass[i];
            }
        });
    }

    /// Adjoint of [`advance`](Self::advance): the adjoint of the forces into `ws.lambda`.
    fn advance_pullback(
        &self,
        c: &Constants,
        state: &State,
        adjoint: &mut StateAdjoint,
        inputs: &mut InputAdjoints,
        ws: &mut Workspace,
    ) {
        let h = self.timestep();
        let layout = &self.layout;
        let inverse_mass = &c.values[layout.inverse_mass.clone()];
        for (i, motion) in self.motion.iter().enumerate() {
            if let Motion::Path(input) = *motion {
                for k in 0..3 {
                    let j = 3 * i + k;
                    let to = adjoint.q[j] + adjoint.v[j] / h;
                    inputs.c[layout.start_position.start + j] += to;
                    inputs.next[input + k] += to;
                }
            }
        }
        let mass_damping = &c.values[layout.mass_damping.clone()];
        let soft = self.soft_len();
        // Each part sums what all vertices share, gravity and the damping of bodies, by itself, so
        // that the sums are the same on any number of threads.
        let shared = 3 + mass_damping.len();
        ws.shared.clear();
        ws.shared.resize(self.motion.len().div_ceil(VERTICES) * shared, 0.0);
        let parts = (adjoint.q[..soft].chunks_mut(3 * VERTICES))
            .zip(adjoint.v[..soft].chunks_mut(3 * VERTICES))
            .zip(ws.lambda.chunks_mut(3 * VERTICES))
            .zip(ws.shared.chunks_mut(shared));
        self.each_part(parts, |first, (((q, v), lambda), shared)| {
            let (to_gravity, damping) = shared.split_at_mut(3);
            let mut gravity = [0.0; 3];
            let vertices = (q.chunks_exact_mut(3).zip(v.chunks_exact_mut(3)))
                .zip(lambda.chunks_exact_mut(3).zip(state.v[3 * first..].chunks_exact(3)))
                .zip(inverse_mass[first..].iter().zip(&self.motion[first..]));
            for (at, (((q, v), (lambda, v_old)), (w, motion))) in vertices.enumerate() {
                match *motion {
                    Motion::Free => {
                        let body = self.body_of[first + at] as usize;
                        let alpha = mass_damping[body];
                        let mut slowed = 0.0;
                        for k in 0..3 {
                            let v_new = v[k] + h * q[k];
                            gravity[k] += h * v_new;
                            slowed += h * v_new * v_old[k];
                            lambda[k] = h * w * v_new;
                            v[k] = v_new - h * alpha * v_new;
                        }
                        damping[body] -= slowed;
                    }
                    Motion::Fixed => {
                        lambda.fill(0.0);
                        v.fill(0.0);
                    }
                    Motion::Path(_) => {
                        for k in 0..3 {
                            lambda[k] = 0.0;
                            q[k] = -v[k] / h;
                            v[k] = 0.0;
                        }
                    }
                }
            }
            to_gravity.copy_from_slice(&gravity);
        });
        for part in ws.shared.chunks(shared) {
            let (gravity, damping) = part.split_at(3);
            let sums = [(layout.gravity.start, gravity), (layout.mass_damping.start, damping)];
            for (start, sums) in sums {
                for (to, sum) in inputs.c[start..].iter_mut().zip(sums) {
                    *to += sum;
                }
            }
        }
    }
}
