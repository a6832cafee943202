//! What can go wrong when a model is compiled, stepped or differentiated.

use costate_model::ModelError;

/// Why a system could not be built or a run did not finish.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicsError {
    /// The model contradicts itself.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A law that is not registered.
    #[error("{element}: there is no {kind} law `{name}`; known ones: {}", known.join(", "))]
    UnknownLaw {
        /// Which element names it.
        element: String,
        /// "material", "contact", "bending".
        kind: &'static str,
        /// The name.
        name: String,
        /// What is registered.
        known: Vec<String>,
    },
    /// The time step is beyond the largest stable one.
    #[error(
        "the time step {step:e} s is unstable: the largest stable one is about {bound:.2e} s, \
         limited by {limited_by}; take a smaller step, or soften what limits it"
    )]
    UnstableStep {
        /// The step asked for, s.
        step: f64,
        /// The largest stable step, s.
        bound: f64,
        /// What sets it.
        limited_by: String,
    },
    /// The motion left every finite bound.
    #[error("the simulation diverged at step {step} (t = {time} s): {element} is not finite")]
    Diverged {
        /// Step.
        step: usize,
        /// Time, s.
        time: f64,
        /// The vertex or element.
        element: String,
    },
    /// A step could not be made.
    #[error("the simulation stopped at step {step} (t = {time} s): {reason}")]
    Stopped {
        /// Step.
        step: usize,
        /// Time, s.
        time: f64,
        /// What stood in the way.
        reason: String,
    },
    /// A derivative is not finite though the state is.
    #[error("the derivative by {leaf} is not finite at step {step}, {element}")]
    NonFiniteDerivative {
        /// The leaf, or "the state".
        leaf: String,
        /// Step.
        step: usize,
        /// The element.
        element: String,
    },
    /// A budget or option that cannot be met.
    #[error("{0}")]
    Invalid(String),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}
