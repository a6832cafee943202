//! One step of articulated bodies, its tangent and its adjoint.
//!
//! v⁺ = v + h x,  q⁺ = q ⊕ h v⁺,  a⁺ by each actuator's own rule, where x is the acceleration of
//! [`Evaluation`]; RK4 composes four evaluations ([`rk4`](super::rk4)).

use super::adjoint::{Adjoint, Wanted};
use super::constants::Layout;
use super::error::RigidError;
use super::evaluation::Evaluation;
use super::forward::At;
use super::integrate::{displace, pull_displace};
use super::jacobian::TangentMethod;
use super::pull_evaluation::EvaluationAdjoint;
use super::rk4::RungeKutta;
use super::tree::{Integrator, Tree};

/// A state of articulated bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidState {
    /// Coordinates.
    pub qpos: Vec<f64>,
    /// Velocities.
    pub qvel: Vec<f64>,
    /// Activations.
    pub act: Vec<f64>,
}

impl RigidState {
    /// This state with controls.
    pub fn with<'a>(&'a self, ctrl: &'a [f64]) -> At<'a, f64> {
        self.under(ctrl, &[])
    }
    /// This state with controls and applied forces.
    pub fn under<'a>(&'a self, ctrl: &'a [f64], applied: &'a [f64]) -> At<'a, f64> {
        At { qpos: &self.qpos, qvel: &self.qvel, act: &self.act, ctrl, applied }
    }
}

/// Articulated bodies, compiled but for their constants.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Structure and settings.
    pub tree: Tree,
    /// Layout of the constants.
    pub layout: Layout,
    /// Which constants pullbacks reach.
    pub wanted: Wanted,
    /// How tangents are found.
    pub tangents: TangentMethod,
}

/// Memory of steps and their derivatives; nothing in it outlives a call but the warm start of the
/// constraint solver.
#[derive(Clone, Debug)]
pub struct RigidWorkspace {
    /// The last evaluation; of RK4, the one at the step's start.
    pub evaluation: Evaluation,
    pub(crate) later: Option<Box<RungeKutta>>,
    pub(crate) displacement: Vec<f64>,
    pub(crate) bar: Vec<f64>,
    pub(crate) act_bar: Vec<f64>,
    velocity: Vec<f64>,
}

impl Mechanism {
    /// Of a structure.
    pub fn new(tree: Tree) -> Self {
        let layout = Layout::new(&tree);
        let tangents = TangentMethod::default();
        Self { tree, layout, wanted: Wanted::ALL, tangents }
    }

    /// Memory for steps.
    pub fn workspace(&self) -> RigidWorkspace {
        let tree = &self.tree;
        let later =
            (tree.options.integrator == Integrator::Rk4).then(|| Box::new(RungeKutta::new(tree)));
        RigidWorkspace {
            evaluation: Evaluation::new(tree),
            later,
            displacement: vec![0.0; tree.nv],
            bar: vec![0.0; tree.nv],
            act_bar: vec![0.0; tree.na],
            velocity: vec![0.0; tree.nv],
        }
    }

    /// Advances a state by one step into `next`. `warm` may hold the last step's acceleration as a start for
    /// the constraint solver, or be empty.
    ///
    /// # Errors
    /// [`RigidError`] where inertia is missing, a solve fails or the new state is not finite.
    pub fn step(
        &self,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
        next: &mut RigidState,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        next.qpos.resize(tree.nq, 0.0);
        next.qvel.resize(tree.nv, 0.0);
        next.act.resize(tree.na, 0.0);
        ws.evaluation.update_for(tree, layout, c, at, warm.into(), false)?;
        if ws.later.is_some() {
            self.runge_kutta(c, at, next, ws)?;
        } else {
            let h = tree.options.timestep;
            for i in 0..tree.nv {
                let v = at.qvel[i] + h * ws.evaluation.step_acceleration[i];
                next.qvel[i] = v;
                ws.displacement[i] = h * v;
            }
            displace(tree, at.qpos, &ws.displacement, &mut next.qpos);
            next.act.copy_from_slice(&ws.evaluation.dynamics.actuation.act_next);
        }
        self.check(next)
    }

    fn check(&self, next: &RigidState) -> Result<(), RigidError> {
        for (j, joint) in self.tree.joints.iter().enumerate() {
            let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
            let q = joint.qpos..joint.qpos + joint.kind.coordinates();
            let v = joint.dof..joint.dof + joint.kind.dofs();
            if !finite(&next.qvel[v]) {
                return Err(RigidError::NotFinite { what: "the velocity", joint: j });
            }
            if !finite(&next.qpos[q]) {
                return Err(RigidError::NotFinite { what: "the position", joint: j });
            }
        }
        Ok(())
    }

    /// Adjoint of [`step`](Self::step): `bar` holds the adjoint of the next state in `q` (tangent
    /// space), `v` and `act`, and that of the state afterwards; those of controls, applied
    /// forces and constants are added to.
    ///
    /// # Errors
    /// As of [`step`](Self::step).
    pub fn step_pullback(
        &self,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
        bar: &mut Adjoint,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        ws.evaluation.update_for(&self.tree, &self.layout, c, at, warm.into(), false)?;
        self.pull_evaluated(c, at, bar, ws)
    }

    /// The adjoint of a step that has been evaluated.
    pub(super) fn pull_evaluated(
        &self,
        c: &[f64],
        at: At<f64>,
        bar: &mut Adjoint,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        if ws.later.is_some() {
            return self.runge_kutta_pullback(c, at, bar, ws);
        }
        let h = tree.options.timestep;
        let RigidWorkspace { evaluation, displacement, bar: x_bar, act_bar, velocity, .. } = ws;
        for i in 0..tree.nv {
            displacement[i] = h * (at.qvel[i] + h * evaluation.step_acceleration[i]);
        }
        pull_displace(tree, displacement, &mut bar.q, velocity);
        for i in 0..tree.nv {
            bar.v[i] += h * velocity[i];
            x_bar[i] = h * bar.v[i];
        }
        act_bar.copy_from_slice(&bar.act);
        bar.act.fill(0.0);
        let seeds = EvaluationAdjoint { act_next: act_bar, ..EvaluationAdjoint::of_step(x_bar) };
        evaluation.pullback(tree, layout, c, at, seeds, self.wanted, bar)
    }
}
