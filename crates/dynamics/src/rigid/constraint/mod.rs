//! Constraints of rigid bodies with MuJoCo's soft model: rows x = J a − a_ref, a convex penalty
//! s(x) on each, and the acceleration that minimises ½ (a − M⁻¹τ)ᵀ M (a − M⁻¹τ) + s.
//!
//! - [`impedance`]: what the numbers `solref` and `solimp` say of a row: its stiffness, damping and
//!   regularisation.
//! - [`ConstraintStage`]: from a state to its constrained acceleration, and back: what a step calls.
//! - [`Constraints`]: the rows of a state.
//! - [`Rows`], [`Cone`], [`Law`]: rows as the solver sees them.
//! - [`Solver`]: the minimiser and its derivatives by the implicit function theorem.
//!
//! The derivative at a point where a penalty's curvature jumps (a limit just touched, dry friction
//! just sliding, the surface of a cone) is that of the side the zones of the solution say. A
//! row without force has no influence, and its derivatives are zero; but dry friction whose loss is zero
//! has the derivative by the loss from above, so that a loss can be identified from a start at zero.

mod accept;
mod attachment;
mod build;
mod contact;
mod contact_pullback;
mod derivative;
mod discrete;
mod equality;
mod exact;
mod factor;
mod force;
mod friction;
pub mod impedance;
mod islands;
mod law;
mod law_tangents;
mod limit;
mod measured;
mod onset;
mod pullback;
mod relaxed;
mod rows;
mod search;
mod solver;
mod stage;
mod symmetric;

pub(in crate::rigid) use attachment::{PointSeeds, pull_point};
pub use build::{Constraints, Item, RowInputs, Source};
pub use contact::{Contact, ContactParameters};
pub(in crate::rigid) use contact_pullback::TouchBar;
pub use derivative::{Multipliers, ProblemTangents};
pub(in crate::rigid) use friction::at_zero_loss;
pub use law::{Law, Zone};
pub use law_tangents::LawTangents;
pub(in crate::rigid) use measured::{LimitReading, LimitSeeds};
pub use onset::Onset;
pub(crate) use onset::depth;
pub use pullback::{RowAdjoints, RowSeeds, TendonAdjoint};
pub use rows::{Cone, Rows};
pub use solver::{Problem, Solved, Solver, SolverOptions};
pub use stage::ConstraintStage;
pub use symmetric::SymmetricRows;
