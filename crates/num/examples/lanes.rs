//! What a force kernel and its derivative cost on each instruction set, and the elementary functions.
//!
//! `cargo run --release -p costate-num --example lanes`
//!
//! The kernel is the compressible neo-Hookean tetrahedron, force and parameter gradient, written once
//! over `Scalar`: with lanes it gives the force, with dual numbers over lanes its pullback. A large
//! step between the two columns, or from one instruction set to a wider one, says that something in
//! the kernel is not inlined.

use costate_num::{DualN, Isa, Kernel, Lanes, Mat3, Scalar, Vec3, dispatch_on};
use std::hint::black_box;
use std::time::Instant;

/// Tetrahedra in structure-of-arrays form: vertex `c` of element `e` is `vertices[c][e]`.
struct Mesh {
    positions: Vec<f64>,
    direction: Vec<f64>,
    vertices: [Vec<u32>; 4],
    inverse_rest: [Vec<f64>; 9],
    volume: Vec<f64>,
    mu: Vec<f64>,
    lambda: Vec<f64>,
    /// Forces by corner and axis, then the two parameter gradients.
    out: [Vec<f64>; 14],
}

/// A grid of cubes of five tetrahedra, slightly deformed.
fn grid(nx: u32, ny: u32, nz: u32) -> Mesh {
    let index = |x, y, z| (z * (ny + 1) + y) * (nx + 1) + x;
    let mut rest = Vec::new();
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                rest.push([0.1 * f64::from(x), 0.1 * f64::from(y), 0.1 * f64::from(z)]);
            }
        }
    }
    let wave = |i: usize| 0.004 * (1.7 * i as f64).sin();
    let positions: Vec<f64> = rest.iter().flatten().enumerate().map(|(i, p)| p + wave(i)).collect();
    let direction = (0..positions.len()).map(|i| wave(i + 5)).collect();
    let mut vertices: [Vec<u32>; 4] = Default::default();
    let mut inverse_rest: [Vec<f64>; 9] = Default::default();
    let mut volume = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let corner = |k: u32| index(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
                let even = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
                for tetrahedron in even {
                    // Odd cubes are the mirror images, so that faces of neighbours match.
                    let flip = if (x + y + z) % 2 == 1 { 1 } else { 0 };
                    let mut v = tetrahedron.map(|k| corner(k ^ flip));
                    let point = |i: u32| Vec3::from_array(rest[i as usize]);
                    let edges = |v: [u32; 4]| {
                        let o = point(v[0]);
                        Mat3::from_columns(point(v[1]) - o, point(v[2]) - o, point(v[3]) - o)
                    };
                    if edges(v).determinant() < 0.0 {
                        v.swap(2, 3);
                    }
                    for (list, vertex) in vertices.iter_mut().zip(v) {
                        list.push(vertex);
                    }
                    let inverse = edges(v).inverse().to_rows();
                    for (list, entry) in inverse_rest.iter_mut().zip(inverse) {
                        list.push(entry);
                    }
                    volume.push(edges(v).determinant() / 6.0);
                }
            }
        }
    }
    let n = volume.len();
    Mesh {
        positions,
        direction,
        vertices,
        inverse_rest,
        volume,
        mu: vec![5000.0; n],
        lambda: vec![8000.0; n],
        out: core::array::from_fn(|_| vec![0.0; n]),
    }
}

/// Gradient of the energy μ/2 (I₁ − 3 − 2 ln J) + λ/2 (ln J)² by the corners and by μ and λ.
#[inline(always)]
fn gradient<S: Scalar>(
    x: [Vec3<S>; 4],
    inverse_rest: Mat3<S>,
    volume: S,
    mu: S,
    lambda: S,
) -> ([Vec3<S>; 4], [S; 2]) {
    let f = Mat3::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0]).matmul(inverse_rest);
    let cofactor = f.cofactor();
    let j = f.columns[0].dot(cofactor.columns[0]);
    let log_j = j.ln();
    let stress = f * mu + cofactor * ((lambda * log_j - mu) / j);
    let h = (stress * volume).matmul(inverse_rest.transpose());
    let [a, b, c] = h.columns;
    let by_mu = volume * S::splat(0.5) * (f.inner(f) - S::splat(3.0) - log_j - log_j);
    let by_lambda = volume * S::splat(0.5) * log_j * log_j;
    ([-(a + b + c), a, b, c], [by_mu, by_lambda])
}

struct Force<'a>(&'a mut Mesh);
struct Pullback<'a, const N: usize>(&'a mut Mesh);

#[inline(always)]
fn load_matrix<L: Lanes>(list: &[Vec<f64>; 9], e: usize) -> Mat3<L> {
    let mut rows = [L::zero(); 9];
    let mut k = 0;
    while k < 9 {
        rows[k] = L::load(&list[k][e..]);
        k += 1;
    }
    Mat3::from_rows(rows)
}

#[inline(always)]
fn store<L: Lanes>(out: &mut [Vec<f64>; 14], e: usize, corners: [Vec3<L>; 4], parameters: [L; 2]) {
    let mut c = 0;
    while c < 4 {
        corners[c].x.store(&mut out[3 * c][e..]);
        corners[c].y.store(&mut out[3 * c + 1][e..]);
        corners[c].z.store(&mut out[3 * c + 2][e..]);
        c += 1;
    }
    parameters[0].store(&mut out[12][e..]);
    parameters[1].store(&mut out[13][e..]);
}

impl Kernel for Force<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let m = self.0;
        let mut e = 0;
        while e < m.volume.len() {
            let mut x = [Vec3::zero(); 4];
            let mut c = 0;
            while c < 4 {
                x[c] = L::load_vec3(&m.positions, &m.vertices[c][e..]);
                c += 1;
            }
            let (corners, parameters) = gradient(
                x,
                load_matrix(&m.inverse_rest, e),
                L::load(&m.volume[e..]),
                L::load(&m.mu[e..]),
                L::load(&m.lambda[e..]),
            );
            store(&mut m.out, e, corners, parameters);
            e += L::N;
        }
    }
}

/// The tangents along `N` directions at once; their sum is stored.
impl<const N: usize> Kernel for Pullback<'_, N> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let m = self.0;
        let mut e = 0;
        while e < m.volume.len() {
            let mut x = [Vec3::zero(); 4];
            let mut c = 0;
            while c < 4 {
                let p: Vec3<L> = L::load_vec3(&m.positions, &m.vertices[c][e..]);
                let d: Vec3<L> = L::load_vec3(&m.direction, &m.vertices[c][e..]);
                x[c] = Vec3::new(along::<L, N>(p.x, d.x), along(p.y, d.y), along(p.z, d.z));
                c += 1;
            }
            let rest: Mat3<L> = load_matrix(&m.inverse_rest, e);
            let [a, b, c] = rest.columns;
            let (corners, parameters) = gradient(
                x,
                Mat3::from_columns(constant(a), constant(b), constant(c)),
                DualN::constant(L::load(&m.volume[e..])),
                DualN::constant(L::load(&m.mu[e..])),
                DualN::constant(L::load(&m.lambda[e..])),
            );
            let [p, q, r, s] = corners;
            store(
                &mut m.out,
                e,
                [tangent(p), tangent(q), tangent(r), tangent(s)],
                [parameters[0].tangent[N - 1], parameters[1].tangent[N - 1]],
            );
            e += L::N;
        }
    }
}

/// Different along each direction, so that none can be left out.
#[inline(always)]
fn along<L: Lanes, const N: usize>(value: L, direction: L) -> DualN<L, N> {
    let mut tangent = [direction; N];
    let mut i = 0;
    while i < N {
        tangent[i] = direction.scale(1.0 + i as f64);
        i += 1;
    }
    DualN { value, tangent }
}
#[inline(always)]
fn constant<L: Lanes, const N: usize>(v: Vec3<L>) -> Vec3<DualN<L, N>> {
    Vec3::new(DualN::constant(v.x), DualN::constant(v.y), DualN::constant(v.z))
}
/// The sum of all tangents.
#[inline(always)]
fn tangent<L: Lanes, const N: usize>(v: Vec3<DualN<L, N>>) -> Vec3<L> {
    let mut sum = Vec3::zero();
    let mut i = 0;
    while i < N {
        sum += Vec3::new(v.x.tangent[i], v.y.tangent[i], v.z.tangent[i]);
        i += 1;
    }
    sum
}

/// Points loaded, and nothing else.
struct Load<'a>(&'a mut Mesh);
impl Kernel for Load<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let m = self.0;
        let mut e = 0;
        while e < m.volume.len() {
            let mut sum = Vec3::<L>::zero();
            let mut c = 0;
            while c < 4 {
                sum += L::load_vec3(&m.positions, &m.vertices[c][e..]);
                c += 1;
            }
            (sum.x + sum.y + sum.z).store(&mut m.out[0][e..]);
            e += L::N;
        }
    }
}

#[derive(Clone, Copy)]
enum Function {
    Ln,
    Exp,
    SinCos,
    Atan2,
    Tanh,
    Sqrt,
}

struct Map<'a> {
    function: Function,
    values: &'a [f64],
    out: &'a mut [f64],
}
impl Kernel for Map<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut i = 0;
        while i < self.values.len() {
            let x = L::load(&self.values[i..]);
            let y = match self.function {
                Function::Ln => x.ln(),
                Function::Exp => x.exp(),
                Function::SinCos => {
                    let (sine, cosine) = x.sin_cos();
                    sine + cosine
                }
                Function::Atan2 => x.atan2(L::one()),
                Function::Tanh => x.tanh(),
                Function::Sqrt => x.sqrt(),
            };
            y.store(&mut self.out[i..]);
            i += L::N;
        }
    }
}

/// The least time of one call in nanoseconds.
fn least(calls: usize, mut f: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..calls {
        let start = Instant::now();
        f();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least * 1e9
}

fn main() {
    let mut mesh = grid(20, 10, 10);
    let n = mesh.volume.len() as f64;
    println!("{n} tetrahedra; ns per tetrahedron, least of 200 runs");
    println!(
        "{:>10} {:>8} {:>10} {:>14} {:>16}",
        "", "points", "force", "dual pullback", "four directions"
    );
    let sets: Vec<Isa> = Isa::ALL.into_iter().filter(|isa| isa.is_supported()).collect();
    let supported = "only supported sets are in the list";
    for &isa in &sets {
        let load = least(200, || dispatch_on(isa, Load(black_box(&mut mesh))).expect(supported));
        let force = least(200, || dispatch_on(isa, Force(black_box(&mut mesh))).expect(supported));
        let pull =
            least(200, || dispatch_on(isa, Pullback::<1>(black_box(&mut mesh))).expect(supported));
        let four = least(200, || {
            dispatch_on(isa, Pullback::<4>(black_box(&mut mesh))).expect(supported);
        });
        println!(
            "{:>10} {:>8.1} {:>10.1} {:>14.1} {:>16.1}",
            isa.name(),
            load / n,
            force / n,
            pull / n,
            four / n
        );
    }

    let values: Vec<f64> = (0..4096).map(|i| 0.05 + 0.0021 * f64::from(i)).collect();
    let mut out = vec![0.0; values.len()];
    println!("\nns per value");
    print!("{:>10}", "");
    let functions = [
        ("sqrt", Function::Sqrt),
        ("ln", Function::Ln),
        ("exp", Function::Exp),
        ("sin_cos", Function::SinCos),
        ("atan2", Function::Atan2),
        ("tanh", Function::Tanh),
    ];
    for (name, _) in functions {
        print!("{name:>9}");
    }
    for isa in sets {
        print!("\n{:>10}", isa.name());
        for (_, function) in functions {
            let time = least(200, || {
                let map = Map { function, values: black_box(&values), out: black_box(&mut out) };
                dispatch_on(isa, map).expect(supported);
            });
            print!("{:>9.2}", time / values.len() as f64);
        }
    }
    println!();
}
