//! Constraint rows of a state, against MuJoCo's.

use costate_dynamics::rigid::collision::{Real, unsupported};
use costate_dynamics::rigid::constraint::{
    Constraints, Contact, RowAdjoints, RowInputs, RowSeeds, Source,
};
use costate_dynamics::rigid::inverse::{accelerations, twists};
use costate_dynamics::rigid::{
    At, BodyAdjoint, Dynamics, Equality, EqualityKind, GeomKind, Layout, Motions, Site, Tendon,
    TendonPath, Transport, TransportAdjoints, Tree,
};
use costate_num::spatial::Motion;
use costate_num::{Dual, Quat};

use crate::reference::{Reference, all, compare, integers, load, numbers};
use crate::tangent::{moved, wave, waves};

/// Dynamics and rows at the state of the snapshot.
fn at_snapshot(r: &Reference) -> (Dynamics<f64>, Constraints) {
    let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
    let (act, ctrl) = (r.snapshot("act"), r.snapshot("ctrl"));
    let mut dynamics = Dynamics::new(&r.tree);
    let at = At { qpos: &qpos, qvel: &qvel, act: &act, ctrl: &ctrl, applied: &[] };
    assert_eq!(dynamics.evaluate(&r.tree, &r.layout, &r.c, at), None);
    let mut constraints = Constraints::default();
    constraints.update(RowInputs {
        tree: &r.tree,
        layout: &r.layout,
        c: &r.c,
        dynamics: &dynamics,
        qpos: &qpos,
        qvel: &qvel,
    });
    (dynamics, constraints)
}

/// The rows in MuJoCo's order, which may have contacts in another: ours of each.
fn order(r: &Reference, found: &Constraints) -> Vec<usize> {
    let snapshot = &r.value["snapshot"];
    let efc = &snapshot["efc"];
    let (kinds, ids) = (numbers(&efc["type"]), numbers(&efc["id"]));
    let plain = kinds.iter().filter(|&&kind| kind < 5.0).count();
    let mut order: Vec<usize> = (0..plain).collect();
    let mut k = plain;
    while k < kinds.len() {
        let contact = &snapshot["contact"][ids[k] as usize];
        let geoms: Vec<usize> = integers(&contact["geom"]).iter().map(|g| *g as usize).collect();
        let wanted = numbers(&contact["pos"]);
        let ours = found.contacts.iter().position(|ours| {
            let at = ours.touch.position.to_array();
            ours.candidate.geoms[..] == geoms && (0..3).all(|i| (at[i] - wanted[i]).abs() < 1e-6)
        });
        let ours = ours.unwrap_or_else(|| panic!("{}: no contact at {contact}", r.name));
        let item = found.items.iter().find(|item| item.source == Source::Contact(ours)).unwrap();
        let count = ids[k..].iter().take_while(|id| **id == ids[k]).count();
        assert_eq!(item.count, count, "{}: rows of {contact}", r.name);
        order.extend(item.row..item.row + item.count);
        k += count;
    }
    order
}

#[test]
fn rows_agree() {
    let mut count = 0;
    for r in all() {
        if r.rows() == 0 || has_unsupported(&r) {
            continue;
        }
        let efc = &r.value["snapshot"]["efc"];
        let m = numbers(&efc["type"]).len();
        let (_, found) = at_snapshot(&r);
        let name = &r.name;
        assert_eq!(found.rows.len(), m, "{name}");
        let order = order(&r, &found);
        let n = r.tree.nv;
        let mut dense = vec![0.0; m * n];
        for (k, &ours) in order.iter().enumerate() {
            let (dofs, values) = found.rows.row(ours);
            for (dof, value) in dofs.iter().zip(values) {
                dense[k * n + dof] += value;
            }
        }
        compare(&format!("{name} J"), &dense, &numbers(&efc["J"]), 1e-12);
        for (what, got) in [
            ("aref", &found.rows.reference),
            ("D", &found.rows.mass),
            ("frictionloss", &found.rows.loss),
        ] {
            let got: Vec<f64> = order.iter().map(|&ours| got[ours]).collect();
            compare(&format!("{name} {what}"), &got, &numbers(&efc[what]), 1e-12);
        }
        count += m;
    }
    assert!(count > 20, "{count} rows");
}

fn has_unsupported(r: &Reference) -> bool {
    !unsupported(&r.tree).is_empty()
}

#[test]
fn contacts_are_the_recorded_ones() {
    for r in all() {
        if r.value["snapshot"]["contact"].is_null() {
            continue;
        }
        let missing = unsupported(&r.tree);
        let (_, found) = at_snapshot(&r);
        let contacts = r.value["snapshot"]["contact"].as_array().unwrap();
        let acting = contacts.iter().filter(|contact| {
            let geoms = integers(&contact["geom"]);
            let own = |pair: &[usize; 2]| pair.iter().all(|g| geoms.contains(&(*g as i64)));
            contact["efc_address"] != -1 && !missing.iter().any(|m| own(&m.geoms))
        });
        for contact in acting {
            let wanted = numbers(&contact["pos"]);
            let near = |ours: &&Contact| {
                let at = ours.touch.position.to_array();
                let geoms: Vec<f64> = ours.candidate.geoms.iter().map(|g| *g as f64).collect();
                geoms == numbers(&contact["geom"])
                    && (0..3).all(|i| (at[i] - wanted[i]).abs() < 1e-10)
            };
            let ours = found.contacts.iter().find(near);
            let ours = ours.unwrap_or_else(|| panic!("{}: no contact at {contact}", r.name));
            let mut frame = ours.touch.normal.to_array().to_vec();
            for tangent in ours.tangents {
                frame.extend(tangent.to_array());
            }
            compare(&r.name, &frame, &numbers(&contact["frame"]), 1e-10);
            compare(&r.name, &[ours.touch.distance], &numbers(&contact["dist"]), 1e-10);
            let p = &ours.parameters;
            compare(&r.name, &p.friction, &numbers(&contact["friction"]), 1e-14);
            compare(&r.name, &p.solver.solref, &numbers(&contact["solref"]), 1e-14);
            compare(&r.name, &p.solver.solimp, &numbers(&contact["solimp"]), 1e-14);
            compare(&r.name, &[p.margin], &numbers(&contact["includemargin"]), 1e-14);
        }
    }
}

/// How the test's loss depends on the rows, and the motions it holds.
struct Seeds {
    force: Vec<f64>,
    weight: Vec<f64>,
    mass: Vec<f64>,
    loss: Vec<f64>,
    mu: Vec<f64>,
    friction: Vec<[f64; 5]>,
    lambda: Vec<f64>,
    a: Vec<f64>,
}

/// Σ fᵣ Jᵣ λ + wᵣ (a_ref − J a)ᵣ + D̄ᵣ Dᵣ + l̄ᵣ lossᵣ.
fn loss<S: Real>(r: &Reference, s: &Seeds, c: &[S], qpos: &[S], qvel: &[S]) -> S {
    let splat = |x: &[f64]| x.iter().map(|x| S::splat(*x)).collect::<Vec<S>>();
    let (act, ctrl) = (splat(&r.snapshot("act")), splat(&r.snapshot("ctrl")));
    let mut dynamics = Dynamics::new(&r.tree);
    let at = At { qpos, qvel, act: &act, ctrl: &ctrl, applied: &[] };
    assert_eq!(dynamics.evaluate(&r.tree, &r.layout, c, at), None);
    let mut found = Constraints::<S>::default();
    let (tree, layout, dynamics) = (&r.tree, &r.layout, &dynamics);
    found.update(RowInputs { tree, layout, c, dynamics, qpos, qvel });
    let (lambda, a) = (splat(&s.lambda), splat(&s.a));
    let mut sum = S::zero();
    for k in 0..s.force.len() {
        sum += found.rows.dot(k, &lambda).scale(s.force[k]);
        sum += (found.rows.reference[k] - found.rows.dot(k, &a)).scale(s.weight[k]);
        sum += found.rows.mass[k].scale(s.mass[k]) + found.rows.loss[k].scale(s.loss[k]);
    }
    for (k, cone) in found.rows.cones.iter().enumerate() {
        sum += cone.mu.scale(s.mu[k]);
        for n in 0..5 {
            sum += cone.friction[n].scale(s.friction[k][n]);
        }
    }
    sum
}

fn check_pullback(r: &Reference) {
    let (dynamics, found) = at_snapshot(r);
    let m = found.rows.len();
    if m == 0 {
        return;
    }
    let cones = found.rows.cones.len();
    let (nv, tree, layout) = (r.tree.nv, &r.tree, &r.layout);
    let (qpos, qvel) = (r.snapshot("qpos"), r.snapshot("qvel"));
    let s = Seeds {
        force: waves(1, m),
        weight: waves(2, m),
        // D spans orders of magnitude.
        mass: (0..m).map(|k| wave(3, k) / found.rows.mass[k]).collect(),
        loss: waves(4, m),
        mu: waves(7, cones),
        friction: (0..cones).map(|k| std::array::from_fn(|n| wave(8 + n, k))).collect(),
        lambda: waves(5, nv),
        a: waves(6, nv),
    };
    let zero = vec![Motion::zero(); tree.bodies.len()];
    let (mut velocity, mut acceleration) = (zero.clone(), zero.clone());
    let (mut twist, mut push) = (zero.clone(), zero);
    let subspace = &dynamics.kinematics.subspace;
    let world = dynamics.acceleration[0];
    accelerations(tree, subspace, &qvel, &s.a, world, &mut velocity, &mut acceleration);
    twists(tree, subspace, &s.lambda, &mut twist);
    twists(tree, subspace, &s.a, &mut push);
    let motions = Motions {
        v: &qvel,
        a: &s.a,
        lambda: &s.lambda,
        velocity: &velocity,
        acceleration: &acceleration,
        lambda_twist: &twist,
        push_twist: &push,
    };
    let (mut q, mut v) = (vec![0.0; nv], vec![0.0; nv]);
    let mut c_bar = vec![0.0; layout.len];
    let mut bodies = vec![BodyAdjoint::zero(); tree.bodies.len()];
    let seeds = RowSeeds {
        force: &s.force,
        weight: &s.weight,
        mass: &s.mass,
        loss: &s.loss,
        mu: &s.mu,
        friction: &s.friction,
        position: &[],
        rate: &[],
    };
    let inputs = RowInputs { tree, layout, c: &r.c, dynamics: &dynamics, qpos: &qpos, qvel: &qvel };
    let (mut tendons, bodies) = (Vec::new(), &mut bodies[..]);
    let mut bar = RowAdjoints {
        q: &mut q,
        v: &mut v,
        c: &mut c_bar,
        bodies: &mut *bodies,
        tendons: &mut tendons,
        diagonal: &mut [],
    };
    found.pullback(inputs, motions, seeds, &mut bar);
    assert!(tendons.is_empty(), "the recorded models have no rows along spatial tendons");
    let mut bar = TransportAdjoints { q: &mut q, v: &mut v, c: &mut c_bar };
    let k = &dynamics.kinematics;
    Transport::default().run(tree, layout, &r.c, k, &qpos, motions, bodies, &mut bar);

    let constants =
        |values: &[f64]| -> Vec<Dual<f64>> { values.iter().map(|x| Dual::constant(*x)).collect() };
    let (c, dual_q, dual_v) = (constants(&r.c), constants(&qpos), constants(&qvel));
    let check = |what: &str, got: f64, dual: Dual<f64>| {
        let error = (got - dual.tangent[0]).abs() / (1.0 + dual.tangent[0].abs());
        assert!(error < 1e-10, "{}: {what}: {got} for {}", r.name, dual.tangent[0]);
    };
    let still = dual_v.clone();
    for dof in 0..nv {
        let mut dual_v = dual_v.clone();
        dual_v[dof].tangent[0] = 1.0;
        check(&format!("v{dof}"), v[dof], loss(r, &s, &c, &dual_q, &dual_v));
        let mut unit = vec![0.0; nv];
        unit[dof] = 1.0;
        let dual_q = moved(tree, &qpos, &unit);
        check(&format!("q{dof}"), q[dof], loss(r, &s, &c, &dual_q, &still));
    }
    // Unit vectors and quaternions are proved with the transport.
    for (name, block) in layout.blocks() {
        if ["jnt_axis", "body_quat", "site_quat", "geom_quat"].contains(&name) {
            continue;
        }
        for at in block.range() {
            let mut c = c.clone();
            c[at].tangent[0] = 1.0;
            let dual = loss(r, &s, &c, &dual_q, &dual_v);
            check(&format!("{name}[{}]", at - block.start), c_bar[at], dual);
        }
    }
    for block in [layout.site_quat, layout.geom_quat] {
        for i in 0..block.count {
            let unit = &r.c[block.entry(i)];
            let mut direction = waves(i, 4);
            let along: f64 = unit.iter().zip(&direction).map(|(a, b)| a * b).sum();
            let (mut c, mut got) = (c.clone(), 0.0);
            for k in 0..4 {
                direction[k] -= along * unit[k];
                c[block.at(i) + k].tangent[0] = direction[k];
                got += c_bar[block.at(i) + k] * direction[k];
            }
            check(&format!("quaternion {i}"), got, loss(r, &s, &c, &dual_q, &dual_v));
        }
    }
}

#[test]
fn adjoints_agree_with_dual_numbers() {
    for r in all() {
        // The adjoint of the exact diagonal is the stage's.
        if r.rows() > 0 && !r.tree.options.exact_diagonal {
            check_pullback(&r);
        }
    }
}

/// The same model with other structure: constants that both layouts have are kept.
fn changed(r: &Reference, change: impl FnOnce(&mut Tree)) -> Reference {
    let mut tree = r.tree.clone();
    change(&mut tree);
    let layout = Layout::new(&tree);
    let mut c = vec![0.0; layout.len];
    for ((_, old), (_, new)) in r.layout.blocks().into_iter().zip(layout.blocks()) {
        let n = old.range().len().min(new.range().len());
        c[new.start..new.start + n].copy_from_slice(&r.c[old.start..old.start + n]);
    }
    Reference { name: r.name.clone(), value: r.value.clone(), tree, layout, c }
}

#[test]
fn adjoints_of_sites_agree_with_dual_numbers() {
    for weld in [false, true] {
        let r = load("eq_weld__Euler");
        let mut r = changed(&r, |tree| {
            tree.sites =
                [1, 2].map(|body| Site { body, kind: GeomKind::Sphere, size: [0.005; 3] }).to_vec();
            tree.equalities[0].kind = if weld {
                EqualityKind::WeldSites { first: 0, second: 1 }
            } else {
                EqualityKind::ConnectSites { first: 0, second: 1 }
            };
        });
        for i in 0..2 {
            let place = waves(i, 3);
            r.c[r.layout.site_pos.entry(i)].copy_from_slice(&place);
            let q = waves(i + 3, 4);
            let q = Quat::new(q[0], q[1], q[2], q[3]).normalize();
            r.c[r.layout.site_quat.entry(i)].copy_from_slice(&[q.w, q.v.x, q.v.y, q.v.z]);
        }
        check_pullback(&r);
    }
}

#[test]
fn adjoints_of_fixed_tendons_agree_with_dual_numbers() {
    let tendon = |joints: Vec<usize>, start: usize| Tendon {
        wraps: start..start + joints.len(),
        path: TendonPath::Fixed { joints },
        limited: true,
        actuator_force_limited: false,
    };
    let r = load("eq_joint__Euler");
    let mut r = changed(&r, |tree| {
        tree.tendons = vec![tendon(vec![0, 1], 0), tendon(vec![1, 2], 2)];
        for second in [Some(1), None] {
            let kind = EqualityKind::Tendon { first: 0, second };
            tree.equalities.push(Equality { kind, active: true });
        }
    });
    let layout = r.layout.clone();
    r.c[layout.wrap_prm.range()].copy_from_slice(&[1.5, -0.7, 0.4, 2.0]);
    r.c[layout.tendon_invweight0.range()].copy_from_slice(&[3.0, 5.0]);
    r.c[layout.tendon_length0.range()].copy_from_slice(&[0.1, -0.2]);
    r.c[layout.tendon_frictionloss.range()].copy_from_slice(&[0.3, 0.0]);
    // The lower limit of one and the upper of the other act.
    r.c[layout.tendon_range.range()].copy_from_slice(&[9.0, 10.0, -10.0, -9.0]);
    let solimp = [0.8, 0.95, 20.0, 0.4, 3.0];
    for i in 0..2 {
        for block in [layout.tendon_solref_lim, layout.tendon_solref_fri] {
            r.c[block.entry(i)].copy_from_slice(&[0.05, 0.9]);
        }
        for block in [layout.tendon_solimp_lim, layout.tendon_solimp_fri] {
            r.c[block.entry(i)].copy_from_slice(&solimp);
        }
        let e = 2 + i;
        r.c[layout.eq_data.at(e)..layout.eq_data.at(e) + 5]
            .copy_from_slice(&[0.2, 0.8, -0.3, 0.5, 0.1]);
        r.c[layout.eq_solref.entry(e)].copy_from_slice(&[0.03, 1.1]);
        r.c[layout.eq_solimp.entry(e)].copy_from_slice(&solimp);
    }
    assert_eq!(at_snapshot(&r).1.rows.len(), 2 + 2 + 1 + 2);
    check_pullback(&r);
}
