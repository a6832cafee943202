//! Contacts that close in a step, and how the acceleration jumps there.
//!
//! Where MuJoCo's damping acts at zero depth, the acceleration jumps by Δa when a contact closes. A
//! variation of the depth by δ moves the instant of onset by −δ/ḋ, ḋ being the speed of approach, so that
//! the velocity after it varies by Δa δ/ḋ more than the derivative of either branch says (the saltation matrix;
//! Leine and Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, 2004, section 7.2).
//!
//! Of contacts that close in one step each has the share H⁻¹ Jᵢᵀfᵢ of the jump, with fᵢ its force where all of them
//! are at depth zero, and H the Hessian without them: for a single one that is the whole jump, as long as
//! other rows keep their zones.

use super::build::{Constraints, RowInputs, Source};
use super::contact::{self, Contact};
use super::derivative::Multipliers;
use super::impedance::{reference_acceleration, regularisation};
use super::law::Law;
use super::search;
use super::solver::{Problem, Solver, SolverOptions};
use super::symmetric::SymmetricRows;
use crate::rigid::collision::{self, Candidate, Real};

/// A row that is as good as none: its share of its mass.
const NONE: f64 = 1e-30;

/// A contact that closed in the step before a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Onset {
    /// Its place among the contacts of the state.
    pub contact: usize,
    /// Speed of approach, m/s.
    pub approach: f64,
    /// Its share of the jump of the acceleration.
    pub jump: Vec<f64>,
}

impl Constraints<f64> {
    /// Depth (distance below the margin) and speed of approach of every contact.
    pub(crate) fn approaches(&self, elliptic: bool) -> impl Iterator<Item = (usize, f64, f64)> {
        self.items.iter().filter_map(move |item| {
            let Source::Contact(i) = item.source else { return None };
            let first = self.states[item.row];
            let pyramid = !elliptic && self.contacts[i].parameters.dim > 1;
            // The rates of the two edges of a pyramid are those of the normal, more and less of a tangent's.
            let rate = match pyramid {
                true => 0.5 * (first.velocity + self.states[item.row + 1].velocity),
                false => first.velocity,
            };
            Some((i, -first.position, -rate))
        })
    }

    /// The contacts that were open a time `h` ago, at their present speeds, and come nearer.
    fn closed(&self, at: RowInputs<f64>, h: f64) -> Vec<(usize, f64)> {
        self.approaches(at.tree.options.elliptic)
            .filter(|&(_, depth, approach)| approach > 0.0 && depth <= h * approach)
            .map(|(i, _, approach)| (i, approach))
            .collect()
    }

    /// The onsets in the step of length `h` before this state, with forces `force` other than
    /// those of rows.
    pub(crate) fn onsets(
        &self,
        at: RowInputs<f64>,
        h: f64,
        inertia: SymmetricRows,
        force: &[f64],
        start: &[f64],
        options: SolverOptions,
    ) -> Vec<Onset> {
        let closed = self.closed(at, h);
        if closed.is_empty() {
            return Vec::new();
        }
        let is_new = |i: usize| closed.iter().any(|(k, _)| *k == i);
        let (mut touching, mut open) = (self.rows.clone(), self.rows.clone());
        let least = at.least_time_constant();
        for item in &self.items {
            let Source::Contact(i) = item.source else { continue };
            if !is_new(i) {
                continue;
            }
            let solver = self.contacts[i].parameters.solver;
            let depth = self.states[item.row].position;
            let (now, then) = (solver.response(depth, least), solver.response(0.0, least));
            let share = regularisation(now.impedance, 1.0) / regularisation(then.impedance, 1.0);
            for r in item.row..item.row + item.count {
                touching.mass[r] *= share;
                open.mass[r] *= NONE;
                if self.rows.law[r] != Law::Elliptic || r == item.row {
                    let velocity = self.states[r].velocity;
                    touching.reference[r] = reference_acceleration(then, velocity, 0.0);
                }
            }
        }
        let mut solver = Solver::default();
        solver.solve(Problem { inertia, force, rows: &touching }, &[start], options);
        let forces = solver.force.clone();
        let problem = Problem { inertia, force, rows: &open };
        let mut solver = Solver::default();
        solver.solve(problem, &[start], options);
        let mut multipliers = Multipliers::default();
        let mut out = Vec::new();
        for (i, approach) in closed {
            let Some(item) = self.items.iter().find(|item| item.source == Source::Contact(i))
            else {
                continue;
            };
            let mut pushed = vec![0.0; force.len()];
            for r in item.row..item.row + item.count {
                touching.add_transposed(r, forces[r], &mut pushed);
            }
            if solver.multipliers(problem, &pushed, &[], &mut multipliers) {
                out.push(Onset { contact: i, approach, jump: multipliers.lambda.clone() });
            }
        }
        out
    }
}

/// The depth (distance below the margin) of point `index` of two geoms; none where there is no such point.
pub(crate) fn depth<S: Real>(at: RowInputs<S>, candidate: Candidate, index: usize) -> Option<S> {
    let p = contact::parameters(at, candidate);
    let mut found = Vec::new();
    let shapes = candidate.geoms.map(|g| search::shape(at, g));
    let [a, b] = [0, 1].map(|n| search::surface(at.tree, candidate.geoms[n], &shapes[n]));
    collision::collide(&a, &b, p.margin + p.gap, &mut found);
    found.get(index).map(|touch| p.margin - touch.distance)
}

impl Contact<f64> {
    /// Names of what [`depth`] needs: the geoms and which of their points.
    pub(crate) fn point(&self) -> (Candidate, usize) {
        (self.candidate, self.index)
    }
}
