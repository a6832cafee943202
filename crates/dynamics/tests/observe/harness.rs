//! A system, an interval with a state at each end, and the checks of derivatives.

use costate_dynamics::observe::{SignalObserver, SignalSet};
use costate_dynamics::rollout::{Interval, IntervalAdjoints, IntervalTangents, Observer};
use costate_dynamics::{Constants, StateAdjoint, StateTangents, StepInputs, System};
use costate_model::{
    GeomBuilder, GridSplit, MassRule, MaterialSettings, Model, Shape, SoftBuilder, SpringSettings,
    State, TetrahedraSettings,
};

/// Deterministic numbers in [−1, 1).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn fill(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// A block of two by one by one cells of 0.1 m with uneven masses, held at one vertex, tied by
/// springs along tetrahedron edges, one vertex on a path and its lower side below a floor, next to
/// a free particle.
pub fn model() -> Model {
    let mut model = Model::new("block");
    model.options.timestep = 1e-2;
    let grid = SoftBuilder::grid("block", [2, 1, 1], [0.1, 0.1, 0.1], GridSplit::Five);
    let n = grid.vertices().len();
    let tetrahedra = TetrahedraSettings {
        mass: MassRule::None,
        ..TetrahedraSettings::new(MaterialSettings::lame("neo-hookean", 1e3, 2e3), 1.0)
    };
    let springs = SpringSettings { stiffness: vec![40.0], damping: vec![0.3], rest_length: None };
    let ends = (0..n as u32 - 1).map(|i| [i, i + 1]).collect();
    grid.tetrahedra(tetrahedra)
        .with_springs(ends, springs)
        .vertex_mass((0..n).map(|i| 0.1 + 0.02 * i as f64).collect())
        .mass_damping(0.4)
        .region_where("end", |p| p[0] > 0.15)
        .fix(&[0])
        .path("grip", vec![3])
        .load("push", vec![5, 8])
        .build(&mut model)
        .unwrap();
    GeomBuilder::new("floor", Shape::Plane, &[])
        .pos([0.0, 0.0, 0.05])
        .normal([0.1, 0.0, 1.0])
        .slip_speed(1.0)
        .build(&mut model)
        .unwrap();
    SoftBuilder::new("dot", vec![[0.5, 0.0, 0.0]])
        .vertex_mass(vec![0.2])
        .build(&mut model)
        .unwrap();
    model
}

/// Everything an interval depends on, end to end: q₀, v₀, q₁, v₁, c, p, u.
pub struct Bench {
    pub system: System,
    pub observer: SignalObserver,
    pub step: usize,
    u: Vec<f64>,
    shape: [usize; 7],
}

impl Bench {
    pub fn new(model: &Model, set: &SignalSet, step: usize) -> Self {
        let system = System::new(model).unwrap();
        let observer = SignalObserver::new(&system, set).unwrap();
        let n = system.dof();
        let u = Random(99).fill(system.input_len());
        let shape = [n, n, n, n, system.layout().len, observer.parameters_len(), u.len()];
        Self { system, observer, step, u, shape }
    }

    /// The rest shape disturbed, moving, with the leaves' values for p.
    pub fn disturbed(&self, random: &mut Random) -> Vec<f64> {
        let c = self.system.derive(&self.system.theta()).unwrap();
        let start = self.system.initial_state(&c, &vec![0.0; self.u.len()]);
        let n = self.system.dof();
        let mut z: Vec<f64> = start.q.iter().map(|x| x + 0.02 * random.next()).collect();
        z.extend(random.fill(n));
        let end: Vec<f64> = z[..n].iter().map(|x| x + 0.01 * random.next()).collect();
        z.extend(end);
        z.extend(random.fill(n));
        z.extend(&c.values);
        z.extend(self.observer.leaves().theta());
        z.extend(&self.u);
        z
    }

    fn part<'a>(&self, z: &'a [f64], i: usize) -> &'a [f64] {
        let start: usize = self.shape[..i].iter().sum();
        &z[start..start + self.shape[i]]
    }

    fn with<R>(&self, z: &[f64], visit: impl FnOnce(Interval) -> R) -> R {
        let h = self.system.timestep();
        let state = |q: usize, k: usize| State {
            time: k as f64 * h,
            q: self.part(z, q).to_vec(),
            v: self.part(z, q + 1).to_vec(),
            act: Vec::new(),
        };
        visit(Interval {
            system: &self.system,
            c: &Constants { values: self.part(z, 4).to_vec() },
            p: self.part(z, 5),
            step: self.step,
            start: &state(0, self.step),
            end: &state(2, self.step + 1),
            u: StepInputs { now: self.part(z, 6), next: self.part(z, 6) },
        })
    }

    pub fn observe(&self, z: &[f64]) -> Vec<f64> {
        let mut y = vec![f64::NAN; self.observer.len()];
        self.with(z, |at| self.observer.observe(at, &mut y));
        y
    }

    /// Tangents along some directions, one column each.
    pub fn pushforward(&self, z: &[f64], directions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let columns = directions.len();
        let pack = |i: usize| -> Vec<f64> {
            directions.iter().flat_map(|d| self.part(d, i).iter().copied()).collect()
        };
        let (start, end) = (
            StateTangents { columns, q: pack(0), v: pack(1), act: Vec::new() },
            StateTangents { columns, q: pack(2), v: pack(3), act: Vec::new() },
        );
        let tangents = IntervalTangents {
            columns,
            start: &start,
            end: &end,
            c: &pack(4),
            u: &pack(6),
            p: &pack(5),
        };
        let mut y_dot = vec![f64::NAN; columns * self.observer.len()];
        self.with(z, |at| self.observer.pushforward(at, tangents, &mut y_dot));
        y_dot.chunks(self.observer.len()).map(<[f64]>::to_vec).collect()
    }

    pub fn pullback(&self, z: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let zero = |i: usize| vec![0.0; self.shape[i]];
        let mut start = StateAdjoint { q: zero(0), v: zero(1), act: Vec::new() };
        let mut end = StateAdjoint { q: zero(2), v: zero(3), act: Vec::new() };
        let (mut c, mut p, mut u) = (zero(4), zero(5), zero(6));
        self.with(z, |at| {
            let adjoints = IntervalAdjoints {
                start: &mut start,
                end: &mut end,
                c: &mut c,
                u: &mut u,
                p: &mut p,
            };
            self.observer.pullback(at, y_bar, adjoints);
        });
        [start.q, start.v, end.q, end.v, c, p, u].concat()
    }

    /// Checks tangents against central differences (best width of a sweep, to 1e-7) and adjoints
    /// against tangents (to 1e-11), along directions in each part alone and in all at once.
    pub fn check(&self, seed: u64) {
        let random = &mut Random(seed);
        let z = self.disturbed(random);
        let mut directions = Vec::new();
        for i in 0..=7 {
            let mut direction = Vec::new();
            for (j, &n) in self.shape.iter().enumerate() {
                let on = i == j || i == 7;
                direction.extend(random.fill(n).iter().map(|x| if on { *x } else { 0.0 }));
            }
            // A time offset moves by a fraction of the step.
            for (id, leaf) in self.observer.leaves().iter() {
                if leaf.path.starts_with("recording.") {
                    let at = self.shape[..5].iter().sum::<usize>()
                        + self.observer.leaves().range(id).start;
                    direction[at] *= 0.1 * self.system.timestep();
                }
            }
            directions.push(direction);
        }
        let tangents = self.pushforward(&z, &directions);
        let y = self.observe(&z);
        assert!(y.iter().all(|y| y.is_finite()), "{y:?}");
        for (i, (direction, tangent)) in directions.iter().zip(&tangents).enumerate() {
            let error = self.difference(&z, direction, tangent, &y);
            assert!(error <= 1e-7, "part {i}: differences are off by {error:e}");
        }
        let y_bar = random.fill(y.len());
        let z_bar = self.pullback(&z, &y_bar);
        for (i, (direction, tangent)) in directions.iter().zip(&tangents).enumerate() {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let size =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum::<f64>();
            let (forward, reverse) = (dot(&y_bar, tangent), dot(&z_bar, direction));
            let scale = size(&y_bar, tangent).max(size(&z_bar, direction)).max(1e-300);
            let error = (forward - reverse).abs() / scale;
            assert!(error <= 1e-11, "part {i}: {forward} against {reverse}");
        }
    }

    fn difference(&self, z: &[f64], direction: &[f64], tangent: &[f64], y: &[f64]) -> f64 {
        let moved = |width: f64| -> Vec<f64> {
            let z: Vec<f64> = z.iter().zip(direction).map(|(z, d)| z + width * d).collect();
            self.observe(&z)
        };
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut best = f64::INFINITY;
        for exponent in 2..9 {
            let width = 10f64.powi(-exponent);
            let (plus, minus) = (moved(width), moved(-width));
            let error: Vec<f64> =
                (0..y.len()).map(|i| (plus[i] - minus[i]) / (2.0 * width) - tangent[i]).collect();
            // Where nothing changes, rounding of the values is all there is.
            let scale = norm(tangent).max(1e-6 * norm(y));
            best = best.min(norm(&error) / scale);
        }
        best
    }
}
