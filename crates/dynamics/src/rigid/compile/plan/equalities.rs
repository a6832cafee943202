//! Equality constraints.

use costate_model::rigid as m;

use super::super::op::Kind;
use super::Planner;

impl Planner<'_> {
    pub(super) fn equalities(&mut self) {
        let (a, layout) = (self.a, self.layout);
        for (e, equality) in a.equalities.iter().enumerate() {
            let data = self.c(layout.eq_data, e);
            // MuJoCo's default of the scale of torques, which only welds have.
            self.plan.template[data + 10] = 1.0;
            self.copy_some(Some(equality.solref), layout.eq_solref, e);
            self.copy_some(Some(equality.solimp), layout.eq_solimp, e);
            match &equality.kind {
                m::EqualityKind::Connect { place, anchor } => {
                    if let Some(id) = anchor {
                        self.copy(*id, data);
                    }
                    if let m::Place::Bodies(bodies) = place {
                        self.plan.wanted.connects.push((e, *bodies));
                    }
                }
                m::EqualityKind::Weld { place, anchor, relpose, torquescale } => {
                    if let Some(id) = anchor {
                        self.copy(*id, data);
                    }
                    self.copy(*torquescale, data + 10);
                    match (place, relpose) {
                        (_, Some(id)) => {
                            let from = self.at(*id);
                            let to = (data + 3..data + 6).collect();
                            self.op(Kind::Copy, from[..3].to_vec(), to);
                            let to = (data + 6..data + 10).collect();
                            self.op(Kind::Normalize, from[3..].to_vec(), to);
                        }
                        (m::Place::Bodies(bodies), None) => {
                            self.plan.wanted.welds.push((e, *bodies));
                        }
                        (m::Place::Sites(_), None) => {}
                    }
                }
                m::EqualityKind::Joint { polycoef, .. }
                | m::EqualityKind::Tendon { polycoef, .. } => self.copy(*polycoef, data),
            }
        }
    }
}
