//! Impacts.

use costate_dynamics::rigid::RigidState;

use crate::world::{World, near};

/// Contacts that push softly at their onset, without damping.
const SMOOTH: &str = r#"solref="-10000 0" solimp="0 0.95 0.05 0.5 2" condim="1""#;

/// A point that moves in space without turning; with fewer joints MuJoCo's mean inverse weight of a body
/// counts the directions in which it cannot move.
const SLIDES: &str = r#"<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/>"#;

/// R02: the speed after a head-on impact with damping ratio z.
#[test]
fn r02_a_sphere_hits_a_box() {
    let (h, z) = (1e-5, 0.2f64);
    let w = World::new(&format!(
        r#"<mujoco><option timestep="{h}" gravity="0 0 0"/><worldbody>
        <geom type="box" size="0.1 0.5 0.5" pos="0.2 0 0" condim="1"/>
        <body>{SLIDES}
          <geom name="ball" size="0.1" mass="1" condim="1" priority="1"
            solref="0.005 {z}" solimp="0.9 0.9 0.001 0.5 2"/></body>
        </worldbody></mujoco>"#
    ));
    let mut start = w.start();
    (start.qpos[0], start.qvel[0]) = (1e-12, 1.0);
    let states = w.run(start, &[], 1000);
    let g = w.gradient(&states, &[], &[0.0; 3], &[-1.0, 0.0, 0.0]);
    let root = (1.0 - z * z).sqrt();
    let e = (-2.0 * z * z.acos() / root).exp();
    let by_z = -2.0 * e * (z.acos() / root.powi(3) - z / (root * root));
    // First order in h times the rate of the contact, 1000/s.
    near("speed", -states[1000].qvel[0], e, 2e-2 * e);
    near("by the speed before", g.bar.v[0], e, 2e-2 * e);
    near("by z", w.by(&g, "geom.ball.solref", 1), by_z, 2e-2 * by_z.abs());
}

fn wall_and_floor(joints: &str) -> World {
    World::new(&format!(
        r#"<mujoco><option timestep="1e-4"/><default><geom {SMOOTH}/></default><worldbody>
        <geom type="plane" size="1 1 1"/>
        <geom type="plane" size="1 1 1" pos="0.6 0 0" zaxis="-1 0 0"/>
        <body pos="0 0 1">{joints}<geom size="0.1" mass="1"/></body>
        </worldbody></mujoco>"#
    ))
}

/// R14: a sphere bounces on floor and wall; the coordinates do not matter.
#[test]
fn r14_a_sphere_bounces_in_two_kinds_of_coordinates() {
    let free = wall_and_floor("<freejoint/>");
    let slides = wall_and_floor(&format!(r#"{SLIDES}<joint type="ball"/>"#));
    let steps = 12_000;
    let (mut a, mut b) = (free.start(), slides.start());
    (a.qvel[0], b.qvel[0]) = (1.0, 1.0);
    let (a, b) = (free.run(a, &[], steps), slides.run(b, &[], steps));
    let (last, other) = (&a[steps], &b[steps]);
    for k in 0..3 {
        let offset = if k == 2 { 1.0 } else { 0.0 };
        near("place", last.qpos[k], other.qpos[k] + offset, 1e-9);
        near("spin", last.qvel[3 + k], 0.0, 1e-12);
        near("spin", other.qvel[3 + k], 0.0, 1e-12);
    }
    let seed = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (w, states) in [(&free, &a), (&slides, &b)] {
        let g = w.gradient(states, &[], &seed, &[0.0; 6]);
        near("by the velocity", g.bar.v[0], -1.1750, 0.002);
    }
}

/// R32: where a dropped ball is after its bounce, by where it was dropped.
#[test]
fn r32_the_time_of_impact_moves() {
    let w = World::new(&format!(
        r#"<mujoco><option timestep="1e-4"/><default><geom {SMOOTH}/></default><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body pos="0 0 1.1">{SLIDES}<geom size="0.1" mass="1"/></body>
        </worldbody></mujoco>"#
    ));
    let states = w.run(w.start(), &[], 8000);
    let g = w.gradient(&states, &[], &[0.0, 0.0, 1.0], &[0.0; 3]);
    near("height", 1.0 + states[8000].qpos[2], 0.90834, 0.0002);
    near("by the height before", g.bar.q[2], 0.3984, 0.01);
}

fn two_balls(radius: f64, mass: [f64; 2], solimp: &str, at: f64) -> World {
    World::new(&format!(
        r#"<mujoco><option timestep="1e-4" gravity="0 0 0"/>
        <default><geom solref="-10000 0" solimp="{solimp}" condim="1"/></default><worldbody>
        <body>{SLIDES}<geom name="a" size="{radius}" mass="{}"/></body>
        <body pos="{at} 0 0">{SLIDES}
          <geom name="b" size="{radius}" mass="{}"/></body>
        </worldbody></mujoco>"#,
        mass[0], mass[1]
    ))
}

/// R38: two equal balls exchange their velocities.
#[test]
fn r38_two_balls_exchange_velocities() {
    let w = two_balls(0.1, [1.0, 1.0], "0 0.95 0.01 0.5 2", 0.52);
    let mut start = w.start();
    start.qvel[0] = 1.0;
    let states = w.run(start, &[], 10_000);
    let g = w.gradient(&states, &[], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], &[0.0; 6]);
    near("place", 0.52 + states[10_000].qpos[3], 1.18349, 1e-4);
    near("by x1", g.bar.q[0], 1.0, 0.003);
    near("by x2", g.bar.q[3], 0.0, 0.003);
    near("by v0", g.bar.v[0], 0.9857, 0.003);
    near("by u0", g.bar.v[3], 0.0143, 0.003);
    let by_radius = w.by(&g, "geom.a.size", 0) + w.by(&g, "geom.b.size", 0);
    near("by r", by_radius, 2.0, 0.006);
}

/// R44: velocities after an elastic collision, by the masses.
#[test]
fn r44_masses_share_velocity() {
    let w = two_balls(2.0, [1.0, 1.0], "0 0.95 0.01 0.5 2", 4.2);
    let mut start = w.start();
    start.qvel[0] = 1.0;
    let states = w.run(start, &[], 5000);
    for (body, signs) in [(0, [0.5, -0.5]), (3, [0.5, -0.5])] {
        let mut v = [0.0; 6];
        v[body] = 1.0;
        let g = w.gradient(&states, &[], &[0.0; 6], &v);
        near("by m1", w.by(&g, "geom.a.mass", 0), signs[0], 0.003);
        near("by m2", w.by(&g, "geom.b.mass", 0), signs[1], 0.003);
        near("by r", w.by(&g, "geom.a.size", 0), 0.0, 0.003);
    }
}

/// R64: place and speed after a bounce, by the damping ratio of the contact.
#[test]
fn r64_the_damping_ratio_of_a_bounce() {
    let w = World::new(&format!(
        r#"<mujoco><option timestep="1e-5"/><worldbody>
        <geom type="plane" size="1 1 1" condim="1"/>
        <body pos="0 0 1.1">{SLIDES}
          <geom name="ball" size="0.1" mass="1" condim="1" priority="1" solref="0.005 0.2"
            solimp="0.9 0.9 0.001 0.5 2"/></body>
        </worldbody></mujoco>"#
    ));
    let states: Vec<RigidState> = w.run(w.start(), &[], 80_000);
    for (q, v, wanted) in [(1.0, 0.0, -2.202), (0.0, 1.0, -6.319)] {
        let g = w.gradient(&states, &[], &[0.0, 0.0, q], &[0.0, 0.0, v]);
        near("by z", w.by(&g, "geom.ball.solref", 1), wanted, 0.03 * f64::abs(wanted));
    }
}
