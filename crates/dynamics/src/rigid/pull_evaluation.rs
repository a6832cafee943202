//! The adjoint of an evaluation of the dynamics.
//!
//! With μ = A⁻ᵀ x̄ and λ = H⁻¹ M μ, H being the Hessian of the minimisation,
//! L = −λᵀ(M a + c − τ − Jᵀf) + μᵀM(a − x) − μᵀ hD x with a, x, λ and μ held.

use costate_num::spatial::Motion;

use super::adjoint::{Adjoint, Place, Rates, Wanted};
use super::constants::Layout;
use super::constraint::{RowInputs, at_zero_loss};
use super::error::RigidError;
use super::evaluation::{Evaluation, Scratch};
use super::forward::{At, Dynamics};
use super::inverse::lift;
use super::tree::{Integrator, Tree};
use super::turning::turns;

/// Adjoints that an evaluation's pullback starts from.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationAdjoint<'a> {
    /// Of the acceleration by which the velocity advances.
    pub step_acceleration: &'a [f64],
    /// Of the acceleration; empty for zero.
    pub qacc: &'a [f64],
    /// Of the rates of activations; empty for zero.
    pub act_dot: &'a [f64],
    /// Of the activations after the step; empty for zero.
    pub act_next: &'a [f64],
    /// Of the actuators' forces; empty for zero.
    pub actuator_force: &'a [f64],
    /// Of the total force of actuators on each degree of freedom; empty for zero.
    pub qfrc_actuator: &'a [f64],
    /// Of the forces of constraint rows; empty for zero.
    pub row_force: &'a [f64],
    /// Of the masses of constraint rows, but for what the diagonals of M and A do to them under the discrete
    /// integrator, which alone is added; empty for zero.
    pub row_mass: &'a [f64],
    /// Of the exact diagonals of constraint rows; empty for zero.
    pub row_diagonal: &'a [f64],
}

impl<'a> EvaluationAdjoint<'a> {
    /// Of the acceleration by which the velocity advances alone.
    pub fn of_step(step_acceleration: &'a [f64]) -> Self {
        Self {
            step_acceleration,
            qacc: &[],
            act_dot: &[],
            act_next: &[],
            actuator_force: &[],
            qfrc_actuator: &[],
            row_force: &[],
            row_mass: &[],
            row_diagonal: &[],
        }
    }
}

impl Evaluation {
    /// Adds the adjoints of everything the evaluation is a function of to `out`, at the state of the last
    /// [`update`](Self::update).
    ///
    /// # Errors
    /// [`RigidError::NotConverged`] where the Hessian of the constrained problem has no factors.
    pub fn pullback(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[f64],
        at: At<f64>,
        bar: EvaluationAdjoint,
        wanted: Wanted,
        out: &mut Adjoint,
    ) -> Result<(), RigidError> {
        let discrete = tree.options.integrator == Integrator::Discrete;
        self.multiply(tree, bar)?;
        if wanted.zero_friction {
            let mut a = std::mem::take(&mut self.scratch.friction);
            self.friction_acceleration(tree, &mut a);
            self.scratch.friction = a;
        }
        let Self { dynamics: d, stage, scratch, metric, .. } = self;
        let Scratch { sweep, lambda, mu, zeros, entries, rates, friction, .. } = scratch;
        let place = Place { tree, layout, c, k: &d.kinematics };
        let x = &self.step_acceleration;

        // −λᵀ(M a + c)
        let [negative, other] = rates;
        for i in 0..tree.nv {
            negative[i] = -lambda[i];
        }
        let world = lift(tree, layout, c);
        let gravity = tree.options.gravity;
        // Where λ is μ both terms in M are one, at x.
        let rows = stage.has_rows();
        let implicit = self.implicit || !self.turning.is_empty();
        let apart = !discrete && (rows || implicit && !bar.qacc.is_empty());
        let a: &[f64] = if apart { &self.qacc } else { x };
        let swept = Rates { lambda: negative, v: at.qvel, a, world };
        sweep.pull(place, &d.inertias, swept, at.qpos, wanted, gravity, out);
        place.pull_armature(&d.tendons, at.qpos, 1.0, [negative, a], out);
        place.pull_armature_bias(&d.tendons, at.qpos, [negative, at.qvel], out);

        // λᵀτ
        place.pull_springs(at.qpos, lambda, out);
        place.pull_dampers(at.qvel, lambda, out);
        place.pull_fluid(&d.velocity, at.qpos, at.qvel, lambda, out);
        place.pull_tendons(&d.tendons, at, lambda, entries, out);
        pull_driven(place, d, at, lambda, [negative, other], bar, wanted, entries, out);
        if !at.applied.is_empty() {
            add(&mut out.applied, lambda);
        }

        let inputs = RowInputs { tree, layout, c, dynamics: d, qpos: at.qpos, qvel: at.qvel };
        if wanted.zero_friction {
            at_zero_loss(inputs, friction, |loss, dofs, jacobian, push| {
                for k in 0..dofs.len() {
                    out.c[loss] += push * jacobian[k] * lambda[dofs[k]];
                }
            });
        }
        if rows {
            stage.pullback(inputs, bar.row_mass, bar.row_diagonal, out);
            for (weight, u) in stage.pull_diagonals(inputs, out) {
                // −uᵀ dM u
                for i in 0..tree.nv {
                    negative[i] = -weight * u[i];
                }
                sweep.pull_mass(place, &d.inertias, [negative, &u], at.qpos, wanted, out);
                place.pull_armature(&d.tendons, at.qpos, 1.0, [negative, &u], out);
            }
        }
        if apart && implicit {
            // μᵀM(a − x)
            for i in 0..tree.nv {
                other[i] = self.qacc[i] - x[i];
            }
            sweep.pull_mass(place, &d.inertias, [mu, other], at.qpos, wanted, out);
            place.pull_armature(&d.tendons, at.qpos, 1.0, [mu, other], out);
        }
        // −μᵀ(hD x + hK(v + h x))
        let h = tree.options.timestep;
        for i in 0..tree.nv {
            other[i] = at.qvel[i] + h * x[i];
        }
        place.pull_metric(metric, at, &d.tendons, &d.actuation, (mu, x, other), entries, out);
        let turns = |b: usize| turns(&self.turning, tree, b);
        place.pull_slopes(&d.velocity, at.qpos, at.qvel, (mu, x), turns, out);
        if discrete {
            metric.subtract(tree, &d.tendons, &d.actuation, zeros, mu, &mut out.v);
        }
        // −μᵀ h ∂c/∂v x, by polarisation of c, which is quadratic in v.
        for part in self.turning.iter().filter(|part| part.active) {
            for sign in [1.0, -1.0] {
                negative.fill(0.0);
                other.fill(0.0);
                for i in part.dofs.clone() {
                    negative[i] = -0.5 * sign * h * mu[i];
                    other[i] = at.qvel[i] + sign * x[i];
                }
                let world = Motion::zero();
                let swept = Rates { lambda: negative, v: other, a: zeros, world };
                sweep.pull(place, &d.inertias, swept, at.qpos, wanted, false, out);
            }
        }
        if rows && discrete {
            // What the rows have of the diagonals of M and of A = M + hD + h²K, entry by entry.
            let [by_inertia, by_metric] = &stage.by_diagonals;
            for i in 0..tree.nv {
                if by_inertia[i] == 0.0 && by_metric[i] == 0.0 {
                    continue;
                }
                for rates in [&mut *negative, &mut *other, &mut *mu] {
                    rates.fill(0.0);
                }
                (negative[i], other[i]) = (by_inertia[i] + by_metric[i], 1.0);
                sweep.pull_mass(place, &d.inertias, [negative, other], at.qpos, wanted, out);
                place.pull_armature(&d.tendons, at.qpos, 1.0, [negative, other], out);
                (mu[i], negative[i]) = (-by_metric[i], h);
                place.pull_metric(
                    metric,
                    at,
                    &d.tendons,
                    &d.actuation,
                    (mu, other, negative),
                    entries,
                    out,
                );
                place.pull_slopes(&d.velocity, at.qpos, at.qvel, (mu, other), turns, out);
            }
        }
        Ok(())
    }

    /// μ and λ.
    fn multiply(&mut self, tree: &Tree, bar: EvaluationAdjoint) -> Result<(), RigidError> {
        let discrete = tree.options.integrator == Integrator::Discrete;
        let Self { scratch, factors, dynamics: d, stage, whole, force, .. } = self;
        let Scratch { mu, lambda, rates, .. } = scratch;
        let held = &mut scratch.held;
        held.copy_from_slice(bar.step_acceleration);
        if discrete {
            // The acceleration is the step's.
            add(held, bar.qacc);
        }
        mu.copy_from_slice(held);
        if self.implicit {
            factors.solve(tree, mu);
        } else {
            d.factors.solve(tree, mu);
        }
        for part in self.turning.iter_mut().filter(|part| part.active) {
            let own = &mut mu[part.dofs.clone()];
            own.copy_from_slice(&held[part.dofs.clone()]);
            part.factors.solve_transposed(own);
        }
        if !stage.has_rows() {
            lambda.copy_from_slice(mu);
            if !discrete && !bar.qacc.is_empty() {
                let more = &mut rates[0];
                more.copy_from_slice(bar.qacc);
                d.factors.solve(tree, more);
                add(lambda, more);
            }
            return Ok(());
        }
        if discrete {
            // The constraints are solved in the metric A. No row acts on what turns.
            let inertia = whole.symmetric_rows(tree);
            let Some(found) = stage.multipliers(inertia, force, held, bar.row_force) else {
                return Err(RigidError::NotConverged { residual: f64::NAN, iterations: 0 });
            };
            lambda.copy_from_slice(found);
            for part in self.turning.iter().filter(|part| part.active) {
                lambda[part.dofs.clone()].copy_from_slice(&mu[part.dofs.clone()]);
            }
            mu.copy_from_slice(lambda);
            return Ok(());
        }
        let differs = self.implicit || !self.turning.is_empty();
        let a_bar = &mut rates[0];
        if differs {
            d.mass.multiply(tree, mu, a_bar);
        } else {
            a_bar.copy_from_slice(held);
        }
        add(a_bar, bar.qacc);
        let inertia = d.mass.symmetric_rows(tree);
        match stage.multipliers(inertia, &d.qfrc_smooth, a_bar, bar.row_force) {
            Some(found) => lambda.copy_from_slice(found),
            None => return Err(RigidError::NotConverged { residual: f64::NAN, iterations: 0 }),
        }
        Ok(())
    }
}

/// x ← x + y; y may be empty for zero.
fn add(x: &mut [f64], y: &[f64]) {
    for (slot, y) in x.iter_mut().zip(y) {
        *slot += y;
    }
}

/// The adjoint of λᵀ(actuators and compensation of gravity).
fn pull_driven(
    place: Place,
    d: &Dynamics<f64>,
    at: At<f64>,
    lambda: &[f64],
    [driven, compensated]: [&mut Vec<f64>; 2],
    bar: EvaluationAdjoint,
    wanted: Wanted,
    entries: &mut [f64],
    out: &mut Adjoint,
) {
    let Place { tree, layout, c, .. } = place;
    driven.copy_from_slice(lambda);
    add(driven, bar.qfrc_actuator);
    for (j, joint) in tree.joints.iter().enumerate() {
        if joint.actuator_force_limited {
            let range = layout.jnt_actfrcrange.at(j);
            let total = d.unlimited[joint.dof];
            let bound = if total < c[range] {
                range
            } else if total > c[range + 1] {
                range + 1
            } else {
                continue;
            };
            out.c[bound] += driven[joint.dof];
            driven[joint.dof] = 0.0;
        }
    }
    for i in 0..tree.nv {
        let by_actuators = tree.joints[tree.dof_joint[i]].actuator_gravity_compensation;
        compensated[i] = if by_actuators { driven[i] } else { lambda[i] };
    }
    if tree.bodies.iter().any(|b| b.gravity_compensated) {
        place.pull_gravity_compensation(at.qpos, compensated, wanted.placement, out);
    }
    if !tree.actuators.is_empty() {
        let (tendons, actuation) = (&d.tendons, &d.actuation);
        place.pull_actuators(
            tendons,
            actuation,
            at,
            driven,
            bar.actuator_force,
            bar.act_dot,
            bar.act_next,
            entries,
            out,
        );
    }
}
