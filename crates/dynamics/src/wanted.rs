//! Gradients by some leaves only, which cost less than by all.

use std::collections::HashSet;

use costate_model::rigid::{Articulation, Inertial, Tensor};
use costate_model::{LeafId, Model};

use crate::rigid;
use crate::system::System;

/// Which derivatives by θ will be asked for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Entries of θ.
    pub entries: Vec<bool>,
    /// Whether a leaf among them may change a mass.
    pub masses: bool,
}

impl System {
    /// Promises that derivatives by these leaves only will be asked for. Adjoints then skip what the
    /// others alone need: rest shapes, dampers that are zero, masses, places and inertias of a robot. The derivatives that
    /// [`derive_pullback`](Self::derive_pullback) gives by every other leaf are not numbers (NaN),
    /// so that none is taken for zero. Tangents are not narrowed.
    pub fn narrow(&mut self, leaves: &[LeafId]) {
        let mut entries = vec![false; self.model.leaves.theta_len()];
        for &id in leaves {
            entries[self.model.leaves.range(id)].fill(true);
        }
        for force in &mut self.forces {
            force.narrow(&|i| entries[i]);
        }
        let weightless = self.weightless();
        let masses = leaves.iter().any(|id| !weightless.contains(id));
        if let (Some(to), Some(a)) = (&mut self.articulated, &self.model.articulation) {
            to.narrow(articulated(&self.model, a, leaves));
        }
        self.wanted = Some(Wanted { entries, masses });
    }

    /// Whether adjoints of the masses are wanted.
    pub(crate) fn wants_masses(&self) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.masses)
    }

    /// Leaves that no mass depends on.
    fn weightless(&self) -> Vec<LeafId> {
        let mut out = vec![self.model.options.gravity];
        for body in &self.model.soft {
            out.extend([body.position, body.rotation, body.velocity, body.angular_velocity]);
            out.extend([body.mass_damping, body.radius]);
            out.extend(body.start_position.into_iter().chain(body.start_velocity));
            if let Some(t) = &body.tetrahedra {
                out.extend(&t.material.parameters);
                out.extend([t.damping.viscosity, t.damping.stiffness, t.activation]);
            }
            if let Some(m) = &body.membrane {
                out.extend([m.stiffness, m.area_stiffness, m.damping, m.drag, m.lift]);
                out.push(m.activation);
            }
            if let Some(h) = &body.hinges {
                out.extend([h.stiffness, h.damping, h.rest_angle]);
            }
            if let Some(s) = &body.springs {
                out.extend([s.damping, s.rest_length]);
                match &s.law {
                    costate_model::SpringLaw::Hooke { stiffness } => out.push(*stiffness),
                    costate_model::SpringLaw::Own { parameters, .. } => out.extend(parameters),
                }
            }
        }
        out
    }
}

/// Which constants of an articulation some leaves can change.
fn articulated(model: &Model, a: &Articulation, leaves: &[LeafId]) -> rigid::Wanted {
    let mut neither = HashSet::from([model.options.gravity]);
    let mut friction = HashSet::new();
    for joint in &a.joints {
        friction.insert(joint.frictionloss);
        neither.extend([joint.stiffness, joint.damping, joint.armature, joint.frictionloss]);
        neither.extend([joint.range, joint.margin, joint.solref_limit, joint.solimp_limit]);
        neither.extend([joint.solref_friction, joint.solimp_friction]);
        neither.extend(joint.springref.into_iter().chain(joint.actuator_force_range));
    }
    if let Some(start) = &a.initial {
        neither.extend(start.qpos.iter().chain(&start.qvel).chain(start.act.iter().flatten()));
    }
    for soft in &a.soft_contacts {
        let c = &soft.contact;
        neither.extend([c.stiffness, c.damping, c.friction, c.ramp]);
        neither.extend(c.slip_speed.into_iter().chain(c.friction_damping));
    }
    let mut masses = HashSet::new();
    for body in &a.bodies {
        match &body.inertial {
            Inertial::Given { mass, ipos, tensor }
            | Inertial::Proportional { mass, ipos, tensor, .. } => {
                let (Tensor::Diagonal { diagonal: tensor, .. } | Tensor::Full { full: tensor }) =
                    tensor;
                masses.extend([*mass, *ipos, *tensor]);
            }
            Inertial::GeomsScaled { mass } | Inertial::PseudoInertia { parameters: mass } => {
                masses.insert(*mass);
            }
            Inertial::FromGeoms => {}
        }
    }
    let other =
        |id: &LeafId| !neither.contains(id) && !model.leaves.get(*id).path.starts_with("soft.");
    let placement = |id: &LeafId| other(id) && !masses.contains(id);
    // A law of friction makes the loss a function of the state.
    let varies = !model.control.frictions.is_empty();
    rigid::Wanted {
        inertial: leaves.iter().any(other),
        placement: leaves.iter().any(placement),
        zero_friction: varies || leaves.iter().any(|id| friction.contains(id) || placement(id)),
    }
}
