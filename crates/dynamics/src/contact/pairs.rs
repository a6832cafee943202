//! What the contacts of articulated bodies were like during a run, pair of geoms by pair of geoms.

use costate_model::State;

use super::report::GeomContacts;
use crate::constants::Constants;
use crate::coupling::CouplingScratch;
use crate::rigid::{At, RigidWorkspace};
use crate::system::System;

/// Name of the law of articulated bodies' contacts.
pub(super) const LAW: &str = "mujoco";
/// An impedance at zero depth above this makes the force jump at onset.
const JUMPS: f64 = 1e-3;

/// Gathers the contacts of articulated bodies state by state.
pub(super) struct PairGathering {
    workspace: RigidWorkspace,
    ctrl: Vec<f64>,
    coupled: Option<Box<CouplingScratch>>,
    pairs: Vec<Pair>,
}

struct Pair {
    geoms: [usize; 2],
    contacts: GeomContacts,
    /// Steps in contact so far; zero where they do not touch.
    steps: usize,
    from_before: bool,
    ended_steps: usize,
    touches: bool,
}

impl PairGathering {
    /// For a system with articulated bodies.
    pub fn new(system: &System) -> Option<Self> {
        let a = system.articulated()?;
        let ctrl = vec![0.0; a.tree().actuators.len()];
        let (workspace, coupled) = (a.mechanism().workspace(), system.coupling_scratch());
        Some(Self { workspace, ctrl, coupled, pairs: Vec::new() })
    }

    /// Takes in the next state. One that cannot be evaluated is passed over: the step says what is
    /// wrong with it.
    pub fn push(&mut self, system: &System, c: &Constants, state: &State, started: bool) {
        let Some(a) = system.articulated() else { return };
        let (mechanism, tree) = (a.mechanism(), a.tree());
        let soft = system.soft_len();
        let own = &state.act[..tree.na];
        let (qpos, qvel) = (&state.q[soft..], &state.v[soft..]);
        if let Some(coupled) = &mut self.coupled {
            system.find_applied(c, state, coupled);
        }
        let applied = crate::coupling::applied(&self.coupled);
        let at = At { qpos, qvel, act: own, ctrl: &self.ctrl, applied };
        let constants = &c.values[system.layout().rigid.clone()];
        let h = tree.options.timestep;
        if mechanism.look(constants, at, &mut self.workspace).is_err() {
            return;
        }
        let stage = &self.workspace.evaluation.stage.constraints;
        self.pairs.iter_mut().for_each(|pair| pair.touches = false);
        let mut closed = Vec::new();
        for (i, depth, approach) in stage.approaches(tree.options.elliptic) {
            let contact = &stage.contacts[i];
            let geoms = contact.candidate.geoms;
            let name = |g: usize| system.geom_name(g);
            let at = self.pairs.iter().position(|pair| pair.geoms == geoms).unwrap_or_else(|| {
                self.pairs.push(Pair::new(
                    geoms,
                    format!("{} and geom.{}", name(geoms[0]), name(geoms[1])),
                ));
                self.pairs.len() - 1
            });
            let pair = &mut self.pairs[at];
            pair.touches = true;
            if started && approach > 0.0 && depth <= h * approach {
                pair.contacts.onsets += 1;
                let solimp = contact.parameters.solver.solimp;
                if solimp[0] > JUMPS {
                    closed.push((i, at));
                } else {
                    let crossing = solimp[2] / (h * approach);
                    let least = pair.contacts.ramp_steps.unwrap_or(crossing);
                    pair.contacts.ramp_steps = Some(least.min(crossing));
                }
            }
        }
        for pair in &mut self.pairs {
            pair.count(started);
        }
        if closed.is_empty() {
            return;
        }
        for onset in mechanism.onsets(constants, at, &mut self.workspace).unwrap_or_default() {
            let Some((_, at)) = closed.iter().find(|(i, _)| *i == onset.contact) else { continue };
            let jump = onset.jump.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let contacts = &mut self.pairs[*at].contacts;
            if jump > 0.0 {
                contacts.jumps += 1;
                contacts.largest_jump = contacts.largest_jump.max(jump);
                contacts.largest_jump_rate = contacts.largest_jump_rate.max(jump / onset.approach);
            }
        }
    }

    /// What was seen of every pair that touched.
    pub fn finish(self) -> impl Iterator<Item = GeomContacts> {
        self.pairs.into_iter().map(|pair| pair.contacts)
    }
}

impl Pair {
    fn new(geoms: [usize; 2], name: String) -> Self {
        let contacts = GeomContacts::new(name, LAW);
        Self { geoms, contacts, steps: 0, from_before: false, ended_steps: 0, touches: false }
    }

    fn count(&mut self, started: bool) {
        if self.touches {
            self.from_before |= !started;
            self.steps += 1;
            return;
        }
        if self.steps > 0 && !self.from_before {
            self.ended_steps += self.steps;
            self.contacts.end(self.steps, self.ended_steps);
        }
        (self.steps, self.from_before) = (0, false);
    }
}
