//! Controllers, drives and friction: what they make of state, inputs and memory in each step.
//!
//! All of it is one graph of formulas ([`Network`]), evaluated once at the start of a step. It gives
//! controls of actuators, additions to dry friction and damping of joints (so that what is stiff is
//! solved with the step, implicitly), and what the next step remembers: held outputs, values of earlier
//! ticks, delayed values, bristles, rotors. The memory lies in the state behind the activations, so a
//! step stays a pure function. In the first step, at time zero, all memory is as if everything had
//! been for ever as it is then.

mod controller;
mod drive;
mod formula;
mod friction;
mod network;

use costate_model::Model;

use crate::error::DynamicsError;
use crate::expression::{BLOCK, Node, Program};
pub(crate) use network::Source;
use network::{Network, invalid};

/// The control of a system.
pub(crate) struct Control {
    sources: Vec<Source>,
    /// For every constant, its place in θ.
    pub parameters: Vec<usize>,
    /// Numbers that are remembered.
    pub memory: usize,
    /// Commanded controls, by their place among the actuators; those of [`pushes`](Self::pushes) come last.
    pub controls: Vec<usize>,
    /// Joints that are pushed at by no actuator of the robot.
    pub pushes: Vec<usize>,
    /// Degrees of freedom with further dry friction.
    pub friction: Vec<usize>,
    /// Degrees of freedom with further damping.
    pub damping: Vec<usize>,
    /// Degrees of freedom whose external forces are read.
    pub externals: Vec<usize>,
    value: Program,
    push: Program,
    pull: Program,
}

/// What a control reads.
#[derive(Clone, Copy)]
pub(crate) struct ControlInputs<'a> {
    /// Constants.
    pub c: &'a [f64],
    /// Coordinates of the articulation.
    pub qpos: &'a [f64],
    /// Velocities.
    pub qvel: &'a [f64],
    /// External forces by degree of freedom; may be empty where none is read.
    pub external: &'a [f64],
    /// Inputs of the system.
    pub u: &'a [f64],
    /// Memory.
    pub memory: &'a [f64],
    /// Time, s.
    pub time: f64,
    /// Time step, s.
    pub h: f64,
}

/// Tangents, or adjoints to add to, of what a control reads.
pub(crate) struct ControlRates<'a> {
    pub c: &'a mut [f64],
    /// In the tangent space: by degree of freedom.
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub external: &'a mut [f64],
    pub u: &'a mut [f64],
    pub memory: &'a mut [f64],
}

impl ControlRates<'_> {
    fn slot(&mut self, source: Source) -> Option<&mut f64> {
        match source {
            Source::Parameter(i) => self.c.get_mut(i),
            Source::Position { dof, .. } => self.q.get_mut(dof),
            Source::Velocity(dof) => self.v.get_mut(dof),
            Source::External(dof) => self.external.get_mut(dof),
            Source::Channel(i) => self.u.get_mut(i),
            Source::Memory(i) => self.memory.get_mut(i),
            Source::Time | Source::First | Source::Tick(_) => None,
        }
    }
}

/// Memory of evaluations.
pub(crate) struct ControlScratch {
    value: Vec<f64>,
    push: Vec<f64>,
    pull: Vec<f64>,
    /// The outputs, in the order of [`Control::outputs`].
    pub out: Vec<f64>,
}

/// Places of the outputs.
pub(crate) struct Outputs {
    pub controls: std::ops::Range<usize>,
    pub friction: std::ops::Range<usize>,
    pub damping: std::ops::Range<usize>,
    pub memory: std::ops::Range<usize>,
}

impl Control {
    /// That of a model; none where it has none.
    pub fn new(model: &Model) -> Result<Option<Self>, DynamicsError> {
        let control = &model.control;
        if control.is_empty() {
            return Ok(None);
        }
        let mut net = Network::new(model);
        let articulation = net.articulation()?;
        if articulation.options.integrator == costate_model::rigid::Integrator::RungeKutta4 {
            let message = "controllers, drives and friction need an integrator of one evaluation per \
                           step: Euler, implicit or implicitfast";
            return Err(invalid("option.integrator", message));
        }
        let mut rotors = Vec::new();
        for drive in &control.drives {
            rotors.push(net.rotor(drive)?);
        }
        for controller in &control.controllers {
            net.controller(controller)?;
        }
        for (drive, rotor) in control.drives.iter().zip(rotors) {
            net.drive(drive, rotor)?;
        }
        net.drive_damping.clone_from(&net.damping);
        for friction in &control.frictions {
            net.friction(friction)?;
        }
        Ok(Some(Self::compile(net, articulation.actuators.len())))
    }

    fn compile(net: Network, actuators: usize) -> Self {
        let Network { graph, sources, parameters, memory, controls, .. } = net;
        let keys = |list: &[(usize, Node)]| list.iter().map(|(k, _)| *k).collect::<Vec<_>>();
        let pushes = keys(&net.pushes);
        let mut driven = keys(&controls);
        driven.extend((0..pushes.len()).map(|k| actuators + k));
        let (friction, damping) = (keys(&net.friction), keys(&net.damping));
        let lists = [&controls, &net.pushes, &net.friction, &net.damping];
        let outputs: Vec<Node> = lists
            .into_iter()
            .flatten()
            .map(|(_, node)| *node)
            .chain(memory.iter().copied())
            .collect();
        let value = Program::new(&graph, &outputs);
        let inputs: Vec<Node> = sources.iter().map(|(_, node)| *node).collect();
        let mut forward = graph.clone();
        let rates: Vec<Node> = inputs.iter().map(|_| forward.add_input()).collect();
        let tangents = forward.pushforward(&outputs, &inputs, &rates);
        let push = Program::new(&forward, &tangents);
        let mut reverse = graph;
        let seeds: Vec<(Node, Node)> = outputs.iter().map(|&y| (y, reverse.add_input())).collect();
        let adjoints = reverse.pullback(&seeds, &inputs);
        let pull = Program::new(&reverse, &adjoints);
        let sources: Vec<Source> = sources.into_iter().map(|(source, _)| source).collect();
        let externals = sources.iter().filter_map(|source| match source {
            Source::External(dof) => Some(*dof),
            _ => None,
        });
        Self {
            externals: externals.collect(),
            sources,
            parameters,
            memory: memory.len(),
            controls: driven,
            pushes,
            friction,
            damping,
            value,
            push,
            pull,
        }
    }

    pub fn outputs(&self) -> Outputs {
        let controls = 0..self.controls.len();
        let friction = controls.end..controls.end + self.friction.len();
        let damping = friction.end..friction.end + self.damping.len();
        let memory = damping.end..damping.end + self.memory;
        Outputs { controls, friction, damping, memory }
    }

    pub fn scratch(&self) -> ControlScratch {
        let room = |program: &Program| {
            let mut scratch = vec![0.0; program.scratch_len()];
            program.prepare(&mut scratch);
            scratch
        };
        ControlScratch {
            value: room(&self.value),
            push: room(&self.push),
            pull: room(&self.pull),
            out: vec![0.0; self.outputs().memory.end],
        }
    }

    /// Writes what the control reads into the first rows of a scratch.
    fn load(&self, at: ControlInputs, scratch: &mut [f64], columns: usize) {
        let step = (at.time / at.h).round();
        for (row, source) in scratch.chunks_exact_mut(BLOCK).zip(&self.sources) {
            let value = match *source {
                Source::Parameter(i) => at.c[i],
                Source::Position { coordinate, .. } => at.qpos[coordinate],
                Source::Velocity(dof) => at.qvel[dof],
                Source::External(dof) => at.external[dof],
                Source::Channel(i) => at.u[i],
                Source::Memory(i) => at.memory[i],
                Source::Time => at.time,
                Source::First => f64::from(u8::from(step == 0.0)),
                Source::Tick(period) => f64::from(u8::from(step % period as f64 == 0.0)),
            };
            row[..columns].fill(value);
        }
    }

    /// Evaluates it into `scratch.out`.
    pub fn evaluate(&self, at: ControlInputs, scratch: &mut ControlScratch) {
        self.load(at, &mut scratch.value, 1);
        self.value.run(&mut scratch.value, 1);
        for (i, slot) in scratch.out.iter_mut().enumerate() {
            *slot = scratch.value[self.value.output(i)];
        }
    }

    /// Tangents of the outputs: `rate` gives that of an input in a column, `each` takes that of an output
    /// in a column.
    pub fn pushforward(
        &self,
        at: ControlInputs,
        columns: usize,
        scratch: &mut ControlScratch,
        rate: impl Fn(usize, Source) -> f64,
        mut each: impl FnMut(usize, usize, f64),
    ) {
        for first in (0..columns).step_by(BLOCK) {
            let count = BLOCK.min(columns - first);
            self.load(at, &mut scratch.push, count);
            let rows = scratch.push.chunks_exact_mut(BLOCK).skip(self.sources.len());
            for (row, source) in rows.zip(&self.sources) {
                for (k, slot) in row[..count].iter_mut().enumerate() {
                    *slot = rate(first + k, *source);
                }
            }
            self.push.run(&mut scratch.push, count);
            for i in 0..scratch.out.len() {
                let row = self.push.output(i);
                for k in 0..count {
                    each(first + k, i, scratch.push[row + k]);
                }
            }
        }
    }

    /// Adds the adjoints of what it reads, for those of the outputs in `bars`.
    pub fn pullback(
        &self,
        at: ControlInputs,
        bars: &[f64],
        scratch: &mut ControlScratch,
        mut out: ControlRates,
    ) {
        self.load(at, &mut scratch.pull, 1);
        let rows = scratch.pull.chunks_exact_mut(BLOCK).skip(self.sources.len());
        for (row, bar) in rows.zip(bars) {
            row[0] = *bar;
        }
        self.pull.run(&mut scratch.pull, 1);
        for (i, source) in self.sources.iter().enumerate() {
            let bar = scratch.pull[self.pull.output(i)];
            if let Some(slot) = out.slot(*source) {
                *slot += bar;
            }
        }
    }
}
