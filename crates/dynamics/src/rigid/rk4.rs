//! The classical Runge-Kutta method of fourth order, orientations by Munthe-Kaas.
//!
//! Stage i starts at X₀ ⊕ dᵢ with dᵢ = h Σⱼ aᵢⱼ Kⱼ. Rotations are integrated in the tangent space at the
//! start of the step, where a velocity ω at exp(d) is the rate J(d)⁻¹ ω (Munthe-Kaas, *High order
//! Runge-Kutta methods on manifolds*, 1999). Rates of activations are averaged and applied by each
//! actuator's own rule.

use costate_num::{Dual, DualN, Vec3};

use super::actuation::next_activation;
use super::adjoint::Adjoint;
use super::error::RigidError;
use super::evaluation::Evaluation;
use super::forward::At;
use super::integrate::{displace, pull_displace, push_displace};
use super::pull_evaluation::EvaluationAdjoint;
use super::push::{D, PushWorkspace, triple};
use super::rotation::right_jacobian_inverse;
use super::step::{Mechanism, RigidState, RigidWorkspace};
use super::tree::{JointKind, Tree};

const STAGES: usize = 4;
/// Weight of stage i − 1 in the start of stage i.
const BEFORE: [f64; STAGES] = [0.0, 0.5, 0.5, 1.0];
const WEIGHT: [f64; STAGES] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

/// A stage: where it is evaluated and what it gives.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    state: RigidState,
    /// d: displacement from the start of the step.
    displacement: Vec<f64>,
    /// K: rate of the displacement.
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    act_dot: Vec<f64>,
    rate_bar: Vec<f64>,
    acceleration_bar: Vec<f64>,
    act_dot_bar: Vec<f64>,
}

/// Memory of the method.
#[derive(Clone, Debug)]
pub(crate) struct RungeKutta {
    stages: [Stage; STAGES],
    /// Evaluations of the stages after the first.
    evaluations: [Evaluation; STAGES - 1],
    total: Vec<f64>,
    bar: Vec<f64>,
    adjoint: Adjoint,
}

impl RungeKutta {
    pub fn new(tree: &Tree) -> Self {
        let (nv, na) = (vec![0.0; tree.nv], vec![0.0; tree.na]);
        let stage = Stage {
            state: RigidState { qpos: vec![0.0; tree.nq], qvel: nv.clone(), act: na.clone() },
            displacement: nv.clone(),
            rate: nv.clone(),
            acceleration: nv.clone(),
            act_dot: na.clone(),
            rate_bar: nv.clone(),
            acceleration_bar: nv.clone(),
            act_dot_bar: na.clone(),
        };
        let evaluation = Evaluation::new(tree);
        Self {
            stages: std::array::from_fn(|_| stage.clone()),
            evaluations: std::array::from_fn(|_| evaluation.clone()),
            total: nv.clone(),
            bar: nv.clone(),
            adjoint: Adjoint {
                q: nv.clone(),
                v: nv,
                act: na,
                ctrl: vec![0.0; tree.actuators.len()],
                applied: Vec::new(),
                c: Vec::new(),
            },
        }
    }
}

/// Where each joint's rotation is among the velocities.
fn rotations(tree: &Tree) -> impl Iterator<Item = usize> + '_ {
    tree.joints.iter().filter_map(|joint| match joint.kind {
        JointKind::Free => Some(joint.dof + 3),
        JointKind::Ball => Some(joint.dof),
        JointKind::Slide | JointKind::Hinge => None,
    })
}

/// Rates of the displacement: velocities, but rotations J(d)⁻¹ ω.
fn rates(tree: &Tree, displacement: &[f64], v: &[f64], out: &mut [f64]) {
    out.copy_from_slice(v);
    for at in rotations(tree) {
        let rate = right_jacobian_inverse(triple(displacement, at), triple(v, at));
        out[at..at + 3].copy_from_slice(&rate.to_array());
    }
}

/// Adds the adjoints of displacement and velocity in [`rates`].
fn pull_rates(
    tree: &Tree,
    displacement: &[f64],
    v: &[f64],
    bar: &[f64],
    d_bar: &mut [f64],
    v_bar: &mut [f64],
) {
    type Six = DualN<f64, 6>;
    let mut turned = vec![false; tree.nv];
    for at in rotations(tree) {
        let lanes = |x: &[f64], first: usize| -> Vec3<Six> {
            Vec3::new(
                Six::variable(x[at], first),
                Six::variable(x[at + 1], first + 1),
                Six::variable(x[at + 2], first + 2),
            )
        };
        let rate = right_jacobian_inverse(lanes(displacement, 0), lanes(v, 3)).to_array();
        for k in 0..3 {
            turned[at + k] = true;
            for n in 0..3 {
                d_bar[at + k] += bar[at + n] * rate[n].tangent[k];
                v_bar[at + k] += bar[at + n] * rate[n].tangent[3 + k];
            }
        }
    }
    for i in 0..tree.nv {
        if !turned[i] {
            v_bar[i] += bar[i];
        }
    }
}

/// Exchanges the adjoints of what all stages of a step read.
fn swap_shared(a: &mut Adjoint, b: &mut Adjoint) {
    std::mem::swap(&mut a.c, &mut b.c);
    std::mem::swap(&mut a.ctrl, &mut b.ctrl);
    std::mem::swap(&mut a.applied, &mut b.applied);
}

impl Mechanism {
    /// Evaluates the stages after the first, whose evaluation is done.
    pub(crate) fn stages(
        &self,
        c: &[f64],
        at: At<f64>,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        let h = tree.options.timestep;
        let Some(later) = &mut ws.later else { return Ok(()) };
        let RungeKutta { stages, evaluations, .. } = &mut **later;
        for i in 0..STAGES {
            let (done, rest) = stages.split_at_mut(i);
            let stage = &mut rest[0];
            let state = &mut stage.state;
            stage.displacement.fill(0.0);
            state.qvel.copy_from_slice(at.qvel);
            state.act.copy_from_slice(at.act);
            if let Some(last) = done.last() {
                let step = h * BEFORE[i];
                for k in 0..tree.nv {
                    stage.displacement[k] = step * last.rate[k];
                    state.qvel[k] += step * last.acceleration[k];
                }
                for k in 0..tree.na {
                    state.act[k] += step * last.act_dot[k];
                }
            }
            let evaluation = if i == 0 {
                state.qpos.copy_from_slice(at.qpos);
                &mut ws.evaluation
            } else {
                displace(tree, at.qpos, &stage.displacement, &mut state.qpos);
                let evaluation = &mut evaluations[i - 1];
                let here = state.under(at.ctrl, at.applied);
                evaluation.update(tree, layout, c, here, &done[i - 1].acceleration)?;
                evaluation
            };
            rates(tree, &stage.displacement, &state.qvel, &mut stage.rate);
            stage.acceleration.copy_from_slice(&evaluation.step_acceleration);
            stage.act_dot.copy_from_slice(&evaluation.dynamics.actuation.act_dot);
        }
        Ok(())
    }

    /// The step, after the evaluation at its start.
    pub(crate) fn runge_kutta(
        &self,
        c: &[f64],
        at: At<f64>,
        next: &mut RigidState,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        self.stages(c, at, ws)?;
        let (tree, layout) = (&self.tree, &self.layout);
        let h = tree.options.timestep;
        let Some(later) = &mut ws.later else { return Ok(()) };
        let RungeKutta { stages, total, .. } = &mut **later;
        total.fill(0.0);
        next.qvel.copy_from_slice(at.qvel);
        for (stage, weight) in stages.iter().zip(WEIGHT) {
            for k in 0..tree.nv {
                total[k] += h * weight * stage.rate[k];
                next.qvel[k] += h * weight * stage.acceleration[k];
            }
        }
        displace(tree, at.qpos, total, &mut next.qpos);
        for (i, actuator) in tree.actuators.iter().enumerate() {
            if let Some(a) = actuator.activation {
                let rate: f64 = stages.iter().zip(WEIGHT).map(|(s, w)| w * s.act_dot[a]).sum();
                next.act[a] = next_activation(tree, layout, c, i, at.act[a], rate);
            }
        }
        Ok(())
    }

    /// The adjoint of the step, after the evaluation at its start.
    pub(crate) fn runge_kutta_pullback(
        &self,
        c: &[f64],
        at: At<f64>,
        bar: &mut Adjoint,
        ws: &mut RigidWorkspace,
    ) -> Result<(), RigidError> {
        self.stages(c, at, ws)?;
        let (tree, layout) = (&self.tree, &self.layout);
        let h = tree.options.timestep;
        let Some(later) = &mut ws.later else { return Ok(()) };
        let RungeKutta { stages, evaluations, total, bar: d_bar, adjoint } = &mut **later;
        total.fill(0.0);
        for (stage, weight) in stages.iter().zip(WEIGHT) {
            for k in 0..tree.nv {
                total[k] += h * weight * stage.rate[k];
            }
        }
        pull_displace(tree, total, &mut bar.q, d_bar);
        for (stage, weight) in stages.iter_mut().zip(WEIGHT) {
            for k in 0..tree.nv {
                stage.rate_bar[k] = h * weight * d_bar[k];
                stage.acceleration_bar[k] = h * weight * bar.v[k];
            }
            stage.act_dot_bar.fill(0.0);
        }
        for (i, actuator) in tree.actuators.iter().enumerate() {
            if let Some(a) = actuator.activation {
                let rate: f64 = stages.iter().zip(WEIGHT).map(|(s, w)| w * s.act_dot[a]).sum();
                let by_rate = self.pull_next_activation(c, i, at.act[a], rate, a, bar);
                for (stage, weight) in stages.iter_mut().zip(WEIGHT) {
                    stage.act_dot_bar[a] = weight * by_rate;
                }
            }
        }
        for i in (0..STAGES).rev() {
            let (done, rest) = stages.split_at_mut(i);
            let stage = &mut rest[0];
            adjoint.q.fill(0.0);
            adjoint.v.fill(0.0);
            adjoint.act.fill(0.0);
            d_bar.fill(0.0);
            // Those of what all stages share are summed where the caller has them.
            swap_shared(adjoint, bar);
            let evaluation = if i == 0 { &mut ws.evaluation } else { &mut evaluations[i - 1] };
            let seeds = EvaluationAdjoint {
                act_dot: &stage.act_dot_bar,
                ..EvaluationAdjoint::of_step(&stage.acceleration_bar)
            };
            let here = stage.state.under(at.ctrl, at.applied);
            let pulled = evaluation.pullback(tree, layout, c, here, seeds, self.wanted, adjoint);
            swap_shared(adjoint, bar);
            pulled?;
            let (v, d) = (&stage.state.qvel, &stage.displacement);
            pull_rates(tree, d, v, &stage.rate_bar, d_bar, &mut adjoint.v);
            if let Some(last) = done.last_mut() {
                let step = h * BEFORE[i];
                let by_displacement = &mut ws.bar;
                pull_displace(tree, d, &mut adjoint.q, by_displacement);
                for k in 0..tree.nv {
                    last.rate_bar[k] += step * (by_displacement[k] + d_bar[k]);
                    last.acceleration_bar[k] += step * adjoint.v[k];
                }
                for k in 0..tree.na {
                    last.act_dot_bar[k] += step * adjoint.act[k];
                }
            }
            for k in 0..tree.nv {
                bar.q[k] += adjoint.q[k];
                bar.v[k] += adjoint.v[k];
            }
            for k in 0..tree.na {
                bar.act[k] += adjoint.act[k];
            }
        }
        Ok(())
    }

    /// Tangents of the step in up to [`LANES`] columns, after the stages; constants and controls are
    /// lifted.
    pub(crate) fn runge_kutta_pushforward(
        &self,
        at: At<f64>,
        (q, v, act): (&mut [f64], &mut [f64], &mut [f64]),
        lanes: usize,
        ws: &mut RigidWorkspace,
        push: &mut PushWorkspace,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        let (nv, na, h) = (tree.nv, tree.na, tree.options.timestep);
        let Some(later) = &mut ws.later else { return Ok(()) };
        let RungeKutta { stages, evaluations, total, .. } = &mut **later;
        // Tangents of each stage's rate, acceleration and rates of activations.
        let mut rate = vec![0.0; lanes * nv];
        let (mut acceleration, mut act_dot) = (rate.clone(), vec![0.0; lanes * na]);
        let (mut sum_rate, mut sum_acceleration) = (rate.clone(), rate.clone());
        let mut sum_act = act_dot.clone();
        for i in 0..STAGES {
            let stage = &stages[i];
            let step = h * BEFORE[i];
            let displacement: Vec<f64> = rate.iter().map(|x| step * x).collect();
            let mut q_here = q.to_vec();
            let add = |x: &[f64], by: &[f64]| -> Vec<f64> {
                x.iter().zip(by).map(|(x, y)| x + step * y).collect()
            };
            let (v_here, act_here) = (add(v, &acceleration), add(act, &act_dot));
            for lane in 0..lanes {
                let of = lane * nv..(lane + 1) * nv;
                push_displace(
                    tree,
                    &stage.displacement,
                    &displacement[of.clone()],
                    &mut q_here[of],
                );
            }
            let here = stage.state.under(at.ctrl, at.applied);
            push.lift_state(tree, here, &q_here, &v_here, &act_here);
            let evaluation = if i == 0 { &mut ws.evaluation } else { &mut evaluations[i - 1] };
            evaluation.push(self, push, lanes)?;
            acceleration.copy_from_slice(&push.step_acceleration[..lanes * nv]);
            for lane in 0..lanes {
                for a in 0..na {
                    act_dot[lane * na + a] = push.activations(false)[a].tangent[lane];
                }
            }
            rate.copy_from_slice(&v_here);
            for lane in 0..lanes {
                for at in rotations(tree) {
                    let dual = |x: &[f64], dot: &[f64]| -> Vec3<Dual<f64>> {
                        let by = &dot[lane * nv..];
                        Vec3::new(
                            Dual::new(x[at], by[at]),
                            Dual::new(x[at + 1], by[at + 1]),
                            Dual::new(x[at + 2], by[at + 2]),
                        )
                    };
                    let turned = right_jacobian_inverse(
                        dual(&stage.displacement, &displacement),
                        dual(&stage.state.qvel, &v_here),
                    );
                    for (k, x) in turned.to_array().into_iter().enumerate() {
                        rate[lane * nv + at + k] = x.tangent[0];
                    }
                }
            }
            let weight = h * WEIGHT[i];
            for k in 0..lanes * nv {
                sum_rate[k] += weight * rate[k];
                sum_acceleration[k] += weight * acceleration[k];
            }
            for k in 0..lanes * na {
                sum_act[k] += WEIGHT[i] * act_dot[k];
            }
        }
        total.fill(0.0);
        for (stage, weight) in stages.iter().zip(WEIGHT) {
            for k in 0..nv {
                total[k] += h * weight * stage.rate[k];
            }
        }
        for lane in 0..lanes {
            let of = lane * nv..(lane + 1) * nv;
            push_displace(tree, total, &sum_rate[of.clone()], &mut q[of]);
        }
        for (slot, x) in v.iter_mut().zip(&sum_acceleration) {
            *slot += x;
        }
        for (i, actuator) in tree.actuators.iter().enumerate() {
            if let Some(a) = actuator.activation {
                let value: f64 = stages.iter().zip(WEIGHT).map(|(s, w)| w * s.act_dot[a]).sum();
                let (mut start, mut mean) = (D::constant(at.act[a]), D::constant(value));
                for lane in 0..lanes {
                    start.tangent[lane] = act[lane * na + a];
                    mean.tangent[lane] = sum_act[lane * na + a];
                }
                let next = next_activation(tree, layout, push.constants(), i, start, mean);
                for lane in 0..lanes {
                    act[lane * na + a] = next.tangent[lane];
                }
            }
        }
        Ok(())
    }

    /// Turns the adjoint of an activation after the step, in `bar.act[a]`, into that before it; adds
    /// those of constants and returns that of the rate.
    fn pull_next_activation(
        &self,
        c: &[f64],
        i: usize,
        act: f64,
        rate: f64,
        a: usize,
        bar: &mut Adjoint,
    ) -> f64 {
        type Five = DualN<f64, 5>;
        let (tree, layout) = (&self.tree, &self.layout);
        let range = layout.actuator_actrange.at(i);
        let places = [layout.actuator_dynprm.at(i), range, range + 1];
        let mut lifted: Vec<Five> = c.iter().map(|&x| Five::constant(x)).collect();
        for (n, &at) in places.iter().enumerate() {
            lifted[at] = Five::variable(c[at], n);
        }
        let next = next_activation(
            tree,
            layout,
            &lifted,
            i,
            Five::variable(act, 3),
            Five::variable(rate, 4),
        );
        let by = bar.act[a];
        for (n, &at) in places.iter().enumerate() {
            bar.c[at] += by * next.tangent[n];
        }
        bar.act[a] = by * next.tangent[3];
        by * next.tangent[4]
    }
}
