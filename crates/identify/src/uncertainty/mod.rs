//! How sure one can be of an estimate.

mod autocorrelation;
mod covariance;
mod student;
mod weak;

pub use autocorrelation::{AutoRegression, lag_one};
pub use covariance::{Covariance, Series, covariance};
pub use student::t_quantile;
pub use weak::weak_directions;
