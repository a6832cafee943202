//! Soft bodies: elements, their laws and their assembly.

mod block;
mod build;
mod element;
mod parameter;
mod springs;

pub use block::{Block, RestPositions};
pub use build::forces;
pub use element::{
    Element, Gradient, Potential, dual3, potential_adjoint, potential_force, tangent3,
};
pub use parameter::Parameter;
pub use springs::Spring;
