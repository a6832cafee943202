//! Observations: what a recording sees of a motion, with its derivatives.
//!
//! A [`SignalSet`] says in plain data which signals are sampled when; [`SignalObserver`] is made
//! from it. At each sample the motion is interpolated between two steps, every observation gives
//! its value and its derivatives by the vertices it depends on, by the constants and by the
//! observer's parameters, and tangents and adjoints run through the same derivatives.

mod acceleration;
mod angle;
mod attach;
mod catalogue;
mod centre_of_mass;
mod compile;
mod contact_force;
mod coupled;
mod distance;
mod energy;
mod frame;
mod hermite;
mod joint;
mod kinematic;
mod local;
mod marker;
mod motion;
mod observer;
mod orientation;
mod point;
mod pull;
mod relation;
mod schedule;
mod sensor;
mod spec;

pub use motion::MotionObserver;
pub use observer::SignalObserver;
pub use orientation::orientation_difference;
pub use spec::{Clock, Frame, Observation, Point, Sample, Signal, SignalSet, Term, Wrap};
