//! Particles around a geom, and its contact force with every derivative.

use costate_dynamics::{Adjoints, At, Force, System, Tangents};
use costate_model::{GeomBuilder, Model, Shape, SoftBuilder};

use crate::proof::noise;

pub const SHAPES: [Shape; 4] = [Shape::Plane, Shape::Sphere, Shape::Box, Shape::Capsule];

pub fn size(shape: Shape) -> &'static [f64] {
    match shape {
        Shape::Plane => &[],
        Shape::Sphere => &[0.3],
        Shape::Box => &[0.3, 0.2, 0.25],
        Shape::Capsule => &[0.15, 0.2],
    }
}

/// How friction starts.
#[derive(Clone, Copy, Debug)]
pub enum Slip {
    Speed(f64),
    Slope(f64),
}

/// Particles of radius 0.1 m around a turned and shifted geom.
pub fn scene(shape: Shape, law: &str, slip: Slip, x: &[[f64; 3]], v: Vec<f64>) -> Model {
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
pub fn cloud(seed: u64, n: usize) -> (Vec<[f64; 3]>, Vec<f64>) {
    let centre = [0.1, -0.2, 0.3];
    let x = (0..n).map(|i| [0, 1, 2].map(|k| centre[k] + 0.4 * noise(seed, 3 * i + k))).collect();
    (x, (0..3 * n).map(|i| noise(seed ^ 3, i)).collect())
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub fn moved(a: &[f64], along: &[f64], eps: f64) -> Vec<f64> {
    a.iter().zip(along).map(|(a, b)| a + eps * b).collect()
}

/// A force with its arguments and a direction for each.
pub struct Probe {
    pub system: System,
    pub x: Vec<f64>,
    pub v: Vec<f64>,
    pub c: Vec<f64>,
}

impl Probe {
    pub fn new(model: &Model) -> Self {
        let system = System::new(model).unwrap();
        let constants = system.derive(&system.theta()).unwrap();
        let start = system.initial_state(&constants, &[]);
        let c = constants.values[system.layout().forces[0].clone()].to_vec();
        Self { system, x: start.q, v: start.v, c }
    }
    pub fn force(&self) -> &dyn Force {
        self.system.forces()[0].as_ref()
    }
    pub fn evaluate(&self, x: &[f64], v: &[f64], c: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; x.len()];
        self.force().add_forces(c, At { x, v, u: &[] }, &mut f, &mut self.force().scratch());
        f
    }
    pub fn tangent(&self, x_dot: &[f64], v_dot: &[f64], c_dot: &[f64]) -> Vec<f64> {
        let mut f_dot = vec![0.0; self.x.len()];
        let tangents = Tangents { columns: 1, x: x_dot, v: v_dot, u: &[], c: c_dot };
        let at = At { x: &self.x, v: &self.v, u: &[] };
        self.force().pushforward(&self.c, at, tangents, &mut f_dot, &mut self.force().scratch());
        f_dot
    }
    pub fn adjoint(&self, lambda: &[f64]) -> [Vec<f64>; 3] {
        let mut bars = [vec![0.0; self.x.len()], vec![0.0; self.v.len()], vec![0.0; self.c.len()]];
        let [x, v, c] = &mut bars;
        let at = At { x: &self.x, v: &self.v, u: &[] };
        let adjoints = Adjoints { x, v, u: &mut [], c, work: &mut [] };
        self.force().pullback(&self.c, at, lambda, adjoints, &mut self.force().scratch());
        bars
    }
    pub fn energy(&self, x: &[f64], c: &[f64]) -> f64 {
        self.force().energy(c, At { x, v: &self.v, u: &[] })
    }
    pub fn energy_gradient(&self) -> [Vec<f64>; 2] {
        let (mut x, mut v) = (vec![0.0; self.x.len()], vec![0.0; self.v.len()]);
        let mut c = vec![0.0; self.c.len()];
        let at = At { x: &self.x, v: &self.v, u: &[] };
        let adjoints = Adjoints { x: &mut x, v: &mut v, u: &mut [], c: &mut c, work: &mut [] };
        self.force().energy_pullback(&self.c, at, 1.0, adjoints);
        assert!(v.iter().all(|b| *b == 0.0));
        [x, c]
    }
}
