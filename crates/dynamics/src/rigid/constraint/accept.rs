//! The solver's state at an acceleration that is known to be the solution.

use super::law;
use super::law::Zone;
use super::rows::Rows;
use super::solver::Solver;

impl Solver {
    /// Takes the solution of an earlier solve of the same problem; forces and zones are those it ended with.
    pub(super) fn accept(&mut self, rows: &Rows, acceleration: &[f64]) {
        self.factored = false;
        self.acceleration.clear();
        self.acceleration.extend_from_slice(acceleration);
        self.x.clear();
        self.x.extend((0..rows.len()).map(|r| {
            // As the solver sums it, so that not even rounding decides otherwise.
            let (dofs, values) = rows.row(r);
            let mut sum = -rows.reference[r];
            for k in 0..dofs.len() {
                sum += values[k] * acceleration[dofs[k]];
            }
            sum
        }));
        self.force.resize(rows.len(), 0.0);
        self.zone.resize(rows.len(), Zone::Satisfied);
        law::forces(rows, &self.x, &mut self.force, &mut self.zone);
    }
}
