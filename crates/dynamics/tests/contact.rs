//! Contact: proofs of every shape under every law, and the points where formulas have a corner.

mod common;
#[path = "common/proof.rs"]
mod proof;

use costate_dynamics::contact::CONTACT_LAWS;
use costate_dynamics::{Adjoints, At, DynamicsError, Force, System, Tangents};
use costate_model::{GeomBuilder, Model, Shape, SoftBuilder};
use proof::{noise, prove};
use proptest::prelude::*;

const SHAPES: [Shape; 4] = [Shape::Plane, Shape::Sphere, Shape::Box, Shape::Capsule];

fn size(shape: Shape) -> &'static [f64] {
    match shape {
        Shape::Plane => &[],
        Shape::Sphere => &[0.3],
        Shape::Box => &[0.3, 0.2, 0.25],
        Shape::Capsule => &[0.15, 0.2],
    }
}

/// How friction starts.
#[derive(Clone, Copy, Debug)]
enum Slip {
    Speed(f64),
    Slope(f64),
}

/// Particles of radius 0.1 m around a turned and shifted geom.
fn scene(shape: Shape, law: &str, slip: Slip, x: &[[f64; 3]], v: Vec<f64>) -> Model {
    let mut model = Model::new("contact");
    model.options.timestep = 1e-4;
    let n = x.len();
    SoftBuilder::new("p", x.to_vec())
        .vertex_mass((0..n).map(|i| 0.1 + 0.01 * i as f64).collect())
        .radius((0..n).map(|i| 0.1 + 0.002 * i as f64).collect())
        .start_velocity(v)
        .mass_damping(0.1)
        .build(&mut model)
        .unwrap();
    let geom = GeomBuilder::new("g", shape, size(shape))
        .pos([0.1, -0.2, 0.3])
        .quat([1.8, 0.3, -0.5, 0.4])
        .law(law)
        .stiffness(800.0)
        .damping(3.0)
        .friction(0.6)
        .ramp(0.04);
    match slip {
        Slip::Speed(speed) => geom.slip_speed(speed),
        Slip::Slope(slope) => geom.friction_damping(slope),
    }
    .build(&mut model)
    .unwrap();
    model
}

/// Points in and around the geom of [`scene`].
fn cloud(seed: u64, n: usize) -> (Vec<[f64; 3]>, Vec<f64>) {
    let centre = [0.1, -0.2, 0.3];
    let x = (0..n).map(|i| [0, 1, 2].map(|k| centre[k] + 0.4 * noise(seed, 3 * i + k))).collect();
    (x, (0..3 * n).map(|i| noise(seed ^ 3, i)).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn moved(a: &[f64], along: &[f64], eps: f64) -> Vec<f64> {
    a.iter().zip(along).map(|(a, b)| a + eps * b).collect()
}

/// A force with its arguments and a direction for each.
struct Probe {
    system: System,
    x: Vec<f64>,
    v: Vec<f64>,
    c: Vec<f64>,
}

impl Probe {
    fn new(model: &Model) -> Self {
        let system = System::new(model).unwrap();
        let constants = system.derive(&system.theta()).unwrap();
        let start = system.initial_state(&constants, &[]);
        let c = constants.values[system.layout().forces[0].clone()].to_vec();
        Self { system, x: start.q, v: start.v, c }
    }
    fn force(&self) -> &dyn Force {
        self.system.forces()[0].as_ref()
    }
    fn evaluate(&self, x: &[f64], v: &[f64], c: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; x.len()];
        self.force().add_forces(c, At { x, v, u: &[] }, &mut f, &mut self.force().scratch());
        f
    }
    fn tangent(&self, x_dot: &[f64], v_dot: &[f64], c_dot: &[f64]) -> Vec<f64> {
        let mut f_dot = vec![0.0; self.x.len()];
        let tangents = Tangents { columns: 1, x: x_dot, v: v_dot, u: &[], c: c_dot };
        let at = At { x: &self.x, v: &self.v, u: &[] };
        self.force().pushforward(&self.c, at, tangents, &mut f_dot, &mut self.force().scratch());
        f_dot
    }
    fn adjoint(&self, lambda: &[f64]) -> [Vec<f64>; 3] {
        let mut bars = [vec![0.0; self.x.len()], vec![0.0; self.v.len()], vec![0.0; self.c.len()]];
        let [x, v, c] = &mut bars;
        let at = At { x: &self.x, v: &self.v, u: &[] };
        let adjoints = Adjoints { x, v, u: &mut [], c };
        self.force().pullback(&self.c, at, lambda, adjoints, &mut self.force().scratch());
        bars
    }
    fn energy(&self, x: &[f64], c: &[f64]) -> f64 {
        self.force().energy(c, At { x, v: &self.v, u: &[] })
    }
    fn energy_gradient(&self) -> [Vec<f64>; 2] {
        let (mut x, mut v) = (vec![0.0; self.x.len()], vec![0.0; self.v.len()]);
        let mut c = vec![0.0; self.c.len()];
        let at = At { x: &self.x, v: &self.v, u: &[] };
        let adjoints = Adjoints { x: &mut x, v: &mut v, u: &mut [], c: &mut c };
        self.force().energy_pullback(&self.c, at, 1.0, adjoints);
        assert!(v.iter().all(|b| *b == 0.0));
        [x, c]
    }
}

/// Best error of central differences of `f` at 0 over a sweep of widths.
fn best_error(f: impl Fn(f64) -> Vec<f64>, expected: &[f64]) -> f64 {
    let mut best = f64::INFINITY;
    for eps in [1e-4, 1e-5, 1e-6, 1e-7] {
        let (up, down) = (f(eps), f(-eps));
        let error: Vec<f64> =
            (0..up.len()).map(|i| (up[i] - down[i]) / (2.0 * eps) - expected[i]).collect();
        best = best.min(dot(&error, &error).sqrt());
    }
    best
}

fn prove_force(shape: Shape, law: &str, slip: Slip, seed: u64) {
    let (x, v) = cloud(seed, 12);
    let probe = Probe::new(&scene(shape, law, slip, &x, v));
    let direction = |n: usize, salt: u64, values: &[f64]| -> Vec<f64> {
        (0..n).map(|i| (values[i].abs() + 0.1) * noise(seed ^ salt, i)).collect()
    };
    let x_dot = direction(probe.x.len(), 11, &vec![0.0; probe.x.len()]);
    let v_dot = direction(probe.v.len(), 12, &probe.v);
    let c_dot = direction(probe.c.len(), 13, &probe.c);
    let f_dot = probe.tangent(&x_dot, &v_dot, &c_dot);
    let scale = dot(&f_dot, &f_dot).sqrt();
    let name = format!("{shape:?} {law} {slip:?} {seed}");
    let error = best_error(
        |e| {
            probe.evaluate(
                &moved(&probe.x, &x_dot, e),
                &moved(&probe.v, &v_dot, e),
                &moved(&probe.c, &c_dot, e),
            )
        },
        &f_dot,
    );
    assert!(error <= 1e-7 * scale.max(1.0), "{name}: {error:e} of {scale:e}");

    let lambda = direction(probe.x.len(), 14, &vec![1.0; probe.x.len()]);
    let [x_bar, v_bar, c_bar] = probe.adjoint(&lambda);
    let pulled = dot(&x_bar, &x_dot) + dot(&v_bar, &v_dot) + dot(&c_bar, &c_dot);
    let identity = (pulled - dot(&lambda, &f_dot)).abs();
    let size = scale * dot(&lambda, &lambda).sqrt();
    assert!(identity <= 1e-11 * size.max(1.0), "{name}: {identity:e} of {size:e}");

    let [x_bar, c_bar] = probe.energy_gradient();
    let along = dot(&x_bar, &x_dot) + dot(&c_bar, &c_dot);
    let energy =
        |e: f64| vec![probe.energy(&moved(&probe.x, &x_dot, e), &moved(&probe.c, &c_dot, e))];
    let error = best_error(energy, &[along]);
    assert!(error <= 1e-7 * along.abs().max(1.0), "{name}: energy {error:e} of {along:e}");

    // Without damping and friction the force is the energy's.
    let mut elastic = probe.c.clone();
    elastic[11] = 0.0;
    elastic[12] = 0.0;
    let f = probe.evaluate(&probe.x, &probe.v, &elastic);
    let difference: f64 = f.iter().zip(&x_bar).map(|(a, b)| (a + b).abs()).sum();
    assert!(difference <= 1e-11 * (1.0 + dot(&f, &f).sqrt()), "{name}: {difference:e}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_shape_under_every_law(seed in any::<u64>()) {
        for shape in SHAPES {
            for law in CONTACT_LAWS {
                for slip in [Slip::Speed(0.3), Slip::Slope(20.0)] {
                    prove_force(shape, law, slip, seed);
                }
            }
        }
    }
}

#[test]
fn whole_steps_by_every_leaf() {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for law in CONTACT_LAWS {
            let seed = 40 + i as u64;
            let (x, v) = cloud(seed, 6);
            let slip = if i % 2 == 0 { Slip::Speed(0.3) } else { Slip::Slope(20.0) };
            prove(&System::new(&scene(shape, law, slip, &x, v)).unwrap(), 3, seed);
        }
    }
}

/// Every derivative at the given points is finite.
fn finite_at(shape: Shape, points: &[[f64; 3]], v: &[f64], radius: f64) {
    for law in CONTACT_LAWS {
        for slip in [Slip::Speed(0.3), Slip::Slope(20.0)] {
            let model = scene(shape, law, slip, points, v.to_vec())
                .with("geom.g.pos", &[0.0; 3])
                .and_then(|m| m.with("geom.g.quat", &[1.0, 0.0, 0.0, 0.0]))
                .and_then(|m| m.with("soft.p.radius", &[radius]))
                .unwrap();
            for zero in ["", "stiffness", "damping", "friction", "ramp"] {
                let model = match zero {
                    "" => model.clone(),
                    leaf => model.with(&format!("geom.g.{leaf}"), &[0.0]).unwrap(),
                };
                let probe = Probe::new(&model);
                let name = format!("{shape:?} {law} {slip:?} without {zero}");
                let f = probe.evaluate(&probe.x, &probe.v, &probe.c);
                assert!(f.iter().all(|f| f.is_finite()), "{name}: {f:?}");
                for i in 0..probe.x.len() + probe.v.len() + probe.c.len() {
                    let unit = |start: usize, n: usize| -> Vec<f64> {
                        (0..n).map(|j| f64::from(start + j == i)).collect()
                    };
                    let (nx, nv) = (probe.x.len(), probe.v.len());
                    let f_dot =
                        probe.tangent(&unit(0, nx), &unit(nx, nv), &unit(nx + nv, probe.c.len()));
                    assert!(f_dot.iter().all(|f| f.is_finite()), "{name}: {i} {f_dot:?}");
                }
                let bars = probe.adjoint(&vec![1.0; probe.x.len()]);
                assert!(bars.iter().flatten().all(|b| b.is_finite()), "{name}");
                assert!(probe.energy_gradient().iter().flatten().all(|b| b.is_finite()), "{name}");
            }
        }
    }
}

/// Motions at a corner of the formulas: at rest, straight in, straight out, sliding, barely.
const SPEEDS: [[f64; 3]; 6] = [
    [0.0; 3],
    [0.0, 0.0, -1.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0],
    [1e-200, 0.0, -1e-200],
    [0.0, 1e-12, 0.0],
];

#[test]
fn no_corner_gives_a_derivative_that_is_not_finite() {
    let ends = [0.0, 1e-300, 1e-170, 1e-12, -1e-12, -1e-170];
    for shape in SHAPES {
        let s = size(shape);
        let mut points: Vec<[f64; 3]> = Vec::new();
        for e in ends {
            match shape {
                Shape::Plane => points.push([0.3, 0.1, e]),
                // Surface, centre.
                Shape::Sphere => points.extend([[0.0, 0.0, s[0] + e], [e, 0.0, 0.0], [e; 3]]),
                // Centre, faces, edges, corners, halving planes, middle planes.
                Shape::Box => points.extend([
                    [e; 3],
                    [0.0, e, s[2] + e],
                    [s[0] + e, s[1] + e, 0.0],
                    [s[0] + e, -s[1] - e, s[2] + e],
                    [s[0] - 0.05, s[1] - 0.05, s[2] - 0.05 + e],
                ]),
                // Axis, its ends, where cylinder and cap meet.
                Shape::Capsule => points.extend([
                    [e, 0.0, 0.1],
                    [0.0, e, s[1]],
                    [s[0] + e, 0.0, s[1]],
                    [0.0, 0.0, s[0] + s[1] + e],
                ]),
            }
        }
        for speed in SPEEDS {
            let v = points.iter().flat_map(|_| speed).collect::<Vec<f64>>();
            for radius in [0.0, 0.1] {
                finite_at(shape, &points, &v, radius);
            }
        }
    }
}

/// Distance and normal of a box in each of its regions, and the faces that ties go to.
#[test]
fn a_box_pushes_out_through_the_nearest_feature() {
    let push = |p: [f64; 3]| {
        let model = scene(Shape::Box, "warp", Slip::Slope(0.0), &[p], vec![0.0; 3])
            .with("geom.g.pos", &[0.0; 3])
            .and_then(|m| m.with("geom.g.quat", &[1.0, 0.0, 0.0, 0.0]))
            .unwrap();
        let probe = Probe::new(&model);
        probe.evaluate(&probe.x, &probe.v, &probe.c).iter().map(|f| f / 800.0).collect::<Vec<_>>()
    };
    let close = |a: Vec<f64>, b: [f64; 3]| {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
    };
    // Half lengths 0.3, 0.2, 0.25; radius 0.1.
    close(push([0.35, 0.1, 0.0]), [0.05, 0.0, 0.0]);
    close(push([0.1, -0.21, 0.0]), [0.0, -0.09, 0.0]);
    close(push([0.33, 0.24, 0.0]), [0.6 * 0.05, 0.8 * 0.05, 0.0]);
    let d = 0.05 / 3f64.sqrt();
    close(push([0.3 + d, -0.2 - d, 0.25 + d]), [d, -d, d]);
    close(push([0.28, 0.0, 0.1]), [0.12, 0.0, 0.0]);
    close(push([0.0, 0.15, -0.23]), [0.0, 0.0, -0.12]);
    // On the surface; as deep under y as under z; at the centre, nearest to the faces of y.
    close(push([0.3, 0.0, 0.0]), [0.1, 0.0, 0.0]);
    close(push([0.0, 0.15, 0.2]), [0.0, 0.0, 0.15]);
    close(push([0.0; 3]), [0.0, 0.3, 0.0]);
    close(push([0.5, 0.0, 0.0]), [0.0; 3]);
}

#[test]
fn the_smooth_law_never_pulls_and_is_c1() {
    use costate_dynamics::contact::laws::{ContactLaw, ContactParameters, Push, Smooth};
    use costate_num::{DualN, Scalar};
    type D = DualN<f64, 2>;
    let constant = |x: f64| D::splat(x);
    let parameters = ContactParameters {
        stiffness: constant(1e3),
        damping: constant(10.0),
        friction: constant(0.5),
        slip: constant(0.01),
        ramp: constant(1e-3),
    };
    let at = |d: f64, a: f64| {
        let Push { normal, load } = Smooth::push(D::variable(d, 0), D::variable(a, 1), &parameters);
        assert_eq!(normal, load);
        normal
    };
    for i in 1..200 {
        for j in -100..100 {
            let push = at(i as f64 * 2e-5, f64::from(j) * 0.05);
            assert!(push.value >= 0.0 && push.value.is_finite());
        }
    }
    let same = |p: D, q: D, scale: [f64; 2]| {
        for k in 0..2 {
            let gap = (p.tangent[k] - q.tangent[k]).abs();
            assert!(gap < 1e-4 * scale[k], "{p:?} {q:?}");
        }
        assert!((p.value - q.value).abs() < 1e-6, "{p:?} {q:?}");
    };
    let scale = [1e3, 10.0];
    for a in [-2.0, -0.01, 0.0, 0.01, 2.0] {
        same(at(1e-9, a), constant(0.0), [1e3 * (1.0 + a.abs() * 100.0), 10.0]);
        same(at(1e-3 - 1e-10, a), at(1e-3 + 1e-10, a), [1e3 * (1.0 + 10.0 * a.abs()), 10.0]);
    }
    for d in [1e-5, 5e-4, 1e-3, 3e-3] {
        same(at(d, -1e-8), at(d, 1e-8), scale);
    }
    // The documented values.
    assert!((at(5e-4, 0.0).value - 1e3 * 2.5e-7 / 2e-3).abs() < 1e-15);
    assert!((at(3e-3, 0.2).value - (1e3 * 2.5e-3 + 2.0)).abs() < 1e-12);
    assert!((at(3e-3, -0.2).value - 2.5 * 2.5 / 4.5).abs() < 1e-12);
}

#[test]
fn laws_and_settings_that_do_not_exist_are_refused() {
    let model = scene(Shape::Plane, "sticky", Slip::Slope(0.0), &[[0.0; 3]], vec![0.0; 3]);
    let Err(error) = System::new(&model) else { panic!("accepted") };
    assert!(matches!(error, DynamicsError::UnknownLaw { kind: "contact", .. }));
    let text = error.to_string();
    assert!(text.contains("geom.g") && text.contains("smooth, warp, warp-shape"), "{text}");

    let mut model = scene(Shape::Plane, "smooth", Slip::Slope(0.0), &[[0.0; 3]], vec![0.0; 3]);
    model.geoms[0].contact.friction_damping = None;
    let Err(error) = System::new(&model) else { panic!("accepted") };
    assert!(error.to_string().contains("slip_speed"), "{error}");
}

/// The contact part of the stable-step bound is that of the motion: one vertex on a spring.
#[test]
fn contact_limits_the_step() {
    let model = scene(Shape::Plane, "warp", Slip::Slope(1.0), &[[0.0; 3]], vec![0.0; 3]);
    let probe = Probe::new(&model);
    let rates = probe.force().contact_rates(&probe.c, &[10.0, 0.0]).unwrap();
    assert_eq!((rates.0, rates.1), (8000.0, 30.0));
    let model = scene(Shape::Plane, "smooth", Slip::Speed(0.01), &[[0.0; 3]], vec![0.0; 3]);
    let probe = Probe::new(&model);
    // Friction of the vertex's own weight: 2 mu g / slip speed.
    let rates = probe.force().contact_rates(&probe.c, &[10.0]).unwrap();
    assert!((rates.1 - 2.0 * 0.6 * 9.81 / 0.01).abs() < 1e-9, "{rates:?}");
}

/// The jump term of laws that jump, for contacts that close on every shape: the adjoint is that of
/// the tangent, and the term is there.
#[test]
fn the_jump_term_has_its_adjoint() {
    use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for law in ["warp", "warp-shape", "smooth"] {
            let (x, v) = cloud(7 + i as u64, 40);
            let v = v.iter().map(|v| 3.0 * v).collect();
            let mut model = scene(shape, law, Slip::Slope(20.0), &x, v)
                .with("option.gravity", &[0.0; 3])
                .and_then(|m| m.with("soft.p.radius", &[0.05]))
                .unwrap();
            model.options.timestep = 2e-3;
            let mut run = |saltation: bool| {
                model.options.saltation = saltation;
                let system = System::new(&model).unwrap();
                let theta = system.theta();
                let c = system.derive(&theta).unwrap();
                let observer = common::States { at: vec![60], dof: system.dof() };
                let inputs = costate_model::Inputs::default();
                let run = Run::new(&system, &c, &inputs);
                let onsets = run.contact_report(60).unwrap().geoms[0].onsets;
                assert!(onsets > 3, "{shape:?}: {onsets}");
                let theta_dot: Vec<f64> = (0..theta.len()).map(|i| noise(3, i)).collect();
                let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
                let seeds = Seeds { columns: 1, c: c_dot, ..Seeds::default() };
                let y_dot = run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot;
                let y_bar: Vec<f64> = (0..y_dot.len()).map(|i| noise(4, i)).collect();
                let mut loss = |y: &[f64]| (dot(y, &y_bar), y_bar.clone());
                let options = AdjointOptions::default();
                let gradient = run.gradient(&observer, &[], &options, &mut loss).unwrap();
                let pulled = dot(&system.derive_pullback(&theta, &c, &gradient.c), &theta_dot);
                let pushed = dot(&y_bar, &y_dot);
                let size = dot(&y_dot, &y_dot).sqrt() * dot(&y_bar, &y_bar).sqrt();
                assert!((pulled - pushed).abs() <= 1e-11 * size, "{shape:?} {law}");
                y_dot
            };
            let (with, without) = (run(true), run(false));
            let change: f64 = with.iter().zip(&without).map(|(a, b)| (a - b).abs()).sum();
            assert_eq!(change > 1e-3, law != "smooth", "{shape:?} {law}: {change}");
        }
    }
}
