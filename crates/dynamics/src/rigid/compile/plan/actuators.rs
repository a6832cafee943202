//! Actuators: transmissions, what they add to joints, laws.

use costate_model::LeafId;
use costate_model::rigid as m;

use super::super::CompileError;
use super::super::op::{Kind, Op};
use super::Planner;
use crate::rigid::armature::may_have;

impl Planner<'_> {
    pub(super) fn actuators(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        for (i, actuator) in a.actuators.iter().enumerate() {
            let gear = self.c(layout.actuator_gear, i);
            self.plan.template[gear] = 1.0;
            self.copy(actuator.gear, gear);
            for (id, block) in [
                (actuator.crank_length, layout.actuator_cranklength),
                (actuator.control_range, layout.actuator_ctrlrange),
                (actuator.force_range, layout.actuator_forcerange),
                (actuator.activation_range, layout.actuator_actrange),
                (actuator.length_range, layout.actuator_lengthrange),
            ] {
                self.copy_some(id, block, i);
            }
            self.added_to_joint(actuator, gear)?;
            self.law(i, actuator);
        }
        Ok(())
    }

    /// Damping and armature of an actuator, which its joint or tendon gets times gear².
    pub(super) fn added_to_joint(
        &mut self,
        actuator: &m::Actuator,
        gear: usize,
    ) -> Result<(), CompileError> {
        let layout = self.layout;
        let zero = |id: LeafId| self.leaves.get(id).values.iter().all(|x| *x == 0.0);
        let refuse = |what: &'static str| {
            let element = format!("actuator.{}", actuator.name);
            Err(CompileError::NotSimulated { element, what })
        };
        let mut targets = None;
        match actuator.transmission {
            m::Transmission::Joint { joint, .. } if self.a.joints[joint].kind.is_scalar() => {
                let dof = self.tree.joints[joint].dof;
                let at = |block| self.c(block, dof);
                targets = Some((
                    at(layout.dof_damping),
                    at(layout.dof_dampingpoly),
                    at(layout.dof_armature),
                ));
            }
            m::Transmission::Tendon { tendon } => {
                if !zero(actuator.armature) && !may_have(self.tree, tendon) {
                    return refuse("armature that acts through a tendon around geoms");
                }
                let at = |block| self.c(block, tendon);
                targets = Some((
                    at(layout.tendon_damping),
                    at(layout.tendon_dampingpoly),
                    at(layout.tendon_armature),
                ));
            }
            _ => {}
        }
        let Some((damping, poly, armature)) = targets else {
            if !zero(actuator.armature) || !zero(actuator.damping) {
                return refuse(
                    "damping or armature of an actuator that is not on a slide or hinge",
                );
            }
            return Ok(());
        };
        let mut inputs = vec![gear];
        inputs.extend(self.at(actuator.damping));
        let outputs = [damping, poly, poly + 1][..inputs.len() - 1].to_vec();
        self.added_damping.push(Op { kind: Kind::AddByGear, inputs, outputs });
        let mut inputs = vec![gear];
        inputs.extend(self.at(actuator.armature));
        self.op(Kind::AddByGear, inputs, vec![armature]);
        Ok(())
    }

    pub(super) fn law(&mut self, i: usize, actuator: &m::Actuator) {
        let layout = self.layout;
        let (dynamics, gain, bias) = (
            self.c(layout.actuator_dynprm, i),
            self.c(layout.actuator_gainprm, i),
            self.c(layout.actuator_biasprm, i),
        );
        self.plan.template[dynamics] = 1.0;
        self.plan.template[gain] = 1.0;
        let negate = |p: &mut Self, id: LeafId, to: usize| {
            let from = p.at(id);
            p.op(Kind::Negate, from, vec![to]);
        };
        match &actuator.law {
            m::ActuatorLaw::General { dynprm, gainprm, biasprm, .. } => {
                self.copy(*dynprm, dynamics);
                self.copy(*gainprm, gain);
                self.copy(*biasprm, bias);
            }
            m::ActuatorLaw::Motor => {}
            m::ActuatorLaw::Position { kp, damping, timeconst } => {
                if let Some(id) = timeconst {
                    self.copy(*id, dynamics);
                }
                self.copy(*kp, gain);
                negate(self, *kp, bias + 1);
                if let m::ServoDamping::Kv(kv) = damping {
                    negate(self, *kv, bias + 2);
                }
            }
            m::ActuatorLaw::IntVelocity { kp, damping } => {
                self.copy(*kp, gain);
                negate(self, *kp, bias + 1);
                if let m::ServoDamping::Kv(kv) = damping {
                    negate(self, *kv, bias + 2);
                }
            }
            m::ActuatorLaw::Velocity { kv } => {
                self.copy(*kv, gain);
                negate(self, *kv, bias + 2);
            }
            m::ActuatorLaw::Damper { kv } => {
                self.plan.template[gain] = 0.0;
                negate(self, *kv, gain + 2);
            }
            m::ActuatorLaw::Cylinder { timeconst, area, by_diameter, bias: b } => {
                self.copy(*timeconst, dynamics);
                if *by_diameter {
                    let from = self.at(*area);
                    self.op(Kind::Disc, from, vec![gain]);
                } else {
                    self.copy(*area, gain);
                }
                self.copy(*b, bias);
            }
            m::ActuatorLaw::Muscle { timeconst, tausmooth, curve } => {
                self.copy(*timeconst, dynamics);
                self.copy(*tausmooth, dynamics + 2);
                let mut next = 0;
                for id in curve {
                    self.copy(*id, gain + next);
                    self.copy(*id, bias + next);
                    next += self.at(*id).len();
                }
            }
        }
    }
}
