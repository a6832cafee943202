//! Derivatives as further nodes.

use super::graph::{Binary, Graph, Node, Op, Unary};

impl Graph {
    /// The derivatives of `y` by each of `by`, in reverse mode.
    pub fn gradient(&mut self, y: Node, by: &[Node]) -> Vec<Node> {
        let one = self.constant(1.0);
        self.pullback(&[(y, one)], by)
    }

    /// Σ of adjoint times derivative over pairs of a node and its adjoint, by each of `by`.
    pub fn pullback(&mut self, seeds: &[(Node, Node)], by: &[Node]) -> Vec<Node> {
        let last = seeds.iter().map(|(y, _)| y.0).max().unwrap_or(0);
        let mut bars: Vec<Option<Node>> = vec![None; last as usize + 1];
        for &(y, bar) in seeds {
            self.accumulate(&mut bars, y, bar);
        }
        // Only what leads to `by` is worth the way back.
        let mut leads = vec![false; last as usize + 1];
        for node in by {
            if let Some(slot) = leads.get_mut(node.0 as usize) {
                *slot = true;
            }
        }
        for i in 0..=last {
            let at = |node: Node| leads[node.0 as usize];
            leads[i as usize] |= match self.op(Node(i)) {
                Op::Input(_) | Op::Constant(_) => false,
                Op::Unary(_, x) => at(x),
                Op::Binary(_, a, b) => at(a) || at(b),
                Op::Select(_, a, b) => at(a) || at(b),
            };
        }
        for i in (0..=last).rev() {
            let (Some(bar), true) = (bars[i as usize], leads[i as usize]) else { continue };
            match self.op(Node(i)) {
                Op::Input(_) | Op::Constant(_) => {}
                Op::Unary(f, x) => {
                    let part = self.slope_times(f, x, Node(i), bar);
                    self.accumulate(&mut bars, x, part);
                }
                Op::Binary(f, a, b) => self.reverse(f, [a, b, Node(i)], bar, &mut bars, &leads),
                Op::Select(mask, a, b) => {
                    let zero = self.constant(0.0);
                    let to_a = self.select(mask, bar, zero);
                    let to_b = self.select(mask, zero, bar);
                    self.accumulate(&mut bars, a, to_a);
                    self.accumulate(&mut bars, b, to_b);
                }
            }
        }
        let zero = self.constant(0.0);
        by.iter().map(|n| bars.get(n.0 as usize).copied().flatten().unwrap_or(zero)).collect()
    }

    /// The derivatives of `ys` when `by[k]` moves at the rate `rates[k]`, in forward mode.
    pub fn pushforward(&mut self, ys: &[Node], by: &[Node], rates: &[Node]) -> Vec<Node> {
        let zero = self.constant(0.0);
        let last = ys.iter().map(|y| y.0).max().unwrap_or(0) as usize;
        let mut dots = vec![zero; last + 1];
        for (node, &rate) in by.iter().zip(rates) {
            if let Some(slot) = dots.get_mut(node.0 as usize) {
                *slot = rate;
            }
        }
        for i in 0..=last {
            let node = Node(i as u32);
            let dot = |n: Node| dots[n.0 as usize];
            let rate = match self.op(node) {
                Op::Input(_) | Op::Constant(_) => continue,
                Op::Unary(f, x) => match dot(x) {
                    d if d == zero => zero,
                    d => self.slope_times(f, x, node, d),
                },
                Op::Binary(f, a, b) => {
                    let (da, db) = (dot(a), dot(b));
                    self.forward(f, [a, b, node], [da, db])
                }
                Op::Select(mask, a, b) => {
                    let (da, db) = (dot(a), dot(b));
                    self.select(mask, da, db)
                }
            };
            dots[i] = rate;
        }
        ys.iter().map(|y| dots[y.0 as usize]).collect()
    }

    fn accumulate(&mut self, bars: &mut [Option<Node>], node: Node, part: Node) {
        let at = node.0 as usize;
        let sum = match bars[at] {
            None => part,
            Some(before) => self.add(before, part),
        };
        bars[at] = Some(sum);
    }

    /// The derivative of f at x, whose value is y, times `bar`.
    fn slope_times(&mut self, f: Unary, x: Node, y: Node, bar: Node) -> Node {
        let zero = self.constant(0.0);
        match f {
            Unary::Neg => self.neg(bar),
            Unary::Sqrt => {
                // Zero at zero.
                let double = self.scale(2.0, y);
                let slope = self.div(bar, double);
                let at_zero = self.binary(Binary::Equal, x, zero);
                self.select(at_zero, zero, slope)
            }
            Unary::Abs => {
                let negative = self.neg(bar);
                let below = self.binary(Binary::Less, x, zero);
                let above = self.binary(Binary::Less, zero, x);
                let other = self.select(below, negative, zero);
                self.select(above, bar, other)
            }
            Unary::Exp => self.mul(bar, y),
            Unary::Ln => self.div(bar, x),
            Unary::Sin => {
                let cosine = self.unary(Unary::Cos, x);
                self.mul(bar, cosine)
            }
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, x);
                let product = self.mul(bar, sine);
                self.neg(product)
            }
            Unary::Tanh => {
                let square = self.mul(y, y);
                let one = self.constant(1.0);
                let slope = self.sub(one, square);
                self.mul(bar, slope)
            }
        }
    }

    /// Adds the adjoints of a function of two numbers; `[a, b, value]`.
    fn reverse(
        &mut self,
        f: Binary,
        [a, b, y]: [Node; 3],
        bar: Node,
        bars: &mut [Option<Node>],
        leads: &[bool],
    ) {
        let (to_a, to_b) = (leads[a.0 as usize], leads[b.0 as usize]);
        match f {
            Binary::Add | Binary::Sub => {
                if to_a {
                    self.accumulate(bars, a, bar);
                }
                if to_b {
                    let part = if f == Binary::Add { bar } else { self.neg(bar) };
                    self.accumulate(bars, b, part);
                }
            }
            Binary::Mul => {
                if to_a {
                    let part = self.mul(bar, b);
                    self.accumulate(bars, a, part);
                }
                if to_b {
                    let part = self.mul(bar, a);
                    self.accumulate(bars, b, part);
                }
            }
            Binary::Div => {
                let quotient = self.div(bar, b);
                if to_a {
                    self.accumulate(bars, a, quotient);
                }
                if to_b {
                    let part = self.mul(quotient, y);
                    let part = self.neg(part);
                    self.accumulate(bars, b, part);
                }
            }
            Binary::Atan2 => {
                let [by_a, by_b] = self.atan2_slopes(a, b);
                let (part_a, part_b) = (self.mul(bar, by_a), self.mul(bar, by_b));
                self.accumulate(bars, a, part_a);
                self.accumulate(bars, b, part_b);
            }
            Binary::Less | Binary::LessEqual | Binary::Equal => {}
        }
    }

    /// The tangent of a function of two numbers; `[a, b, value]` and the tangents of a and b.
    fn forward(&mut self, f: Binary, [a, b, y]: [Node; 3], [da, db]: [Node; 2]) -> Node {
        let zero = self.constant(0.0);
        if da == zero && db == zero {
            return zero;
        }
        match f {
            Binary::Add | Binary::Sub => self.binary(f, da, db),
            Binary::Mul => {
                let (p, q) = (self.mul(da, b), self.mul(a, db));
                self.add(p, q)
            }
            Binary::Div => {
                let moved = self.mul(y, db);
                let difference = self.sub(da, moved);
                self.div(difference, b)
            }
            Binary::Atan2 => {
                let [by_a, by_b] = self.atan2_slopes(a, b);
                let (p, q) = (self.mul(by_a, da), self.mul(by_b, db));
                self.add(p, q)
            }
            Binary::Less | Binary::LessEqual | Binary::Equal => zero,
        }
    }

    /// Derivatives of the angle of (b, a), zero at the origin.
    fn atan2_slopes(&mut self, a: Node, b: Node) -> [Node; 2] {
        let zero = self.constant(0.0);
        let (aa, bb) = (self.mul(a, a), self.mul(b, b));
        let square = self.add(aa, bb);
        let origin = self.binary(Binary::Equal, square, zero);
        let (p, q) = (self.div(b, square), self.div(a, square));
        let q = self.neg(q);
        [self.select(origin, zero, p), self.select(origin, zero, q)]
    }
}
