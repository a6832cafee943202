//! Laws of materials and springs that Python functions recorded.

use costate::dynamics::soft::{RecordedLaw, RecordedSpring, Registry};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{Result, invalid};
use crate::expression::graph;

/// A recorded law, ready for models.
#[pyclass(frozen, module = "costate._costate")]
pub struct Law {
    kind: Kind,
}

/// What a law is of.
enum Kind {
    Material(RecordedLaw),
    Spring(RecordedSpring),
}

#[pymethods]
impl Law {
    /// A law of `inputs` inputs (of a "material" F by rows, of a "spring" length and rest length; then the
    /// parameters) and the nodes that follow them,
    /// each ("constant", value), ("powi", node, exponent), ("select", mask, then, otherwise) or the
    /// name of a function with the nodes of its arguments; `energy` is the node of the result.
    #[new]
    fn new(
        kind: &str,
        name: &str,
        inputs: usize,
        nodes: &Bound<'_, PyList>,
        energy: usize,
    ) -> Result<Self> {
        let (graph, made) = graph(inputs, nodes)?;
        let Some(&energy) = made.get(energy) else {
            return invalid("the result is no node");
        };
        let kind = match kind {
            "material" => Kind::Material(RecordedLaw::new(name, graph, energy)?),
            "spring" => Kind::Spring(RecordedSpring::new(name, graph, energy)?),
            other => return invalid(format!("there are no laws of a \"{other}\"")),
        };
        Ok(Self { kind })
    }

    /// Lamé's μ and λ at rest, Pa.
    fn lame_at_rest(&self, parameters: Vec<f64>) -> Result<[f64; 2]> {
        match &self.kind {
            Kind::Material(law) => Ok(law.lame_at_rest(&parameters)),
            Kind::Spring(_) => invalid("a law of springs has no Lamé parameters"),
        }
    }
}

/// The built-in laws and recorded ones.
pub fn registry(laws: &[PyRef<'_, Law>]) -> Registry {
    let mut registry = Registry::default();
    for law in laws {
        match &law.kind {
            Kind::Material(law) => registry.register(law.clone()),
            Kind::Spring(law) => registry.register_spring(law.clone()),
        };
    }
    registry
}
