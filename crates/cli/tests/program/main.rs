//! The program, run as a user runs it.

mod common;
mod experiments;
mod mixed;
mod readme;
mod robots;
mod scenes;
mod smoothing;
mod told;
mod touching;
