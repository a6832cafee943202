//! Stribeck's curve: friction that grows towards zero velocity, extra · exp(−(v/v_s)²). (Armstrong-Hélouvry,
//! Dupont and Canudas de Wit, "A survey of models, analysis tools and compensation methods for the
//! control of machines with friction", Automatica 30 (1994).)

use costate_model::control::Stribeck;

use crate::control::network::Network;
use crate::error::DynamicsError;
use crate::expression::Node;

impl Network<'_> {
    pub(super) fn stribeck(
        &mut self,
        joint: usize,
        stribeck: Stribeck,
    ) -> Result<Node, DynamicsError> {
        let v = self.velocity(joint)?;
        let scale = self.leaf(stribeck.velocity);
        let bell = self.bell(v, scale);
        let extra = self.leaf(stribeck.extra);
        Ok(self.graph.mul(extra, bell))
    }
}
