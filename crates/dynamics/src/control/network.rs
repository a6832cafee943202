//! The graph that a control becomes: what it reads, what it remembers, what it gives.

use std::collections::HashMap;

use costate_model::control::{Delay, Symbol};
use costate_model::rigid::{Articulation, Transmission};
use costate_model::{LeafId, Model};

use crate::error::DynamicsError;
use crate::expression::{Binary, Graph, Node, Unary};

/// What an input of the graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// Parameter, by its place among the control's constants.
    Parameter(usize),
    /// Position of a scalar joint, by its coordinate and degree of freedom.
    Position { coordinate: usize, dof: usize },
    /// Velocity of a degree of freedom.
    Velocity(usize),
    /// Gravity and inertial forces of motion (Coriolis, centrifugal) on a degree of freedom.
    External(usize),
    /// Number of the system's inputs.
    Channel(usize),
    /// Number that is remembered from the last step.
    Memory(usize),
    /// Time, s.
    Time,
    /// 1 in the first step.
    First,
    /// 1 in every so-manieth step.
    Tick(usize),
}

/// A graph that grows; laws add to it.
pub(super) struct Network<'a> {
    pub graph: Graph,
    pub model: &'a Model,
    pub sources: Vec<(Source, Node)>,
    found: HashMap<Source, Node>,
    /// For every parameter, its place in θ.
    pub parameters: Vec<usize>,
    /// What is remembered after the step.
    pub memory: Vec<Node>,
    /// Formulas that have a name, by their place in memory and the steps between their ticks.
    pub named: HashMap<(usize, usize), Node>,
    /// Where the inputs of each channel start.
    channels: HashMap<String, usize>,
    /// Output of each controller so far.
    pub controllers: Vec<Node>,
    /// Position and velocity of each drive's rotor, by joint.
    pub rotors: Vec<[Node; 2]>,
    /// Control of each commanded actuator.
    pub controls: Vec<(usize, Node)>,
    /// Further dry friction by degree of freedom.
    pub friction: Vec<(usize, Node)>,
    /// Further damping by degree of freedom.
    pub damping: Vec<(usize, Node)>,
    /// The part of it that drives make.
    pub drive_damping: Vec<(usize, Node)>,
    /// Forces on joints that no actuator of the robot gives.
    pub pushes: Vec<(usize, Node)>,
}

pub(super) fn invalid(element: &str, message: impl AsRef<str>) -> DynamicsError {
    DynamicsError::Invalid(format!("{element}: {}", message.as_ref()))
}

impl<'a> Network<'a> {
    pub fn new(model: &'a Model) -> Self {
        let mut channels = HashMap::new();
        let mut at = 0;
        for channel in model.inputs() {
            channels.insert(channel.name, at);
            at += channel.size;
        }
        Self {
            graph: Graph::new(0),
            model,
            sources: Vec::new(),
            found: HashMap::new(),
            parameters: Vec::new(),
            memory: Vec::new(),
            named: HashMap::new(),
            channels,
            controllers: Vec::new(),
            rotors: Vec::new(),
            controls: Vec::new(),
            friction: Vec::new(),
            damping: Vec::new(),
            drive_damping: Vec::new(),
            pushes: Vec::new(),
        }
    }

    /// The robot.
    pub fn articulation(&self) -> Result<&'a Articulation, DynamicsError> {
        self.model
            .articulation
            .as_ref()
            .ok_or_else(|| DynamicsError::Invalid("control needs an articulation".into()))
    }

    pub fn h(&self) -> f64 {
        self.model.options.timestep
    }

    pub fn source(&mut self, source: Source) -> Node {
        if source == Source::Tick(1) {
            return self.graph.constant(1.0);
        }
        let graph = &mut self.graph;
        let sources = &mut self.sources;
        *self.found.entry(source).or_insert_with(|| {
            let node = graph.add_input();
            sources.push((source, node));
            node
        })
    }

    /// The first number of a leaf, or another.
    pub fn leaf_at(&mut self, id: LeafId, i: usize) -> Node {
        let at = self.model.leaves.range(id).start + i;
        let place = self.parameters.iter().position(|&p| p == at).unwrap_or_else(|| {
            self.parameters.push(at);
            self.parameters.len() - 1
        });
        self.source(Source::Parameter(place))
    }

    pub fn leaf(&mut self, id: LeafId) -> Node {
        self.leaf_at(id, 0)
    }

    /// Coordinate and degree of freedom of a slide or hinge.
    pub fn scalar_joint(&self, joint: usize) -> Result<(usize, usize), DynamicsError> {
        let a = self.articulation()?;
        if !a.joints.get(joint).is_some_and(|j| j.kind.is_scalar()) {
            let name = a.joints.get(joint).map_or("?", |j| &*j.name);
            let message = "control reads and drives slides and hinges only";
            return Err(invalid(&format!("joint.{name}"), message));
        }
        let before = &a.joints[..joint];
        Ok((before.iter().map(|j| j.kind.nq()).sum(), before.iter().map(|j| j.kind.nv()).sum()))
    }

    pub fn position(&mut self, joint: usize) -> Result<Node, DynamicsError> {
        let (coordinate, dof) = self.scalar_joint(joint)?;
        Ok(self.source(Source::Position { coordinate, dof }))
    }

    pub fn velocity(&mut self, joint: usize) -> Result<Node, DynamicsError> {
        let (_, dof) = self.scalar_joint(joint)?;
        Ok(self.source(Source::Velocity(dof)))
    }

    /// Gravity and inertial forces on a joint.
    pub fn external(&mut self, joint: usize) -> Result<Node, DynamicsError> {
        let (_, dof) = self.scalar_joint(joint)?;
        Ok(self.source(Source::External(dof)))
    }

    pub fn channel(&mut self, name: &str) -> Result<Node, DynamicsError> {
        match self.channels.get(name) {
            Some(&at) => Ok(self.source(Source::Channel(at))),
            None => Err(invalid(name, "there is no such input channel")),
        }
    }

    pub fn symbol(&mut self, symbol: Symbol, period: usize) -> Result<Node, DynamicsError> {
        let missing = |what: &str| invalid(what, "is read before it is computed");
        match symbol {
            Symbol::Leaf(id) => Ok(self.leaf(id)),
            Symbol::Position(joint) => self.position(joint),
            Symbol::Velocity(joint) => self.velocity(joint),
            Symbol::Input(i) => {
                let name = self.model.control.inputs.get(i).map_or("?", |input| &*input.name);
                self.channel(&format!("input.{name}"))
            }
            Symbol::Controller(i) => {
                self.controllers.get(i).copied().ok_or_else(|| missing("a controller"))
            }
            Symbol::RotorPosition(i) => {
                self.rotors.get(i).map(|r| r[0]).ok_or_else(|| missing("a drive"))
            }
            Symbol::RotorVelocity(i) => {
                self.rotors.get(i).map(|r| r[1]).ok_or_else(|| missing("a drive"))
            }
            Symbol::MotorForce(joint) => self.motor_torque(joint),
            Symbol::ExternalForce(joint) => self.external(joint),
            Symbol::Time => Ok(self.source(Source::Time)),
            Symbol::SampleTime => {
                let h = self.h();
                Ok(self.graph.constant(period as f64 * h))
            }
        }
    }

    /// A number remembered from step to step: what it is now, in the first step `start`. Its next
    /// value is set by [`remember`](Self::remember).
    pub fn recall(&mut self, start: Node) -> (usize, Node) {
        let slot = self.memory.len();
        let before = self.source(Source::Memory(slot));
        let first = self.source(Source::First);
        let now = self.graph.select(first, start, before);
        self.memory.push(now);
        (slot, now)
    }

    pub fn remember(&mut self, slot: usize, next: Node) {
        self.memory[slot] = next;
    }

    /// x as it was a while ago, a line between its values at the steps.
    pub fn delayed(&mut self, x: Node, delay: Delay) -> Node {
        let h = self.h();
        let count = (delay.longest / h - 1e-9).ceil().max(0.0) as usize + 1;
        let leaf = self.leaf(delay.leaf);
        let steps = self.graph.scale(1.0 / h, leaf);
        let mut sum = self.hat(steps, 0, x);
        let mut before = x;
        for k in 1..=count {
            let (slot, value) = self.recall(x);
            self.remember(slot, before);
            before = value;
            let part = self.hat(steps, k, value);
            sum = self.graph.add(sum, part);
        }
        sum
    }

    /// x times the hat function of steps − k, whose slope at its corners is that from the right.
    fn hat(&mut self, steps: Node, k: usize, x: Node) -> Node {
        let g = &mut self.graph;
        let (zero, one, shift) = (g.constant(0.0), g.constant(1.0), g.constant(k as f64));
        let at = g.sub(steps, shift);
        let (up, down) = (g.add(one, at), g.sub(one, at));
        let below = g.binary(Binary::Less, at, zero);
        let weight = g.select(below, up, down);
        let weight = self.ramp(weight, at);
        self.graph.mul(weight, x)
    }

    /// The weight where −1 ≤ `at` < 1, else zero.
    fn ramp(&mut self, weight: Node, at: Node) -> Node {
        let g = &mut self.graph;
        let (zero, one, minus) = (g.constant(0.0), g.constant(1.0), g.constant(-1.0));
        let below = g.binary(Binary::Less, at, one);
        let weight = g.select(below, weight, zero);
        let above = g.binary(Binary::LessEqual, minus, at);
        g.select(above, weight, zero)
    }

    pub fn min(&mut self, a: Node, b: Node) -> Node {
        let less = self.graph.binary(Binary::Less, b, a);
        self.graph.select(less, b, a)
    }

    pub fn max(&mut self, a: Node, b: Node) -> Node {
        let less = self.graph.binary(Binary::Less, a, b);
        self.graph.select(less, b, a)
    }

    /// exp(−(v/scale)²)
    pub fn bell(&mut self, v: Node, scale: Node) -> Node {
        let ratio = self.graph.div(v, scale);
        let square = self.graph.mul(ratio, ratio);
        let negative = self.graph.neg(square);
        self.graph.unary(Unary::Exp, negative)
    }

    /// Gear and joint of an actuator that is a motor on a slide or hinge.
    pub fn motor(
        &mut self,
        actuator: usize,
        element: &str,
    ) -> Result<(Node, usize), DynamicsError> {
        let a = self.articulation()?;
        let found = a.actuators.get(actuator);
        let joint = found.and_then(|x| match x.transmission {
            Transmission::Joint { joint, .. } => Some((x, joint)),
            _ => None,
        });
        let motor = joint.filter(|(x, _)| x.law == costate_model::rigid::ActuatorLaw::Motor);
        let Some((x, joint)) = motor else {
            return Err(invalid(element, "needs an actuator of the kind motor on a joint"));
        };
        self.scalar_joint(joint)?;
        Ok((self.leaf(x.gear), joint))
    }

    /// Adds to the damping of a joint.
    pub fn damp(&mut self, joint: usize, by: Node) -> Result<(), DynamicsError> {
        let (_, dof) = self.scalar_joint(joint)?;
        add(&mut self.graph, &mut self.damping, dof, by);
        Ok(())
    }

    /// Adds to the dry friction of a joint.
    pub fn brake(&mut self, joint: usize, by: Node) -> Result<(), DynamicsError> {
        let (_, dof) = self.scalar_joint(joint)?;
        add(&mut self.graph, &mut self.friction, dof, by);
        Ok(())
    }

    /// Adds a force on a joint.
    pub fn push(&mut self, joint: usize, by: Node) -> Result<(), DynamicsError> {
        self.scalar_joint(joint)?;
        add(&mut self.graph, &mut self.pushes, joint, by);
        Ok(())
    }

    /// Adds to the control of an actuator.
    pub fn command(&mut self, actuator: usize, by: Node) {
        add(&mut self.graph, &mut self.controls, actuator, by);
    }
}

fn add(graph: &mut Graph, list: &mut Vec<(usize, Node)>, key: usize, by: Node) {
    match list.iter_mut().find(|(k, _)| *k == key) {
        Some((_, sum)) => *sum = graph.add(*sum, by),
        None => list.push((key, by)),
    }
}
