//! Values in closed form.

use costate_dynamics::observe::{Frame, Observation, Point, Sample, Signal, SignalSet, Term, Wrap};
use costate_num::{Quat, Vec3};

use crate::derivatives::{centre, embedded, marker, vertex};
use crate::harness::{Bench, Random, model};

/// All components of observations at one time in interval 0.
fn all(observations: &[Observation]) -> SignalSet {
    let mut set = SignalSet::default();
    for (i, observation) in observations.iter().enumerate() {
        for component in 0..observation.components() {
            let name = format!("s{i}.{component}");
            set.signals.push(Signal::new(name, observation.clone(), component));
            set.samples.push(Sample { signal: set.signals.len() - 1, time: 0.004 });
        }
    }
    set
}

/// Values when every vertex moves by `map` from its rest place, at the velocity `rate` there.
fn observe(
    set: &SignalSet,
    map: impl Fn(Vec3<f64>) -> Vec3<f64>,
    rate: impl Fn(Vec3<f64>) -> Vec3<f64>,
) -> Vec<f64> {
    let bench = Bench::new(&model(), set, 0);
    let n = bench.system.dof();
    let mut z = bench.disturbed(&mut Random(1));
    let rest = bench.system.derive(&bench.system.theta()).unwrap();
    let rest = &rest.values[bench.system.layout().start_position.clone()];
    for i in 0..n / 3 {
        let x = Vec3::new(rest[3 * i], rest[3 * i + 1], rest[3 * i + 2]);
        let (q, v) = (map(x).to_array(), rate(x).to_array());
        // The ends of the interval lie on the straight line through the sample's state.
        for k in 0..3 {
            z[3 * i + k] = q[k] - 0.004 * v[k];
            z[2 * n + 3 * i + k] = q[k] + 0.006 * v[k];
            z[n + 3 * i + k] = v[k];
            z[3 * n + 3 * i + k] = v[k];
        }
    }
    bench.observe(&z)
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

#[test]
fn a_marker_moves_rigidly_with_a_rigid_body() {
    let Point::Marker { rest, .. } = marker() else { unreachable!() };
    let turn = Quat::from_rotation_vector(Vec3::new(0.4, -1.1, 0.7));
    let (shift, omega) = (Vec3::new(0.3, 0.2, -0.1), Vec3::new(2.0, -1.0, 3.0));
    let map = |x: Vec3<f64>| turn.rotate(x) + shift;
    let rate = |x: Vec3<f64>| omega.cross(turn.rotate(x));
    let set = all(&[Observation::Position(marker()), Observation::Velocity(marker())]);
    let place = Vec3::from_array(rest);
    let expected = [map(place).to_array(), rate(place).to_array()].concat();
    close(&observe(&set, map, rate), &expected, 1e-14);
}

#[test]
fn an_embedded_point_follows_affine_motion() {
    let Point::Embedded { rest, .. } = embedded() else { unreachable!() };
    let map = |x: Vec3<f64>| Vec3::new(1.0 + x.x - 0.4 * x.y, 0.3 * x.z + x.x, x.y - 2.0);
    let rate = |x: Vec3<f64>| Vec3::new(x.z, x.x - x.y, 1.0 + x.x);
    let set = all(&[Observation::Position(embedded()), Observation::Velocity(embedded())]);
    let place = Vec3::from_array(rest);
    let expected = [map(place).to_array(), rate(place).to_array()].concat();
    close(&observe(&set, map, rate), &expected, 1e-14);
}

#[test]
fn the_centre_of_mass_weighs_fixed_vertices_too() {
    let set = all(&[
        Observation::Position(centre(None)),
        Observation::Velocity(centre(None)),
        Observation::Position(centre(Some("end"))),
    ]);
    let bench = Bench::new(&model(), &set, 0);
    let mass = bench.system.vertex_masses(&bench.system.theta());
    let rest = bench.system.model().get("soft.block.rest_position").unwrap().to_vec();
    let weighted = |inside: &dyn Fn(f64) -> bool| {
        let mut sum = [0.0; 4];
        for i in 0..rest.len() / 3 {
            if inside(rest[3 * i]) {
                for k in 0..3 {
                    sum[k] += mass[i] * rest[3 * i + k];
                }
                sum[3] += mass[i];
            }
        }
        [sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]]
    };
    let whole = weighted(&|_| true);
    let end = weighted(&|x| x > 0.15);
    let found = observe(&set, |x| x, |x| Vec3::new(0.0, 0.0, 2.0 * x.x));
    close(
        &found,
        &[whole[0], whole[1], whole[2], 0.0, 0.0, 2.0 * whole[0], end[0], end[1], end[2]],
        1e-14,
    );
}

#[test]
fn a_frame_turns_scales_and_moves() {
    let rotation = [0.3, -0.5, 0.9];
    let mut set = all(&[Observation::Position(vertex(7)), Observation::Velocity(vertex(7))]);
    set.frames.push(Frame {
        name: "room".into(),
        rotation,
        translation: [1.0, 2.0, 3.0],
        scale: 1.2,
    });
    for signal in &mut set.signals {
        signal.frame = Some(0);
    }
    let rate = |x: Vec3<f64>| Vec3::new(x.y, 1.0, 0.5);
    let bench = Bench::new(&model(), &set, 0);
    let rest = bench.system.model().get("soft.block.rest_position").unwrap();
    let x = Vec3::new(rest[21], rest[22], rest[23]);
    let turn = Quat::from_rotation_vector(Vec3::from_array(rotation));
    let position = turn.rotate(x) * 1.2 + Vec3::new(1.0, 2.0, 3.0);
    let velocity = turn.rotate(rate(x)) * 1.2;
    let expected = [position.to_array(), velocity.to_array()].concat();
    close(&observe(&set, |x| x, rate), &expected, 1e-14);
}

#[test]
fn a_signal_is_scaled_after_its_sum() {
    let position = Observation::Position(vertex(1));
    let term = Term { coefficient: -2.0, observation: position.clone(), component: 2 };
    let mut signal = Signal::new("s", position, 0);
    signal.terms.push(term);
    signal.constant = 0.5;
    signal.scale = 10.0;
    signal.bias = 3.0;
    let set = SignalSet {
        signals: vec![signal],
        samples: vec![Sample { signal: 0, time: 0.004 }],
        ..SignalSet::default()
    };
    let found = observe(&set, |_| Vec3::new(0.1, 0.2, 0.3), |_| Vec3::zero());
    close(&found, &[10.0 * (0.1 - 0.6 + 0.5) + 3.0], 1e-14);
}

#[test]
fn angles_compare_modulo_a_turn() {
    let turn = 2.0 * std::f64::consts::PI;
    assert!((Wrap::Angle.difference(3.0, 3.0 - turn + 0.1) + 0.1).abs() < 1e-14);
    assert!((Wrap::Angle.difference(-3.1, 3.1) - (turn - 6.2)).abs() < 1e-14);
    assert_eq!(Wrap::None.difference(7.0, 0.5), 6.5);
}
