//! Soft bodies: elements, their laws and their assembly.

mod block;
mod build;
mod damping;
mod element;
mod hinges;
mod materials;
mod membrane;
mod parameter;
mod rest;
mod springs;
mod tetrahedra;

pub use block::{Block, Drive, RecordedSprings, RecordedTetrahedra, RestPositions};
pub use build::forces;
pub use damping::{Damping, DampingGradient, FrameIndifferent, Kinematics, WarpDamping};
pub use element::{
    Element, Gradient, Potential, Scope, dual3, potential_adjoint, potential_force, tangent3,
};
pub use hinges::{DiscreteShell, WarpHinge};
pub use materials::{
    Corotated, DensityGradient, Material, MaterialLaw, NeoHookean, RecordedLaw, Registry,
    StVenantKirchhoff, StableNeoHookean, TetrahedraParts, Warp,
};
pub use membrane::Membrane;
pub use parameter::Parameter;
pub use rest::bulk_modulus_warnings;
pub use springs::{RecordedSpring, Spring};
pub use tetrahedra::{OWN_CONSTANTS, OWN_PARAMETERS, Tetrahedron};
