//! The derivatives of steps of the recorded models.

use costate_dynamics::rigid::{Block, Integrator, Layout, Mechanism, RigidState};

use crate::proof::{INTEGRATORS, Point, prove, prove_from_bound};
use crate::reference::{Reference, without_contacts};
use crate::tangent::wave;

/// Springs, dampers and drives that are zero come off it, so that their derivatives are two-sided and every
/// term takes part.
fn enrich(layout: &Layout, c: &mut [f64]) {
    let blocks = [
        (layout.jnt_stiffness, 0.4),
        (layout.jnt_stiffnesspoly, 0.1),
        (layout.dof_damping, 0.02),
        (layout.dof_dampingpoly, 2e-5),
        (layout.dof_armature, 0.01),
    ];
    for (block, size) in blocks {
        for at in block.range() {
            if c[at] == 0.0 {
                c[at] = size * (1.0 + 0.5 * wave(7, at));
            }
        }
    }
    for (block, sign) in [(layout.actuator_gainprm, 0.01), (layout.actuator_biasprm, -0.3)] {
        for i in 0..block.count {
            for at in block.at(i)..block.at(i) + 3 {
                if c[at] == 0.0 {
                    c[at] = sign * (1.0 + 0.5 * wave(8, at));
                }
            }
        }
    }
}

/// The snapshot of a recording.
pub fn at_snapshot(r: &Reference, integrator: Integrator) -> Point {
    let mut tree = r.tree.clone();
    tree.options.integrator = integrator;
    let (qpos, qvel, act) = (r.snapshot("qpos"), r.snapshot("qvel"), r.snapshot("act"));
    let mut c = r.c.clone();
    enrich(&r.layout, &mut c);
    Point {
        mechanism: Mechanism::new(tree),
        c,
        state: RigidState { qpos, qvel, act },
        ctrl: r.snapshot("ctrl"),
        applied: Vec::new(),
    }
}

/// So that the impedance of contacts changes little over the widths of differences, and of two frictions the
/// larger is one.
pub fn widen(p: &mut Point) {
    let layout = &p.mechanism.layout;
    for g in 0..p.mechanism.tree.geoms.len() {
        p.c[layout.geom_solimp.at(g) + 2] = 0.05;
        for k in 0..3 {
            p.c[layout.geom_friction.at(g) + k] *= 1.0 + 0.2 * g as f64;
        }
    }
}

#[test]
fn derivatives_of_every_integrator_are_proved() {
    let mut failures = Vec::new();
    for r in without_contacts() {
        // One file per model is enough: they differ in the integrator.
        if !r.name.ends_with("__Euler") {
            continue;
        }
        for integrator in INTEGRATORS {
            let p = at_snapshot(&r, integrator);
            failures.extend(prove(&format!("{} {integrator:?}", r.name), &p, r.rows() == 0));
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// Dry friction and damping that are zero: what a first bit of them does.
#[test]
fn derivatives_from_a_bound_are_proved() {
    let mut failures = Vec::new();
    let mut proved = 0;
    for r in without_contacts() {
        if !r.name.ends_with("__Euler") || r.tree.nv == 0 {
            continue;
        }
        for integrator in INTEGRATORS {
            let mut p = at_snapshot(&r, integrator);
            let layout = p.mechanism.layout.clone();
            let mut from_zero = |p: &Point, what: &str, block: Block| {
                let mut c = vec![0.0; p.c.len()];
                for at in block.range() {
                    c[at] = 0.01 * (1.5 + wave(9, at));
                }
                failures.extend(prove_from_bound(&format!("{} {what}", r.name), p, c));
                proved += 1;
            };
            p.c[layout.dof_frictionloss.range()].fill(0.0);
            // Any row on a body that stands alone ends its implicit rotation under the discrete integrator.
            let jumps = integrator == Integrator::Discrete && r.name.starts_with("free_box");
            if !jumps {
                from_zero(&p, "dof_frictionloss", layout.dof_frictionloss);
            }
            if !r.tree.tendons.is_empty() {
                let old = p.c[layout.tendon_frictionloss.range()].to_vec();
                p.c[layout.tendon_frictionloss.range()].fill(0.0);
                from_zero(&p, "tendon_frictionloss", layout.tendon_frictionloss);
                p.c[layout.tendon_frictionloss.range()].copy_from_slice(&old);
            }
            // Rows beside dampers that are zero.
            p.c[layout.dof_frictionloss.range()].fill(0.1);
            p.c[layout.dof_damping.range()].fill(0.0);
            p.c[layout.dof_dampingpoly.range()].fill(0.0);
            from_zero(&p, "dof_damping", layout.dof_damping);
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(proved > 50, "{proved}");
}
