//! From the leaves of a model to the compiled constants of its articulation, and derivatives of that.
//!
//! A [`Derivation`] is a list of steps made once from the structure: small functions (a geom's size and
//! density to its inertia, say), whose derivatives are those of dual numbers, and a few larger ones with
//! derivatives of their own, of which the one at the reference pose matters most: inverse inertias,
//! which everything about constraints hangs on, are solves with M there.
//!
//! Inertias are full tensors in the axes of their body throughout. No eigenvector is differentiated,
//! so symmetric bodies have the same derivatives as any other.

mod inertia;
mod op;
mod plan;
mod pull_reference_pose;
mod rederive;
mod reference_pose;
mod structure;

use costate_model::{Model, ModelError};
use costate_num::Dual;

use super::constants::Layout;
use super::tree::{Tree, TreeError};
use plan::{Plan, Step};
use reference_pose::{Pose, Results};

/// An articulation that cannot be compiled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The model has no articulation.
    #[error("the model has no articulated bodies")]
    NoArticulation,
    /// Bodies and joints are no tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The model contradicts itself.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Something of the model that is not simulated.
    #[error("{element}: {what} are not simulated")]
    NotSimulated {
        /// The element.
        element: String,
        /// What is not simulated.
        what: &'static str,
    },
    /// A degree of freedom that moves no mass.
    #[error(
        "joint.{joint} moves no mass and has no armature, or its inertia is not positive; give \
         body.{body}, or a body that hangs on it, a mass"
    )]
    Massless {
        /// The joint.
        joint: String,
        /// Its body.
        body: String,
    },
    /// A constant that is not finite.
    #[error("the compiled constant {name} of element {index} is not finite")]
    NotFinite {
        /// Its name in mjModel.
        name: &'static str,
        /// The element's number.
        index: usize,
    },
}

/// The derivation of the compiled constants from θ.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The structure.
    pub tree: Tree,
    /// Where the constants lie.
    pub layout: Layout,
    plan: Plan,
    /// Names of joints and their bodies, for errors.
    names: Vec<[String; 2]>,
}

impl Derivation {
    /// Plans the derivation for the structure of a model.
    ///
    /// # Errors
    /// No articulation, one that is no tree, or something in it that is not simulated.
    pub fn new(model: &Model) -> Result<Self, CompileError> {
        let a = model.articulation.as_ref().ok_or(CompileError::NoArticulation)?;
        let tree = structure::tree(model, a)?;
        let layout = Layout::new(&tree);
        let plan = Plan::new(model, a, &tree, &layout)?;
        let names =
            a.joints.iter().map(|j| [j.name.clone(), a.bodies[j.body].name.clone()]).collect();
        Ok(Self { tree, layout, plan, names })
    }

    /// The constants for θ.
    ///
    /// # Errors
    /// A degree of freedom without inertia, a constant that is not finite.
    pub fn derive(&self, theta: &[f64]) -> Result<Vec<f64>, CompileError> {
        let z = self.evaluate(theta)?;
        let c = &z[self.constants()];
        if let Some(at) = c.iter().position(|x| !x.is_finite()) {
            let blocks = self.layout.blocks();
            let found = blocks.iter().find(|(_, block)| block.range().contains(&at));
            let (name, index) =
                found.map_or(("", 0), |(name, block)| (*name, (at - block.start) / block.width));
            return Err(CompileError::NotFinite { name, index });
        }
        Ok(c.to_vec())
    }

    /// The tangent of the constants for the tangent of θ.
    ///
    /// # Errors
    /// As [`derive`](Self::derive).
    pub fn pushforward(&self, theta: &[f64], theta_dot: &[f64]) -> Result<Vec<f64>, CompileError> {
        let z = self.evaluate(theta)?;
        let mut z_dot = vec![0.0; z.len()];
        z_dot[..self.plan.theta].copy_from_slice(theta_dot);
        let mut scratch = op::Scratch::default();
        for step in &self.plan.steps {
            match step {
                Step::Op(op) => op.push(&z, &mut z_dot, &mut scratch),
                Step::Bound(bound) => bound.push(&z, &mut z_dot),
                Step::TotalMass(total) => total.push(&z, &mut z_dot),
                Step::PrincipalAxes(axes) => axes.push(&z, &mut z_dot),
                Step::ReferencePose(start) => self.push_reference_pose(&z, &mut z_dot, *start)?,
            }
        }
        Ok(z_dot[self.constants()].to_vec())
    }

    /// Adds to `theta_bar` what the adjoint of the constants gives.
    ///
    /// # Errors
    /// As [`derive`](Self::derive).
    pub fn pullback(
        &self,
        theta: &[f64],
        c_bar: &[f64],
        theta_bar: &mut [f64],
    ) -> Result<(), CompileError> {
        let z = self.evaluate(theta)?;
        let mut z_bar = vec![0.0; z.len()];
        z_bar[self.constants()].copy_from_slice(c_bar);
        let mut scratch = op::Scratch::default();
        for step in self.plan.steps.iter().rev() {
            match step {
                Step::Op(op) => op.pull(&z, &mut z_bar, &mut scratch),
                Step::Bound(bound) => bound.pull(&z, &mut z_bar),
                Step::TotalMass(total) => total.pull(&z, &mut z_bar),
                Step::PrincipalAxes(axes) => axes.pull(&z, &mut z_bar),
                Step::ReferencePose(start) => self.pull_reference_pose(&z, &mut z_bar, *start),
            }
        }
        for (bar, z) in theta_bar.iter_mut().zip(&z_bar) {
            *bar += z;
        }
        Ok(())
    }

    fn constants(&self) -> std::ops::Range<usize> {
        self.plan.theta..self.plan.theta + self.layout.len
    }

    /// All variables.
    fn evaluate(&self, theta: &[f64]) -> Result<Vec<f64>, CompileError> {
        if theta.len() != self.plan.theta {
            return Err(CompileError::Model(ModelError::WrongLength {
                path: "theta".into(),
                expected: self.plan.theta,
                found: theta.len(),
            }));
        }
        let mut z = self.plan.template.clone();
        z[..theta.len()].copy_from_slice(theta);
        let mut scratch = op::Scratch::default();
        for step in &self.plan.steps {
            match step {
                Step::Op(op) => op.evaluate(&mut z, &mut scratch),
                Step::Bound(bound) => bound.evaluate(&mut z),
                Step::TotalMass(total) => total.evaluate(&mut z),
                Step::PrincipalAxes(axes) => axes.evaluate(&mut z),
                Step::ReferencePose(start) => {
                    let mut out = Results::new(&self.tree, &self.plan.wanted);
                    let c = &z[self.constants()];
                    let mut pose = Pose::new(&self.tree);
                    let wanted = &self.plan.wanted;
                    if let Some(dof) = pose.evaluate(&self.tree, &self.layout, c, wanted, &mut out)
                    {
                        let [joint, body] = self.names[self.tree.dof_joint[dof]].clone();
                        return Err(CompileError::Massless { joint, body });
                    }
                    let mut flat = Vec::new();
                    out.flatten(&mut flat);
                    z[*start..*start + flat.len()].copy_from_slice(&flat);
                }
            }
        }
        Ok(z)
    }

    fn push_reference_pose(
        &self,
        z: &[f64],
        z_dot: &mut [f64],
        start: usize,
    ) -> Result<(), CompileError> {
        let range = self.constants();
        let c: Vec<Dual<f64>> = z[range.clone()]
            .iter()
            .zip(&z_dot[range])
            .map(|(&value, &tangent)| Dual::new(value, tangent))
            .collect();
        let mut out = Results::new(&self.tree, &self.plan.wanted);
        let mut pose = Pose::new(&self.tree);
        pose.evaluate(&self.tree, &self.layout, &c, &self.plan.wanted, &mut out);
        let mut flat = Vec::new();
        out.flatten(&mut flat);
        for (slot, value) in z_dot[start..].iter_mut().zip(&flat) {
            *slot = value.tangent[0];
        }
        Ok(())
    }

    fn pull_reference_pose(&self, z: &[f64], z_bar: &mut [f64], start: usize) {
        let mut bar = Results::new(&self.tree, &self.plan.wanted);
        let mut flat = Vec::new();
        bar.flatten(&mut flat);
        bar.unflatten(&z_bar[start..start + flat.len()]);
        let mut pose = Pose::new(&self.tree);
        let range = self.constants();
        pull_reference_pose::pull(
            &self.tree,
            &self.layout,
            &z[range.clone()],
            &self.plan.wanted,
            &bar,
            &mut pose,
            &mut z_bar[range],
        );
    }
}
