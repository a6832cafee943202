//! Actuators: transmissions, activations and forces.

use std::ops::Range;

use costate_num::spatial::Force;
use costate_num::{Quat, Scalar, Vec3};

use super::constants::Layout;
use super::kinematics::{Kinematics, quat_at};
use super::muscle::{self, Muscle};
use super::tendon::Tendons;
use super::tree::{BiasKind, DynamicsKind, GainKind, JointKind, Transmission, Tree};

/// Smaller time constants are replaced by this, s.
pub(crate) const SHORTEST: f64 = 1e-15;

/// Lengths, moments, forces and activations of all actuators.
#[derive(Clone, Debug)]
pub struct Actuation<S> {
    /// Per actuator: its length.
    pub length: Vec<S>,
    /// Per actuator: the rate of its length.
    pub velocity: Vec<S>,
    /// Joint-space force by unit force, for each degree of freedom that can change the length.
    pub moment: Vec<S>,
    /// The degree of freedom of each entry.
    pub dofs: Vec<usize>,
    /// Per actuator: its force.
    pub force: Vec<S>,
    /// Per activation: its rate.
    pub act_dot: Vec<S>,
    /// Per activation: its value after the step.
    pub act_next: Vec<S>,
    starts: Vec<usize>,
}

/// Degrees of freedom that move `body` and, where there is one, not `reference`, or the other way
/// round: those that move both have no influence on what is between them.
fn separate_dofs(tree: &Tree, body: usize, reference: Option<usize>) -> Vec<usize> {
    let above = |body: usize| {
        let (mut dofs, mut next) = (Vec::new(), tree.last_dof[body]);
        while let Some(dof) = next {
            dofs.push(dof);
            next = tree.dof_parent[dof];
        }
        dofs
    };
    let first = above(body);
    let second = reference.map(above).unwrap_or_default();
    let mut dofs: Vec<usize> = first.iter().filter(|d| !second.contains(d)).copied().collect();
    dofs.extend(second.iter().filter(|d| !first.contains(d)));
    dofs.sort_unstable();
    dofs
}

/// A vector of the gear of an actuator: its first or second three numbers.
#[inline(always)]
pub(crate) fn gear<S: Scalar>(layout: &Layout, c: &[S], i: usize, part: usize) -> Vec3<S> {
    let at = layout.actuator_gear.at(i) + 3 * part;
    Vec3::new(c[at], c[at + 1], c[at + 2])
}

/// One actuator's scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drive<S> {
    /// Its control, as given.
    pub control: S,
    /// Its activation; zero where it has none.
    pub activation: S,
    /// Its length.
    pub length: S,
    /// Its velocity.
    pub velocity: S,
}

/// What an actuator does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort<S> {
    /// Its force, clamped.
    pub force: S,
    /// Slope of the force by velocity, zero where it is clamped.
    pub by_velocity: S,
    /// Slope of the force by length, zero where it is clamped; not known for muscles.
    pub by_length: S,
    /// The rate of its activation.
    pub act_dot: S,
    /// Its activation after the step.
    pub act_next: S,
}

/// The activation of actuator `i` after the step, from its rate; clamped to its range.
pub(crate) fn next_activation<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    i: usize,
    act: S,
    rate: S,
) -> S {
    let actuator = &tree.actuators[i];
    let h = S::splat(tree.options.timestep);
    let next = if actuator.dynamics == DynamicsKind::FilterExact {
        let tau = c[layout.actuator_dynprm.at(i)].max(S::splat(SHORTEST));
        act + rate * tau * (S::one() - (-(h / tau)).exp())
    } else {
        act + rate * h
    };
    if actuator.activation_limited {
        let at = layout.actuator_actrange.at(i);
        next.clamp(c[at], c[at + 1])
    } else {
        next
    }
}

/// Evaluates actuator `i`.
pub(crate) fn effort<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    i: usize,
    drive: Drive<S>,
) -> Effort<S> {
    let actuator = &tree.actuators[i];
    let bounds = |range: Range<usize>| (c[range.start], c[range.start + 1]);
    let mut control = drive.control;
    if actuator.control_limited && tree.options.clamp_control {
        let (low, high) = bounds(layout.actuator_ctrlrange.entry(i));
        control = control.clamp(low, high);
    }
    let dynprm = &c[layout.actuator_dynprm.entry(i)];
    let act = drive.activation;
    let act_dot = match actuator.dynamics {
        DynamicsKind::None => S::zero(),
        DynamicsKind::Integrator => control,
        DynamicsKind::Filter | DynamicsKind::FilterExact => {
            (control - act) / dynprm[0].max(S::splat(SHORTEST))
        }
        DynamicsKind::Muscle => {
            muscle::activation_rate(control, act, [dynprm[0], dynprm[1], dynprm[2]])
        }
    };
    let act_next = match actuator.activation {
        None => S::zero(),
        Some(_) => next_activation(tree, layout, c, i, act, act_dot),
    };
    let input = match actuator.activation {
        None => control,
        Some(_) if actuator.early => act_next,
        Some(_) => act,
    };
    let at_range = layout.actuator_lengthrange.at(i);
    let fibre = Muscle {
        length: drive.length,
        velocity: drive.velocity,
        range: [c[at_range], c[at_range + 1]],
        acc0: c[layout.actuator_acc0.at(i)],
    };
    let g = layout.actuator_gainprm.at(i);
    let (l, v) = (drive.length, drive.velocity);
    let zero = S::zero();
    let (gain, gain_by_velocity, gain_by_length) = match actuator.gain {
        GainKind::Fixed => (c[g], zero, zero),
        GainKind::Affine => (c[g] + c[g + 1] * l + c[g + 2] * v, c[g + 2], c[g + 1]),
        GainKind::Muscle => {
            let (gain, slope) = fibre.gain(nine(c, g));
            (gain, slope, zero)
        }
    };
    let b = layout.actuator_biasprm.at(i);
    let (bias, bias_by_velocity, bias_by_length) = match actuator.bias {
        BiasKind::None => (zero, zero, zero),
        BiasKind::Affine => (c[b] + c[b + 1] * l + c[b + 2] * v, c[b + 2], c[b + 1]),
        BiasKind::Muscle => (fibre.bias(nine(c, b)), zero, zero),
    };
    let mut force = gain * input + bias;
    let mut by_velocity = gain_by_velocity * input + bias_by_velocity;
    let mut by_length = gain_by_length * input + bias_by_length;
    if actuator.force_limited {
        let (low, high) = bounds(layout.actuator_forcerange.entry(i));
        force = force.clamp(low, high);
        let clamped = force.le(low) | force.ge(high);
        by_velocity = S::select(clamped, zero, by_velocity);
        by_length = S::select(clamped, zero, by_length);
    }
    Effort { force, by_velocity, by_length, act_dot, act_next }
}

fn nine<S: Scalar>(c: &[S], at: usize) -> [S; 9] {
    [c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4], c[at + 5], c[at + 6], c[at + 7], c[at + 8]]
}

impl<S: Scalar> Actuation<S> {
    /// Room for a structure.
    pub fn new(tree: &Tree, tendons: &Tendons<S>) -> Self {
        let (mut dofs, mut starts) = (Vec::new(), vec![0]);
        for actuator in &tree.actuators {
            match actuator.transmission {
                Transmission::Joint(j) | Transmission::JointInParent(j) => {
                    let joint = &tree.joints[j];
                    dofs.extend(joint.dof..joint.dof + joint.kind.dofs());
                }
                Transmission::Tendon(t) => dofs.extend(&tendons.dofs[tendons.entries(t)]),
                Transmission::Site { site, reference } => dofs.extend(separate_dofs(
                    tree,
                    tree.sites[site].body,
                    reference.map(|r| tree.sites[r].body),
                )),
                Transmission::SliderCrank { crank, slider } => {
                    let [crank, slider] = [crank, slider].map(|s| tree.sites[s].body);
                    dofs.extend(separate_dofs(tree, crank, Some(slider)));
                }
            }
            starts.push(dofs.len());
        }
        let n = tree.actuators.len();
        Self {
            length: vec![S::zero(); n],
            velocity: vec![S::zero(); n],
            moment: vec![S::zero(); dofs.len()],
            dofs,
            force: vec![S::zero(); n],
            act_dot: vec![S::zero(); tree.na],
            act_next: vec![S::zero(); tree.na],
            starts,
        }
    }

    /// Where the entries of actuator `i` lie.
    pub fn entries(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Lengths and moments at a configuration, velocities.
    pub fn update_transmission(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        k: &Kinematics<S>,
        tendons: &Tendons<S>,
        qpos: &[S],
        v: &[S],
    ) {
        for (i, actuator) in tree.actuators.iter().enumerate() {
            let at = self.starts[i];
            let scale = c[layout.actuator_gear.at(i)];
            match actuator.transmission {
                Transmission::Tendon(t) => {
                    self.length[i] = tendons.length[t] * scale;
                    for (n, entry) in tendons.entries(t).enumerate() {
                        self.moment[at + n] = tendons.jacobian[entry] * scale;
                    }
                }
                Transmission::Joint(j) => self.joint(tree, layout, c, qpos, i, j, false),
                Transmission::JointInParent(j) => self.joint(tree, layout, c, qpos, i, j, true),
                Transmission::Site { site, reference } => {
                    self.site(tree, layout, c, k, i, site, reference);
                }
                Transmission::SliderCrank { crank, slider } => {
                    self.slider_crank(tree, layout, c, k, i, [crank, slider]);
                }
            }
            let mut rate = S::zero();
            for entry in self.entries(i) {
                rate += self.moment[entry] * v[self.dofs[entry]];
            }
            self.velocity[i] = rate;
        }
    }

    fn joint(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        qpos: &[S],
        i: usize,
        j: usize,
        in_parent: bool,
    ) {
        let (joint, at) = (&tree.joints[j], self.starts[i]);
        let q = joint.qpos;
        let turned = |quat: Quat<S>, axis: Vec3<S>| {
            if in_parent { quat.conjugate().rotate(axis) } else { axis }
        };
        match joint.kind {
            JointKind::Slide | JointKind::Hinge => {
                let scale = c[layout.actuator_gear.at(i)];
                self.length[i] = qpos[q] * scale;
                self.moment[at] = scale;
            }
            JointKind::Ball => {
                let quat = quat_at(qpos, q).normalize();
                let axis = turned(quat, gear(layout, c, i, 0));
                self.length[i] = axis.dot(quat.to_rotation_vector());
                self.moment[at..at + 3].copy_from_slice(&axis.to_array());
            }
            JointKind::Free => {
                let quat = quat_at(qpos, q + 3).normalize();
                let axis = turned(quat, gear(layout, c, i, 1));
                self.length[i] = S::zero();
                self.moment[at..at + 3].copy_from_slice(&gear(layout, c, i, 0).to_array());
                self.moment[at + 3..at + 6].copy_from_slice(&axis.to_array());
            }
        }
    }

    fn site(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        k: &Kinematics<S>,
        i: usize,
        site: usize,
        reference: Option<usize>,
    ) {
        let own = k.site(tree, layout, c, site);
        let body = tree.sites[site].body;
        let frame = match reference {
            None => own,
            Some(r) => k.site(tree, layout, c, r),
        };
        let force = frame.orientation.rotate(gear(layout, c, i, 0));
        let torque = frame.orientation.rotate(gear(layout, c, i, 1));
        self.length[i] = S::zero();
        let entries = self.entries(i);
        let pull = |position: Vec3<S>, body: usize| {
            Force::at_point(force, position - k.origin[body]) + Force::new(torque, Vec3::zero())
        };
        let wrench = pull(own.position, body);
        let Some(r) = reference else {
            for entry in entries {
                self.moment[entry] = k.subspace[self.dofs[entry]].dot(wrench);
            }
            return;
        };
        let other = tree.sites[r].body;
        let turn = frame.orientation.conjugate().product(own.orientation).to_rotation_vector();
        self.length[i] = force.dot(own.position - frame.position) + gear(layout, c, i, 1).dot(turn);
        let against = pull(frame.position, other);
        for entry in entries {
            let dof = self.dofs[entry];
            let moves_own = tree.is_above(tree.dof_body[dof], body);
            let motion = k.subspace[dof];
            self.moment[entry] = if moves_own { motion.dot(wrench) } else { -motion.dot(against) };
        }
    }

    /// Forces and activations from controls; adds joint-space forces to `out`.
    pub fn update_forces(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        act: &[S],
        ctrl: &[S],
        out: &mut [S],
    ) {
        for (i, actuator) in tree.actuators.iter().enumerate() {
            let drive = self.drive(tree, i, act, ctrl);
            let effort = effort(tree, layout, c, i, drive);
            self.force[i] = effort.force;
            if let Some(a) = actuator.activation {
                self.act_dot[a] = effort.act_dot;
                self.act_next[a] = effort.act_next;
            }
        }
        if !tree.options.actuation {
            for force in &mut self.force {
                *force = S::zero();
            }
            return;
        }
        self.limit_tendons(tree, layout, c);
        for i in 0..tree.actuators.len() {
            for entry in self.entries(i) {
                out[self.dofs[entry]] += self.moment[entry] * self.force[i];
            }
        }
    }

    /// The scalars of actuator `i`.
    pub(crate) fn drive(&self, tree: &Tree, i: usize, act: &[S], ctrl: &[S]) -> Drive<S> {
        Drive {
            control: ctrl[i],
            activation: tree.actuators[i].activation.map_or(S::zero(), |a| act[a]),
            length: self.length[i],
            velocity: self.velocity[i],
        }
    }

    /// Scales the forces on tendons whose total is limited.
    fn limit_tendons(&mut self, tree: &Tree, layout: &Layout, c: &[S]) {
        for (t, tendon) in tree.tendons.iter().enumerate() {
            if !tendon.actuator_force_limited {
                continue;
            }
            let pulls = |i: usize| tree.actuators[i].transmission == Transmission::Tendon(t);
            let mut total = S::zero();
            for i in 0..self.force.len() {
                if pulls(i) {
                    total += self.force[i];
                }
            }
            let at = layout.tendon_actfrcrange.at(t);
            let (low, high) = (c[at], c[at + 1]);
            let inside = total.ge(low) & total.le(high);
            let nonzero = S::select(total.equals(S::zero()), S::one(), total);
            let factor = S::select(inside, S::one(), total.clamp(low, high) / nonzero);
            for i in 0..self.force.len() {
                if pulls(i) {
                    self.force[i] = self.force[i] * factor;
                }
            }
        }
    }
}

/// Clamps the total force of actuators on joints to their range.
pub fn limit_joints<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], qfrc: &mut [S]) {
    for (j, joint) in tree.joints.iter().enumerate() {
        if joint.actuator_force_limited {
            let at = layout.jnt_actfrcrange.at(j);
            qfrc[joint.dof] = qfrc[joint.dof].clamp(c[at], c[at + 1]);
        }
    }
}
