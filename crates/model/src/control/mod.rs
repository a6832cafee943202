//! What stands between a robot and its inputs: controllers, drives and laws of friction beyond those
//! of the robot's own file.
//!
//! Gains and parameters are leaves: `controller.NAME.…`, `drive.NAME.…`, `friction.NAME.…`. Inputs of
//! the control are channels `input.NAME`. An actuator that a controller or a drive commands is no
//! channel any more.

mod formula;

pub use formula::{Binary, FUNCTIONS, Formula, FormulaError, Resolve, Symbol, Unary};

use crate::leaf::LeafId;

/// Controllers, drives and frictions of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// Inputs from outside, in the order of their channels.
    pub inputs: Vec<ControlInput>,
    /// Controllers; none reads one behind it.
    pub controllers: Vec<Controller>,
    /// Drives.
    pub drives: Vec<Drive>,
    /// Laws of friction.
    pub frictions: Vec<JointFriction>,
}

/// An input from outside: a target, a measured voltage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlInput {
    /// Name; the channel is `input.NAME`.
    pub name: String,
    /// Unit.
    pub unit: &'static str,
}

/// A delay, interpolated linearly between steps, so that it can be identified.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// Leaf, s.
    pub leaf: LeafId,
    /// The longest that the leaf may become, s.
    pub longest: f64,
}

/// A controller: a law that is evaluated at its ticks and whose output is held between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Name.
    pub name: String,
    /// The law.
    pub law: Formula,
    /// Time between ticks, s, a whole number of time steps; every step without one.
    pub sample_time: Option<f64>,
    /// How much later the output arrives. Before the first arrives, it is the first.
    pub delay: Option<Delay>,
    /// Actuator whose control the output is.
    pub actuator: Option<usize>,
}

/// The law of an electric motor with a gear, whose inductance is negligible: torque
/// k/R (V − k_e ω) on the side of the actuator, ω its velocity there. The part that brakes is implicit.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Name.
    pub name: String,
    /// The actuator, a motor on a slide or hinge.
    pub actuator: usize,
    /// Its voltage, V.
    pub voltage: Formula,
    /// Free where it is zero: no torque at all. Always on without one.
    pub enabled: Option<Formula>,
    /// Leaf: torque per current k, N m/A.
    pub torque_constant: LeafId,
    /// Leaf: resistance R, Ω.
    pub resistance: LeafId,
    /// Leaf: voltage per velocity k_e, V s/rad; the torque constant without one.
    pub back_emf: Option<LeafId>,
    /// How much later the voltage arrives.
    pub delay: Option<Delay>,
    /// Play between rotor and joint.
    pub play: Option<Play>,
}

/// Play: the rotor, with an inertia of its own, meets the joint at either end of a gap through a stiff
/// spring with a damper. All on the side of the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Play {
    /// Leaf: width of the gap, m or rad.
    pub width: LeafId,
    /// Leaf: inertia of the rotor, kg or kg m².
    pub inertia: LeafId,
    /// Leaf: stiffness at the ends.
    pub stiffness: LeafId,
    /// Leaf: damping at the ends.
    pub damping: LeafId,
}

/// Friction of a slide or hinge, beside the robot's own.
#[derive(Clone, Debug, PartialEq)]
pub struct JointFriction {
    /// Name.
    pub name: String,
    /// The joint.
    pub joint: usize,
    /// The law.
    pub law: FrictionLaw,
}

/// Laws of friction.
#[derive(Clone, Debug, PartialEq)]
pub enum FrictionLaw {
    /// Dry friction, in the robot's constraint solver: sticks below its bound, which may depend on
    /// velocity and load as they are at the start of the step.
    Dry {
        /// Leaf: Coulomb friction.
        dry: Option<LeafId>,
        /// Leaf: viscous friction per velocity, implicit.
        viscous: Option<LeafId>,
        /// Growth towards zero velocity.
        stribeck: Option<Stribeck>,
        /// Growth with the torque that the joint's motors give.
        load: Option<Load>,
    },
    /// The bristle law of Canudas de Wit, Olsson, Åström and Lischinsky, "A new model for control of
    /// systems with friction", IEEE TAC 40 (1995), implicit in bristle and velocity.
    LuGre {
        /// Leaf: stiffness of the bristles σ₀.
        stiffness: LeafId,
        /// Leaf: damping of the bristles σ₁.
        damping: LeafId,
        /// Leaf: viscous friction σ₂.
        viscous: LeafId,
        /// Leaf: Coulomb friction.
        dry: LeafId,
        /// Its growth towards zero velocity.
        stribeck: Option<Stribeck>,
    },
    /// A law of the user's own, as formulas of what is known at the start of the step.
    Formula {
        /// Dry friction, in the robot's constraint solver as that of [`Dry`](Self::Dry); below zero it is
        /// zero.
        dry: Option<Formula>,
        /// Viscous friction per velocity, implicit.
        viscous: Option<Formula>,
    },
}

/// Growth of dry friction towards zero velocity: `extra` · exp(−(v/velocity)²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stribeck {
    /// Leaf: friction at zero velocity beyond Coulomb's.
    pub extra: LeafId,
    /// Leaf: velocity over which it falls.
    pub velocity: LeafId,
}

/// Dry friction per torque: (`coefficient` + `extra` · exp(−(v/velocity)²)) |τ|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Leaf: friction per torque.
    pub coefficient: LeafId,
    /// Its growth towards zero velocity.
    pub stribeck: Option<Stribeck>,
    /// Whether τ is the motors' torque less that of gravity and motion on the joint (twice what a gear
    /// that only holds a weight passes on), rather than the motors' alone.
    pub external: bool,
}

impl Control {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.controllers.is_empty() && self.drives.is_empty() && self.frictions.is_empty()
    }
    /// Whether an actuator is commanded by a controller or a drive.
    pub fn commands(&self, actuator: usize) -> bool {
        self.controllers.iter().any(|c| c.actuator == Some(actuator))
            || self.drives.iter().any(|d| d.actuator == actuator)
    }
    /// The controller of a name.
    pub fn controller(&self, name: &str) -> Option<usize> {
        self.controllers.iter().position(|c| c.name == name)
    }
    /// The input of a name.
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|i| i.name == name)
    }
    /// The drive of a name.
    pub fn drive(&self, name: &str) -> Option<usize> {
        self.drives.iter().position(|d| d.name == name)
    }
}
