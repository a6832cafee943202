//! Proofs of the derivatives of every leaf of every example's scene.

use costate::dynamics::rollout::{Interval, IntervalAdjoints, IntervalTangents};
use costate::model::Inputs;
use costate::prelude::*;

use crate::check::{Criterion, Group};

/// Reads the whole state after the last step.
pub struct Last {
    /// Steps of the run.
    pub steps: usize,
    /// Degrees of freedom.
    pub dof: usize,
}

impl Observer for Last {
    fn len(&self) -> usize {
        2 * self.dof
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, step: usize) -> bool {
        step + 1 == self.steps
    }
    fn observe(&self, at: Interval, y: &mut [f64]) {
        y[..self.dof].copy_from_slice(&at.end.q);
        y[self.dof..].copy_from_slice(&at.end.v);
    }
    fn pushforward(&self, _: Interval, tangents: IntervalTangents, y_dot: &mut [f64]) {
        let n = self.dof;
        for k in 0..tangents.columns {
            let column = &mut y_dot[2 * n * k..2 * n * (k + 1)];
            column[..n].copy_from_slice(&tangents.end.q[k * n..(k + 1) * n]);
            column[n..].copy_from_slice(&tangents.end.v[k * n..(k + 1) * n]);
        }
    }
    fn pullback(&self, _: Interval, y_bar: &[f64], adjoints: IntervalAdjoints) {
        for j in 0..self.dof {
            adjoints.end.q[j] += y_bar[j];
            adjoints.end.v[j] += y_bar[self.dof + j];
        }
    }
}

/// The examples' scenes.
const SCENES: &[&str] =
    &["soft-cube", "bouncing-grid", "silicone-beam", "spring-cage", "hanging-cloth"];

/// The worst leaf of each scene.
pub fn run() -> Group {
    let mut group = Group::new(
        "Derivatives of every leaf",
        "For every leaf of each example's scene, 30 steps: the tangent against central differences \
         (extrapolated, best over the widths), and the adjoint against the tangent. Where the run has a \
         kink at these numbers, as drag has for a cloth that falls in its own plane, the differences to \
         the two sides disagree, and the tangent has to be as near to their mean as they are to each other.",
    );
    for name in SCENES {
        let path = crate::root().join("examples").join(name).join("scene.toml");
        let checks = Scene::read(&path).map_err(|e| e.to_string()).and_then(|scene| {
            let system = System::new(&scene.model).map_err(|e| e.to_string())?;
            costate::dynamics::check(&system, &Inputs::default(), 30, None)
                .map_err(|e| e.to_string())
        });
        match checks {
            Err(error) => group.failed(name, error),
            Ok(checks) => {
                let acting = || checks.iter().filter(|c| c.influences);
                let smooth = || acting().filter(|c| !c.is_kink());
                let kinks = acting().count() - smooth().count();
                let mut reference = format!("{} of {} leaves act", acting().count(), checks.len());
                if kinks > 0 {
                    reference += &format!(", {kinks} at a kink");
                    let error = acting()
                        .filter(|c| c.is_kink())
                        .map(|c| c.difference_error / c.kink)
                        .fold(0.0, f64::max);
                    let what =
                        format!("{name}: worst error at a kink, of what the sides differ by");
                    group.add(&what, &reference, Criterion::AtMost(1.0), error);
                }
                let error = smooth().map(|c| c.difference_error).fold(0.0, f64::max);
                let what = format!("{name}: worst relative error of the tangent");
                group.add(&what, &reference, Criterion::AtMost(1e-6), error);
                let error = acting().map(|c| c.adjoint_error).fold(0.0, f64::max);
                let what = format!("{name}: worst disagreement of adjoint and tangent");
                group.add(&what, &reference, Criterion::AtMost(1e-10), error);
            }
        }
    }
    group
}
