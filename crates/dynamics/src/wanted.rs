//! Gradients by some leaves only, which cost less than by all.

use costate_model::LeafId;

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
    /// others alone need: rest shapes, dampers that are zero, masses. The derivatives that
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
