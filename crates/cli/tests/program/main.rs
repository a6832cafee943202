//! The program, run as a user runs it.

mod common;
mod experiments;
mod readme;
mod robots;
mod scenes;
mod touching;
