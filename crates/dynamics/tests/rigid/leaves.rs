//! Every leaf of every recorded model: the derivatives of states and sensors after a few steps, through
//! the derivation of the constants, against differences. What differences see must be there, and right.

use std::collections::BTreeSet;

use costate_dynamics::rigid::{
    Adjoint, Derivation, DriveTangents, Mechanism, RigidState, RigidTangents, difference,
};
use costate_model::Model;

use crate::compile::model;
use crate::reference::simulated;
use crate::tangent::waves;

/// Steps before what is compared.
const STEPS: usize = 3;

/// A model, where its motion starts, and what drives it.
pub struct Motion<'a> {
    pub model: &'a Model,
    pub derivation: Derivation,
    pub mechanism: Mechanism,
    pub start: RigidState,
    pub ctrl: Vec<f64>,
}

/// How far a leaf's derivative is from what differences say, in their own unit.
struct Found {
    error: f64,
    seen: f64,
    given: f64,
}

impl Motion<'_> {
    /// The constants, or nothing where the moved model does not compile.
    fn constants(&self, theta: &[f64]) -> Option<Vec<f64>> {
        self.derivation.derive(theta).ok()
    }

    /// The state after the steps, and what the sensors measure there.
    fn end(&self, c: &[f64]) -> Option<(RigidState, Vec<f64>)> {
        let m = &self.mechanism;
        let (mut ws, mut sensors) = (m.workspace(), m.sensor_workspace());
        let mut state = self.start.clone();
        for _ in 0..STEPS {
            let mut next = RigidState::default();
            m.step(c, state.with(&self.ctrl), &[], &mut next, &mut ws).ok()?;
            state = next;
        }
        let mut measured = Vec::new();
        let at = state.with(&self.ctrl);
        m.sense(c, at, 0.0, &[], &mut measured, &mut ws, &mut sensors).ok()?;
        Some((state, measured))
    }

    /// What has changed at the end of the motion for θ, from the end `(state, measured)`.
    fn change(&self, theta: &[f64], from: &(RigidState, Vec<f64>)) -> Option<Vec<f64>> {
        let (state, measured) = self.end(&self.constants(theta)?)?;
        let mut out = vec![0.0; state.qvel.len()];
        difference(&self.mechanism.tree, &from.0.qpos, &state.qpos, &mut out);
        let pairs = [(&state.qvel, &from.0.qvel), (&state.act, &from.0.act), (&measured, &from.1)];
        out.extend(pairs.iter().flat_map(|(a, b)| a.iter().zip(b.iter())).map(|(a, b)| a - b));
        Some(out)
    }

    /// Tangents of the end by columns of θ, and the adjoint by θ of a seed times the end.
    fn derivatives(&self, theta: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
        let m = &self.mechanism;
        let c = self.constants(theta).expect("the model compiles");
        let n = theta.len();
        let mut c_dot = Vec::new();
        for i in 0..n {
            let mut along = vec![0.0; n];
            along[i] = 1.0;
            c_dot.extend(self.derivation.pushforward(theta, &along).expect("it compiles"));
        }
        let (mut ws, mut push) = (m.workspace(), m.push_workspace());
        let (mut sensors, mut y_dot) = (m.sensor_workspace(), Vec::new());
        let mut tangents = RigidTangents::zeros(&m.tree, n);
        let mut states = vec![self.start.clone()];
        for k in 0..STEPS {
            let at = states[k].with(&self.ctrl);
            let still = DriveTangents::default();
            m.step_pushforward(&c, at, &[], &mut tangents, &c_dot, still, &mut ws, &mut push)
                .expect("it steps");
            let mut next = RigidState::default();
            m.step(&c, at, &[], &mut next, &mut ws).expect("it steps");
            states.push(next);
        }
        let at = states[STEPS].with(&self.ctrl);
        let (ws, sensed) = (&mut ws, &mut sensors);
        let still = DriveTangents::default();
        m.sense_pushforward(
            &c,
            at,
            &[],
            &tangents,
            &c_dot,
            still,
            &mut y_dot,
            ws,
            &mut push,
            sensed,
        )
        .expect("it measures");
        let (nv, na, ny) = (m.tree.nv, m.tree.na, m.sensor_values());
        let columns = (0..n)
            .map(|i| {
                let mut out = tangents.q[i * nv..(i + 1) * nv].to_vec();
                out.extend(&tangents.v[i * nv..(i + 1) * nv]);
                out.extend(&tangents.act[i * na..(i + 1) * na]);
                out.extend(&y_dot[i * ny..(i + 1) * ny]);
                out
            })
            .collect();

        let mut bar = Adjoint::zeros(&m.tree, &m.layout);
        (bar.q, bar.v, bar.act) = (waves(31, nv), waves(32, nv), waves(33, na));
        let y_bar = waves(34, ny);
        let seed = [&bar.q[..], &bar.v, &bar.act, &y_bar].concat();
        m.sense_pullback(&c, at, &[], &y_bar, &mut bar, ws, sensed).expect("it measures");
        for k in (0..STEPS).rev() {
            m.step_pullback(&c, states[k].with(&self.ctrl), &[], &mut bar, ws).expect("it steps");
        }
        let mut theta_bar = vec![0.0; n];
        self.derivation.pullback(theta, &bar.c, &mut theta_bar).expect("it compiles");
        (columns, theta_bar, seed)
    }

    /// Differences by entry `i` of θ against `given`: the best of several widths, from both sides or,
    /// where the motion has a kink there, from one.
    fn compare(
        &self,
        theta: &[f64],
        i: usize,
        given: &[f64],
        end: &(RigidState, Vec<f64>),
        noise: f64,
    ) -> Found {
        let at = |by: f64| {
            let mut moved = theta.to_vec();
            moved[i] += by;
            self.change(&moved, end)
        };
        let unit = theta[i].abs().max(0.1);
        let given_size = size(given);
        let mut best = Found { error: f64::INFINITY, seen: 0.0, given: given_size };
        for width in [1e-4, 1e-5, 1e-3, 1e-6, 1e-2, 1e-7, 1e-8] {
            let h = width * unit;
            let sides = [1.0, 0.5, -0.5, -1.0].map(|x| at(x * h));
            let [Some(a), Some(b), Some(d), Some(e)] = &sides else { continue };
            let central = |k: usize| (8.0 * (b[k] - d[k]) - (a[k] - e[k])) / (3.0 * h);
            let forward = |k: usize| (4.0 * b[k] - a[k]) / h;
            let backward = |k: usize| (e[k] - 4.0 * d[k]) / h;
            // Of two equal numbers of which the larger counts, each has half of the derivative.
            let both = |k: usize| 0.5 * (forward(k) + backward(k));
            let all: [&dyn Fn(usize) -> f64; 4] = [&central, &forward, &backward, &both];
            for way in all {
                let got: Vec<f64> = (0..given.len()).map(way).collect();
                let apart: Vec<f64> = got.iter().zip(given).map(|(a, b)| a - b).collect();
                let seen = size(&got);
                let beyond = (size(&apart) - 30.0 * noise / h).max(0.0);
                let error = beyond / seen.max(given_size).max(1e-5);
                if error < best.error {
                    best = Found { error, seen, given: given_size };
                }
            }
            if best.error < 1e-8 {
                break;
            }
        }
        best
    }

    /// What rounding does to the end of the motion: a large one of its changes by changes of θ of that size.
    fn noise(&self, theta: &[f64], end: &(RigidState, Vec<f64>)) -> f64 {
        let mut found: Vec<f64> = (0..theta.len())
            .filter_map(|i| {
                let mut moved = theta.to_vec();
                moved[i] += 1e-15 * theta[i].abs().max(0.1);
                Some(size(&self.change(&moved, end)?))
            })
            .collect();
        found.sort_by(f64::total_cmp);
        found.get(found.len() * 19 / 20).copied().unwrap_or(0.0).max(1e-16)
    }

    /// What fails, of `name`.
    pub fn failures(&self, name: &str) -> Vec<String> {
        let theta = self.model.theta();
        let (columns, theta_bar, seed) = self.derivatives(&theta);
        let end = self.end(&self.constants(&theta).expect("it compiles")).expect("it moves");
        let noise = self.noise(&theta, &end);
        let mut failures = Vec::new();
        for (id, leaf) in self.model.leaves.iter() {
            for (k, i) in self.model.leaves.range(id).enumerate() {
                let Found { error, seen, given } =
                    self.compare(&theta, i, &columns[i], &end, noise);
                if error > 1e-6 {
                    let path = &leaf.path;
                    failures.push(format!("{name} {path}[{k}]: {given:e} for {seen:e}, {error:e}"));
                }
                let forward: f64 = columns[i].iter().zip(&seed).map(|(x, y)| x * y).sum();
                let back = theta_bar[i];
                let apart = (forward - back).abs();
                if apart > 1e-9 * given.max(1e-3) * size(&seed) {
                    failures.push(format!("{name} {}[{k}]: {back} for {forward}", leaf.path));
                }
            }
        }
        failures
    }
}

fn size(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn every_leaf_that_moves_the_recorded_models_has_its_derivative() {
    let (mut failures, mut seen) = (Vec::new(), BTreeSet::new());
    for r in simulated() {
        let name = r.value["model"].as_str().expect("a recording names its model").to_owned();
        if r.value["snapshot"].is_null() || !seen.insert(name) {
            continue;
        }
        let model = model(&r);
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{}: {e}", r.name));
        let mut tree = derivation.tree.clone();
        tree.options = r.tree.options.clone();
        let start = RigidState {
            qpos: r.snapshot("qpos"),
            qvel: r.snapshot("qvel"),
            act: r.snapshot("act"),
        };
        let mechanism = Mechanism::new(tree);
        let ctrl = r.snapshot("ctrl");
        let motion = Motion { model: &model, derivation, mechanism, start, ctrl };
        failures.extend(motion.failures(&r.name));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// What the recorded models leave out: actuators at sites with a damping ratio or a muscle's automatic force,
/// limits, dry friction and equalities of spatial tendons, sensors of limits.
const MORE: &str = r#"<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.004"/>
  <worldbody>
    <site name="fixed" pos="0.1 0.2 1.5"/>
    <body name="a" pos="0 0 1" euler="0.1 0.2 0.3"><joint name="h" axis="1 2 3" pos="0 0.1 0" ref="0.2" range="-1 0.25" damping="0.1"/>
      <geom type="capsule" size="0.1" fromto="0.1 0.2 0 0.3 0.1 -0.4" contype="0" conaffinity="0"/>
      <site name="s" pos="0.2 0.1 0" euler="0.3 0 0.1"/>
      <body name="b" pos="0.4 0.1 0" euler="0 0.7 0"><joint name="k" type="slide" axis="0 1 1" range="-0.5 0.02" solreflimit="0.3 1" stiffness="3"/>
        <geom type="box" size="0.1 0.2 0.3" contype="0" conaffinity="0"/>
        <site name="t" pos="0 0.2 0.3" euler="0.2 0.1 0"/>
        <body name="c" pos="0 0 0.4"><joint name="n" type="ball" pos="0 0 0.1" range="0 0.5" damping="0.02"/>
          <geom type="ellipsoid" size="0.1 0.15 0.2" pos="0.1 0 0" contype="0" conaffinity="0"/>
          <site name="u" pos="0.1 0 0.1" euler="0.4 0.2 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="f" range="-3 -0.4"><joint joint="h" coef="0.3"/><joint joint="k" coef="-2"/></fixed>
    <spatial name="p" stiffness="3" damping="0.2" limited="true" range="0.1 1.2"><site site="fixed"/><site site="s"/><site site="t"/>
      <pulley divisor="2"/><site site="t"/><site site="u"/></spatial>
    <spatial name="r" frictionloss="0.3"><site site="fixed"/><site site="u"/></spatial>
    <spatial name="w"><site site="fixed"/><site site="t"/></spatial>
  </tendon>
  <equality><tendon tendon1="w" tendon2="p" polycoef="0.01 0.3 0.1 0 0"/></equality>
  <actuator>
    <position site="s" refsite="fixed" kp="20" dampratio="0.8" gear="1 0.5 0.3 0.1 0.2 0.4"/>
    <position site="u" refsite="s" kp="10" dampratio="0.6" gear="0.4 1 0.3 0 0.2 0.1"/>
    <motor site="u" gear="1 0.2 0.3 0.1 0.1 0.2"/>
    <general site="t" refsite="fixed" lengthrange="-2 2" gear="1 0.3 0.5 0 0 0" dyntype="muscle" gaintype="muscle"
      biastype="muscle" dynprm="0.01 0.04 0.1" gainprm="0.75 1.05 -1 200 0.5 1.6 1.5 1.3 1.2" biasprm="0.75 1.05 -1 200 0.5 1.6 1.5 1.3 1.2"/>
    <muscle tendon="p" lengthrange="0.5 1.5"/>
    <position tendon="p" kp="20" dampratio="0.5" gear="1.5"/>
    <intvelocity joint="k" kp="30" dampratio="0.7" actrange="-1 1"/>
    <general joint="n" gear="0.1 0.2 0.3 0 0 0" gainprm="2" biastype="affine" biasprm="0 -1 -0.3"/>
    <general jointinparent="n" gear="0.3 -0.2 0.1 0 0 0" gainprm="1"/>
  </actuator>
  <sensor>
    <jointlimitpos joint="h"/><jointlimitvel joint="h"/><jointlimitfrc name="h" joint="h"/>
    <jointlimitfrc joint="k"/><jointlimitpos joint="n"/><jointlimitvel joint="n"/><jointlimitfrc name="n" joint="n"/>
    <tendonlimitpos tendon="p"/><tendonlimitvel tendon="p"/><tendonlimitfrc name="p" tendon="p"/>
    <tendonlimitpos tendon="f"/><tendonlimitvel tendon="f"/><tendonlimitfrc name="f" tendon="f"/>
    <accelerometer site="u"/><force site="t"/><torque site="t"/><actuatorfrc actuator="actuator0"/>
    <e_potential/><e_kinetic/>
    <framepos objtype="geom" objname="geom2" reftype="site" refname="s"/>
    <framelinvel objtype="site" objname="u" reftype="body" refname="b"/>
    <subtreeangmom body="a"/>
  </sensor>
</mujoco>"#;

#[test]
fn every_leaf_that_moves_a_model_of_the_rest_has_its_derivative() {
    let model = costate_formats::parse_mjcf("more.xml", MORE).unwrap_or_else(|e| panic!("{e}"));
    let mut failures = Vec::new();
    for integrator in crate::proof::INTEGRATORS {
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{e}"));
        let mut tree = derivation.tree.clone();
        tree.options.integrator = integrator;
        let start = RigidState {
            qpos: vec![0.35, 0.09, 0.8, 0.4, 0.3, 0.33],
            qvel: vec![0.4, 0.5, 0.6, 0.7, -0.3],
            act: waves(5, tree.na).iter().map(|x| 0.5 + 0.2 * x).collect(),
        };
        let ctrl = waves(6, tree.actuators.len()).iter().map(|x| 0.5 + 0.3 * x).collect();
        let mechanism = Mechanism::new(tree);
        let motion = Motion { model: &model, derivation, mechanism, start, ctrl };
        failures.extend(motion.failures(&format!("{integrator:?}")));
        let c = motion.constants(&model.theta()).expect("it compiles");
        let (_, measured) = motion.end(&c).expect("it moves");
        let acting = |name: &str| {
            let a = model.articulation.as_ref().expect("a robot");
            let sensor = a.sensor(name).expect("a sensor");
            measured[motion.mechanism.tree.sensors[sensor].data.start] > 0.0
        };
        for name in ["n", "p", "f"] {
            assert!(acting(name), "{integrator:?}: the limit of {name} pushes: {measured:?}");
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
