//! Sliding and rolling.

use crate::world::{World, near};

const G: f64 = 9.81;

/// R21: the stopping distance of a slider, by its friction.
#[test]
fn r21_a_slider_stops() {
    let (mu, h) = (0.3, 1e-4);
    // At rest on a contact of damping ratio one: depth (1 − d) g tc².
    let depth = 0.01 * G * 0.005 * 0.005;
    let w = World::new(&format!(
        r#"<mujoco><option timestep="{h}" cone="elliptic"/><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body pos="0 0 {}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
          <joint type="slide" axis="0 0 1"/>
          <geom name="ball" size="0.1" mass="1" priority="1" friction="{mu} 0.005 0.0001"
            solref="0.005 1" solimp="0.99 0.99 0.001 0.5 2"/></body>
        </worldbody></mujoco>"#,
        0.1 - depth
    ));
    let mut start = w.start();
    start.qvel[0] = 1.0;
    let states = w.run(start, &[], 5000);
    let distance = 1.0 / (2.0 * mu * G);
    near("distance", states[5000].qpos[0], distance, 0.002 * distance);
    let g = w.gradient(&states, &[], &[1.0, 0.0, 0.0], &[0.0; 3]);
    let wanted = -distance / mu;
    near("by friction", w.by(&g, "geom.ball.friction", 0), wanted, 0.01 * wanted.abs());
    // Before it has stopped.
    let early = &states[..2001];
    near("velocity", early[2000].qvel[0], 1.0 - mu * G * 0.2, 0.02);
    let g = w.gradient(early, &[], &[0.0; 3], &[1.0, 0.0, 0.0]);
    near("by friction", w.by(&g, "geom.ball.friction", 0), -G * 0.2, 0.03 * G * 0.2);
}

/// R41: a sphere thrown without spin ends rolling at 5/7 of its speed.
#[test]
fn r41_a_sphere_begins_to_roll() {
    let r = 0.1;
    let w = World::new(&format!(
        r#"<mujoco><option timestep="1e-4" cone="elliptic"/><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body pos="0 0 {r}"><freejoint/>
          <geom name="ball" size="{r}" mass="1" priority="1" friction="0.3 0 0"
            solref="0.005 1" solimp="0.99 0.99 0.001 0.5 2"/></body>
        </worldbody></mujoco>"#
    ));
    let mut start = w.start();
    start.qvel[0] = 1.0;
    let states = w.run(start, &[], 5000);
    let last = &states[5000];
    near("velocity", last.qvel[0], 5.0 / 7.0, 0.01);
    near("spin", last.qvel[4], 5.0 / (7.0 * r), 0.1);
    let mut seed = [0.0; 6];
    // The spin is about the world's y axis, which the ball's own has left.
    let turn = costate_num::Quat::new(last.qpos[3], last.qpos[4], last.qpos[5], last.qpos[6]);
    seed[3..].copy_from_slice(
        &turn.conjugate().rotate(costate_num::Vec3::new(0.0, 1.0, 0.0)).to_array(),
    );
    let g = w.gradient(&states, &[], &[0.0; 6], &seed);
    let wanted = -5.0 / (7.0 * r * r);
    // It starts on the plane: its height goes with r.
    let by_r = w.by(&g, "geom.ball.size", 0) + g.bar.q[2];
    near("by r", by_r, wanted, 0.01 * wanted.abs());
}
