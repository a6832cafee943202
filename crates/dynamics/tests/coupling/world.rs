//! Scenes of soft bodies and articulated ones, and their runs.

use costate_dynamics::rollout::Run;
use costate_dynamics::{Constants, System};
use costate_formats::parse_mjcf;
use costate_model::{
    ContactSettings, Damping, GridSplit, Inputs, MaterialSettings, Model, SoftBuilder, State,
    TetrahedraSettings,
};

/// A robot from its text, with leaves of its start.
pub fn robot(text: &str) -> Model {
    let mut model = parse_mjcf("robot.xml", text).unwrap_or_else(|e| panic!("{e}"));
    let a = model.articulation.as_mut().unwrap();
    a.add_initial_state(&mut model.leaves, None).unwrap();
    model
}

/// A block of 2 × 2 × 2 cells, 0.1 m wide, of 0.1 kg.
pub fn block(name: &str, viscosity: f64) -> SoftBuilder {
    let material = MaterialSettings::engineering("neo-hookean", 2e4, 0.3);
    let damping = Damping { viscosity: vec![viscosity], ..Damping::default() };
    let settings = TetrahedraSettings { damping, ..TetrahedraSettings::new(material, 100.0) };
    SoftBuilder::grid(name, [2, 2, 2], [0.05; 3], GridSplit::Five)
        .tetrahedra(settings)
        .radius(vec![0.004])
}

/// A free ball of 0.2 kg and radius 0.05 m about the origin of its frame; no gravity.
pub fn free_ball(pos: &str, integrator: &str, h: f64) -> Model {
    robot(&format!(
        r#"<mujoco model="ball">
  <option timestep="{h}" gravity="0 0 0" integrator="{integrator}"/>
  <worldbody>
    <body name="ball" pos="{pos}">
      <freejoint name="ball"/>
      <geom name="ball" size="0.05" mass="0.2"/>
    </body>
  </worldbody>
</mujoco>"#
    ))
}

/// The contact of these tests.
pub fn contact(stiffness: f64, damping: f64, friction: f64) -> ContactSettings {
    let slip_speed = 0.05;
    ContactSettings { stiffness, damping, friction, slip_speed, ..ContactSettings::default() }
}

/// All states of a run of steps that are stable.
pub fn run(system: &System, steps: usize) -> (Constants, Vec<State>) {
    let c = system.derive(&system.theta()).unwrap();
    let inputs = Inputs::default();
    let u = vec![0.0; system.input_len()];
    let start = system.initial_state(&c, &u);
    system.check_timestep(&c, &start, &u).unwrap_or_else(|e| panic!("{e}"));
    let states = Run::new(system, &c, &inputs).rollout(steps, 1);
    let states = states.unwrap_or_else(|e| panic!("{e:?}")).states;
    (c, states)
}

pub fn compile(model: &Model) -> System {
    System::new(model).unwrap_or_else(|e| panic!("{e}"))
}
