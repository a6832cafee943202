//! Robots from MJCF: a step with its contacts, its pullback, and the gradient of a motion by every mass,
//! damping, armature and friction.

use costate_dynamics::rigid::{
    Adjoint, Derivation, Mechanism, RigidError, RigidState, RigidWorkspace, StepRecords, Wanted,
};
use costate_model::Model;

use crate::Times;
use crate::clock::Clock;

/// MJCF of `count` boxes in columns of five over a floor, each a little turned.
pub fn boxes(count: usize) -> String {
    let mut bodies = String::new();
    for n in 0..count {
        let (column, level) = (n / 5, n % 5);
        let (x, y) = (0.35 * (column % 5) as f64, 0.35 * (column / 5) as f64);
        let z = 0.105 + 0.21 * level as f64;
        let turn = 7.0 * ((n * 13) % 11) as f64;
        bodies += &format!(
            "<body pos=\"{x} {y} {z}\" euler=\"0 0 {turn}\"><freejoint/>\
             <geom type=\"box\" size=\".1 .09 .1\"/></body>\n"
        );
    }
    format!(
        "<mujoco><option timestep=\"0.002\"/><worldbody>\n\
         <geom type=\"plane\" size=\"9 9 1\"/>\n{bodies}</worldbody></mujoco>\n"
    )
}

/// Times `steps` steps of a model and prints a JSON object.
///
/// # Errors
/// Where the model does not compile or a step fails.
pub fn measure(
    model: &Model,
    steps: usize,
    repeats: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let articulation = model.articulation.as_ref().ok_or("the model has no robot")?;
    let derivation = Derivation::new(model)?;
    let c = derivation.derive(&model.theta())?;
    let m = Mechanism::new(derivation.tree.clone());
    let (nv, na) = (m.tree.nv, m.tree.na);
    let start = RigidState {
        qpos: articulation.reference_pose(&model.leaves),
        qvel: vec![0.0; nv],
        act: vec![0.0; na],
    };
    let ctrl = vec![0.0; m.tree.actuators.len()];
    let mut states = vec![start; steps + 1];
    let mut records = StepRecords::default();
    let mut ws = m.workspace();
    let mut contacts = 0;
    let mut narrow = Mechanism::new(derivation.tree.clone());
    narrow.wanted = Wanted { inertial: true, placement: false, zero_friction: true };
    let mut bar = Adjoint::zeros(&m.tree, &m.layout);
    let (theta, mut theta_bar) = (model.theta(), vec![0.0; model.theta().len()]);
    let (mut forward, mut back, mut whole): (Times, Times, Times) = Default::default();
    let unit = 1e9 / steps as f64;
    for _ in 0..repeats.max(1) {
        let clock = Clock::start();
        contacts = run(&m, &c, &ctrl, &mut states, None, &mut ws)?;
        forward.push(&clock, unit);
        run(&m, &c, &ctrl, &mut states, Some(&mut records), &mut ws)?;
        let clock = Clock::start();
        pull(&m, &c, &ctrl, &states, &records, &mut bar, &mut ws)?;
        back.push(&clock, unit);
        let clock = Clock::start();
        let c = derivation.derive(&theta)?;
        run(&narrow, &c, &ctrl, &mut states, Some(&mut records), &mut ws)?;
        pull(&narrow, &c, &ctrl, &states, &records, &mut bar, &mut ws)?;
        derivation.pullback(&theta, &bar.c, &mut theta_bar)?;
        whole.push(&clock, unit);
    }
    println!(
        "{{\"dofs\": {nv}, \"bodies\": {}, \"steps\": {steps}, \"contacts_per_step\": {:.1}, {}, {}, {}}}",
        m.tree.bodies.len() - 1,
        contacts as f64 / steps as f64,
        forward.json("step"),
        back.json("pullback"),
        whole.json("gradient")
    );
    Ok(())
}

/// The adjoint of the sum of the last coordinates, through all steps, with what they have left for it, as the
/// reverse sweep of a rollout does it.
fn pull(
    m: &Mechanism,
    c: &[f64],
    ctrl: &[f64],
    states: &[RigidState],
    records: &StepRecords,
    bar: &mut Adjoint,
    ws: &mut RigidWorkspace,
) -> Result<(), RigidError> {
    bar.clear();
    bar.q.fill(1.0);
    for k in (0..records.len()).rev() {
        m.replay_pullback(c, states[k].with(ctrl), records.get(m, k), bar, ws)?;
    }
    Ok(())
}

/// Steps from the first of the states, constraints from the acceleration of the step before, and keeps what they leave
/// for their adjoints where that is asked for; returns how many contacts there were.
fn run(
    m: &Mechanism,
    c: &[f64],
    ctrl: &[f64],
    states: &mut [RigidState],
    mut records: Option<&mut StepRecords>,
    ws: &mut RigidWorkspace,
) -> Result<usize, Box<dyn std::error::Error>> {
    let (mut contacts, mut warm) = (0, Vec::new());
    if let Some(records) = &mut records {
        records.clear();
    }
    for k in 1..states.len() {
        let (before, after) = states.split_at_mut(k);
        m.step(c, before[k - 1].with(ctrl), &warm, &mut after[0], ws)?;
        warm.clone_from(&ws.evaluation.qacc);
        if let Some(records) = &mut records {
            records.push(m, ws);
        }
        contacts += ws.evaluation.stage.constraints.contacts.len();
    }
    Ok(contacts)
}
