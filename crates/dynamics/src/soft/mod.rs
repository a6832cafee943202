//! Soft bodies: elements, their laws and their assembly.

mod block;
mod build;
mod element;
mod hinges;
mod membrane;
mod parameter;
mod springs;

pub use block::{Block, RestPositions};
pub use build::forces;
pub use element::{
    Element, Gradient, Potential, dual3, potential_adjoint, potential_force, tangent3,
};
pub use hinges::{DiscreteShell, WarpHinge};
pub use membrane::Membrane;
pub use parameter::Parameter;
pub use springs::Spring;
