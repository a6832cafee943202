//! Friction that grows with the torque through a gear. (Duclusaud, Passault, Padois and Ly, "Extended
//! friction models for the physics simulation of servo actuators", 2024, whose gear torque is that of
//! the motor less the external one.)

use costate_model::control::Load;
use costate_model::rigid::{ActuatorLaw, Transmission};

use crate::control::network::Network;
use crate::error::DynamicsError;
use crate::expression::{Node, Unary};

impl Network<'_> {
    pub(super) fn load(&mut self, joint: usize, load: Load) -> Result<Node, DynamicsError> {
        let mut torque = self.motor_torque(joint)?;
        if load.external {
            let external = self.external(joint)?;
            torque = self.graph.sub(torque, external);
        }
        let size = self.graph.unary(Unary::Abs, torque);
        let mut coefficient = self.leaf(load.coefficient);
        if let Some(stribeck) = load.stribeck {
            let growth = self.stribeck(joint, stribeck)?;
            coefficient = self.graph.add(coefficient, growth);
        }
        Ok(self.graph.mul(coefficient, size))
    }

    /// Torque of all motors on a joint, with what drives brake.
    pub fn motor_torque(&mut self, joint: usize) -> Result<Node, DynamicsError> {
        let a = self.articulation()?;
        let mut sum = self.graph.constant(0.0);
        for (i, actuator) in a.actuators.iter().enumerate() {
            let here =
                matches!(actuator.transmission, Transmission::Joint { joint: j, .. } if j == joint);
            if !here || actuator.law != ActuatorLaw::Motor {
                continue;
            }
            let commanded = self.controls.iter().find(|(k, _)| *k == i).map(|(_, node)| *node);
            let mut control = match commanded {
                Some(node) => node,
                None => self.channel(&format!("actuator.{}", actuator.name))?,
            };
            if let Some(range) = actuator.control_range {
                let (low, high) = (self.leaf_at(range, 0), self.leaf_at(range, 1));
                control = self.max(control, low);
                control = self.min(control, high);
            }
            let gear = self.leaf(actuator.gear);
            let part = self.graph.mul(gear, control);
            sum = self.graph.add(sum, part);
        }
        let (_, dof) = self.scalar_joint(joint)?;
        if let Some((_, brake)) = self.drive_damping.iter().find(|(k, _)| *k == dof).copied() {
            let v = self.velocity(joint)?;
            let braked = self.graph.mul(brake, v);
            sum = self.graph.sub(sum, braked);
        }
        Ok(sum)
    }
}
