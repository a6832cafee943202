//! Soft vertices against moving geoms of articulated bodies.

#[path = "../common/mod.rs"]
mod common;
mod derivatives;
mod energy;
mod limits;
mod momentum;
mod observed;
#[path = "../common/proof.rs"]
mod proof;
mod refusals;
mod rest;
mod world;
