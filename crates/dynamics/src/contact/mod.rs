//! Contact of soft vertices with static geoms.

use costate_model::Model;

use crate::error::DynamicsError;
use crate::force::Force;

/// The contact forces of a model, in order.
///
/// # Errors
/// An unknown contact law.
pub fn forces(_model: &Model) -> Result<Vec<Box<dyn Force>>, DynamicsError> {
    Ok(Vec::new())
}
