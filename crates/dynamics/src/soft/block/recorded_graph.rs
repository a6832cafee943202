//! The expression graph of one element of a recorded law, and the programs made of it.

use std::sync::OnceLock;

use crate::expression::{Binary, Graph, Node, Program, Unary};
use crate::soft::materials::{MOST_PARAMETERS, RecordedLaw};
use crate::soft::springs::{OWN, RecordedSpring};
use crate::soft::tetrahedra::OWN_CONSTANTS;

/// Constants in the order of [`Tetrahedron`](crate::soft::Tetrahedron).
const VOLUME: usize = 9;
const MATERIAL: usize = 10;
const VISCOSITY: usize = MATERIAL + MOST_PARAMETERS;
const TIME: usize = VISCOSITY + 1;
const ACTIVATION: usize = VISCOSITY + 2;

/// Inputs of an element's graph: positions, velocities, constants, multipliers; and tangents of the
/// first three.
#[derive(Clone, Copy)]
pub(super) struct Inputs {
    /// Coordinates of the stencil.
    pub corners: usize,
    /// Constants of an element.
    pub constants: usize,
}

impl Inputs {
    pub const X: usize = 0;

    pub fn v(self) -> usize {
        self.corners
    }
    pub fn c(self) -> usize {
        2 * self.corners
    }
    pub fn lambda(self) -> usize {
        self.c() + self.constants
    }
    pub fn x_dot(self) -> usize {
        self.lambda() + self.corners
    }
    pub fn v_dot(self) -> usize {
        self.x_dot() + self.corners
    }
    pub fn c_dot(self) -> usize {
        self.v_dot() + self.corners
    }
    fn len(self) -> usize {
        self.c_dot() + self.constants
    }
    /// Positions, velocities and constants.
    fn variables(self) -> usize {
        self.lambda()
    }
}

/// The graph of one element with its outputs, and programs made when they are first needed.
pub(super) struct Element {
    pub inputs: Inputs,
    /// How many constants, the first ones, follow from the rest shape alone.
    pub rest: usize,
    graph: Graph,
    elastic: Vec<Node>,
    damped: Vec<Node>,
    energy: Node,
    programs: [OnceLock<Program>; TASKS],
}

/// What is computed.
#[derive(Clone, Copy)]
pub(super) enum Task {
    /// Forces.
    Force,
    /// Tangents of the forces for moving positions and velocities.
    Push,
    /// The same where the constants move too.
    PushAll,
    /// Adjoints of λ·f by x, v and constants, without those by the rest shape.
    Pull,
    /// The same with those by the rest shape.
    PullAll,
    /// Energy.
    Energy,
    /// Adjoints of the energy by x, v and constants.
    EnergyPull,
}

/// Tasks, with and without damping.
const TASKS: usize = 14;

impl Element {
    /// A tetrahedron of a material.
    pub(super) fn tetrahedron(law: &RecordedLaw) -> Self {
        let inputs = Inputs { corners: 12, constants: MOST_PARAMETERS + OWN_CONSTANTS };
        let mut g = Graph::new(inputs.len());
        let x: Vec<Node> = (0..12).map(Node::input).collect();
        let v: Vec<Node> = (12..24).map(Node::input).collect();
        let c: Vec<Node> = (24..24 + inputs.constants).map(Node::input).collect();
        let inverse: [Node; 9] = std::array::from_fn(|i| c[i]);
        let f = gradient(&mut g, &x, &inverse);
        let rate = gradient(&mut g, &v, &inverse);
        let [elastic, mu, lambda] = law.embed(&mut g, &f, &c[MATERIAL..VISCOSITY]);
        let cofactor = cofactor(&mut g, &f);
        let row = [f[0], f[1], f[2]];
        let volume_ratio = sum(&mut g, &row, &[cofactor[0], cofactor[1], cofactor[2]]);
        let one = g.constant(1.0);
        let growth = g.sub(volume_ratio, one);
        let modulus = g.mul(lambda, c[ACTIVATION]);
        let active = g.mul(modulus, growth);
        let density = g.add(elastic, active);
        let stress = g.gradient(density, &f);
        // Kelvin-Voigt damping in the rate of Green's strain and of the volume.
        let two_mu = g.scale(2.0, mu);
        let own = g.mul(c[TIME], two_mu);
        let shear = g.add(c[VISCOSITY], own);
        let bulk = g.mul(c[TIME], lambda);
        let mut strain_rate = [one; 9];
        for i in 0..3 {
            for j in 0..3 {
                let a =
                    sum(&mut g, &[f[i], f[3 + i], f[6 + i]], &[rate[j], rate[3 + j], rate[6 + j]]);
                let b =
                    sum(&mut g, &[f[j], f[3 + j], f[6 + j]], &[rate[i], rate[3 + i], rate[6 + i]]);
                let both = g.add(a, b);
                strain_rate[3 * i + j] = g.scale(0.5, both);
            }
        }
        let trace = g.add(strain_rate[0], strain_rate[4]);
        let trace = g.add(trace, strain_rate[8]);
        let pressure = g.mul(bulk, trace);
        let volume_rate = sum(&mut g, &cofactor, &rate);
        let volume_stress = g.mul(c[VISCOSITY], volume_rate);
        let mut second = [one; 9];
        for i in 0..9 {
            second[i] = g.mul(shear, strain_rate[i]);
            if i % 4 == 0 {
                second[i] = g.add(second[i], pressure);
            }
        }
        let mut whole = [one; 9];
        for i in 0..3 {
            for j in 0..3 {
                let a =
                    sum(&mut g, &f[3 * i..3 * i + 3], &[second[j], second[3 + j], second[6 + j]]);
                let b = g.mul(volume_stress, cofactor[3 * i + j]);
                let damping = g.add(a, b);
                whole[3 * i + j] = g.add(stress[3 * i + j], damping);
            }
        }
        let elastic = forces(&mut g, &stress, &inverse, c[VOLUME]).to_vec();
        let damped = forces(&mut g, &whole, &inverse, c[VOLUME]).to_vec();
        let energy = g.mul(c[VOLUME], density);
        let programs = Default::default();
        Self { inputs, rest: MATERIAL, graph: g, elastic, damped, energy, programs }
    }

    /// A spring. At zero length its direction is undefined and its force zero.
    pub(super) fn spring(law: &RecordedSpring) -> Self {
        let inputs = Inputs { corners: 6, constants: OWN + MOST_PARAMETERS };
        let mut g = Graph::new(inputs.len());
        let v: Vec<Node> = (6..12).map(Node::input).collect();
        let c: Vec<Node> = (12..12 + inputs.constants).map(Node::input).collect();
        let along: [Node; 3] = std::array::from_fn(|i| g.sub(Node::input(i), Node::input(3 + i)));
        let square = sum(&mut g, &along, &along);
        let (zero, one) = (g.constant(0.0), g.constant(1.0));
        let at_zero = g.binary(Binary::Equal, square, zero);
        let safe = g.select(at_zero, one, square);
        let safe = g.unary(Unary::Sqrt, safe);
        let length = g.select(at_zero, zero, safe);
        let unit = along.map(|d| g.div(d, safe));
        let [energy, tension] = law.embed(&mut g, length, &c);
        let relative: [Node; 3] = std::array::from_fn(|i| g.sub(v[i], v[3 + i]));
        let rate = sum(&mut g, &unit, &relative);
        let brake = g.mul(c[0], rate);
        let whole = g.add(tension, brake);
        let mut ends = |pull: Node| {
            let first = unit.map(|u| {
                let along = g.mul(pull, u);
                g.neg(along)
            });
            let second = unit.map(|u| g.mul(pull, u));
            [first, second].concat()
        };
        let (elastic, damped) = (ends(tension), ends(whole));
        Self { inputs, rest: 0, graph: g, elastic, damped, energy, programs: Default::default() }
    }

    pub(super) fn program(&self, task: Task, damping: bool) -> &Program {
        let at = 2 * task as usize + usize::from(damping);
        self.programs[at].get_or_init(|| self.compile(task, damping))
    }

    fn compile(&self, task: Task, damping: bool) -> Program {
        let mut g = self.graph.clone();
        let range = |from: usize, count: usize| (from..from + count).map(Node::input);
        let f = if damping { &self.damped } else { &self.elastic };
        let inputs = self.inputs;
        let variables: Vec<Node> = range(Inputs::X, inputs.variables()).collect();
        let outputs: Vec<Node> = match task {
            Task::Force => f.clone(),
            Task::Push | Task::PushAll => {
                let all = matches!(task, Task::PushAll);
                let count = if all { inputs.variables() } else { 2 * inputs.corners };
                let rates: Vec<Node> = range(inputs.x_dot(), count).collect();
                g.pushforward(f, &variables[..count], &rates)
            }
            Task::Pull | Task::PullAll => {
                let lambda = range(inputs.lambda(), inputs.corners);
                let seeds: Vec<(Node, Node)> = f.iter().copied().zip(lambda).collect();
                let mut bars = g.pullback(&seeds, &variables);
                if matches!(task, Task::Pull) {
                    bars[inputs.c()..inputs.c() + self.rest].fill(g.constant(0.0));
                }
                bars
            }
            Task::Energy => vec![self.energy],
            Task::EnergyPull => g.gradient(self.energy, &variables),
        };
        Program::new(&g, &outputs)
    }
}

/// F = [x₁ − x₀, x₂ − x₀, x₃ − x₀] B by rows, B by rows.
fn gradient(g: &mut Graph, x: &[Node], inverse: &[Node; 9]) -> [Node; 9] {
    let mut out = [x[0]; 9];
    for i in 0..3 {
        let edges: [Node; 3] = std::array::from_fn(|k| g.sub(x[3 * (k + 1) + i], x[i]));
        for j in 0..3 {
            out[3 * i + j] = sum(g, &edges, &[inverse[j], inverse[3 + j], inverse[6 + j]]);
        }
    }
    out
}

/// Forces −V P Bᵀ on the last three vertices, and what balances them on the first.
fn forces(g: &mut Graph, stress: &[Node], inverse: &[Node; 9], volume: Node) -> [Node; 12] {
    let mut out = [volume; 12];
    for i in 0..3 {
        for k in 0..3 {
            let row = sum(g, &stress[3 * i..3 * i + 3], &inverse[3 * k..3 * k + 3]);
            let force = g.mul(volume, row);
            out[3 * (k + 1) + i] = g.neg(force);
        }
        let total = g.add(out[3 + i], out[6 + i]);
        let total = g.add(total, out[9 + i]);
        out[i] = g.neg(total);
    }
    out
}

fn sum(g: &mut Graph, a: &[Node], b: &[Node]) -> Node {
    let mut total = g.constant(0.0);
    for (&x, &y) in a.iter().zip(b) {
        let product = g.mul(x, y);
        total = g.add(total, product);
    }
    total
}

/// The cofactor matrix, by rows.
fn cofactor(g: &mut Graph, f: &[Node; 9]) -> [Node; 9] {
    let mut out = [f[0]; 9];
    for i in 0..3 {
        for j in 0..3 {
            let (r, s, t, u) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            let a = g.mul(f[3 * r + t], f[3 * s + u]);
            let b = g.mul(f[3 * r + u], f[3 * s + t]);
            out[3 * i + j] = g.sub(a, b);
        }
    }
    out
}
