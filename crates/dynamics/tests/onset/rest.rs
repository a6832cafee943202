//! Contacts that last: sliding, resting, lifting off.

use costate_dynamics::System;
use costate_dynamics::rollout::{Run, Seeds};
use costate_model::{GeomBuilder, InputSignal, Inputs, Model, Shape, SoftBuilder};

use crate::common::States;
use crate::harness::{Ball, G, close, end, end_under, slope};

/// R21: a point mass slides on a plane until friction has stopped it.
#[test]
fn case_r21_stopping_distance_of_a_sliding_mass() {
    let (mu, k, ramp, h) = (0.3, 1e4, 1e-3, 1e-4);
    let mut model = Model::new("slider");
    model.options.timestep = h;
    SoftBuilder::new("p", vec![[0.0; 3]])
        .vertex_mass(vec![1.0])
        .radius(vec![0.05])
        .position([0.0, 0.0, 0.05 - (G / k + 0.5 * ramp)])
        .velocity([1.0, 0.0, 0.0])
        .build(&mut model)
        .unwrap();
    GeomBuilder::new("floor", Shape::Plane, &[])
        .stiffness(k)
        .damping(200.0)
        .friction(mu)
        .slip_speed(1e-3)
        .ramp(ramp)
        .build(&mut model)
        .unwrap();
    let (distance, stop) = (1.0 / (2.0 * mu * G), 1.0 / (mu * G));
    let tolerance = 2.0 * h / stop;
    close("distance", end(&model, 0.5)[0], distance, tolerance);
    let d = slope(&model, 0.5, "geom.floor.friction", 0);
    close("d/dmu", d[0], -distance / mu, tolerance);
    let sliding = slope(&model, 0.2, "geom.floor.friction", 0);
    close("dv/dmu", sliding[3], -G * 0.2, tolerance);
    let by_stiffness = slope(&model, 0.5, "geom.floor.stiffness", 0);
    close("d(depth)/dk", -by_stiffness[2], -G / (k * k), 1e-3);
}

/// R04 and R41: at rest the depth is m g/k (half a ramp more under the default law), and the
/// centre stands on radius, position and half height.
#[test]
fn case_r04_depth_at_rest() {
    let (k, m) = (1e4, 2.0);
    for (law, ramp) in [("smooth", 1e-4), ("warp", 1e-4), ("warp-shape", 1e-4)] {
        let mut model = Model::new("rest");
        model.options.timestep = 1e-4;
        SoftBuilder::new("p", vec![[0.0; 3]])
            .vertex_mass(vec![m])
            .radius(vec![0.05])
            .position([0.0, 0.0, 0.3495])
            .build(&mut model)
            .unwrap();
        GeomBuilder::new("box", Shape::Box, &[0.5, 0.4, 0.1])
            .pos([0.0, 0.0, 0.2])
            .law(law)
            .stiffness(k)
            .damping(250.0)
            .ramp(ramp)
            .build(&mut model)
            .unwrap();
        let depth = m * G / k + if law == "smooth" { 0.5 * ramp } else { 0.0 };
        close(law, 0.35 - end(&model, 1.0)[2], depth, 1e-8);
        let z = |path: &str, i: usize| slope(&model, 1.0, path, i)[2];
        close(law, -z("soft.p.vertex_mass", 0), G / k, 1e-6);
        close(law, -z("geom.box.stiffness", 0), -m * G / (k * k), 1e-6);
        close(law, z("soft.p.radius", 0), 1.0, 1e-6);
        close(law, z("geom.box.pos", 2), 1.0, 1e-6);
        close(law, z("geom.box.size", 2), 1.0, 1e-6);
    }
}

/// R60: a ball on a plane pushed up by nearly its weight, critically damped.
#[test]
fn case_r60_push_on_either_side_of_the_weight() {
    let (k, time) = (1e4, 1.0);
    let ball =
        Ball { h: 1e-4, z: -1e-12, stiffness: k, damping: 200.0, ramp: 1e-5, ..Ball::default() };
    let system = System::new(&ball.model()).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let observer = States { at: vec![(time / ball.h).round() as usize], dof: 3 };
    let push = |u: f64| Inputs { signals: vec![Some(InputSignal::constant(&[0.0, 0.0, u]))] };
    let by_push = |u: f64| {
        let inputs = push(u);
        let run = Run::new(&system, &c, &inputs);
        let seeds = Seeds { columns: 1, inputs: vec![push(1.0)], ..Seeds::default() };
        run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot
    };
    let below = by_push(5.0);
    assert!(below[5].abs() < 1e-9, "{below:?}");
    close("settled", -below[2], -1.0 / k, 1e-6);
    close("lifted", by_push(12.0)[5], time, 1e-6);
    assert!(end_under(&ball.model(), time, &push(12.0))[2] > 1.0);
}
