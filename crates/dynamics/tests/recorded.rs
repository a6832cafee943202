//! Expression graphs and material laws recorded with them, against compiled code.

use costate_dynamics::expression::{BLOCK, Binary, Graph, Node, Program, Unary};
use costate_dynamics::rollout::Run;
use costate_dynamics::soft::{Material, NeoHookean, RecordedLaw, Registry, StableNeoHookean};
use costate_dynamics::{System, check};
use costate_model::{
    Bounds, GeomBuilder, GridSplit, InputSignal, Inputs, MassRule, MaterialParameter,
    MaterialSettings, Model, Shape, SoftBuilder, TetrahedraSettings,
};
use costate_num::{DualN, Mat3, Scalar};

/// A formula with every operation.
fn everything(g: &mut Graph, [x, y, z]: [Node; 3]) -> Node {
    let one = g.constant(1.0);
    let square = g.mul(x, x);
    let sum = g.add(square, one);
    let root = g.unary(Unary::Sqrt, sum);
    let log = g.unary(Unary::Ln, root);
    let sine = g.unary(Unary::Sin, y);
    let cosine = g.unary(Unary::Cos, z);
    let product = g.mul(sine, cosine);
    let exponent = g.unary(Unary::Exp, product);
    let tanh = g.unary(Unary::Tanh, z);
    let angle = g.binary(Binary::Atan2, y, root);
    let quotient = g.div(angle, sum);
    let below = g.binary(Binary::Less, x, y);
    let a = g.sub(exponent, quotient);
    let b = g.powi(z, -3);
    let chosen = g.select(below, a, b);
    let size = g.unary(Unary::Abs, chosen);
    let scaled = g.mul(log, tanh);
    g.add(size, scaled)
}

/// The same on numbers that carry derivatives.
fn direct<S: Scalar>([x, y, z]: [S; 3]) -> S {
    let sum = x * x + S::one();
    let root = sum.sqrt();
    let a = (y.sin() * z.cos()).exp() - y.atan2(root) / sum;
    let chosen = S::select(x.lt(y), a, z.powi(-3));
    chosen.abs() + root.ln() * z.tanh()
}

const POINTS: [[f64; 3]; 4] =
    [[0.3, 0.7, 1.9], [1.2, -0.4, 0.6], [-2.0, 0.5, -1.1], [0.9, 0.9, 2.5]];

#[test]
fn reverse_and_forward_derivatives_of_every_operation_agree_with_duals() {
    let mut g = Graph::new(6);
    let inputs: [Node; 3] = std::array::from_fn(|i| g.input(i));
    let rates: Vec<Node> = (3..6).map(|i| g.input(i)).collect();
    let y = everything(&mut g, inputs);
    let slopes = g.gradient(y, &inputs);
    let tangent = g.pushforward(&[y], &inputs, &rates);
    let second = g.gradient(slopes[2], &inputs);
    let outputs = [&[y], &slopes[..], &tangent, &second].concat();
    let program = Program::new(&g, &outputs);
    for p in POINTS {
        let rate = [0.4, -1.1, 0.8];
        let found = program.evaluate(&[p, rate].concat());
        let dual: [DualN<DualN<f64, 3>, 3>; 3] =
            std::array::from_fn(|i| DualN::variable(DualN::variable(p[i], i), i));
        let exact = direct(dual);
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} {b}");
        close(found[0], exact.value.value);
        let mut along = 0.0;
        for i in 0..3 {
            close(found[1 + i], exact.tangent[i].value);
            close(found[5 + i], exact.tangent[2].tangent[i]);
            along += rate[i] * exact.tangent[i].value;
        }
        close(found[4], along);
    }
}

#[test]
fn blocks_give_the_bits_of_single_evaluations() {
    let mut g = Graph::new(3);
    let inputs: [Node; 3] = std::array::from_fn(|i| g.input(i));
    let y = everything(&mut g, inputs);
    let slopes = g.gradient(y, &inputs);
    let program = Program::new(&g, &[&[y], &slopes[..]].concat());
    let mut scratch = vec![0.0; program.scratch_len()];
    program.prepare(&mut scratch);
    let value = |i: usize, lane: usize| POINTS[lane % 4][i] + 0.01 * lane as f64;
    for i in 0..3 {
        for lane in 0..BLOCK {
            scratch[i * BLOCK + lane] = value(i, lane);
        }
    }
    program.run(&mut scratch, BLOCK);
    for lane in 0..BLOCK {
        let one = program.evaluate(&[value(0, lane), value(1, lane), value(2, lane)]);
        for (k, x) in one.iter().enumerate() {
            assert_eq!(x.to_bits(), scratch[program.output(k) + lane].to_bits());
        }
    }
}

#[test]
fn odd_points_have_the_derivatives_that_numbers_have() {
    let mut g = Graph::new(2);
    let (x, y) = (g.input(0), g.input(1));
    let root = g.unary(Unary::Sqrt, x);
    let size = g.unary(Unary::Abs, x);
    let angle = g.binary(Binary::Atan2, x, y);
    let outputs: Vec<Node> =
        [root, size, angle].into_iter().flat_map(|f| g.gradient(f, &[x, y])).collect();
    assert_eq!(Program::new(&g, &outputs).evaluate(&[0.0, 0.0]), [0.0; 6]);
}

#[test]
fn equal_formulas_are_one_node_and_constants_fold() {
    let mut g = Graph::new(2);
    let (x, y) = (g.input(0), g.input(1));
    assert_eq!(g.add(x, y), g.add(y, x));
    let (zero, two) = (g.constant(0.0), g.constant(2.0));
    assert_eq!(g.add(x, zero), x);
    let half = g.div(x, two);
    assert_eq!(half, g.scale(0.5, x));
    let back = g.neg(x);
    assert_eq!(g.neg(back), x);
    let four = g.mul(two, two);
    assert_eq!(g.value(four), Some(4.0));
}

/// μ/2 (|F|² − 3) − μ ln J + λ/2 (ln J)² as a graph.
fn neo_hookean() -> RecordedLaw {
    let mut g = Graph::new(11);
    let f: [Node; 9] = std::array::from_fn(|i| g.input(i));
    let (mu, lambda) = (g.input(9), g.input(10));
    let mut norm = g.constant(-3.0);
    for x in f {
        let square = g.mul(x, x);
        norm = g.add(norm, square);
    }
    let mut j = g.constant(0.0);
    for i in 0..3 {
        let (a, b) = (
            g.mul(f[3 + (i + 1) % 3], f[6 + (i + 2) % 3]),
            g.mul(f[3 + (i + 2) % 3], f[6 + (i + 1) % 3]),
        );
        let minor = g.sub(a, b);
        let part = g.mul(f[i], minor);
        j = g.add(j, part);
    }
    let log = g.unary(Unary::Ln, j);
    let half_norm = g.scale(0.5, norm);
    let shear = g.sub(half_norm, log);
    let shear = g.mul(mu, shear);
    let square = g.mul(log, log);
    let half = g.scale(0.5, lambda);
    let bulk = g.mul(half, square);
    let energy = g.add(shear, bulk);
    RecordedLaw::new("recorded", g, energy).unwrap()
}

fn parameter(name: &str, values: Vec<f64>) -> MaterialParameter {
    MaterialParameter { name: name.into(), unit: "Pa", bounds: Bounds::POSITIVE, values }
}

fn model(law: &str, damping: f64) -> Model {
    let mut model = Model::new("block");
    model.options.timestep = 2e-4;
    let builder = SoftBuilder::grid("block", [3, 2, 2], [0.03, 0.03, 0.03], GridSplit::Five)
        .position([0.0, 0.0, 0.001])
        .velocity([0.3, 0.0, -1.0])
        .angular_velocity([1.0, 4.0, -2.0])
        .mass_damping(0.5);
    let quivering =
        (0..3 * builder.vertices().len()).map(|i| 0.5 * (1.3 * i as f64).sin()).collect();
    let builder = builder.start_velocity(quivering);
    let n = builder.tetrahedra_so_far().len();
    let field: Vec<f64> = (0..n).map(|e| 6e3 + 50.0 * e as f64).collect();
    let material = match law {
        "neo-hookean" => MaterialSettings {
            first: field,
            second: vec![2e4],
            ..MaterialSettings::lame(law, 1.0, 1.0)
        },
        _ => {
            MaterialSettings::own(law, vec![parameter("mu", field), parameter("lambda", vec![2e4])])
        }
    };
    let mut settings = TetrahedraSettings::new(material, 1000.0);
    settings.damping.viscosity = vec![2.0 * damping];
    settings.damping.stiffness = vec![1e-4 * damping];
    settings.activation = vec![0.05];
    settings.activation_input = Some("pull".into());
    settings.mass = MassRule::Total(0.1);
    builder.tetrahedra(settings).build(&mut model).unwrap();
    GeomBuilder::new("floor", Shape::Plane, &[])
        .stiffness(100.0)
        .damping(0.1)
        .slip_speed(0.5)
        .build(&mut model)
        .unwrap();
    model
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.register(neo_hookean());
    registry
}

fn inputs() -> Inputs {
    Inputs { signals: vec![Some(InputSignal::constant(&[0.02]))] }
}

#[test]
fn a_recorded_law_moves_as_the_compiled_one() {
    for damping in [0.0, 1.0] {
        let motions = ["neo-hookean", "recorded"].map(|law| {
            let system = System::with_registry(&model(law, damping), &registry()).unwrap();
            let c = system.derive(&system.theta()).unwrap();
            Run::new(&system, &c, &inputs()).rollout(200, 200).unwrap()
        });
        let [a, b] = motions.map(|m| m.states.last().unwrap().clone());
        for (a, b) in a.q.iter().zip(&b.q) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn every_derivative_of_a_recorded_law_is_proved() {
    for damping in [0.0, 1.0] {
        // In flight, so that no contact closes within the widths of the differences.
        let model =
            model("recorded", damping).with("soft.block.position", &[0.0, 0.0, 1.0]).unwrap();
        let system = System::with_registry(&model, &registry()).unwrap();
        let checks = check(&system, &inputs(), 40, None).unwrap();
        for c in &checks {
            assert!(c.passes(), "{c:?}");
        }
        let influences = |path: &str| checks.iter().any(|c| c.path == path && c.influences);
        for leaf in ["mu", "lambda", "damping", "stiffness_damping", "activation", "rest_position"]
        {
            assert!(influences(&format!("soft.block.{leaf}")), "{leaf}");
        }
    }
}

#[test]
fn lame_parameters_at_rest_follow_from_the_energy() {
    let [mu, lambda] = neo_hookean().lame_at_rest(&[3e3, 7e3]);
    assert!((mu - 3e3).abs() < 1e-9 && (lambda - 7e3).abs() < 1e-9, "{mu} {lambda}");
    assert_eq!(NeoHookean::lame_at_rest(&[3e3, 7e3]), [3e3, 7e3]);
    assert!(StableNeoHookean::energy(&Mat3::<f64>::identity(), &[3e3, 7e3]).abs() < 1e-9);
}

#[test]
fn laws_that_cannot_be_are_refused() {
    let refused = |inputs: usize| {
        let g = Graph::new(inputs);
        let energy = g.input(0);
        RecordedLaw::new("law", g, energy).unwrap_err().to_string()
    };
    assert!(refused(8).contains("F and the parameters"));
    assert!(refused(18).contains("at most 8"));
    let wrong = model("recorded", 0.0);
    let error = System::new(&wrong).err().unwrap().to_string();
    assert!(error.contains("no material law `recorded`"), "{error}");
}
