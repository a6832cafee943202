//! Derivatives with relaxed contacts: informative before a contact is made and where friction sticks, with
//! the motion as it is.

use costate_dynamics::System;
use costate_dynamics::rollout::Run;
use costate_formats::parse_mjcf;
use costate_model::{Inputs, Model};

use crate::harness::{end, slopes};

/// A pusher on a damped slide, short of a block that slides against friction; `x` of both along one line.
fn pusher(speed: f64, smoothing: f64) -> Model {
    let text = r#"<mujoco model="pusher">
  <option timestep="0.002" gravity="0 0 -9.81" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="0.1"/>
    <body name="pusher" pos="0 0 0.2">
      <joint name="pusher" type="slide" axis="1 0 0" damping="2"/>
      <geom name="pusher" size="0.05" mass="1"/>
    </body>
    <body name="block" pos="0.4 0 0.1">
      <joint name="x" type="slide" axis="1 0 0" damping="1"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="block" type="box" size="0.1 0.1 0.2" pos="0 0 0.1" mass="1" friction="0.1"/>
    </body>
  </worldbody>
</mujoco>"#;
    model(text, smoothing).with("joint.pusher.qvel", &[speed]).unwrap()
}

/// A block of 1 kg that rests on a plane (μ = 0.5), on a slope that gravity pulls it down with `pull` m/s².
fn sticking(pull: f64, cone: &str, smoothing: f64) -> Model {
    let text = format!(
        r#"<mujoco model="sticking">
  <option timestep="0.002" gravity="{pull} 0 -9.81" cone="{cone}"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" friction="0.5"/>
    <body name="block" pos="0 0 0.1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="block" size="0.1" friction="0.1" mass="1"/>
    </body>
  </worldbody>
</mujoco>"#
    );
    model(&text, smoothing)
}

fn model(text: &str, smoothing: f64) -> Model {
    let mut model = parse_mjcf("scene.xml", text).unwrap();
    let robot = model.articulation.as_mut().unwrap();
    robot.add_initial_state(&mut model.leaves, None).unwrap();
    model.options.smoothing = smoothing;
    model
}

/// How far the block has come after a second, and its derivative by the pusher's first speed.
fn shove(speed: f64, smoothing: f64) -> (f64, f64) {
    let model = pusher(speed, smoothing);
    let slope = slopes(&model, 1.0, &[("joint.pusher.qvel", 0)]).remove(0);
    (end(&model, 1.0)[1], slope[1])
}

#[test]
fn a_push_that_misses_has_a_derivative_with_smoothing_alone() {
    // It stops 5 cm short of the block.
    let (moved, without) = shove(0.4, 0.0);
    assert_eq!((moved, without), (0.0, 0.0));
    let (same, with) = shove(0.4, 0.001);
    assert_eq!(same, 0.0, "the motion does not depend on it");
    assert!(with > 1e-6, "{with}");
}

#[test]
fn smoothing_does_not_change_the_motion() {
    for speed in [0.3, 1.5] {
        let run = |smoothing: f64| {
            let system = System::new(&pusher(speed, smoothing)).unwrap();
            let c = system.derive(&system.theta()).unwrap();
            let inputs = Inputs::default();
            Run::new(&system, &c, &inputs).rollout(500, 1).unwrap().states
        };
        let (without, with) = (run(0.0), run(0.001));
        for (a, b) in without.iter().zip(&with) {
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert_eq!((bits(&a.q), bits(&a.v)), (bits(&b.q), bits(&b.v)));
        }
    }
}

#[test]
fn smoothing_is_said_and_refused_where_it_has_no_meaning() {
    let said = |smoothing: f64| {
        let system = System::new(&pusher(1.0, smoothing)).unwrap();
        system.articulated().unwrap().smoothing()
    };
    assert_eq!(said(0.0), None);
    assert!(said(0.001).unwrap().contains("0.001 m"));
    let refused = |change: fn(&mut Model)| {
        let mut model = pusher(1.0, 0.001);
        change(&mut model);
        System::new(&model).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(refused(|m| m.options.saltation = true).contains("saltation"));
    assert!(refused(|m| m.options.smoothing = -1.0).contains("option.smoothing"));
    let mut soft = Model::new("soft");
    soft.options.smoothing = 0.1;
    assert!(System::new(&soft).err().is_some_and(|e| e.to_string().contains("robots")));
}

/// More pull moves a block that sticks, and more friction holds it back: hard contacts say next to nothing.
#[test]
fn sticking_friction_has_derivatives_of_the_right_sign() {
    for cone in ["elliptic", "pyramidal"] {
        let by = |smoothing: f64| {
            let model = sticking(2.5, cone, smoothing);
            let entries = [("option.gravity", 0), ("geom.floor.friction", 0)];
            let slopes = slopes(&model, 0.5, &entries);
            (slopes[0][0], slopes[1][0])
        };
        let ((pull, friction), (soft_pull, soft_friction)) = (by(0.0), by(0.01));
        assert!(soft_pull > 5.0 * pull.abs(), "{cone}: {soft_pull} {pull}");
        assert!(soft_friction < 0.0, "{cone}: {soft_friction}");
        assert!(soft_friction.abs() > 5.0 * friction.abs(), "{cone}: {soft_friction} {friction}");
    }
}

/// Which first speed of the pusher brings the block to 0.1 m? Descent from a push that misses.
#[test]
fn a_push_is_found_from_one_that_misses() {
    let target = 0.1;
    let found = |smoothing: f64| {
        let mut speed = 0.4;
        for _ in 0..60 {
            let (moved, slope) = shove(speed, smoothing);
            let error = moved - target;
            if slope == 0.0 {
                break;
            }
            // Gauss-Newton's step, damped; halved while the motion as it is gets worse.
            let mut step = (-error / slope).clamp(-0.5, 0.5);
            let gap = |speed: f64| (end(&pusher(speed, 0.0), 1.0)[1] - target).abs();
            while step.abs() > 1e-9 && gap(speed + step) > error.abs() {
                step *= 0.5;
            }
            speed += step;
        }
        (speed, end(&pusher(speed, 0.0), 1.0)[1])
    };
    let (speed, moved) = found(0.0);
    assert_eq!((speed, moved), (0.4, 0.0), "without, there is no way to go");
    let (speed, moved) = found(0.001);
    assert!((moved - target).abs() < 0.02, "{speed}: {moved}");
}
