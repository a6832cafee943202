//! Numbers for the engine.
//!
//! - [`Scalar`]: what every formula is generic over. `f64`, `f32`, [`DualN`] over any scalar, and the
//!   lanes of a register implement it.
//! - [`Dual`], [`DualN`]: a value with its derivative along one or `N` directions; nested, with second
//!   derivatives.
//! - [`Lanes`], [`Kernel`], [`dispatch`]: registers chosen at run time. `COSTATE_ISA` forces a set.
//! - [`Vec3`], [`Mat3`], [`SymMat3`], [`Quat`]: small vectors, matrices and quaternions.
//! - [`spatial`]: motions, forces, transforms and inertias of rigid bodies.
//!
//! The same formula gives the same bits on every instruction set. Code for inner loops is
//! `#[inline(always)]` down to the instruction; it uses indexed loops over fixed sizes, no closures
//! and no `mul_add`.
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
