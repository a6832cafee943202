//! How the control acts on the articulated bodies of a system in one step: it commands actuators and
//! adds to dry friction and damping among the constants that the step reads.

use costate_model::State;

use crate::articulated::Articulated;
use crate::constants::Constants;
use crate::control::{Control, ControlInputs, ControlRates, ControlScratch, Source};
use crate::rigid::{Adjoint, At, External};
use crate::step::{InputAdjoints, StateTangents};
use crate::system::System;

/// Memory for the control of articulated bodies.
pub(crate) struct Driven {
    control: ControlScratch,
    /// The constants that the step reads.
    pub c: Vec<f64>,
    external: External,
    /// External forces by degree of freedom.
    forces: Vec<f64>,
    bars: Vec<f64>,
    external_bar: Vec<f64>,
    /// Adjoints of the coordinates of the articulation, of its velocities and of the memory.
    memory_bar: Vec<f64>,
    /// Tangents of the memory.
    memory_dot: Vec<f64>,
}

impl Driven {
    pub fn new(a: &Articulated, control: &Control) -> Self {
        let tree = a.tree();
        Self {
            control: control.scratch(),
            c: Vec::new(),
            external: External::new(tree),
            forces: vec![0.0; tree.nv],
            bars: vec![0.0; control.outputs().memory.end],
            external_bar: vec![0.0; tree.nv],
            memory_bar: vec![0.0; control.memory],
            memory_dot: Vec::new(),
        }
    }

    /// What the next step remembers, after [`update`](Self::update).
    pub fn remembered(&self, control: &Control) -> &[f64] {
        &self.control.out[control.outputs().memory]
    }

    /// Evaluates the control: overwrites the commanded controls in `ctrl` and sets the constants.
    pub fn update(
        &mut self,
        system: &System,
        (a, control): (&Articulated, &Control),
        c: &Constants,
        state: &State,
        u: &[f64],
        ctrl: &mut [f64],
    ) {
        let own = &c.values[system.layout.rigid.clone()];
        if !control.externals.is_empty() {
            let at = bodies(system, state);
            self.forces.copy_from_slice(self.external.update(a.mechanism(), own, at));
        }
        control.evaluate(reads(system, c, state, u, &self.forces), &mut self.control);
        let outputs = control.outputs();
        let out = &self.control.out;
        for (&i, x) in control.controls.iter().zip(&out[outputs.controls]) {
            ctrl[i] = *x;
        }
        self.c.clear();
        self.c.extend_from_slice(own);
        let layout = &a.mechanism().layout;
        for (&dof, x) in control.friction.iter().zip(&out[outputs.friction]) {
            self.c[layout.dof_frictionloss.at(dof)] += x;
        }
        for (&dof, x) in control.damping.iter().zip(&out[outputs.damping]) {
            self.c[layout.dof_damping.at(dof)] += x;
        }
    }

    /// Tangents of what [`update`](Self::update) has set: those of the commanded controls overwrite columns of
    /// `ctrl_dot`, those of the constants add to columns of `rigid_dot`; those of the memory stay for
    /// [`remember_dots`](Self::remember_dots).
    pub fn pushforward(
        &mut self,
        system: &System,
        (a, control): (&Articulated, &Control),
        c: &Constants,
        state: &State,
        u: &[f64],
        tangents: &StateTangents,
        [c_dot, u_dot]: [&[f64]; 2],
        [ctrl_dot, rigid_dot]: [&mut [f64]; 2],
    ) {
        let (soft, n, columns) = (system.soft_len(), system.dof(), tangents.columns);
        let (nv, na) = (n - soft, system.activation_len());
        let own = system.actuator_activation_len();
        let rigid_len = system.layout.rigid.len();
        let mut forces_dot = Vec::new();
        if !control.externals.is_empty() {
            let part = |all: &[f64]| -> Vec<f64> {
                (0..columns).flat_map(|k| &all[k * n + soft..(k + 1) * n]).copied().collect()
            };
            let (q, v) = (part(&tangents.q), part(&tangents.v));
            let values = &c.values[system.layout.rigid.clone()];
            let at = bodies(system, state);
            // Before the control's own additions, of which gravity and inertia do not depend.
            let dots = [&*q, &*v, &*rigid_dot];
            forces_dot = self.external.pushforward(a.mechanism(), values, at, dots, columns);
        }
        let at = |all: &[f64], stride: usize, k: usize, i: usize| {
            if all.is_empty() { 0.0 } else { all[k * stride + i] }
        };
        let first = system.layout.control.start;
        let rate = |k: usize, source: Source| match source {
            Source::Parameter(i) => at(c_dot, system.layout.len, k, first + i),
            Source::Position { dof, .. } => tangents.q[k * n + soft + dof],
            Source::Velocity(dof) => tangents.v[k * n + soft + dof],
            Source::External(dof) => forces_dot[k * nv + dof],
            Source::Channel(i) => at(u_dot, system.input_len, k, i),
            Source::Memory(i) => tangents.act[k * na + own + i],
            Source::Time | Source::First | Source::Tick(_) => 0.0,
        };
        let outputs = control.outputs();
        let layout = &a.mechanism().layout;
        let actuators = a.tree().actuators.len();
        let memory_dot = &mut self.memory_dot;
        memory_dot.clear();
        memory_dot.resize(columns * control.memory, 0.0);
        let each = |k: usize, i: usize, dot: f64| {
            if i < outputs.controls.end {
                ctrl_dot[k * actuators + control.controls[i]] = dot;
            } else if i < outputs.friction.end {
                let dof = control.friction[i - outputs.friction.start];
                rigid_dot[k * rigid_len + layout.dof_frictionloss.at(dof)] += dot;
            } else if i < outputs.damping.end {
                let dof = control.damping[i - outputs.damping.start];
                rigid_dot[k * rigid_len + layout.dof_damping.at(dof)] += dot;
            } else {
                memory_dot[k * control.memory + i - outputs.memory.start] = dot;
            }
        };
        let reads = reads(system, c, state, u, &self.forces);
        control.pushforward(reads, columns, &mut self.control, rate, each);
    }

    /// Tangents of the memory after the step, of one column.
    pub fn remembered_dot(&self, control: &Control, column: usize) -> &[f64] {
        &self.memory_dot[column * control.memory..(column + 1) * control.memory]
    }

    /// Adds the adjoints of what the control reads. `bar` holds those of the step's own controls and
    /// constants, of which `before` were there before it; `memory_bar` those of the memory, which are replaced.
    pub fn pullback(
        &mut self,
        system: &System,
        (a, control): (&Articulated, &Control),
        c: &Constants,
        state: &State,
        u: &[f64],
        before: &[f64],
        bar: &mut Adjoint,
        memory_bar: &mut [f64],
        inputs: &mut InputAdjoints,
    ) {
        let outputs = control.outputs();
        let layout = &a.mechanism().layout;
        for (slot, &i) in self.bars[outputs.controls].iter_mut().zip(&control.controls) {
            *slot = bar.ctrl[i];
        }
        let friction = control.friction.iter().map(|&dof| layout.dof_frictionloss.at(dof));
        for (slot, i) in self.bars[outputs.friction].iter_mut().zip(friction) {
            *slot = bar.c[i] - before[i];
        }
        let damping = control.damping.iter().map(|&dof| layout.dof_damping.at(dof));
        for (slot, i) in self.bars[outputs.damping].iter_mut().zip(damping) {
            *slot = bar.c[i] - before[i];
        }
        self.bars[outputs.memory].copy_from_slice(memory_bar);
        self.memory_bar.fill(0.0);
        self.external_bar.fill(0.0);
        let rates = ControlRates {
            c: &mut inputs.c[system.layout.control.clone()],
            q: &mut bar.q,
            v: &mut bar.v,
            external: &mut self.external_bar,
            u: &mut inputs.now,
            memory: &mut self.memory_bar,
        };
        let reads = reads(system, c, state, u, &self.forces);
        control.pullback(reads, &self.bars, &mut self.control, rates);
        memory_bar.copy_from_slice(&self.memory_bar);
        if !control.externals.is_empty() {
            let own = &c.values[system.layout.rigid.clone()];
            let at = bodies(system, state);
            self.external.pullback(a.mechanism(), own, at, &self.external_bar, bar);
        }
    }
}

/// The articulated bodies at a state, without controls.
fn bodies<'a>(system: &System, state: &'a State) -> At<'a, f64> {
    let soft = system.soft_len();
    let act = &state.act[..system.actuator_activation_len()];
    At { qpos: &state.q[soft..], qvel: &state.v[soft..], act, ctrl: &[], applied: &[] }
}

/// What the control reads at a state.
fn reads<'a>(
    system: &System,
    c: &'a Constants,
    state: &'a State,
    u: &'a [f64],
    external: &'a [f64],
) -> ControlInputs<'a> {
    let at = bodies(system, state);
    ControlInputs {
        c: &c.values[system.layout.control.clone()],
        qpos: at.qpos,
        qvel: at.qvel,
        external,
        u,
        memory: &state.act[system.actuator_activation_len()..],
        time: state.time,
        h: system.timestep(),
    }
}
