//! What cannot be is refused by name.

use costate_dynamics::System;
use costate_dynamics::observe::{Observation, Point, Sample, Signal, SignalObserver, SignalSet};
use costate_model::{ContactSettings, Model};

use crate::world::{block, compile, contact, free_ball, robot, run};

fn mixed() -> Model {
    let mut model = free_ball("0.06 0.04 0.17", "Euler", 5e-4);
    block("block", 5.0).build(&mut model).unwrap();
    model.add_soft_contact("ball", &contact(900.0, 2.0, 0.4)).unwrap();
    model
}

fn refused(observation: Observation, system: &System) -> String {
    let signals = vec![Signal::new("s", observation, 0)];
    let samples = vec![Sample { signal: 0, time: 0.01 }];
    let set = SignalSet { signals, samples, ..SignalSet::default() };
    SignalObserver::new(system, &set).err().expect("it is refused").to_string()
}

#[test]
fn what_is_not_there_is_named() {
    let mut model = mixed();
    model.options.saltation = true;
    let error = System::new(&model).err().unwrap().to_string();
    assert!(error.contains("option.saltation"), "{error}");

    let settings = ContactSettings::default();
    let error = mixed().add_soft_contact("bell", &settings).unwrap_err().to_string();
    assert!(error.contains("geom.bell.soft") && error.contains("known: ball"), "{error}");
    let error = mixed().add_soft_contact("ball", &settings).unwrap_err().to_string();
    assert!(error.contains("geom.ball.soft.stiffness"), "{error}");
    let mut other = robot(
        r#"<mujoco><worldbody><geom name="can" type="cylinder" size="0.1 0.1"/></worldbody></mujoco>"#,
    );
    let error = other.add_soft_contact("can", &settings).unwrap_err().to_string();
    assert!(error.contains("a cylinder") && error.contains("spheres"), "{error}");

    let mut unknown = free_ball("0.06 0.04 0.17", "Euler", 5e-4);
    block("block", 5.0).build(&mut unknown).unwrap();
    let law = ContactSettings { law: "sticky".into(), ..settings };
    unknown.add_soft_contact("ball", &law).unwrap();
    let error = System::new(&unknown).err().unwrap().to_string();
    assert!(error.contains("geom.ball.soft") && error.contains("`sticky`"), "{error}");

    let system = compile(&mixed());
    let vertex = Point::Vertex { body: "block".into(), vertex: 0 };
    let error = refused(Observation::Acceleration(vertex), &system);
    assert!(error.contains("acceleration"), "{error}");
    let nowhere = Observation::ContactForce { geom: "floor".into(), body: None, region: None };
    let error = refused(nowhere, &system);
    assert!(error.contains("known: ball"), "{error}");
}

/// The largest stable step knows both masses: a vertex of 100 g against a ball of 1 g.
#[test]
fn a_step_too_long_for_a_light_body_is_refused() {
    let mut model = robot(
        r#"<mujoco><option timestep="0.003" gravity="0 0 0"/><worldbody><body pos="0 0 1">
        <joint name="z" type="slide" axis="0 0 1"/><geom name="ball" size="0.05" mass="0.001"/>
        </body></worldbody></mujoco>"#,
    );
    costate_model::SoftBuilder::new("p", vec![[0.0; 3]])
        .vertex_mass(vec![0.1])
        .build(&mut model)
        .unwrap();
    model.add_soft_contact("ball", &contact(1000.0, 0.0, 0.0)).unwrap();
    let system = compile(&model);
    let c = system.derive(&system.theta()).unwrap();
    let stable = system.stable_step(&c, &system.initial_state(&c, &[]), &[]);
    let expected = 2.0 / (1000.0f64 * (1.0 / 0.1 + 1.0 / 0.001)).sqrt();
    assert!((stable.bound / expected - 1.0).abs() < 1e-12, "{stable:?} {expected}");
    assert!(stable.limited_by.contains("geom.ball"), "{stable:?}");
}

/// The report counts the contacts of robots' geoms.
#[test]
fn contacts_are_reported() {
    let model = mixed().with("joint.ball.qvel", &[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]).unwrap();
    let system = compile(&model);
    let (c, states) = run(&system, 400);
    let report = system.contact_report(&c, &states);
    let ball = report.geoms.iter().find(|geom| geom.geom == "ball").expect("it is there");
    assert!(ball.onsets > 0 && ball.largest_force > 0.0, "{ball:?}");
    assert_eq!((ball.jumps, ball.law), (0, "smooth"));
}
