//! The articulated bodies of a system: where they are in its state, its constants and its inputs.

mod replay;
mod start;
mod step;

use costate_model::Model;
use costate_model::rigid::{ActuatorSettings, Transmission};

use crate::constants::{Layout, RigidSizes};
use crate::control::Control;
use crate::driven::Driven;
use crate::error::DynamicsError;
use crate::rigid::collision::unsupported;
use crate::rigid::{
    Adjoint, CompileError, Derivation, Integrator, Mechanism, PushWorkspace, RigidError,
    RigidState, RigidTangents, RigidWorkspace, Tree,
};

/// The articulated bodies of a system.
pub struct Articulated {
    /// The step.
    pub(crate) mechanism: Mechanism,
    /// The step that derivatives are of, where that is another: with relaxed contacts.
    relaxed: Option<Mechanism>,
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
    /// Constants that tangents may move, where that has been promised.
    pub(crate) moved: Option<Vec<usize>>,
    tangents: RigidTangents,
    bar: Adjoint,
    driven: Option<Driven>,
    replay: replay::Replay,
}

impl RigidScratch {
    /// Adjoint of the applied forces of the last step's adjoint.
    pub fn applied_bar(&self) -> &[f64] {
        &self.bar.applied
    }
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

/// The mechanism with contacts relaxed, where the model asks for that.
fn relaxed(model: &Model, mechanism: &Mechanism) -> Result<Option<Mechanism>, DynamicsError> {
    let width = model.options.smoothing;
    if width == 0.0 {
        return Ok(None);
    }
    let refused =
        |message: &str| Err(DynamicsError::Invalid(format!("option.smoothing: {message}")));
    if !(width > 0.0 && width.is_finite()) {
        return refused("it is a width in m, above zero, or zero for none");
    }
    if model.options.saltation {
        return refused("derivatives have either the jump term (`saltation`) or relaxed contacts");
    }
    if mechanism.tree.options.integrator == Integrator::Discrete {
        return refused("the discrete integrator has no relaxed contacts; take implicitfast");
    }
    let mut relaxed = mechanism.clone();
    relaxed.tree.options.relaxation = width;
    Ok(Some(relaxed))
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
        let relaxed = relaxed(model, &mechanism)?;
        let pose = a.reference_pose(&model.leaves);
        Ok(Some(Self { mechanism, relaxed, derivation, start, pose, left_out, inputs, extra }))
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

    /// What a result with derivatives has to say: that contacts are relaxed in them, where they are.
    pub fn smoothing(&self) -> Option<String> {
        let width = self.relaxed.as_ref()?.tree.options.relaxation;
        Some(format!(
            "derivatives are those of contacts relaxed over {width} m (`smoothing`); motions and residuals are \
             not, and intervals from such derivatives are rough"
        ))
    }

    /// The step of the articulated bodies alone.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The step that derivatives are of: [`mechanism`](Self::mechanism), or, where the model asks for
    /// smoothing, the same with contacts relaxed, at the states of the motion as it is.
    pub fn differentiated(&self) -> &Mechanism {
        self.relaxed.as_ref().unwrap_or(&self.mechanism)
    }

    /// Which constants pullbacks are to reach.
    pub(crate) fn narrow(&mut self, wanted: crate::rigid::Wanted) {
        self.mechanism.wanted = wanted;
        if let Some(relaxed) = &mut self.relaxed {
            relaxed.wanted = wanted;
        }
    }

    pub(crate) fn sizes(&self) -> RigidSizes {
        let tree = self.tree();
        let state = [tree.nq, tree.nv, tree.na];
        RigidSizes { constants: self.mechanism.layout.len, state, control: 0, coupling: 0 }
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
            moved: None,
            tangents: RigidTangents::default(),
            bar: Adjoint::zeros(tree, &self.mechanism.layout),
            driven: control.map(|control| Driven::new(self, control)),
            replay: replay::Replay::default(),
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
            unsolved @ RigidError::NotConverged { .. } => {
                DynamicsError::Stopped { step, time, reason: unsolved.to_string() }
            }
            other => DynamicsError::Invalid(format!("step {step}: {other}")),
        }
    }
}
