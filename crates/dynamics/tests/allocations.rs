//! Steps take no memory once they have run: those with searched contacts and islands included.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use costate_dynamics::rigid::{Derivation, Mechanism, RigidState};
use costate_formats::parse_mjcf;

/// Counts what is taken.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this function, which is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Two heaps that do not touch, of shapes whose pairs are searched.
const HEAPS: &str = r#"<mujoco model="heaps">
  <option timestep="0.002"/>
  <asset><mesh name="brick" vertex="-.1 -.08 -.05  .1 -.08 -.05  -.1 .08 -.05  .1 .08 -.05
    -.1 -.08 .05  .1 -.08 .05  -.1 .08 .05  .1 .08 .05"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body pos="0 0 0.049"><freejoint/><geom type="mesh" mesh="brick" mass="1"/></body>
    <body pos="0.01 0.01 0.147" euler="0 0 20"><freejoint/>
      <geom type="mesh" mesh="brick" mass="0.7"/></body>
    <body pos="0 0 0.225"><freejoint/><geom type="ellipsoid" size="0.06 0.05 0.03" mass="0.3"/></body>
    <body pos="2 0 0.049"><freejoint/><geom type="cylinder" size="0.1 0.05" mass="1"/></body>
    <body pos="2 0 0.147"><freejoint/><geom type="box" size="0.06 0.06 0.05" mass="0.5"/></body>
    <body pos="2 0 0.225" euler="0 90 0"><freejoint/>
      <geom type="cylinder" size="0.03 0.05" mass="0.2"/></body>
  </worldbody>
</mujoco>"#;

#[test]
fn steps_take_no_memory() {
    let model = parse_mjcf("heaps.xml", HEAPS).unwrap();
    let derivation = Derivation::new(&model).unwrap();
    let c = derivation.derive(&model.theta()).unwrap();
    let m = Mechanism::new(derivation.tree.clone());
    let start = RigidState {
        qpos: model.articulation.as_ref().unwrap().reference_pose(&model.leaves),
        qvel: vec![0.0; m.tree.nv],
        act: Vec::new(),
    };
    let (mut ws, mut contacts) = (m.workspace(), 0);
    let mut run = || {
        let (mut state, mut next) = (start.clone(), start.clone());
        let before = TAKEN.load(Ordering::Relaxed);
        for _ in 0..60 {
            m.step(&c, state.with(&[]), &[], &mut next, &mut ws).unwrap();
            contacts += ws.evaluation.stage.constraints.contacts.len();
            std::mem::swap(&mut state, &mut next);
        }
        TAKEN.load(Ordering::Relaxed) - before
    };
    let first = run();
    // The same motion again: all memory is there.
    let second = run();
    assert!(first > 0 && contacts > 1000, "{first} {contacts}");
    assert_eq!(second, 0);
}
