//! A model given as MJCF, its runs, and gradients of its last state.

use costate_dynamics::rigid::{Adjoint, Derivation, Mechanism, RigidState};
use costate_model::Model;

/// A compiled model.
pub struct World {
    model: Model,
    derivation: Derivation,
    /// Its mechanism.
    pub mechanism: Mechanism,
    theta: Vec<f64>,
    /// Its constants.
    pub c: Vec<f64>,
}

/// The derivatives of a scalar of the last state.
pub struct Gradient {
    /// By the configuration and the velocity at the start, and by constants with others held.
    pub bar: Adjoint,
    /// By the sum of all controls of each actuator.
    pub ctrl: Vec<f64>,
    theta: Vec<f64>,
}

impl World {
    /// From the text of a model.
    pub fn new(text: &str) -> Self {
        let model = costate_formats::parse_mjcf("case.xml", text).unwrap_or_else(|e| panic!("{e}"));
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{e}"));
        let theta = model.theta();
        let c = derivation.derive(&theta).unwrap_or_else(|e| panic!("{e}"));
        let mechanism = Mechanism::new(derivation.tree.clone());
        Self { model, derivation, mechanism, theta, c }
    }

    /// The state of the model's reference pose.
    pub fn start(&self) -> RigidState {
        let tree = &self.mechanism.tree;
        RigidState {
            qpos: self.c[self.mechanism.layout.qpos0.range()].to_vec(),
            qvel: vec![0.0; tree.nv],
            act: Vec::new(),
        }
    }

    /// All states of a run under constant controls.
    pub fn run(&self, start: RigidState, ctrl: &[f64], steps: usize) -> Vec<RigidState> {
        let mut ws = self.mechanism.workspace();
        let mut states = vec![start];
        for k in 0..steps {
            let mut next = RigidState::default();
            let stepped =
                self.mechanism.step(&self.c, states[k].with(ctrl), &[], &mut next, &mut ws);
            stepped.unwrap_or_else(|e| panic!("step {k}: {e}"));
            states.push(next);
        }
        states
    }

    /// The gradient of a scalar whose derivatives by the last state are `q` and `v`.
    pub fn gradient(&self, states: &[RigidState], ctrl: &[f64], q: &[f64], v: &[f64]) -> Gradient {
        let m = &self.mechanism;
        let mut ws = m.workspace();
        let mut bar = Adjoint::zeros(&m.tree, &m.layout);
        bar.q.copy_from_slice(q);
        bar.v.copy_from_slice(v);
        for state in states[..states.len() - 1].iter().rev() {
            m.step_pullback(&self.c, state.with(ctrl), &[], &mut bar, &mut ws)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        let mut theta = vec![0.0; self.theta.len()];
        self.derivation.pullback(&self.theta, &bar.c, &mut theta).unwrap_or_else(|e| panic!("{e}"));
        let ctrl = bar.ctrl.clone();
        Gradient { bar, ctrl, theta }
    }

    /// The derivative by entry `i` of a leaf, all that follows from it re-derived.
    pub fn by(&self, g: &Gradient, path: &str, i: usize) -> f64 {
        let found = self.model.leaves.iter().find(|(_, leaf)| leaf.path == path);
        let paths = || self.model.leaves.iter().map(|(_, leaf)| leaf.path.clone());
        let (id, _) =
            found.unwrap_or_else(|| panic!("no {path} in {:?}", paths().collect::<Vec<_>>()));
        g.theta[self.model.leaves.range(id)][i]
    }
}

/// Asserts that a number is another one within an absolute tolerance.
#[track_caller]
pub fn near(what: &str, got: f64, wanted: f64, tolerance: f64) {
    assert!((got - wanted).abs() <= tolerance, "{what}: {got} for {wanted} ± {tolerance}");
}
