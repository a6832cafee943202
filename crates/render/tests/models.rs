//! Models and trajectories as scenes and files.

use costate_model::{
    GeomBuilder, MaterialSettings, MembraneSettings, Model, Shape as GeomShape, SoftBuilder,
    SpringSettings, State, TetrahedraSettings, Trajectory,
};
use costate_num::Vec3;
use costate_render::{
    Error, Geometry, Marker, ModelView, MotionSettings, Radius, Style, Track, motion_gif,
};

const CORNERS: [[f64; 3]; 5] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];

/// Two tetrahedra, a loose triangle on one of their edges and a ball on a spring; a floor, a wall.
fn model() -> Model {
    let mut model = Model::new("two tetrahedra");
    let material = MaterialSettings::lame("neo-hookean", 1e3, 1e3);
    SoftBuilder::new("solid", CORNERS.to_vec())
        .position([0.0, 0.0, 0.5])
        .with_tetrahedra(vec![[0, 1, 2, 3], [1, 2, 3, 4]])
        .tetrahedra(TetrahedraSettings::new(material, 100.0))
        // The first triangle is on the outside already.
        .with_triangles(vec![[0, 2, 1], [0, 1, 4]])
        .membrane(MembraneSettings::default())
        .build(&mut model)
        .expect("a sound body");
    let spring = SpringSettings { stiffness: vec![1.0], damping: vec![0.0], rest_length: None };
    SoftBuilder::new("ball", vec![[0.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
        .with_springs(vec![[0, 1]], spring)
        .vertex_mass(vec![0.1])
        .radius(vec![0.05])
        .fix(&[1])
        .build(&mut model)
        .expect("a sound body");
    GeomBuilder::new("floor", GeomShape::Plane, &[]).build(&mut model).expect("a sound geom");
    GeomBuilder::new("wall", GeomShape::Box, &[0.1, 1.0, 1.0])
        .pos([2.0, 0.0, 1.0])
        .build(&mut model)
        .expect("a sound geom");
    model
}

fn start() -> Vec<f64> {
    let lifted = CORNERS.iter().flat_map(|p| [p[0], p[1], p[2] + 0.5]);
    lifted.chain([0.0, 0.0, 2.0, 0.0, 0.0, 3.0]).collect()
}

fn falling(steps: usize) -> Trajectory {
    let state = |i: usize| {
        let time = 0.05 * i as f64;
        let mut q = start();
        for z in q.iter_mut().skip(2).step_by(3).take(6) {
            *z -= 0.4 * time;
        }
        State { time, v: vec![0.0; q.len()], q, act: Vec::new() }
    };
    Trajectory { states: (0..steps).map(state).collect() }
}

fn small() -> MotionSettings {
    let style = Style { width: 96, height: 72, ..Style::default() };
    MotionSettings { style, frames: 12, ..MotionSettings::default() }
}

fn frames(gif: &[u8]) -> usize {
    let mut decoder = gif::Decoder::new(gif).expect("a GIF");
    let mut count = 0;
    while decoder.read_next_frame().expect("a frame").is_some() {
        count += 1;
    }
    count
}

#[test]
fn a_model_shows_its_parts() {
    let scene = ModelView::new(&model()).scene(&start());
    // Two tetrahedra that share a face have six outer ones; one triangle is not among them.
    let counts: Vec<_> = scene.meshes.iter().map(|m| (m.triangles.len(), m.two_sided)).collect();
    assert_eq!(counts, [(6, false), (1, true)]);
    assert_eq!(scene.lines.len(), 1);
    assert_eq!(scene.lines[0].to, Vec3::new(0.0, 0.0, 3.0));
    assert_eq!(scene.points.len(), 2);
    assert!(scene.points.iter().all(|p| p.radius == Radius::World(0.05)));
    assert_ne!(scene.points[0].color, scene.points[1].color, "the fixed end looks different");
    assert_eq!(scene.shapes.len(), 2);
    assert!(matches!(scene.shapes[0].geometry, Geometry::Plane { .. }));
    assert_eq!(scene.shapes[1].geometry, Geometry::Box { half: [0.1, 1.0, 1.0] });
}

#[test]
fn a_motion_becomes_a_gif() {
    let mut settings = small();
    settings.tracks = vec![Track {
        times: vec![0.0, 1.0],
        positions: vec![Vec3::new(0.0, 0.0, 1.5), Vec3::new(0.0, 0.0, f64::NAN)],
        measured: true,
    }];
    let gif = motion_gif(&model(), &falling(21), &settings).expect("a motion");
    assert_eq!(frames(&gif), 12);
    let again = motion_gif(&model(), &falling(21), &settings).expect("a motion");
    assert!(gif == again);
}

#[test]
fn odd_trajectories_are_drawn_or_refused() {
    let draw = |t: &Trajectory| motion_gif(&model(), t, &small());
    assert_eq!(draw(&falling(0)), Err(Error::NoFrames));
    assert_eq!(draw(&falling(1)).map(|g| frames(&g)), Ok(1));
    for bad in [f64::NAN, f64::INFINITY, 1e30, 1e300] {
        let mut diverged = falling(5);
        diverged.states[4].q.fill(bad);
        diverged.states[3].q[1] = bad;
        assert_eq!(draw(&diverged).map(|g| frames(&g)), Ok(12));
        diverged.states[0].q.fill(bad);
        assert!(draw(&diverged).is_ok());
        diverged.states[4].time = bad;
        assert!(draw(&diverged).is_ok());
    }
    let mut short = falling(3);
    short.states[1].q.truncate(4);
    assert!(draw(&short).is_ok());
    let empty = Trajectory { states: vec![State::default(); 2] };
    assert!(motion_gif(&Model::new("nothing"), &empty, &small()).is_ok());
}

#[test]
fn rings_and_balls_tell_measured_from_computed() {
    let track = |measured| Track {
        times: vec![0.0, 1.0],
        positions: vec![Vec3::zero(), Vec3::new(1.0, 0.0, 0.0)],
        measured,
    };
    let marker = |measured| track(measured).point(0.5).map(|p| p.marker);
    assert_eq!(marker(true), Some(Marker::Ring));
    assert_eq!(marker(false), Some(Marker::Ball));
    assert_eq!(track(true).point(2.0), None);
}

/// A floor, a free body that carries a capsule on a hinge, and a ball-jointed box on that.
fn robot() -> Model {
    use costate_model::rigid::{
        Articulation, BodySettings, Form, GeomSettings, JointKind, JointSettings, PlacementSettings,
    };
    let mut model = Model::new("robot");
    let mut a = Articulation::new();
    let leaves = &mut model.leaves;
    let at = |pos| PlacementSettings::Pose { pos, quat: [1.0, 0.0, 0.0, 0.0] };
    let mut parent = 0;
    let joints = [
        ("free", JointKind::Free, [0.0; 3]),
        ("hinge", JointKind::Hinge, [0.0, 0.0, 0.1]),
        ("ball", JointKind::Ball, [0.0; 3]),
    ];
    let plane = GeomSettings { name: "floor".into(), form: Form::Plane, ..Default::default() };
    a.add_geom(leaves, 0, &plane).expect("a sound geom");
    for (name, kind, pos) in joints {
        let placement = at([0.0, 0.0, if parent == 0 { 2.0 } else { -1.0 }]);
        let body = BodySettings { name: name.into(), placement, ..Default::default() };
        parent = a.add_body(leaves, parent, &body).expect("a sound body");
        let axis = [0.0, 1.0, 0.0];
        let joint = JointSettings { name: name.into(), kind, pos, axis, ..Default::default() };
        a.add_joint(leaves, parent, &joint).expect("a sound joint");
        let geom = match kind {
            JointKind::Hinge => GeomSettings {
                form: Form::Capsule,
                placement: PlacementSettings::FromTo([0.0, 0.0, 0.0, 0.0, 0.0, -1.0]),
                size: [0.1, 0.0, 0.0],
                ..Default::default()
            },
            _ => GeomSettings { form: Form::Box, size: [0.2, 0.3, 0.1], ..Default::default() },
        };
        let geom = GeomSettings { name: name.into(), ..geom };
        a.add_geom(leaves, parent, &geom).expect("a sound geom");
    }
    model.articulation = Some(a);
    model
}

#[test]
fn a_robot_shows_its_geoms_where_they_are() {
    let look = ModelView::new(&robot());
    let half = std::f64::consts::FRAC_PI_2;
    // Lifted to 3 m and turned about z by a right angle, the hinge turned likewise about its y.
    let (s, c) = (0.5 * half).sin_cos();
    let qpos = [1.0, 0.0, 3.0, c, 0.0, 0.0, s, half, 1.0, 0.0, 0.0, 0.0];
    let scene = look.scene(&qpos);
    assert_eq!(scene.shapes.len(), 4);
    assert!(matches!(scene.shapes[0].geometry, Geometry::Plane { .. }));
    let near = |a: Vec3<f64>, b: [f64; 3]| (a - Vec3::splat(b)).norm() < 1e-12;
    assert!(near(scene.shapes[1].position, [1.0, 0.0, 3.0]), "{:?}", scene.shapes[1]);
    // The hinge's anchor is 0.1 m above its body's frame, which is 1 m below the free body's.
    assert_eq!(scene.shapes[2].geometry, Geometry::Capsule { radius: 0.1, half_length: 0.5 });
    assert!(near(scene.shapes[2].position, [1.0, -0.6, 2.1]), "{:?}", scene.shapes[2]);
    assert!(near(scene.shapes[3].position, [1.0, -1.1, 2.1]), "{:?}", scene.shapes[3]);
    let style = Style { width: 96, height: 72, ..Style::default() };
    let state = |time| State { time, q: qpos.to_vec(), v: vec![0.0; 10], act: Vec::new() };
    let trajectory = Trajectory { states: vec![state(0.0), state(0.1)] };
    let settings = MotionSettings { style, frames: 3, ..MotionSettings::default() };
    assert!(frames(&motion_gif(&robot(), &trajectory, &settings).expect("a motion")) > 0);
}

#[test]
fn coordinates_that_are_missing_or_not_finite_draw_nothing_and_do_no_harm() {
    let look = ModelView::new(&robot());
    for q in [vec![], vec![f64::NAN; 12], vec![1.0; 5]] {
        let scene = look.scene(&q);
        assert_eq!(scene.shapes.len(), 4);
    }
}
