//! What the contacts of a run were like, and what that means for derivatives.

use costate_model::State;

use super::laws::{ContactLaw, Smooth};
use super::onset::Touch;
use super::pairs::{self, PairGathering};
use crate::constants::Constants;
use crate::coupling::CouplingScratch;
use crate::force::At;
use crate::system::System;

/// Contacts of fewer steps than this are warned of: a linear contact of n steps has a saw-tooth of
/// relative order π²/2n in derivatives by what moves its onset.
pub const FEW_STEPS: usize = 20;
/// A ramp crossed in fewer steps than this acts as a jump.
pub const FEW_RAMP_STEPS: f64 = 4.0;

/// The contacts of the soft vertices with one geom during a run, or of two geoms of articulated bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct GeomContacts {
    /// Name of the geom, or of the pair: `A and geom.B`.
    pub geom: String,
    /// Name of its contact law.
    pub law: &'static str,
    /// How often a vertex, or a point of two geoms, came into contact.
    pub onsets: usize,
    /// How many of these contacts ended within the run.
    pub ended: usize,
    /// Steps in the shortest of those.
    pub fewest_steps: Option<usize>,
    /// Mean steps of those.
    pub mean_steps: Option<f64>,
    /// Steps in which the fastest vertex to come in crosses the ramp (law "smooth").
    pub ramp_steps: Option<f64>,
    /// How many onsets made the force jump, so that a loss jumps whenever one of them moves by a
    /// whole step.
    pub jumps: usize,
    /// Largest jump of the force at an onset over the vertex's mass, Δf/m, m/s²; of articulated bodies, of an
    /// acceleration of any degree of freedom.
    pub largest_jump: f64,
    /// Largest (Δf/m)/ġ, 1/s: times the time since, what derivatives lack without the saltation
    /// term, relative to how far the surface moves.
    pub largest_jump_rate: f64,
    /// Largest contact force over mass, m/s²; of soft vertices only.
    pub largest_force: f64,
}

/// The contacts of a run, geom by geom, and the warnings that follow from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactReport {
    /// One entry per geom, in order.
    pub geoms: Vec<GeomContacts>,
    /// Whether derivatives had the saltation term.
    pub saltation: bool,
}

impl ContactReport {
    /// One sentence or two for everything that makes derivatives of this run doubtful.
    pub fn warnings(&self) -> Vec<String> {
        self.geoms.iter().flat_map(|geom| geom.warnings(self.saltation)).collect()
    }
}

impl GeomContacts {
    pub(super) fn new(geom: String, law: &'static str) -> Self {
        Self {
            geom,
            law,
            onsets: 0,
            ended: 0,
            fewest_steps: None,
            mean_steps: None,
            ramp_steps: None,
            jumps: 0,
            largest_jump: 0.0,
            largest_jump_rate: 0.0,
            largest_force: 0.0,
        }
    }

    /// Counts a contact that ended after `steps`, `all` being the steps of all that ended.
    pub(super) fn end(&mut self, steps: usize, all: usize) {
        self.ended += 1;
        self.mean_steps = Some(all as f64 / self.ended as f64);
        self.fewest_steps = Some(self.fewest_steps.unwrap_or(steps).min(steps));
    }

    fn warnings(&self, saltation: bool) -> Vec<String> {
        let Self { geom, law, onsets, .. } = self;
        let mut out = Vec::new();
        if self.jumps > 0 {
            let jump = self.largest_jump;
            let rigid = *law == pairs::LAW;
            let size = if rigid {
                format!("{jump:.3} m/s^2 or rad/s^2")
            } else {
                let share = 100.0 * jump / self.largest_force.max(jump);
                format!("{jump:.3} m/s^2 ({share:.0} % of the largest contact force)")
            };
            let way_out = if rigid { "a solimp that begins at 0" } else { "the law \"smooth\"" };
            let effect = if saltation {
                "derivatives include the jump (saltation) term, but a loss still jumps with every \
                 whole step by which an onset moves"
                    .to_string()
            } else {
                format!(
                    "a loss jumps with every whole step by which an onset moves, and derivatives by \
                     whatever moves an onset lack up to {:.3} 1/s times the time since: use \
                     {way_out} or the saltation option",
                    self.largest_jump_rate
                )
            };
            out.push(format!(
                "geom.{geom}: the force of the contact law \"{law}\" jumped at {} of {onsets} onsets, \
                 by up to {size}: {effect}",
                self.jumps
            ));
        }
        if let Some(fewest) = self.fewest_steps.filter(|n| *n < FEW_STEPS) {
            out.push(format!(
                "geom.{geom}: contacts last as few as {fewest} steps ({:.0} on average of {}): \
                 derivatives by whatever moves an onset are coarse; take a smaller step or a softer \
                 contact",
                self.mean_steps.unwrap_or(fewest as f64),
                self.ended
            ));
        }
        if let Some(steps) = self.ramp_steps.filter(|n| *n < FEW_RAMP_STEPS) {
            out.push(format!(
                "geom.{geom}: the fastest vertex to come in crosses the contact ramp in {steps:.2} \
                 steps, so that the force all but jumps; take a smaller step or a deeper ramp"
            ));
        }
        out
    }
}

/// Gathers a [`ContactReport`] state by state, in order of time.
pub struct ContactMonitor<'a> {
    system: &'a System,
    geoms: Vec<Gathering>,
    /// The geoms of articulated bodies that vertices touch.
    surfaces: Vec<Gathering>,
    /// What touches now, geom by geom.
    touches: Vec<Vec<Touch>>,
    coupled: Option<Box<CouplingScratch>>,
    pairs: Option<PairGathering>,
    started: bool,
}

struct Gathering {
    /// Index of the force, or of the geom among those of articulated bodies.
    index: usize,
    contacts: GeomContacts,
    /// Steps in contact so far per vertex; zero where it does not touch.
    steps: Vec<usize>,
    /// Contacts that began before the run, per vertex.
    from_before: Vec<bool>,
    ended_steps: usize,
}

impl<'a> ContactMonitor<'a> {
    /// A monitor that has seen nothing.
    pub fn new(system: &'a System) -> Self {
        let forces = system.forces().iter().enumerate();
        let geoms = forces
            .filter_map(|(i, force)| Some((i, force.onset()?)))
            .map(|(i, onset)| Gathering::new(system, i, onset.geom(), onset.law()))
            .collect();
        let of_bodies = system.coupled_geoms().enumerate();
        let surfaces: Vec<Gathering> =
            of_bodies.map(|(i, (geom, law))| Gathering::new(system, i, geom, law)).collect();
        let touches = vec![Vec::new(); surfaces.len().max(1)];
        let (coupled, pairs) = (system.coupling_scratch(), PairGathering::new(system));
        Self { system, geoms, surfaces, touches, coupled, pairs, started: false }
    }

    /// Takes in the next state.
    pub fn push(&mut self, c: &Constants, state: &State) {
        let at = At { x: &state.q, v: &state.v, u: &[] };
        let layout = self.system.layout();
        let inverse_mass = &c.values[layout.inverse_mass.clone()];
        let h = self.system.timestep();
        for geom in &mut self.geoms {
            let Some(onset) = self.system.forces()[geom.index].onset() else { continue };
            let touches = &mut self.touches[0];
            touches.clear();
            onset.touches(&c.values[layout.forces[geom.index].clone()], at, touches);
            geom.push(touches, inverse_mass, h, self.started);
        }
        if let Some(scratch) = &mut self.coupled {
            self.touches.iter_mut().for_each(Vec::clear);
            let touches = &mut self.touches;
            let list = |surface: usize, touch: Touch| touches[surface].push(touch);
            self.system.coupled_touches(c, state, scratch, list);
            for geom in &mut self.surfaces {
                geom.push(&self.touches[geom.index], inverse_mass, h, self.started);
            }
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.push(self.system, c, state, self.started);
        }
        self.started = true;
    }

    /// The report on everything seen.
    pub fn finish(self) -> ContactReport {
        let soft = self.geoms.into_iter().chain(self.surfaces).map(|g| g.contacts);
        let rigid = self.pairs.into_iter().flat_map(PairGathering::finish);
        ContactReport {
            geoms: soft.chain(rigid).collect(),
            saltation: self.system.model().options.saltation,
        }
    }
}

impl Gathering {
    fn new(system: &System, index: usize, geom: &str, law: &'static str) -> Self {
        Self {
            index,
            contacts: GeomContacts::new(geom.into(), law),
            steps: vec![0; system.vertex_count()],
            from_before: vec![false; system.vertex_count()],
            ended_steps: 0,
        }
    }

    fn push(&mut self, touches: &[Touch], inverse_mass: &[f64], h: f64, started: bool) {
        let mut now = touches.iter().peekable();
        let contacts = &mut self.contacts;
        for vertex in 0..self.steps.len() {
            let touch = now.next_if(|t| t.vertex == vertex);
            let steps = self.steps[vertex];
            let Some(touch) = touch else {
                if steps > 0 {
                    if !self.from_before[vertex] {
                        self.ended_steps += steps;
                        contacts.end(steps, self.ended_steps);
                    }
                    self.steps[vertex] = 0;
                    self.from_before[vertex] = false;
                }
                continue;
            };
            self.steps[vertex] += 1;
            let w = inverse_mass[vertex];
            contacts.largest_force = contacts.largest_force.max(w * touch.force);
            if steps > 0 {
                continue;
            }
            if !started {
                self.from_before[vertex] = true;
                continue;
            }
            contacts.onsets += 1;
            if touch.approach <= 0.0 || w == 0.0 {
                continue;
            }
            if touch.jump > 0.0 {
                contacts.jumps += 1;
                contacts.largest_jump = contacts.largest_jump.max(w * touch.jump);
                let rate = w * touch.jump / touch.approach;
                contacts.largest_jump_rate = contacts.largest_jump_rate.max(rate);
            }
            if contacts.law == Smooth::NAME {
                let crossing = touch.ramp / (h * touch.approach);
                let least = contacts.ramp_steps.unwrap_or(crossing);
                contacts.ramp_steps = Some(least.min(crossing));
            }
        }
    }
}

impl System {
    /// What the contacts of a run were like; `states` are all its states, step by step.
    pub fn contact_report(&self, c: &Constants, states: &[State]) -> ContactReport {
        let mut monitor = ContactMonitor::new(self);
        for state in states {
            monitor.push(c, state);
        }
        monitor.finish()
    }
}
