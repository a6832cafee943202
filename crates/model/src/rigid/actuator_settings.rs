//! Actuators in numbers, as they are added to a mechanism.

use super::actuator::{BiasLaw, DynamicsLaw, GainLaw, ServoDamping};

/// Numbers of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleSettings {
    /// Time constants of activation and deactivation, s.
    pub timeconst: [f64; 2],
    /// Width of the transition between them.
    pub tausmooth: f64,
    /// Operating range of lengths, in resting lengths.
    pub range: [f64; 2],
    /// Peak force, N; negative: `scale` over the acceleration that unit force makes.
    pub force: f64,
    /// See `force`.
    pub scale: f64,
    /// Shortest length of the curve.
    pub lmin: f64,
    /// Longest length of the curve.
    pub lmax: f64,
    /// Shortening velocity at which force vanishes, resting lengths per second.
    pub vmax: f64,
    /// Passive force at `lmax`, in peak forces.
    pub fpmax: f64,
    /// Force at infinite lengthening velocity, in peak forces.
    pub fvmax: f64,
}

impl Default for MuscleSettings {
    fn default() -> Self {
        Self {
            timeconst: [0.01, 0.04],
            tausmooth: 0.0,
            range: [0.75, 1.05],
            force: -1.0,
            scale: 200.0,
            lmin: 0.5,
            lmax: 1.6,
            vmax: 1.5,
            fpmax: 1.3,
            fvmax: 1.2,
        }
    }
}

/// An [`ActuatorLaw`](super::ActuatorLaw) in numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum LawSettings {
    /// All parts given.
    General {
        /// Law of activation.
        dynamics: DynamicsLaw,
        /// Its parameters.
        dynprm: [f64; 10],
        /// Law of gain.
        gain: GainLaw,
        /// Its parameters.
        gainprm: [f64; 10],
        /// Law of bias.
        bias: BiasLaw,
        /// Its parameters.
        biasprm: [f64; 10],
    },
    /// Force is control.
    Motor,
    /// A position servo.
    Position {
        /// Gain.
        kp: f64,
        /// Damping.
        damping: ServoDamping<f64>,
        /// Time constant of the filter, s; none for 0.
        timeconst: f64,
    },
    /// A velocity servo.
    Velocity {
        /// Gain.
        kv: f64,
    },
    /// A servo on the integral of the control.
    IntVelocity {
        /// Gain.
        kp: f64,
        /// Damping.
        damping: ServoDamping<f64>,
    },
    /// A damper.
    Damper {
        /// Damping per control.
        kv: f64,
    },
    /// A cylinder.
    Cylinder {
        /// Time constant, s.
        timeconst: f64,
        /// Area, m².
        area: f64,
        /// Diameter, m, which goes before the area.
        diameter: Option<f64>,
        /// Bias.
        bias: [f64; 3],
    },
    /// A muscle.
    Muscle(MuscleSettings),
}

/// An [`Actuator`](super::Actuator) in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorSettings {
    /// Name.
    pub name: String,
    /// How it makes force.
    pub law: LawSettings,
    /// Length of the rod of a slider-crank, m; unused elsewhere.
    pub crank_length: f64,
    /// Transmission ratio.
    pub gear: [f64; 6],
    /// Damping that it adds to its joint or tendon.
    pub damping: [f64; 3],
    /// Inertia that it adds to its joint or tendon.
    pub armature: f64,
    /// Limits of the control.
    pub control_range: Option<[f64; 2]>,
    /// Limits of the force.
    pub force_range: Option<[f64; 2]>,
    /// Limits of the activation.
    pub activation_range: Option<[f64; 2]>,
    /// Range of lengths.
    pub length_range: Option<[f64; 2]>,
    /// Whether force follows the activation at the end of the step.
    pub early: bool,
    /// Group.
    pub group: i32,
}

impl Default for ActuatorSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            law: LawSettings::Motor,
            crank_length: 0.0,
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            damping: [0.0; 3],
            armature: 0.0,
            control_range: None,
            force_range: None,
            activation_range: None,
            length_range: None,
            early: false,
            group: 0,
        }
    }
}
