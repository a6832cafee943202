//! Random states of robots: touching, deep in the ground, aligned, at rest.

use std::path::Path;

use costate_dynamics::rigid::collision::unsupported;
use costate_dynamics::rigid::{Adjoint, Derivation, JointKind, Mechanism, RigidState};
use costate_num::Quat;

/// xorshift64*, between −1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        2.0 * (bits as f64 / (1u64 << 53) as f64) - 1.0
    }
}

fn state(m: &Mechanism, random: &mut Random, kind: usize) -> RigidState {
    let mut s = RigidState {
        qpos: vec![0.0; m.tree.nq],
        qvel: vec![0.0; m.tree.nv],
        act: vec![0.0; m.tree.na],
    };
    // Aligned with the axes and at rest, at rest, or moving.
    let (turn, speed) = [(0.0, 0.0), (1.0, 0.0), (1.0, 5.0)][kind % 3];
    for joint in &m.tree.joints {
        let q = joint.qpos;
        if matches!(joint.kind, JointKind::Slide | JointKind::Hinge) {
            s.qpos[q] = turn * 1.5 * random.next();
            continue;
        }
        let mut at = q;
        if joint.kind == JointKind::Free {
            for k in 0..3 {
                s.qpos[q + k] = random.next();
            }
            // From above the ground to far below it.
            s.qpos[q + 2] = 0.3 + 1.2 * random.next();
            at += 3;
        }
        let quat = Quat::new(1.0, 0.0, 0.0, 0.0);
        let own = Quat::new(random.next(), random.next(), random.next(), random.next());
        let quat = if turn == 0.0 { quat } else { own.normalize() };
        s.qpos[at..at + 4].copy_from_slice(&[quat.w, quat.v.x, quat.v.y, quat.v.z]);
    }
    for v in &mut s.qvel {
        *v = speed * random.next();
    }
    s
}

/// Steps and pulls back at `count` states; all must be finite.
fn check(file: &str, count: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mujoco/models");
    let model = costate_formats::read_mjcf(folder.join(file)).unwrap_or_else(|e| panic!("{e}"));
    let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{e}"));
    let c = derivation.derive(&model.theta()).unwrap_or_else(|e| panic!("{e}"));
    let m = Mechanism::new(derivation.tree.clone());
    assert!(unsupported(&m.tree).is_empty(), "{file}");
    let mut ws = m.workspace();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let ctrl: Vec<f64> = m.tree.actuators.iter().map(|_| 0.3).collect();
    let (mut next, mut again) = (RigidState::default(), RigidState::default());
    let mut rows = 0;
    for i in 0..count {
        let s = state(&m, &mut random, i);
        m.step(&c, s.with(&ctrl), &[], &mut next, &mut ws)
            .unwrap_or_else(|e| panic!("{file} {i}: {e}\n{s:?}"));
        rows += ws.evaluation.stage.constraints.rows.len();
        let mut bar = Adjoint::zeros(&m.tree, &m.layout);
        bar.q.fill(1.0);
        bar.v.fill(-0.5);
        m.step_pullback(&c, s.with(&ctrl), &[], &mut bar, &mut ws)
            .unwrap_or_else(|e| panic!("{file} {i}: {e}\n{s:?}"));
        for part in [&bar.q, &bar.v, &bar.ctrl, &bar.c] {
            assert!(part.iter().all(|x| x.is_finite()), "{file} {i}\n{s:?}");
        }
        // The forward path is the same bits after a derivative (R23).
        m.step(&c, s.with(&ctrl), &[], &mut again, &mut ws).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(next, again, "{file} {i}");
    }
    assert!(rows > 5 * count, "{file}: {rows} rows in {count} states");
}

/// How many states: more with `COSTATE_RANDOM_STATES`.
fn count() -> usize {
    let given = std::env::var("COSTATE_RANDOM_STATES").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(600)
}

#[test]
fn random_states_of_an_ant_are_finite() {
    check("brax_ant.xml", count());
}

#[test]
fn random_states_of_a_humanoid_are_finite() {
    check("mujoco_humanoid.xml", count());
}
