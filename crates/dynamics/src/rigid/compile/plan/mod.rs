//! Which constant follows from which leaves: the list of steps, made once from the structure.

mod actuators;
mod bodies;
mod equalities;
mod following;
mod geoms;
mod joints;
mod tendons;

use costate_model::rigid as m;
use costate_model::{LeafId, Leaves, Model};

use super::super::constants::{Block, Layout};
use super::super::tree::Tree;
use super::CompileError;
use super::inertia::{Bound, PrincipalAxes, TotalMass};
use super::op::{Kind, Op};
use super::reference_pose::Wanted;

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
        if let Some(fluid) = &a.options.fluid {
            for (id, block) in [
                (fluid.density, layout.density),
                (fluid.viscosity, layout.viscosity),
                (fluid.wind, layout.wind),
            ] {
                p.copy_some(Some(id), block, 0);
            }
        }
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
}
