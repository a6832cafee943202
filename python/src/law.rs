//! Laws of materials and springs that Python functions recorded.

use costate::dynamics::expression::{Binary, Graph, Node, Unary};
use costate::dynamics::soft::{RecordedLaw, RecordedSpring, Registry};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::errors::{Result, invalid};

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

fn unary(name: &str) -> Option<Unary> {
    Some(match name {
        "neg" => Unary::Neg,
        "sqrt" => Unary::Sqrt,
        "abs" => Unary::Abs,
        "exp" => Unary::Exp,
        "log" => Unary::Ln,
        "sin" => Unary::Sin,
        "cos" => Unary::Cos,
        "tanh" => Unary::Tanh,
        _ => return None,
    })
}

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "div" => Binary::Div,
        "arctan2" => Binary::Atan2,
        "less" => Binary::Less,
        "less_equal" => Binary::LessEqual,
        "equal" => Binary::Equal,
        _ => return None,
    })
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
        let mut graph = Graph::new(inputs);
        let mut made: Vec<Node> = (0..inputs).map(|i| graph.input(i)).collect();
        for item in nodes.iter() {
            let item = item.cast::<PyTuple>().map_err(PyErr::from)?;
            let op: String = item.get_item(0)?.extract()?;
            let arg = |k: usize| -> Result<Node> {
                let i: usize = item.get_item(k)?.extract()?;
                match made.get(i) {
                    Some(node) => Ok(*node),
                    None => invalid(format!("node {i} is used before it is made")),
                }
            };
            let node = if op == "constant" {
                let value = item.get_item(1)?.extract()?;
                graph.constant(value)
            } else if op == "powi" {
                let (a, exponent) = (arg(1)?, item.get_item(2)?.extract()?);
                graph.powi(a, exponent)
            } else if op == "select" {
                let (mask, then, otherwise) = (arg(1)?, arg(2)?, arg(3)?);
                graph.select(mask, then, otherwise)
            } else if let Some(f) = unary(&op) {
                let a = arg(1)?;
                graph.unary(f, a)
            } else if let Some(f) = binary(&op) {
                let (a, b) = (arg(1)?, arg(2)?);
                graph.binary(f, a, b)
            } else {
                return invalid(format!("there is no operation \"{op}\""));
            };
            made.push(node);
        }
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
