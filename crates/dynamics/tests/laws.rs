//! What the laws of triangles, hinges and springs must do at their special points.

use costate_dynamics::soft::{
    DiscreteShell, Element, Membrane, Spring, WarpHinge, dual3, tangent3,
};
use costate_num::{Dual, Vec3};

type V = Vec3<f64>;
type Indifferent = Membrane<false>;
type Warp = Membrane<true>;

fn v(x: f64, y: f64, z: f64) -> V {
    V::new(x, y, z)
}

/// Derivatives at (x, v, c) are finite, and pushforward and pullback agree on several directions.
fn sound<L, const N: usize, const P: usize, const C: usize>(x: [V; N], vel: [V; N], c: [f64; C])
where
    L: Element<N, P, C>,
{
    let f = L::force(&x, &vel, &c);
    assert!(f.iter().all(|f| f.norm().is_finite()), "{f:?}");
    let wave = |i: usize, k: usize| ((3 * i + k) as f64 * 1.3 + 0.4).sin();
    let vector = |i: usize| v(wave(i, 0), wave(i, 1), wave(i, 2));
    let lambda: [V; N] = std::array::from_fn(|i| vector(i + 17));
    let g = L::adjoint(&x, &vel, &c, &lambda);
    for direction in 0..3 {
        let (dx, dv, dc) = match direction {
            0 => (1.0, 0.0, 0.0),
            1 => (0.0, 1.0, 0.0),
            _ => (0.0, 0.0, 1.0),
        };
        let xd: [_; N] = std::array::from_fn(|i| dual3(x[i], vector(i + 5) * dx));
        let vd: [_; N] = std::array::from_fn(|i| dual3(vel[i], vector(i + 9) * dv));
        let cd: [_; C] = std::array::from_fn(|i| Dual::new(c[i], dc * wave(i, 7)));
        let tangent: f64 =
            L::force(&xd, &vd, &cd).iter().zip(&lambda).map(|(f, l)| tangent3(*f).dot(*l)).sum();
        let adjoint: f64 = (0..N)
            .map(|i| dx * g.x[i].dot(vector(i + 5)) + dv * g.v[i].dot(vector(i + 9)))
            .sum::<f64>()
            + (0..C).map(|i| dc * wave(i, 7) * g.c[i]).sum::<f64>();
        let size = g.x.iter().chain(&g.v).map(|g| g.norm()).sum::<f64>()
            + g.c.iter().map(|g| g.abs()).sum::<f64>();
        assert!(tangent.is_finite() && size.is_finite(), "{tangent} {size}");
        let error = (tangent - adjoint).abs();
        assert!(error <= 1e-11 * size + 1e-16, "{direction}: {tangent} {adjoint}");
    }
}

const REST: [V; 3] =
    [V { x: 0.0, y: 0.0, z: 0.0 }, V { x: 0.1, y: 0.0, z: 0.02 }, V { x: 0.03, y: 0.12, z: 0.0 }];

fn membrane(mu: f64, lambda: f64, damping: f64, drag: f64, lift: f64) -> [f64; 9] {
    Indifferent::derive(&REST, &[mu, lambda, damping, drag, lift, 0.0, 1.0])
}

fn scale<const N: usize>(x: [V; N], by: f64) -> [V; N] {
    x.map(|x| x * by)
}

fn largest<const N: usize>(f: &[V; N]) -> f64 {
    f.iter().map(|f| f.norm()).fold(0.0, f64::max)
}

#[test]
fn a_membrane_at_rest_is_free_of_stress_and_weighs_its_area() {
    let c = membrane(50.0, 70.0, 0.3, 0.5, 0.5);
    let f = Indifferent::force(&REST, &[v(0.0, 0.0, 0.0); 3], &c);
    assert!(largest(&f) < 1e-13, "{f:?}");
    assert!(Indifferent::energy(&REST, &c).abs() < 1e-15);
    let area = (REST[1] - REST[0]).cross(REST[2] - REST[0]).norm() / 2.0;
    let mass = Indifferent::mass(&REST, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
    assert!((mass - 3.0 * area).abs() < 1e-15);
}

#[test]
fn membrane_and_hinge_damping_ignore_flight_and_rotation() {
    let omega = v(3.0, -2.0, 5.0);
    let fly = |x: &V| v(4.0, 1.0, -2.0) + omega.cross(*x);
    let stretched = [REST[0], REST[1] * 1.2, REST[2] * 0.9];
    let still = [v(0.0, 0.0, 0.0); 3];
    let c = membrane(50.0, 70.0, 0.3, 0.0, 0.0);
    let moving = stretched.each_ref().map(fly);
    let (a, b) =
        (Indifferent::force(&stretched, &moving, &c), Indifferent::force(&stretched, &still, &c));
    let error = (0..3).map(|i| (a[i] - b[i]).norm()).fold(0.0, f64::max);
    assert!(error < 1e-13 * largest(&a), "{error}");
    // warp.sim's law lets uniform flight alone but brakes the rotation.
    let a = Warp::force(&stretched, &moving, &c);
    assert!((0..3).any(|i| (a[i] - b[i]).norm() > 1e-3 * largest(&a)));
    let a = Warp::force(&stretched, &[v(4.0, 1.0, -2.0); 3], &c);
    assert!((0..3).all(|i| (a[i] - b[i]).norm() < 1e-13 * largest(&a)));

    let x = fold(0.8);
    let moving = x.each_ref().map(fly);
    let c = DiscreteShell::derive(&fold(0.0), &[0.0, 1.0, 0.0]);
    assert!(largest(&DiscreteShell::force(&x, &moving, &c)) < 1e-12);
    assert!(largest(&WarpHinge::force(&x, &moving, &[0.0, 1.0, 0.0])) < 1e-12);
}

#[test]
fn damping_laws_agree_at_rest_without_rotation() {
    let c = membrane(0.0, 0.0, 0.3, 0.0, 0.0);
    // A symmetric velocity gradient in the plane of the triangle.
    let (t1, normal) = (REST[1], REST[1].cross(REST[2]));
    let t2 = normal.cross(t1);
    let rate = |x: &V| t1 * (2.0 * t1.dot(*x)) + t2 * (-500.0 * t2.dot(*x));
    let moving = REST.each_ref().map(rate);
    let (a, b) = (Indifferent::force(&REST, &moving, &c), Warp::force(&REST, &moving, &c));
    assert!(largest(&a) > 1e-6);
    assert!((0..3).all(|i| (a[i] - b[i]).norm() < 1e-12 * largest(&a)), "{a:?} {b:?}");
}

#[test]
fn no_area_stiffness_is_the_limit_of_little() {
    let x = [REST[0], REST[1] * 1.3, REST[2] + v(0.0, 0.02, 0.05)];
    let still = [v(0.1, 0.2, 0.3); 3];
    let none = membrane(50.0, 0.0, 0.3, 0.0, 0.0);
    let little = membrane(50.0, 1e-9, 0.3, 0.0, 0.0);
    let (a, b) = (Indifferent::force(&x, &still, &none), Indifferent::force(&x, &still, &little));
    assert!((0..3).all(|i| (a[i] - b[i]).norm() < 1e-9 * largest(&a)));
    sound::<Indifferent, 3, 7, 9>(x, still, none);
    sound::<Warp, 3, 7, 9>(x, still, none);
    sound::<Warp, 3, 7, 9>(x, still, membrane(0.0, 0.0, 0.0, 0.0, 0.0));
}

#[test]
fn triangles_without_area_have_finite_derivatives() {
    let c = membrane(50.0, 70.0, 0.3, 0.5, 0.5);
    let moving = [v(1.0, 2.0, -1.0), v(0.0, 1.0, 0.5), v(-1.0, 0.2, 0.0)];
    let line = [v(0.0, 0.0, 0.0), v(0.1, 0.0, 0.0), v(0.3, 0.0, 0.0)];
    for x in [line, [v(0.2, 0.1, 0.0); 3], [line[0], line[0], line[2]]] {
        sound::<Indifferent, 3, 7, 9>(x, moving, c);
        sound::<Warp, 3, 7, 9>(x, moving, c);
    }
}

#[test]
fn air_forces_are_finite_at_their_special_directions() {
    let c = membrane(0.0, 0.0, 0.0, 0.8, 0.6);
    let normal = REST[1].cross(REST[2]).normalize().0;
    for wind in [v(0.0, 0.0, 0.0), normal, -normal, REST[1], REST[2], v(1e-170, 0.0, 0.0)] {
        sound::<Indifferent, 3, 7, 9>(REST, [wind; 3], c);
    }
    // Opposite velocities add up to no wind at all.
    let cancel = [v(1.0, 0.5, 0.2), v(-1.0, -0.5, -0.2), v(0.0, 0.0, 0.0)];
    let f = Indifferent::force(&REST, &cancel, &c);
    assert_eq!(largest(&f), 0.0);
    // Drag in a wind along the normal: 0.9999 v k_d A v, on each vertex, against it.
    let drag_only = membrane(0.0, 0.0, 0.0, 0.8, 0.0);
    let f = Indifferent::force(&REST, &[normal * 2.0; 3], &drag_only);
    let area = REST[1].cross(REST[2]).norm() / 2.0;
    let expected = normal * (-0.8 * area * (0.9999f64 * 2.0).powi(2));
    assert!((0..3).all(|i| (f[i] - expected).norm() < 1e-14), "{f:?} {expected:?}");
}

/// Two right triangles of legs 0.1 over a common edge along y, folded up by `angle`.
fn fold(angle: f64) -> [V; 4] {
    let (s, c) = (angle / 2.0).sin_cos();
    [v(-0.1 * c, 0.02, 0.1 * s), v(0.1 * c, 0.05, 0.1 * s), v(0.0, 0.1, 0.0), v(0.0, 0.0, 0.0)]
}

/// θ of a hinge, read off the energy of the conservative law.
fn angle(x: &[V; 4]) -> f64 {
    let at = |rest: f64| DiscreteShell::energy(x, &[1.0, 0.0, rest]);
    // (θ − r)²/2 at r = ±1/2 differ by −θ while neither wraps.
    at(-0.5) - at(0.5)
}

#[test]
fn hinges_measure_their_angle_and_are_exact_when_flat() {
    for set in [-2.5, -1.0, -1e-9, 0.0, 1e-12, 0.3, 2.5] {
        let found = angle(&fold(set));
        assert!((found.abs() - f64::abs(set)).abs() < 1e-14, "{set} {found}");
    }
    let sign = angle(&fold(0.5)).signum();
    assert_eq!(angle(&fold(-0.5)).signum(), -sign);
    let still = [v(0.0, 0.0, 0.0); 4];
    let moving = [v(0.3, 0.1, 1.0), v(0.0, 0.4, -0.5), v(0.2, 0.0, 0.1), v(0.1, 0.1, -0.3)];
    for set in [0.0, 1e-9, 1e-4, 1.0, -3.0, std::f64::consts::PI] {
        for vel in [still, moving] {
            sound::<DiscreteShell, 4, 3, 3>(fold(set), vel, [0.3, 0.01, 0.2]);
            sound::<WarpHinge, 4, 3, 3>(fold(set), vel, [0.3, 0.01, 0.2]);
        }
    }
    // Bent out of flat by a at one tip, the tip's force is −k w θ/height with θ = a/height.
    let (k, w) = (0.7, 0.4);
    let mut x = fold(0.0);
    x[0].z = 1e-7;
    let f = DiscreteShell::force(&x, &still, &[k * w, 0.0, 0.0]);
    assert!((f[0].z + k * w * 1e-7 / 0.01).abs() < 1e-12 * k, "{f:?}");
}

#[test]
fn hinges_without_a_triangle_are_finite_and_do_not_bend() {
    let moving = [v(0.3, 0.1, 1.0), v(0.0, 0.4, -0.5), v(0.2, 0.0, 0.1), v(0.1, 0.1, -0.3)];
    let mut needle = fold(0.4);
    needle[0] = v(0.0, 0.05, 0.0);
    let mut point = fold(0.4);
    point[3] = point[2];
    for x in [needle, point, [v(1.0, 1.0, 1.0); 4]] {
        for c in [[0.3, 0.01, 0.2], [0.3, 0.01, 3.0]] {
            sound::<DiscreteShell, 4, 3, 3>(x, moving, c);
            sound::<WarpHinge, 4, 3, 3>(x, moving, c);
            assert_eq!(largest(&DiscreteShell::force(&x, &moving, &c)), 0.0);
        }
    }
    // warp.sim lets triangles with a normal below 1e-6 m² go unbent; the conservative law does not.
    let small = scale(fold(0.4), 1e-3);
    assert_eq!(largest(&WarpHinge::force(&small, &moving, &[0.3, 0.0, 0.0])), 0.0);
    assert!(largest(&DiscreteShell::force(&small, &moving, &[0.3, 0.0, 0.0])) > 1.0);
    let c = DiscreteShell::derive(&point, &[1.0, 1.0, 0.0]);
    assert!(c.iter().all(|c| c.is_finite()));
}

#[test]
fn rest_angles_near_a_half_turn_wrap() {
    let still = [v(0.0, 0.0, 0.0); 4];
    let sign = angle(&fold(0.5)).signum();
    // 3.2 rad is 2π − 3.2 on the other side.
    let beyond = fold(3.2);
    for rest in [3.1, 3.1 - std::f64::consts::TAU, 3.1 + std::f64::consts::TAU] {
        let c = DiscreteShell::derive(&fold(0.0), &[1.0, 0.0, sign * rest]);
        let energy = DiscreteShell::energy(&beyond, &c) / c[0];
        assert!((energy - 0.1f64.powi(2) / 2.0).abs() < 1e-13, "{energy}");
        sound::<DiscreteShell, 4, 3, 3>(beyond, still, c);
    }
}

/// Bent to a cylinder, a grid stores half the stiffness times the squared curvature per area.
#[test]
fn hinge_stiffness_is_flexural_rigidity() {
    let (n, a, radius) = (40usize, 0.01, 2.0);
    let at = |x: usize, y: usize, bent: bool| {
        let (s, y) = (x as f64 * a, y as f64 * a);
        if bent {
            let (sine, cosine) = (s / radius).sin_cos();
            v(radius * sine, y, radius * (1.0 - cosine))
        } else {
            v(s, y, 0.0)
        }
    };
    // The hinges of one cell away from the border: one along each direction, one diagonal.
    let mut energy = 0.0;
    let (x, y) = (n / 2, n / 2);
    for hinge in [
        [(x - 1, y + 1), (x + 1, y), (x, y), (x, y + 1)],
        [(x, y), (x + 1, y + 1), (x + 1, y), (x, y + 1)],
        [(x, y + 1), (x + 1, y - 1), (x, y), (x + 1, y)],
    ] {
        let rest = hinge.map(|(x, y)| at(x, y, false));
        let bent = hinge.map(|(x, y)| at(x, y, true));
        let c = DiscreteShell::derive(&rest, &[0.25, 0.0, 0.0]);
        energy += DiscreteShell::energy(&bent, &c);
    }
    let expected = 0.25 / (2.0 * radius * radius) * a * a;
    assert!((energy / expected - 1.0).abs() < 1e-4, "{energy} {expected}");
}

/// Case R43: a spring of rest length zero is smooth at zero length; one of positive rest length has
/// there no direction to push along and gives zero, with finite derivatives.
#[test]
fn case_r43_springs_of_zero_length() {
    let k = 30.0;
    let x = [v(0.1, 0.2, 0.3); 2];
    let moving = [v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0)];
    for rest in [0.0, 0.5] {
        sound::<Spring, 2, 3, 3>(x, moving, [k, 0.1, rest]);
        assert_eq!(largest(&Spring::force(&x, &moving, &[k, 0.1, rest])), 0.0);
    }
    let lambda = [v(1.0, 2.0, 3.0), v(0.0, 0.0, 0.0)];
    let g = Spring::adjoint(&x, &moving, &[k, 0.0, 0.0], &lambda);
    assert_eq!(g.x[0], lambda[0] * -k);
    assert_eq!(g.c[0], 0.0);
    // Squared length through the norm: E = k x·x/2 has ∂E/∂k = 0 and no gradient at zero.
    let xd = [dual3(x[0], lambda[0]), dual3(x[1], lambda[1])];
    let energy =
        Spring::energy(&xd, &[Dual::new(k, 1.0), Dual::constant(0.0), Dual::constant(0.0)]);
    assert_eq!((energy.value, energy.tangent[0]), (0.0, 0.0));
}

/// For small strains a strip resists with 4 μλ/(μ + λ) and narrows by (λ − μ)/(λ + μ).
#[test]
fn membrane_moduli_are_those_of_the_manual() {
    let (mu, lambda, strain) = (70.0, 110.0, 1e-5);
    let rest = [v(0.0, 0.0, 0.0), v(0.1, 0.0, 0.0), v(0.0, 0.1, 0.0)];
    let c = Indifferent::derive(&rest, &[mu, lambda, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let energy = |e1: f64, e2: f64, shear: f64| {
        let x = rest.map(|x| v(x.x * (1.0 + e1) + shear * x.y, x.y * (1.0 + e2), 0.0));
        Indifferent::energy(&x, &c) / 0.005
    };
    let poisson = (lambda - mu) / (lambda + mu);
    let stretched = energy(strain, -poisson * strain, 0.0) * 2.0 / (strain * strain);
    let modulus = 4.0 * mu * lambda / (mu + lambda);
    assert!((stretched / modulus - 1.0).abs() < 1e-4, "{stretched} {modulus}");
    let sheared = energy(0.0, 0.0, strain) * 2.0 / (strain * strain);
    assert!((sheared / mu - 1.0).abs() < 1e-4, "{sheared}");
    for e2 in [0.9, 1.1] {
        assert!(
            energy(strain, -poisson * strain * e2, 0.0) > energy(strain, -poisson * strain, 0.0)
        );
    }
}
