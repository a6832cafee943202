//! Views: the same quantity under other leaves, (E, ν) for (λ, μ) or mass for density.

use crate::error::ModelError;
use crate::leaf::{Bounds, Elements, Extent, Leaf, LeafId};
use crate::model::Model;
use crate::soft::{ElasticView, SoftBody, TetrahedraMass};

/// Which view of a body's quantity a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Elastic(ElasticView),
    Mass(MassView),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MassView {
    Density,
    Total,
}

fn choice(name: &str) -> Option<Choice> {
    match name {
        "mu" | "lambda" => Some(Choice::Elastic(ElasticView::Lame)),
        "young" | "poisson" => Some(Choice::Elastic(ElasticView::Engineering)),
        "density" => Some(Choice::Mass(MassView::Density)),
        "mass" => Some(Choice::Mass(MassView::Total)),
        _ => None,
    }
}

/// `soft.BODY.NAME` into body and name.
fn split(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("soft.")?.rsplit_once('.')
}

impl Model {
    /// The same model with every one of `paths` a leaf: where a path belongs to another view of a
    /// quantity than the file gives, that view replaces the primary leaves, at the same values.
    /// Paths that are no views are left alone.
    ///
    /// # Errors
    /// [`ModelError::ConflictingViews`] where two paths are different views of one quantity; a
    /// view that the body's law or mass rule does not have.
    pub fn with_views<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ModelError> {
        let mut model = self.clone();
        let mut chosen: Vec<(&str, Choice)> = Vec::new();
        let paths: Vec<&str> = paths.into_iter().collect();
        model.choose_inertials(&paths)?;
        for path in paths {
            let Some((body, name)) = split(path) else { continue };
            let (Some(choice), Some((index, _))) = (choice(name), self.soft_body(body)) else {
                continue;
            };
            for &(other, taken) in &chosen {
                let same_body = split(other).is_some_and(|(b, _)| b == body);
                let clash = match (choice, taken) {
                    (Choice::Elastic(a), Choice::Elastic(b)) => a != b,
                    (Choice::Mass(a), Choice::Mass(b)) => a != b,
                    _ => false,
                };
                if same_body && clash {
                    return Err(ModelError::ConflictingViews {
                        first: other.into(),
                        second: path.into(),
                    });
                }
            }
            chosen.push((path, choice));
            match choice {
                Choice::Elastic(view) => model.choose_elastic(index, view)?,
                Choice::Mass(view) => model.choose_mass(index, view)?,
            }
        }
        Ok(model)
    }

    fn choose_elastic(&mut self, body: usize, view: ElasticView) -> Result<(), ModelError> {
        let Some(tetrahedra) = &self.soft[body].tetrahedra else { return Ok(()) };
        let material = &tetrahedra.material;
        if material.view == view || material.view == ElasticView::Own {
            return Ok(());
        }
        let &[first, second, ..] = material.parameters.as_slice() else { return Ok(()) };
        let over = elements(self.leaves.get(first));
        let (a, b) = (self.leaves.get(first), self.leaves.get(second));
        let count = a.values.len().max(b.values.len());
        let pairs: Vec<(f64, f64)> = (0..count)
            .map(|e| match view {
                ElasticView::Engineering => engineering(a.at(e), b.at(e)),
                _ => lame(a.at(e), b.at(e)),
            })
            .collect();
        let firsts = pairs.iter().map(|p| p.0).collect();
        let seconds = pairs.iter().map(|p| p.1).collect();
        let name = |leaf: &str| format!("soft.{}.{leaf}", self.soft[body].name);
        let (new_first, new_second) = match view {
            ElasticView::Engineering => (
                Leaf::field(name("young"), firsts, &over, "Pa", Bounds::POSITIVE, YOUNG),
                Leaf::field(
                    name("poisson"),
                    seconds,
                    &over,
                    "",
                    Bounds::between(-1.0, 0.5),
                    "Poisson's ratio",
                ),
            ),
            _ => (
                Leaf::field(name("mu"), firsts, &over, "Pa", Bounds::NON_NEGATIVE, MU),
                Leaf::field(name("lambda"), seconds, &over, "Pa", Bounds::ANY, LAMBDA),
            ),
        };
        self.leaves.replace(first, new_first)?;
        self.leaves.replace(second, new_second)?;
        if let Some(tetrahedra) = &mut self.soft[body].tetrahedra {
            tetrahedra.material.view = view;
        }
        Ok(())
    }

    fn choose_mass(&mut self, body: usize, view: MassView) -> Result<(), ModelError> {
        let Some(tetrahedra) = &self.soft[body].tetrahedra else { return Ok(()) };
        let name = self.soft[body].name.clone();
        let volumes = rest_volumes(self, &self.soft[body]);
        let mass = match (&tetrahedra.mass, view) {
            (TetrahedraMass::Density(id), MassView::Total) => {
                let id = *id;
                let density = self.leaves.get(id);
                let total = volumes.iter().enumerate().map(|(e, v)| v * density.at(e)).sum();
                let relative = density.values.clone();
                let path = format!("soft.{name}.mass");
                let leaf = Leaf::scalar(path, total, "kg", Bounds::POSITIVE, "mass of the body");
                self.leaves.replace(id, leaf)?;
                TetrahedraMass::Total { mass: id, relative }
            }
            (TetrahedraMass::Total { mass: id, relative }, MassView::Density) => {
                let (id, relative) = (*id, relative.clone());
                let at = |e: usize| if relative.len() == 1 { relative[0] } else { relative[e] };
                let sum: f64 = volumes.iter().enumerate().map(|(e, v)| v * at(e)).sum();
                let scale = self.leaves.get(id).values[0] / sum;
                let values = relative.iter().map(|r| r * scale).collect();
                let over = elements(self.leaves.get(tetrahedra.activation));
                let path = format!("soft.{name}.density");
                let leaf =
                    Leaf::field(path, values, &over, "kg/m^3", Bounds::POSITIVE, "mass per volume");
                self.leaves.replace(id, leaf)?;
                TetrahedraMass::Density(id)
            }
            (TetrahedraMass::GridCell { .. }, MassView::Total) => {
                return Err(ModelError::invalid(
                    format!("soft.{name}.mass"),
                    "a body that weighs by warp.sim's rule has no other view of its density; \
                     select the density",
                ));
            }
            _ => return Ok(()),
        };
        if let Some(tetrahedra) = &mut self.soft[body].tetrahedra {
            tetrahedra.mass = mass;
        }
        Ok(())
    }
}

const YOUNG: &str = "Young's modulus";
const MU: &str = "first parameter of the material law (shear modulus where the law is Lamé's)";
const LAMBDA: &str = "second parameter of the material law (Lamé's lambda where the law is Lamé's)";

/// (E, ν) from (μ, λ).
fn engineering(mu: f64, lambda: f64) -> (f64, f64) {
    (mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), lambda / (2.0 * (lambda + mu)))
}

/// (μ, λ) from (E, ν).
fn lame(young: f64, poisson: f64) -> (f64, f64) {
    let mu = young / (2.0 * (1.0 + poisson));
    (mu, young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)))
}

/// What a field ranges over.
fn elements(leaf: &Leaf) -> Elements {
    match &leaf.extent {
        Extent::Field { count, element, groups } => {
            Elements { count: *count, element, groups: groups.clone() }
        }
        Extent::Whole => {
            Elements { count: leaf.values.len(), element: "element", groups: Default::default() }
        }
    }
}

fn rest_volumes(model: &Model, body: &SoftBody) -> Vec<f64> {
    let rest: LeafId = body.rest_position;
    let x = &model.leaves.get(rest).values;
    let at = |v: u32| {
        let i = 3 * v as usize;
        [x[i], x[i + 1], x[i + 2]]
    };
    let minus = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let tetrahedra = body.tetrahedra.iter().flat_map(|t| &t.indices);
    tetrahedra
        .map(|&[i, j, k, l]| {
            let (a, b, c) = (minus(at(j), at(i)), minus(at(k), at(i)), minus(at(l), at(i)));
            (a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0]))
                / 6.0
        })
        .collect()
}
