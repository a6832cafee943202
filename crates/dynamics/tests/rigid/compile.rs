//! Constants compiled from MJCF, against those of MuJoCo and against differences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use costate_dynamics::rigid::{Block, Derivation};
use costate_formats::read_mjcf;
use costate_model::Model;
use costate_num::{Mat3, Quat};

use crate::reference::{Reference, all, load};

/// The model of a recorded file.
pub fn model(r: &Reference) -> Model {
    let name = r.value["model"].as_str().expect("a recording names its model");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mujoco/models");
    let file = Path::new(name).file_name().expect("a model is a file");
    read_mjcf(folder.join(file)).unwrap_or_else(|e| panic!("{e}"))
}

/// Compares all constants that the recording has, relative to the largest number of each entry.
fn check(r: &Reference) {
    let model = model(r);
    let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{}: {e}", r.name));
    let c = derivation.derive(&model.theta()).unwrap_or_else(|e| panic!("{}: {e}", r.name));
    assert_eq!(derivation.tree.bodies, r.tree.bodies, "{}", r.name);
    assert_eq!(derivation.tree.joints, r.tree.joints, "{}", r.name);
    assert_eq!(derivation.tree.actuators, r.tree.actuators, "{}", r.name);
    assert_eq!(derivation.tree.equalities, r.tree.equalities, "{}", r.name);
    assert_eq!(derivation.tree.geoms, r.tree.geoms, "{}", r.name);
    assert_eq!(derivation.tree.pairs, r.tree.pairs, "{}", r.name);
    let mut compared = 0;
    let own: BTreeMap<&str, Block> = derivation.layout.blocks().into_iter().collect();
    for (name, block) in r.layout.blocks() {
        if r.value["compiled"][name].is_null() && name != "gravity" {
            continue;
        }
        for i in 0..block.count {
            // A plane's size is for pictures.
            let plane = name == "geom_size" && r.value["compiled"]["geom_type"][i] == 0;
            if plane {
                continue;
            }
            let (got, expected) = (&c[own[name].entry(i)], &r.c[block.entry(i)]);
            let size = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            // MuJoCo has the inertia of hollow ellipsoids from a difference of two close volumes.
            let hollow = name.starts_with("body_") && r.name == "compile_zoo" && i == 12;
            let tolerance = if hollow { 1e-10 } else { 1e-12 };
            if name == "body_iquat" {
                // Axes may be exchanged or turned round: that they are principal is what counts.
                let tensor = &c[own["body_inertia"].entry(i)];
                check_axes(&format!("{} {name}[{i}]", r.name), got, tensor);
                continue;
            }
            let quaternion = name.ends_with("quat");
            let sign =
                if quaternion && got.iter().zip(expected).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
                    -1.0
                } else {
                    1.0
                };
            for (g, e) in got.iter().zip(expected) {
                let error = (sign * g - e).abs();
                assert!(
                    error <= tolerance * size.max(1e-300) + 1e-17,
                    "{}: {name}[{i}]: {got:?} for {expected:?}",
                    r.name
                );
            }
            compared += 1;
        }
    }
    assert!(compared > 20, "{}: compared {compared}", r.name);
}

/// Whether a tensor is diagonal in turned axes.
fn check_axes(what: &str, q: &[f64], tensor: &[f64]) {
    let r = Quat::new(q[0], q[1], q[2], q[3]).to_matrix();
    let [xx, xy, yy, xz, yz, zz] = [0, 1, 2, 3, 4, 5].map(|i| tensor[i]);
    let m = Mat3::from_rows([xx, xy, xz, xy, yy, yz, xz, yz, zz]);
    let d = r.transpose().matmul(m).matmul(r).to_rows();
    let size = d[0].abs().max(d[4].abs()).max(d[8].abs());
    for off in [d[1], d[2], d[5]] {
        assert!(off.abs() <= 1e-12 * size, "{what}: {off} of {size}");
    }
}

#[test]
fn compiled_constants_are_those_of_mujoco() {
    check(&load("compile_zoo"));
    let mut seen = BTreeSet::new();
    for r in all() {
        let model = r.value["model"].as_str().unwrap_or_default().to_owned();
        if seen.insert(model) {
            check(&r);
        }
    }
}

/// Models with all that the derivation does: shapes, bounds, tendons, servos, equalities.
fn models() -> Vec<(String, Model)> {
    let mut found = Vec::new();
    for name in [
        "compile_zoo__",
        "arm_gravcomp__Euler",
        "actuators__Euler",
        "eq_connect__Euler",
        "eq_weld__Euler",
        "ball_limit__Euler",
        "inverted_double_pendulum__Euler",
        "mujoco_humanoid__implicitfast_elliptic",
    ] {
        let name = name.trim_end_matches("__").to_owned();
        let r = load(&name);
        found.push((name, model(&r)));
    }
    let text = r#"<mujoco>
  <compiler boundinertia="0.02" settotalmass="9"/>
  <asset><mesh name="m" vertex="0 0 0 0.2 0 0 0 0.3 0 0 0 0.4" face="0 2 1 0 1 3 1 2 3 0 3 2"/></asset>
  <worldbody>
    <site name="fixed" pos="0.1 0.2 1.5"/>
    <body name="a" pos="0 0 1" euler="10 20 30"><joint name="h" axis="1 2 3" pos="0 0.1 0" ref="20"/>
      <geom type="capsule" size="0.1" fromto="0.1 0.2 0 0.3 0.1 -0.4"/>
      <geom type="mesh" mesh="m" pos="0.1 0 0" euler="0 30 0"/>
      <site name="s" pos="0.2 0.1 0"/>
      <body name="b" pos="0.4 0.1 0" euler="0 40 0"><joint name="k" type="slide" axis="0 1 1" springdamper="0.2 0.7"/>
        <geom type="box" size="0.1 0.2 0.3" shellinertia="true"/>
        <geom type="cylinder" size="0.1 0.2" pos="0 0.2 0.1" shellinertia="true"/>
        <site name="t" pos="0 0.2 0.3"/>
        <body name="c" pos="0 0 0.4"><joint name="l" axis="0 1 0"/><joint name="n" type="ball" pos="0 0 0.1"/>
          <geom type="ellipsoid" size="0.1 0.15 0.2" pos="0.1 0 0" shellinertia="true"/>
          <inertial pos="0 0.1 0" mass="2" fullinertia="0.5 0.6 0.7 0.02 -0.03 0.04"/>
          <site name="u" pos="0.1 0 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="f" springlength="0.1"><joint joint="h" coef="0.3"/><joint joint="k" coef="-2"/></fixed>
    <spatial name="p" stiffness="3"><site site="fixed"/><site site="s"/><site site="t"/>
      <pulley divisor="2"/><site site="t"/><site site="u"/></spatial>
  </tendon>
  <actuator>
    <position joint="h" kp="30" dampratio="0.8" gear="2" armature="0.1" damping="0.3"/>
    <position tendon="p" kp="20" dampratio="0.5" gear="1.5"/>
    <muscle tendon="p" lengthrange="0.5 1.5"/>
    <muscle joint="k" lengthrange="-1 1" force="100"/>
    <cylinder joint="h" diameter="0.1" timeconst="0.1"/>
  </actuator>
</mujoco>"#;
    let own = costate_formats::parse_mjcf("own.xml", text).unwrap_or_else(|e| panic!("{e}"));
    found.push(("own".into(), own));
    found
}

/// A number of no special value for each index.
fn noise(seed: usize, i: usize) -> f64 {
    let x = ((seed * 7919 + i) as f64 * 12.9898).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

/// θ with armatures that stay positive when moved a little.
fn start(model: &Model) -> Vec<f64> {
    let mut theta = model.theta();
    for (id, leaf) in model.leaves.iter() {
        if leaf.path.ends_with(".armature") {
            theta[model.leaves.range(id)].iter_mut().for_each(|x| *x += 0.05);
        }
    }
    theta
}

/// A direction of θ that moves every number in proportion to its size.
fn direction(theta: &[f64], seed: usize) -> Vec<f64> {
    theta.iter().enumerate().map(|(i, x)| noise(seed, i) * (0.1 + x.abs())).collect()
}

#[test]
fn tangents_of_constants_agree_with_differences() {
    for (name, model) in models() {
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{name}: {e}"));
        let theta = start(&model);
        let c = derivation.derive(&theta).expect("the model compiles");
        let along = direction(&theta, 1);
        let got = derivation.pushforward(&theta, &along).expect("the model compiles");
        let mut best = vec![f64::INFINITY; c.len()];
        for exponent in 2..7 {
            // Fourth-order central differences.
            let h = 10f64.powi(-exponent);
            let at = |s: f64| {
                let moved: Vec<f64> =
                    theta.iter().zip(&along).map(|(x, d)| x + s * h * d).collect();
                derivation.derive(&moved).expect("a model nearby compiles")
            };
            let (a, b, d, e) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
            for i in 0..c.len() {
                let difference = (8.0 * (d[i] - b[i]) - (e[i] - a[i])) / (12.0 * h);
                let size = difference.abs().max(c[i].abs()).max(1e-6);
                best[i] = best[i].min((difference - got[i]).abs() / size);
            }
        }
        for (block_name, block) in derivation.layout.blocks() {
            for i in block.range() {
                let entry = (i - block.start) / block.width;
                // The shortest turn of z into an axis jumps where that axis is −z.
                if ["geom_quat", "body_iquat"].contains(&block_name)
                    && c[block.at(entry)].abs() < 1e-6
                {
                    continue;
                }
                assert!(
                    best[i] < 1e-7,
                    "{name}: {block_name}[{entry}] number {}: tangent {}, error {}",
                    i - block.at(entry),
                    got[i],
                    best[i]
                );
            }
        }
    }
}

#[test]
fn adjoints_of_constants_agree_with_tangents() {
    for (name, model) in models() {
        let derivation = Derivation::new(&model).unwrap_or_else(|e| panic!("{name}: {e}"));
        let theta = start(&model);
        let c = derivation.derive(&theta).expect("the model compiles");
        for seed in 0..4 {
            let along = direction(&theta, seed);
            let c_dot = derivation.pushforward(&theta, &along).expect("the model compiles");
            // Block by block, so that no large numbers hide small ones.
            for (block_name, block) in derivation.layout.blocks() {
                let mut c_bar = vec![0.0; c.len()];
                for i in block.range() {
                    c_bar[i] = noise(seed + 50, i);
                }
                let mut theta_bar = vec![0.0; theta.len()];
                derivation.pullback(&theta, &c_bar, &mut theta_bar).expect("the model compiles");
                let left: f64 = c_bar.iter().zip(&c_dot).map(|(a, b)| a * b).sum();
                let terms: Vec<f64> = theta_bar.iter().zip(&along).map(|(a, b)| a * b).collect();
                let right: f64 = terms.iter().sum();
                let size: f64 = terms.iter().map(|x| x.abs()).sum::<f64>().max(left.abs());
                assert!(
                    (left - right).abs() <= 1e-11 * size + 1e-300,
                    "{name}: {block_name}: {left} against {right}"
                );
            }
        }
    }
}

/// Views of inertias leave all constants what they are, and their derivatives agree.
#[test]
fn views_of_inertias_give_the_same_constants() {
    let zoo = model(&load("compile_zoo"));
    let expected = Derivation::new(&zoo).and_then(|d| d.derive(&zoo.theta())).expect("compiles");
    for views in [
        &["body.multi.mass"][..],
        &["body.multi.scaledmass", "body.diag_quat.scaledmass", "body.fullinertia.scaledmass"],
        &["body.multi.fullinertia", "body.diag_quat.fullinertia", "body.capsule.ipos"],
        &["body.multi.pseudoinertia", "body.diag_quat.pseudoinertia", "body.box.pseudoinertia"],
        &["body.diag_quat.scaledmass", "body.diag_quat.fullinertia", "body.diag_quat.ipos"],
    ] {
        let viewed = zoo.with_views(views.iter().copied()).unwrap_or_else(|e| panic!("{e}"));
        for view in views {
            assert!(viewed.get(view).is_ok(), "{view}");
        }
        let theta = start(&viewed);
        let derivation = Derivation::new(&viewed).expect("compiles");
        let c = derivation.derive(&viewed.theta()).expect("compiles");
        for (name, block) in derivation.layout.blocks() {
            for i in (0..block.count).filter(|_| name != "body_iquat") {
                let (got, wanted) = (&c[block.entry(i)], &expected[block.entry(i)]);
                let size = wanted.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                for (g, w) in got.iter().zip(wanted) {
                    assert!((g - w).abs() <= 1e-12 * size, "{views:?}: {name}[{i}]: {g} {w}");
                }
            }
        }
        let along = direction(&theta, 3);
        let c_dot = derivation.pushforward(&theta, &along).expect("compiles");
        let c_bar: Vec<f64> = (0..c.len()).map(|i| noise(9, i) / (1.0 + c[i].abs())).collect();
        let mut theta_bar = vec![0.0; theta.len()];
        derivation.pullback(&theta, &c_bar, &mut theta_bar).expect("compiles");
        let left: f64 = c_bar.iter().zip(&c_dot).map(|(a, b)| a * b).sum();
        let right: f64 = theta_bar.iter().zip(&along).map(|(a, b)| a * b).sum();
        assert!((left - right).abs() <= 1e-11 * left.abs().max(1.0), "{views:?}: {left} {right}");
    }
    for clash in [
        ["body.multi.mass", "body.multi.scaledmass"],
        ["body.multi.pseudoinertia", "body.multi.ipos"],
        ["body.sphere.mass", "geom.geom0.density"],
    ] {
        assert!(zoo.with_views(clash).is_err(), "{clash:?}");
    }
}
