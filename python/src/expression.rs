//! Expression graphs from what Python functions recorded, and losses made of them.

use costate::dynamics::expression::{BLOCK, Binary, Graph, Node, Program, Unary};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arrays::{array, numbers};
use crate::errors::{Result, invalid};

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

/// The graph of `inputs` inputs and the nodes that follow them, each ("constant", value), ("powi", node,
/// exponent), ("select", mask, then, otherwise) or the name of a function with the nodes of its arguments; and all
/// its nodes.
pub fn graph(inputs: usize, nodes: &Bound<'_, PyList>) -> Result<(Graph, Vec<Node>)> {
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
    Ok((graph, made))
}

/// A recorded function of numbers, summed over samples, with its derivatives.
#[pyclass(frozen, module = "costate._costate")]
pub struct Loss {
    /// The value, then its derivative by each input.
    program: Program,
    inputs: usize,
}

#[pymethods]
impl Loss {
    /// A function of `inputs` inputs and the nodes that follow them; `value` is the node of the result.
    #[new]
    fn new(inputs: usize, nodes: &Bound<'_, PyList>, value: usize) -> Result<Self> {
        let (mut graph, made) = graph(inputs, nodes)?;
        let Some(&value) = made.get(value) else {
            return invalid("the result is no node");
        };
        let slopes = graph.gradient(value, &made[..inputs]);
        let outputs: Vec<Node> = std::iter::once(value).chain(slopes).collect();
        Ok(Self { program: Program::new(&graph, &outputs), inputs })
    }

    /// The sum over `samples` samples, and the derivatives `[samples]` by the inputs `wanted`; a column has a
    /// number for every sample or one for all.
    fn sum<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, PyList>,
        samples: usize,
        wanted: Vec<usize>,
    ) -> Result<(f64, Vec<Bound<'py, PyAny>>)> {
        let mut read = Vec::with_capacity(self.inputs);
        for column in columns.iter() {
            read.push(numbers(&column, "a column")?.0);
        }
        if read.len() != self.inputs || read.iter().any(|c| c.len() != samples && c.len() != 1) {
            return invalid(
                "a loss takes a column for each argument, of one number or as many as samples",
            );
        }
        if wanted.iter().any(|&i| i >= self.inputs) {
            return invalid("there is no such argument");
        }
        let mut scratch = vec![0.0; self.program.scratch_len()];
        self.program.prepare(&mut scratch);
        let mut total = 0.0;
        let mut slopes = vec![Vec::with_capacity(samples); wanted.len()];
        for first in (0..samples).step_by(BLOCK) {
            let len = BLOCK.min(samples - first);
            for (column, row) in read.iter().zip(scratch.chunks_exact_mut(BLOCK)) {
                match column.len() {
                    1 => row.fill(column[0]),
                    _ => row[..len].copy_from_slice(&column[first..first + len]),
                }
            }
            self.program.run(&mut scratch, len);
            let row = |output: usize| {
                let at = self.program.output(output);
                &scratch[at..at + len]
            };
            total += row(0).iter().sum::<f64>();
            for (slope, &i) in slopes.iter_mut().zip(&wanted) {
                slope.extend_from_slice(row(1 + i));
            }
        }
        let found = slopes.into_iter().map(|slope| array(py, slope, &[samples]));
        Ok((total, found.collect::<PyResult<_>>()?))
    }
}
