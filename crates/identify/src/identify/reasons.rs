//! Why a parameter cannot be seen: the likely reason, from what happens in the motion.

use std::sync::{Mutex, PoisonError};

use costate_dynamics::System;
use costate_dynamics::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer, Run};
use costate_model::{SoftBody, State};

use crate::problem::{Problem, Unknown, contact_report};

/// Strains below this are rounding.
const STRAIN: f64 = 1e-9;

/// Looks into the motions at most once.
pub(super) struct Reasons<'a> {
    problem: &'a Problem,
    p: &'a [f64],
    seen: Option<Seen>,
}

/// What happens in the fitted recordings.
struct Seen {
    /// Largest relative change of an edge's length, per soft body.
    strain: Vec<f64>,
    /// Names of geoms that something touches.
    touched: Vec<String>,
}

impl<'a> Reasons<'a> {
    pub fn new(problem: &'a Problem, p: &'a [f64]) -> Self {
        Self { problem, p, seen: None }
    }

    fn seen(&mut self) -> &Seen {
        let (problem, p) = (self.problem, self.p);
        self.seen.get_or_insert_with(|| look(problem, p))
    }

    /// The likely reason why `unknown` cannot be seen.
    pub fn explain(&mut self, unknown: &Unknown, exactly: bool) -> String {
        let how = if exactly {
            "no residual depends on it"
        } else {
            "what the residuals show of it is rounding or far below the noise"
        };
        match self.cause(unknown) {
            Some(cause) => format!("{how}: {cause}"),
            None => format!("{how} in these motions"),
        }
    }

    fn cause(&mut self, unknown: &Unknown) -> Option<String> {
        let problem = self.problem;
        let path = match unknown.recording {
            Some(r) => {
                let prefix = format!("recording.{}.", problem.recordings[r].name);
                unknown.name.strip_prefix(&prefix).unwrap_or(&unknown.name)
            }
            None => &unknown.name,
        };
        if let Some(rest) = path.strip_prefix("geom.") {
            let geom = rest.split('.').next().unwrap_or(rest);
            let of_shape = ["mass", "density", "size", "pos", "quat"];
            let leaf = rest.rsplit('.').next().unwrap_or(rest);
            let weighs = problem.system.articulated().is_some() && of_shape.contains(&leaf);
            if !weighs && !self.seen().touched.iter().any(|t| t == geom) {
                return Some(format!("nothing touches geom `{geom}` in the fitted recordings"));
            }
            return None;
        }
        let rest = path.strip_prefix("soft.")?;
        let name = rest.split('.').next().unwrap_or(rest);
        let (index, body) = problem.system.model().soft_body(name)?;
        if body_is_held(body) {
            return Some(format!(
                "all vertices of `{name}` are fixed or moved on prescribed paths"
            ));
        }
        let observed = problem.fitted.iter().any(|&r| problem.recordings[r].sees(name));
        if !observed && self.seen().touched.is_empty() {
            return Some(format!("no observed signal is connected to body `{name}`"));
        }
        let leaf = rest[name.len()..].trim_start_matches('.');
        let still = self.seen().strain[index] < STRAIN;
        let weighs = ["density", "mass", "vertex_mass", "point_mass"];
        if weighs.iter().any(|w| leaf.starts_with(w)) || leaf.contains("density") {
            if still && self.seen().touched.is_empty() {
                return Some(format!(
                    "`{name}` neither deforms nor touches anything, and in free flight the mass \
                     cancels"
                ));
            }
            return None;
        }
        let shape = ["position", "rotation", "velocity", "angular_velocity", "radius"];
        if still && !shape.iter().any(|s| leaf.starts_with(s)) {
            let touched = if self.seen().touched.is_empty() {
                "it is in free flight or at rest without deformation and never in contact"
            } else {
                "it keeps its shape"
            };
            return Some(format!("`{name}` does not deform ({touched}), so no such force acts"));
        }
        None
    }
}

fn body_is_held(body: &SoftBody) -> bool {
    (0..body.vertex_count as u32)
        .all(|v| body.fixed.contains(&v) || body.paths.iter().any(|p| p.vertices.contains(&v)))
}

/// Largest strain of each body along a run.
struct Strain<'a> {
    system: &'a System,
    steps: usize,
    stride: usize,
    edges: Vec<Vec<([usize; 2], f64)>>,
    largest: Mutex<Vec<f64>>,
}

impl Strain<'_> {
    fn push(&self, state: &State) {
        let mut largest = self.largest.lock().unwrap_or_else(PoisonError::into_inner);
        for (edges, largest) in self.edges.iter().zip(largest.iter_mut()) {
            for ([a, b], rest) in edges {
                let length = distance(&state.q, *a, *b);
                if *rest > 0.0 {
                    *largest = largest.max((length / rest - 1.0).abs());
                }
            }
        }
    }
}

fn distance(x: &[f64], a: usize, b: usize) -> f64 {
    (0..3).map(|k| (x[3 * a + k] - x[3 * b + k]).powi(2)).sum::<f64>().sqrt()
}

impl Observer for Strain<'_> {
    fn len(&self) -> usize {
        0
    }
    fn steps(&self) -> usize {
        self.steps
    }
    fn reads(&self, step: usize) -> bool {
        step.is_multiple_of(self.stride) || step + 1 == self.steps
    }
    fn observe(&self, at: Interval, _y: &mut [f64]) {
        debug_assert!(std::ptr::eq(at.system, self.system));
        self.push(at.start);
        self.push(at.end);
    }
    fn pushforward(&self, _at: Interval, _tangents: IntervalTangents, _y_dot: &mut [f64]) {}
    fn pullback(&self, _at: Interval, _y_bar: &[f64], _adjoints: IntervalAdjoints) {}
}

/// Edges of all elements of a body with their length in the rest shape `rest`.
fn edges(body: &SoftBody, first: usize, rest: &[f64]) -> Vec<([usize; 2], f64)> {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    if let Some(t) = &body.tetrahedra {
        for &[a, b, c, d] in &t.indices {
            pairs.extend([[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]);
        }
    }
    if let Some(m) = &body.membrane {
        for &[a, b, c] in &m.triangles {
            pairs.extend([[a, b], [b, c], [a, c]]);
        }
    }
    if let Some(s) = &body.springs {
        pairs.extend(&s.indices);
    }
    pairs
        .into_iter()
        .map(|[a, b]| {
            let (a, b) = (a as usize, b as usize);
            ([first + a, first + b], distance(rest, a, b))
        })
        .collect()
}

fn look(problem: &Problem, p: &[f64]) -> Seen {
    let system = &problem.system;
    let model = system.model();
    let mut seen = Seen { strain: vec![0.0; model.soft.len()], touched: Vec::new() };
    for &r in &problem.fitted {
        let recording = &problem.recordings[r];
        let (theta, _) = recording.parameters(&problem.unknowns, p);
        let Ok(constants) = system.derive(&theta) else { continue };
        let run = Run::new(system, &constants, &recording.inputs);
        let steps = recording.steps();
        let edges = model
            .soft
            .iter()
            .enumerate()
            .map(|(i, body)| {
                let rest = model.leaves.range(body.rest_position);
                edges(body, model.first_vertex(i), &theta[rest])
            })
            .collect();
        let strain = Strain {
            system,
            steps,
            stride: (steps / 100).max(1),
            edges,
            largest: Mutex::new(vec![0.0; model.soft.len()]),
        };
        if run.observe(&strain, &[]).is_ok() {
            let found = strain.largest.into_inner().unwrap_or_else(PoisonError::into_inner);
            for (a, b) in seen.strain.iter_mut().zip(found) {
                *a = a.max(b);
            }
        }
        if let Ok(report) = contact_report(&run, steps) {
            for geom in report.geoms {
                if geom.largest_force > 0.0 && !seen.touched.contains(&geom.geom) {
                    seen.touched.push(geom.geom);
                }
            }
        }
    }
    seen
}
