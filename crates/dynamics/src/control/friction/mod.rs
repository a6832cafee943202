//! Laws of friction, each a file.

mod coulomb;
mod load;
mod lugre;
mod stribeck;

use costate_model::control::{FrictionLaw, JointFriction};

use super::network::Network;
use crate::error::DynamicsError;

impl Network<'_> {
    pub fn friction(&mut self, friction: &JointFriction) -> Result<(), DynamicsError> {
        let joint = friction.joint;
        match &friction.law {
            FrictionLaw::Dry { dry, viscous, stribeck, load } => {
                self.coulomb(joint, *dry, *viscous)?;
                if let Some(stribeck) = stribeck {
                    let growth = self.stribeck(joint, *stribeck)?;
                    self.brake(joint, growth)?;
                }
                if let Some(load) = load {
                    let by_load = self.load(joint, *load)?;
                    self.brake(joint, by_load)?;
                }
                Ok(())
            }
            FrictionLaw::LuGre { .. } => self.lugre(friction),
            FrictionLaw::Formula { dry, viscous } => {
                if let Some(formula) = dry {
                    let bound = self.formula(formula, 1)?;
                    let zero = self.graph.constant(0.0);
                    let bound = self.max(bound, zero);
                    self.brake(joint, bound)?;
                }
                if let Some(formula) = viscous {
                    let damping = self.formula(formula, 1)?;
                    self.damp(joint, damping)?;
                }
                Ok(())
            }
        }
    }
}
