//! Observations: values in closed form, tangents against differences, adjoints against tangents.

mod derivatives;
mod geometry;
mod harness;
mod refusals;
mod rollout;
