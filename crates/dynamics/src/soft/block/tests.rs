//! The loops on lanes against the loop over single elements, bit for bit.

use std::marker::PhantomData;

use costate_num::{Isa, dispatch_on};

use super::kernels::{ForceKernel, Inputs, Outputs, PullKernel};
use super::mesh::Mesh;
use super::mode::{self, ANY, DAMPED, IDLE, In, Modal, REST};
use super::{Block, RestPositions};
use crate::force::Force;
use crate::soft::element::Scope;
use crate::soft::materials::Warp;
use crate::soft::parameter::Parameter;
use crate::soft::tetrahedra::Tetrahedron;

const CONSTANTS: usize = 15;
type Law = Tetrahedron<Warp, 2>;
type Tetrahedra = Block<Law, 4, 6, CONSTANTS>;
/// Neither a multiple of a register nor of its half.
const COUNT: usize = 21;
const VERTICES: usize = COUNT + 3;

/// A number in −1..1 that looks random.
fn noise(seed: usize) -> f64 {
    let mut z = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn vectors(seed: usize) -> Vec<f64> {
    (0..3 * VERTICES).map(|i| noise(1000 * seed + i)).collect()
}

/// A chain of tetrahedra with its constants and a state.
struct Chain {
    block: Tetrahedra,
    c: Vec<f64>,
    x: Vec<f64>,
    v: Vec<f64>,
    lambda: Vec<f64>,
}

impl Chain {
    fn new() -> Self {
        let stencils = (0..COUNT as u32).map(|e| [e, e + 1, e + 2, e + 3]).collect();
        // Some of every element's own.
        let mut parameters = [3000.0, 10000.0, 2.0, 0.0, 10.0, 0.1].map(Parameter::Constant);
        parameters[1] =
            Parameter::Constants((0..COUNT).map(|e| 9000.0 + 70.0 * e as f64).collect());
        let rest = RestPositions { range: 0..3 * VERTICES, first_vertex: 0 };
        let block = Tetrahedra::new("chain".into(), stencils, parameters, rest);
        let theta = vectors(1);
        let mut c = vec![0.0; block.constants_len()];
        block.derive(&theta, &mut c);
        let x = theta.iter().zip(vectors(2)).map(|(x, d)| x + 0.1 * d).collect();
        Self { block, c, x, v: vectors(3), lambda: vectors(4) }
    }

    fn inputs(&self, scope: Scope) -> Inputs<'_, 4, CONSTANTS> {
        let (x, v) = (&self.x, &self.v);
        let Tetrahedra { mesh, places, .. } = &self.block;
        Inputs { mesh, places, c: &self.c, drive: Some((14, 0.05)), x, v, scope }
    }

    fn sums(&self, buffer: &[f64], out: &mut Vec<u64>) {
        let mesh = &self.block.mesh;
        let mut of_chunk = vec![0.0; mesh.sums_len()];
        mesh.chunks()[0].sum(buffer, &mut of_chunk);
        let (mut sums, mut work) = (vec![0.0; 3 * VERTICES], vec![0.0; VERTICES]);
        mesh.gather(&of_chunk, &mut sums);
        mesh.gather_work(&of_chunk, &mut work);
        let (mut alone, mut work_alone) = (vec![0.0; 3 * VERTICES], vec![0.0; VERTICES]);
        mesh.chunks()[0].add(buffer, &mut alone, &mut work_alone);
        assert_eq!((&sums, &work), (&alone, &work_alone));
        out.extend(sums.iter().chain(&work).map(|s| s.to_bits()));
    }

    /// Forces in a mode; one element at a time without an instruction set.
    fn forces<const MODE: u8>(&self, isa: Option<Isa>, scope: Scope) -> Vec<u64> {
        let mut buffer = vec![0.0; Mesh::<4>::buffer_len(&(0..COUNT))];
        let (inputs, law) = (self.inputs(scope), PhantomData::<Law>);
        start::<_, MODE>(
            isa,
            ForceKernel::<Law, 4, 6, CONSTANTS> {
                inputs,
                elements: 0..COUNT,
                out: &mut buffer,
                law,
            },
        );
        let mut out = Vec::new();
        self.sums(&buffer, &mut out);
        out
    }

    /// Adjoints in a mode: by x, v, the constants and the drive.
    fn adjoints<const MODE: u8>(&self, isa: Option<Isa>, scope: Scope) -> Vec<u64> {
        let len = Mesh::<4>::buffer_len(&(0..COUNT));
        let (mut x, mut v, mut drive) = (vec![0.0; len], vec![0.0; len], vec![0.0; COUNT]);
        let mut bars: Vec<f64> = (0..self.c.len()).map(noise).collect();
        let c = self.block.places.bars(&mut bars);
        let out = Outputs { x: &mut x, v: &mut v, c, drive: &mut drive };
        let (inputs, law) = (self.inputs(scope), PhantomData::<Law>);
        let (elements, lambda) = (0..COUNT, &self.lambda[..]);
        start::<_, MODE>(
            isa,
            PullKernel::<Law, 4, 6, CONSTANTS> { inputs, elements, lambda, out, law },
        );
        let mut bits: Vec<u64> = bars.iter().chain(&drive).map(|b| b.to_bits()).collect();
        self.sums(&x, &mut bits);
        self.sums(&v, &mut bits);
        bits
    }
}

fn start<K: Modal, const MODE: u8>(isa: Option<Isa>, kernel: K) {
    match isa {
        None => kernel.run_in::<f64, ANY>(),
        Some(isa) => dispatch_on(isa, In::<K, MODE>(kernel)).expect("only supported sets are run"),
    }
}

#[test]
fn lanes_and_modes_give_the_bits_of_single_elements() {
    let chain = Chain::new();
    for warp in [false, true] {
        let scope = Scope { warp, ..Scope::ALL };
        let (rest, idle) = (mode::within::<REST>(scope), mode::within::<IDLE>(scope));
        let forces = chain.forces::<ANY>(None, scope);
        let by_rest = chain.adjoints::<ANY>(None, rest);
        let by_idle = chain.adjoints::<ANY>(None, idle);
        assert!(forces.iter().chain(&by_rest).all(|&bits| f64::from_bits(bits).is_finite()));
        assert_ne!(by_rest, by_idle);
        for isa in [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512] {
            if isa.is_supported() {
                assert_eq!(chain.forces::<DAMPED>(Some(isa), scope), forces, "{isa}: forces");
                assert_eq!(chain.adjoints::<REST>(Some(isa), rest), by_rest, "{isa}: by rest");
                assert_eq!(chain.adjoints::<IDLE>(Some(isa), idle), by_idle, "{isa}: idle");
            }
        }
    }
}

#[test]
fn idle_dampers_leave_out_zeros_only() {
    let mut chain = Chain::new();
    for place in [12, 13].into_iter().flat_map(|i| chain.block.places.groups(i)) {
        chain.c[place].fill(0.0);
    }
    for warp in [false, true] {
        let scope = Scope { warp, ..Scope::ALL };
        let whole = chain.adjoints::<ANY>(None, scope);
        let idle = chain.adjoints::<ANY>(None, Scope { idle: true, ..scope });
        assert_eq!(whole.len(), idle.len());
        for (i, (a, b)) in whole.iter().zip(&idle).enumerate() {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(*b));
            assert!((a - b).abs() <= 1e-13 * a.abs(), "number {i}: {a} and {b}");
        }
    }
}
