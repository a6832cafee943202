//! What one step computes on the way from a state, to be looked at.

use costate_model::State;

use crate::constants::Constants;
use crate::contact::Touch;
use crate::error::DynamicsError;
use crate::rigid::Evaluation;
use crate::rigid::constraint::Source;
use crate::system::{Motion, System};

/// Everything that the forces and the acceleration at a state are made of.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Force of elements, contacts and loads on every soft vertex, N, `[vertices, 3]`; gravity and
    /// mass-proportional damping come on top.
    pub force: Vec<f64>,
    /// Acceleration by degree of freedom: by which a step advances the velocities; zero where a vertex is
    /// held or on a prescribed path. With an integrator of several evaluations, that of the first.
    pub acceleration: Vec<f64>,
    /// Soft vertices in contact, with the name of the geom each touches.
    pub touches: Vec<(String, Touch)>,
    /// Controls of actuators as they act: inputs, or what the control commands.
    pub controls: Vec<f64>,
    /// The dynamics of articulated bodies.
    pub articulated: Option<Evaluation>,
}

impl System {
    /// What the forces at a state are made of, under the inputs `u`. The state's time says which step of a
    /// run it is for what a control remembers.
    ///
    /// # Errors
    /// Inertia is missing, the constraint solver does not converge, the state is not finite.
    pub fn snapshot(
        &self,
        c: &Constants,
        state: &State,
        u: &[f64],
    ) -> Result<Snapshot, DynamicsError> {
        let mut ws = self.workspace();
        self.net_forces(c, state, u, &mut ws);
        let (articulated, controls) = self.evaluate_rigid(c, state, u, &mut ws)?;
        let mut acceleration = self.soft_acceleration(c, state, &ws.force);
        if let Some(evaluation) = &articulated {
            acceleration.extend_from_slice(&evaluation.step_acceleration);
        }
        if let Some(j) = acceleration.iter().position(|a| !a.is_finite()) {
            return Err(DynamicsError::Diverged {
                step: (state.time / self.timestep()).round() as usize,
                time: state.time,
                element: self.coordinate_name(j),
            });
        }
        let touches = self.touches(c, state);
        Ok(Snapshot { force: ws.force, acceleration, touches, controls, articulated })
    }

    /// Acceleration of the soft vertices under the forces `f`.
    fn soft_acceleration(&self, c: &Constants, state: &State, f: &[f64]) -> Vec<f64> {
        let gravity = &c.values[self.layout.gravity.clone()];
        let inverse_mass = &c.values[self.layout.inverse_mass.clone()];
        let mass_damping = &c.values[self.layout.mass_damping.clone()];
        let mut out = vec![0.0; f.len()];
        for (i, motion) in self.motion.iter().enumerate() {
            if *motion != Motion::Free {
                continue;
            }
            let alpha = mass_damping[self.body_of[i] as usize];
            for k in 0..3 {
                let j = 3 * i + k;
                out[j] = inverse_mass[i] * f[j] + gravity[k] - alpha * state.v[j];
            }
        }
        out
    }

    /// The soft vertices in contact at a state, geom by geom.
    fn touches(&self, c: &Constants, state: &State) -> Vec<(String, Touch)> {
        let at = self.soft_at(state, &[]);
        let mut out = Vec::new();
        let mut of_geom = Vec::new();
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            let Some(onset) = force.onset() else { continue };
            of_geom.clear();
            onset.touches(&c.values[range.clone()], at, &mut of_geom);
            out.extend(of_geom.iter().map(|touch| (onset.geom().to_owned(), *touch)));
        }
        if let Some(mut scratch) = self.coupling_scratch() {
            let geoms: Vec<&str> = self.coupled_geoms().map(|(geom, _)| geom).collect();
            self.coupled_touches(c, state, &mut scratch, |surface, touch| {
                out.push((geoms[surface].to_owned(), touch));
            });
        }
        out
    }

    /// What rows of constraints are of: a kind, and the name of the element.
    pub fn constraint_name(
        &self,
        evaluation: &Evaluation,
        source: Source,
    ) -> (&'static str, String) {
        let articulation = self.model.articulation.as_ref();
        let name = |find: &dyn Fn(&costate_model::rigid::Articulation) -> Option<String>| {
            articulation.and_then(find).unwrap_or_default()
        };
        let joint = |j: usize| name(&|a| a.joints.get(j).map(|x| x.name.clone()));
        let tendon = |t: usize| name(&|a| a.tendons.get(t).map(|x| x.name.clone()));
        match source {
            Source::Equality(e) => {
                ("equality", name(&|a| a.equalities.get(e).map(|x| x.name.clone())))
            }
            Source::DofFriction(dof) => {
                let tree = self.articulated.as_ref().map(|a| a.tree());
                let j = tree.and_then(|tree| tree.dof_joint.get(dof).copied());
                ("joint friction", j.map(joint).unwrap_or_default())
            }
            Source::TendonFriction(t) => ("tendon friction", tendon(t)),
            Source::JointLimit { joint: j, .. } | Source::BallLimit(j) => ("joint limit", joint(j)),
            Source::TendonLimit { tendon: t, .. } => ("tendon limit", tendon(t)),
            Source::Contact(i) => {
                let contact = evaluation.stage.constraints.contacts.get(i);
                let geoms = contact.map_or([usize::MAX; 2], |contact| contact.candidate.geoms);
                let [a, b] = geoms.map(|g| self.rigid_geom_name(g));
                ("contact", format!("{a}, {b}"))
            }
        }
    }

    /// Name of a geom of the articulated bodies.
    pub fn rigid_geom_name(&self, geom: usize) -> &str {
        let geoms = self.model.articulation.as_ref().map_or(&[][..], |a| &a.geoms);
        geoms.get(geom).map_or("", |geom| &geom.name)
    }
}
