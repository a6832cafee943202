//! Costate: differentiable physics for finding out the physical parameters of real things.
//!
//! A scene and a recording go in; parameters with error bars come out. Underneath stand exact
//! gradients of any loss of a simulated motion by any physical parameter, input or initial state.
//!
//! - [`model`]: what is simulated, and the tree of leaves that holds every physical number;
//! - [`dynamics`]: the step, its tangent and its adjoint, rollouts;
//! - [`formats`]: scene files, meshes, tables;
//! - [`identify`]: experiments, least squares, uncertainty;
//! - [`render`] and [`report`]: something to look at.
//!
//! [`prelude`] has the names that most programs need.
#![warn(missing_docs)]

mod page;

pub use page::{PageError, fitted_motion, report_page, report_page_with};

pub use costate_dynamics as dynamics;
pub use costate_formats as formats;
pub use costate_identify as identify;
pub use costate_model as model;
pub use costate_num as num;
pub use costate_render as render;
pub use costate_report as report;

/// The names that most programs need.
pub mod prelude {
    pub use costate_dynamics::observe::{
        Observation, Point, Sample, Signal, SignalObserver, SignalSet,
    };
    pub use costate_dynamics::rollout::{AdjointOptions, Observer, Policy, Run, Seeds};
    pub use costate_dynamics::{Constants, System};
    pub use costate_formats::scene::Scene;
    pub use costate_identify::{Experiment, Identification, IdentifyOptions, identify};
    pub use costate_model::{
        GeomBuilder, GridSplit, Inputs, MaterialSettings, Model, Shape, SoftBuilder, State,
        TetrahedraSettings, Trajectory,
    };
}

// The README's program is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
