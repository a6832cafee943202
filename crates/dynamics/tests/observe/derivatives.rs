//! Every observation: tangents against differences and adjoints against tangents, by states,
//! constants, own parameters and time.

use costate_dynamics::observe::{
    Clock, Frame, Observation, Point, Sample, Signal, SignalSet, Term, Wrap,
};

use costate_dynamics::System;

use crate::harness::{Bench, Random, model};

pub fn vertex(vertex: u32) -> Point {
    Point::Vertex { body: "block".into(), vertex }
}

pub fn embedded() -> Point {
    Point::Embedded { body: "block".into(), rest: [0.13, 0.04, 0.06] }
}

pub fn marker() -> Point {
    Point::Marker { name: "m".into(), body: "block".into(), rest: [0.17, 0.03, 0.12] }
}

pub fn centre(region: Option<&str>) -> Point {
    Point::CentreOfMass { body: "block".into(), region: region.map(Into::into) }
}

/// Each component of an observation as a signal by itself, at two times in interval 3, with and
/// without a frame, by a shifted clock.
pub fn set(observation: &Observation) -> SignalSet {
    let mut signals = Vec::new();
    for component in 0..observation.components() {
        for frame in [None, Some(0)] {
            let name = format!("s{component}{}", frame.is_some());
            signals.push(Signal {
                constant: 0.3,
                scale: 1.7,
                bias: -0.4,
                clock: Some(0),
                frame,
                ..Signal::new(name, observation.clone(), component)
            });
        }
    }
    let samples = (0..signals.len())
        .flat_map(|signal| [0.0285, 0.0321].map(|time| Sample { signal, time }))
        .collect();
    SignalSet {
        frames: vec![Frame {
            name: "room".into(),
            rotation: [0.3, -0.5, 0.9],
            translation: [1.0, 2.0, -0.5],
            scale: 1.1,
        }],
        clocks: vec![Clock {
            path: "recording.a.offset".into(),
            offset: 0.004,
            bounds: [-0.01, 0.02],
        }],
        signals,
        samples,
    }
}

fn check(observation: &Observation) {
    let bench = Bench::new(&model(), &set(observation), 3);
    for seed in 0..4 {
        bench.check(seed);
    }
}

#[test]
fn positions() {
    for point in [vertex(5), embedded(), marker(), centre(None), centre(Some("end"))] {
        check(&Observation::Position(point));
    }
}

#[test]
fn velocities() {
    for point in [vertex(5), embedded(), marker(), centre(None), centre(Some("end"))] {
        check(&Observation::Velocity(point));
    }
}

#[test]
fn accelerations() {
    for point in [vertex(5), vertex(0), embedded(), centre(Some("end"))] {
        check(&Observation::Acceleration(point));
    }
}

#[test]
fn distances_and_angles() {
    check(&Observation::Distance(vertex(3), marker()));
    check(&Observation::Distance(centre(None), embedded()));
    check(&Observation::Angle(vertex(3), embedded(), marker()));
    for about in [None, Some([0.2, 1.0, -0.3])] {
        let (from, to) = (embedded(), marker());
        check(&Observation::AxisAngle { from, to, axis: [0.3, 0.1, 2.0], about });
    }
}

#[test]
fn orientations() {
    check(&Observation::Orientation(vertex(3), vertex(7), marker()));
    check(&Observation::Orientation(embedded(), vertex(1), vertex(10)));
}

#[test]
fn energy() {
    check(&Observation::Energy);
}

#[test]
fn contact_forces() {
    let force = |body: Option<&str>, region: Option<&str>| Observation::ContactForce {
        geom: "floor".into(),
        body: body.map(Into::into),
        region: region.map(Into::into),
    };
    check(&force(None, None));
    check(&force(Some("block"), Some("end")));
}

#[test]
fn vertex_masses_follow_their_leaves() {
    let system = System::new(&model()).unwrap();
    let random = &mut Random(5);
    let theta = system.theta();
    let c = system.derive(&theta).unwrap();
    let range = system.layout().vertex_mass.clone();
    assert_eq!(c.values[range.clone()], system.vertex_masses(&theta));
    let theta_dot = random.fill(theta.len());
    let c_dot = system.derive_pushforward(&theta, &c, &theta_dot);
    let mut c_bar = vec![0.0; c.values.len()];
    c_bar[range.clone()].copy_from_slice(&random.fill(range.len()));
    let theta_bar = system.derive_pullback(&theta, &c, &c_bar);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (forward, reverse) = (dot(&c_bar, &c_dot), dot(&theta_bar, &theta_dot));
    assert!((forward - reverse).abs() <= 1e-12 * forward.abs());
    let moved = |sign: f64| -> Vec<f64> {
        theta.iter().zip(&theta_dot).map(|(t, d)| t + sign * 1e-6 * d).collect()
    };
    let (plus, minus) = (system.vertex_masses(&moved(1.0)), system.vertex_masses(&moved(-1.0)));
    for (i, at) in range.enumerate() {
        assert!(((plus[i] - minus[i]) / 2e-6 - c_dot[at]).abs() < 1e-8);
    }
}

/// Sums of terms with shared observations, frames and clocks, in one set.
#[test]
fn sums_of_many() {
    let term = |coefficient, observation, component| Term { coefficient, observation, component };
    let position = |point| Observation::Position(point);
    let mut signals = vec![
        Signal {
            terms: vec![
                term(1.0, position(vertex(4)), 0),
                term(-1.0, position(vertex(7)), 0),
                term(0.5, position(marker()), 2),
            ],
            frame: Some(0),
            clock: Some(0),
            ..Signal::new("difference", position(vertex(4)), 0)
        },
        Signal { clock: Some(0), ..Signal::new("height", position(marker()), 2) },
        Signal { frame: Some(0), ..Signal::new("free", position(vertex(4)), 1) },
        Signal { wrap: Wrap::Angle, ..Signal::new("late", Observation::Velocity(marker()), 1) },
    ];
    signals.extend((0..6).map(|i| Signal::new(format!("v{i}"), position(vertex(i)), 1)));
    let mut set = set(&position(vertex(0)));
    set.samples = (0..signals.len())
        .map(|signal| Sample {
            signal,
            time: if signals[signal].clock.is_some() { 0.0312 } else { 0.0345 },
        })
        .collect();
    set.signals = signals;
    Bench::new(&model(), &set, 3).check(7);
}

/// Before time zero the motion goes on from the start; so does its derivative.
#[test]
fn samples_before_the_start() {
    let mut set = set(&Observation::Position(marker()));
    for sample in &mut set.samples {
        sample.time = -0.0061;
    }
    Bench::new(&model(), &set, 0).check(3);
}

/// Everything in one place and at rest, or on one line: no direction, no plane, no distance.
#[test]
fn derivatives_are_finite_where_directions_vanish() {
    let about = Some([0.0, 1.0, 0.0]);
    let axis = [0.0, 0.0, 1.0];
    let (from, to) = (vertex(1), vertex(4));
    let observations = [
        Observation::Position(marker()),
        Observation::Velocity(marker()),
        Observation::Distance(vertex(1), marker()),
        Observation::Angle(vertex(1), vertex(4), marker()),
        Observation::AxisAngle { from: from.clone(), to: to.clone(), axis, about: None },
        Observation::AxisAngle { from, to, axis, about },
        Observation::Orientation(vertex(4), vertex(5), vertex(7)),
    ];
    for observation in &observations {
        let bench = Bench::new(&model(), &set(observation), 3);
        let n = bench.system.dof();
        for line in [0.0, 1.0] {
            let mut z = bench.disturbed(&mut Random(2));
            for start in [0, 2 * n] {
                for i in 0..n / 3 {
                    let place = [0.0, 0.0, 0.2 + line * 0.01 * i as f64];
                    z[start + 3 * i..start + 3 * i + 3].copy_from_slice(&place);
                }
            }
            z[n..2 * n].fill(0.0);
            z[3 * n..4 * n].fill(0.0);
            let y = bench.observe(&z);
            let tangent = bench.pushforward(&z, &[Random(3).fill(z.len())]).concat();
            let adjoint = bench.pullback(&z, &Random(4).fill(y.len()));
            for part in [&y, &tangent, &adjoint] {
                assert!(part.iter().all(|x| x.is_finite()), "{observation:?} {part:?}");
            }
        }
    }
}
