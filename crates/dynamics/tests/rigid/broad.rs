//! Many geoms: the sweep finds the contacts of all pairs, in their order.

use costate_dynamics::rigid::collision::{Shape, Surface, candidates, collide};
use costate_dynamics::rigid::{Derivation, Mechanism, RigidState};
use costate_num::Vec3;

/// Spheres, boxes and capsules that overlap in places, over a floor, some with margins.
fn crowd(count: usize) -> String {
    let part = |n: usize, k: usize| ((n * 3 + k) as f64 * 0.754_877_666).fract() - 0.5;
    let mut bodies = String::new();
    for n in 0..count {
        let [x, y, z] = [0, 1, 2].map(|k| 2.0 * part(n, k));
        let form = ["sphere", "box", "capsule"][n % 3];
        let margin = if n % 5 == 0 { 0.05 } else { 0.0 };
        bodies += &format!(
            "<body pos=\"{x} {y} {}\" euler=\"{} {} 0\"><freejoint/>\
             <geom type=\"{form}\" size=\".12 .15 .1\" margin=\"{margin}\"/></body>",
            z + 1.0,
            300.0 * y,
            200.0 * z,
        );
    }
    format!("<mujoco><worldbody><geom type=\"plane\" size=\"9 9 1\"/>{bodies}</worldbody></mujoco>")
}

#[test]
fn a_sweep_finds_what_all_pairs_have() {
    let model = costate_formats::parse_mjcf("crowd.xml", &crowd(60)).expect("it reads");
    let derivation = Derivation::new(&model).expect("it compiles");
    let c = derivation.derive(&model.theta()).expect("it derives");
    let m = Mechanism::new(derivation.tree.clone());
    let (tree, layout) = (&m.tree, &m.layout);
    let qpos = model.articulation.as_ref().expect("a robot").reference_pose(&model.leaves);
    let state = RigidState { qpos, qvel: vec![0.0; tree.nv], act: Vec::new() };
    let (mut ws, mut next) = (m.workspace(), RigidState::default());
    m.step(&c, state.with(&[]), &[], &mut next, &mut ws).expect("it steps");
    let stage = &ws.evaluation.stage;

    let kinematics = &ws.evaluation.dynamics.kinematics;
    let shapes: Vec<Shape<f64>> = (0..tree.geoms.len())
        .map(|g| {
            let pose = kinematics.geom(tree, layout, &c, g);
            let size = layout.geom_size.at(g);
            Shape {
                position: pose.position,
                axes: pose.orientation.to_matrix(),
                size: Vec3::new(c[size], c[size + 1], c[size + 2]),
            }
        })
        .collect();
    let mut expected = Vec::new();
    for candidate in candidates(tree) {
        let [a, b] = candidate.geoms;
        let margin = c[layout.geom_margin.at(a)] + c[layout.geom_margin.at(b)];
        let surface = |g: usize| Surface::new(tree.geoms[g].kind, &shapes[g]);
        let mut found = Vec::new();
        assert!(collide(&surface(a), &surface(b), margin, &mut found));
        let acts = |t: &costate_dynamics::rigid::collision::Touch<f64>| t.distance < margin;
        expected.extend(found.into_iter().filter(acts).map(|touch| (candidate, touch)));
    }
    assert!(expected.len() > 50, "{}", expected.len());
    let found: Vec<_> = stage
        .constraints
        .contacts
        .iter()
        .map(|contact| (contact.candidate, contact.touch))
        .collect();
    assert_eq!(found, expected);
}
