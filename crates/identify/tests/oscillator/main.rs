//! Identification of a mass on a spring, whose truth is known.

mod common;
mod fits;
mod runs;
mod statistics;
