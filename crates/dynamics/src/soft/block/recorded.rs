//! Elements whose law is a recorded graph: everything about the element (kinematics, stress,
//! damping, and all derivatives) is one expression graph, evaluated over blocks of elements.

use std::cell::RefCell;
use std::ops::Range;

use costate_num::Scalar;

use super::mesh::{FOUR, WIDTH};
use super::recorded_graph::{Element, Inputs, Task};
use super::{Block, Buffers, LINE};
use crate::expression::{BLOCK, Program};
use crate::force::{Adjoints, At, Force, Scratch, Tangents};
use crate::soft::element;
use crate::soft::materials::{MOST_PARAMETERS, Material, RecordedLaw};
use crate::soft::springs::{OWN, RecordedSpring, SilentSpring};
use crate::soft::tetrahedra::{OWN_CONSTANTS, OWN_PARAMETERS, Tetrahedron};

/// A material without stress: the block of its tetrahedra derives constants and masses, which do not
/// depend on the law.
pub struct Silent;

impl Material<N> for Silent {
    const NAME: &'static str = "none";
    #[inline(always)]
    fn energy<S: Scalar>(_: &costate_num::Mat3<S>, _: &[S; N]) -> S {
        S::zero()
    }
    #[inline(always)]
    fn lame_at_rest<S: Scalar>(_: &[S; N]) -> [S; 2] {
        [S::zero(); 2]
    }
}

const N: usize = MOST_PARAMETERS;

/// Elements of a recorded law. The block knows stencils, constants and masses, which do not depend on the
/// law; `L` says nothing of it.
pub struct Recorded<L, const V: usize, const P: usize, const C: usize> {
    block: Block<L, V, P, C>,
    element: Element,
}

/// Tetrahedra of a recorded material.
pub type RecordedTetrahedra =
    Recorded<Tetrahedron<Silent, N>, 4, { N + OWN_PARAMETERS }, { N + OWN_CONSTANTS }>;

/// Springs of a recorded law.
pub type RecordedSprings = Recorded<SilentSpring, 2, { N + OWN }, { N + OWN }>;

impl RecordedTetrahedra {
    /// Tetrahedra of a law; the block is that of a body whose material says nothing.
    pub(crate) fn new(
        block: Block<Tetrahedron<Silent, N>, 4, { N + OWN_PARAMETERS }, { N + OWN_CONSTANTS }>,
        law: &RecordedLaw,
    ) -> Self {
        Self { block, element: Element::tetrahedron(law) }
    }
}

impl RecordedSprings {
    /// Springs of a law.
    pub(crate) fn new(
        block: Block<SilentSpring, 2, { N + OWN }, { N + OWN }>,
        law: &RecordedSpring,
    ) -> Self {
        Self { block, element: Element::spring(law) }
    }
}

thread_local! {
    /// The registers of the block of elements that a thread is working on.
    static REGISTERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Where a program's inputs come from; empty for zero.
#[derive(Clone, Copy, Default)]
struct Sources<'a> {
    c: &'a [f64],
    x: &'a [f64],
    v: &'a [f64],
    lambda: &'a [f64],
    x_dot: &'a [f64],
    v_dot: &'a [f64],
    c_dot: &'a [f64],
    /// Added to the activation, and its rate.
    drive: [f64; 2],
}

impl<L: element::Element<V, P, C>, const V: usize, const P: usize, const C: usize>
    Recorded<L, V, P, C>
{
    fn sources<'a>(&self, c: &'a [f64], at: At<'a>) -> Sources<'a> {
        let drive = self.block.drive.map_or(0.0, |drive| at.u[drive.input]);
        Sources { c, x: at.x, v: at.v, drive: [drive, 0.0], ..Sources::default() }
    }

    /// Runs a program over a chunk of elements, showing the registers of each block of them to `read`
    /// with the block's first element, counted within the chunk, and how many it has.
    fn over(
        &self,
        program: &Program,
        from: &Sources,
        elements: &Range<usize>,
        mut read: impl FnMut(&[f64], usize, usize),
    ) {
        REGISTERS.with_borrow_mut(|all| {
            // Rows that start at a multiple of a cache line are read in half the time.
            let len = program.scratch_len() + LINE / size_of::<f64>();
            if all.len() < len {
                all.resize(len, 0.0);
            }
            let first = all.as_ptr().align_offset(LINE).min(LINE / size_of::<f64>());
            let registers = &mut all[first..first + program.scratch_len()];
            program.prepare(registers);
            for start in elements.clone().step_by(BLOCK) {
                let count = BLOCK.min(elements.end - start);
                self.load(program, from, start, count, registers);
                program.run(registers, count);
                read(registers, start - elements.start, count);
            }
        });
    }

    /// Fills in the inputs of the elements from `start` on, the last repeated up to whole registers.
    fn load(
        &self,
        program: &Program,
        from: &Sources,
        start: usize,
        count: usize,
        registers: &mut [f64],
    ) {
        let padded = count.next_multiple_of(WIDTH);
        let inputs = self.element.inputs;
        let vectors = [
            (Inputs::X, from.x),
            (inputs.v(), from.v),
            (inputs.lambda(), from.lambda),
            (inputs.x_dot(), from.x_dot),
            (inputs.v_dot(), from.v_dot),
        ];
        for (first, values) in vectors {
            for k in 0..V {
                let at = first + 3 * k;
                if !(0..3).any(|i| program.uses(at + i)) {
                    continue;
                }
                let rows = &mut registers[at * BLOCK..(at + 3) * BLOCK];
                if values.is_empty() {
                    rows.fill(0.0);
                    continue;
                }
                for (lane, &vertex) in self.block.mesh.vertices(k, start, padded).iter().enumerate()
                {
                    let point = &values[3 * vertex as usize..3 * vertex as usize + 3];
                    rows[lane] = point[0];
                    rows[BLOCK + lane] = point[1];
                    rows[2 * BLOCK + lane] = point[2];
                }
            }
        }
        let places = &self.block.places;
        for (first, values, drive) in
            [(inputs.c(), from.c, from.drive[0]), (inputs.c_dot(), from.c_dot, from.drive[1])]
        {
            for i in 0..C {
                if !program.uses(first + i) {
                    continue;
                }
                let row = &mut registers[(first + i) * BLOCK..][..padded];
                if values.is_empty() {
                    row.fill(0.0);
                } else {
                    for (group, row) in row.chunks_exact_mut(WIDTH).enumerate() {
                        let at = places.at(i, start + group * WIDTH);
                        row.copy_from_slice(&values[at..at + WIDTH]);
                    }
                }
                if drive != 0.0 && self.driven() == Some(i) {
                    for value in row {
                        *value += drive;
                    }
                }
            }
        }
    }

    /// The constant that an input is added to.
    fn driven(&self) -> Option<usize> {
        self.block.drive.map(|drive| drive.constant)
    }

    /// Runs a program whose outputs are vectors at the vertices, and sums them there.
    fn assemble(&self, program: &Program, from: &Sources, sums: &mut Vec<f64>, to: &mut [f64]) {
        self.block.assemble(sums, to, |elements, out| {
            self.over(program, from, &elements, |registers, at, count| {
                scatter::<V>(program, registers, 0, at, count, out);
            });
        });
    }

    /// Adds λ·f at each vertex.
    fn add_work(&self, from: &Sources, damped: bool, buffers: &mut Buffers, work: &mut [f64]) {
        let mut force = std::mem::take(&mut buffers.force);
        force.clear();
        force.resize(from.lambda.len(), 0.0);
        let program = self.element.program(Task::Force, damped);
        self.assemble(program, from, &mut buffers.x, &mut force);
        let at_vertices = force.chunks_exact(3).zip(from.lambda.chunks_exact(3));
        for (out, (f, l)) in work.iter_mut().zip(at_vertices) {
            *out += l[0] * f[0] + l[1] * f[1] + l[2] * f[2];
        }
        buffers.force = force;
    }
}

/// The vectors at `V` vertices that start at output `first`, of a block of elements, into the buffer of
/// their chunk.
fn scatter<const V: usize>(
    program: &Program,
    registers: &[f64],
    first: usize,
    at: usize,
    count: usize,
    buffer: &mut [f64],
) {
    for i in 0..3 * V {
        let row = &registers[program.output(first + i)..][..count];
        for (e, value) in row.iter().enumerate() {
            buffer[((at + e) * V + i / 3) * FOUR + i % 3] = *value;
        }
    }
}

impl<L: element::Element<V, P, C>, const V: usize, const P: usize, const C: usize> Force
    for Recorded<L, V, P, C>
{
    fn label(&self) -> &str {
        self.block.label()
    }
    fn constants_len(&self) -> usize {
        self.block.constants_len()
    }
    fn scratch(&self) -> Scratch {
        self.block.scratch()
    }
    fn constant_at(&self, element: usize, constant: usize) -> Option<usize> {
        self.block.constant_at(element, constant)
    }
    fn narrow(&mut self, wanted: &dyn Fn(usize) -> bool) {
        self.block.narrow(wanted);
    }
    fn derive(&self, theta: &[f64], c: &mut [f64]) {
        self.block.derive_constants(theta, c);
    }
    fn derive_pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        self.block.derive_tangents(theta, theta_dot, c_dot);
    }
    fn derive_pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        self.block.derive_adjoints(theta, c_bar, theta_bar);
    }
    fn mass(&self, theta: &[f64], mass: &mut [f64]) {
        self.block.add_masses(theta, mass);
    }
    fn mass_pushforward(&self, theta: &[f64], theta_dot: &[f64], mass_dot: &mut [f64]) {
        self.block.add_mass_tangents(theta, theta_dot, mass_dot);
    }
    fn mass_pullback(&self, theta: &[f64], mass_bar: &[f64], theta_bar: &mut [f64]) {
        self.block.add_mass_adjoints(theta, mass_bar, theta_bar);
    }

    fn add_forces(&self, c: &[f64], at: At, f: &mut [f64], scratch: &mut Scratch) {
        let program = self.element.program(Task::Force, self.block.has_damping(c));
        self.assemble(program, &self.sources(c, at), &mut Buffers::of(scratch).x, f);
    }

    fn pushforward(
        &self,
        c: &[f64],
        at: At,
        tangents: Tangents,
        f_dot: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let len = at.x.len();
        let buffers = Buffers::of(scratch);
        for k in 0..tangents.columns {
            let Tangents { x: x_dot, v: v_dot, c: c_dot, u: u_dot, .. } =
                tangents.column(k, at, self.constants_len());
            let drive_dot = self.block.drive_tangent(u_dot);
            let mut from = Sources { x_dot, v_dot, c_dot, ..self.sources(c, at) };
            from.drive[1] = drive_dot;
            let moving = !c_dot.is_empty() && self.block.has_damping(c_dot);
            let task =
                if c_dot.is_empty() && drive_dot == 0.0 { Task::Push } else { Task::PushAll };
            let program = self.element.program(task, moving || self.block.has_damping(c));
            self.assemble(program, &from, &mut buffers.x, &mut f_dot[k * len..(k + 1) * len]);
        }
    }

    fn pullback(
        &self,
        c: &[f64],
        at: At,
        lambda: &[f64],
        adjoints: Adjoints,
        scratch: &mut Scratch,
    ) {
        let buffers = Buffers::of(scratch);
        let wanted = self.block.wanted;
        let damped = self.block.has_damping(c);
        let damping = wanted.damping || damped;
        let task = if wanted.rest { Task::PullAll } else { Task::Pull };
        let program = self.element.program(task, damping);
        let from = Sources { lambda, ..self.sources(c, at) };
        if !adjoints.work.is_empty() {
            self.add_work(&from, damped, buffers, adjoints.work);
        }
        // The program leaves no work beside the vectors.
        let adjoints = Adjoints { work: &mut [], ..adjoints };
        self.block.assemble_adjoints(
            buffers,
            adjoints,
            damping,
            |chunk, mut bars, drive, [x, v]| {
                self.over(program, &from, &chunk.elements, |registers, at, count| {
                    scatter::<V>(program, registers, 0, at, count, x);
                    if damping {
                        scatter::<V>(program, registers, 3 * V, at, count, v);
                    }
                    let output = |i: usize| &registers[program.output(6 * V + i)..][..count];
                    let first = if wanted.rest { 0 } else { self.element.rest };
                    let last = if wanted.constants { C } else { first };
                    for i in first..last {
                        bars.add(i, at, output(i));
                    }
                    if let Some(driven) = self.driven() {
                        drive[at..at + count].copy_from_slice(output(driven));
                    }
                });
            },
        );
    }

    fn fault(&self, c: &[f64], at: At) -> Option<String> {
        let program = self.element.program(Task::Force, self.block.has_damping(c));
        let mut found = None;
        self.over(
            program,
            &self.sources(c, at),
            &(0..self.block.len()),
            |registers, first, count| {
                let finite = |lane: &usize| {
                    (0..3 * V).all(|i| registers[program.output(i) + lane].is_finite())
                };
                if found.is_none() {
                    found = (0..count).find(|lane| !finite(lane)).map(|lane| first + lane);
                }
            },
        );
        let e = found?;
        Some(format!("the force of {} number {e} (a {})", self.block.label, L::NAME))
    }

    fn energy(&self, c: &[f64], at: At) -> f64 {
        let program = self.element.program(Task::Energy, false);
        let mut total = 0.0;
        self.over(program, &self.sources(c, at), &(0..self.block.len()), |registers, _, count| {
            total += registers[program.output(0)..][..count].iter().sum::<f64>();
        });
        total
    }

    fn energy_pullback(&self, c: &[f64], at: At, weight: f64, adjoints: Adjoints) {
        let program = self.element.program(Task::EnergyPull, false);
        let Adjoints { x, u, c: c_bar, .. } = adjoints;
        let all = 0..self.block.len();
        self.over(program, &self.sources(c, at), &all, |registers, first, count| {
            for lane in 0..count {
                let value = |i: usize| weight * registers[program.output(i) + lane];
                for (k, &vertex) in self.block.stencils[first + lane].iter().enumerate() {
                    for i in 0..3 {
                        x[3 * vertex as usize + i] += value(3 * k + i);
                    }
                }
                for i in 0..C {
                    c_bar[self.block.places.at(i, first + lane)] += value(6 * V + i);
                }
                if let Some(drive) = self.block.drive {
                    u[drive.input] += value(6 * V + drive.constant);
                }
            }
        });
    }
}
