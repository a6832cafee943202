//! Contacts between pairs of geoms: against those that MuJoCo finds, and their derivatives.

mod analytic;
mod cases;
mod convex;
mod degenerate;
mod derivatives;
