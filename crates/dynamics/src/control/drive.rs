//! The law of electric motors.
//!
//! The current follows the voltage at once: i = (V − k_e ω)/R, torque k i, ω being the actuator's
//! velocity, gear times the joint's. What brakes is damping of the joint, gear² k k_e/R, which the step
//! takes implicitly.
//!
//! With play the rotor is a body of its own, of which the state remembers the position θ and, instead of
//! the velocity, two numbers: ω⁺ = α + β v⁺ is its velocity after the step once the joint's v⁺ is known,
//! which is at the start of the next step. In contact the coupling is τ = k δ + (h k + d)(ω⁺ − v⁺), δ the
//! depth, both ends implicit: with κ = h k + d,
//! ω⁺ = (J ω/h + τ_V − k δ + κ v⁺)/(J/h + b + κ), where the motor gives τ_V − b ω⁺; the joint feels
//! A − B v⁺ with what follows for A and B.

use costate_model::control::{Drive, Play};

use super::network::{Network, Source};
use crate::error::DynamicsError;
use crate::expression::{Binary, Node};

impl Network<'_> {
    /// Where the rotors are, before any controller reads them.
    pub fn rotor(&mut self, drive: &Drive) -> Result<Option<Rotor>, DynamicsError> {
        let element = format!("drive.{}", drive.name);
        let (_, joint) = self.motor(drive.actuator, &element)?;
        let (q, v) = (self.position(joint)?, self.velocity(joint)?);
        if drive.play.is_none() {
            self.rotors.push([q, v]);
            return Ok(None);
        }
        let zero = self.graph.constant(0.0);
        let one = self.graph.constant(1.0);
        let (position_slot, before) = self.recall(q);
        let (alpha_slot, alpha) = self.recall(zero);
        let (beta_slot, beta) = self.recall(one);
        let moved = self.graph.mul(beta, v);
        let velocity = self.graph.add(alpha, moved);
        let h = self.h();
        let way = self.graph.scale(h, velocity);
        let moved = self.graph.add(before, way);
        let first = self.source(Source::First);
        let position = self.graph.select(first, q, moved);
        self.remember(position_slot, position);
        self.rotors.push([position, velocity]);
        Ok(Some(Rotor { position, velocity, alpha_slot, beta_slot }))
    }

    pub fn drive(&mut self, drive: &Drive, rotor: Option<Rotor>) -> Result<(), DynamicsError> {
        let element = format!("drive.{}", drive.name);
        let (gear, joint) = self.motor(drive.actuator, &element)?;
        let mut voltage = self.formula(&drive.voltage, 1)?;
        if let Some(delay) = drive.delay {
            voltage = self.delayed(voltage, delay);
        }
        let constant = self.leaf(drive.torque_constant);
        let resistance = self.leaf(drive.resistance);
        let back_emf = drive.back_emf.map_or(constant, |id| self.leaf(id));
        let g = &mut self.graph;
        let per_volt = g.div(constant, resistance);
        let mut torque = g.mul(per_volt, voltage);
        let brake = g.mul(per_volt, back_emf);
        let square = g.mul(gear, gear);
        let mut brake = g.mul(brake, square);
        if let Some(enabled) = &drive.enabled {
            let on = self.formula(enabled, 1)?;
            let zero = self.graph.constant(0.0);
            torque = self.graph.select(on, torque, zero);
            brake = self.graph.select(on, brake, zero);
        }
        match (drive.play, rotor) {
            (Some(play), Some(rotor)) => {
                let at_joint = self.graph.mul(gear, torque);
                let [free, damping] = self.play(play, rotor, joint, at_joint, brake)?;
                let control = self.graph.div(free, gear);
                self.command(drive.actuator, control);
                self.damp(joint, damping)
            }
            _ => {
                self.command(drive.actuator, torque);
                self.damp(joint, brake)
            }
        }
    }

    /// What the joint feels: force at rest, and damping.
    fn play(
        &mut self,
        play: Play,
        rotor: Rotor,
        joint: usize,
        torque: Node,
        brake: Node,
    ) -> Result<[Node; 2], DynamicsError> {
        let h = self.h();
        let q = self.position(joint)?;
        let width = self.leaf(play.width);
        let (inertia, stiffness) = (self.leaf(play.inertia), self.leaf(play.stiffness));
        let end_damping = self.leaf(play.damping);
        let g = &mut self.graph;
        let zero = g.constant(0.0);
        let apart = g.sub(rotor.position, q);
        let half = g.scale(0.5, width);
        let (above, minus_half) = (g.sub(apart, half), g.neg(half));
        let below = g.add(apart, half);
        let touches_above = g.binary(Binary::LessEqual, half, apart);
        let touches_below = g.binary(Binary::LessEqual, apart, minus_half);
        let depth = g.select(touches_below, below, zero);
        let depth = g.select(touches_above, above, depth);
        let spring = g.mul(stiffness, depth);
        let growth = g.scale(h, stiffness);
        let kappa = g.add(growth, end_damping);
        let kappa_below = g.select(touches_below, kappa, zero);
        let kappa = g.select(touches_above, kappa, kappa_below);
        // ω⁺ = (rest + κ v⁺)/total
        let mass = g.scale(1.0 / h, inertia);
        let momentum = g.mul(mass, rotor.velocity);
        let driven = g.add(momentum, torque);
        let rest = g.sub(driven, spring);
        let total = g.add(mass, brake);
        let total = g.add(total, kappa);
        let (alpha, beta) = (g.div(rest, total), g.div(kappa, total));
        let carried = g.mul(kappa, alpha);
        let free = g.add(spring, carried);
        let shared = g.mul(kappa, beta);
        let damping = g.sub(kappa, shared);
        self.remember(rotor.alpha_slot, alpha);
        self.remember(rotor.beta_slot, beta);
        Ok([free, damping])
    }
}

/// A rotor with play: its motion now, and where its next is remembered.
#[derive(Clone, Copy)]
pub(super) struct Rotor {
    position: Node,
    velocity: Node,
    alpha_slot: usize,
    beta_slot: usize,
}
