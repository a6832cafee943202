//! What implicit integrators add to the inertia: damping and stiffness along degrees of freedom, tendons
//! and actuators.
//!
//! The step solves (M + hD + h²K) x = τ − c − hKv. Coefficients here have one h in them already.

use costate_num::{Scalar, Vec3};

use super::actuation::{Actuation, effort};
use super::adjoint::{Adjoint, Place};
use super::constants::Layout;
use super::forward::At;
use super::inertia::MassMatrix;
use super::kinematics::quat_at;
use super::products::{add_product, coupled, multiply_product};
use super::pull_actuation::EffortAdjoint;
use super::pull_passive::polynomial_slope;
use super::tendon::Tendons;
use super::tree::{Integrator, JointKind, Tree};

/// A coefficient for each degree of freedom, tendon and actuator: the matrix is Σ s JᵀJ, J being the
/// unit row, the tendon's Jacobian or the actuator's moment; entries outside the pattern of the inertia
/// matrix are left out.
#[derive(Clone, Debug)]
pub(crate) struct Coefficients<S> {
    pub dof: Vec<S>,
    pub tendon: Vec<S>,
    pub actuator: Vec<S>,
}

impl<S: Scalar> Coefficients<S> {
    fn new(tree: &Tree) -> Self {
        let zeros = |n| vec![S::zero(); n];
        Self {
            dof: zeros(tree.nv),
            tendon: zeros(tree.tendons.len()),
            actuator: zeros(tree.actuators.len()),
        }
    }
    fn clear(&mut self) {
        for part in [&mut self.dof, &mut self.tendon, &mut self.actuator] {
            part.fill(S::zero());
        }
    }
}

/// The matrices hD and hK.
#[derive(Clone, Debug)]
pub(crate) struct Metric<S> {
    pub damping: Coefficients<S>,
    pub stiffness: Coefficients<S>,
}

/// Which parts an integrator takes implicitly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    /// Dampers of degrees of freedom.
    dampers: bool,
    /// Dampers of tendons.
    tendons: bool,
    /// Actuators.
    actuators: bool,
    /// Stiffness as well; slopes that would destabilise are left out.
    discrete: bool,
}

impl Parts {
    fn of(tree: &Tree) -> Self {
        let options = &tree.options;
        let beyond = match options.integrator {
            Integrator::Rk4 | Integrator::Euler => false,
            Integrator::Implicit | Integrator::ImplicitFast | Integrator::Discrete => true,
        };
        let euler = options.integrator == Integrator::Euler && options.implicit_damping;
        Self {
            dampers: options.dampers && (beyond || euler),
            tendons: options.dampers && beyond,
            actuators: options.actuation && beyond,
            discrete: options.integrator == Integrator::Discrete,
        }
    }
    /// Whether a slope counts.
    fn counts(self, slope: f64) -> bool {
        !self.discrete || slope >= 0.0
    }
}

/// Rows of tendons and actuators.
fn rows<'a, S: Scalar>(
    tendons: &'a Tendons<S>,
    actuation: &'a Actuation<S>,
    actuator: bool,
    i: usize,
) -> (&'a [usize], &'a [S]) {
    if actuator {
        let entries = actuation.entries(i);
        (&actuation.dofs[entries.clone()], &actuation.moment[entries])
    } else {
        let entries = tendons.entries(i);
        (&tendons.dofs[entries.clone()], &tendons.jacobian[entries])
    }
}

/// The slope of a joint's spring, the same for all its degrees of freedom.
fn spring_slope<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    qpos: &[S],
    j: usize,
    part: usize,
) -> S {
    let x = spring_displacement(tree, layout, c, qpos, j, part);
    polynomial_slope(c, layout.jnt_stiffness, layout.jnt_stiffnesspoly, j, x.1)
}

/// The displacement of a joint's spring as a vector and the number its polynomial takes. `part` is 1
/// for the rotation of a free joint.
fn spring_displacement<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    qpos: &[S],
    j: usize,
    part: usize,
) -> (Vec3<S>, S) {
    let joint = &tree.joints[j];
    let q = joint.qpos;
    let at = |i: usize| qpos[q + i] - c[layout.qpos_spring.at(q + i)];
    let vector = match (joint.kind, part) {
        (JointKind::Slide | JointKind::Hinge, _) => {
            let x = at(0);
            return (Vec3::new(x, S::zero(), S::zero()), x);
        }
        (JointKind::Free, 0) => Vec3::new(at(0), at(1), at(2)),
        (kind, _) => {
            let q = if kind == JointKind::Free { q + 3 } else { q };
            let rest = quat_at(c, layout.qpos_spring.at(q));
            rest.conjugate().product(quat_at(qpos, q).normalize()).to_rotation_vector()
        }
    };
    (vector, vector.norm())
}

/// A tendon's displacement beyond the slack of its spring.
fn stretch<S: Scalar>(layout: &Layout, c: &[S], t: usize, length: S) -> S {
    let at = layout.tendon_lengthspring.at(t);
    let (lower, upper) = (c[at], c[at + 1]);
    let slack = S::select(length.lt(lower), length - lower, S::zero());
    S::select(length.gt(upper), length - upper, slack)
}

impl<S: Scalar> Metric<S> {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        Self { damping: Coefficients::new(tree), stiffness: Coefficients::new(tree) }
    }

    /// Whether the tree's integrator takes anything implicitly, be it zero.
    pub fn may_differ(tree: &Tree) -> bool {
        let parts = Parts::of(tree);
        parts.dampers || parts.tendons || parts.actuators || parts.discrete
    }

    /// The coefficients of the tree's integrator. Returns whether any may differ from zero.
    pub fn update(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        at: At<S>,
        tendons: &Tendons<S>,
        actuation: &Actuation<S>,
    ) -> bool {
        self.damping.clear();
        self.stiffness.clear();
        let h = tree.options.timestep;
        let parts = Parts::of(tree);
        let discrete = parts.discrete;
        let stable = |x: S| if discrete { x.max(S::zero()) } else { x };
        let mut any = false;
        let mut set = |slot: &mut S, x: S| {
            any |= !costate_num::Mask::all(x.equals(S::zero()));
            *slot = x.scale(h);
        };
        if parts.dampers {
            for i in 0..tree.nv {
                let v = at.qvel[i].abs();
                let (linear, higher) = (layout.dof_damping, layout.dof_dampingpoly);
                let slope = polynomial_slope(c, linear, higher, i, v);
                set(&mut self.damping.dof[i], stable(slope));
            }
        }
        if parts.tendons {
            for t in 0..tree.tendons.len() {
                let v = tendons.velocity[t].abs();
                let (linear, higher) = (layout.tendon_damping, layout.tendon_dampingpoly);
                let slope = polynomial_slope(c, linear, higher, t, v);
                set(&mut self.damping.tendon[t], stable(slope));
            }
        }
        if discrete && tree.options.springs {
            for (j, joint) in tree.joints.iter().enumerate() {
                for (n, dof) in (joint.dof..joint.dof + joint.kind.dofs()).enumerate() {
                    let slope = spring_slope(tree, layout, c, at.qpos, j, n / 3);
                    set(&mut self.stiffness.dof[dof], stable(slope));
                }
            }
            for t in 0..tree.tendons.len() {
                let x = stretch(layout, c, t, tendons.length[t]);
                let (linear, higher) = (layout.tendon_stiffness, layout.tendon_stiffnesspoly);
                let slope = polynomial_slope(c, linear, higher, t, x);
                let slope = S::select(x.equals(S::zero()), S::zero(), slope);
                set(&mut self.stiffness.tendon[t], stable(slope));
            }
        }
        if parts.actuators {
            for i in 0..tree.actuators.len() {
                let drive = actuation.drive(tree, i, at.act, at.ctrl);
                let effort = effort(tree, layout, c, i, drive);
                set(&mut self.damping.actuator[i], stable(-effort.by_velocity));
                if discrete {
                    set(&mut self.stiffness.actuator[i], stable(-effort.by_length));
                }
            }
        }
        any
    }

    /// Whether a tendon or an actuator with any slope moves one of these degrees of freedom.
    pub fn touches(
        &self,
        tree: &Tree,
        tendons: &Tendons<S>,
        actuation: &Actuation<S>,
        dofs: std::ops::Range<usize>,
    ) -> bool {
        let zero = |x: &S| costate_num::Mask::all(x.equals(S::zero()));
        [false, true].into_iter().any(|actuator| {
            let (d, k, count) = if actuator {
                (&self.damping.actuator, &self.stiffness.actuator, tree.actuators.len())
            } else {
                (&self.damping.tendon, &self.stiffness.tendon, tree.tendons.len())
            };
            (0..count).any(|t| {
                let row = rows(tendons, actuation, actuator, t).0;
                !(zero(&d[t]) && zero(&k[t])) && row.iter().any(|dof| dofs.contains(dof))
            })
        })
    }

    /// Adds hD + h²K to the inertia matrix.
    pub fn add_to(
        &self,
        tree: &Tree,
        tendons: &Tendons<S>,
        actuation: &Actuation<S>,
        mass: &mut MassMatrix<S>,
    ) {
        let h = tree.options.timestep;
        for i in 0..tree.nv {
            mass.entries[tree.rows[i].start] +=
                self.damping.dof[i] + self.stiffness.dof[i].scale(h);
        }
        for actuator in [false, true] {
            let (d, k) = if actuator {
                (&self.damping.actuator, &self.stiffness.actuator)
            } else {
                (&self.damping.tendon, &self.stiffness.tendon)
            };
            for t in 0..d.len() {
                let s = d[t] + k[t].scale(h);
                add_product(tree, rows(tendons, actuation, actuator, t), s, mass);
            }
        }
    }

    /// Subtracts hD x + hK y from `out`.
    pub fn subtract(
        &self,
        tree: &Tree,
        tendons: &Tendons<S>,
        actuation: &Actuation<S>,
        x: &[S],
        y: &[S],
        out: &mut [S],
    ) {
        for i in 0..tree.nv {
            out[i] += -(self.damping.dof[i] * x[i] + self.stiffness.dof[i] * y[i]);
        }
        for actuator in [false, true] {
            let (d, k) = if actuator {
                (&self.damping.actuator, &self.stiffness.actuator)
            } else {
                (&self.damping.tendon, &self.stiffness.tendon)
            };
            for t in 0..d.len() {
                let row = rows(tendons, actuation, actuator, t);
                multiply_product(tree, row, |dof| -(d[t] * x[dof] + k[t] * y[dof]), out);
            }
        }
    }
}

impl Place<'_> {
    /// Adds the adjoint of −μᵀ(hD x + hK y) by all but x and y.
    pub fn pull_metric(
        self,
        metric: &Metric<f64>,
        at: At<f64>,
        tendons: &Tendons<f64>,
        actuation: &Actuation<f64>,
        (mu, x, y): (&[f64], &[f64], &[f64]),
        scratch: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        let h = tree.options.timestep;
        let parts = Parts::of(tree);
        for i in 0..if parts.dampers { tree.nv } else { 0 } {
            let blocks = (layout.dof_damping, layout.dof_dampingpoly);
            let slope = polynomial_slope(c, blocks.0, blocks.1, i, at.qvel[i].abs());
            if parts.counts(slope) {
                let by = -h * mu[i] * x[i];
                out.v[i] += self.pull_slope(blocks, i, at.qvel[i], true, by, out);
            }
        }
        let stiff = parts.discrete && tree.options.springs;
        let springs = if stiff { &tree.joints[..] } else { &[] };
        for (j, joint) in springs.iter().enumerate() {
            for (n, dof) in (joint.dof..joint.dof + joint.kind.dofs()).enumerate() {
                if spring_slope(tree, layout, c, at.qpos, j, n / 3) >= 0.0 {
                    self.pull_spring_slope(at.qpos, j, dof, -h * mu[dof] * y[dof], out);
                }
            }
        }
        for actuator in [false, true] {
            if !(if actuator { parts.actuators } else { parts.tendons || parts.discrete }) {
                continue;
            }
            let (d, k) = if actuator {
                (&metric.damping.actuator, &metric.stiffness.actuator)
            } else {
                (&metric.damping.tendon, &metric.stiffness.tendon)
            };
            for t in 0..d.len() {
                let (dofs, values) = rows(tendons, actuation, actuator, t);
                let (mut by_d, mut by_k) = (0.0, 0.0);
                scratch[..dofs.len()].fill(0.0);
                for (n, &i) in dofs.iter().enumerate() {
                    for (m, &j) in dofs.iter().enumerate() {
                        if coupled(tree, i, j) {
                            let both = values[n] * values[m];
                            by_d -= mu[i] * x[j] * both;
                            by_k -= mu[i] * y[j] * both;
                            let along = mu[i] * (d[t] * x[j] + k[t] * y[j]);
                            scratch[n] -= along * values[m];
                            scratch[m] -= along * values[n];
                        }
                    }
                }
                let slopes = (h * by_d, h * by_k);
                if actuator {
                    self.pull_actuator_slopes(at, tendons, actuation, t, slopes, scratch, out);
                } else {
                    self.pull_tendon_slopes(at, tendons, t, slopes, scratch, out);
                }
            }
        }
    }

    /// Adds the adjoint of b + 2b₁|x| + 3b₂x² by its coefficients and returns that by x; of x as it is,
    /// where `odd` is false.
    fn pull_slope(
        self,
        (linear, higher): (super::Block, super::Block),
        i: usize,
        x: f64,
        odd: bool,
        by: f64,
        out: &mut Adjoint,
    ) -> f64 {
        let (size, sign) = if odd { (x.abs(), x.signum()) } else { (x, 1.0) };
        let at = higher.at(i);
        out.c[linear.at(i)] += by;
        out.c[at] += 2.0 * size * by;
        out.c[at + 1] += 3.0 * size * size * by;
        by * sign * (2.0 * self.c[at] + 6.0 * self.c[at + 1] * size)
    }

    fn pull_spring_slope(self, qpos: &[f64], j: usize, dof: usize, by: f64, out: &mut Adjoint) {
        let Self { tree, layout, c, .. } = self;
        let joint = &tree.joints[j];
        let (kind, part) = (joint.kind, (dof - joint.dof) / 3);
        let (vector, x) = spring_displacement(tree, layout, c, qpos, j, part);
        let blocks = (layout.jnt_stiffness, layout.jnt_stiffnesspoly);
        let by_x = self.pull_slope(blocks, j, x, false, by, out);
        let rest = layout.qpos_spring.at(joint.qpos);
        let direction = vector.normalize().0 * by_x;
        match (kind, part) {
            (JointKind::Slide | JointKind::Hinge, _) => {
                out.q[joint.dof] += by_x;
                out.c[rest] -= by_x;
            }
            (JointKind::Free, 0) => {
                for (i, by) in direction.to_array().into_iter().enumerate() {
                    out.q[joint.dof + i] += by;
                    out.c[rest + i] -= by;
                }
            }
            (kind, _) => {
                // Along its own axis a rotation vector changes with a turn as it stands.
                let first = if kind == JointKind::Free { 3 } else { 0 };
                for (i, by) in direction.to_array().into_iter().enumerate() {
                    out.q[joint.dof + first + i] += by;
                }
                let at = rest + first;
                let turn = costate_num::Quat { w: 0.0, v: direction * -2.0 };
                let bar = quat_at(c, at).product(turn);
                for (i, by) in [bar.w, bar.v.x, bar.v.y, bar.v.z].into_iter().enumerate() {
                    out.c[at + i] += by;
                }
            }
        }
    }

    fn pull_tendon_slopes(
        self,
        at: At<f64>,
        tendons: &Tendons<f64>,
        t: usize,
        (by_d, by_k): (f64, f64),
        by_jacobian: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        let parts = Parts::of(tree);
        let blocks = (layout.tendon_damping, layout.tendon_dampingpoly);
        let v = tendons.velocity[t];
        let (mut by_velocity, mut by_length) = (0.0, 0.0);
        if parts.tendons && parts.counts(polynomial_slope(c, blocks.0, blocks.1, t, v.abs())) {
            by_velocity = self.pull_slope(blocks, t, v, true, by_d, out);
        }
        let x = stretch(layout, c, t, tendons.length[t]);
        let blocks = (layout.tendon_stiffness, layout.tendon_stiffnesspoly);
        let stiff = parts.discrete && tree.options.springs && x != 0.0;
        if stiff && polynomial_slope(c, blocks.0, blocks.1, t, x) >= 0.0 {
            by_length = self.pull_slope(blocks, t, x, false, by_k, out);
            let bound = layout.tendon_lengthspring.at(t) + usize::from(x > 0.0);
            out.c[bound] -= by_length;
        }
        for (n, e) in tendons.entries(t).enumerate() {
            let dof = tendons.dofs[e];
            by_jacobian[n] += by_velocity * at.qvel[dof];
            out.v[dof] += by_velocity * tendons.jacobian[e];
        }
        self.pull_tendon(tendons, t, at.qpos, by_length, by_jacobian, out);
    }

    fn pull_actuator_slopes(
        self,
        at: At<f64>,
        tendons: &Tendons<f64>,
        actuation: &Actuation<f64>,
        i: usize,
        (by_d, by_k): (f64, f64),
        by_moment: &mut [f64],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        let drive = actuation.drive(tree, i, at.act, at.ctrl);
        let now = effort(tree, layout, c, i, drive);
        let parts = Parts::of(tree);
        let keep = |counts: bool, bar: f64| if counts { bar } else { 0.0 };
        let bar = EffortAdjoint {
            by_velocity: keep(parts.counts(-now.by_velocity), -by_d),
            by_length: keep(parts.discrete && parts.counts(-now.by_length), -by_k),
            ..EffortAdjoint::default()
        };
        let drive_bar = self.pull_effort(i, drive, bar, out);
        for (n, e) in actuation.entries(i).enumerate() {
            let dof = actuation.dofs[e];
            by_moment[n] += drive_bar.velocity * at.qvel[dof];
            out.v[dof] += drive_bar.velocity * actuation.moment[e];
        }
        let length = drive_bar.length;
        self.pull_transmission(tendons, actuation, i, at.qpos, length, by_moment, out);
    }
}
