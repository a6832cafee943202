//! Material laws recorded at run time as expression graphs.

use costate_model::ModelError;

use crate::expression::{Graph, Node};

/// Most parameters that a recorded law may have.
pub const MOST_PARAMETERS: usize = 8;

/// A hyperelastic law given as the graph of its energy per rest volume, J/m³.
///
/// Inputs 0 to 8 of the graph are the deformation gradient F by rows, the others the law's parameters.
/// Lamé's parameters at rest, which stiffness-proportional damping and activation scale with, follow
/// from its second derivatives at F = I, as those of an isotropic law: λ = ∂²ψ/∂F₁₁∂F₂₂ and
/// μ = ∂²ψ/∂F₁₂².
#[derive(Clone, Debug)]
pub struct RecordedLaw {
    name: String,
    parameters: usize,
    graph: Graph,
    energy: Node,
    /// μ and λ at rest.
    lame: [Node; 2],
}

impl RecordedLaw {
    /// A law of the given name, whose graph has nine inputs and one for each parameter.
    ///
    /// # Errors
    /// Another number of inputs, too many parameters, an empty name.
    pub fn new(name: impl Into<String>, graph: Graph, energy: Node) -> Result<Self, ModelError> {
        let name = name.into();
        let element = || format!("material law `{name}`");
        if name.is_empty() {
            return Err(ModelError::invalid("material law", "it has no name"));
        }
        let Some(parameters) = graph.inputs().checked_sub(9) else {
            return Err(ModelError::invalid(element(), "its inputs are F and the parameters"));
        };
        if parameters > MOST_PARAMETERS {
            let message =
                format!("it has {parameters} parameters, at most {MOST_PARAMETERS} can be");
            return Err(ModelError::invalid(element(), message));
        }
        let mut graph = graph;
        let f: Vec<Node> = (0..9).map(|i| graph.input(i)).collect();
        let stress = graph.gradient(energy, &f);
        let lambda = graph.gradient(stress[0], &f[4..5])[0];
        let mu = graph.gradient(stress[1], &f[1..2])[0];
        let rest: Vec<Node> = (0..9)
            .map(|i| graph.constant(if i % 4 == 0 { 1.0 } else { 0.0 }))
            .chain((9..9 + parameters).map(Node::input))
            .collect();
        let source = graph.clone();
        let at_rest = graph.embed(&source, &[mu, lambda], &rest);
        Ok(Self { name, parameters, energy, lame: [at_rest[0], at_rest[1]], graph })
    }

    /// The name that scenes use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many parameters it takes.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Lamé's μ and λ of the linearised law, Pa; missing parameters count as zero.
    pub fn lame_at_rest(&self, parameters: &[f64]) -> [f64; 2] {
        let mut inputs = [0.0; 9 + MOST_PARAMETERS];
        for (slot, value) in inputs[9..].iter_mut().zip(parameters) {
            *slot = *value;
        }
        let program = crate::expression::Program::new(&self.graph, &self.lame);
        let values = program.evaluate(&inputs[..self.graph.inputs()]);
        [values[0], values[1]]
    }

    /// The energy density and Lamé's μ and λ at rest as nodes of another graph.
    pub(crate) fn embed(&self, into: &mut Graph, f: &[Node; 9], p: &[Node]) -> [Node; 3] {
        let inputs: Vec<Node> = f.iter().chain(&p[..self.parameters]).copied().collect();
        let found = into.embed(&self.graph, &[self.energy, self.lame[0], self.lame[1]], &inputs);
        [found[0], found[1], found[2]]
    }
}
