//! Tangents of a step by the rows of its Jacobian: one adjoint for each degree of freedom, whose products
//! with all columns are then next to nothing. For many columns this costs less than carrying them forward.

use super::adjoint::{Adjoint, Wanted};
use super::constants::{Block, Layout};
use super::error::RigidError;
use super::forward::At;
use super::integrate::push_displace;
use super::pull_evaluation::EvaluationAdjoint;
use super::push::{DriveTangents, LANES, RigidTangents};
use super::step::{Mechanism, RigidWorkspace};

/// An adjoint of an evaluation costs about this many batches of [`LANES`] tangents carried forward.
const COST: f64 = 0.5;

/// How the tangent of a step is found; all ways agree but for rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TangentMethod {
    /// By what costs less for so many columns.
    #[default]
    Cheaper,
    /// Each column carried forward on dual numbers.
    Forward,
    /// By the rows of the step's Jacobian, one adjoint for each, where adjoints follow everything and the
    /// integrator is not RK4.
    Rows,
}

/// Tangents of constants, in columns that may lie within longer ones.
#[derive(Clone, Copy)]
pub(crate) struct ConstantTangents<'a> {
    /// All columns; empty for zero.
    pub values: &'a [f64],
    /// Where a column's constants begin, and how far it is to the next column.
    pub offset: usize,
    pub stride: usize,
    /// How many constants.
    pub len: usize,
    /// Those that any column moves, where that is known.
    pub moved: Option<&'a [usize]>,
}

impl<'a> ConstantTangents<'a> {
    /// Of columns one after the other.
    pub fn dense(values: &'a [f64], len: usize) -> Self {
        Self { values, offset: 0, stride: len, len, moved: None }
    }

    /// Column `k`; empty for zero.
    pub fn column(&self, k: usize) -> &'a [f64] {
        if self.values.is_empty() {
            return &[];
        }
        let first = k * self.stride + self.offset;
        &self.values[first..first + self.len]
    }
}

/// Memory of the Jacobian's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct JacobianRows {
    bar: Adjoint,
    /// Constants that any column moves.
    moved: Vec<usize>,
    marks: Vec<bool>,
    /// Row after row: derivatives by configuration, velocities, activations, controls, applied forces, moved
    /// constants.
    rows: Vec<f64>,
    /// One column of what the rows are by.
    column: Vec<f64>,
}

impl JacobianRows {
    /// Finds the constants that any column moves.
    fn find_moved(&mut self, columns: usize, c_dot: ConstantTangents) {
        self.moved.clear();
        if let Some(moved) = c_dot.moved {
            self.moved.extend_from_slice(moved);
            return;
        }
        self.marks.clear();
        self.marks.resize(c_dot.len, false);
        for k in 0..columns {
            for (mark, x) in self.marks.iter_mut().zip(c_dot.column(k)) {
                *mark |= *x != 0.0;
            }
        }
        self.moved.extend((0..c_dot.len).filter(|&i| self.marks[i]));
    }

    /// Which adjoints the moved constants need.
    fn wanted(&self, layout: &Layout) -> Wanted {
        let inertial = [layout.body_mass, layout.body_ipos, layout.body_inertia];
        let placement = [layout.body_pos, layout.body_quat, layout.jnt_pos, layout.jnt_axis];
        let friction = [layout.dof_frictionloss, layout.tendon_frictionloss];
        let any = |blocks: &[Block]| {
            self.moved.iter().any(|i| blocks.iter().any(|block| block.range().contains(i)))
        };
        Wanted {
            inertial: any(&inertial),
            placement: any(&placement),
            zero_friction: any(&friction),
        }
    }
}

impl Mechanism {
    /// Whether so many columns of tangents are to be found by the rows of the Jacobian.
    pub(super) fn prefers_rows(&self, columns: usize) -> bool {
        let rows = (self.tree.nv + self.tree.na) as f64;
        match self.tangents {
            TangentMethod::Forward => false,
            TangentMethod::Rows => true,
            TangentMethod::Cheaper => rows * COST < columns.div_ceil(LANES) as f64,
        }
    }

    /// The tangent of a step, as [`step_pushforward`](Self::step_pushforward), after the evaluation has been
    /// updated; not of RK4.
    pub(super) fn push_by_rows(
        &self,
        c: &[f64],
        at: At<f64>,
        tangents: &mut RigidTangents,
        c_dot: ConstantTangents,
        drive: DriveTangents,
        ws: &mut RigidWorkspace,
        memory: &mut JacobianRows,
    ) -> Result<(), RigidError> {
        let (tree, layout) = (&self.tree, &self.layout);
        let (nv, na, nu, h) = (tree.nv, tree.na, tree.actuators.len(), tree.options.timestep);
        memory.find_moved(tangents.columns, c_dot);
        let wanted = memory.wanted(layout);
        if memory.bar.c.len() != layout.len {
            memory.bar = Adjoint::zeros(tree, layout);
        }
        let JacobianRows { bar, moved, rows, column, .. } = memory;
        // Where there are no applied forces nothing moves them.
        let nf = if drive.applied.is_empty() { 0 } else { at.applied.len() };
        let ctrl_at = 2 * nv + na;
        let (applied_at, c_at) = (ctrl_at + nu, ctrl_at + nu + nf);
        let width = c_at + moved.len();
        rows.clear();
        for i in 0..nv + na {
            // Adjoints of constants that do not move are not read.
            let Adjoint { q, v, act, ctrl, applied, .. } = &mut *bar;
            for part in [q, v, act, ctrl, applied] {
                part.fill(0.0);
            }
            for &i in &*moved {
                bar.c[i] = 0.0;
            }
            ws.bar.fill(0.0);
            ws.act_bar.fill(0.0);
            if i < nv {
                ws.bar[i] = 1.0;
            } else {
                ws.act_bar[i - nv] = 1.0;
            }
            let seeds =
                EvaluationAdjoint { act_next: &ws.act_bar, ..EvaluationAdjoint::of_step(&ws.bar) };
            ws.evaluation.pullback(tree, layout, c, at, seeds, wanted, bar)?;
            for part in [&bar.q, &bar.v, &bar.act, &bar.ctrl, &bar.applied[..nf]] {
                rows.extend_from_slice(part);
            }
            rows.extend(moved.iter().map(|&i| bar.c[i]));
        }
        for i in 0..nv {
            ws.displacement[i] = h * (at.qvel[i] + h * ws.evaluation.step_acceleration[i]);
        }
        column.clear();
        column.resize(width, 0.0);
        for k in 0..tangents.columns {
            let (of_v, of_act) = (k * nv..(k + 1) * nv, k * na..(k + 1) * na);
            column[..nv].copy_from_slice(&tangents.q[of_v.clone()]);
            column[nv..2 * nv].copy_from_slice(&tangents.v[of_v.clone()]);
            column[2 * nv..ctrl_at].copy_from_slice(&tangents.act[of_act.clone()]);
            if !drive.ctrl.is_empty() {
                column[ctrl_at..applied_at].copy_from_slice(&drive.ctrl[k * nu..(k + 1) * nu]);
            }
            column[applied_at..c_at].copy_from_slice(&drive.applied[k * nf..(k + 1) * nf]);
            let own = c_dot.column(k);
            if !own.is_empty() {
                for (slot, &i) in column[c_at..].iter_mut().zip(&*moved) {
                    *slot = own[i];
                }
            }
            let row = |i: usize| -> f64 {
                let row = &rows[i * width..(i + 1) * width];
                let mut sum = 0.0;
                for (x, y) in row.iter().zip(&*column) {
                    sum += x * y;
                }
                sum
            };
            let v = &mut tangents.v[of_v.clone()];
            for i in 0..nv {
                v[i] += h * row(i);
                ws.bar[i] = h * v[i];
            }
            push_displace(tree, &ws.displacement, &ws.bar, &mut tangents.q[of_v]);
            let act = &mut tangents.act[of_act];
            for i in 0..na {
                act[i] = row(nv + i);
            }
        }
        Ok(())
    }
}
