//! Articulated rigid bodies with the semantics of MuJoCo 4.0.
//!
//! - [`Derivation`]: from the leaves of a model to structure and constants.
//! - [`Tree`]: what hangs on what; integers and flags, no number that could be identified.
//! - [`Layout`]: where each compiled constant lies in one flat array, by its name in mjModel.
//! - [`Dynamics`]: one evaluation of the dynamics without constraints, stage by stage.
//! - [`Transport`]: adjoints of places and motions of bodies, carried to the joints.
//! - [`Evaluation`]: one evaluation of the whole dynamics, constraints included, and its adjoint.
//! - [`Mechanism`]: the step and its derivatives.
//! - [`collision`]: where geoms touch.
//! - [`constraint`]: what holds bodies together, stops and brakes them.
//!
//! Every stage is a function of (tree, constants, state) that writes into a workspace. Spatial
//! vectors are in world axes about the *origin* of their tree, a point fixed in space that is taken
//! anew at every evaluation ([`Kinematics::origin`]); no result depends on where it is.

mod actuation;
mod adjoint;
mod armature;
pub mod collision;
mod compile;
mod constants;
pub mod constraint;
mod contact_sensor;
mod dense;
mod elements;
mod error;
mod evaluation;
mod external;
mod fluid;
mod forward;
mod inertia;
pub(crate) mod integrate;
pub mod inverse;
mod jacobian;
mod kinematics;
mod metric;
mod muscle;
mod options;
mod passive;
mod products;
mod pull_actuation;
mod pull_energy;
mod pull_evaluation;
mod pull_mass;
mod pull_passive;
mod pull_sensors;
mod pull_tendon;
mod push;
mod push_workspace;
mod replay;
mod rk4;
mod rotation;
mod saltation;
mod sensing;
mod sensor_kinds;
mod sensors;
mod slider_crank;
mod step;
mod tendon;
mod touch;
mod transport;
mod tree;
mod turning;
mod wrapping;

pub use actuation::Actuation;
pub(crate) use adjoint::Place;
pub use adjoint::{Adjoint, Wanted};
pub use compile::{CompileError, Derivation};
pub use constants::{Block, Layout};
pub use error::RigidError;
pub use evaluation::Evaluation;
pub use external::External;
pub use forward::{At, Dynamics};
pub use inertia::MassMatrix;
pub use integrate::{difference, displace, lift_tangent, lower_adjoint};
pub(crate) use jacobian::ConstantTangents;
pub use jacobian::TangentMethod;
pub use kinematics::{Kinematics, Pose};
pub use pull_evaluation::EvaluationAdjoint;
pub(crate) use push::{D, LANES};
pub use push::{DriveTangents, PushWorkspace, RigidTangents};
pub use replay::{StepRecord, StepRecords};
pub use sensing::SensorWorkspace;
pub use step::{Mechanism, RigidState, RigidWorkspace};
pub use tendon::Tendons;
pub use transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
pub use tree::{
    Actuator, BiasKind, Body, ContactPair, DynamicsKind, Equality, EqualityKind, GainKind, Geom,
    GeomKind, Integrator, Joint, JointKind, Options, PathElement, Sensor, SensorKind, SensorObject,
    Site, Tendon, TendonPath, Transmission, Tree, TreeError,
};
