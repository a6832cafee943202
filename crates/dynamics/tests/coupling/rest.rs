//! Bodies at rest on soft ones.

use costate_dynamics::observe::{Observation, Sample, Signal, SignalObserver, SignalSet};
use costate_dynamics::rollout::Run;
use costate_model::Inputs;

use crate::world::{block, compile, contact, robot, run};

/// A free box that comes to rest on a block whose lowest vertices are held: the contact carries the weight.
#[test]
fn the_contact_under_a_box_at_rest_carries_its_weight() {
    let (mass, g) = (0.15, 9.81);
    let mut model = robot(
        r#"<mujoco model="box">
  <option timestep="0.0005"/>
  <worldbody>
    <body name="box" pos="0.05 0.05 0.125">
      <freejoint name="box"/>
      <geom name="box" type="box" size="0.06 0.06 0.02" mass="0.15"/>
    </body>
  </worldbody>
</mujoco>"#,
    );
    let lowest = block("block", 10.0).select(|x| x[2] < 1e-9).vertices;
    block("block", 10.0).fix(&lowest).mass_damping(4.0).build(&mut model).unwrap();
    model.add_soft_contact("box", &contact(400.0, 1.0, 0.5)).unwrap();
    let system = compile(&model);
    let steps = 8000;
    let (c, states) = run(&system, steps);
    let last = &states[steps];
    let fastest = last.v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    assert!(fastest < 1e-6, "at rest: {fastest:e}");
    let geom = Observation::ContactForce { geom: "box".into(), body: None, region: None };
    let signals = (0..3).map(|a| Signal::new(format!("f{a}"), geom.clone(), a)).collect();
    let time = 0.0005 * steps as f64;
    let samples = (0..3).map(|signal| Sample { signal, time }).collect();
    let set = SignalSet { signals, samples, ..SignalSet::default() };
    let observer = SignalObserver::new(&system, &set).unwrap();
    let inputs = Inputs::default();
    let p = observer.leaves().theta();
    let f = Run::new(&system, &c, &inputs).observe(&observer, &p).unwrap();
    assert!((f[2] + mass * g).abs() < 1e-5 * mass * g, "{f:?}");
    assert!(f[0].abs() < 1e-5 && f[1].abs() < 1e-5, "{f:?}");
}
