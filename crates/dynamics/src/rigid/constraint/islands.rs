//! Islands: degrees of freedom that neither inertia nor rows couple to others. Each is a problem of its own.
//!
//! The minimum of a sum of functions of different variables is that of each, so that a group of bodies that has
//! come to rest costs no iteration because another has not, and no line search is shared.

use std::ops::Range;

use super::rows::{Cone, Rows};
use super::solver::{Problem, Solved, Solver, SolverOptions};
use super::symmetric::SymmetricRows;

/// The parts of a problem, with memory that is kept between solves.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Of each degree of freedom: another of its island, itself for the first.
    lead: Vec<usize>,
    /// Of each degree of freedom: its island, and its place there.
    place: Vec<(usize, usize)>,
    parts: Vec<Part>,
    /// Of each degree of freedom that is the first of its island: the island.
    of_root: Vec<usize>,
    /// How many of the parts there are now.
    count: usize,
}

/// One island.
#[derive(Clone, Debug, Default)]
struct Part {
    dofs: Vec<usize>,
    rows: Vec<usize>,
    solver: Solver,
    local: Rows,
    ranges: Vec<Range<usize>>,
    columns: Vec<usize>,
    entries: Vec<f64>,
    force: Vec<f64>,
    starts: Vec<Vec<f64>>,
}

impl Islands {
    /// The first degree of freedom of an island.
    fn root(&mut self, mut i: usize) -> usize {
        while self.lead[i] != i {
            // Halves the way for those who come after.
            self.lead[i] = self.lead[self.lead[i]];
            i = self.lead[i];
        }
        i
    }

    /// Makes two islands one; returns whether they were two.
    fn join(&mut self, i: usize, j: usize) -> bool {
        let (i, j) = (self.root(i), self.root(j));
        let (low, high) = (i.min(j), i.max(j));
        self.lead[high] = low;
        low != high
    }

    /// Finds the islands of a problem; what no row moves is one of them. Returns how many there are.
    pub fn find(&mut self, problem: Problem) -> usize {
        let Problem { inertia, rows, .. } = problem;
        let n = inertia.len();
        self.lead.clear();
        self.lead.extend(0..n);
        let mut left = n;
        for i in 0..n {
            for &j in &inertia.columns[inertia.rows[i].clone()] {
                if self.lead[i] != self.lead[j] {
                    left -= usize::from(self.join(i, j));
                }
            }
        }
        let mut last: &[usize] = &[];
        for r in 0..rows.len() {
            if left <= 1 {
                return left;
            }
            let dofs = rows.row(r).0;
            if dofs == last {
                continue;
            }
            last = dofs;
            if let Some((&first, rest)) = dofs.split_first() {
                for &dof in rest {
                    left -= usize::from(self.join(first, dof));
                }
            }
        }
        self.number(rows);
        self.count
    }

    /// Numbers the islands that have rows, and one of all degrees of freedom without.
    fn number(&mut self, rows: &Rows) {
        const NONE: usize = usize::MAX;
        let n = self.lead.len();
        self.count = 0;
        let mut of_root = std::mem::take(&mut self.of_root);
        of_root.clear();
        of_root.resize(n, NONE);
        for part in &mut self.parts {
            part.dofs.clear();
            part.rows.clear();
        }
        let mut next = |parts: &mut Vec<Part>| {
            if parts.len() == self.count {
                parts.push(Part::default());
            }
            self.count += 1;
            self.count - 1
        };
        let mut parts = std::mem::take(&mut self.parts);
        let mut lost = Vec::new();
        for r in 0..rows.len() {
            let Some(&dof) = rows.row(r).0.first() else {
                lost.push(r);
                continue;
            };
            let mut root = dof;
            while self.lead[root] != root {
                root = self.lead[root];
            }
            if of_root[root] == NONE {
                of_root[root] = next(&mut parts);
            }
            parts[of_root[root]].rows.push(r);
        }
        let mut rest = NONE;
        self.place.clear();
        for i in 0..n {
            let mut root = i;
            while self.lead[root] != root {
                root = self.lead[root];
            }
            let mut island = of_root[root];
            if island == NONE {
                if rest == NONE {
                    rest = next(&mut parts);
                }
                island = rest;
            }
            self.place.push((island, parts[island].dofs.len()));
            parts[island].dofs.push(i);
        }
        // Rows that move nothing have forces all the same.
        if let (Some(part), false) = (parts.first_mut(), lost.is_empty()) {
            part.rows.extend(lost);
            part.rows.sort_unstable();
        }
        self.parts = parts;
        self.of_root = of_root;
    }

    /// Solves each island, into the arrays of `whole`.
    pub fn solve(
        &mut self,
        problem: Problem,
        starts: &[&[f64]],
        options: SolverOptions,
        whole: &mut Solver,
    ) -> Solved {
        let mut all = Solved { iterations: 0, residual: 0.0, converged: true };
        for part in &mut self.parts[..self.count] {
            part.load(problem, &self.place, starts);
            let Part { solver, local, ranges, columns, entries, force, starts, .. } = part;
            let inertia = SymmetricRows { rows: ranges, columns, entries };
            let own = Problem { inertia, force, rows: local };
            let solved = match &starts[..] {
                [] => solver.solve_whole(own, &[], options),
                [only] => solver.solve_whole(own, &[only], options),
                [first, second] => solver.solve_whole(own, &[first, second], options),
                more => {
                    let all: Vec<&[f64]> = more.iter().map(Vec::as_slice).collect();
                    solver.solve_whole(own, &all, options)
                }
            };
            part.unload(whole);
            all.iterations = all.iterations.max(solved.iterations);
            // A residual that is not a number is kept.
            if solved.residual.is_nan() || solved.residual > all.residual {
                all.residual = solved.residual;
            }
            all.converged &= solved.converged;
        }
        all
    }
}

impl Part {
    fn load(&mut self, problem: Problem, place: &[(usize, usize)], starts: &[&[f64]]) {
        let Problem { inertia, rows, force } = problem;
        self.ranges.clear();
        self.columns.clear();
        self.entries.clear();
        self.force.clear();
        for &i in &self.dofs {
            let first = self.columns.len();
            for at in inertia.rows[i].clone() {
                self.columns.push(place[inertia.columns[at]].1);
                self.entries.push(inertia.entries[at]);
            }
            self.ranges.push(first..self.columns.len());
            self.force.push(force[i]);
        }
        self.starts.resize(starts.len(), Vec::new());
        for (own, start) in self.starts.iter_mut().zip(starts) {
            own.clear();
            own.extend(self.dofs.iter().map(|&i| start[i]));
        }
        self.local.clear();
        let mut next = 0;
        for &r in &self.rows {
            while rows.cones.get(next).is_some_and(|cone| cone.row < r) {
                next += 1;
            }
            if let Some(cone) = rows.cone_at(next, r) {
                self.local.cones.push(Cone { row: self.local.len(), ..*cone });
            }
            self.local.copy(rows, r, |dof| place[dof].1);
        }
    }

    fn unload(&self, whole: &mut Solver) {
        for (&i, a) in self.dofs.iter().zip(&self.solver.acceleration) {
            whole.acceleration[i] = *a;
        }
        for (k, &r) in self.rows.iter().enumerate() {
            whole.force[r] = self.solver.force[k];
            whole.zone[r] = self.solver.zone[k];
            whole.x[r] = self.solver.x[k];
        }
    }
}
