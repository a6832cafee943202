//! Energy and forces of the coupling at a state, for observations.

use costate_model::State;
use costate_num::Vec3;

use super::pair::{Meeting, MeetingGradient};
use super::pull::CoupledAdjoints;
use super::{CouplingScratch, Touching};
use crate::constants::Constants;
use crate::contact::force::add3;
use crate::system::System;

impl System {
    /// Energy of the contact springs between vertices and articulated bodies at a state, J; its derivatives
    /// are added where they are asked for.
    pub(crate) fn coupled_energy(
        &self,
        c: &Constants,
        state: &State,
        scratch: &mut CouplingScratch,
        out: Option<CoupledAdjoints>,
    ) -> f64 {
        let (Some(coupling), Some(at)) = (&self.coupling, self.coupled_at(c, state)) else {
            return 0.0;
        };
        coupling.find(at, scratch);
        let energy = |m: &Meeting<f64>, t: Touching| coupling.surfaces[t.surface].pair.energy(m);
        let each = |t: &Touching| energy(&coupling.meeting(at, scratch, *t).0, *t).0;
        let sum = scratch.touching.iter().map(each).sum();
        if let Some(out) = out {
            let gradient =
                |m: &Meeting<f64>, t: Touching, _: Vec3<f64>| -> MeetingGradient { energy(m, t).1 };
            let starts = [self.layout.rigid.start, self.layout.coupling.start];
            coupling.pull(at, &[], None, scratch, starts, gradient, out);
        }
        sum
    }

    /// Forces of one surface on the vertices at a state, added to `f`.
    pub(crate) fn coupled_forces(
        &self,
        c: &Constants,
        state: &State,
        surface: usize,
        f: &mut [f64],
        scratch: &mut CouplingScratch,
    ) {
        let (Some(coupling), Some(at)) = (&self.coupling, self.coupled_at(c, state)) else {
            return;
        };
        coupling.find(at, scratch);
        for t in scratch.touching.iter().filter(|t| t.surface == surface) {
            let (meeting, _) = coupling.meeting(at, scratch, *t);
            add3(f, t.vertex, coupling.surfaces[surface].pair.force(&meeting));
        }
    }
}
