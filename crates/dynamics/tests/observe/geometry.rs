//! Values in closed form.

use costate_dynamics::observe::{
    Frame, Observation, Point, Sample, Signal, SignalSet, Term, Wrap, orientation_difference,
};
use costate_dynamics::{StepInputs, System};
use costate_model::{GeomBuilder, Model, Shape, SoftBuilder, SpringSettings, State};
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
fn orientations_distances_and_angles_of_a_rigid_turn() {
    let omega = Vec3::new(0.4, -1.1, 0.7);
    let turn = Quat::from_rotation_vector(omega);
    let orientation = Observation::Orientation(vertex(3), embedded(), marker());
    // Vertices 0, 1 and 3 span two edges of the grid; x runs fastest.
    let segment =
        |axis, about| Observation::AxisAngle { from: vertex(0), to: vertex(1), axis, about };
    let along = turn.rotate(Vec3::new(1.0, 0.0, 0.0));
    let set = all(&[
        orientation.clone(),
        Observation::Distance(vertex(0), vertex(2)),
        Observation::Angle(vertex(1), vertex(0), vertex(3)),
        segment([0.0, 0.0, 5.0], None),
        segment([1.0, 0.0, 0.3], Some([0.0, 0.0, 2.0])),
    ]);
    let found = observe(&set, |x| turn.rotate(x), |_| Vec3::zero());
    let half_turn = std::f64::consts::PI;
    let heading = along.y.atan2(along.x);
    let expected = [0.4, -1.1, 0.7, 0.2, half_turn / 2.0, along.z.acos(), heading];
    close(&found, &expected, 1e-13);

    let mut set = all(&[orientation]);
    let rotation = [0.3, -0.5, 0.9];
    set.frames.push(Frame { name: "room".into(), rotation, translation: [1.0; 3], scale: 2.0 });
    for signal in &mut set.signals {
        signal.frame = Some(0);
    }
    let found = observe(&set, |x| turn.rotate(x), |_| Vec3::zero());
    let room = Quat::from_rotation_vector(Vec3::from_array(rotation));
    close(&found, &room.product(turn).to_rotation_vector().to_array(), 1e-13);
    let apart = orientation_difference(Vec3::from_array([found[0], found[1], found[2]]), omega);
    close(&apart.to_array(), &rotation, 1e-13);
}

/// Kinetic, gravitational, spring and contact energy against their textbook forms.
#[test]
fn energy_adds_up() {
    let (found, z) = on_the_floor(&[Observation::Energy]);
    let (x, v) = (&z[..6], &z[6..12]);
    let mut energy = 0.0;
    for i in 0..2 {
        let mass = [0.5, 0.8][i];
        let squared: f64 = v[3 * i..3 * i + 3].iter().map(|v| v * v).sum();
        energy += 0.5 * mass * squared + mass * 9.81 * x[3 * i + 2];
    }
    let length = (0..3).map(|k| (x[k] - x[3 + k]).powi(2)).sum::<f64>().sqrt();
    energy += 0.5 * 30.0 * (length - 0.2).powi(2);
    let depth = -x[2];
    energy += 0.5 * 1e3 * depth * depth;
    close(&found, &[energy], 1e-12);
}

/// Forces and accelerations against what a step does.
#[test]
fn accelerations_are_those_of_a_step() {
    let at = |vertex| Point::Vertex { body: "pair".into(), vertex };
    let force = |body: Option<&str>| Observation::ContactForce {
        geom: "floor".into(),
        body: body.map(Into::into),
        region: None,
    };
    let (found, z) = on_the_floor(&[
        Observation::Acceleration(at(0)),
        Observation::Acceleration(at(1)),
        Observation::Acceleration(Point::CentreOfMass { body: "pair".into(), region: None }),
        force(None),
        force(Some("pair")),
    ]);
    let step = &z[12..18];
    let mut expected = step.to_vec();
    expected.extend((0..3).map(|k| (0.5 * step[k] + 0.8 * step[3 + k]) / 1.3));
    // The spring's forces cancel; gravity is known; the rest is the floor's.
    let floor: Vec<f64> =
        (0..3).map(|k| 0.5 * step[k] + 0.8 * step[3 + k] + [0.0, 0.0, 1.3 * 9.81][k]).collect();
    expected.extend(floor.iter().chain(&floor));
    assert!(floor[2] > 1.0, "{floor:?}");
    close(&found, &expected, 1e-10);
}

/// Two particles on a spring, the first 1 cm deep in a floor of "warp" contact (whose energy is
/// k d²/2): the observed values at the start of a step, and x, v and acceleration of that step.
fn on_the_floor(observations: &[Observation]) -> (Vec<f64>, Vec<f64>) {
    let mut model = Model::new("floor");
    let springs =
        SpringSettings { stiffness: vec![30.0], damping: vec![0.2], rest_length: Some(vec![0.2]) };
    SoftBuilder::new("pair", vec![[0.0, 0.0, -0.01], [0.1, 0.0, 0.3]])
        .vertex_mass(vec![0.5, 0.8])
        .with_springs(vec![[0, 1]], springs)
        .start_velocity(vec![0.3, 0.0, -0.2, 0.1, -0.4, 0.0])
        .build(&mut model)
        .unwrap();
    GeomBuilder::new("floor", Shape::Plane, &[]).law("warp").build(&mut model).unwrap();
    let mut set = all(observations);
    for sample in &mut set.samples {
        sample.time = 0.0;
    }
    let system = System::new(&model).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let start = system.initial_state(&c, &[]);
    let mut end = State::default();
    let u = StepInputs { now: &[], next: &[] };
    system.step(&c, &start, u, 0, &mut end, &mut system.workspace()).unwrap();
    let h = system.timestep();
    let rate: Vec<f64> = end.v.iter().zip(&start.v).map(|(a, b)| (a - b) / h).collect();
    let bench = Bench::new(&model, &set, 0);
    let p = bench.observer.leaves().theta();
    let z = [&start.q, &start.v, &end.q, &end.v, &c.values, &p].map(|part| part.as_slice());
    (bench.observe(&z.concat()), [start.q, start.v, rate].concat())
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
