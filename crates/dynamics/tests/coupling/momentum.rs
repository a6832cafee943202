//! Nothing is lost between a free body and a soft one.

use costate_dynamics::System;
use costate_model::State;
use costate_num::{Quat, Vec3};

use crate::world::{block, compile, contact, free_ball, run};

const MASS: f64 = 0.2;
/// Of a solid ball.
const INERTIA: f64 = 0.4 * MASS * 0.05 * 0.05;

fn vec3(x: &[f64]) -> Vec3<f64> {
    Vec3::new(x[0], x[1], x[2])
}

/// Momentum and angular momentum about the world's origin. A ball keeps its own in a semi-implicit step:
/// its inertia is the same about all axes, so that no rate of rotation is lost to the turning of axes.
fn momenta(system: &System, state: &State) -> [Vec3<f64>; 2] {
    let masses = system.vertex_masses(&system.theta());
    let (mut p, mut l) = (Vec3::zero(), Vec3::zero());
    for (i, m) in masses.iter().enumerate() {
        let at = 3 * i..3 * i + 3;
        let momentum = vec3(&state.v[at.clone()]) * *m;
        p += momentum;
        l += vec3(&state.q[at]).cross(momentum);
    }
    let soft = 3 * masses.len();
    let (q, v) = (&state.q[soft..], &state.v[soft..]);
    let turn = Quat::new(q[3], q[4], q[5], q[6]);
    let momentum = vec3(v) * MASS;
    p += momentum;
    l += vec3(q).cross(momentum) + turn.rotate(vec3(&v[3..])) * INERTIA;
    [p, l]
}

/// A ball that spins hits a block that turns, off its centre and with friction.
fn impact(integrator: &str, law: &str) {
    let mut model = free_ball("0.08 0.03 0.2", integrator, 2e-4);
    model = model.with("joint.ball.qvel", &[0.3, -0.2, -2.0, 5.0, -8.0, 3.0]).unwrap();
    let body = block("block", 5.0).angular_velocity([0.5, -0.3, 0.8]).velocity([0.1, 0.0, 0.2]);
    body.build(&mut model).unwrap();
    let mut settings = contact(2000.0, 2.0, 0.6);
    settings.law = law.into();
    model.add_soft_contact("ball", &settings).unwrap();
    let system = compile(&model);
    let (_, states) = run(&system, 1000);
    let start = momenta(&system, &states[0]);
    let mut most = [0.0f64; 2];
    for state in &states {
        for (k, (now, then)) in momenta(&system, state).into_iter().zip(start).enumerate() {
            most[k] = most[k].max((now - then).norm() / then.norm());
        }
    }
    let soft = system.vertex_count() * 3;
    let (first, last) = (&states[0].v[soft..], &states[states.len() - 1].v[soft..]);
    assert!(last[2] - first[2] > 0.5, "the ball bounces: {last:?}");
    assert!((last[3] - first[3]).abs() > 0.1, "friction turns the ball: {last:?}");
    assert!(most[0] < 1e-12 && most[1] < 1e-12, "{integrator} {law}: {most:?}");
}

#[test]
fn a_free_ball_and_a_free_block_keep_their_momenta() {
    impact("Euler", "smooth");
    impact("implicitfast", "smooth");
    impact("Euler", "warp");
    impact("Euler", "warp-shape");
}
