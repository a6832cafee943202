//! Coulomb and viscous friction: a bound in the constraint solver and a damper, both implicit.

use costate_model::LeafId;

use crate::control::network::Network;
use crate::error::DynamicsError;

impl Network<'_> {
    pub(super) fn coulomb(
        &mut self,
        joint: usize,
        dry: Option<LeafId>,
        viscous: Option<LeafId>,
    ) -> Result<(), DynamicsError> {
        if let Some(id) = dry {
            let bound = self.leaf(id);
            self.brake(joint, bound)?;
        }
        if let Some(id) = viscous {
            let damping = self.leaf(id);
            self.damp(joint, damping)?;
        }
        Ok(())
    }
}
