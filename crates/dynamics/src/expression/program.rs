//! A set of outputs as a list of instructions over few registers.

use costate_num::{Kernel, Lanes, dispatch};

use super::graph::{Binary, Graph, Node, Op, Unary, binary, unary};

/// How many elements are worked on at once: registers are rows of this many numbers.
pub const BLOCK: usize = 64;

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Code {
    Unary(Unary),
    Binary(Binary),
    Select,
}

/// `to = code(a, b, c)`, by register.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    code: Code,
    to: u32,
    args: [u32; 3],
}

/// Formulas ready to be evaluated over blocks of elements.
///
/// Registers are rows of [`BLOCK`] numbers in a scratch of [`scratch_len`](Self::scratch_len): the
/// inputs first, then constants, then what is computed on the way. Results are the same bits on every
/// instruction set, since each number is computed on its own.
#[derive(Clone, Debug)]
pub struct Program {
    inputs: usize,
    constants: Vec<f64>,
    instructions: Vec<Instruction>,
    outputs: Vec<u32>,
    used: Vec<bool>,
    registers: usize,
}

impl Program {
    /// What the outputs need, each node computed once. An output is never the place of another
    /// value.
    pub fn new(graph: &Graph, outputs: &[Node]) -> Self {
        let order = post_order(graph, outputs);
        // The last instruction that reads a node; outputs are read after all.
        let mut last = vec![0usize; graph.len()];
        for (at, &node) in order.iter().enumerate() {
            for arg in arguments(graph.op(node)) {
                last[arg.0 as usize] = at;
            }
        }
        for node in outputs {
            last[node.0 as usize] = usize::MAX;
        }
        let inputs = graph.inputs();
        let mut place = vec![u32::MAX; graph.len()];
        let mut used = vec![false; inputs];
        let mut constants = Vec::new();
        for &node in &order {
            match graph.op(node) {
                Op::Input(i) => {
                    used[i as usize] = true;
                    place[node.0 as usize] = i;
                }
                Op::Constant(bits) => {
                    place[node.0 as usize] = (inputs + constants.len()) as u32;
                    constants.push(f64::from_bits(bits));
                }
                _ => {}
            }
        }
        let first = inputs + constants.len();
        let mut registers = first;
        let mut free: Vec<u32> = Vec::new();
        let mut instructions = Vec::new();
        for (at, &node) in order.iter().enumerate() {
            let op = graph.op(node);
            let (code, args) = match op {
                Op::Input(_) | Op::Constant(_) => continue,
                Op::Unary(f, x) => (Code::Unary(f), [x, x, x]),
                Op::Binary(f, a, b) => (Code::Binary(f), [a, b, b]),
                Op::Select(m, a, b) => (Code::Select, [m, a, b]),
            };
            let args = args.map(|arg| place[arg.0 as usize]);
            // What is read here for the last time may be written over.
            for arg in arguments(op) {
                let register = place[arg.0 as usize];
                if last[arg.0 as usize] == at
                    && register as usize >= first
                    && !free.contains(&register)
                {
                    free.push(register);
                }
            }
            let to = free.pop().unwrap_or_else(|| {
                registers += 1;
                registers as u32 - 1
            });
            place[node.0 as usize] = to;
            instructions.push(Instruction { code, to, args });
        }
        let outputs = outputs.iter().map(|node| place[node.0 as usize]).collect();
        Self { inputs, constants, instructions, outputs, used, registers }
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether nothing is computed.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Whether any output depends on input `i`.
    pub fn uses(&self, i: usize) -> bool {
        self.used[i]
    }

    /// Length of the scratch.
    pub fn scratch_len(&self) -> usize {
        self.registers * BLOCK
    }

    /// Fills in the constants; once for a scratch.
    pub fn prepare(&self, scratch: &mut [f64]) {
        let rows = scratch[self.inputs * BLOCK..].chunks_exact_mut(BLOCK);
        for (row, value) in rows.zip(&self.constants) {
            row.fill(*value);
        }
    }

    /// Where the row of output `i` starts in the scratch.
    pub fn output(&self, i: usize) -> usize {
        self.outputs[i] as usize * BLOCK
    }

    /// Runs over the first `len` numbers of each row, rounded up to whole registers (or over all of
    /// them); inputs lie in the first rows of the scratch. It is fastest where the scratch starts at a
    /// multiple of 64 bytes.
    pub fn run(&self, scratch: &mut [f64], len: usize) {
        dispatch(Run { program: self, scratch, len });
    }

    /// The outputs at one set of inputs.
    pub fn evaluate(&self, inputs: &[f64]) -> Vec<f64> {
        let mut scratch = vec![0.0; self.scratch_len()];
        for (row, value) in scratch.chunks_exact_mut(BLOCK).zip(inputs) {
            row.fill(*value);
        }
        self.prepare(&mut scratch);
        self.run(&mut scratch, 1);
        (0..self.outputs.len()).map(|i| scratch[self.output(i)]).collect()
    }
}

fn arguments(op: Op) -> impl Iterator<Item = Node> {
    let list = match op {
        Op::Input(_) | Op::Constant(_) => [None; 3],
        Op::Unary(_, x) => [Some(x), None, None],
        Op::Binary(_, a, b) => [Some(a), Some(b), None],
        Op::Select(m, a, b) => [Some(m), Some(a), Some(b)],
    };
    list.into_iter().flatten()
}

/// The nodes that outputs need, arguments before what is made of them, each as late as its first use
/// allows, so that few are alive at once.
fn post_order(graph: &Graph, outputs: &[Node]) -> Vec<Node> {
    let mut seen = vec![false; graph.len()];
    let mut order = Vec::new();
    let mut stack = Vec::new();
    for &output in outputs {
        stack.push((output, false));
        while let Some((node, ready)) = stack.pop() {
            if ready {
                order.push(node);
                continue;
            }
            if std::mem::replace(&mut seen[node.0 as usize], true) {
                continue;
            }
            stack.push((node, true));
            for arg in arguments(graph.op(node)) {
                if !seen[arg.0 as usize] {
                    stack.push((arg, false));
                }
            }
        }
    }
    order
}

struct Run<'a> {
    program: &'a Program,
    scratch: &'a mut [f64],
    len: usize,
}

impl Kernel for Run<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { program, scratch, len } = self;
        assert!(scratch.len() >= program.scratch_len(), "a scratch of the program's own length");
        if 2 * len > BLOCK {
            // Loops of constant length have no checks of bounds in them.
            instructions::<L>(program, scratch, BLOCK);
        } else {
            instructions::<L>(program, scratch, len.next_multiple_of(L::N));
        }
    }
}

#[inline(always)]
fn instructions<L: Lanes>(program: &Program, scratch: &mut [f64], len: usize) {
    for instruction in &program.instructions {
        match instruction.code {
            Code::Binary(Binary::Add) => two::<L>(scratch, instruction, len, Binary::Add),
            Code::Binary(Binary::Sub) => two::<L>(scratch, instruction, len, Binary::Sub),
            Code::Binary(Binary::Mul) => two::<L>(scratch, instruction, len, Binary::Mul),
            Code::Binary(Binary::Div) => two::<L>(scratch, instruction, len, Binary::Div),
            Code::Binary(Binary::Atan2) => two::<L>(scratch, instruction, len, Binary::Atan2),
            Code::Binary(Binary::Less) => two::<L>(scratch, instruction, len, Binary::Less),
            Code::Binary(Binary::LessEqual) => {
                two::<L>(scratch, instruction, len, Binary::LessEqual);
            }
            Code::Binary(Binary::Equal) => two::<L>(scratch, instruction, len, Binary::Equal),
            Code::Unary(Unary::Neg) => one::<L>(scratch, instruction, len, Unary::Neg),
            Code::Unary(Unary::Sqrt) => one::<L>(scratch, instruction, len, Unary::Sqrt),
            Code::Unary(Unary::Abs) => one::<L>(scratch, instruction, len, Unary::Abs),
            Code::Unary(Unary::Exp) => one::<L>(scratch, instruction, len, Unary::Exp),
            Code::Unary(Unary::Ln) => one::<L>(scratch, instruction, len, Unary::Ln),
            Code::Unary(Unary::Sin) => one::<L>(scratch, instruction, len, Unary::Sin),
            Code::Unary(Unary::Cos) => one::<L>(scratch, instruction, len, Unary::Cos),
            Code::Unary(Unary::Tanh) => one::<L>(scratch, instruction, len, Unary::Tanh),
            Code::Select => select::<L>(scratch, instruction, len),
        }
    }
}

/// Part of a row, of constant length so that the checks of its bounds leave the loops.
#[inline(always)]
fn load<L: Lanes>(scratch: &[f64], register: usize, at: usize) -> L {
    L::load(&scratch[register..register + BLOCK][at..at + L::N])
}

#[inline(always)]
fn store<L: Lanes>(scratch: &mut [f64], register: usize, at: usize, value: L) {
    value.store(&mut scratch[register..register + BLOCK][at..at + L::N]);
}

#[inline(always)]
fn one<L: Lanes>(scratch: &mut [f64], i: &Instruction, len: usize, f: Unary) {
    let (a, to) = (i.args[0] as usize * BLOCK, i.to as usize * BLOCK);
    let mut at = 0;
    while at < len {
        let x = load::<L>(scratch, a, at);
        store(scratch, to, at, unary(f, x));
        at += L::N;
    }
}

#[inline(always)]
fn two<L: Lanes>(scratch: &mut [f64], i: &Instruction, len: usize, f: Binary) {
    let [a, b, _] = i.args.map(|r| r as usize * BLOCK);
    let to = i.to as usize * BLOCK;
    let mut at = 0;
    while at < len {
        let (x, y) = (load::<L>(scratch, a, at), load::<L>(scratch, b, at));
        store(scratch, to, at, binary(f, x, y));
        at += L::N;
    }
}

#[inline(always)]
fn select<L: Lanes>(scratch: &mut [f64], i: &Instruction, len: usize) {
    let [m, a, b] = i.args.map(|r| r as usize * BLOCK);
    let to = i.to as usize * BLOCK;
    let mut at = 0;
    while at < len {
        let mask = load::<L>(scratch, m, at);
        let (x, y) = (load::<L>(scratch, a, at), load::<L>(scratch, b, at));
        store(scratch, to, at, L::select(mask.equals(L::zero()), y, x));
        at += L::N;
    }
}
