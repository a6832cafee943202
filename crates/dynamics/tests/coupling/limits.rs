//! Geoms that cannot be moved are static ones.

use costate_model::{GeomBuilder, Model, Shape, State};

use crate::world::{block, compile, contact, robot, run};

const SHAPES: [(Shape, &str, [f64; 3]); 4] = [
    (Shape::Plane, "1 1 1", [0.0; 3]),
    (Shape::Sphere, "0.06", [0.06, 0.0, 0.0]),
    (Shape::Box, "0.06 0.05 0.03", [0.06, 0.05, 0.03]),
    (Shape::Capsule, "0.04 0.05", [0.04, 0.05, 0.0]),
];
const QUAT: [f64; 4] = [0.9, 0.2, -0.1, 0.3];

/// A block that falls with a spin.
fn falling(model: &mut Model, velocity: [f64; 3]) {
    let body = block("block", 5.0).position([-0.05, -0.05, 0.1]).velocity(velocity);
    body.angular_velocity([1.0, -0.5, 0.3]).build(model).unwrap();
}

/// A geom of a body that hangs on the world without a joint, at a place put together from three, is the
/// static geom at that place, in all shapes.
#[test]
fn a_geom_of_a_body_without_joints_is_a_static_geom() {
    for (shape, size, numbers) in SHAPES {
        let [w, x, y, z] = QUAT;
        let mut moving = robot(&format!(
            r#"<mujoco>
  <option timestep="0.0005"/>
  <worldbody>
    <body pos="0 0 -0.07">
      <body pos="0.01 0.02 0.03">
        <geom name="g" type="{n}" size="{size}" pos="0.01 -0.01 0.04" quat="{w} {x} {y} {z}" mass="1"/>
      </body>
    </body>
    <body pos="5 0 0"><joint name="far" type="slide"/><geom name="far" size="0.1"/></body>
  </worldbody>
</mujoco>"#,
            n = shape.name()
        ));
        falling(&mut moving, [0.1, 0.0, -1.0]);
        let settings = contact(1000.0, 2.0, 0.4);
        moving.add_soft_contact("g", &settings).unwrap();
        let mut still = Model::new("static");
        still.options.timestep = 0.0005;
        falling(&mut still, [0.1, 0.0, -1.0]);
        let geom = GeomBuilder::new("g", shape, &numbers[..shape.size_len()]);
        geom.pos([0.02, 0.01, 0.0]).quat(QUAT).contact(settings).build(&mut still).unwrap();
        let (moving, still) = (compile(&moving), compile(&still));
        let n = 3 * still.vertex_count();
        let (_, with) = run(&moving, 400);
        let (_, without) = run(&still, 400);
        let off = |a: &State, b: &State| -> f64 {
            let pairs = a.q[..n].iter().zip(&b.q[..n]);
            pairs.fold(0.0f64, |most, (x, y)| most.max((x - y).abs()))
        };
        let most = with.iter().zip(&without).map(|(a, b)| off(a, b)).fold(0.0, f64::max);
        // Rounding apart, of a motion that contact makes sensitive.
        assert!(most < 1e-10, "{}: {most:e}", shape.name());
        let free = 0.1 - 1.0 * 0.2 - 0.5 * 9.81 * 0.04;
        let fell = without[400].q[2];
        assert!(fell > free + 1e-3, "{}: contact was made, {fell} {free}", shape.name());
    }
}

/// A body too heavy to be moved that comes at a constant velocity is a static geom in its own frame.
#[test]
fn a_heavy_geom_on_its_way_is_a_static_geom_for_one_who_goes_along() {
    let speed = 1.5;
    let mut moving = robot(
        r#"<mujoco>
  <option timestep="0.0005" gravity="0 0 0"/>
  <worldbody>
    <body name="ram" pos="0 0 0.01">
      <joint name="ram" type="slide" axis="0 0 1"/>
      <geom name="ram" type="capsule" size="0.04 0.05" quat="0.7 0.7 0 0" mass="1e14"/>
    </body>
  </worldbody>
</mujoco>"#,
    )
    .with("joint.ram.qvel", &[speed])
    .unwrap();
    falling(&mut moving, [0.1, 0.0, 0.0]);
    let settings = contact(1000.0, 2.0, 0.4);
    moving.add_soft_contact("ram", &settings).unwrap();
    let mut still = Model::new("static").with("option.gravity", &[0.0; 3]).unwrap();
    still.options.timestep = 0.0005;
    falling(&mut still, [0.1, 0.0, -speed]);
    let geom = GeomBuilder::new("ram", Shape::Capsule, &[0.04, 0.05]).pos([0.0, 0.0, 0.01]);
    geom.quat([0.7, 0.7, 0.0, 0.0]).contact(settings).build(&mut still).unwrap();
    let (moving, still) = (compile(&moving), compile(&still));
    let (_, with) = run(&moving, 300);
    let (_, without) = run(&still, 300);
    let n = 3 * still.vertex_count();
    let mut most = 0.0f64;
    for (k, (a, b)) in with.iter().zip(&without).enumerate() {
        let gone = speed * 0.0005 * k as f64;
        for j in 0..n {
            let shift = if j % 3 == 2 { gone } else { 0.0 };
            most = most.max((a.q[j] - shift - b.q[j]).abs());
        }
    }
    assert!(most < 1e-9, "{most:e}");
    assert!(with[300].v[2] > 0.5, "the block was hit: {}", with[300].v[2]);
}
