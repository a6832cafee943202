//! Degrees of freedom whose velocity-dependent inertial forces are taken implicitly: their part of A is not
//! symmetric and has factors of its own.

use costate_num::spatial::{Motion, RigidInertia};

use super::dense::Lu;
use super::error::RigidError;
use super::evaluation::Evaluation;
use super::inverse::{accelerations, along, body_forces, gather, groups};
use super::tree::{Integrator, JointKind, Tree};

/// Degrees of freedom whose velocity-dependent inertial forces are implicit, and the factors of their
/// part of A.
#[derive(Clone, Debug)]
pub(super) struct Turning {
    pub dofs: std::ops::Range<usize>,
    pub factors: Lu,
    /// Whether it does: under the discrete integrator not where rows, or slopes of tendons or actuators, act on
    /// the body.
    pub active: bool,
}

impl Turning {
    /// Those of a tree's integrator.
    pub fn of(tree: &Tree) -> Vec<Self> {
        let parts: Vec<std::ops::Range<usize>> = match tree.options.integrator {
            Integrator::Implicit => std::iter::once(0..tree.nv).collect(),
            Integrator::ImplicitFast | Integrator::Discrete => {
                standalone(tree).map(|b| tree.bodies[b].dofs.clone()).collect()
            }
            Integrator::Euler | Integrator::Rk4 => Vec::new(),
        };
        let part = |dofs| Self { dofs, factors: Lu::default(), active: true };
        parts.into_iter().map(part).collect()
    }
}

/// The free bodies that nothing hangs on: their rotation is implicit under implicitfast too.
fn standalone(tree: &Tree) -> impl Iterator<Item = usize> + '_ {
    tree.bodies.iter().enumerate().filter_map(|(b, body)| {
        let free = body.joints.len() == 1 && tree.joints[body.joints.start].kind == JointKind::Free;
        let bare = tree.bodies.iter().skip(b + 1).all(|other| other.parent != b);
        (free && bare).then_some(b)
    })
}

/// Whether the inertial forces of body `b` are implicit.
pub(super) fn turns(turning: &[Turning], tree: &Tree, b: usize) -> bool {
    tree.last_dof[b].is_some_and(|dof| turning.iter().any(|part| part.dofs.contains(&dof)))
}

/// The inertial forces at zero joint acceleration of a body that hangs on the world and that nothing hangs
/// on, added to `out`.
fn body_bias(
    tree: &Tree,
    b: usize,
    subspace: &[Motion<f64>],
    inertia: RigidInertia<f64>,
    v: &[f64],
    out: &mut [f64],
) {
    let (mut velocity, mut acceleration) = (Motion::zero(), Motion::zero());
    for j in tree.bodies[b].joints.clone() {
        for group in groups(&tree.joints[j]) {
            if group.0 < group.1 {
                let u = along(subspace, v, group);
                acceleration += velocity.cross(u);
                velocity += u;
            }
        }
    }
    let force = inertia.apply(acceleration) + velocity.cross_force(inertia.apply(velocity));
    for dof in tree.bodies[b].dofs.clone() {
        out[dof] += subspace[dof].dot(force);
    }
}

impl Evaluation {
    /// Advances the degrees of freedom whose inertial forces are implicit, from the forces in
    /// `self.force`.
    pub(super) fn turn(&mut self, tree: &Tree, v: &[f64]) -> Result<(), RigidError> {
        let Self { turning, dynamics: d, metric, slopes, scratch, .. } = self;
        let h = tree.options.timestep;
        let stiff = if tree.options.integrator == Integrator::Discrete { h } else { 0.0 };
        for part in turning.iter_mut().filter(|part| part.active) {
            let (n, dofs) = (part.dofs.len(), part.dofs.clone());
            let matrix = part.factors.start(n);
            for i in dofs.clone() {
                for at in tree.rows[i].clone() {
                    let j = tree.columns[at];
                    if dofs.contains(&j) {
                        let (i, j) = (i - dofs.start, j - dofs.start);
                        matrix[i * n + j] = d.mass.entries[at];
                        matrix[j * n + i] = d.mass.entries[at];
                    }
                }
            }
            let ([unit, column], held) = (&mut scratch.rates, &mut scratch.held);
            for j in dofs.clone() {
                unit.fill(0.0);
                held.fill(0.0);
                (unit[j], held[j]) = (1.0, stiff);
                column.fill(0.0);
                metric.subtract(tree, &d.tendons, &d.actuation, unit, held, column);
                let only = (n != tree.nv).then(|| tree.dof_body[dofs.start]);
                slopes.subtract(tree, &d.kinematics.subspace, unit, only, column);
                for i in dofs.clone() {
                    matrix[(i - dofs.start) * n + j - dofs.start] -= column[i];
                }
            }
            let subspace = &d.kinematics.subspace;
            let body = tree.dof_body[dofs.start];
            for j in dofs.clone() {
                for (sign, half) in [(1.0, 0.5), (-1.0, -0.5)] {
                    unit.copy_from_slice(v);
                    unit[j] += sign;
                    column.fill(0.0);
                    if n == tree.nv {
                        let (velocity, acceleration) =
                            (&mut scratch.velocity, &mut scratch.acceleration);
                        let world = Motion::zero();
                        accelerations(tree, subspace, unit, &[], world, velocity, acceleration);
                        body_forces(&d.inertias, velocity, acceleration, &mut scratch.forces);
                        gather(tree, subspace, &mut scratch.forces, column);
                    } else {
                        body_bias(tree, body, subspace, d.inertias[body], unit, column);
                    }
                    for i in dofs.clone() {
                        matrix[(i - dofs.start) * n + j - dofs.start] += h * half * column[i];
                    }
                }
            }
            if let Some(k) = part.factors.factorise() {
                return Err(RigidError::Singular { dof: dofs.start + k });
            }
            let x = &mut self.step_acceleration[dofs.clone()];
            x.copy_from_slice(&self.force[dofs]);
            part.factors.solve(x);
        }
        Ok(())
    }

    /// Degrees of freedom whose inertial forces are implicit.
    pub(crate) fn turning_dofs(&self) -> Vec<std::ops::Range<usize>> {
        self.turning.iter().filter(|part| part.active).map(|part| part.dofs.clone()).collect()
    }

    /// The part of A⁻¹ `force` of the degrees of freedom whose inertial forces are implicit, into `x`.
    pub(crate) fn solve_turning(&mut self, force: &[f64], x: &mut [f64]) {
        for part in self.turning.iter_mut().filter(|part| part.active) {
            let own = &mut x[part.dofs.clone()];
            own.copy_from_slice(&force[part.dofs.clone()]);
            part.factors.solve(own);
        }
    }
}
