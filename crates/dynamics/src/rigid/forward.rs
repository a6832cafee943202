//! Forward dynamics without constraints: M a = τ − c.

use costate_num::Scalar;
use costate_num::spatial::{Force, Motion, RigidInertia};

use super::actuation::{Actuation, limit_joints};
use super::armature::{add_armature, add_armature_forces};
use super::constants::Layout;
use super::fluid::add_fluid;
use super::inertia::{MassMatrix, body_inertias};
use super::inverse::{accelerations, body_forces, gather, lift};
use super::kinematics::Kinematics;
use super::passive::{add_dampers, add_gravity_compensation, add_springs, add_tendons};
use super::tendon::Tendons;
use super::tree::Tree;

/// A state and its controls.
#[derive(Clone, Copy, Debug)]
pub struct At<'a, S> {
    /// Coordinates.
    pub qpos: &'a [S],
    /// Velocities.
    pub qvel: &'a [S],
    /// Activations.
    pub act: &'a [S],
    /// Controls.
    pub ctrl: &'a [S],
    /// Forces applied from outside by degree of freedom, `qfrc_applied`; empty for none.
    pub applied: &'a [S],
}

/// Everything of one evaluation of the dynamics, by its name in mjData.
#[derive(Clone, Debug)]
pub struct Dynamics<S> {
    /// Places and axes.
    pub kinematics: Kinematics<S>,
    /// Tendons.
    pub tendons: Tendons<S>,
    /// Actuators.
    pub actuation: Actuation<S>,
    /// Inertia of each body about its tree's origin.
    pub inertias: Vec<RigidInertia<S>>,
    /// The inertia matrix M.
    pub mass: MassMatrix<S>,
    /// Its factors.
    pub factors: MassMatrix<S>,
    /// Twist of each body.
    pub velocity: Vec<Motion<S>>,
    /// Acceleration of each body at zero joint acceleration, gravity as an acceleration upwards.
    pub acceleration: Vec<Motion<S>>,
    /// Coriolis, centrifugal and gravity forces, on the side of M a.
    pub qfrc_bias: Vec<S>,
    /// Springs, dampers, a surrounding fluid, and compensation of gravity unless it counts as actuators'.
    pub qfrc_passive: Vec<S>,
    /// Compensation of gravity.
    pub qfrc_gravcomp: Vec<S>,
    /// Actuators.
    pub qfrc_actuator: Vec<S>,
    /// All forces but those of constraints: passive − bias + actuator + applied.
    pub qfrc_smooth: Vec<S>,
    /// Acceleration without constraints.
    pub qacc_smooth: Vec<S>,
    /// Forces of actuators before the totals on joints were limited.
    pub(crate) unlimited: Vec<S>,
    composite: Vec<RigidInertia<S>>,
    force: Vec<Force<S>>,
}

impl<S: Scalar> Dynamics<S> {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        let (bodies, nv) = (tree.bodies.len(), tree.nv);
        let tendons = Tendons::new(tree);
        let actuation = Actuation::new(tree, &tendons);
        let zeros = || vec![S::zero(); nv];
        Self {
            kinematics: Kinematics::new(tree),
            tendons,
            actuation,
            inertias: vec![RigidInertia::zero(); bodies],
            mass: MassMatrix::new(tree),
            factors: MassMatrix::new(tree),
            velocity: vec![Motion::zero(); bodies],
            acceleration: vec![Motion::zero(); bodies],
            qfrc_bias: zeros(),
            qfrc_passive: zeros(),
            qfrc_gravcomp: zeros(),
            qfrc_actuator: zeros(),
            qfrc_smooth: zeros(),
            qacc_smooth: zeros(),
            unlimited: zeros(),
            composite: vec![RigidInertia::zero(); bodies],
            force: vec![Force::zero(); bodies],
        }
    }

    /// Everything that depends on the configuration, the factors of M excepted.
    pub fn update_position(&mut self, tree: &Tree, layout: &Layout, c: &[S], qpos: &[S]) {
        let k = &mut self.kinematics;
        k.update(tree, layout, c, qpos);
        self.tendons.update(tree, layout, c, k, qpos);
        body_inertias(tree, layout, c, k, &mut self.inertias);
    }

    /// M, from what [`update_position`](Self::update_position) has left.
    pub fn update_mass(&mut self, tree: &Tree, layout: &Layout, c: &[S]) {
        let (subspace, composite) = (&self.kinematics.subspace, &mut self.composite);
        self.mass.assemble(tree, layout, c, subspace, &self.inertias, composite);
        add_armature(tree, layout, c, &self.tendons, &mut self.mass);
    }

    /// All forces, after [`update_position`](Self::update_position). Joint accelerations `a` make
    /// `qfrc_bias` the whole M a + c but for armature of joints; empty, they are zero.
    pub fn update_forces(&mut self, tree: &Tree, layout: &Layout, c: &[S], at: At<S>, a: &[S]) {
        let subspace = &self.kinematics.subspace;
        let world = lift(tree, layout, c);
        let (velocity, acceleration) = (&mut self.velocity, &mut self.acceleration);
        accelerations(tree, subspace, at.qvel, a, world, velocity, acceleration);
        body_forces(&self.inertias, velocity, acceleration, &mut self.force);
        self.qfrc_bias.fill(S::zero());
        gather(tree, subspace, &mut self.force, &mut self.qfrc_bias);
        let (k, tendons) = (&self.kinematics, &self.tendons);
        let (velocity, acceleration) = (&self.velocity, &self.acceleration);
        let bias = &mut self.qfrc_bias;
        add_armature_forces(tree, layout, c, k, tendons, velocity, acceleration, a, bias);

        let passive = &mut self.qfrc_passive;
        passive.fill(S::zero());
        add_springs(tree, layout, c, at.qpos, passive);
        add_dampers(tree, layout, c, at.qvel, passive);
        add_fluid(tree, layout, c, &self.kinematics, &self.velocity, passive);
        self.update_efforts(tree, layout, c, at);
        if !tree.tendons.is_empty() {
            add_tendons(tree, layout, c, &self.tendons, &mut self.qfrc_passive);
        }
        for i in 0..tree.nv {
            if !tree.joints[tree.dof_joint[i]].actuator_gravity_compensation {
                self.qfrc_passive[i] += self.qfrc_gravcomp[i];
            }
        }
        for i in 0..tree.nv {
            self.qfrc_smooth[i] = self.qfrc_passive[i] - self.qfrc_bias[i] + self.qfrc_actuator[i];
        }
        for (total, applied) in self.qfrc_smooth.iter_mut().zip(at.applied) {
            *total += *applied;
        }
    }

    /// Velocities of tendons, what actuators do, and compensation of gravity, after
    /// [`update_position`](Self::update_position).
    pub(crate) fn update_efforts(&mut self, tree: &Tree, layout: &Layout, c: &[S], at: At<S>) {
        if !tree.tendons.is_empty() {
            self.tendons.update_velocity(at.qvel);
        }
        self.qfrc_gravcomp.fill(S::zero());
        add_gravity_compensation(tree, layout, c, &self.kinematics, &mut self.qfrc_gravcomp);
        self.qfrc_actuator.fill(S::zero());
        if !tree.actuators.is_empty() {
            let Self { kinematics, tendons, actuation, qfrc_actuator, .. } = self;
            actuation.update_transmission(tree, layout, c, kinematics, tendons, at.qpos, at.qvel);
            actuation.update_forces(tree, layout, c, at.act, at.ctrl, qfrc_actuator);
        }
        for i in 0..tree.nv {
            if tree.joints[tree.dof_joint[i]].actuator_gravity_compensation {
                self.qfrc_actuator[i] += self.qfrc_gravcomp[i];
            }
        }
        self.unlimited.copy_from_slice(&self.qfrc_actuator);
        limit_joints(tree, layout, c, &mut self.qfrc_actuator);
    }

    /// Everything, up to the acceleration without constraints. Returns the first degree of freedom
    /// whose inertia is not positive.
    pub fn evaluate(&mut self, tree: &Tree, layout: &Layout, c: &[S], at: At<S>) -> Option<usize> {
        self.update_position(tree, layout, c, at.qpos);
        self.update_mass(tree, layout, c);
        self.update_forces(tree, layout, c, at, &[]);
        self.accelerate(tree)
    }

    /// The factors of M and the acceleration without constraints, after M and all forces. Returns the
    /// first degree of freedom whose inertia is not positive.
    pub fn accelerate(&mut self, tree: &Tree) -> Option<usize> {
        self.factors.entries.copy_from_slice(&self.mass.entries);
        let bad = self.factors.factorise(tree);
        self.qacc_smooth.copy_from_slice(&self.qfrc_smooth);
        self.factors.solve(tree, &mut self.qacc_smooth);
        bad
    }
}
