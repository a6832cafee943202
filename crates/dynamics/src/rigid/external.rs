//! Gravity and the inertial forces of motion on the joints, −c(q, v), on their own: what a gear has to
//! carry beside its motor.

use costate_num::Scalar;
use costate_num::spatial::{Force, Motion, RigidInertia};

use super::adjoint::{Adjoint, Place, Rates, Sweep};
use super::forward::At;
use super::inertia::body_inertias;
use super::integrate::lift_tangent;
use super::inverse::{accelerations, body_forces, gather, lift};
use super::kinematics::Kinematics;
use super::push::{D, LANES};
use super::step::Mechanism;
use super::tree::Tree;

/// The recursion and its memory.
#[derive(Clone, Debug)]
struct Recursion<S> {
    kinematics: Kinematics<S>,
    inertias: Vec<RigidInertia<S>>,
    velocity: Vec<Motion<S>>,
    acceleration: Vec<Motion<S>>,
    body: Vec<Force<S>>,
    force: Vec<S>,
}

impl<S: Scalar> Recursion<S> {
    fn new(tree: &Tree) -> Self {
        let n = tree.bodies.len();
        Self {
            kinematics: Kinematics::new(tree),
            inertias: vec![RigidInertia::zero(); n],
            velocity: vec![Motion::zero(); n],
            acceleration: vec![Motion::zero(); n],
            body: vec![Force::zero(); n],
            force: vec![S::zero(); tree.nv],
        }
    }

    fn update(&mut self, mechanism: &Mechanism, c: &[S], qpos: &[S], qvel: &[S]) {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        self.kinematics.update(tree, layout, c, qpos);
        body_inertias(tree, layout, c, &self.kinematics, &mut self.inertias);
        let subspace = &self.kinematics.subspace;
        let world = lift(tree, layout, c);
        let (velocity, acceleration) = (&mut self.velocity, &mut self.acceleration);
        accelerations(tree, subspace, qvel, &[], world, velocity, acceleration);
        body_forces(&self.inertias, velocity, acceleration, &mut self.body);
        self.force.fill(S::zero());
        gather(tree, subspace, &mut self.body, &mut self.force);
        for force in &mut self.force {
            *force = -*force;
        }
    }
}

/// External forces on the joints, with tangents and adjoints.
#[derive(Clone, Debug)]
pub struct External {
    value: Recursion<f64>,
    dual: Option<Box<Recursion<D>>>,
    sweep: Sweep,
    negative: Vec<f64>,
    zeros: Vec<f64>,
}

impl External {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        Self {
            value: Recursion::new(tree),
            dual: None,
            sweep: Sweep::new(tree),
            negative: vec![0.0; tree.nv],
            zeros: vec![0.0; tree.nv],
        }
    }

    /// The forces by degree of freedom.
    pub fn update(&mut self, mechanism: &Mechanism, c: &[f64], at: At<f64>) -> &[f64] {
        self.value.update(mechanism, c, at.qpos, at.qvel);
        &self.value.force
    }

    /// Their tangents, `columns` times nv numbers, for those of configuration (in its tangent space),
    /// velocity and constants (empty for zero).
    pub fn pushforward(
        &mut self,
        mechanism: &Mechanism,
        c: &[f64],
        at: At<f64>,
        [q_dot, v_dot, c_dot]: [&[f64]; 3],
        columns: usize,
    ) -> Vec<f64> {
        let tree = &mechanism.tree;
        let nv = tree.nv;
        let dual = self.dual.get_or_insert_with(|| Box::new(Recursion::new(tree)));
        let constant = |x: &[f64]| x.iter().map(|&x| D::constant(x)).collect::<Vec<D>>();
        let mut by_coordinate = vec![0.0; tree.nq];
        let mut out = vec![0.0; columns * nv];
        for first in (0..columns).step_by(LANES) {
            let (mut q, mut v, mut lifted) = (constant(at.qpos), constant(at.qvel), constant(c));
            let lanes = LANES.min(columns - first);
            for lane in 0..lanes {
                let of = (first + lane) * nv..(first + lane + 1) * nv;
                lift_tangent(tree, at.qpos, &q_dot[of.clone()], &mut by_coordinate);
                let set = |slots: &mut [D], dots: &[f64]| {
                    for (slot, x) in slots.iter_mut().zip(dots) {
                        slot.tangent[lane] = *x;
                    }
                };
                set(&mut q, &by_coordinate);
                set(&mut v, &v_dot[of]);
                if !c_dot.is_empty() {
                    set(&mut lifted, &c_dot[(first + lane) * c.len()..]);
                }
            }
            dual.update(mechanism, &lifted, &q, &v);
            for lane in 0..lanes {
                for (i, force) in dual.force.iter().enumerate() {
                    out[(first + lane) * nv + i] = force.tangent[lane];
                }
            }
        }
        out
    }

    /// Adds the adjoints of configuration, velocity and constants for those of the forces, at the state of the
    /// last [`update`](Self::update).
    pub fn pullback(
        &mut self,
        mechanism: &Mechanism,
        c: &[f64],
        at: At<f64>,
        bar: &[f64],
        out: &mut Adjoint,
    ) {
        let (tree, layout) = (&mechanism.tree, &mechanism.layout);
        for (slot, bar) in self.negative.iter_mut().zip(bar) {
            *slot = -bar;
        }
        let place = Place { tree, layout, c, k: &self.value.kinematics };
        let world = lift(tree, layout, c);
        let rates = Rates { lambda: &self.negative, v: at.qvel, a: &self.zeros, world };
        let gravity = tree.options.gravity;
        let inertias = &self.value.inertias;
        self.sweep.pull(place, inertias, rates, at.qpos, mechanism.wanted, gravity, out);
    }
}
