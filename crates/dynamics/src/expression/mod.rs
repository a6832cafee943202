//! The expression graph: formulas recorded at run time, differentiated, and evaluated on lanes.
//!
//! A user's own law that is not compiled (one written in Python) is recorded once: every operation on
//! traced numbers becomes a node of a [`Graph`], equal nodes once. Derivatives are more nodes of the
//! same graph ([`Graph::gradient`]). A [`Program`] is what a set of outputs needs, in an order, with few
//! registers; it runs over blocks of elements, one operation after the other, on the processor's
//! widest registers.
//!
//! ```
//! use costate_dynamics::expression::{Graph, Program, Unary};
//!
//! let mut graph = Graph::new(2);
//! let (x, y) = (graph.input(0), graph.input(1));
//! let sine = graph.unary(Unary::Sin, x);
//! let f = graph.mul(sine, y);
//! let slopes = graph.gradient(f, &[x, y]);
//! let program = Program::new(&graph, &[f, slopes[0], slopes[1]]);
//! let (sin, cos) = costate_num::Scalar::sin_cos(0.5_f64);
//! assert_eq!(program.evaluate(&[0.5, 3.0]), [sin * 3.0, 3.0 * cos, sin]);
//! ```

mod derivative;
mod graph;
mod program;

pub use graph::{Binary, Graph, Node, Unary};
pub use program::{BLOCK, Program};
