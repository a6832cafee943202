//! The LuGre law: bristles of deflection z carry the force σ₀ z + σ₁ ż + σ₂ v, with
//! ż = v − σ₀ |v|/g(v) z and g(v) = dry + extra · exp(−(v/v_s)²).
//!
//! Stiff, so the step is implicit in z and v and takes only |v|/g(v) from its start: with
//! D = 1 + h σ₀ |v|/g, z⁺ = (z + h v⁺)/D and the force is −A − B v⁺,
//! A = (σ₀ + σ₁/h) z/D − σ₁ z/h,  B = (h σ₀ + σ₁)/D + σ₂. z⁺ needs v⁺, which is known at the start of the
//! next step: z/D and h/D are remembered.

use costate_model::control::{FrictionLaw, JointFriction};

use crate::control::network::{Network, invalid};
use crate::error::DynamicsError;
use crate::expression::Unary;

impl Network<'_> {
    pub(super) fn lugre(&mut self, friction: &JointFriction) -> Result<(), DynamicsError> {
        let FrictionLaw::LuGre { stiffness, damping, viscous, dry, stribeck } = &friction.law
        else {
            return Err(invalid(&friction.name, "is not of the LuGre kind"));
        };
        let (joint, h) = (friction.joint, self.h());
        let v = self.velocity(joint)?;
        let sigma = [*stiffness, *damping, *viscous].map(|id| self.leaf(id));
        let mut level = self.leaf(*dry);
        if let Some(stribeck) = stribeck {
            let growth = self.stribeck(joint, *stribeck)?;
            level = self.graph.add(level, growth);
        }
        let zero = self.graph.constant(0.0);
        let (z_slot, kept) = self.recall(zero);
        let (way_slot, way) = self.recall(zero);
        let g = &mut self.graph;
        let moved = g.mul(way, v);
        let z = g.add(kept, moved);
        let speed = g.unary(Unary::Abs, v);
        let rate = g.div(speed, level);
        let rate = g.mul(sigma[0], rate);
        let rate = g.scale(h, rate);
        let one = g.constant(1.0);
        let divisor = g.add(one, rate);
        let next_kept = g.div(z, divisor);
        let step = g.constant(h);
        let next_way = g.div(step, divisor);
        let rubbing = g.scale(1.0 / h, sigma[1]);
        let stiff = g.add(sigma[0], rubbing);
        let held = g.mul(stiff, next_kept);
        let lost = g.mul(rubbing, z);
        let resting = g.sub(held, lost);
        let slope = g.mul(stiff, next_way);
        let slope = g.add(slope, sigma[2]);
        let force = g.neg(resting);
        self.remember(z_slot, next_kept);
        self.remember(way_slot, next_way);
        self.damp(joint, slope)?;
        self.push(joint, force)
    }
}
