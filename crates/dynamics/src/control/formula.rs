//! Formulas as nodes.

use costate_model::control::{self, Formula};

use super::network::{Network, Source};
use crate::error::DynamicsError;
use crate::expression::{Binary, Node, Unary};

impl Network<'_> {
    /// A formula that is evaluated every `period` steps.
    pub fn formula(&mut self, formula: &Formula, period: usize) -> Result<Node, DynamicsError> {
        match formula {
            Formula::Number(x) => Ok(self.graph.constant(*x)),
            Formula::Symbol(symbol) => self.symbol(*symbol, period),
            Formula::Unary(op, x) => {
                let x = self.formula(x, period)?;
                Ok(self.one(*op, x, period))
            }
            Formula::Binary(op, a, b) => {
                let (a, b) = (self.formula(a, period)?, self.formula(b, period)?);
                Ok(self.two(*op, a, b))
            }
            Formula::Power(x, exponent) => {
                let x = self.formula(x, period)?;
                Ok(self.graph.powi(x, *exponent))
            }
            Formula::If(condition, a, b) => {
                let condition = self.formula(condition, period)?;
                let (a, b) = (self.formula(a, period)?, self.formula(b, period)?);
                Ok(self.graph.select(condition, a, b))
            }
            Formula::Shared(x) => {
                let key = (std::sync::Arc::as_ptr(x) as usize, period);
                if let Some(&node) = self.named.get(&key) {
                    return Ok(node);
                }
                let node = self.formula(x, period)?;
                self.named.insert(key, node);
                Ok(node)
            }
            Formula::Previous(x, ticks) => {
                let x = self.formula(x, period)?;
                let tick = self.source(Source::Tick(period));
                let mut before = x;
                for _ in 0..*ticks {
                    let (slot, value) = self.recall(x);
                    let next = self.graph.select(tick, before, value);
                    self.remember(slot, next);
                    before = value;
                }
                Ok(before)
            }
        }
    }

    fn one(&mut self, op: control::Unary, x: Node, period: usize) -> Node {
        let function = match op {
            control::Unary::Neg => Unary::Neg,
            control::Unary::Sin => Unary::Sin,
            control::Unary::Cos => Unary::Cos,
            control::Unary::Tanh => Unary::Tanh,
            control::Unary::Exp => Unary::Exp,
            control::Unary::Log => Unary::Ln,
            control::Unary::Sqrt => Unary::Sqrt,
            control::Unary::Abs => Unary::Abs,
            control::Unary::Sign => {
                let g = &mut self.graph;
                let (zero, one, minus) = (g.constant(0.0), g.constant(1.0), g.constant(-1.0));
                let below = g.binary(Binary::Less, x, zero);
                let above = g.binary(Binary::Less, zero, x);
                let other = g.select(below, minus, zero);
                return g.select(above, one, other);
            }
            control::Unary::Integral => {
                let zero = self.graph.constant(0.0);
                let tick = self.source(Source::Tick(period));
                let (slot, sum) = self.recall(zero);
                let part = self.graph.scale(period as f64 * self.h(), x);
                let next = self.graph.add(sum, part);
                let next = self.graph.select(tick, next, sum);
                self.remember(slot, next);
                return sum;
            }
        };
        self.graph.unary(function, x)
    }

    fn two(&mut self, op: control::Binary, a: Node, b: Node) -> Node {
        let function = match op {
            control::Binary::Add => Binary::Add,
            control::Binary::Sub => Binary::Sub,
            control::Binary::Mul => Binary::Mul,
            control::Binary::Div => Binary::Div,
            control::Binary::Atan2 => Binary::Atan2,
            control::Binary::Less => Binary::Less,
            control::Binary::LessEqual => Binary::LessEqual,
            control::Binary::Min => return self.min(a, b),
            control::Binary::Max => return self.max(a, b),
        };
        self.graph.binary(function, a, b)
    }
}
