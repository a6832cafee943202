//! Impacts at a fixed step: what derivatives of a motion are worth when a contact closes in it.
//!
//! Names such as R32 are those of published defect reports of other engines, each with the values
//! that a right engine gives.

#[path = "../common/mod.rs"]
mod common;
mod harness;
mod impacts;
mod rest;
mod robots;
mod smoothing;
