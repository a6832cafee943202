//! Helpers shared by the tests of this crate.

use costate_dynamics::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer};

/// Observes the whole state (positions, then velocities) at the end of some steps.
pub struct States {
    /// Steps whose end state is observed, ascending.
    pub at: Vec<usize>,
    /// Degrees of freedom.
    pub dof: usize,
}

impl Observer for States {
    fn len(&self) -> usize {
        2 * self.dof * self.at.len()
    }
    fn steps(&self) -> usize {
        self.at.last().copied().unwrap_or(0)
    }
    fn reads(&self, step: usize) -> bool {
        self.at.contains(&(step + 1))
    }
    fn observe(&self, at: Interval, y: &mut [f64]) {
        let n = self.dof;
        for i in 0..self.at.len() {
            if self.at[i] == at.step + 1 {
                y[2 * n * i..2 * n * i + n].copy_from_slice(&at.end.q);
                y[2 * n * i + n..2 * n * (i + 1)].copy_from_slice(&at.end.v);
            }
        }
    }
    fn pushforward(&self, at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        let (n, len) = (self.dof, self.len());
        for k in 0..tangents.columns {
            for i in 0..self.at.len() {
                if self.at[i] == at.step + 1 {
                    let column = &mut y_dot[k * len..(k + 1) * len];
                    column[2 * n * i..2 * n * i + n]
                        .copy_from_slice(&tangents.end.q[k * n..(k + 1) * n]);
                    column[2 * n * i + n..2 * n * (i + 1)]
                        .copy_from_slice(&tangents.end.v[k * n..(k + 1) * n]);
                }
            }
        }
    }
    fn pullback(&self, at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        let n = self.dof;
        for i in 0..self.at.len() {
            if self.at[i] == at.step + 1 {
                for j in 0..n {
                    adjoints.end.q[j] += y_bar[2 * n * i + j];
                    adjoints.end.v[j] += y_bar[2 * n * i + n + j];
                }
            }
        }
    }
}
