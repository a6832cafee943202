//! The articulated bodies of a system: where they are in its state, its constants and its inputs.

use std::ops::Range;

use costate_model::rigid::{ActuatorSettings, Transmission};
use costate_model::{Model, State};
use costate_num::{Dual, Quat, Scalar, Vec3};

use crate::constants::{Constants, Layout, RigidSizes};
use crate::control::Control;
use crate::driven::Driven;
use crate::error::DynamicsError;
use crate::rigid::collision::unsupported;
use crate::rigid::integrate::{lift_tangent, lower_adjoint};
use crate::rigid::{
    Adjoint, At, CompileError, Derivation, JointKind, Mechanism, PushWorkspace, RigidError,
    RigidState, RigidTangents, RigidWorkspace, Tree,
};
use crate::step::{InputAdjoints, StateAdjoint, StateTangents, StepInputs};
use crate::system::{System, Workspace};

/// The articulated bodies of a system.
pub struct Articulated {
    /// The step.
    pub(crate) mechanism: Mechanism,
    derivation: Derivation,
    /// For every number of the start (coordinates, velocities, activations), its place in θ; the
    /// reference pose at rest where the model has no leaves of it.
    start: Option<[Vec<usize>; 3]>,
    /// What affects the motion and is not simulated: one sentence each.
    left_out: Vec<String>,
    /// The reference pose.
    pose: Vec<f64>,
    /// Input of each actuator that the control does not command.
    inputs: Vec<Option<usize>>,
    /// Numbers behind θ that the derivation reads: of actuators that are not the robot's own.
    extra: Vec<f64>,
}

/// What articulated bodies read of constants and inputs, and its tangents in columns.
pub(crate) struct DrivenBodies<'a> {
    pub constants: &'a [f64],
    pub ctrl: &'a [f64],
    pub constants_dot: &'a [f64],
    pub ctrl_dot: &'a [f64],
}

/// Memory of the steps of articulated bodies.
pub(crate) struct RigidScratch {
    workspace: RigidWorkspace,
    push: Option<PushWorkspace>,
    next: RigidState,
    ctrl: Vec<f64>,
    ctrl_dot: Vec<f64>,
    c_dot: Vec<f64>,
    tangents: RigidTangents,
    bar: Adjoint,
    driven: Option<Driven>,
}

/// The derivation of a model with one more motor for each joint that is pushed at, and the numbers
/// that these motors add behind θ.
fn derivation(model: &Model, pushes: &[usize]) -> Result<(Derivation, Vec<f64>), DynamicsError> {
    if pushes.is_empty() {
        return Ok((Derivation::new(model)?, Vec::new()));
    }
    let mut model = model.clone();
    let before = model.leaves.theta_len();
    if let Some(a) = &mut model.articulation {
        for &joint in pushes {
            let name = format!("friction on {}", a.joints[joint].name);
            let settings = ActuatorSettings { name, ..ActuatorSettings::default() };
            let transmission = Transmission::Joint { joint, in_parent: false };
            a.add_actuator(&mut model.leaves, transmission, &settings)?;
        }
    }
    Ok((Derivation::new(&model)?, model.theta()[before..].to_vec()))
}

/// Where the orientation of a joint is among its coordinates and its velocities.
fn orientation(kind: JointKind) -> Option<usize> {
    match kind {
        JointKind::Free => Some(3),
        JointKind::Ball => Some(0),
        JointKind::Slide | JointKind::Hinge => None,
    }
}

fn quat<S: Scalar>(q: &[S]) -> Quat<S> {
    Quat { w: q[0], v: Vec3::new(q[1], q[2], q[3]) }
}

fn vec3(v: &[f64]) -> Vec3<f64> {
    Vec3::new(v[0], v[1], v[2])
}

fn put<S: Scalar>(q: Quat<S>, out: &mut [S]) {
    out[0] = q.w;
    out[1..4].copy_from_slice(&q.v.to_array());
}

impl From<CompileError> for DynamicsError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Model(error) => Self::Model(error),
            other => Self::Invalid(other.to_string()),
        }
    }
}

impl Articulated {
    /// That of a model; none where it has none.
    pub(crate) fn new(
        model: &Model,
        control: Option<&Control>,
    ) -> Result<Option<Self>, DynamicsError> {
        let Some(a) = &model.articulation else { return Ok(None) };
        let pushes = control.map_or(&[][..], |control| &control.pushes);
        let (derivation, extra) = derivation(model, pushes)?;
        let left_out: Vec<String> = unsupported(&derivation.tree)
            .iter()
            .map(|pair| {
                let [first, second] = pair.geoms.map(|g| &a.geoms[g].name);
                format!(
                    "contacts between geom.{first} ({:?}) and geom.{second} ({:?}) are not simulated",
                    pair.first, pair.second
                )
            })
            .collect();
        if let Some(first) = left_out.first()
            && !a.allowed.iter().any(|name| name == "contact")
        {
            return Err(DynamicsError::Invalid(format!(
                "{first}; `--allow contact`, or `allow = [\"contact\"]` in an experiment, simulates \
                 without such contacts"
            )));
        }
        let start = a.initial.as_ref().map(|initial| {
            let flat = |ids: &mut dyn Iterator<Item = costate_model::LeafId>| {
                ids.flat_map(|id| model.leaves.range(id)).collect::<Vec<usize>>()
            };
            [
                flat(&mut initial.qpos.iter().copied()),
                flat(&mut initial.qvel.iter().copied()),
                flat(&mut initial.act.iter().copied().flatten()),
            ]
        });
        let mut at = 0;
        let mut starts = std::collections::HashMap::new();
        for channel in model.inputs() {
            starts.insert(channel.name.clone(), at);
            at += channel.size;
        }
        let mut inputs: Vec<Option<usize>> = (a.actuators.iter())
            .map(|x| starts.get(&format!("actuator.{}", x.name)).copied())
            .collect();
        inputs.resize(derivation.tree.actuators.len(), None);
        let mechanism = Mechanism::new(derivation.tree.clone());
        let pose = a.reference_pose(&model.leaves);
        Ok(Some(Self { mechanism, derivation, start, pose, left_out, inputs, extra }))
    }

    /// θ with the numbers behind it.
    fn all<'a>(&self, theta: &'a [f64]) -> std::borrow::Cow<'a, [f64]> {
        if self.extra.is_empty() { theta.into() } else { [theta, &self.extra].concat().into() }
    }

    /// Input of each actuator that the control does not command.
    pub(crate) fn actuator_inputs(&self) -> &[Option<usize>] {
        &self.inputs
    }

    /// Controls from the inputs; zero where the control commands.
    pub(crate) fn read_controls(&self, u: &[f64], ctrl: &mut [f64]) {
        for (slot, input) in ctrl.iter_mut().zip(&self.inputs) {
            *slot = input.map_or(0.0, |i| u[i]);
        }
    }

    /// The structure.
    pub fn tree(&self) -> &Tree {
        &self.mechanism.tree
    }

    /// What affects the motion, is not simulated and was allowed: one sentence each.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The step of the articulated bodies alone.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    pub(crate) fn sizes(&self) -> RigidSizes {
        let tree = self.tree();
        let state = [tree.nq, tree.nv, tree.na];
        RigidSizes { constants: self.mechanism.layout.len, state, control: 0 }
    }

    pub(crate) fn scratch(&self, control: Option<&Control>) -> RigidScratch {
        let tree = self.tree();
        RigidScratch {
            workspace: self.mechanism.workspace(),
            push: None,
            next: RigidState::default(),
            ctrl: vec![0.0; tree.actuators.len()],
            ctrl_dot: Vec::new(),
            c_dot: Vec::new(),
            tangents: RigidTangents::default(),
            bar: Adjoint::zeros(tree, &self.mechanism.layout),
            driven: control.map(|control| Driven::new(self, control)),
        }
    }

    /// Name of a degree of freedom, for messages.
    pub(crate) fn dof_name(&self, model: &Model, dof: usize) -> String {
        let joint = self.tree().dof_joint.get(dof).copied();
        joint.map_or("a joint".into(), |j| self.joint_name(model, j))
    }

    fn joint_name(&self, model: &Model, j: usize) -> String {
        let joint = model.articulation.as_ref().and_then(|a| a.joints.get(j));
        joint.map_or("a joint".into(), |joint| format!("joint.{}", joint.name))
    }

    /// Name of a constant, for messages.
    pub(crate) fn constant_name(&self, model: &Model, layout: &Layout, i: usize) -> String {
        if !layout.rigid.contains(&i) {
            return "the start of the articulation".into();
        }
        let at = i - layout.rigid.start;
        let blocks = self.mechanism.layout.blocks();
        match blocks.iter().find(|(_, block)| block.range().contains(&at)) {
            Some((name, block)) => {
                format!("{name} {} of {}", (at - block.start) / block.width, model.name)
            }
            None => "a constant of the articulation".into(),
        }
    }

    fn error(&self, model: &Model, error: RigidError, step: usize, time: f64) -> DynamicsError {
        match error {
            RigidError::NotFinite { what, joint } => DynamicsError::Diverged {
                step,
                time,
                element: format!("{what} of {}", self.joint_name(model, joint)),
            },
            RigidError::NoInertia { joint, .. } => DynamicsError::Invalid(format!(
                "{} moves no inertia: give its bodies mass or it armature",
                self.joint_name(model, joint)
            )),
            RigidError::Singular { dof } => DynamicsError::Invalid(format!(
                "the matrix of the implicit step is singular at {}",
                self.dof_name(model, dof)
            )),
            other => DynamicsError::Invalid(format!("step {step}: {other}")),
        }
    }

    /// Calls `visit(index, quaternion range)` for all orientations among the coordinates.
    fn for_orientations(&self, mut visit: impl FnMut(Range<usize>)) {
        for joint in &self.tree().joints {
            if let Some(at) = orientation(joint.kind) {
                visit(joint.qpos + at..joint.qpos + at + 4);
            }
        }
    }

    pub(crate) fn derive(
        &self,
        theta: &[f64],
        layout: &Layout,
        c: &mut [f64],
    ) -> Result<(), DynamicsError> {
        c[layout.rigid.clone()].copy_from_slice(&self.derivation.derive(&self.all(theta))?);
        let [qpos, qvel, act] = layout.rigid_start.clone();
        match &self.start {
            None => c[qpos.clone()].copy_from_slice(&self.pose),
            Some(start) => {
                for (range, places) in [qpos.clone(), qvel, act].into_iter().zip(start) {
                    for (slot, &i) in c[range].iter_mut().zip(places) {
                        *slot = theta[i];
                    }
                }
            }
        }
        let q = &mut c[qpos];
        self.for_orientations(|range| {
            let unit = quat(&q[range.clone()]).normalize();
            put(unit, &mut q[range]);
        });
        Ok(())
    }

    pub(crate) fn derive_pushforward(
        &self,
        theta: &[f64],
        theta_dot: &[f64],
        layout: &Layout,
        c_dot: &mut [f64],
    ) {
        let rigid = &mut c_dot[layout.rigid.clone()];
        let mut all_dot = theta_dot.to_vec();
        all_dot.resize(theta.len() + self.extra.len(), 0.0);
        match self.derivation.pushforward(&self.all(theta), &all_dot) {
            Ok(dot) => rigid.copy_from_slice(&dot),
            // θ has been derived before, so this is no θ of this system: no number is right.
            Err(_) => rigid.fill(f64::NAN),
        }
        let Some(start) = &self.start else { return };
        for (range, places) in layout.rigid_start.clone().into_iter().zip(start) {
            for (slot, &i) in c_dot[range].iter_mut().zip(places) {
                *slot = theta_dot[i];
            }
        }
        let places = &start[0];
        let q_dot = &mut c_dot[layout.rigid_start[0].clone()];
        self.for_orientations(|range| {
            let mut raw = [Dual::constant(0.0); 4];
            for (slot, i) in raw.iter_mut().zip(range.clone()) {
                *slot = Dual::new(theta[places[i]], theta_dot[places[i]]);
            }
            let mut unit = [Dual::constant(0.0); 4];
            put(quat(&raw).normalize(), &mut unit);
            for (slot, x) in q_dot[range].iter_mut().zip(unit) {
                *slot = x.tangent[0];
            }
        });
    }

    pub(crate) fn derive_pullback(
        &self,
        theta: &[f64],
        c_bar: &[f64],
        layout: &Layout,
        theta_bar: &mut [f64],
    ) {
        let mut all_bar = theta_bar.to_vec();
        all_bar.resize(theta.len() + self.extra.len(), 0.0);
        let rigid = &c_bar[layout.rigid.clone()];
        match self.derivation.pullback(&self.all(theta), rigid, &mut all_bar) {
            Ok(()) => theta_bar.copy_from_slice(&all_bar[..theta.len()]),
            Err(_) => theta_bar.fill(f64::NAN),
        }
        let Some(start) = &self.start else { return };
        let mut bars = layout.rigid_start.clone().map(|range| c_bar[range].to_vec());
        self.for_orientations(|range| {
            // Adjoint of scaling to unit length.
            let raw: Vec<f64> = range.clone().map(|i| theta[start[0][i]]).collect();
            let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
            let bar = &mut bars[0][range];
            if length > 0.0 {
                let along: f64 =
                    raw.iter().zip(&*bar).map(|(x, b)| x / length * b).sum::<f64>() / length;
                for (b, x) in bar.iter_mut().zip(&raw) {
                    *b = *b / length - along * x / length;
                }
            } else {
                bar.fill(0.0);
            }
        });
        for (bar, places) in bars.iter().zip(start) {
            for (b, &i) in bar.iter().zip(places) {
                theta_bar[i] += b;
            }
        }
    }

    /// Adds the tangents of the start: `dots` of coordinates, velocities and activations, at the
    /// coordinates `qpos`, to those of the state.
    pub(crate) fn start_pushforward(
        &self,
        qpos: &[f64],
        dots: [&[f64]; 3],
        [q, v, act]: [&mut [f64]; 3],
    ) {
        for joint in &self.tree().joints {
            let (from, to) = (joint.qpos, joint.dof);
            let plain = orientation(joint.kind).unwrap_or(1);
            for i in 0..plain {
                q[to + i] += dots[0][from + i];
            }
            if let Some(at) = orientation(joint.kind) {
                let range = from + at..from + at + 4;
                let turn = quat(&qpos[range.clone()]).conjugate().product(quat(&dots[0][range]));
                for (slot, x) in q[to + at..].iter_mut().zip(turn.v.to_array()) {
                    *slot += 2.0 * x;
                }
            }
        }
        v.iter_mut().zip(dots[1]).for_each(|(a, b)| *a += b);
        act.iter_mut().zip(dots[2]).for_each(|(a, b)| *a += b);
    }

    /// Adjoint of [`start_pushforward`](Self::start_pushforward).
    pub(crate) fn start_pullback(
        &self,
        qpos: &[f64],
        bars: [&[f64]; 3],
        start: &[Range<usize>; 3],
        c_bar: &mut [f64],
    ) {
        let q_bar = &mut c_bar[start[0].clone()];
        for joint in &self.tree().joints {
            let (from, to) = (joint.dof, joint.qpos);
            let plain = orientation(joint.kind).unwrap_or(1);
            for i in 0..plain {
                q_bar[to + i] += bars[0][from + i];
            }
            if let Some(at) = orientation(joint.kind) {
                let turn = Quat { w: 0.0, v: vec3(&bars[0][from + at..]) * 2.0 };
                let by = quat(&qpos[to + at..]).product(turn);
                let mut flat = [0.0; 4];
                put(by, &mut flat);
                q_bar[to + at..].iter_mut().zip(flat).for_each(|(a, b)| *a += b);
            }
        }
        for (range, bar) in start[1..].iter().zip(&bars[1..]) {
            c_bar[range.clone()].iter_mut().zip(*bar).for_each(|(a, b)| *a += b);
        }
    }
}

/// Parts of a system's state.
fn at<'a>(system: &System, state: &'a State, ctrl: &'a [f64]) -> At<'a, f64> {
    let soft = system.soft_len();
    let act = &state.act[..system.actuator_activation_len()];
    At { qpos: &state.q[soft..], qvel: &state.v[soft..], act, ctrl }
}

impl System {
    /// The coordinate of a degree of freedom of a slide or hinge, both counted among all.
    pub(crate) fn coordinate_of(&self, dof: usize) -> usize {
        let soft = self.soft_len();
        match &self.articulated {
            Some(a) if dof >= soft => {
                let tree = a.tree();
                let joint = &tree.joints[tree.dof_joint[dof - soft]];
                soft + joint.qpos + (dof - soft - joint.dof)
            }
            _ => dof,
        }
    }

    /// The tangent of positions by their coordinates, from the tangent space: that of an orientation
    /// is q ⊗ (0, ω/2).
    pub fn lift_positions(&self, q: &[f64], q_dot: &[f64]) -> Vec<f64> {
        let soft = self.soft_len();
        let mut out = q_dot[..soft].to_vec();
        if let Some(a) = &self.articulated {
            out.resize(q.len(), 0.0);
            lift_tangent(a.tree(), &q[soft..], &q_dot[soft..], &mut out[soft..]);
        }
        out
    }

    /// Adds the adjoint of positions in tangent space for one by their coordinates: the transpose
    /// of [`lift_positions`](Self::lift_positions).
    pub fn lower_positions(&self, q: &[f64], by_q: &[f64], q_bar: &mut [f64]) {
        let soft = self.soft_len();
        q_bar[..soft].iter_mut().zip(by_q).for_each(|(a, b)| *a += b);
        if let Some(a) = &self.articulated {
            lower_adjoint(a.tree(), &q[soft..], &by_q[soft..], &mut q_bar[soft..]);
        }
    }

    /// Controls and constants that articulated bodies read at a state, with tangents: what actuators and
    /// the control make of inputs.
    pub(crate) fn driven<'a>(
        &self,
        c: &'a Constants,
        state: &State,
        u: &[f64],
        tangents: &StateTangents,
        c_dot: &[f64],
        ws: &'a mut Workspace,
    ) -> DrivenBodies<'a> {
        let rigid = self.layout.rigid.clone();
        let mut constants = &c.values[rigid.clone()];
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else {
            return DrivenBodies { constants, ctrl: &[], constants_dot: &[], ctrl_dot: &[] };
        };
        let RigidScratch { ctrl, ctrl_dot, c_dot: rigid_dot, driven, .. } = &mut **scratch;
        a.read_controls(u, ctrl);
        ctrl_dot.clear();
        ctrl_dot.resize(tangents.columns * ctrl.len(), 0.0);
        rigid_dot.clear();
        for column in c_dot.chunks_exact(self.layout.len) {
            rigid_dot.extend_from_slice(&column[rigid.clone()]);
        }
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u, ctrl);
            let set = [&mut **ctrl_dot, &mut **rigid_dot];
            driven.pushforward(self, (a, control), c, state, u, tangents, [c_dot, &[]], set);
            constants = &driven.c;
        }
        DrivenBodies { constants, ctrl, constants_dot: rigid_dot, ctrl_dot }
    }

    /// The part of the step that belongs to articulated bodies.
    pub(crate) fn step_rigid(
        &self,
        c: &Constants,
        state: &State,
        u: &[f64],
        step: usize,
        next: &mut State,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else { return Ok(()) };
        let RigidScratch { workspace, next: moved, ctrl, driven, .. } = &mut **scratch;
        let soft = self.soft_len();
        a.read_controls(u, ctrl);
        let mut constants = &c.values[self.layout.rigid.clone()];
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u, ctrl);
            constants = &driven.c;
        }
        let result = a.mechanism.step(constants, at(self, state, ctrl), &[], moved, workspace);
        next.q.truncate(soft);
        next.v.truncate(soft);
        next.q.extend_from_slice(&moved.qpos);
        next.v.extend_from_slice(&moved.qvel);
        next.act.clone_from(&moved.act);
        if let (Some(control), Some(driven)) = (&self.control, driven) {
            next.act.extend_from_slice(driven.remembered(control));
        }
        let time = (step + 1) as f64 * self.timestep();
        result.map_err(|error| a.error(&self.model, error, step + 1, time))
    }

    /// The part of the tangent of the step that belongs to articulated bodies, in place.
    pub(crate) fn step_rigid_pushforward(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        tangents: &mut StateTangents,
        c_dot: &[f64],
        u_dot: StepInputs,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else { return Ok(()) };
        let RigidScratch {
            workspace,
            push,
            ctrl,
            ctrl_dot,
            c_dot: rigid_dot,
            tangents: moved,
            driven,
            ..
        } = &mut **scratch;
        let push = push.get_or_insert_with(|| a.mechanism.push_workspace());
        let (soft, n, columns) = (self.soft_len(), self.dof(), tangents.columns);
        a.read_controls(u.now, ctrl);
        ctrl_dot.clear();
        rigid_dot.clear();
        moved.columns = columns;
        for part in [&mut moved.q, &mut moved.v, &mut moved.act] {
            part.clear();
        }
        let (na, own) = (self.activation_len(), self.actuator_activation_len());
        for k in 0..columns {
            if !u_dot.now.is_empty() {
                let u_dot = &u_dot.now[k * self.input_len..];
                ctrl_dot.extend(a.inputs.iter().map(|i| i.map_or(0.0, |i| u_dot[i])));
            }
            if !c_dot.is_empty() {
                let column = &c_dot[k * self.layout.len..(k + 1) * self.layout.len];
                rigid_dot.extend_from_slice(&column[self.layout.rigid.clone()]);
            }
            let column = k * n + soft..(k + 1) * n;
            moved.q.extend_from_slice(&tangents.q[column.clone()]);
            moved.v.extend_from_slice(&tangents.v[column]);
            moved.act.extend_from_slice(&tangents.act[k * na..k * na + own]);
        }
        let mut constants = &c.values[self.layout.rigid.clone()];
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            ctrl_dot.resize(columns * ctrl.len(), 0.0);
            rigid_dot.resize(columns * constants.len(), 0.0);
            driven.update(self, (a, control), c, state, u.now, ctrl);
            let given = [c_dot, u_dot.now];
            let set = [&mut **ctrl_dot, &mut **rigid_dot];
            driven.pushforward(self, (a, control), c, state, u.now, tangents, given, set);
            constants = &driven.c;
        }
        a.mechanism
            .step_pushforward(
                constants,
                at(self, state, ctrl),
                &[],
                moved,
                rigid_dot,
                ctrl_dot,
                workspace,
                push,
            )
            .map_err(|error| a.error(&self.model, error, 0, state.time))?;
        let nv = n - soft;
        for k in 0..columns {
            let column = k * n + soft..(k + 1) * n;
            tangents.q[column.clone()].copy_from_slice(&moved.q[k * nv..(k + 1) * nv]);
            tangents.v[column].copy_from_slice(&moved.v[k * nv..(k + 1) * nv]);
            let act = &mut tangents.act[k * na..(k + 1) * na];
            act[..own].copy_from_slice(&moved.act[k * own..(k + 1) * own]);
            if let (Some(control), Some(driven)) = (&self.control, driven.as_ref()) {
                act[own..].copy_from_slice(driven.remembered_dot(control, k));
            }
        }
        Ok(())
    }

    /// The part of the adjoint of the step that belongs to articulated bodies, in place.
    pub(crate) fn step_rigid_pullback(
        &self,
        c: &Constants,
        state: &State,
        u: StepInputs,
        adjoint: &mut StateAdjoint,
        inputs: &mut InputAdjoints,
        ws: &mut Workspace,
    ) -> Result<(), DynamicsError> {
        let (Some(a), Some(scratch)) = (&self.articulated, &mut ws.rigid) else { return Ok(()) };
        let RigidScratch { workspace, ctrl, bar, driven, .. } = &mut **scratch;
        let (soft, own) = (self.soft_len(), self.actuator_activation_len());
        a.read_controls(u.now, ctrl);
        bar.q.copy_from_slice(&adjoint.q[soft..]);
        bar.v.copy_from_slice(&adjoint.v[soft..]);
        bar.act.copy_from_slice(&adjoint.act[..own]);
        bar.ctrl.fill(0.0);
        let rigid = self.layout.rigid.clone();
        bar.c.copy_from_slice(&inputs.c[rigid.clone()]);
        let mut constants = &c.values[rigid.clone()];
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            driven.update(self, (a, control), c, state, u.now, ctrl);
            constants = &driven.c;
        }
        let state_at = at(self, state, ctrl);
        let result = a.mechanism.step_pullback(constants, state_at, &[], bar, workspace);
        if let (Some(control), Some(driven)) = (&self.control, driven.as_mut()) {
            let before = inputs.c[rigid.clone()].to_vec();
            let memory = &mut adjoint.act[own..];
            let pair = (a, control);
            driven.pullback(self, pair, c, state, u.now, &before, bar, memory, inputs);
        }
        inputs.c[rigid].copy_from_slice(&bar.c);
        adjoint.q[soft..].copy_from_slice(&bar.q);
        adjoint.v[soft..].copy_from_slice(&bar.v);
        adjoint.act[..own].copy_from_slice(&bar.act);
        for (i, b) in a.inputs.iter().zip(&bar.ctrl) {
            if let Some(i) = i {
                inputs.now[*i] += b;
            }
        }
        result.map_err(|error| a.error(&self.model, error, 0, state.time))
    }
}
