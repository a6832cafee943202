//! The transport of adjoints from bodies to joints and constants, against dual numbers through the
//! kinematics.

use costate_dynamics::rigid::inverse::{accelerations, twists};
use costate_dynamics::rigid::{BodyAdjoint, Kinematics, Motions, Transport, TransportAdjoints};
use costate_num::spatial::{Force, Motion};
use costate_num::{Dual, Scalar, Vec3};

use crate::reference::{Reference, without_contacts};
use crate::tangent::{moved, wave, waves};

fn vector(seed: usize) -> Vec3<f64> {
    Vec3::new(wave(seed, 0), wave(seed, 1), wave(seed, 2))
}

fn lifted<S: Scalar>(v: Vec3<f64>) -> Vec3<S> {
    Vec3::splat(v.to_array())
}

/// Coefficients of the test's L: a force per kind, body, about the origin of the world.
fn force(kind: usize, body: usize) -> Force<f64> {
    Force::new(vector(10 * body + kind), vector(10 * body + kind + 5))
}

/// A motion about `origin`, about the origin of the world.
fn at_world<S: Scalar>(m: Motion<S>, origin: Vec3<S>) -> Motion<S> {
    Motion::new(m.angular, m.linear - m.angular.cross(origin))
}

fn pair<S: Scalar>(f: Force<f64>, m: Motion<S>) -> S {
    lifted::<S>(f.moment).dot(m.angular) + lifted::<S>(f.force).dot(m.linear)
}

/// Places and motions of all bodies.
struct State<S> {
    kinematics: Kinematics<S>,
    velocity: Vec<Motion<S>>,
    acceleration: Vec<Motion<S>>,
    lambda: Vec<Motion<S>>,
    push: Vec<Motion<S>>,
}

fn state<S: Scalar>(r: &Reference, c: &[S], qpos: &[S], v: &[S]) -> State<S> {
    let n = r.tree.bodies.len();
    let zero = vec![Motion::zero(); n];
    let mut s = State {
        kinematics: Kinematics::new(&r.tree),
        velocity: zero.clone(),
        acceleration: zero.clone(),
        lambda: zero.clone(),
        push: zero,
    };
    s.kinematics.update(&r.tree, &r.layout, c, qpos);
    let splat = |seed| waves(seed, r.tree.nv).iter().map(|x| S::splat(*x)).collect::<Vec<S>>();
    let world = Motion::new(Vec3::zero(), lifted(Vec3::new(0.1, -0.3, 9.81)));
    let subspace = &s.kinematics.subspace;
    let (v_out, a_out) = (&mut s.velocity, &mut s.acceleration);
    accelerations(&r.tree, subspace, v, &splat(1), world, v_out, a_out);
    twists(&r.tree, subspace, &splat(2), &mut s.lambda);
    twists(&r.tree, subspace, &splat(1), &mut s.push);
    s
}

/// L: linear in the motions and in the place of one point per body.
fn loss<S: Scalar>(s: &State<S>) -> S {
    let mut sum = S::zero();
    for b in 1..s.velocity.len() {
        let origin = s.kinematics.origin[b];
        sum += pair(force(1, b), at_world(s.velocity[b], origin));
        sum += pair(force(2, b), at_world(s.acceleration[b], origin));
        sum += pair(force(3, b), at_world(s.lambda[b], origin));
        sum += pair(force(4, b), at_world(s.push[b], origin));
        let point = s.kinematics.xpos[b] + s.kinematics.xmat[b].apply(lifted(vector(b + 70)));
        sum += lifted::<S>(vector(b + 80)).dot(point);
    }
    sum
}

#[test]
fn transport_agrees_with_dual_numbers() {
    for r in without_contacts() {
        let qpos = r.snapshot("qpos");
        let v = r.snapshot("qvel");
        let at = state(&r, &r.c, &qpos, &v);
        let mut bodies = vec![BodyAdjoint::zero(); r.tree.bodies.len()];
        for b in 1..bodies.len() {
            let origin = at.kinematics.origin[b];
            let moved = |f: Force<f64>| Force::new(f.moment - origin.cross(f.force), f.force);
            let arm = at.kinematics.xmat[b].apply(vector(b + 70));
            bodies[b] = BodyAdjoint {
                place: Force::at_point(vector(b + 80), at.kinematics.xpos[b] + arm - origin),
                velocity: moved(force(1, b)),
                acceleration: moved(force(2, b)),
                lambda: moved(force(3, b)),
                push: moved(force(4, b)),
            };
        }
        let nv = r.tree.nv;
        let (a, lambda) = (waves(1, nv), waves(2, nv));
        let (mut q_bar, mut v_bar) = (vec![0.0; nv], vec![0.0; nv]);
        let mut c_bar = vec![0.0; r.layout.len];
        let motions = Motions {
            v: &v,
            a: &a,
            lambda: &lambda,
            velocity: &at.velocity,
            acceleration: &at.acceleration,
            lambda_twist: &at.lambda,
            push_twist: &at.push,
        };
        let mut bar = TransportAdjoints { q: &mut q_bar, v: &mut v_bar, c: &mut c_bar };
        let (tree, layout) = (&r.tree, &r.layout);
        Transport::default().run(
            tree,
            layout,
            &r.c,
            &at.kinematics,
            &qpos,
            motions,
            &bodies,
            &mut bar,
        );

        let constants = |values: &[f64]| -> Vec<Dual<f64>> {
            values.iter().map(|x| Dual::constant(*x)).collect()
        };
        let (c, q, v) = (constants(&r.c), constants(&qpos), constants(&v));
        let check = |what: &str, got: f64, dual: Dual<f64>| {
            let error = (got - dual.tangent[0]).abs() / (1.0 + dual.tangent[0].abs());
            assert!(error < 1e-12, "{}: {what}: {got} for {}", r.name, dual.tangent[0]);
        };
        for dof in 0..nv {
            let mut v = v.clone();
            v[dof].tangent[0] = 1.0;
            check(&format!("v{dof}"), v_bar[dof], loss(&state(&r, &c, &q, &v)));
        }
        for dof in 0..nv {
            let mut unit = vec![0.0; nv];
            unit[dof] = 1.0;
            let q = moved(tree, &qpos, &unit);
            check(&format!("q{dof}"), q_bar[dof], loss(&state(&r, &c, &q, &v)));
        }
        for (name, block) in r.layout.blocks() {
            let named = ["body_pos", "jnt_pos", "qpos0"].contains(&name);
            for at in block.range().filter(|_| named) {
                let mut c = c.clone();
                c[at].tangent[0] = 1.0;
                let dual = loss(&state(&r, &c, &q, &v));
                check(&format!("{name}[{}]", at - block.start), c_bar[at], dual);
            }
        }
        // Axes and quaternions are of unit length: a change along one is none.
        for (block, width) in [(layout.jnt_axis, 3), (layout.body_quat, 4)] {
            for i in 0..block.count {
                let unit = &r.c[block.entry(i)];
                let mut direction = waves(i, width);
                let along: f64 = unit.iter().zip(&direction).map(|(a, b)| a * b).sum();
                let (mut c, mut got) = (c.clone(), 0.0);
                for k in 0..width {
                    direction[k] -= along * unit[k];
                    c[block.at(i) + k].tangent[0] = direction[k];
                    got += c_bar[block.at(i) + k] * direction[k];
                }
                check(&format!("unit {width} {i}"), got, loss(&state(&r, &c, &q, &v)));
            }
        }
    }
}
