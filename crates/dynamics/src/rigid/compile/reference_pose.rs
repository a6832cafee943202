//! Constants that follow from others at the reference pose: inverse inertias along constraints and
//! actuators, lengths of tendons, geometry of equality constraints.

use costate_num::spatial::Force;
use costate_num::{Scalar, Vec3};

use super::super::constants::Layout;
use super::super::forward::Dynamics;
use super::super::kinematics::vec3;
use super::super::tree::{JointKind, Tree};

/// Which values are wanted and where they go in a flat array of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// Tendons whose spring rests at the length that they have where springs rest.
    pub resting: Vec<usize>,
    /// Connect constraints between bodies: constraint, bodies.
    pub connects: Vec<(usize, [usize; 2])>,
    /// Weld constraints between bodies whose relative pose is that of the reference pose.
    pub welds: Vec<(usize, [usize; 2])>,
}

/// The results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Results<S> {
    /// Per body: translation, rotation.
    pub body: Vec<[S; 2]>,
    /// Per degree of freedom.
    pub dof: Vec<S>,
    /// Per tendon.
    pub tendon: Vec<S>,
    /// Per tendon.
    pub length: Vec<S>,
    /// Per actuator: J M⁻¹ Jᵀ.
    pub actuator: Vec<S>,
    /// Per actuator: |M⁻¹ Jᵀ|.
    pub acceleration: Vec<S>,
    /// Per resting tendon.
    pub resting: Vec<S>,
    /// Per connect: the anchor in the second body.
    pub connects: Vec<[S; 3]>,
    /// Per weld: the anchor in the first body and the relative orientation.
    pub welds: Vec<[S; 7]>,
}

impl<S: Scalar> Results<S> {
    /// Zeros, for a structure.
    pub fn new(tree: &Tree, wanted: &Wanted) -> Self {
        let zeros = |n: usize| vec![S::zero(); n];
        Self {
            body: vec![[S::zero(); 2]; tree.bodies.len()],
            dof: zeros(tree.nv),
            tendon: zeros(tree.tendons.len()),
            length: zeros(tree.tendons.len()),
            actuator: zeros(tree.actuators.len()),
            acceleration: zeros(tree.actuators.len()),
            resting: zeros(wanted.resting.len()),
            connects: vec![[S::zero(); 3]; wanted.connects.len()],
            welds: vec![[S::zero(); 7]; wanted.welds.len()],
        }
    }

    /// All numbers, in a fixed order.
    pub fn flatten(&self, into: &mut Vec<S>) {
        into.clear();
        into.extend(self.body.iter().flatten());
        for list in [
            &self.dof,
            &self.tendon,
            &self.length,
            &self.actuator,
            &self.acceleration,
            &self.resting,
        ] {
            into.extend(list);
        }
        into.extend(self.connects.iter().flatten());
        into.extend(self.welds.iter().flatten());
    }

    /// From numbers in that order.
    pub fn unflatten(&mut self, from: &[S]) {
        let mut next = from.iter().copied();
        let mut take = |slot: &mut S| {
            if let Some(value) = next.next() {
                *slot = value;
            }
        };
        self.body.iter_mut().flatten().for_each(&mut take);
        for list in [
            &mut self.dof,
            &mut self.tendon,
            &mut self.length,
            &mut self.actuator,
            &mut self.acceleration,
            &mut self.resting,
        ] {
            list.iter_mut().for_each(&mut take);
        }
        self.connects.iter_mut().flatten().for_each(&mut take);
        self.welds.iter_mut().flatten().for_each(&mut take);
    }
}

/// A row whose inverse inertia is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    /// Velocity of a body's centre of mass along an axis of the world.
    Translation(usize, usize),
    /// Angular velocity of a body about an axis of the world.
    Rotation(usize, usize),
    /// A degree of freedom.
    Dof(usize),
    /// A tendon.
    Tendon(usize),
    /// An actuator.
    Actuator(usize),
}

/// Room for the evaluation.
#[derive(Clone, Debug)]
pub(super) struct Pose<S> {
    pub dynamics: Dynamics<S>,
    pub row: Vec<S>,
}

impl<S: Scalar> Pose<S> {
    pub fn new(tree: &Tree) -> Self {
        Self { dynamics: Dynamics::new(tree), row: vec![S::zero(); tree.nv] }
    }

    /// Places, rows and the factors of M at the reference pose. Returns a degree of freedom whose
    /// inertia is not positive.
    pub fn update(&mut self, tree: &Tree, layout: &Layout, c: &[S]) -> Option<usize> {
        let qpos = &c[layout.qpos0.range()];
        let d = &mut self.dynamics;
        d.update_position(tree, layout, c, qpos);
        d.update_mass(tree, layout, c);
        d.factors.entries.copy_from_slice(&d.mass.entries);
        let zero = vec![S::zero(); tree.nv];
        let Dynamics { kinematics, tendons, actuation, .. } = d;
        actuation.update_transmission(tree, layout, c, kinematics, tendons, qpos, &zero);
        d.factors.factorise(tree)
    }

    /// Writes a row into `self.row`.
    fn fill(&mut self, tree: &Tree, row: Row) {
        self.row.fill(S::zero());
        let d = &self.dynamics;
        let k = &d.kinematics;
        match row {
            Row::Translation(b, axis) | Row::Rotation(b, axis) => {
                let e =
                    Vec3::from_array([0, 1, 2].map(|i| S::splat(f64::from(u8::from(i == axis)))));
                let force = if matches!(row, Row::Translation(..)) {
                    Force::at_point(e, k.xipos[b] - k.origin[b])
                } else {
                    Force::new(e, Vec3::zero())
                };
                let mut next = tree.last_dof[b];
                while let Some(dof) = next {
                    self.row[dof] = k.subspace[dof].dot(force);
                    next = tree.dof_parent[dof];
                }
            }
            Row::Dof(dof) => self.row[dof] = S::one(),
            Row::Tendon(t) => {
                for at in d.tendons.entries(t) {
                    self.row[d.tendons.dofs[at]] += d.tendons.jacobian[at];
                }
            }
            Row::Actuator(i) => {
                for at in d.actuation.entries(i) {
                    self.row[d.actuation.dofs[at]] += d.actuation.moment[at];
                }
            }
        }
    }

    /// J M⁻¹ Jᵀ of a row, and M⁻¹ Jᵀ in `self.row`.
    pub fn weigh(&mut self, tree: &Tree, row: Row) -> S {
        self.fill(tree, row);
        let jacobian = self.row.clone();
        self.dynamics.factors.solve(tree, &mut self.row);
        let mut sum = S::zero();
        for (j, x) in jacobian.iter().zip(&self.row) {
            sum += *j * *x;
        }
        sum
    }

    /// J M⁻¹ Jᵀ of a row.
    fn inverse_inertia(&mut self, tree: &Tree, row: Row) -> S {
        let last = match row {
            Row::Translation(b, _) | Row::Rotation(b, _) => tree.last_dof[b],
            Row::Dof(dof) => Some(dof),
            Row::Tendon(_) | Row::Actuator(_) => None,
        };
        let Some(last) = last else { return self.weigh(tree, row) };
        self.fill(tree, row);
        self.dynamics.factors.inverse_form(tree, last, &mut self.row)
    }

    /// All results. Returns a degree of freedom whose inertia is not positive.
    pub fn evaluate(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        wanted: &Wanted,
        out: &mut Results<S>,
    ) -> Option<usize> {
        let bad = self.update(tree, layout, c);
        if bad.is_some() {
            return bad;
        }
        let third = S::splat(1.0 / 3.0);
        for b in 1..tree.bodies.len() {
            if tree.last_dof[b].is_none() {
                continue;
            }
            let (mut translation, mut rotation) = (S::zero(), S::zero());
            for axis in 0..3 {
                translation += self.inverse_inertia(tree, Row::Translation(b, axis));
                rotation += self.inverse_inertia(tree, Row::Rotation(b, axis));
            }
            out.body[b] = [translation * third, rotation * third];
        }
        for joint in &tree.joints {
            for (start, end) in dof_groups(joint.kind, joint.dof) {
                let mut sum = S::zero();
                for dof in start..end {
                    sum += self.inverse_inertia(tree, Row::Dof(dof));
                }
                out.dof[start..end].fill(sum * S::splat(1.0 / (end - start) as f64));
            }
        }
        for t in 0..tree.tendons.len() {
            out.tendon[t] = self.weigh(tree, Row::Tendon(t));
            out.length[t] = self.dynamics.tendons.length[t];
        }
        for i in 0..tree.actuators.len() {
            out.actuator[i] = self.weigh(tree, Row::Actuator(i));
            let mut squared = S::zero();
            for x in &self.row {
                squared += *x * *x;
            }
            out.acceleration[i] = squared.sqrt();
        }
        let k = &self.dynamics.kinematics;
        for (slot, &(e, [first, second])) in out.connects.iter_mut().zip(&wanted.connects) {
            let point = k.xpos[first] + k.xmat[first].apply(anchor(layout, c, e));
            *slot = k.xmat[second].apply_transposed(point - k.xpos[second]).to_array();
        }
        for (slot, &(e, [first, second])) in out.welds.iter_mut().zip(&wanted.welds) {
            let point = k.xpos[second] + k.xmat[second].apply(anchor(layout, c, e));
            let [x, y, z] = k.xmat[first].apply_transposed(point - k.xpos[first]).to_array();
            let q = k.xquat[first].conjugate().product(k.xquat[second]);
            *slot = [x, y, z, q.w, q.v.x, q.v.y, q.v.z];
        }
        if !wanted.resting.is_empty() {
            let qpos = &c[layout.qpos_spring.range()];
            let d = &mut self.dynamics;
            d.kinematics.update(tree, layout, c, qpos);
            d.tendons.update(tree, layout, c, &d.kinematics, qpos);
            for (slot, &t) in out.resting.iter_mut().zip(&wanted.resting) {
                *slot = d.tendons.length[t];
            }
        }
        None
    }
}

/// The degrees of freedom of a joint whose inverse inertias are averaged.
pub(super) fn dof_groups(kind: JointKind, dof: usize) -> Vec<(usize, usize)> {
    match kind {
        JointKind::Free => vec![(dof, dof + 3), (dof + 3, dof + 6)],
        JointKind::Ball => vec![(dof, dof + 3)],
        JointKind::Slide | JointKind::Hinge => vec![(dof, dof + 1)],
    }
}

pub(super) fn anchor<S: Scalar>(layout: &Layout, c: &[S], e: usize) -> Vec3<S> {
    vec3(c, layout.eq_data, e)
}
