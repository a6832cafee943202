//! Bodies at rest on others.

use crate::world::{World, near};

const G: f64 = 9.81;

fn resting(mass: f64) -> World {
    World::new(&format!(
        r#"<mujoco><option timestep="1e-3"/><worldbody>
        <geom name="box" type="box" size="0.5 0.5 0.2" pos="0 0 -0.2" condim="1"/>
        <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
          <joint type="slide" axis="0 0 1"/>
          <geom name="ball" size="0.1" mass="{mass}" condim="1" priority="1" solref="-2000 -90"
            solimp="0.9 0.9 0.001 0.5 2"/></body>
        </worldbody></mujoco>"#
    ))
}

/// R04 and R41: the depth at rest is (1 − d) g/k whatever the mass; surfaces move the ball with
/// them; the limit of iterations does not matter.
#[test]
fn r04_r41_a_ball_at_rest() {
    let (ks, d, mass) = (2000.0, 0.9, 3.0);
    let depth = (1.0 - d) * G / ks;
    let mut found = Vec::new();
    for iterations in [20, 50, 200] {
        let mut w = resting(mass);
        w.mechanism.tree.options.iterations = iterations;
        let states = w.run(w.start(), &[], 3000);
        near("height", states[3000].qpos[2], -depth, 1e-9);
        let g = w.gradient(&states, &[], &[0.0, 0.0, 1.0], &[0.0; 3]);
        // The height is minus the depth; solref holds minus ks.
        near("by ks", w.by(&g, "geom.ball.solref", 0), -depth / ks, 1e-9);
        near("by the mass", w.by(&g, "geom.ball.mass", 0), 0.0, 1e-10);
        near("by r", w.by(&g, "geom.ball.size", 0), 1.0, 1e-9);
        near("by the box's half height", w.by(&g, "geom.box.size", 2), 1.0, 1e-9);
        near("by the box's place", w.by(&g, "geom.box.pos", 2), 1.0, 1e-9);
        let layout = &w.mechanism.layout;
        let frozen = g.bar.c[layout.body_mass.at(1)];
        near("by the mass, derived constants held", frozen, -depth / mass, 1e-9);
        found.push(g.bar.c);
    }
    for other in &found[1..] {
        for (a, b) in other.iter().zip(&found[0]) {
            assert!((a - b).abs() <= 1e-8 * b.abs().max(1e-6), "{a} {b}");
        }
    }
}

/// R60: a ball just touching, pushed up with a force on either side of its weight.
#[test]
fn r60_a_force_near_the_weight() {
    let (h, mass) = (1e-3, 2.0);
    let w = World::new(&format!(
        r#"<mujoco><option timestep="{h}"/><worldbody>
        <geom type="plane" size="1 1 1" condim="1"/>
        <body pos="0 0 0.1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
          <joint name="j" type="slide" axis="0 0 1"/>
          <geom size="0.1" mass="{mass}" condim="1" priority="1"
            solimp="0.9 0.9 0.001 0.5 2"/></body>
        </worldbody><actuator><motor joint="j"/></actuator></mujoco>"#
    ));
    for (factor, wanted) in [(0.999, 0.1 * h / mass), (1.001, h / mass)] {
        let mut start = w.start();
        start.qpos[2] = -1e-12;
        let u = factor * mass * G;
        let states = w.run(start.clone(), &[u], 1);
        let g = w.gradient(&states, &[u], &[0.0; 3], &[0.0, 0.0, 1.0]);
        near("by the force", g.ctrl[0], wanted, 1e-12);
        let v = |u: f64| w.run(start.clone(), &[u], 1)[1].qvel[2];
        near("by differences", (v(u + 1e-6) - v(u - 1e-6)) / 2e-6, wanted, 1e-9);
    }
}
