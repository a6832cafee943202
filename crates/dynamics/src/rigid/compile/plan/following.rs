//! What follows at the reference pose, and what follows from that.

use costate_model::rigid as m;

use super::super::op::Kind;
use super::super::reference_pose::Results;
use super::{Planner, Step};

impl Planner<'_> {
    /// What follows at the reference pose, and what follows from that.
    pub(super) fn reference_pose(&mut self) {
        let (a, tree, layout) = (self.a, self.tree, self.layout);
        let mut places = Results::<f64>::new(tree, &self.plan.wanted);
        let mut flat = Vec::new();
        places.flatten(&mut flat);
        let start = self.new_places(flat.len()).first().copied().unwrap_or(0);
        self.plan.steps.push(Step::ReferencePose(start));
        // The places of the results, in the shape of the results.
        let numbers: Vec<f64> = (0..flat.len()).map(|i| (start + i) as f64).collect();
        places.unflatten(&numbers);
        let copy = |p: &mut Self, from: &[f64], to: usize| {
            let from: Vec<usize> = from.iter().map(|x| *x as usize).collect();
            let to = (to..to + from.len()).collect();
            p.op(Kind::Copy, from, to);
        };
        for (b, pair) in places.body.iter().enumerate() {
            let to = self.c(layout.body_invweight0, b);
            copy(self, pair, to);
        }
        for (values, block) in [
            (&places.dof, layout.dof_invweight0),
            (&places.tendon, layout.tendon_invweight0),
            (&places.length, layout.tendon_length0),
            (&places.acceleration, layout.actuator_acc0),
        ] {
            let to = self.c(block, 0);
            copy(self, values, to);
        }
        for (n, &t) in self.plan.wanted.resting.clone().iter().enumerate() {
            let to = self.c(layout.tendon_lengthspring, t);
            copy(self, &places.resting[n..=n], to);
            copy(self, &places.resting[n..=n], to + 1);
        }
        for (n, &(e, _)) in self.plan.wanted.connects.clone().iter().enumerate() {
            let to = self.c(layout.eq_data, e) + 3;
            copy(self, &places.connects[n], to);
        }
        for (n, &(e, _)) in self.plan.wanted.welds.clone().iter().enumerate() {
            let to = self.c(layout.eq_data, e) + 3;
            copy(self, &places.welds[n], to);
        }
        for (j, joint) in a.joints.iter().enumerate() {
            let Some(id) = joint.springdamper else { continue };
            let dofs = tree.joints[j].dof..tree.joints[j].dof + joint.kind.nv();
            let mut inputs = self.at(id);
            inputs.extend(dofs.clone().map(|i| self.c(layout.dof_invweight0, i)));
            let mut outputs = vec![self.c(layout.jnt_stiffness, j)];
            outputs.extend(dofs.map(|i| self.c(layout.dof_damping, i)));
            self.op(Kind::SpringDamper, inputs, outputs);
        }
        for (i, actuator) in a.actuators.iter().enumerate() {
            let (m::ActuatorLaw::Position { kp, damping, .. }
            | m::ActuatorLaw::IntVelocity { kp, damping }) = &actuator.law
            else {
                continue;
            };
            let m::ServoDamping::Ratio(ratio) = damping else { continue };
            let mut inputs = self.at(*ratio);
            inputs.extend(self.at(*kp));
            inputs.push(places.actuator[i] as usize);
            let to = self.c(layout.actuator_biasprm, i) + 2;
            self.op(Kind::ServoDamping, inputs, vec![to]);
        }
    }
}
