//! Numbers for the engine: the [`Scalar`] trait with its mask and select, forward duals, register
//! lanes, and small vectors, matrices and quaternions generic over all of them.
#![warn(missing_docs)]

mod dual;
mod lanes;
mod math;
mod quat;
mod scalar;
pub mod spatial;
mod symmetric;
mod vector;

pub use dual::{Dual, DualN};
pub use lanes::{Element, Isa, IsaError, Kernel, Lanes, MAX_LANES, dispatch, dispatch_on, isa};
pub use quat::Quat;
pub use scalar::{Mask, Scalar};
pub use symmetric::SymMat3;
pub use vector::{Mat3, Vec3};
