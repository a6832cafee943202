//! Adjoints of actuators: of their forces, activations and transmissions.

use costate_num::spatial::Force;
use costate_num::{DualN, Scalar, Vec3};

use super::actuation::{Actuation, Drive, SHORTEST, effort, gear};
use super::adjoint::{Adjoint, Place};
use super::forward::At;
use super::kinematics::quat_at;
use super::rotation::right_jacobian_inverse;
use super::tendon::Tendons;
use super::tree::{BiasKind, DynamicsKind, GainKind, JointKind, Transmission};

/// Adjoints of what an actuator does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EffortAdjoint {
    /// Of its force.
    pub force: f64,
    /// Of the slope of its force by velocity.
    pub by_velocity: f64,
    /// Of the slope of its force by length.
    pub by_length: f64,
    /// Of the rate of its activation.
    pub act_dot: f64,
    /// Of its activation after the step.
    pub act_next: f64,
}

/// Adjoints of an actuator's length and velocity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriveAdjoint {
    /// Of its length.
    pub length: f64,
    /// Of its velocity.
    pub velocity: f64,
}

/// Clamps and says on which bound it did, if any.
fn clamp(x: f64, c: &[f64], at: usize, limited: bool) -> (f64, Option<usize>) {
    match limited {
        true if x < c[at] => (c[at], Some(at)),
        true if x > c[at + 1] => (c[at + 1], Some(at + 1)),
        _ => (x, None),
    }
}

impl Place<'_> {
    /// Adds the adjoints of what actuator `i` does by control, activation and constants; returns those of
    /// its length and velocity.
    pub fn pull_effort(
        self,
        i: usize,
        drive: Drive<f64>,
        bar: EffortAdjoint,
        out: &mut Adjoint,
    ) -> DriveAdjoint {
        let actuator = &self.tree.actuators[i];
        let muscle = actuator.dynamics == DynamicsKind::Muscle
            || actuator.gain == GainKind::Muscle
            || actuator.bias == BiasKind::Muscle;
        if muscle {
            self.pull_muscle(i, drive, bar, out)
        } else {
            self.pull_drive(i, drive, bar, out)
        }
    }

    fn pull_drive(
        self,
        i: usize,
        drive: Drive<f64>,
        bar: EffortAdjoint,
        out: &mut Adjoint,
    ) -> DriveAdjoint {
        let Self { tree, layout, c, .. } = self;
        let actuator = &tree.actuators[i];
        let h = tree.options.timestep;
        let limited = actuator.control_limited && tree.options.clamp_control;
        let (control, control_bound) =
            clamp(drive.control, c, layout.actuator_ctrlrange.at(i), limited);
        let act = drive.activation;
        let tau_at = layout.actuator_dynprm.at(i);
        let tau = c[tau_at].max(SHORTEST);
        let decay = Scalar::exp(-h / tau);
        let unclamped = match actuator.dynamics {
            DynamicsKind::Integrator => act + control * h,
            DynamicsKind::Filter => act + (control - act) / tau * h,
            DynamicsKind::FilterExact => act + (control - act) * (1.0 - decay),
            DynamicsKind::None | DynamicsKind::Muscle => 0.0,
        };
        let (next, next_bound) =
            clamp(unclamped, c, layout.actuator_actrange.at(i), actuator.activation_limited);
        let input = match actuator.activation {
            None => control,
            Some(_) if actuator.early => next,
            Some(_) => act,
        };
        let (l, v) = (drive.length, drive.velocity);
        let (g, b) = (layout.actuator_gainprm.at(i), layout.actuator_biasprm.at(i));
        let affine = actuator.gain == GainKind::Affine;
        let gain = if affine { c[g] + c[g + 1] * l + c[g + 2] * v } else { c[g] };
        let biased = actuator.bias == BiasKind::Affine;
        let bias = if biased { c[b] + c[b + 1] * l + c[b + 2] * v } else { 0.0 };
        let force_at = layout.actuator_forcerange.at(i);
        let (_, force_bound) = clamp(gain * input + bias, c, force_at, actuator.force_limited);
        let mut drive_bar = DriveAdjoint::default();
        let mut input_bar = 0.0;
        if let Some(bound) = force_bound {
            out.c[bound] += bar.force;
        } else {
            input_bar += gain * bar.force;
            out.c[g] += input * bar.force;
            if affine {
                let slopes = [c[g + 1], c[g + 2]];
                out.c[g + 1] += input * (l * bar.force + bar.by_length);
                out.c[g + 2] += input * (v * bar.force + bar.by_velocity);
                drive_bar.length += slopes[0] * input * bar.force;
                drive_bar.velocity += slopes[1] * input * bar.force;
                input_bar += slopes[0] * bar.by_length + slopes[1] * bar.by_velocity;
            }
            if biased {
                out.c[b] += bar.force;
                out.c[b + 1] += l * bar.force + bar.by_length;
                out.c[b + 2] += v * bar.force + bar.by_velocity;
                drive_bar.length += c[b + 1] * bar.force;
                drive_bar.velocity += c[b + 2] * bar.force;
            }
        }
        let (mut control_bar, mut act_bar, mut next_bar) = (0.0, 0.0, bar.act_next);
        match actuator.activation {
            None => control_bar += input_bar,
            Some(_) if actuator.early => next_bar += input_bar,
            Some(_) => act_bar += input_bar,
        }
        if let Some(bound) = next_bound {
            out.c[bound] += next_bar;
            next_bar = 0.0;
        }
        let gap = control - act;
        let mut tau_bar = 0.0;
        match actuator.dynamics {
            DynamicsKind::Integrator => {
                act_bar += next_bar;
                control_bar += h * next_bar + bar.act_dot;
            }
            DynamicsKind::Filter => {
                let rate_bar = (h * next_bar + bar.act_dot) / tau;
                act_bar += next_bar - rate_bar;
                control_bar += rate_bar;
                tau_bar -= rate_bar * gap / tau;
            }
            DynamicsKind::FilterExact => {
                let rate_bar = bar.act_dot / tau;
                let share = 1.0 - decay;
                act_bar += next_bar * decay - rate_bar;
                control_bar += next_bar * share + rate_bar;
                tau_bar -= rate_bar * gap / tau + next_bar * gap * decay * h / (tau * tau);
            }
            DynamicsKind::None | DynamicsKind::Muscle => {}
        }
        if c[tau_at] >= SHORTEST {
            out.c[tau_at] += tau_bar;
        }
        match control_bound {
            Some(bound) => out.c[bound] += control_bar,
            None => out.ctrl[i] += control_bar,
        }
        if let Some(a) = actuator.activation {
            out.act[a] += act_bar;
        }
        drive_bar
    }

    /// By dual numbers in the directions of all that a muscle's force is a function of, in blocks.
    fn pull_muscle(
        self,
        i: usize,
        drive: Drive<f64>,
        bar: EffortAdjoint,
        out: &mut Adjoint,
    ) -> DriveAdjoint {
        const LANES: usize = 8;
        type D = DualN<f64, LANES>;
        let Self { tree, layout, c, .. } = self;
        let blocks = [
            layout.actuator_dynprm,
            layout.actuator_gainprm,
            layout.actuator_biasprm,
            layout.actuator_ctrlrange,
            layout.actuator_forcerange,
            layout.actuator_actrange,
            layout.actuator_lengthrange,
            layout.actuator_acc0,
        ];
        let places: Vec<usize> = blocks.iter().flat_map(|block| block.entry(i)).collect();
        let mut lifted: Vec<D> = c.iter().map(|&x| D::constant(x)).collect();
        let mut bars = vec![0.0; places.len() + 4];
        let scalars = [drive.control, drive.activation, drive.length, drive.velocity];
        for start in (0..bars.len()).step_by(LANES) {
            let end = (start + LANES).min(bars.len());
            let mut s = scalars.map(D::constant);
            for n in start..end {
                match n.checked_sub(4) {
                    None => s[n] = D::variable(scalars[n], n - start),
                    Some(n4) => lifted[places[n4]] = D::variable(c[places[n4]], n - start),
                }
            }
            let drive = Drive { control: s[0], activation: s[1], length: s[2], velocity: s[3] };
            let e = effort(tree, layout, &lifted, i, drive);
            for n in start..end {
                let lane = n - start;
                bars[n] = bar.force * e.force.tangent[lane]
                    + bar.by_velocity * e.by_velocity.tangent[lane]
                    + bar.by_length * e.by_length.tangent[lane]
                    + bar.act_dot * e.act_dot.tangent[lane]
                    + bar.act_next * e.act_next.tangent[lane];
                if let Some(n4) = n.checked_sub(4) {
                    lifted[places[n4]] = D::constant(c[places[n4]]);
                }
            }
        }
        out.ctrl[i] += bars[0];
        if let Some(a) = tree.actuators[i].activation {
            out.act[a] += bars[1];
        }
        for (at, bar) in places.iter().zip(&bars[4..]) {
            out.c[*at] += bar;
        }
        DriveAdjoint { length: bars[2], velocity: bars[3] }
    }

    /// Adds the adjoint of an actuator's length and moment (by entry, in `by_moment`).
    pub fn pull_transmission(
        self,
        tendons: &Tendons<f64>,
        actuation: &Actuation<f64>,
        i: usize,
        qpos: &[f64],
        by_length: f64,
        by_moment: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        let gear_at = layout.actuator_gear.at(i);
        let scale = c[gear_at];
        match tree.actuators[i].transmission {
            Transmission::Tendon(t) => {
                let entries = tendons.entries(t);
                let mut sum = by_length * tendons.length[t];
                for (n, e) in entries.enumerate() {
                    sum += by_moment[n] * tendons.jacobian[e];
                    by_moment[n] *= scale;
                }
                out.c[gear_at] += sum;
                self.pull_tendon(tendons, t, qpos, by_length * scale, by_moment, out);
            }
            Transmission::Joint(j) => {
                self.pull_at_joint(i, j, qpos, by_length, by_moment, false, out)
            }
            Transmission::JointInParent(j) => {
                self.pull_at_joint(i, j, qpos, by_length, by_moment, true, out);
            }
            Transmission::Site { site, reference } => {
                let dofs = &actuation.dofs[actuation.entries(i)];
                self.pull_at_site(i, site, reference, dofs, qpos, by_length, by_moment, out);
            }
            Transmission::SliderCrank { crank, slider } => {
                let dofs = &actuation.dofs[actuation.entries(i)];
                let sites = [crank, slider];
                self.pull_slider_crank(i, sites, dofs, qpos, by_length, by_moment, out);
            }
        }
    }

    fn pull_at_joint(
        self,
        i: usize,
        j: usize,
        qpos: &[f64],
        by_length: f64,
        by_moment: &[f64],
        in_parent: bool,
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        let joint = &tree.joints[j];
        let (q, dof) = (joint.qpos, joint.dof);
        let gear_at = layout.actuator_gear.at(i);
        let (part, first) = match joint.kind {
            JointKind::Slide | JointKind::Hinge => {
                out.q[dof] += by_length * c[gear_at];
                out.c[gear_at] += by_length * qpos[q] + by_moment[0];
                return;
            }
            JointKind::Ball => (0, 0),
            JointKind::Free => {
                for n in 0..3 {
                    out.c[gear_at + n] += by_moment[n];
                }
                (1, 3)
            }
        };
        let quat = quat_at(qpos, q + if part == 1 { 3 } else { 0 }).normalize();
        let given = gear(layout, c, i, part);
        let axis = if in_parent { quat.conjugate().rotate(given) } else { given };
        let mut by_axis = Vec3::new(by_moment[first], by_moment[first + 1], by_moment[first + 2]);
        let mut by_turn = Vec3::zero();
        if part == 0 {
            let turn = quat.to_rotation_vector();
            by_axis += turn * by_length;
            by_turn += right_jacobian_inverse(-turn, axis * by_length);
        }
        if in_parent {
            // The axis turns backwards in the axes of a body that turns.
            by_turn += by_axis.cross(axis);
            by_axis = quat.rotate(by_axis);
        }
        let (by_axis, by_turn) = (by_axis.to_array(), by_turn.to_array());
        for n in 0..3 {
            out.q[dof + first + n] += by_turn[n];
            out.c[gear_at + 3 * part + n] += by_axis[n];
        }
    }

    fn pull_at_site(
        self,
        i: usize,
        site: usize,
        reference: Option<usize>,
        dofs: &[usize],
        qpos: &[f64],
        by_length: f64,
        by_moment: &[f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        let place = (layout.site_pos, layout.site_quat);
        let own = k.site(tree, layout, c, site);
        let body = tree.sites[site].body;
        let frame_site = reference.unwrap_or(site);
        let frame = k.site(tree, layout, c, frame_site);
        let frame_body = tree.sites[frame_site].body;
        let given = [gear(layout, c, i, 0), gear(layout, c, i, 1)];
        let [force, torque] = given.map(|g| frame.orientation.rotate(g));
        let mut rates = [vec![0.0; tree.nv], vec![0.0; tree.nv]];
        for (n, &dof) in dofs.iter().enumerate() {
            let against = reference.is_some() && !tree.is_above(tree.dof_body[dof], body);
            rates[usize::from(against)][dof] += by_moment[n];
        }
        // Σ (moment by entry) = force · (speed of the site − speed of the reference) and so on.
        let mut by_gear = [Vec3::zero(), Vec3::zero()];
        let mut frame_moved = Force::zero();
        let ends =
            [(site, body, own.position, 1.0), (frame_site, frame_body, frame.position, -1.0)];
        for (n, &(s, b, position, sign)) in
            ends.iter().enumerate().take(1 + usize::from(reference.is_some()))
        {
            let r = position - k.origin[b];
            let twist = self.twist(b, &rates[n]);
            let speed = twist.linear + twist.angular.cross(r);
            by_gear[0] += speed * sign;
            by_gear[1] += twist.angular * sign;
            let mut by_point = force.cross(twist.angular) * sign;
            if reference.is_some() {
                by_point += force * (by_length * sign);
            }
            let displaced = Force::at_point(by_point, r);
            let wrench = (Force::at_point(force, r) + Force::new(torque, Vec3::zero())) * sign;
            self.pull_frame(b, place, s, displaced, out);
            self.pull_chain(b, wrench, &rates[n], displaced, qpos, true, &mut [], out);
        }
        let zeros = vec![0.0; tree.nv];
        if reference.is_some() {
            by_gear[0] += (own.position - frame.position) * by_length;
            let relative = frame.orientation.conjugate().product(own.orientation);
            let turn = relative.to_rotation_vector();
            out_gear(out, layout.actuator_gear.at(i) + 3, turn * by_length);
            // The rotation vector changes with a turn of the site in its own axes and, backwards, with one
            // of the reference in its own.
            let own_turn = right_jacobian_inverse(-turn, given[1] * by_length);
            let own_world = own.orientation.rotate(own_turn);
            let frame_world =
                frame.orientation.rotate(right_jacobian_inverse(turn, given[1] * by_length));
            let turned = Force::new(own_world, Vec3::zero());
            self.pull_frame(body, place, site, turned, out);
            self.pull_chain(body, Force::zero(), &zeros, turned, qpos, true, &mut [], out);
            frame_moved -= Force::new(frame_world, Vec3::zero());
        }
        // Force and torque turn with the frame they are given in.
        let turning = force.cross(by_gear[0]) + torque.cross(by_gear[1]);
        frame_moved += Force::new(turning, Vec3::zero());
        self.pull_frame(frame_body, place, frame_site, frame_moved, out);
        self.pull_chain(frame_body, Force::zero(), &zeros, frame_moved, qpos, true, &mut [], out);
        for (part, by) in by_gear.into_iter().enumerate() {
            let local = frame.orientation.conjugate().rotate(by);
            out_gear(out, layout.actuator_gear.at(i) + 3 * part, local);
        }
    }

    /// Adds the adjoint of λᵀ(forces of actuators), of their forces themselves (`by_effort`, empty for
    /// zero), of the activations after the step and of their rates. `lambda` is zero where a joint's total is
    /// clamped.
    pub fn pull_actuators(
        self,
        tendons: &Tendons<f64>,
        actuation: &Actuation<f64>,
        at: At<f64>,
        lambda: &[f64],
        by_effort: &[f64],
        act_dot_bar: &[f64],
        act_next_bar: &[f64],
        scratch: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, .. } = self;
        let acts = tree.options.actuation;
        for (i, actuator) in tree.actuators.iter().enumerate() {
            let drive = actuation.drive(tree, i, at.act, at.ctrl);
            let entries = actuation.entries(i);
            let along = if acts { pulled(actuation, i, lambda, by_effort) } else { 0.0 };
            let of = |bars: &[f64]| {
                actuator.activation.map_or(0.0, |a| bars.get(a).copied().unwrap_or(0.0))
            };
            let bar = EffortAdjoint {
                force: self.pull_tendon_limit(actuation, at, i, along, (lambda, by_effort), out),
                act_dot: of(act_dot_bar),
                act_next: of(act_next_bar),
                ..EffortAdjoint::default()
            };
            let drive_bar = self.pull_effort(i, drive, bar, out);
            for (n, e) in entries.clone().enumerate() {
                let dof = actuation.dofs[e];
                let pull = if acts { actuation.force[i] * lambda[dof] } else { 0.0 };
                scratch[n] = pull + drive_bar.velocity * at.qvel[dof];
                out.v[dof] += drive_bar.velocity * actuation.moment[e];
            }
            let by_moment = &mut scratch[..entries.len()];
            self.pull_transmission(
                tendons,
                actuation,
                i,
                at.qpos,
                drive_bar.length,
                by_moment,
                out,
            );
        }
    }

    /// The adjoint of an actuator's force before the total on its tendon was limited; `along` is that after.
    /// Adds the adjoint of the limit once per actuator's share.
    fn pull_tendon_limit(
        self,
        actuation: &Actuation<f64>,
        at: At<f64>,
        i: usize,
        along: f64,
        (lambda, by_effort): (&[f64], &[f64]),
        out: &mut Adjoint,
    ) -> f64 {
        let Self { tree, layout, c, .. } = self;
        let Transmission::Tendon(t) = tree.actuators[i].transmission else { return along };
        if !tree.tendons[t].actuator_force_limited {
            return along;
        }
        let raw =
            |n: usize| effort(tree, layout, c, n, actuation.drive(tree, n, at.act, at.ctrl)).force;
        let pulls = |n: &usize| tree.actuators[*n].transmission == Transmission::Tendon(t);
        let (mut total, mut weighted) = (0.0, 0.0);
        for n in (0..tree.actuators.len()).filter(pulls) {
            let force = raw(n);
            let own = pulled(actuation, n, lambda, by_effort);
            total += force;
            weighted += own * force;
        }
        let (bound, at_bound) = clamp(total, c, layout.tendon_actfrcrange.at(t), true);
        let Some(place) = at_bound else { return along };
        out.c[place] += along * raw(i) / total;
        along * bound / total - weighted * bound / (total * total)
    }
}

/// The adjoint of an actuator's force in λᵀ(forces of actuators) + `by_effort`·(their forces).
fn pulled(actuation: &Actuation<f64>, i: usize, lambda: &[f64], by_effort: &[f64]) -> f64 {
    let mut sum = by_effort.get(i).copied().unwrap_or(0.0);
    for e in actuation.entries(i) {
        sum += actuation.moment[e] * lambda[actuation.dofs[e]];
    }
    sum
}

fn out_gear(out: &mut Adjoint, at: usize, bar: Vec3<f64>) {
    out.c[at] += bar.x;
    out.c[at + 1] += bar.y;
    out.c[at + 2] += bar.z;
}
