//! Every operation on every instruction set: the same bits as on plain numbers.

use super::{Element, Isa, Kernel, Lanes, dispatch_on};
use crate::scalar::{Mask, Scalar};
use crate::{Dual, DualN};
use core::fmt::Debug;

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
struct Everything<'a, E> {
    a: &'a [E],
    b: &'a [E],
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

macro_rules! everything {
    ($t:ty) => {
        impl Kernel<$t> for Everything<'_, $t> {
            type Output = Results;
            #[inline(always)]
            fn run<L: Lanes<$t>>(self) -> Results {
                let n = self.a.len();
                let mut out = vec![vec![0; n]; OPERATIONS];
                let mut i = 0;
                while i < n {
                    let end = n.min(i + L::N);
                    let x = L::load_padded(&self.a[i..end], 1.0);
                    let y = L::load_padded(&self.b[i..end], 1.0);
                    let mut buffer = [0.0; 16];
                    for (results, r) in out.iter_mut().zip(every_operation(x, y)) {
                        let lanes = &mut buffer[..end - i];
                        r.store_partial(lanes);
                        for (result, value) in results[i..end].iter_mut().zip(lanes) {
                            let nan = <$t>::NAN.to_bits();
                            let bits = if value.is_nan() { nan } else { value.to_bits() };
                            *result = u64::from(bits);
                        }
                    }
                    i += L::N;
                }
                out
            }
        }
    };
}
everything!(f64);
everything!(f32);

fn compare<E: Element + Debug>(a: &[E])
where
    for<'a> Everything<'a, E>: Kernel<E, Output = Results>,
{
    let mut reversed = a.to_vec();
    reversed.reverse();
    let mut rotated = a.to_vec();
    rotated.rotate_left(7);
    for b in [&reversed, &rotated, a] {
        let plain = dispatch_on(Isa::Scalar, Everything { a, b }).unwrap();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
            let lanes = dispatch_on(isa, Everything { a, b }).unwrap();
            for k in 0..OPERATIONS {
                for i in 0..a.len() {
                    let (own, scalar) = (lanes[k][i], plain[k][i]);
                    assert_eq!(own, scalar, "operation {k} of {:?} and {:?} on {isa}", a[i], b[i]);
                }
            }
        }
    }
}

#[test]
fn every_operation_gives_the_same_bits_on_every_instruction_set() {
    compare(&arguments());
    let singles: Vec<f32> = arguments().into_iter().map(|x| x as f32).collect();
    compare(&singles);
}

macro_rules! memory {
    ($t:ty) => {
        impl Kernel<$t> for Memory {
            type Output = ();
            fn run<L: Lanes<$t>>(self) {
                let n = L::N;
                let values: Vec<$t> = (0u8..3 * 20).map(<$t>::from).collect();
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
                        let start = (3 * vertex) as $t;
                        assert_eq!(
                            [p.x.lane(i), p.y.lane(i), p.z.lane(i)],
                            [start, start + 1.0, start + 2.0]
                        );
                        assert_eq!(g.lane(i), vertex as $t);
                    }
                    let mut places = vec![-1.0; 1 + 5 * n];
                    L::store_four([p.x, p.y, p.z, p.x * p.x], &mut places, 1, 5);
                    for (i, &vertex) in vertices.iter().enumerate() {
                        let start = (3 * vertex) as $t;
                        let expected = [-1.0, start, start + 1.0, start + 2.0, start * start];
                        assert_eq!(places[5 * i..][..5], expected[..]);
                    }
                }
                let caught = |f: &(dyn Fn() + std::panic::RefUnwindSafe)| {
                    std::panic::catch_unwind(f).is_err()
                };
                let beyond = vec![20u32; n];
                let (v, b) = (&values, &beyond);
                assert!(caught(&move || {
                    L::load_vec3(v, b);
                }));
                assert!(caught(&move || {
                    L::store_four([L::one(); 4], &mut vec![0.0; 4 * n - 1], 0, 4);
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
    };
}
struct Memory;
memory!(f64);
memory!(f32);

#[test]
fn lanes_go_to_memory_and_back() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_supported()) {
        dispatch_on::<f64, _>(isa, Memory).unwrap();
        dispatch_on::<f32, _>(isa, Memory).unwrap();
    }
}
