//! Constraint rows of rigid bodies: impedances, the solve and its derivatives, against snapshots of
//! MuJoCo and by differences.

mod degenerate;
mod derivative;
mod islands;
mod slider;
mod snapshot;
mod snapshots;
