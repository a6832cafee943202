//! The jump term of contacts that close: the adjoint against the tangent, on a box that lands on corners.

use costate_dynamics::rigid::{Adjoint, Derivation, Mechanism, RigidState, RigidTangents};
use costate_formats::parse_mjcf;

const BOX: &str = r#"<mujoco model="box">
  <option timestep="0.001" gravity="0 0 -9.81" cone="CONE"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1" pos="0.1 0 0.02" quat="1 0.02 0.03 0.01"/>
    <body name="box">
      <freejoint name="free"/>
      <inertial pos="0.01 0.02 0" mass="0.4" diaginertia="0.001 0.0012 0.0009"/>
      <geom name="box" type="box" size="0.05 0.06 0.04" pos="0.01 0 0.01" friction="0.4"/>
      <body name="arm" pos="0.06 0 0">
        <joint name="hinge" axis="0 1 0.2" damping="0.01"/>
        <inertial pos="0.05 0 0" mass="0.1" diaginertia="0.0001 0.0001 0.0001"/>
        <geom name="tip" type="sphere" size="0.02" pos="0.1 0 -0.02"/>
      </body>
    </body>
  </worldbody>
</mujoco>"#;

#[test]
fn the_adjoint_of_the_jump_is_the_transpose_of_its_tangent() {
    for (cone, expected) in [("elliptic", 2), ("pyramidal", 2)] {
        let model = parse_mjcf("box.xml", &BOX.replace("CONE", cone)).unwrap();
        let derivation = Derivation::new(&model).unwrap();
        let c = derivation.derive(&model.theta()).unwrap();
        let m = Mechanism::new(derivation.tree.clone());
        let (tree, layout) = (&m.tree, &m.layout);
        let (mut ws, mut push) = (m.workspace(), m.push_workspace());
        // Lowered until two points have just closed.
        let mut state = RigidState {
            qpos: vec![0.0, 0.0, 0.3, 0.8, 0.2, -0.4, 0.4, 0.3],
            qvel: vec![0.3, -0.2, -1.5, 0.8, -0.5, 0.4, 0.6],
            act: Vec::new(),
        };
        let mut seen = 0;
        while seen < expected && state.qpos[2] > 0.0 {
            state.qpos[2] -= 2e-4;
            let onsets = m.onsets(&c, state.with(&[]), &mut ws).unwrap();
            if onsets.is_empty() {
                continue;
            }
            seen += 1;
            let wave = |i: usize, k: f64| (1.7 * i as f64 + k).sin();
            let columns = 6;
            let mut tangents = RigidTangents::zeros(tree, columns);
            for (i, x) in tangents.q.iter_mut().enumerate() {
                *x = wave(i, 0.3);
            }
            let mut c_dot: Vec<f64> =
                (0..columns * layout.len).map(|i| 0.1 * wave(i, 0.9)).collect();
            // Adjoints of unit vectors and quaternions are by their direction alone.
            for block in [layout.jnt_axis, layout.body_quat, layout.geom_quat] {
                for k in 0..columns {
                    let range = block.range();
                    c_dot[k * layout.len + range.start..k * layout.len + range.end].fill(0.0);
                }
            }
            let before = tangents.clone();
            m.jump_pushforward(&c, state.with(&[]), &mut tangents, &c_dot, &mut ws, &mut push)
                .unwrap();
            assert_eq!(before.q, tangents.q);
            let mut bar = Adjoint::zeros(tree, layout);
            bar.v = (0..tree.nv).map(|i| wave(i, 2.1)).collect();
            let seed = bar.v.clone();
            m.jump_pullback(&c, state.with(&[]), &mut bar, &mut ws).unwrap();
            assert_eq!(seed, bar.v);
            for k in 0..columns {
                let of = k * tree.nv..(k + 1) * tree.nv;
                let dot =
                    |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
                let pushed =
                    dot(&tangents.v[of.clone()], &seed) - dot(&before.v[of.clone()], &seed);
                let by_c = dot(&c_dot[k * layout.len..(k + 1) * layout.len], &bar.c);
                let pulled = dot(&before.q[of], &bar.q) + by_c;
                let size =
                    pushed.abs().max(1e-3 * onsets[0].jump.iter().map(|x| x.abs()).sum::<f64>());
                assert!((pushed - pulled).abs() <= 1e-11 * size, "{cone}: {pushed} {pulled}");
                assert!(pushed != 0.0);
            }
        }
        assert_eq!(seen, expected, "{cone}");
    }
}
