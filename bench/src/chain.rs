//! A chain of hinged links: a step, and the gradient of a whole motion by all inertial parameters.

use costate_dynamics::rigid::{
    Adjoint, Body, Joint, JointKind, Mechanism, RigidError, RigidState, StepRecords, Tree, Wanted,
};

use crate::Times;
use crate::clock::Clock;

/// Links of a metre each, hinged about y and x in turn, hanging from the world.
pub fn chain(links: usize) -> Result<(Mechanism, Vec<f64>), Box<dyn std::error::Error>> {
    let mut tree = Tree { bodies: vec![Body::default()], ..Tree::default() };
    for parent in 0..links {
        tree.bodies.push(Body { parent, ..Body::default() });
        tree.joints.push(Joint {
            kind: JointKind::Hinge,
            body: parent + 1,
            qpos: 0,
            dof: 0,
            limited: false,
            actuator_force_limited: false,
            actuator_gravity_compensation: false,
        });
    }
    tree.index()?;
    tree.options.timestep = 1e-3;
    let mut mechanism = Mechanism::new(tree);
    mechanism.wanted = Wanted { inertial: true, placement: false, zero_friction: false };
    let layout = &mechanism.layout;
    let mut c = vec![0.0; layout.len];
    c[layout.gravity.range()].copy_from_slice(&[0.0, 0.0, -9.81]);
    for b in 0..=links {
        c[layout.body_quat.at(b)] = 1.0;
        c[layout.body_iquat.at(b)] = 1.0;
    }
    for j in 0..links {
        let b = j + 1;
        let at = layout.body_pos.at(b) + 2;
        c[at] = if j == 0 { 0.0 } else { -1.0 };
        c[layout.body_mass.at(b)] = 1.0 + 0.1 * j as f64;
        c[layout.body_ipos.at(b) + 2] = -0.5;
        let inertia = layout.body_inertia.at(b);
        c[inertia..inertia + 6].copy_from_slice(&[0.08, 0.001, 0.08, 0.002, 0.001, 0.004]);
        c[layout.jnt_axis.at(j) + usize::from(j % 2 == 0)] = 1.0;
        c[layout.dof_damping.at(j)] = 0.1;
    }
    Ok((mechanism, c))
}

/// All states of a motion, and what its steps leave for their adjoints.
struct Motion {
    states: Vec<RigidState>,
    records: StepRecords,
}

impl Motion {
    fn run(&mut self, m: &Mechanism, c: &[f64], ws: &mut Workspace) -> Result<(), RigidError> {
        self.records.clear();
        for k in 1..self.states.len() {
            let (before, after) = self.states.split_at_mut(k);
            m.step(c, before[k - 1].with(&[]), &[], &mut after[0], ws)?;
            self.records.push(m, ws);
        }
        Ok(())
    }
}

type Workspace = costate_dynamics::rigid::RigidWorkspace;

/// Times a chain of `links` over `steps` steps and prints a JSON object.
///
/// # Errors
/// Where a step fails.
pub fn measure(
    links: usize,
    steps: usize,
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let (m, c) = chain(links)?;
    let mut ws = m.workspace();
    let start = RigidState {
        qpos: (0..links).map(|i| 0.3 * (1.3 * i as f64 + 0.5).sin()).collect(),
        qvel: (0..links).map(|i| 0.5 * (0.7 * i as f64).cos()).collect(),
        act: Vec::new(),
    };
    let mut motion = Motion { states: vec![start; steps + 1], records: StepRecords::default() };
    motion.run(&m, &c, &mut ws)?;
    let unit = 1e9 / steps as f64;
    let mut bar = Adjoint::zeros(&m.tree, &m.layout);
    let (mut forward, mut back, mut both) = (Times::default(), Times::default(), Times::default());
    for _ in 0..repeats.max(1) {
        let whole = Clock::start();
        let clock = Clock::start();
        motion.run(&m, &c, &mut ws)?;
        forward.push(&clock, unit);
        let clock = Clock::start();
        bar.clear();
        bar.q.fill(1.0);
        for (k, state) in motion.states[..steps].iter().enumerate().rev() {
            let record = motion.records.get(&m, k);
            m.replay_pullback(&c, state.with(&[]), record, &mut bar, &mut ws)?;
        }
        back.push(&clock, unit);
        both.push(&whole, unit);
    }
    println!(
        "{{\"links\": {links}, \"steps\": {steps}, {}, {}, {}}}",
        forward.json("step"),
        back.json("pullback"),
        both.json("gradient")
    );
    Ok(())
}
