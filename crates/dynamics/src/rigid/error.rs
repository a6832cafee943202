//! What can go wrong in a step of articulated bodies.

use thiserror::Error;

/// Why a step could not be taken.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RigidError {
    /// The inertia matrix is not positive definite: a body that a joint moves has no mass and no
    /// armature.
    #[error(
        "degree of freedom {dof} (joint {joint}) moves no inertia: give its bodies mass or it armature"
    )]
    NoInertia {
        /// The degree of freedom.
        dof: usize,
        /// Its joint.
        joint: usize,
    },
    /// The constraint solver ran out of iterations.
    #[error(
        "the constraint solver stopped at a residual of {residual:e} after {iterations} iterations"
    )]
    NotConverged {
        /// What was left.
        residual: f64,
        /// Iterations taken.
        iterations: usize,
    },
    /// The matrix of an implicit step is singular.
    #[error("the matrix of the implicit step is singular at degree of freedom {dof}")]
    Singular {
        /// The degree of freedom of the pivot.
        dof: usize,
    },
    /// What is not simulated.
    #[error("{what} are not simulated")]
    Unsupported {
        /// What.
        what: &'static str,
    },
    /// A number is not finite.
    #[error("{what} of joint {joint} is not finite")]
    NotFinite {
        /// Position, velocity, acceleration.
        what: &'static str,
        /// The joint.
        joint: usize,
    },
}
