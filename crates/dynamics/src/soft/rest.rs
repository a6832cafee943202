//! What a material is like at rest.

use costate_model::{ElasticView, Model};

use super::Registry;

/// Says of every soft body whose material has no positive bulk modulus λ + 2μ/3 at rest (in Lamé's
/// parameters) that it has none, with the numbers of its first such element.
///
/// Such a body does not resist a change of volume: it collapses or bursts. warp.sim's law does
/// so where mu is more than eight times lambda.
pub fn bulk_modulus_warnings(model: &Model, registry: &Registry) -> Vec<String> {
    let mut out = Vec::new();
    for body in &model.soft {
        let Some(material) = body.tetrahedra.as_ref().map(|t| &t.material) else { continue };
        let Some(law) = registry.get(&material.law) else { continue };
        let leaves: Vec<_> = material.parameters.iter().map(|&id| model.leaves.get(id)).collect();
        let count = leaves.iter().map(|l| l.values.len()).max().unwrap_or(0);
        let bulk = |e: usize| {
            let mut p: Vec<f64> = leaves.iter().map(|l| l.at(e)).collect();
            if let (ElasticView::Engineering, [young, poisson, ..]) = (material.view, &mut p[..]) {
                let mu = *young / (2.0 * (1.0 + *poisson));
                let lambda = 2.0 * mu * *poisson / (1.0 - 2.0 * *poisson);
                (*young, *poisson) = (mu, lambda);
            }
            let [mu, lambda] = law.lame_at_rest(&p);
            lambda + 2.0 / 3.0 * mu
        };
        let Some(e) = (0..count).find(|&e| bulk(e) <= 0.0) else { continue };
        let formula = if material.law == "warp" { "lambda − mu/8 " } else { "" };
        let values: Vec<String> = leaves
            .iter()
            .map(|l| format!("{} {}", l.path.rsplit('.').next().unwrap_or(&l.path), l.at(e)))
            .collect();
        out.push(format!(
            "soft.{}: the bulk modulus {formula}of the {} law is {:.4} Pa at rest ({}); it must \
             be positive for the body to keep its volume",
            body.name,
            material.law,
            bulk(e),
            values.join(", ")
        ));
    }
    out
}
