//! Proofs of derivatives on both sides of contacts.

use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_dynamics::{System, check};
use costate_model::{ContactSettings, Inputs, Model, SoftBuilder};

use crate::common::States;
use crate::proof::prove;
use crate::world::{block, compile, contact, free_ball, robot};

/// An arm of slides and hinges whose geoms lie in a block, and a plane of the world below it.
fn arm(law: &str, integrator: &str) -> Model {
    let mut model = robot(&format!(
        r#"<mujoco model="arm">
  <compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <option timestep="0.0005" integrator="{integrator}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" pos="0 0 0.002" quat="0.999 0.02 0.01 0"/>
    <body name="upper" pos="-0.1 0.05 0.11" quat="0.95 0.1 0.2 -0.1">
      <joint name="slide" type="slide" axis="0.2 0.1 1" damping="0.3"/>
      <joint name="hinge" axis="0.1 1 0.2" pos="0.01 0 0.02" stiffness="0.2"/>
      <geom name="rod" type="capsule" size="0.035 0.05" pos="0.1 0 0" quat="0.8 0.1 0.6 0"/>
      <body name="lower" pos="0.15 0.01 0.02">
        <joint name="wrist" axis="0.3 0.2 1" armature="0.001"/>
        <geom name="tip" size="0.045" pos="0.01 0.02 -0.03"/>
        <geom name="pad" type="box" size="0.04 0.05 0.03" pos="-0.03 -0.04 -0.02" quat="0.9 0.3 0.1 0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>"#
    ));
    for (path, value) in [
        ("joint.slide.qvel", -0.6),
        ("joint.hinge.qpos", 0.15),
        ("joint.hinge.qvel", 1.4),
        ("joint.wrist.qpos", -0.3),
        ("joint.wrist.qvel", 2.0),
    ] {
        model = model.with(path, &[value]).unwrap();
    }
    let body = block("block", 3.0).velocity([0.1, -0.2, 0.3]).angular_velocity([0.4, 0.2, -0.7]);
    body.build(&mut model).unwrap();
    let settings = match law {
        "smooth" => contact(900.0, 2.0, 0.4),
        _ => ContactSettings { friction_damping: Some(3.0), ..contact(900.0, 2.0, 0.4) },
    };
    let settings = ContactSettings { law: law.into(), ramp: 2e-3, ..settings };
    for geom in ["floor", "rod", "tip", "pad"] {
        model.add_soft_contact(geom, &settings).unwrap();
    }
    model
}

/// How many vertices each geom touches at the start.
fn touching(system: &System) -> Vec<(String, usize)> {
    let c = system.derive(&system.theta()).unwrap();
    let u = vec![0.0; system.input_len()];
    let snapshot = system.snapshot(&c, &system.initial_state(&c, &u), &u).unwrap();
    let mut out: Vec<(String, usize)> = Vec::new();
    for (geom, _) in snapshot.touches {
        match out.iter_mut().find(|(name, _)| *name == geom) {
            Some((_, count)) => *count += 1,
            None => out.push((geom, 1)),
        }
    }
    out
}

#[test]
fn every_leaf_of_a_mixed_scene_is_proved_under_every_law() {
    for (law, integrator) in [
        ("smooth", "Euler"),
        ("smooth", "RK4"),
        ("smooth", "implicit"),
        ("smooth", "implicitfast"),
        ("smooth", "discrete"),
        ("warp", "Euler"),
        ("warp-shape", "implicitfast"),
    ] {
        let system = compile(&arm(law, integrator));
        let touching = touching(&system);
        assert!(touching.len() == 4, "all geoms touch: {touching:?}");
        prove(&system, 3, 7);
    }
}

/// Free bodies, whose orientations are quaternions, by the proofs that users have.
#[test]
fn every_leaf_of_a_ball_that_hits_a_block_is_proved() {
    let mut model = free_ball("0.06 0.04 0.155", "Euler", 5e-4)
        .with("joint.ball.qvel", &[0.4, 0.2, -1.0, 4.0, -7.0, 2.0])
        .unwrap();
    block("block", 5.0).build(&mut model).unwrap();
    model.add_soft_contact("ball", &contact(900.0, 2.0, 0.4)).unwrap();
    let found = check(&compile(&model), &Inputs::default(), 12, None).unwrap();
    for leaf in &found {
        assert!(leaf.passes(), "{leaf:?}");
    }
    for path in ["geom.ball.soft.stiffness", "geom.ball.size", "geom.ball.mass", "geom.ball.pos"] {
        assert!(found.iter().any(|leaf| leaf.path == path && leaf.influences), "{path}");
    }
}

/// A whole fall on a block: the gradient by the mass of the ball and the modulus of the block.
#[test]
fn a_ball_dropped_on_a_block_has_the_gradient_of_its_differences() {
    let mut model = robot(
        r#"<mujoco model="drop">
  <option timestep="0.00025"/>
  <worldbody>
    <body name="ball" pos="0.05 0.05 0.17">
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="ball" size="0.05" mass="0.12"/>
    </body>
  </worldbody>
</mujoco>"#,
    );
    let lowest = block("block", 10.0).select(|x| x[2] < 1e-9).vertices;
    block("block", 10.0).fix(&lowest).build(&mut model).unwrap();
    let friction_damping = Some(0.5);
    let settings = ContactSettings { ramp: 5e-3, friction_damping, ..contact(500.0, 1.0, 0.4) };
    model.add_soft_contact("ball", &settings).unwrap();
    let system = compile(&model);
    let (theta, inputs) = (system.theta(), Inputs::default());
    let observer = States { at: vec![600, 1000, 1400], dof: system.dof() };
    let c = system.derive(&theta).unwrap();
    let start = system.initial_state(&c, &[]);
    system.check_timestep(&c, &start, &[]).unwrap_or_else(|e| panic!("{e}"));
    let run = Run::new(&system, &c, &inputs);
    let square = |y: &[f64]| y.iter().map(|y| y * y).sum::<f64>();
    let mut loss = |y: &[f64]| (square(y), y.iter().map(|y| 2.0 * y).collect());
    let found = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
    let bar = system.derive_pullback(&theta, &c, &found.c);
    for path in ["geom.ball.mass", "soft.block.young", "geom.ball.soft.damping"] {
        let leaves = &system.model().leaves;
        let i = leaves.range(leaves.find(path).unwrap()).start;
        let mut theta_dot = vec![0.0; theta.len()];
        theta_dot[i] = theta[i];
        let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
        let seeds = Seeds { columns: 1, c: c_dot, ..Seeds::default() };
        let tangents = run.sensitivities(&observer, &[], &seeds, &[]).unwrap();
        let forward: f64 = tangents.y.iter().zip(&tangents.y_dot).map(|(y, d)| 2.0 * y * d).sum();
        let scale = 2.0 * (square(&tangents.y) * square(&tangents.y_dot)).sqrt();
        let identity = (bar[i] * theta[i] - forward).abs() / scale;
        // Rounding of many steps: in free fall what the mass does cancels only up to it.
        assert!(identity < 1e-10, "{path}: {identity:e}");
        let at = |e: f64| {
            let mut moved = theta.clone();
            moved[i] += e * theta[i];
            let c = system.derive(&moved).unwrap();
            square(&Run::new(&system, &c, &inputs).observe(&observer, &[]).unwrap())
        };
        let central = |e: f64| (at(e) - at(-e)) / (2.0 * e);
        let best = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
            .map(|e| (central(e) - forward).abs() / scale)
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        assert!(best < 1e-6, "{path}: {best:e}");
    }
}

/// Vertices that are held push all the same, and what moves on a path does.
#[test]
fn held_vertices_push_bodies() {
    let mut model = free_ball("0 0 0.05", "Euler", 1e-3);
    SoftBuilder::new("pin", vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
        .vertex_mass(vec![1.0])
        .radius(vec![0.01])
        .fix(&[0])
        .build(&mut model)
        .unwrap();
    model.add_soft_contact("ball", &contact(100.0, 0.0, 0.0)).unwrap();
    let system = compile(&model);
    prove(&no_orientation(&system), 1, 3);
    let c = system.derive(&system.theta()).unwrap();
    let mut next = system.initial_state(&c, &[]);
    let state = next.clone();
    let u = costate_dynamics::StepInputs { now: &[], next: &[] };
    system.step(&c, &state, u, 0, &mut next, &mut system.workspace()).unwrap();
    // Smooth law at a depth of 10 mm with a ramp of 1 mm: k (d − δ/2).
    let expected = 100.0 * (0.01 - 0.0005) / 0.2 * 1e-3;
    assert!((next.v[6 + 2] - expected).abs() < 1e-12 * expected, "{:?}", next.v);
}

/// The same with the ball on slides, for proofs that take plain coordinates.
fn no_orientation(system: &System) -> System {
    let mut model = robot(
        r#"<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody><body pos="0 0 0.05">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
        <geom name="ball" size="0.05" mass="0.2"/></body></worldbody></mujoco>"#,
    );
    SoftBuilder::new("pin", vec![[0.001, 0.0, 0.0], [1.0, 0.0, 0.0]])
        .vertex_mass(vec![1.0])
        .radius(vec![0.01])
        .fix(&[0])
        .build(&mut model)
        .unwrap();
    model.add_soft_contact("ball", &contact(100.0, 0.5, 0.2)).unwrap();
    assert_eq!(system.vertex_count(), 2);
    compile(&model)
}
