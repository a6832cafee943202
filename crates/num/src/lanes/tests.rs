//! Every operation on every instruction set: the same bits as on plain numbers.

use super::{Isa, Kernel, Lanes, dispatch_on};
use crate::scalar::{Mask, Scalar};
use crate::{Dual, DualN};

/// Numbers of every kind: special, tiny, huge, ordinary.
fn arguments() -> Vec<f64> {
    let mut list = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::MIN,
        1e22,
        -1e22,
        709.7,
        -745.0,
        1_647_000.0,
        core::f64::consts::PI,
    ];
    // A multiplicative generator modulo a prime: any patterns, the same on every run.
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for i in 0..4000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        list.push(match i % 4 {
            0 => f64::from_bits(state),
            1 => unit * 20.0,
            2 => unit * 2.0,
            _ => unit * 1e5,
        });
    }
    list
}

type Results = Vec<Vec<u64>>;

/// All operations on pairs of arguments, the results by operation.
struct Everything<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

const OPERATIONS: usize = 40;

#[inline(always)]
fn every_operation<S: Scalar>(x: S, y: S) -> [S; OPERATIONS] {
    let (zero, one) = (S::zero(), S::one());
    let (sine, cosine) = x.sin_cos();
    let dx = Dual::new(x, one);
    let dy = Dual::new(y, zero);
    [
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        x.sqrt(),
        x.abs(),
        x.ln(),
        x.exp(),
        sine,
        cosine,
        x.atan2(y),
        x.tanh(),
        x.acos(),
        x.asin(),
        x.min(y),
        x.max(y),
        x.signum(),
        x.powi(5),
        x.recip(),
        S::select(x.lt(y), x, y),
        S::select(x.le(y), x, y),
        S::select(x.gt(y), x, y),
        S::select(x.ge(y), x, y),
        S::select(x.equals(y), zero, one),
        S::select(x.lt(y) & y.lt(one), zero, one),
        S::select(x.lt(y) | y.lt(one), zero, one),
        S::select(!x.lt(y), zero, one),
        S::select(S::Mask::splat(true), x, y),
        S::select(S::Mask::splat(false), x, y),
        x.clamp(-one, one),
        x.scale(0.1),
        (dx / dy).tangent[0],
        dx.sqrt().tangent[0],
        dx.ln().tangent[0],
        dx.exp().tangent[0],
        dx.sin().tangent[0],
        dx.atan2(dy).tangent[0],
        dx.tanh().tangent[0],
        DualN::<S, 3>::variable(x, 1).acos().tangent[1],
    ]
}

impl Kernel for Everything<'_> {
    type Output = Results;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Results {
        let n = self.a.len();
        let mut out = vec![vec![0; n]; OPERATIONS];
        let mut i = 0;
        while i < n {
            let end = n.min(i + L::N);
            let x = L::load_padded(&self.a[i..end], 1.0);
            let y = L::load_padded(&self.b[i..end], 1.0);
            let results = every_operation(x, y);
            let mut buffer = [0.0; 16];
            for (k, r) in results.into_iter().enumerate() {
                r.store_partial(&mut buffer[..end - i]);
                for lane in 0..end - i {
                    let value = buffer[lane];
                    out[k][i + lane] =
                        if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
                }
            }
            i += L::N;
        }
        out
    }
}

#[test]
fn every_operation_gives_the_same_bits_on_every_instruction_set() {
    let a = arguments();
    let mut b = a.clone();
    b.reverse();
    let mut c = a.clone();
    c.rotate_left(7);
    for b in [&b, &c, &a] {
        let plain = dispatch_on(Isa::Scalar, Everything { a: &a, b }).unwrap();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            let lanes = dispatch_on(isa, Everything { a: &a, b }).unwrap();
            for k in 0..OPERATIONS {
                for i in 0..a.len() {
                    assert_eq!(
                        lanes[k][i],
                        plain[k][i],
                        "operation {k} of {:e} and {:e} on {isa}: {:e} and {:e}",
                        a[i],
                        b[i],
                        f64::from_bits(lanes[k][i]),
                        f64::from_bits(plain[k][i]),
                    );
                }
            }
        }
    }
}

struct Memory;
impl Kernel for Memory {
    type Output = ();
    fn run<L: Lanes>(self) {
        let n = L::N;
        let values: Vec<f64> = (0..3 * 20).map(f64::from).collect();
        let x = L::load(&values[1..]);
        let mut out = vec![-1.0; n + 1];
        x.store(&mut out);
        for i in 0..n {
            assert_eq!(out[i], values[1 + i]);
            assert_eq!(x.lane(i), values[1 + i]);
        }
        assert_eq!(out[n], -1.0);

        let padded = L::load_padded(&values[5..6], 9.0);
        assert_eq!(padded.lane(0), 5.0);
        for i in 1..n {
            assert_eq!(padded.lane(i), 9.0);
        }
        let mut short = vec![-1.0; n - 1];
        x.store_partial(&mut short);
        assert_eq!(short[..], values[1..n]);

        // With and without the last point, which is read by another branch.
        for last in [18, 19] {
            let vertices: Vec<u32> = (0..n as u32).map(|i| last - (i * 7) % 11).collect();
            let p = L::load_vec3(&values, &vertices);
            let g = L::gather(&values, &vertices);
            for (i, &vertex) in vertices.iter().enumerate() {
                let start = f64::from(3 * vertex);
                assert_eq!(
                    [p.x.lane(i), p.y.lane(i), p.z.lane(i)],
                    [start, start + 1.0, start + 2.0]
                );
                assert_eq!(g.lane(i), f64::from(vertex));
            }
            let mut places = vec![0.0; 2 + 5 * n];
            L::store_vec3(p, &mut places, 1, 5);
            for (i, &vertex) in vertices.iter().enumerate() {
                let start = f64::from(3 * vertex);
                assert_eq!(
                    places[1 + 5 * i..][..5],
                    [start, start + 1.0, start + 2.0, 0.0, 0.0][..]
                );
            }
        }
        let caught =
            |f: &(dyn Fn() + std::panic::RefUnwindSafe)| std::panic::catch_unwind(f).is_err();
        let beyond = vec![20; n];
        let (v, b) = (&values, &beyond);
        assert!(caught(&move || {
            L::load_vec3(v, b);
        }));
        assert!(caught(&move || {
            L::gather(&v[..20], b);
        }));
        assert!(caught(&move || {
            L::load(&v[..n - 1]);
        }));
        assert!(caught(&move || {
            L::splat(1.0).store(&mut vec![0.0; n - 1]);
        }));
        assert!(caught(&move || {
            L::splat(1.0).lane(n);
        }));

        let m = L::load(&values).lt(L::one());
        assert!(m.any() && (n == 1 || !m.all()) && (m | !m).all() && !(m & !m).any());
        assert!(format!("{:?}", L::splat(2.5)).contains("2.5"));
    }
}

#[test]
fn lanes_go_to_memory_and_back() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
        dispatch_on(isa, Memory).unwrap();
    }
}
