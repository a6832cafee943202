//! Articulated rigid bodies with the semantics of MuJoCo 4.0.
//!
//! - [`Tree`]: what hangs on what; integers and flags, no number that could be identified.
//! - [`Layout`]: where each compiled constant lies in one flat array, by its name in mjModel.
//! - [`Dynamics`]: one evaluation of the dynamics without constraints, stage by stage.
//! - [`Transport`]: adjoints of places and motions of bodies, carried to the joints.
//! - [`constraint`]: what holds bodies together, stops and brakes them.
//!
//! Every stage is a function of (tree, constants, state) that writes into a workspace. Spatial
//! vectors are in world axes about the *origin* of their tree, a point fixed in space that is taken
//! anew at every evaluation ([`Kinematics::origin`]); no result depends on where it is.

mod actuation;
mod constants;
pub mod constraint;
mod forward;
mod inertia;
pub mod inverse;
mod kinematics;
mod muscle;
mod passive;
mod tendon;
mod transport;
mod tree;

pub use actuation::Actuation;
pub use constants::{Block, Layout};
pub use forward::{At, Dynamics};
pub use inertia::MassMatrix;
pub use kinematics::{Kinematics, Pose};
pub use tendon::Tendons;
pub use transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
pub use tree::{
    Actuator, BiasKind, Body, DynamicsKind, Equality, EqualityKind, GainKind, Geom, GeomKind,
    Integrator, Joint, JointKind, Options, Sensor, SensorKind, SensorObject, Site, Tendon,
    TendonPath, Transmission, Tree, TreeError,
};
