//! One evaluation of the whole dynamics, constraints and implicit terms included.
//!
//! The constrained acceleration a minimises ½(a − M⁻¹τ)ᵀM(a − M⁻¹τ) + s(Ja − a_ref), with τ all smooth
//! forces; the step then advances the velocity by h x, where A x = M a and A = M + hD is the inertia with
//! what the integrator takes implicitly. The discrete integrator has A = M + hD + h²K and forces τ − hKv.

use costate_num::DualN;
use costate_num::spatial::{Force, Motion};

use super::adjoint::Sweep;
use super::constants::Layout;
use super::constraint::{ConstraintStage, Onset, Problem, RowInputs, Rows, Solved, SolverOptions};
use super::error::RigidError;
use super::fluid::{Slopes, is_implicit};
use super::forward::{At, Dynamics};
use super::inertia::MassMatrix;
use super::metric::Metric;
use super::tree::{Integrator, Tree};
use super::turning::{Turning, turns};

/// Where the solver of constraints starts, beside the acceleration without them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start<'a> {
    /// An acceleration; empty for none.
    pub near: &'a [f64],
    /// Whether it is the solution but for rounding: then no other start is looked at.
    pub solution: bool,
}

impl Start<'_> {
    fn is_known(&self, tree: &Tree) -> bool {
        self.solution && self.near.len() == tree.nv
    }
}

impl<'a> From<&'a [f64]> for Start<'a> {
    fn from(near: &'a [f64]) -> Self {
        Self { near, solution: false }
    }
}

/// Everything of one evaluation of the dynamics.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The dynamics without constraints.
    pub dynamics: Dynamics<f64>,
    /// The constraint rows and their solver.
    pub stage: ConstraintStage,
    /// How the constraint solver ended; `None` where there were no rows.
    pub solved: Option<Solved>,
    /// Acceleration.
    pub qacc: Vec<f64>,
    /// Joint-space force of constraints.
    pub qfrc_constraint: Vec<f64>,
    /// The acceleration by which the velocity advances.
    pub step_acceleration: Vec<f64>,
    pub(super) metric: Metric<f64>,
    pub(super) slopes: Slopes<f64>,
    /// Whether A differs from M.
    pub(super) implicit: bool,
    /// Factors of the symmetric part of A.
    pub(super) factors: MassMatrix<f64>,
    /// The symmetric part of A itself, where constraints are solved with it.
    pub(super) whole: MassMatrix<f64>,
    pub(super) turning: Vec<Turning>,
    /// Whether the unconstrained acceleration has been found.
    pub(super) accelerated: bool,
    pub(super) force: Vec<f64>,
    pub(super) scratch: Scratch,
}

#[derive(Clone, Debug)]
pub(super) struct Scratch {
    pub sweep: Sweep,
    pub velocity: Vec<Motion<f64>>,
    pub acceleration: Vec<Motion<f64>>,
    pub mu: Vec<f64>,
    pub lambda: Vec<f64>,
    pub rates: [Vec<f64>; 2],
    pub held: Vec<f64>,
    pub zeros: Vec<f64>,
    /// The acceleration that dry friction sees.
    pub friction: Vec<f64>,
    pub entries: Vec<f64>,
    pub forces: Vec<Force<f64>>,
}

impl Evaluation {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        let (n, bodies) = (tree.nv, tree.bodies.len());
        let zeros = || vec![0.0; n];
        let dynamics = Dynamics::new(tree);
        let widest = dynamics.tendons.dofs.len().max(dynamics.actuation.dofs.len());
        Self {
            dynamics,
            stage: ConstraintStage::default(),
            solved: None,
            qacc: zeros(),
            qfrc_constraint: zeros(),
            step_acceleration: zeros(),
            metric: Metric::new(tree),
            slopes: Slopes::new(tree),
            implicit: false,
            factors: MassMatrix::new(tree),
            whole: MassMatrix::new(tree),
            turning: Turning::of(tree),
            accelerated: false,
            force: zeros(),
            scratch: Scratch {
                sweep: Sweep::new(tree),
                velocity: vec![Motion::zero(); bodies],
                acceleration: vec![Motion::zero(); bodies],
                mu: zeros(),
                lambda: zeros(),
                rates: [zeros(), zeros()],
                held: zeros(),
                zeros: zeros(),
                friction: zeros(),
                entries: vec![0.0; widest],
                forces: vec![Force::zero(); bodies],
            },
        }
    }

    /// Evaluates the dynamics at a state. `warm` may hold an acceleration near the solution, or be empty;
    /// the result does not depend on it beyond the solver's tolerance.
    ///
    /// # Errors
    /// [`RigidError`] where inertia is missing or the constraint solver ran out of iterations.
    pub fn update(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[f64],
        at: At<f64>,
        warm: &[f64],
    ) -> Result<(), RigidError> {
        self.update_for(tree, layout, c, at, warm.into(), true)
    }

    /// As [`update`](Self::update). Where `acceleration` is not asked for, the integrator is implicit and
    /// there are no rows, `qacc` is the acceleration by which the velocity advances: a step needs no other,
    /// and saves a factorisation.
    pub(crate) fn update_for(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[f64],
        at: At<f64>,
        start: Start,
        acceleration: bool,
    ) -> Result<(), RigidError> {
        let no_inertia = |dof: usize| RigidError::NoInertia { dof, joint: tree.dof_joint[dof] };
        let discrete = tree.options.integrator == Integrator::Discrete;
        let Self { dynamics: d, metric, slopes, factors, whole, turning, .. } = self;
        d.update_position(tree, layout, c, at.qpos);
        d.update_mass(tree, layout, c);
        d.update_forces(tree, layout, c, at, &[]);
        self.implicit = metric.update(tree, layout, c, at, &d.tendons, &d.actuation);
        if is_implicit(tree) {
            self.implicit = true;
            let turns = |b: usize| turns(turning, tree, b);
            slopes.update(tree, layout, c, &d.kinematics, &d.velocity, turns);
        }
        for part in turning.iter_mut() {
            let (tendons, actuation, dofs) = (&d.tendons, &d.actuation, part.dofs.clone());
            part.active = !(discrete && metric.touches(tree, tendons, actuation, dofs));
        }
        if self.implicit {
            factors.entries.copy_from_slice(&d.mass.entries);
            metric.add_to(tree, &d.tendons, &d.actuation, factors);
            if tree.options.integrator != Integrator::Implicit {
                slopes.add_to(tree, &d.kinematics.subspace, factors);
            }
            if discrete {
                whole.entries.copy_from_slice(&factors.entries);
            }
            if let Some(dof) = factors.factorise(tree) {
                return Err(no_inertia(dof));
            }
        }
        if tree.options.exact_diagonal {
            // The rows read the factors of M.
            if let Some(dof) = self.dynamics.accelerate(tree) {
                return Err(no_inertia(dof));
            }
        }
        self.stage.constraints.update(RowInputs {
            tree,
            layout,
            c,
            dynamics: &self.dynamics,
            qpos: at.qpos,
            qvel: at.qvel,
        });
        let rows = self.stage.has_rows();
        self.qfrc_constraint.fill(0.0);
        self.solved = None;
        self.accelerated = false;
        if rows && discrete {
            return self.solve_discrete(tree, at, start);
        }
        let apart = rows && !start.is_known(tree);
        self.accelerated = acceleration || apart || !self.implicit;
        if self.accelerated {
            if let Some(dof) = self.dynamics.accelerate(tree) {
                return Err(no_inertia(dof));
            }
            self.qacc.copy_from_slice(&self.dynamics.qacc_smooth);
        }
        if rows {
            self.solve(tree, start)?;
        }
        for i in 0..tree.nv {
            self.force[i] = self.dynamics.qfrc_smooth[i] + self.qfrc_constraint[i];
        }
        if self.implicit {
            let Self { dynamics: d, metric, scratch, force, .. } = self;
            if discrete {
                let zeros = &scratch.zeros;
                metric.subtract(tree, &d.tendons, &d.actuation, zeros, at.qvel, force);
            }
            self.step_acceleration.copy_from_slice(&self.force);
            self.factors.solve(tree, &mut self.step_acceleration);
        } else {
            self.step_acceleration.copy_from_slice(&self.qacc);
        }
        self.turn(tree, at.qvel)?;
        if discrete || !(acceleration || rows) {
            self.qacc.copy_from_slice(&self.step_acceleration);
        }
        Ok(())
    }

    /// The acceleration of the discrete integrator with rows: the constraints are solved in the metric A.
    fn solve_discrete(&mut self, tree: &Tree, at: At<f64>, start: Start) -> Result<(), RigidError> {
        if tree.options.exact_diagonal {
            let what = "exact diagonals (flag diagexact) under the discrete integrator";
            return Err(RigidError::Unsupported { what });
        }
        if !self.implicit {
            self.whole.entries.copy_from_slice(&self.dynamics.mass.entries);
            self.factors.entries.copy_from_slice(&self.dynamics.mass.entries);
            if let Some(dof) = self.factors.factorise(tree) {
                return Err(RigidError::NoInertia { dof, joint: tree.dof_joint[dof] });
            }
            self.implicit = true;
        }
        let Self { dynamics: d, metric, stage, scratch, force, whole, turning, .. } = self;
        let diagonal = |m: &MassMatrix<f64>| -> Vec<f64> {
            tree.rows.iter().map(|row| m.entries[row.start]).collect()
        };
        let h = tree.options.timestep;
        stage.constraints.discretise(h, &diagonal(&d.mass), &diagonal(whole));
        let rows = &stage.constraints.rows;
        for part in turning {
            part.active =
                !(0..rows.len()).any(|r| rows.row(r).0.iter().any(|dof| part.dofs.contains(dof)));
        }
        force.copy_from_slice(&d.qfrc_smooth);
        metric.subtract(tree, &d.tendons, &d.actuation, &scratch.zeros, at.qvel, force);
        self.step_acceleration.copy_from_slice(&self.force);
        self.factors.solve(tree, &mut self.step_acceleration);
        self.solve(tree, start)?;
        for i in 0..tree.nv {
            self.force[i] += self.qfrc_constraint[i];
        }
        self.step_acceleration.copy_from_slice(&self.qacc);
        self.turn(tree, at.qvel)?;
        self.qacc.copy_from_slice(&self.step_acceleration);
        Ok(())
    }

    /// Copies to `out` the acceleration that rows of dry friction would see, were there any; a step without
    /// rows need not have found it.
    pub(super) fn friction_acceleration(&mut self, tree: &Tree, out: &mut [f64]) {
        if self.stage.has_rows() || tree.options.integrator == Integrator::Discrete {
            out.copy_from_slice(&self.qacc);
            return;
        }
        // Where M has no factors, only what is implicit keeps the acceleration finite.
        if self.accelerated || self.dynamics.accelerate(tree).is_none() {
            self.accelerated = true;
            out.copy_from_slice(&self.dynamics.qacc_smooth);
        } else {
            out.copy_from_slice(&self.step_acceleration);
        }
    }

    /// The contacts that closed in the step that ends at the state of the last
    /// [`update`](Self::update).
    pub(crate) fn onsets(
        &self,
        tree: &Tree,
        layout: &Layout,
        c: &[f64],
        at: At<f64>,
    ) -> Vec<Onset> {
        let d = &self.dynamics;
        let inputs = RowInputs { tree, layout, c, dynamics: d, qpos: at.qpos, qvel: at.qvel };
        let inertia = d.mass.symmetric_rows(tree);
        let (force, start) = (&d.qfrc_smooth, &d.qacc_smooth);
        let h = tree.options.timestep;
        self.stage.constraints.onsets(inputs, h, inertia, force, start, solver_options(tree))
    }

    fn solve(&mut self, tree: &Tree, start: Start) -> Result<(), RigidError> {
        let options = solver_options(tree);
        let ConstraintStage { constraints, solver, .. } = &mut self.stage;
        let rows = &constraints.rows;
        let discrete = tree.options.integrator == Integrator::Discrete;
        let (inertia, force, smooth): (_, &[f64], &[f64]) = if discrete {
            (self.whole.symmetric_rows(tree), &self.force, &self.step_acceleration)
        } else {
            let d = &self.dynamics;
            (d.mass.symmetric_rows(tree), &d.qfrc_smooth, &d.qacc_smooth)
        };
        let problem = Problem { inertia, force, rows };
        let solved = if start.is_known(tree) {
            solver.solve(problem, &[start.near], options)
        } else if start.near.len() == tree.nv {
            solver.solve(problem, &[smooth, start.near], options)
        } else {
            solver.solve(problem, &[smooth], options)
        };
        self.solved = Some(solved);
        if !solved.converged {
            let (residual, iterations) = (solved.residual, solved.iterations);
            return Err(RigidError::NotConverged { residual, iterations });
        }
        self.qacc.copy_from_slice(&solver.acceleration);
        for (r, &force) in solver.force.iter().enumerate() {
            if force != 0.0 {
                rows.add_transposed(r, force, &mut self.qfrc_constraint);
            }
        }
        Ok(())
    }
}

fn solver_options(tree: &Tree) -> SolverOptions {
    SolverOptions {
        tolerance: tree.options.tolerance.max(1e-14),
        iterations: tree.options.iterations.max(1),
        ..SolverOptions::default()
    }
}

impl Evaluation {
    /// Whether A may differ from M for some constants: where what it adds is zero, its derivative is not.
    pub(crate) fn may_be_implicit(&self, tree: &Tree) -> bool {
        Metric::<f64>::may_differ(tree) || is_implicit(tree) || !self.turning.is_empty()
    }

    /// Tangents of the constrained acceleration, lane after lane, from rows on dual numbers and the
    /// tangents of τ − M a − c at held a. Returns whether the Hessian had factors.
    pub(crate) fn push_stage<const K: usize>(
        &mut self,
        tree: &Tree,
        rows: &Rows<DualN<f64, K>>,
        force_dot: &[f64],
        a_dot: &mut [f64],
    ) -> bool {
        let discrete = tree.options.integrator == Integrator::Discrete;
        let (inertia, force) = if discrete {
            (self.whole.symmetric_rows(tree), &self.force)
        } else {
            (self.dynamics.mass.symmetric_rows(tree), &self.dynamics.qfrc_smooth)
        };
        self.stage.pushforward(inertia, force, rows, force_dot, a_dot)
    }

    /// x ← A⁻¹ x.
    pub(crate) fn solve_step(&mut self, tree: &Tree, x: &mut [f64], scratch: &mut [f64]) {
        scratch.copy_from_slice(x);
        if self.implicit {
            self.factors.solve(tree, x);
        } else {
            self.dynamics.factors.solve(tree, x);
        }
        self.solve_turning(scratch, x);
    }
}
