//! Tendons.

use costate_model::rigid as m;

use super::super::CompileError;
use super::super::op::Kind;
use super::Planner;
use crate::rigid::armature::may_have;

impl Planner<'_> {
    pub(super) fn tendons(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        for (t, tendon) in a.tendons.iter().enumerate() {
            if self.leaves.get(tendon.armature).at(0) != 0.0 && !may_have(self.tree, t) {
                return Err(CompileError::NotSimulated {
                    element: format!("tendon.{}", tendon.name),
                    what: "armature of tendons around geoms, which MuJoCo refuses too",
                });
            }
            self.copy_some(Some(tendon.armature), layout.tendon_armature, t);
            let first = self.tree.tendons[t].wraps.start;
            match &tendon.path {
                m::TendonPath::Fixed { coef, .. } => {
                    let to = self.c(layout.wrap_prm, first);
                    self.copy(*coef, to);
                }
                m::TendonPath::Spatial { wraps, pulleys } => {
                    for (w, wrap) in wraps.iter().enumerate() {
                        if let (m::Wrap::Pulley { index }, Some(pulleys)) = (wrap, pulleys) {
                            let from = self.at(*pulleys)[*index];
                            let to = self.c(layout.wrap_prm, first + w);
                            self.op(Kind::Copy, vec![from], vec![to]);
                        }
                    }
                }
            }
            let k = self.c(layout.tendon_stiffness, t);
            let rest = self.c(layout.tendon_stiffnesspoly, t);
            self.polynomial(tendon.stiffness, k, rest);
            let (d, rest) =
                (self.c(layout.tendon_damping, t), self.c(layout.tendon_dampingpoly, t));
            self.polynomial(tendon.damping, d, rest);
            match tendon.springlength {
                Some(_) => self.copy_some(tendon.springlength, layout.tendon_lengthspring, t),
                None => self.plan.wanted.resting.push(t),
            }
            for (id, block) in [
                (Some(tendon.frictionloss), layout.tendon_frictionloss),
                (Some(tendon.range), layout.tendon_range),
                (Some(tendon.margin), layout.tendon_margin),
                (Some(tendon.solref_limit), layout.tendon_solref_lim),
                (Some(tendon.solimp_limit), layout.tendon_solimp_lim),
                (Some(tendon.solref_friction), layout.tendon_solref_fri),
                (Some(tendon.solimp_friction), layout.tendon_solimp_fri),
                (tendon.actuator_force_range, layout.tendon_actfrcrange),
            ] {
                self.copy_some(id, block, t);
            }
        }
        Ok(())
    }
}
