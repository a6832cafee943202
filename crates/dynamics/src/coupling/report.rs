//! Which vertices touch articulated bodies, and how.

use costate_model::State;

use super::CouplingScratch;
use crate::constants::Constants;
use crate::contact::Touch;
use crate::system::System;

impl System {
    /// Geoms of articulated bodies that vertices touch, with the names of their laws.
    pub(crate) fn coupled_geoms(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let surfaces = self.coupling.iter().flat_map(|coupling| &coupling.surfaces);
        surfaces.map(|s| (&*s.name, s.pair.law()))
    }

    /// Calls `visit(surface, touch)` for every vertex that touches an articulated body at a state, in order.
    pub(crate) fn coupled_touches(
        &self,
        c: &Constants,
        state: &State,
        scratch: &mut CouplingScratch,
        mut visit: impl FnMut(usize, Touch),
    ) {
        let (Some(coupling), Some(at)) = (&self.coupling, self.coupled_at(c, state)) else {
            return;
        };
        coupling.find(at, scratch);
        for t in &scratch.touching {
            let (meeting, _) = coupling.meeting(at, scratch, *t);
            let pair = &coupling.surfaces[t.surface].pair;
            let push = pair.force(&meeting);
            visit(
                t.surface,
                Touch {
                    vertex: t.vertex,
                    depth: t.depth,
                    approach: meeting.approach(t.normal),
                    normal: t.normal,
                    force: push.norm(),
                    push,
                    jump: pair.force_at_onset(&meeting, t.normal).norm(),
                    ramp: meeting.parameters.ramp,
                },
            );
        }
    }
}
