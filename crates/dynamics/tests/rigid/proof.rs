//! Proofs of the derivatives of a step: tangents against differences, adjoints against tangents.

use costate_dynamics::rigid::{
    Adjoint, At, DriveTangents, Integrator, Layout, Mechanism, RigidState, RigidTangents,
    StepRecords, TangentMethod, difference, displace,
};

use crate::tangent::{wave, waves};

pub const INTEGRATORS: [Integrator; 5] = [
    Integrator::Euler,
    Integrator::Rk4,
    Integrator::Implicit,
    Integrator::ImplicitFast,
    Integrator::Discrete,
];

/// Where a step is differentiated.
pub struct Point {
    pub mechanism: Mechanism,
    pub c: Vec<f64>,
    pub state: RigidState,
    pub ctrl: Vec<f64>,
    pub applied: Vec<f64>,
}

/// A direction in which everything moves.
#[derive(Clone, Default)]
pub struct Direction {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub act: Vec<f64>,
    pub ctrl: Vec<f64>,
    pub applied: Vec<f64>,
    pub c: Vec<f64>,
}

impl Point {
    fn at(&self) -> At<'_, f64> {
        self.state.under(&self.ctrl, &self.applied)
    }

    fn still(&self) -> Direction {
        Direction {
            q: vec![0.0; self.state.qvel.len()],
            v: vec![0.0; self.state.qvel.len()],
            act: vec![0.0; self.state.act.len()],
            ctrl: vec![0.0; self.ctrl.len()],
            applied: vec![0.0; self.applied.len()],
            c: vec![0.0; self.c.len()],
        }
    }

    /// This point moved along a direction.
    fn moved(&self, by: &Direction, size: f64) -> Point {
        let m = &self.mechanism;
        let move_by = |x: &[f64], d: &[f64]| -> Vec<f64> {
            x.iter().zip(d).map(|(x, d)| x + size * d).collect()
        };
        let scaled: Vec<f64> = by.q.iter().map(|d| size * d).collect();
        let mut qpos = self.state.qpos.clone();
        displace(&m.tree, &self.state.qpos, &scaled, &mut qpos);
        let state = RigidState {
            qpos,
            qvel: move_by(&self.state.qvel, &by.v),
            act: move_by(&self.state.act, &by.act),
        };
        let (ctrl, c) = (move_by(&self.ctrl, &by.ctrl), move_by(&self.c, &by.c));
        let applied = move_by(&self.applied, &by.applied);
        Point { mechanism: m.clone(), c, state, ctrl, applied }
    }

    fn step(&self, by: &Direction, size: f64) -> RigidState {
        let p = self.moved(by, size);
        let m = &p.mechanism;
        let mut next = RigidState::default();
        m.step(&p.c, p.at(), &[], &mut next, &mut m.workspace()).expect("it steps");
        next
    }

    /// What the sensors measure after a move.
    fn sense(&self, by: &Direction, size: f64) -> Vec<f64> {
        let p = self.moved(by, size);
        let m = &p.mechanism;
        let (mut ws, mut sensors, mut out) = (m.workspace(), m.sensor_workspace(), Vec::new());
        m.sense(&p.c, p.at(), 0.3, &[], &mut out, &mut ws, &mut sensors).expect("it measures");
        out
    }

    /// The tangents of the next state along directions, carried forward.
    fn push(&self, directions: &[Direction]) -> RigidTangents {
        self.push_by(directions, TangentMethod::Forward)
    }

    fn push_by(&self, directions: &[Direction], tangents: TangentMethod) -> RigidTangents {
        let m = Mechanism { tangents, ..self.mechanism.clone() };
        let (mut tangents, c_dot, ctrl, applied) = columns(directions);
        let drive = DriveTangents { ctrl: &ctrl, applied: &applied };
        let (mut ws, mut push) = (m.workspace(), m.push_workspace());
        let at = self.at();
        m.step_pushforward(&self.c, at, &[], &mut tangents, &c_dot, drive, &mut ws, &mut push)
            .expect("it steps");
        tangents
    }

    /// How the next state changes from `start`: configuration in its tangent space, velocity, activation.
    fn change(&self, start: &RigidState, by: &Direction, size: f64) -> Vec<f64> {
        let moved = self.step(by, size);
        let mut out = vec![0.0; start.qvel.len()];
        difference(&self.mechanism.tree, &start.qpos, &moved.qpos, &mut out);
        out.extend(moved.qvel.iter().zip(&start.qvel).map(|(a, b)| a - b));
        out.extend(moved.act.iter().zip(&start.act).map(|(a, b)| a - b));
        out
    }
}

/// Directions as columns: of the state, of the constants, of the controls, of applied forces.
fn columns(directions: &[Direction]) -> (RigidTangents, Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut tangents = RigidTangents { columns: directions.len(), ..RigidTangents::default() };
    let (mut c_dot, mut ctrl_dot, mut applied_dot) = (Vec::new(), Vec::new(), Vec::new());
    for d in directions {
        tangents.q.extend(&d.q);
        tangents.v.extend(&d.v);
        tangents.act.extend(&d.act);
        c_dot.extend(&d.c);
        ctrl_dot.extend(&d.ctrl);
        applied_dot.extend(&d.applied);
    }
    (tangents, c_dot, ctrl_dot, applied_dot)
}

/// A direction in one block of the constants that keeps axes and quaternions of unit length.
fn in_block(layout: &Layout, c: &[f64], name: &str, seed: usize) -> Vec<f64> {
    let mut out = vec![0.0; c.len()];
    let (_, block) = *layout.blocks().iter().find(|(n, _)| *n == name).expect("a block");
    let largest = c[block.range()].iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let small = if largest > 0.0 { 0.1 * largest.min(1.0) } else { 0.1 };
    for at in block.range() {
        let size = if c[at] == 0.0 { small } else { c[at].abs() };
        out[at] = size * wave(seed, at - block.start);
    }
    if ["jnt_axis", "body_quat", "body_iquat", "site_quat", "geom_quat"].contains(&name) {
        for i in 0..block.count {
            let along: f64 = block.entry(i).map(|at| out[at] * c[at]).sum();
            for at in block.entry(i) {
                out[at] -= along * c[at];
            }
        }
    }
    out
}

/// The directions that proofs take: state, controls, and each block of constants.
fn directions(p: &Point) -> Vec<(String, Direction)> {
    let (nv, na, nu) = (p.state.qvel.len(), p.state.act.len(), p.ctrl.len());
    let still = p.still();
    let mut out = vec![
        ("qpos".to_owned(), Direction { q: waves(1, nv), ..still.clone() }),
        ("qvel".to_owned(), Direction { v: waves(2, nv), ..still.clone() }),
        ("act".to_owned(), Direction { act: waves(3, na), ..still.clone() }),
        ("ctrl".to_owned(), Direction { ctrl: waves(4, nu), ..still.clone() }),
    ];
    if !p.applied.is_empty() {
        out.push(("applied".to_owned(), Direction { applied: waves(6, nv), ..still.clone() }));
    }
    let layout = &p.mechanism.layout;
    for (name, block) in layout.blocks() {
        // Friction that is zero can only grow, and then there is a row more.
        let nothing = p.c[block.range()].iter().all(|x| *x == 0.0);
        if block.count > 0 && !(nothing && name.contains("frictionloss")) {
            let c = in_block(layout, &p.c, name, 5);
            out.push((name.to_owned(), Direction { c, ..still.clone() }));
        }
    }
    out
}

fn flat(t: &RigidTangents, column: usize) -> Vec<f64> {
    let part = |x: &[f64]| {
        let n = x.len() / t.columns;
        x[column * n..(column + 1) * n].to_vec()
    };
    [part(&t.q), part(&t.v), part(&t.act)].concat()
}

/// A direction's product with adjoints.
fn along_adjoint(d: &Direction, bar: &Adjoint) -> f64 {
    let state = [(&d.q, &bar.q), (&d.v, &bar.v), (&d.act, &bar.act)];
    let inputs = [(&d.ctrl, &bar.ctrl), (&d.applied, &bar.applied), (&d.c, &bar.c)];
    let pairs = [state, inputs].concat();
    pairs.iter().flat_map(|(d, b)| d.iter().zip(b.iter())).map(|(x, y)| x * y).sum()
}

/// Smallest error, relative to `scale`, of extrapolated differences of a function of a move's size.
fn best_difference(exact: &[f64], scale: f64, at: impl Fn(f64) -> Vec<f64>) -> f64 {
    let central = |size: f64| -> Vec<f64> {
        at(size).iter().zip(at(-size)).map(|(a, b)| (a - b) / (2.0 * size)).collect()
    };
    let mut best = f64::INFINITY;
    for size in [1e-2, 1e-3, 1e-4, 1e-5] {
        let (wide, narrow) = (central(size), central(0.5 * size));
        let error: Vec<f64> =
            (0..exact.len()).map(|i| narrow[i] + (narrow[i] - wide[i]) / 3.0 - exact[i]).collect();
        best = best.min(norm(&error) / scale);
    }
    best
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Proves a step's derivatives; returns what fails. The numbers of rows are differenced only where `rows`
/// says so: impedances are clamped, and kept within bounds by the compiler.
pub fn prove(name: &str, p: &Point, rows: bool) -> Vec<String> {
    let directions = directions(p);
    let only: Vec<Direction> = directions.iter().map(|(_, d)| d.clone()).collect();
    let tangents = p.push(&only);
    let m = &p.mechanism;
    let (nv, na) = (m.tree.nv, m.tree.na);
    let mut failures = Vec::new();
    let by_rows = p.push_by(&only, TangentMethod::Rows);
    for (k, (what, d)) in directions.iter().enumerate() {
        let (a, b) = (flat(&tangents, k), flat(&by_rows, k));
        let error: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        // A column alone reaches the same constants.
        let alone = flat(&p.push_by(std::slice::from_ref(d), TangentMethod::Rows), 0);
        let apart: Vec<f64> = a.iter().zip(&alone).map(|(a, b)| a - b).collect();
        let error = norm(&error).max(norm(&apart)) / norm(&a).max(1e-3);
        let within = error <= 1e-10;
        if !within {
            failures.push(format!("{name} {what}: by rows {error:e}"));
        }
    }

    let mut bar = Adjoint::zeros(&m.tree, &m.layout);
    bar.q = waves(11, nv);
    bar.v = waves(12, nv);
    bar.act = waves(13, na);
    let along = tangents.dot(&bar);
    let seed = norm(&[bar.q.clone(), bar.v.clone(), bar.act.clone()].concat());
    let mut replayed = bar.clone();
    m.step_pullback(&p.c, p.at(), &[], &mut bar, &mut m.workspace()).expect("it steps");
    replay(p, &mut replayed);
    let whole = norm(&all_of(&bar));
    let error: Vec<f64> = all_of(&bar).iter().zip(all_of(&replayed)).map(|(a, b)| a - b).collect();
    let within = norm(&error) <= 1e-11 * whole.max(seed);
    if !within {
        failures.push(format!("{name}: from its record {:e} of {whole:e}", norm(&error)));
    }
    for (k, (what, d)) in directions.iter().enumerate() {
        let back = along_adjoint(d, &bar);
        let scale = norm(&flat(&tangents, k)).max(1e-3) * seed;
        let error = (back - along[k]).abs() / scale;
        let within = error <= 1e-11;
        if !within {
            failures.push(format!("{name} {what}: identity {error:e} ({back} for {})", along[k]));
        }
    }
    for (k, (what, d)) in directions.iter().enumerate() {
        let clamped = what.contains("sol") || what.contains("invweight") || what.contains("range");
        if !rows && clamped {
            continue;
        }
        let exact = flat(&tangents, k);
        let scale = norm(&exact).max(1e-4);
        let start = p.step(&p.still(), 0.0);
        let best = best_difference(&exact, scale, |size| p.change(&start, d, size));
        let within = best <= 1e-7;
        if !within {
            failures.push(format!("{name} {what}: difference {best:e} of {scale:e}"));
        }
    }
    failures
}

/// All adjoints, end to end.
fn all_of(bar: &Adjoint) -> Vec<f64> {
    let Adjoint { q, v, act, ctrl, applied, c } = bar;
    [&q[..], v, act, ctrl, applied, c].concat()
}

/// The adjoint of the step from what the step has left, in a workspace that has since done another step.
fn replay(p: &Point, bar: &mut Adjoint) {
    let m = &p.mechanism;
    let (mut ws, mut next) = (m.workspace(), RigidState::default());
    let mut records = StepRecords::default();
    m.step(&p.c, p.at(), &[], &mut next, &mut ws).expect("it steps");
    records.push(m, &ws);
    // Whatever comes of the next step, it writes to the workspace.
    let _ = m.step(&p.c, next.with(p.at().ctrl), &[], &mut RigidState::default(), &mut ws);
    m.replay_pullback(&p.c, p.at(), records.get(m, 0), bar, &mut ws).expect("it steps");
}

/// Proves a step's derivatives along one direction that can only be taken forward, from a bound; returns
/// what fails.
pub fn prove_from_bound(name: &str, p: &Point, c: Vec<f64>) -> Vec<String> {
    let d = Direction { c, ..p.still() };
    let tangents = p.push(std::slice::from_ref(&d));
    let exact = flat(&tangents, 0);
    let scale = norm(&exact).max(1e-3);
    let mut failures = Vec::new();
    let m = &p.mechanism;
    let mut bar = Adjoint::zeros(&m.tree, &m.layout);
    bar.q = waves(11, m.tree.nv);
    bar.v = waves(12, m.tree.nv);
    bar.act = waves(13, m.tree.na);
    let seed = norm(&[bar.q.clone(), bar.v.clone(), bar.act.clone()].concat());
    let along = tangents.dot(&bar)[0];
    m.step_pullback(&p.c, p.at(), &[], &mut bar, &mut m.workspace()).expect("it steps");
    let back = along_adjoint(&d, &bar);
    let within = (back - along).abs() <= 1e-11 * scale * seed;
    if !within {
        failures.push(format!("{name}: identity {back} for {along}"));
    }
    let start = p.step(&p.still(), 0.0);
    let forward =
        |size: f64| -> Vec<f64> { p.change(&start, &d, size).iter().map(|x| x / size).collect() };
    let mut best = f64::INFINITY;
    for size in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        let (wide, narrow) = (forward(size), forward(0.5 * size));
        let error: Vec<f64> =
            (0..exact.len()).map(|i| 2.0 * narrow[i] - wide[i] - exact[i]).collect();
        best = best.min(norm(&error) / scale);
    }
    let within = best <= 1e-7;
    if !within {
        failures.push(format!("{name}: difference {best:e} of {scale:e}"));
    }
    failures
}

/// Proves the derivatives of what each sensor measures; returns what fails.
pub fn prove_sensors(name: &str, p: &Point) -> Vec<String> {
    let directions = directions(p);
    let only: Vec<Direction> = directions.iter().map(|(_, d)| d.clone()).collect();
    let m = &p.mechanism;
    let (tangents, c_dot, ctrl, applied) = columns(&only);
    let drive = DriveTangents { ctrl: &ctrl, applied: &applied };
    let (mut ws, mut push) = (m.workspace(), m.push_workspace());
    let (mut sensors, mut y_dot) = (m.sensor_workspace(), Vec::new());
    let at = p.at();
    m.sense_pushforward(
        &p.c,
        at,
        &[],
        &tangents,
        &c_dot,
        drive,
        &mut y_dot,
        &mut ws,
        &mut push,
        &mut sensors,
    )
    .expect("it measures");
    let ny = m.sensor_values();
    let mut failures = Vec::new();
    for sensor in &m.tree.sensors {
        let mut y_bar = vec![0.0; ny];
        for i in sensor.data.clone() {
            y_bar[i] = wave(21, i);
        }
        let mut bar = Adjoint::zeros(&m.tree, &m.layout);
        m.sense_pullback(&p.c, at, &[], &y_bar, &mut bar, &mut ws, &mut sensors)
            .expect("it measures");
        for (k, (what, d)) in directions.iter().enumerate() {
            let own = &y_dot[k * ny..][sensor.data.clone()];
            let seeds = &y_bar[sensor.data.clone()];
            let forward: f64 = own.iter().zip(seeds).map(|(x, y)| x * y).sum();
            let back = along_adjoint(d, &bar);
            let scale = norm(own).max(1e-3) * norm(seeds);
            let error = (back - forward).abs() / scale;
            let within = error <= 1e-11;
            if !within {
                let kind = sensor.kind;
                failures.push(format!("{name} {kind:?} {what}: identity {back} for {forward}"));
            }
        }
    }
    for (k, (what, d)) in directions.iter().enumerate() {
        if what.contains("sol") || what.contains("invweight") || what.contains("range") {
            continue;
        }
        let all = &y_dot[k * ny..(k + 1) * ny];
        let scale = norm(all).max(1e-3);
        let best = best_difference(all, scale, |size| p.sense(d, size));
        let within = best <= 1e-7;
        if !within {
            failures.push(format!("{name} {what}: difference {best:e} of {scale:e}"));
        }
    }
    failures
}
