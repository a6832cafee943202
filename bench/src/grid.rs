//! The soft grid in flight that is measured.

use costate_dynamics::System;
use costate_dynamics::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer};
use costate_model::{
    DampingLaw, GridSplit, MaterialSettings, Model, ModelError, SoftBuilder, TetrahedraSettings,
};

/// A grid of cells of five tetrahedra, stretched at the start.
pub struct Grid<'a> {
    /// Cells in x, y and z.
    pub cells: [usize; 3],
    /// Material law, with two parameters.
    pub law: &'a str,
    /// Viscosity, Pa s.
    pub viscosity: f64,
    /// Damping law.
    pub damping: DampingLaw,
}

impl Grid<'_> {
    /// Five tetrahedra a cell.
    pub fn tetrahedra(&self) -> usize {
        5 * self.cells.iter().product::<usize>()
    }

    /// The scene.
    pub fn model(&self) -> Result<Model, ModelError> {
        let mut model = Model::new("grid");
        model.options.timestep = 1e-5;
        let material = MaterialSettings::lame(self.law, 3000.0, 10000.0);
        let mut settings = TetrahedraSettings::new(material, 10.0);
        settings.damping.law = self.damping;
        settings.damping.viscosity = vec![self.viscosity];
        let grid = SoftBuilder::grid("body", self.cells, [0.01, 0.005, 0.01], GridSplit::Five);
        let stretched =
            grid.vertices().iter().flat_map(|[x, y, z]| [1.05 * x, 0.98 * y, *z]).collect();
        grid.start_position(stretched).tetrahedra(settings).build(&mut model)?;
        Ok(model)
    }

    /// Narrows derivatives to the named leaves of the body and its initial velocity.
    pub fn narrow(&self, system: &mut System, names: &[&str]) -> Result<(), ModelError> {
        let mut leaves = Vec::new();
        for name in names.iter().chain(&["velocity"]) {
            leaves.push(system.model().leaves.find(&format!("soft.body.{name}"))?);
        }
        system.narrow(&leaves);
        Ok(())
    }
}

/// The positions at the end.
pub struct Last {
    /// Steps of the run.
    pub steps: usize,
    /// Coordinates of all vertices.
    pub dof: usize,
}

impl Observer for Last {
    fn len(&self) -> usize {
        self.dof
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, step: usize) -> bool {
        step + 1 == self.steps
    }
    fn observe(&self, at: Interval, y: &mut [f64]) {
        y.copy_from_slice(&at.end.q);
    }
    fn pushforward(&self, _at: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        y_dot.copy_from_slice(&tangents.end.q);
    }
    fn pullback(&self, _at: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        for (to, bar) in adjoints.end.q.iter_mut().zip(y_bar) {
            *to += bar;
        }
    }
}
