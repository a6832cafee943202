//! Which constant follows from which leaves: the list of steps, made once from the structure.

use costate_model::rigid as m;
use costate_model::{LeafId, Leaves, Model};

use super::super::constants::{Block, Layout};
use super::super::tree::Tree;
use super::CompileError;
use super::inertia::{Bound, PrincipalAxes, Ten, TotalMass};
use super::op::{Kind, Op};
use super::reference_pose::{Results, Wanted};

/// A step of the derivation. Its variables lie in one array: θ, the constants, what lies between.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A small function.
    Op(Op),
    /// Least mass and inertia, and balance.
    Bound(Bound),
    /// Total mass.
    TotalMass(TotalMass),
    /// Orientation of principal axes.
    PrincipalAxes(PrincipalAxes),
    /// What follows at the reference pose; its results start at the index.
    ReferencePose(usize),
}

/// The list of steps.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub steps: Vec<Step>,
    /// The variables at the start: zeros, and constants that do not follow from leaves.
    pub template: Vec<f64>,
    /// How many numbers θ has.
    pub theta: usize,
    pub wanted: Wanted,
}

/// A plan in the making.
struct Planner<'a> {
    leaves: &'a Leaves,
    a: &'a m::Articulation,
    tree: &'a Tree,
    layout: &'a Layout,
    plan: Plan,
    /// What is added to damping, after all else that sets it.
    added_damping: Vec<Op>,
}

impl Plan {
    pub fn new(
        model: &Model,
        a: &m::Articulation,
        tree: &Tree,
        layout: &Layout,
    ) -> Result<Self, CompileError> {
        let theta = model.leaves.theta_len();
        let plan = Self {
            steps: Vec::new(),
            template: vec![0.0; theta + layout.len],
            theta,
            wanted: Wanted::default(),
        };
        let leaves = &model.leaves;
        let added_damping = Vec::new();
        let mut p = Planner { leaves, a, tree, layout, plan, added_damping };
        let gravity = p.c(layout.gravity, 0);
        p.copy(model.options.gravity, gravity);
        p.bodies()?;
        p.joints()?;
        p.pairs();
        p.sites();
        p.tendons()?;
        p.actuators()?;
        p.equalities();
        p.reference_pose();
        let added = std::mem::take(&mut p.added_damping);
        p.plan.steps.extend(added.into_iter().map(Step::Op));
        Ok(p.plan)
    }
}

impl Planner<'_> {
    /// Place of entry `i` of a block of constants.
    fn c(&self, block: Block, i: usize) -> usize {
        self.plan.theta + block.at(i)
    }

    /// Places of a leaf's numbers.
    fn at(&self, id: LeafId) -> Vec<usize> {
        self.leaves.range(id).collect()
    }

    /// New variables.
    fn new_places(&mut self, n: usize) -> Vec<usize> {
        let start = self.plan.template.len();
        self.plan.template.resize(start + n, 0.0);
        (start..start + n).collect()
    }

    fn op(&mut self, kind: Kind, inputs: Vec<usize>, outputs: Vec<usize>) {
        self.plan.steps.push(Step::Op(Op { kind, inputs, outputs }));
    }

    /// Copies a leaf to the constants from `to` on.
    fn copy(&mut self, id: LeafId, to: usize) {
        let from = self.at(id);
        let to = (to..to + from.len()).collect();
        self.op(Kind::Copy, from, to);
    }

    fn copy_some(&mut self, id: Option<LeafId>, block: Block, i: usize) {
        if let Some(id) = id {
            let to = self.c(block, i);
            self.copy(id, to);
        }
    }

    fn normalize(&mut self, id: LeafId, to: usize) {
        let from = self.at(id);
        let to = (to..to + from.len()).collect();
        self.op(Kind::Normalize, from, to);
    }

    /// Copies a coefficient and, where it has them, its terms of higher order.
    fn polynomial(&mut self, id: LeafId, first: usize, rest: usize) {
        let from = self.at(id);
        self.op(Kind::Copy, vec![from[0]], vec![first]);
        if from.len() > 1 {
            self.op(Kind::Copy, from[1..].to_vec(), vec![rest, rest + 1]);
        }
    }

    /// Pose of a frame. Where it is given by end points, the half length goes to `half`.
    fn placement(
        &mut self,
        placement: &m::Placement,
        pos: usize,
        quat: usize,
        half: Option<usize>,
    ) {
        match placement {
            m::Placement::Pose { pos: p, quat: q } => {
                self.copy(*p, pos);
                self.normalize(*q, quat);
            }
            m::Placement::FromTo { ends } => {
                let inputs = self.at(*ends);
                let mut outputs: Vec<usize> = (pos..pos + 3).chain(quat..quat + 4).collect();
                outputs.extend(half);
                self.op(Kind::FromTo, inputs, outputs);
            }
        }
    }

    fn bodies(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        let world = self.c(layout.body_quat, 0);
        self.plan.template[world] = 1.0;
        for b in 0..a.bodies.len() {
            let iquat = self.c(layout.body_iquat, b);
            self.plan.template[iquat] = 1.0;
        }
        self.geoms();
        let last: Vec<Ten> = (0..a.bodies.len()).map(|b| self.ten(b)).collect();
        let scales = a.inertia.settotalmass.is_some();
        let rules = a.inertia;
        let bounds = rules.boundmass > 0.0 || rules.boundinertia > 0.0 || rules.balanceinertia;
        let mut scaled = Vec::new();
        for (b, body) in a.bodies.iter().enumerate().skip(1) {
            if let Some(placement) = &body.placement {
                let (pos, quat) = (self.c(layout.body_pos, b), self.c(layout.body_quat, b));
                self.placement(placement, pos, quat, None);
            }
            self.copy_some(body.gravcomp, layout.body_gravcomp, b);
            let mut target = last[b];
            if scales {
                let between = self.new_ten();
                scaled.push((between, target));
                target = between;
            }
            if bounds {
                let between = self.new_ten();
                self.inertial(b, &body.inertial, between);
                self.plan.steps.push(Step::Bound(Bound { rules, from: between, to: target }));
            } else {
                self.inertial(b, &body.inertial, target);
            }
            self.inertial_frame(b, &body.inertial, target);
        }
        if let Some(total) = rules.settotalmass {
            self.plan.steps.push(Step::TotalMass(TotalMass { total, bodies: scaled }));
        }
        Ok(())
    }

    /// Places of mass, centre and inertia of a body.
    fn ten(&self, b: usize) -> Ten {
        let mut ten = [self.c(self.layout.body_mass, b); 10];
        for i in 0..3 {
            ten[1 + i] = self.c(self.layout.body_ipos, b) + i;
        }
        for i in 0..6 {
            ten[4 + i] = self.c(self.layout.body_inertia, b) + i;
        }
        ten
    }

    fn new_ten(&mut self) -> Ten {
        let places = self.new_places(10);
        std::array::from_fn(|i| places[i])
    }

    fn inertial(&mut self, b: usize, inertial: &m::Inertial, to: Ten) {
        match inertial {
            m::Inertial::FromGeoms => {
                let sum = self.sum_of_geoms(b);
                self.op(Kind::AboutCenter, sum, to.to_vec());
            }
            m::Inertial::GeomsScaled { mass } => {
                let sum = self.sum_of_geoms(b);
                let own = self.new_places(10);
                self.op(Kind::AboutCenter, sum, own.clone());
                let mut inputs = self.at(*mass);
                inputs.extend(own);
                self.op(Kind::ScaleMass, inputs, to.to_vec());
            }
            m::Inertial::Given { mass, ipos, tensor } => {
                self.mass_and_center(*mass, *ipos, &to);
                self.tensor(tensor, &to[4..]);
            }
            m::Inertial::Proportional { mass, ipos, tensor, reference } => {
                self.mass_and_center(*mass, *ipos, &to);
                let own = self.new_places(6);
                self.tensor(tensor, &own);
                let mut inputs = self.at(*mass);
                inputs.extend(own);
                self.op(Kind::Proportional { reference: *reference }, inputs, to[4..].to_vec());
            }
            m::Inertial::PseudoInertia { parameters } => {
                let inputs = self.at(*parameters);
                self.op(Kind::PseudoInertia, inputs, to.to_vec());
            }
        }
    }

    /// Orientation of the principal axes: as given, of the only geom, or of the tensor at `tensor`.
    fn inertial_frame(&mut self, b: usize, inertial: &m::Inertial, tensor: Ten) {
        let at = self.c(self.layout.body_iquat, b);
        match inertial {
            m::Inertial::Given { tensor: m::Tensor::Diagonal { iquat, .. }, .. }
            | m::Inertial::Proportional { tensor: m::Tensor::Diagonal { iquat, .. }, .. } => {
                return self.normalize(*iquat, at);
            }
            m::Inertial::FromGeoms | m::Inertial::GeomsScaled { .. } => {
                let weighs = |geom: &m::Geom| {
                    let (m::GeomMass::Density(id) | m::GeomMass::Mass(id)) = geom.mass;
                    geom.body == b && geom.in_inertia && self.leaves.get(id).at(0) != 0.0
                };
                let mut geoms = (0..self.a.geoms.len()).filter(|&g| weighs(&self.a.geoms[g]));
                match (geoms.next(), geoms.next()) {
                    (None, _) => return,
                    (Some(g), None) => {
                        let from = self.c(self.layout.geom_quat, g);
                        let from = (from..from + 4).collect();
                        return self.op(Kind::Copy, from, (at..at + 4).collect());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        let from = [4, 5, 6, 7, 8, 9].map(|i| tensor[i]);
        let to = [at, at + 1, at + 2, at + 3];
        self.plan.steps.push(Step::PrincipalAxes(PrincipalAxes { from, to }));
    }

    fn mass_and_center(&mut self, mass: LeafId, ipos: LeafId, to: &Ten) {
        let (mass, ipos) = (self.at(mass), self.at(ipos));
        self.op(Kind::Copy, mass, vec![to[0]]);
        self.op(Kind::Copy, ipos, to[1..4].to_vec());
    }

    fn tensor(&mut self, tensor: &m::Tensor, to: &[usize]) {
        match tensor {
            m::Tensor::Diagonal { diagonal, iquat } => {
                let mut inputs = self.at(*diagonal);
                inputs.extend(self.at(*iquat));
                self.op(Kind::TurnDiagonal, inputs, to.to_vec());
            }
            m::Tensor::Full { full } => {
                // MJCF's order is xx, yy, zz, xy, xz, yz.
                let from = self.at(*full);
                let order = [0, 3, 1, 4, 5, 2].map(|i| from[i]);
                self.op(Kind::Copy, order.to_vec(), to.to_vec());
            }
        }
    }

    /// Mass, first moment and inertia about the origin, of all geoms of a body that count.
    fn sum_of_geoms(&mut self, b: usize) -> Vec<usize> {
        let sum = self.new_places(10);
        for (g, geom) in self.a.geoms.iter().enumerate() {
            if geom.body != b || !geom.in_inertia {
                continue;
            }
            let own = self.new_places(10);
            let (id, density) = match geom.mass {
                m::GeomMass::Density(id) => (id, true),
                m::GeomMass::Mass(id) => (id, false),
            };
            let kind = match geom.form {
                m::Form::Mesh(mesh) => {
                    let mesh = &self.a.meshes[mesh];
                    let [xx, yy, zz, xy, xz, yz] = mesh.inertia;
                    let inertia = [xx, xy, yy, xz, yz, zz];
                    let (volume, center) = (mesh.volume, mesh.center);
                    Kind::MeshInertia { volume, center, inertia, density }
                }
                form => Kind::GeomInertia { form, shell: geom.shell, density },
            };
            let mut inputs = self.frame_of_file(g, geom);
            if !matches!(geom.form, m::Form::Mesh(_)) {
                let size = self.c(self.layout.geom_size, g);
                inputs.extend(size..size + 3);
            }
            inputs.extend(self.at(id));
            self.op(kind, inputs, own.clone());
            self.op(Kind::Add, own, sum.clone());
        }
        sum
    }

    /// Places of the pose that the file gives a geom: that of its constants, but for a mesh, whose
    /// constants are about its principal axes.
    fn frame_of_file(&self, g: usize, geom: &m::Geom) -> Vec<usize> {
        if let (m::Form::Mesh(_), m::Placement::Pose { pos, quat }) = (geom.form, &geom.placement) {
            let mut places = self.at(*pos);
            places.extend(self.at(*quat));
            return places;
        }
        let (pos, quat) = (self.c(self.layout.geom_pos, g), self.c(self.layout.geom_quat, g));
        (pos..pos + 3).chain(quat..quat + 4).collect()
    }

    fn geoms(&mut self) {
        let (a, layout) = (self.a, self.layout);
        for (g, geom) in a.geoms.iter().enumerate() {
            let (pos, quat) = (self.c(layout.geom_pos, g), self.c(layout.geom_quat, g));
            let size = self.c(layout.geom_size, g);
            if let Some(id) = geom.size {
                self.copy(id, size);
            }
            let ends = matches!(geom.placement, m::Placement::FromTo { .. });
            let half = match geom.form {
                m::Form::Capsule | m::Form::Cylinder => Some(size + 1),
                m::Form::Box | m::Form::Ellipsoid => {
                    if ends {
                        self.op(Kind::Copy, vec![size], vec![size + 1]);
                    }
                    Some(size + 2)
                }
                _ => None,
            };
            match (geom.form, &geom.placement) {
                (m::Form::Mesh(mesh), m::Placement::Pose { .. }) => {
                    let mesh = &a.meshes[mesh];
                    let kind = Kind::MeshPose { center: mesh.center, quat: mesh.quat };
                    let inputs = self.frame_of_file(g, geom);
                    let outputs = (pos..pos + 3).chain(quat..quat + 4).collect();
                    self.op(kind, inputs, outputs);
                }
                (_, placement) => self.placement(placement, pos, quat, half),
            }
            for (id, block) in [
                (geom.friction, layout.geom_friction),
                (geom.solref, layout.geom_solref),
                (geom.solimp, layout.geom_solimp),
                (geom.solmix, layout.geom_solmix),
                (geom.margin, layout.geom_margin),
                (geom.gap, layout.geom_gap),
            ] {
                self.copy_some(Some(id), block, g);
            }
        }
    }

    fn pairs(&mut self) {
        let layout = self.layout;
        for (p, pair) in self.a.pairs.iter().enumerate() {
            for (id, block) in [
                (pair.friction, layout.pair_friction),
                (pair.solref, layout.pair_solref),
                (pair.solref_friction, layout.pair_solreffriction),
                (pair.solimp, layout.pair_solimp),
                (pair.margin, layout.pair_margin),
                (pair.gap, layout.pair_gap),
            ] {
                self.copy_some(Some(id), block, p);
            }
        }
    }

    fn joints(&mut self) -> Result<(), CompileError> {
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

    fn sites(&mut self) {
        for (s, site) in self.a.sites.iter().enumerate() {
            let pos = self.c(self.layout.site_pos, s);
            let quat = self.c(self.layout.site_quat, s);
            self.placement(&site.placement, pos, quat, None);
        }
    }

    fn tendons(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        for (t, tendon) in a.tendons.iter().enumerate() {
            if self.leaves.get(tendon.armature).at(0) != 0.0 {
                return Err(CompileError::NotSimulated {
                    element: format!("tendon.{}", tendon.name),
                    what: "the armature of tendons",
                });
            }
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

    fn actuators(&mut self) -> Result<(), CompileError> {
        let (a, layout) = (self.a, self.layout);
        for (i, actuator) in a.actuators.iter().enumerate() {
            let gear = self.c(layout.actuator_gear, i);
            self.plan.template[gear] = 1.0;
            self.copy(actuator.gear, gear);
            for (id, block) in [
                (actuator.control_range, layout.actuator_ctrlrange),
                (actuator.force_range, layout.actuator_forcerange),
                (actuator.activation_range, layout.actuator_actrange),
                (actuator.length_range, layout.actuator_lengthrange),
            ] {
                self.copy_some(id, block, i);
            }
            self.added_to_joint(actuator, gear)?;
            self.law(i, actuator);
        }
        Ok(())
    }

    /// Damping and armature of an actuator, which its joint or tendon gets times gear².
    fn added_to_joint(&mut self, actuator: &m::Actuator, gear: usize) -> Result<(), CompileError> {
        let layout = self.layout;
        let zero = |id: LeafId| self.leaves.get(id).values.iter().all(|x| *x == 0.0);
        let refuse = |what: &'static str| {
            let element = format!("actuator.{}", actuator.name);
            Err(CompileError::NotSimulated { element, what })
        };
        let mut targets = None;
        match actuator.transmission {
            m::Transmission::Joint { joint, .. } if self.a.joints[joint].kind.is_scalar() => {
                let dof = self.tree.joints[joint].dof;
                let at = |block| self.c(block, dof);
                targets = Some((
                    at(layout.dof_damping),
                    at(layout.dof_dampingpoly),
                    Some(at(layout.dof_armature)),
                ));
            }
            m::Transmission::Tendon { tendon } => {
                if !zero(actuator.armature) {
                    return refuse("armature that acts through a tendon");
                }
                let at = |block| self.c(block, tendon);
                targets = Some((at(layout.tendon_damping), at(layout.tendon_dampingpoly), None));
            }
            _ => {}
        }
        let Some((damping, poly, armature)) = targets else {
            if !zero(actuator.armature) || !zero(actuator.damping) {
                return refuse(
                    "damping or armature of an actuator that is not on a slide or hinge",
                );
            }
            return Ok(());
        };
        let mut inputs = vec![gear];
        inputs.extend(self.at(actuator.damping));
        let outputs = [damping, poly, poly + 1][..inputs.len() - 1].to_vec();
        self.added_damping.push(Op { kind: Kind::AddByGear, inputs, outputs });
        if let Some(armature) = armature {
            let mut inputs = vec![gear];
            inputs.extend(self.at(actuator.armature));
            self.op(Kind::AddByGear, inputs, vec![armature]);
        }
        Ok(())
    }

    fn law(&mut self, i: usize, actuator: &m::Actuator) {
        let layout = self.layout;
        let (dynamics, gain, bias) = (
            self.c(layout.actuator_dynprm, i),
            self.c(layout.actuator_gainprm, i),
            self.c(layout.actuator_biasprm, i),
        );
        self.plan.template[dynamics] = 1.0;
        self.plan.template[gain] = 1.0;
        let negate = |p: &mut Self, id: LeafId, to: usize| {
            let from = p.at(id);
            p.op(Kind::Negate, from, vec![to]);
        };
        match &actuator.law {
            m::ActuatorLaw::General { dynprm, gainprm, biasprm, .. } => {
                self.copy(*dynprm, dynamics);
                self.copy(*gainprm, gain);
                self.copy(*biasprm, bias);
            }
            m::ActuatorLaw::Motor => {}
            m::ActuatorLaw::Position { kp, damping, timeconst } => {
                if let Some(id) = timeconst {
                    self.copy(*id, dynamics);
                }
                self.copy(*kp, gain);
                negate(self, *kp, bias + 1);
                if let m::ServoDamping::Kv(kv) = damping {
                    negate(self, *kv, bias + 2);
                }
            }
            m::ActuatorLaw::IntVelocity { kp, damping } => {
                self.copy(*kp, gain);
                negate(self, *kp, bias + 1);
                if let m::ServoDamping::Kv(kv) = damping {
                    negate(self, *kv, bias + 2);
                }
            }
            m::ActuatorLaw::Velocity { kv } => {
                self.copy(*kv, gain);
                negate(self, *kv, bias + 2);
            }
            m::ActuatorLaw::Damper { kv } => {
                self.plan.template[gain] = 0.0;
                negate(self, *kv, gain + 2);
            }
            m::ActuatorLaw::Cylinder { timeconst, area, by_diameter, bias: b } => {
                self.copy(*timeconst, dynamics);
                if *by_diameter {
                    let from = self.at(*area);
                    self.op(Kind::Disc, from, vec![gain]);
                } else {
                    self.copy(*area, gain);
                }
                self.copy(*b, bias);
            }
            m::ActuatorLaw::Muscle { timeconst, tausmooth, curve } => {
                self.copy(*timeconst, dynamics);
                self.copy(*tausmooth, dynamics + 2);
                let mut next = 0;
                for id in curve {
                    self.copy(*id, gain + next);
                    self.copy(*id, bias + next);
                    next += self.at(*id).len();
                }
            }
        }
    }

    fn equalities(&mut self) {
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

    /// What follows at the reference pose, and what follows from that.
    fn reference_pose(&mut self) {
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
