//! Joints and their degrees of freedom.

use costate_model::rigid as m;

use super::super::CompileError;
use super::super::op::Kind;
use super::Planner;

impl Planner<'_> {
    pub(super) fn joints(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        for (j, joint) in a.joints.iter().enumerate() {
            let axis = self.c(layout.jnt_axis, j);
            match joint.axis {
                Some(id) => self.normalize(id, axis),
                None => self.plan.template[axis + 2] = 1.0,
            }
            self.copy_some(joint.pos, layout.jnt_pos, j);
            let (k, rest) = (self.c(layout.jnt_stiffness, j), self.c(layout.jnt_stiffnesspoly, j));
            self.polynomial(joint.stiffness, k, rest);
            self.copy_some(Some(joint.range), layout.jnt_range, j);
            self.copy_some(Some(joint.margin), layout.jnt_margin, j);
            self.copy_some(Some(joint.solref_limit), layout.jnt_solref, j);
            self.copy_some(Some(joint.solimp_limit), layout.jnt_solimp, j);
            self.copy_some(joint.actuator_force_range, layout.jnt_actfrcrange, j);
            let (q, dof) = (self.tree.joints[j].qpos, self.tree.joints[j].dof);
            for (block, id) in
                [(layout.qpos0, joint.reference), (layout.qpos_spring, joint.springref)]
            {
                let at = self.c(block, q);
                match (joint.kind, id) {
                    (_, Some(id)) => self.copy(id, at),
                    (m::JointKind::Ball, None) => self.plan.template[at] = 1.0,
                    (_, None) => {
                        let pos = self.c(layout.body_pos, joint.body);
                        let quat = self.c(layout.body_quat, joint.body);
                        let from = (pos..pos + 3).chain(quat..quat + 4).collect();
                        self.op(Kind::Copy, from, (at..at + 7).collect());
                    }
                }
            }
            for i in dof..dof + joint.kind.nv() {
                let (d, rest) = (self.c(layout.dof_damping, i), self.c(layout.dof_dampingpoly, i));
                self.polynomial(joint.damping, d, rest);
                self.copy_some(Some(joint.armature), layout.dof_armature, i);
                self.copy_some(Some(joint.frictionloss), layout.dof_frictionloss, i);
                self.copy_some(Some(joint.solref_friction), layout.dof_solref, i);
                self.copy_some(Some(joint.solimp_friction), layout.dof_solimp, i);
            }
        }
        Ok(())
    }
}
