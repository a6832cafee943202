//! Nodes and how they simplify.

use std::collections::HashMap;

use costate_num::Scalar;

/// A number in a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub(super) u32);

impl Node {
    /// Input `i` of any graph that has so many.
    pub(crate) const fn input(i: usize) -> Self {
        Self(i as u32)
    }
}

/// Functions of one number; derivatives at their odd points are those of [`Scalar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// −x.
    Neg,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
}

/// Functions of two numbers. Comparisons give 1 where they hold and 0 elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// Angle of the point (second, first).
    Atan2,
    /// First below second.
    Less,
    /// First below or equal to second.
    LessEqual,
    /// Equal.
    Equal,
}

/// How a node is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Input(u32),
    /// Bits of the number.
    Constant(u64),
    Unary(Unary, Node),
    Binary(Binary, Node, Node),
    /// The second where the first is not zero, else the third.
    Select(Node, Node, Node),
}

/// Formulas of some inputs. Nodes stand in an order in which each can be computed from those before.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(super) ops: Vec<Op>,
    table: HashMap<Op, Node>,
    inputs: usize,
}

impl Graph {
    /// A graph with inputs 0 to `inputs − 1`.
    pub fn new(inputs: usize) -> Self {
        let mut graph = Self { ops: Vec::new(), table: HashMap::new(), inputs };
        for i in 0..inputs {
            graph.node(Op::Input(i as u32));
        }
        graph
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn node(&mut self, op: Op) -> Node {
        let next = Node(self.ops.len() as u32);
        *self.table.entry(op).or_insert_with(|| {
            self.ops.push(op);
            next
        })
    }

    pub(super) fn op(&self, node: Node) -> Op {
        self.ops[node.0 as usize]
    }

    /// Input `i`.
    ///
    /// # Panics
    /// If there is no such input among those the graph was made with.
    pub fn input(&self, i: usize) -> Node {
        assert!(i < self.inputs, "the graph has {} inputs", self.inputs);
        Node(i as u32)
    }

    /// One more input, behind those there are.
    pub fn add_input(&mut self) -> Node {
        self.inputs += 1;
        self.node(Op::Input(self.inputs as u32 - 1))
    }

    /// A constant.
    pub fn constant(&mut self, value: f64) -> Node {
        self.node(Op::Constant(value.to_bits()))
    }

    /// The value of a node that is a constant.
    pub fn value(&self, node: Node) -> Option<f64> {
        match self.op(node) {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// A function of one number.
    pub fn unary(&mut self, f: Unary, x: Node) -> Node {
        if let Some(value) = self.value(x) {
            return self.constant(unary(f, value));
        }
        match (f, self.op(x)) {
            (Unary::Neg, Op::Unary(Unary::Neg, inner)) => inner,
            (Unary::Neg, Op::Binary(Binary::Sub, a, b)) => self.binary(Binary::Sub, b, a),
            (Unary::Abs, Op::Unary(Unary::Neg | Unary::Abs, inner)) => self.unary(f, inner),
            _ => self.node(Op::Unary(f, x)),
        }
    }

    /// A function of two numbers.
    pub fn binary(&mut self, f: Binary, a: Node, b: Node) -> Node {
        use Binary::{Add, Div, Equal, Mul, Sub};
        let (va, vb) = (self.value(a), self.value(b));
        if let (Some(x), Some(y)) = (va, vb) {
            return self.constant(binary(f, x, y));
        }
        let negated = |graph: &Self, x: Node| match graph.op(x) {
            Op::Unary(Unary::Neg, inner) => Some(inner),
            _ => None,
        };
        match (f, va, vb) {
            (Add, Some(0.0), _) => return b,
            (Add | Sub, _, Some(0.0)) => return a,
            (Sub, Some(0.0), _) => return self.neg(b),
            // Zero times anything: infinities and NaN have no place in a law.
            (Mul, Some(0.0), _) | (Mul, _, Some(0.0)) | (Div, Some(0.0), _) => {
                return self.constant(0.0);
            }
            (Mul, Some(1.0), _) => return b,
            (Mul | Div, _, Some(1.0)) => return a,
            (Mul, Some(-1.0), _) => return self.neg(b),
            (Mul | Div, _, Some(-1.0)) => return self.neg(a),
            // A power of two divides as exactly as its reciprocal multiplies.
            (Div, _, Some(y)) if y.is_normal() && y.to_bits().trailing_zeros() >= 52 => {
                let r = self.constant(1.0 / y);
                return self.binary(Mul, a, r);
            }
            (Sub, ..) if a == b => return self.constant(0.0),
            _ => {}
        }
        match (f, negated(self, a), negated(self, b)) {
            (Add, _, Some(b)) => return self.binary(Sub, a, b),
            (Add, Some(a), None) => return self.binary(Sub, b, a),
            (Sub, _, Some(b)) => return self.binary(Add, a, b),
            (Mul | Div, Some(a), Some(b)) => return self.binary(f, a, b),
            (Mul | Div, Some(a), None) => {
                let x = self.binary(f, a, b);
                return self.neg(x);
            }
            (Mul | Div, None, Some(b)) => {
                let x = self.binary(f, a, b);
                return self.neg(x);
            }
            _ => {}
        }
        // Two factors that are constants make one.
        if f == Mul {
            for (k, other) in [(a, b), (b, a)] {
                if let (Some(x), Op::Binary(Mul, p, q)) = (self.value(k), self.op(other))
                    && let Some(y) = self.value(p)
                {
                    let product = self.constant(x * y);
                    return self.binary(Mul, product, q);
                }
            }
        }
        // Operations that do not mind the order have one, constants first.
        let swap = matches!(f, Add | Mul | Equal)
            && match (va.is_some(), vb.is_some()) {
                (false, true) => true,
                (true, false) => false,
                _ => a > b,
            };
        self.node(if swap { Op::Binary(f, b, a) } else { Op::Binary(f, a, b) })
    }

    /// `then` where `mask` is not zero, else `otherwise`.
    pub fn select(&mut self, mask: Node, then: Node, otherwise: Node) -> Node {
        match self.value(mask) {
            Some(0.0) => otherwise,
            Some(_) => then,
            None if then == otherwise => then,
            None => self.node(Op::Select(mask, then, otherwise)),
        }
    }

    /// a + b.
    pub fn add(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Add, a, b)
    }
    /// a − b.
    pub fn sub(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Sub, a, b)
    }
    /// a b.
    pub fn mul(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Mul, a, b)
    }
    /// a / b.
    pub fn div(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Div, a, b)
    }
    /// −a.
    pub fn neg(&mut self, a: Node) -> Node {
        self.unary(Unary::Neg, a)
    }
    /// A constant times a.
    pub fn scale(&mut self, factor: f64, a: Node) -> Node {
        let factor = self.constant(factor);
        self.mul(factor, a)
    }
    /// a to a whole power, by repeated squaring.
    pub fn powi(&mut self, a: Node, exponent: i32) -> Node {
        let mut remaining = exponent.unsigned_abs();
        let (mut factor, mut product) = (a, self.constant(1.0));
        while remaining > 0 {
            if remaining & 1 == 1 {
                product = self.mul(product, factor);
            }
            remaining >>= 1;
            if remaining > 0 {
                factor = self.mul(factor, factor);
            }
        }
        if exponent < 0 {
            let one = self.constant(1.0);
            self.div(one, product)
        } else {
            product
        }
    }

    /// Copies formulas of another graph, with `inputs` in the place of its inputs.
    ///
    /// # Panics
    /// If `inputs` has fewer nodes than the other graph has inputs.
    pub fn embed(&mut self, other: &Graph, outputs: &[Node], inputs: &[Node]) -> Vec<Node> {
        let mut map = Vec::with_capacity(other.len());
        for op in &other.ops {
            let at = |node: Node| -> Node { map[node.0 as usize] };
            let node = match *op {
                Op::Input(i) => inputs[i as usize],
                Op::Constant(bits) => self.constant(f64::from_bits(bits)),
                Op::Unary(f, x) => {
                    let x = at(x);
                    self.unary(f, x)
                }
                Op::Binary(f, a, b) => {
                    let (a, b) = (at(a), at(b));
                    self.binary(f, a, b)
                }
                Op::Select(m, a, b) => {
                    let (m, a, b) = (at(m), at(a), at(b));
                    self.select(m, a, b)
                }
            };
            map.push(node);
        }
        outputs.iter().map(|node| map[node.0 as usize]).collect()
    }
}

/// A function of one number, as it is computed.
#[inline(always)]
pub(super) fn unary<S: Scalar>(f: Unary, x: S) -> S {
    match f {
        Unary::Neg => -x,
        Unary::Sqrt => x.sqrt(),
        Unary::Abs => x.abs(),
        Unary::Exp => x.exp(),
        Unary::Ln => x.ln(),
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tanh => x.tanh(),
    }
}

/// A function of two numbers, as it is computed.
#[inline(always)]
pub(super) fn binary<S: Scalar>(f: Binary, a: S, b: S) -> S {
    let truth = |mask| S::select(mask, S::one(), S::zero());
    match f {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Atan2 => a.atan2(b),
        Binary::Less => truth(a.lt(b)),
        Binary::LessEqual => truth(a.le(b)),
        Binary::Equal => truth(a.equals(b)),
    }
}
