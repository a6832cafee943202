//! Impacts of rigid bodies under MuJoCo's contact.

use costate_dynamics::System;
use costate_dynamics::rollout::Run;
use costate_formats::parse_mjcf;
use costate_model::{Inputs, Model};

use crate::harness::{close, slopes, wide};

/// A sphere of radius 0.1 m on three slides, let go 1 m above a plane, with a sideways speed.
fn ball(solref: &str, solimp: &str, h: f64) -> Model {
    let text = format!(
        r#"<mujoco model="ball">
  <option timestep="{h}" gravity="0 0 -9.81" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="ball" pos="0 0 1.1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
      <geom name="ball" size="0.1" friction="0.3" solref="{solref}" solimp="{solimp}" priority="1"/>
    </body>
  </worldbody>
</mujoco>"#
    );
    let mut model = parse_mjcf("ball.xml", &text).unwrap();
    let robot = model.articulation.as_mut().unwrap();
    robot.add_initial_state(&mut model.leaves, None).unwrap();
    model.with("joint.x.qvel", &[0.5]).unwrap()
}

const T: f64 = 0.7;
const DEFAULT: &str = "0.9 0.95 0.001 0.5 2";

fn error(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// R32 in MuJoCo's own contact: with its default impedance the branch derivative of a bounce is wrong at
/// every step; with the jump term it is what differences over many steps of onset are.
#[test]
fn case_r32_the_jump_term_mends_bounces_of_rigid_bodies() {
    let plain = ball("0.02 0.3", DEFAULT, 1e-5);
    let mut mended = plain.clone();
    mended.options.saltation = true;
    let leaves = [
        ("joint.z.qpos", 0, 0.05),
        ("joint.z.qvel", 0, 0.05),
        ("geom.ball.size", 0, 0.05),
        ("geom.floor.pos", 2, 0.05),
        ("option.gravity", 2, 0.5),
    ];
    let entries = leaves.map(|(path, i, _)| (path, i));
    let (with, without) = (slopes(&mended, T, &entries), slopes(&plain, T, &entries));
    for (k, (path, i, width)) in leaves.into_iter().enumerate() {
        let expected = wide(&plain, T, path, i, width);
        assert!(error(&with[k], &expected) <= 0.02, "{path}: {:?} {expected:?}", with[k]);
        assert!(error(&without[k], &expected) > 0.5, "{path}: {:?} {expected:?}", without[k]);
    }
}

#[test]
fn bounces_of_rigid_bodies_are_counted_and_jumps_told() {
    let warnings = |model: &Model| {
        let system = System::new(model).unwrap();
        let c = system.derive(&system.theta()).unwrap();
        let inputs = Inputs::default();
        let run = Run::new(&system, &c, &inputs);
        let steps = (T / system.timestep()).round() as usize;
        let report = run.contact_report(steps).unwrap();
        let states = run.rollout(steps, 1).unwrap().states;
        assert_eq!(report, system.contact_report(&c, &states));
        let pair = report.geoms[0].clone();
        assert_eq!((pair.onsets, pair.ended), (1, 1));
        (pair, report.warnings())
    };
    let (pair, told) = warnings(&ball("0.02 0.3", DEFAULT, 1e-4));
    assert_eq!(pair.jumps, 1);
    // B v at the speed of the fall, by the impedance at zero depth.
    let (speed, damping) = ((2.0 * 9.81f64).sqrt(), 2.0 / (0.95 * 0.02));
    close("jump", pair.largest_jump, 0.9 * damping * speed, 0.05);
    close("rate", pair.largest_jump_rate, 0.9 * damping, 0.05);
    assert!(told.len() == 1 && told[0].contains("solimp"), "{told:?}");
    assert!(told[0].contains("floor") && told[0].contains("ball"), "{told:?}");
    // The damping grows from next to nothing.
    let (soft, told) = warnings(&ball("0.02 0.3", "0 0.95 0.01 0.5 2", 1e-4));
    assert_eq!((soft.jumps, told.len()), (0, 0), "{soft:?} {told:?}");
    let (_, told) = warnings(&ball("0.02 0.3", DEFAULT, 4e-3));
    assert!(told.iter().any(|w| w.contains("as few as")), "{told:?}");
}
