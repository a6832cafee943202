//! Tetrahedra: every material and damping law, its derivatives and what must hold physically.

mod common;
#[path = "common/proof.rs"]
mod proof;

use common::States;
use costate_dynamics::rollout::{AdjointOptions, Run};
use costate_dynamics::soft::{
    Corotated, Material, NeoHookean, Registry, StVenantKirchhoff, StableNeoHookean, Warp,
};
use costate_dynamics::{Adjoints, At, DynamicsError, System, Tangents, material_law};
use costate_model::{
    Bounds, Damping, DampingLaw, GridSplit, InputSignal, Inputs, MassRule, MaterialParameter,
    MaterialSettings, Model, ModelError, SoftBuilder, TetrahedraSettings,
};
use costate_num::{Dual, Mat3, Scalar, Vec3};
use proof::{noise, prove};
use proptest::prelude::*;

const LAWS: [&str; 5] =
    ["neo-hookean", "stable-neo-hookean", "st-venant-kirchhoff", "corotated", "warp"];

fn damping(law: DampingLaw) -> Damping {
    let stiffness = if law == DampingLaw::Warp { 0.0 } else { 2e-3 };
    Damping { law, viscosity: vec![0.4], stiffness: vec![stiffness] }
}

/// A grid of one by two by one cells, shaken by `amount` and moving at random.
fn body(law: &str, damping_law: DampingLaw, seed: u64, amount: f64) -> Model {
    let mut model = Model::new("grid");
    model.options.timestep = 1e-4;
    let split = if seed.is_multiple_of(2) { GridSplit::Five } else { GridSplit::Six };
    let grid = SoftBuilder::grid("b", [1, 2, 1], [0.1, 0.12, 0.09], split);
    let rest: Vec<f64> = grid.vertices().iter().flatten().copied().collect();
    let start = rest.iter().enumerate().map(|(i, x)| x + amount * noise(seed, i)).collect();
    let speed = (0..rest.len()).map(|i| noise(seed ^ 77, i)).collect();
    let count = grid.volumes().len();
    let field = |k: u64, base: f64| {
        (0..count).map(|e| base * (1.0 + 0.3 * noise(seed ^ k, e))).collect::<Vec<f64>>()
    };
    let mut material = if seed.is_multiple_of(3) {
        MaterialSettings::engineering(law, 2500.0, 0.3)
    } else {
        MaterialSettings::lame(law, 1000.0, 1500.0)
    };
    material.first = field(1, material.first[0]);
    let mass = match seed % 4 {
        0 => MassRule::Total(2.0),
        _ => MassRule::Density(field(2, 800.0)),
    };
    let settings = TetrahedraSettings {
        material,
        damping: damping(damping_law),
        mass,
        activation: field(3, 0.1),
        activation_input: None,
    };
    grid.position([0.1, -0.2, 0.3])
        .rotation([0.9, 0.1, -0.3, 0.2])
        .velocity([0.5, -1.0, 0.7])
        .angular_velocity([1.0, 2.0, -1.0])
        .start_position(start)
        .start_velocity(speed)
        .mass_damping(0.2)
        .tetrahedra(settings)
        .build(&mut model)
        .unwrap();
    model
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn derivatives_by_every_leaf(seed in 0u64..1_000_000) {
        for law in LAWS {
            for damping_law in [DampingLaw::FrameIndifferent, DampingLaw::Warp] {
                prove(&System::new(&body(law, damping_law, seed, 0.012)).unwrap(), 3, seed);
            }
        }
    }
}

/// One force of a system at a state, its energy and derivatives.
struct Probe {
    system: System,
    c: Vec<f64>,
    x: Vec<f64>,
    v: Vec<f64>,
}

impl Probe {
    fn new(model: &Model) -> Self {
        let system = System::new(model).unwrap();
        let constants = system.derive(&system.theta()).unwrap();
        let state = system.initial_state(&constants, &[]);
        let c = constants.values[system.layout().forces[0].clone()].to_vec();
        Self { system, c, x: state.q, v: state.v }
    }
    fn at(&self) -> At<'_> {
        At { x: &self.x, v: &self.v, u: &[] }
    }
    fn forces(&self) -> Vec<f64> {
        let force = &self.system.forces()[0];
        let mut f = vec![0.0; self.x.len()];
        force.add_forces(&self.c, self.at(), &mut f, &mut force.scratch());
        f
    }
    /// x̄, v̄ and c̄ of λ·f.
    fn pullback(&self, lambda: &[f64]) -> [Vec<f64>; 3] {
        let force = &self.system.forces()[0];
        let n = self.x.len();
        let (mut x, mut v, mut c) = (vec![0.0; n], vec![0.0; n], vec![0.0; self.c.len()]);
        let adjoints = Adjoints { x: &mut x, v: &mut v, u: &mut [], c: &mut c, work: &mut [] };
        force.pullback(&self.c, self.at(), lambda, adjoints, &mut force.scratch());
        [x, v, c]
    }
    fn pushforward(&self, x_dot: &[f64], v_dot: &[f64], c_dot: &[f64]) -> Vec<f64> {
        let force = &self.system.forces()[0];
        let mut f = vec![0.0; self.x.len()];
        let tangents = Tangents { columns: 1, x: x_dot, v: v_dot, u: &[], c: c_dot };
        force.pushforward(&self.c, self.at(), tangents, &mut f, &mut force.scratch());
        f
    }
}

fn random(seed: u64, n: usize) -> Vec<f64> {
    (0..n).map(|i| noise(seed, i)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A single tetrahedron with the given deformation gradient.
fn single(law: &str, f: [f64; 9]) -> Model {
    let mut model = Model::new("one");
    let rest = [[0.0; 3], [0.1, 0.01, 0.0], [0.0, 0.12, 0.02], [0.01, 0.0, 0.09]];
    let f = Mat3::from_rows(f);
    let start = rest.iter().flat_map(|&x| f.apply(Vec3::from_array(x)).to_array()).collect();
    let mut settings = TetrahedraSettings::new(MaterialSettings::lame(law, 1000.0, 1500.0), 900.0);
    settings.damping = damping(DampingLaw::FrameIndifferent);
    settings.activation = vec![0.05];
    SoftBuilder::new("b", rest.to_vec())
        .start_position(start)
        .start_velocity(random(5, 12))
        .with_tetrahedra(vec![[0, 1, 2, 3]])
        .tetrahedra(settings)
        .build(&mut model)
        .unwrap();
    model
}

#[test]
fn elastic_forces_are_minus_the_gradient_of_the_energy() {
    for law in LAWS {
        let mut model = body(law, DampingLaw::FrameIndifferent, 7, 0.012);
        for leaf in ["soft.b.damping", "soft.b.stiffness_damping"] {
            model = model.with(leaf, &[0.0]).unwrap();
        }
        let mut probe = Probe::new(&model);
        let f = probe.forces();
        let force = |p: &Probe| p.system.forces()[0].energy(&p.c, p.at());
        let direction = random(3, f.len());
        let (x0, expected) = (probe.x.clone(), -dot(&f, &direction));
        let mut best = f64::INFINITY;
        for eps in [1e-4, 1e-5, 1e-6, 1e-7] {
            let mut at = |sign: f64| {
                for i in 0..x0.len() {
                    probe.x[i] = x0[i] + sign * eps * direction[i];
                }
                force(&probe)
            };
            best = f64::min(best, ((at(1.0) - at(-1.0)) / (2.0 * eps) - expected).abs());
        }
        assert!(best <= 1e-7 * expected.abs(), "{law}: {best:e} of {expected:e}");
    }
}

/// Flat, inverted, collapsed to a point, mirrored, at rest: force and derivatives are finite and
/// consistent for the laws that exist there.
#[test]
fn extreme_shapes_are_finite() {
    let shapes = [
        ("rest", [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        ("turned", [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ("flat", [1.0, 0.2, 0.0, 0.1, 0.8, 0.0, 0.0, 0.0, 0.0]),
        ("line", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        ("point", [0.0; 9]),
        ("inverted", [1.1, 0.1, 0.0, 0.0, 0.9, 0.2, 0.1, 0.0, -0.6]),
        ("mirrored", [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]),
        ("stretched", [5.0, 0.1, 0.0, 0.0, 0.3, 0.2, 0.1, 0.0, 7.0]),
    ];
    for law in LAWS {
        for (name, f) in shapes {
            let probe = Probe::new(&single(law, f));
            let inside = Mat3::from_rows(f).determinant() > 0.0;
            let lambda = random(1, 12);
            let [x, v, c] = probe.pullback(&lambda);
            let all =
                || probe.forces().into_iter().chain(x.clone()).chain(v.clone()).chain(c.clone());
            if law == "neo-hookean" && !inside {
                assert!(!probe.forces().iter().all(|f| f.is_finite()), "{name}");
                continue;
            }
            assert!(all().all(|value| value.is_finite()), "{law} {name}");
            // The mirror image has no nearest rotation: the corotated tangent is cut off there.
            if law == "corotated" && ["line", "point", "mirrored"].contains(&name) {
                continue;
            }
            let (dx, dv, dc) = (random(2, 12), random(3, 12), random(4, probe.c.len()));
            let along = dot(&probe.pushforward(&dx, &dv, &dc), &lambda);
            let back = dot(&x, &dx) + dot(&v, &dv) + dot(&c, &dc);
            let scale = [&x, &v, &c].iter().map(|g| dot(g, g).sqrt()).fold(0.0, f64::max);
            assert!((along - back).abs() <= 1e-11 * scale, "{law} {name}: {along} {back}");
        }
    }
}

#[test]
fn inverting_a_neo_hookean_element_stops_the_run_and_names_it() {
    let mut flat = [0.0; 9];
    (flat[0], flat[4], flat[8]) = (1.0, 1.0, -0.2);
    let system = System::new(&single("neo-hookean", flat)).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let failure = Run::new(&system, &c, &Inputs::default()).rollout(10, 1).unwrap_err();
    let text = failure.error.to_string();
    assert!(matches!(failure.error, DynamicsError::Diverged { step: 1, .. }), "{text}");
    assert!(text.contains("soft.b tetrahedra number 0"), "{text}");
}

/// Uniform flight and rigid rotation, at rest or deformed, feel no damping; warp.sim's law does.
#[test]
fn rigid_motion_is_not_damped() {
    let with = |law: DampingLaw, viscosity: f64, omega: [f64; 3]| {
        let mut model = Model::new("m");
        let mut settings =
            TetrahedraSettings::new(MaterialSettings::lame("stable-neo-hookean", 1e3, 2e3), 900.0);
        let stiffness = if law == DampingLaw::Warp { 0.0 } else { viscosity };
        settings.damping = Damping { law, viscosity: vec![viscosity], stiffness: vec![stiffness] };
        let grid = SoftBuilder::grid("b", [2, 1, 1], [0.1; 3], GridSplit::Five);
        let bent = grid
            .vertices()
            .iter()
            .flat_map(|[x, y, z]| [x * 1.1, y + 0.5 * x * x, z - 0.2 * x * y])
            .collect();
        grid.start_position(bent)
            .position([3.0, 1.0, -2.0])
            .velocity([5.0, -7.0, 11.0])
            .angular_velocity(omega)
            .tetrahedra(settings)
            .build(&mut model)
            .unwrap();
        Probe::new(&model).forces()
    };
    let size =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    for (omega, brakes) in [([0.0; 3], "flight"), ([3.0, -20.0, 8.0], "rotation")] {
        let elastic = with(DampingLaw::FrameIndifferent, 0.0, omega);
        let damped = with(DampingLaw::FrameIndifferent, 10.0, omega);
        assert!(size(&elastic, &damped) < 1e-9, "{brakes}: {:e}", size(&elastic, &damped));
        let warp = with(DampingLaw::Warp, 10.0, omega);
        assert!(size(&elastic, &warp) > 1e-2, "{brakes}");
    }
}

fn linearised<M: Material<2>>() {
    let p = [700.0, 1100.0];
    let [mu, lambda] = M::lame_at_rest(&p);
    let h: Vec<f64> = random(11, 9);
    let dual = |i: usize| Dual::new(f64::from(u8::from(i.is_multiple_of(4))), h[i]);
    let f = Mat3::from_rows(std::array::from_fn(dual));
    let gradient = M::gradient(&f, &p.map(Dual::constant));
    let trace = h[0] + h[4] + h[8];
    for (i, s) in gradient.stress.to_rows().iter().enumerate() {
        let (r, c) = (i / 3, i % 3);
        let strain = (h[3 * r + c] + h[3 * c + r]) / 2.0;
        let hooke = 2.0 * mu * strain + if r == c { lambda * trace } else { 0.0 };
        assert!(s.value.abs() < 1e-10, "{}: stress at rest {}", M::NAME, s.value);
        assert!((s.tangent[0] - hooke).abs() < 1e-9, "{}: {} {hooke}", M::NAME, s.tangent[0]);
    }
    let at_rest = M::energy(&Mat3::<f64>::identity(), &p);
    assert!(at_rest.abs() < 1e-10, "{}: {at_rest}", M::NAME);
}

#[test]
fn lame_parameters_are_those_of_hookes_law_at_rest() {
    linearised::<NeoHookean>();
    linearised::<StableNeoHookean>();
    linearised::<StVenantKirchhoff>();
    linearised::<Corotated>();
    linearised::<Warp>();
}

/// Homogeneous stretch of F = diag(a, b, c): R = I, so the stress is Hooke's in F − I.
#[test]
fn corotated_stress_of_a_turned_stretch_is_closed_form() {
    let (angle, s) = (0.7f64, [1.3, 0.8, 1.1]);
    let (sin, cos) = angle.sin_cos();
    let turn = Mat3::from_rows([cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0]);
    let stretch = Mat3::from_rows([s[0], 0.0, 0.0, 0.0, s[1], 0.0, 0.0, 0.0, s[2]]);
    let (mu, lambda) = (3.0, 5.0);
    let stress = Corotated::gradient(&turn.matmul(stretch), &[mu, lambda]).stress;
    let own = turn.transpose().matmul(stress).to_rows();
    let trace = s[0] + s[1] + s[2] - 3.0;
    for i in 0..9 {
        let hooke = if i % 4 == 0 { 2.0 * mu * (s[i / 4] - 1.0) + lambda * trace } else { 0.0 };
        assert!((own[i] - hooke).abs() < 1e-13, "{i}: {} {hooke}", own[i]);
    }
}

/// The total mass is what its leaf says, whatever the rest shape.
#[test]
fn a_total_mass_is_spread_by_volume() {
    let model = body("warp", DampingLaw::FrameIndifferent, 4, 0.0);
    let system = System::new(&model).unwrap();
    let mut theta = system.theta();
    let range = model.leaves.range(model.leaves.find("soft.b.rest_position").unwrap());
    for i in range {
        theta[i] += 0.02 * noise(9, i);
    }
    let total: f64 = system.vertex_masses(&theta).iter().sum();
    assert!((total - 2.0).abs() < 1e-14, "{total}");
}

/// An activation given through an input channel is the activation given by the leaf, and its
/// adjoint is the sum over the elements.
#[test]
fn activation_inputs_add_to_the_leaf() {
    let build = |leaf: f64, input: bool| {
        let mut model = Model::new("m");
        let mut settings = TetrahedraSettings::new(MaterialSettings::lame("warp", 1e3, 2e3), 900.0);
        settings.activation = vec![leaf];
        settings.activation_input = input.then(|| "muscle".into());
        SoftBuilder::grid("b", [1, 1, 1], [0.1; 3], GridSplit::Five)
            .tetrahedra(settings)
            .load("tip", vec![0])
            .build(&mut model)
            .unwrap();
        System::new(&model).unwrap()
    };
    let end = |system: &System, input: bool| {
        let mut inputs = Inputs { signals: vec![None] };
        if input {
            inputs.signals.push(Some(InputSignal::constant(&[0.2])));
        }
        let c = system.derive(&system.theta()).unwrap();
        Run::new(system, &c, &inputs).rollout(20, 1).unwrap().states.pop().unwrap()
    };
    let (by_leaf, by_input) = (build(0.3, false), build(0.1, true));
    let (a, b) = (end(&by_leaf, false).q, end(&by_input, true).q);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));

    let c = by_input.derive(&by_input.theta()).unwrap();
    let state = by_input.initial_state(&c, &[0.0; 4]);
    let c = &c.values[by_input.layout().forces[0].clone()];
    let at = At { x: &state.q, v: &state.v, u: &[0.0, 0.0, 0.0, 0.2] };
    let force = &by_input.forces()[0];
    let lambda = random(8, 24);
    let (mut x, mut v, mut u, mut c_bar) =
        (vec![0.0; 24], vec![0.0; 24], vec![0.0; 4], vec![0.0; c.len()]);
    let adjoints = Adjoints { x: &mut x, v: &mut v, u: &mut u, c: &mut c_bar, work: &mut [] };
    force.pullback(c, at, &lambda, adjoints, &mut force.scratch());
    let zero = vec![0.0; 24];
    let tangents = Tangents { columns: 1, x: &zero, v: &zero, u: &[0.0, 0.0, 0.0, 1.0], c: &[] };
    let mut f = vec![0.0; 24];
    force.pushforward(c, at, tangents, &mut f, &mut force.scratch());
    assert!((dot(&f, &lambda) - u[3]).abs() < 1e-12 * u[3].abs(), "{} {}", dot(&f, &lambda), u[3]);
}

/// St. Venant-Kirchhoff as a user would write it: the energy alone.
struct Own;
impl Material<2> for Own {
    const NAME: &'static str = "own";
    fn energy<S: Scalar>(f: &Mat3<S>, p: &[S; 2]) -> S {
        StVenantKirchhoff::energy(f, p)
    }
    fn lame_at_rest<S: Scalar>(p: &[S; 2]) -> [S; 2] {
        *p
    }
}

#[test]
fn a_law_of_ones_own_gives_what_the_built_in_one_gives() {
    let mut model = Model::new("m");
    let parameter = |name: &str, value: f64| MaterialParameter {
        name: name.into(),
        unit: "Pa",
        bounds: Bounds::ANY,
        values: vec![value],
    };
    let own = vec![parameter("shear", 1e3), parameter("bulk", 2e3)];
    let bent: Vec<f64> = random(21, 24).iter().map(|r| 0.01 * r).collect();
    let grid = |settings, model: &mut Model| {
        let grid = SoftBuilder::grid("b", [1, 1, 1], [0.1; 3], GridSplit::Five);
        let start = grid.vertices().iter().flatten().zip(&bent).map(|(x, d)| x + d).collect();
        grid.start_position(start).tetrahedra(settings).build(model).unwrap();
    };
    grid(TetrahedraSettings::new(MaterialSettings::own("own", own.clone()), 900.0), &mut model);
    let mut registry = Registry::default();
    registry.register(material_law!(Own, 2));
    let system = System::with_registry(&model, &registry).unwrap();
    prove(&system, 2, 3);
    let mut built_in = Model::new("m");
    let material = MaterialSettings::lame("st-venant-kirchhoff", 1e3, 2e3);
    grid(TetrahedraSettings::new(material, 900.0), &mut built_in);
    let end = |system: &System| {
        let c = system.derive(&system.theta()).unwrap();
        Run::new(system, &c, &Inputs::default()).rollout(20, 1).unwrap().states.pop().unwrap().q
    };
    let (a, b) = (end(&system), end(&System::new(&built_in).unwrap()));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-13));

    // Unknown names and wrong numbers of parameters are refused.
    let text = System::new(&model).err().unwrap().to_string();
    assert!(text.contains("soft.b") && text.contains("`own`"), "{text}");
    let mut short = Model::new("m");
    grid(TetrahedraSettings::new(MaterialSettings::own("own", own[..1].into()), 900.0), &mut short);
    let error = System::with_registry(&short, &registry).err().unwrap();
    assert!(matches!(error, DynamicsError::Model(ModelError::Invalid { .. })), "{error}");
}

#[test]
fn warp_damping_refuses_a_damping_time() {
    let mut model = body("warp", DampingLaw::Warp, 1, 0.0);
    model = model.with("soft.b.stiffness_damping", &[1e-3]).unwrap();
    let text = System::new(&model).err().unwrap().to_string();
    assert!(text.contains("stiffness_damping"), "{text}");
}

/// A narrowed gradient has the same bits for the leaves that were wanted and no number for the
/// others.
#[test]
fn narrowed_gradients_are_the_same_or_not_numbers() {
    for (law, seed) in [(DampingLaw::FrameIndifferent, 5), (DampingLaw::Warp, 4)] {
        let model = body("stable-neo-hookean", law, seed, 0.012);
        let gradient = |wanted: Option<&[&str]>| {
            let mut system = System::new(&model).unwrap();
            if let Some(paths) = wanted {
                let ids: Vec<_> = paths.iter().map(|p| model.leaves.find(p).unwrap()).collect();
                system.narrow(&ids);
            }
            let (theta, inputs) = (system.theta(), Inputs::default());
            let c = system.derive(&theta).unwrap();
            let observer = States { at: vec![5], dof: system.dof() };
            let y_bar = random(3, 2 * system.dof());
            let mut loss = |y: &[f64]| (dot(y, &y_bar), y_bar.clone());
            let run = Run::new(&system, &c, &inputs);
            let g = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
            system.derive_pullback(&theta, &c, &g.c)
        };
        let whole = gradient(None);
        let lists: [&[&str]; 4] = [
            &["soft.b.velocity"],
            &["soft.b.activation", "soft.b.start_position"],
            &["soft.b.damping"],
            &["soft.b.rest_position"],
        ];
        for paths in lists {
            let narrowed = gradient(Some(paths));
            for (_, leaf) in model.leaves.iter() {
                let range = model.leaves.range(model.leaves.find(&leaf.path).unwrap());
                let wanted = paths.contains(&leaf.path.as_str());
                for i in range {
                    let same = narrowed[i].to_bits() == whole[i].to_bits();
                    assert!(if wanted { same } else { narrowed[i].is_nan() }, "{}", leaf.path);
                }
            }
        }
    }
}
