//! Contact: proofs of every shape under every law, and the points where formulas have a corner.

#[path = "../common/mod.rs"]
mod common;
mod corners;
mod harness;
#[path = "../common/proof.rs"]
mod proof;
mod proofs;
