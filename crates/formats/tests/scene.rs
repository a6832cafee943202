//! Scene files: everything that a model can say, and writing values back.

use costate_formats::scene::Scene;
use costate_model::{DampingLaw, ElasticView, Shape, TetrahedraMass};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn scene(text: &str) -> Scene {
    match Scene::parse(folder().join("scene.toml"), &format!("costate = 1\n{text}")) {
        Ok(scene) => scene,
        Err(e) => panic!("{e}\n{text}"),
    }
}

/// The example of the documentation.
fn documented() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.md");
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find("```toml\n").unwrap() + 8;
    text[start..start + text[start..].find("```").unwrap()].to_owned()
}

#[test]
fn the_documented_example() {
    let scene = Scene::parse("scene.toml", &documented()).unwrap();
    let model = &scene.model;
    assert_eq!(model.name, "silicone beam over a floor");
    assert_eq!((model.options.timestep, model.options.duration), (5e-5, 2.0));
    let (_, beam) = model.soft_body("beam").unwrap();
    assert_eq!(beam.vertex_count, 11 * 4 * 4);
    assert_eq!(beam.tetrahedra.as_ref().unwrap().indices.len(), 10 * 3 * 3 * 5);
    assert_eq!(beam.fixed.len(), 16);
    assert_eq!(beam.regions["tip"].vertices.len(), 2 * 16);
    assert_eq!(beam.regions["tip"].tetrahedra.len(), 9 * 5);
    assert_eq!(beam.point_masses[0].vertices.len(), 4);
    assert_eq!(model.get("soft.beam.point_mass.weight").unwrap(), [0.052]);
    let density = model.get("soft.beam.density").unwrap();
    assert_eq!(density.iter().filter(|&&d| d == 1100.0).count(), 45);
    assert_eq!(density.len(), 450);
    assert_eq!(model.get("soft.beam.young").unwrap(), [263824.0]);
    let inputs: Vec<String> = model.inputs().into_iter().map(|c| c.name).collect();
    assert_eq!(inputs, ["soft.beam.load.push"]);
    let (_, flag) = model.soft_body("flag").unwrap();
    assert_eq!(flag.membrane.as_ref().unwrap().triangles.len(), 64);
    assert_eq!(flag.hinges.as_ref().unwrap().law, "discrete-shells");
    let turn = model.get("soft.flag.rotation").unwrap();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert!((turn[0] - half).abs() < 1e-15 && (turn[1] - half).abs() < 1e-15);
    assert_eq!(model.get("soft.cage.springs.stiffness").unwrap()[3], 80.0);
    assert_eq!(model.get("soft.cage.springs.rest_length").unwrap()[0], 0.1);
    assert_eq!(model.geoms[0].shape, Shape::Plane);
    assert_eq!(model.get("geom.floor.quat").unwrap(), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(model.get("geom.post.size").unwrap(), [0.02, 0.1]);
}

#[test]
fn warp_scenes() {
    let scene = scene(
        "[option]\nup = \"y\"\n\
         [soft.slab]\ngrid = { cells = [2, 1, 1], cell = [0.01, 0.005, 0.01] }\n\
         rotation = { axis = [0, 0, 2], degrees = 20 }\nmaterial = \"warp\"\nmu = 3000\n\
         lambda = 1000\ndensity = 10\nmass_rule = \"grid-cell\"\ndamping = 1\n\
         damping_law = \"warp\"\n[soft.slab.membrane]\nstiffness = 1e-4\n\
         area_stiffness = 1e-4\ndamping = 1e-4\ndamping_law = \"warp\"\n\
         [geom.ground]\ntype = \"plane\"\ncontact = \"warp\"\n",
    );
    let model = &scene.model;
    assert_eq!(model.get("option.gravity").unwrap(), [0.0, -9.81, 0.0]);
    assert_eq!(model.options.up_axis, 1);
    let slab = &model.soft[0];
    let tetrahedra = slab.tetrahedra.as_ref().unwrap();
    assert_eq!(tetrahedra.material.view, ElasticView::Lame);
    assert_eq!(tetrahedra.damping.law, DampingLaw::Warp);
    let TetrahedraMass::GridCell { volume, .. } = tetrahedra.mass else { panic!() };
    assert!((volume - 5e-7).abs() < 1e-20);
    // warp.sim's five: cell (0, 0, 0) is even, (1, 0, 0) odd; 3 x 2 x 2 vertices.
    assert_eq!(tetrahedra.indices[0], [1, 7, 4, 0]);
    assert_eq!(tetrahedra.indices[5], [1, 2, 4, 7]);
    assert_eq!(slab.membrane.as_ref().unwrap().triangles, slab.surface);
    // The ground's normal is +y, its friction warp.sim's.
    let q = model.get("geom.ground.quat").unwrap();
    let normal_y = 2.0 * (q[2] * q[3] - q[0] * q[1]);
    assert!((normal_y - 1.0).abs() < 1e-15, "{q:?}");
    assert_eq!(model.get("geom.ground.friction_damping").unwrap(), [1000.0]);
}

#[test]
fn meshes_with_groups() {
    let scene = scene(
        "[soft.box]\nmesh = { file = \"mesh/box_41_ascii.msh\", scale = 2, origin = [0.02, 0, 0] }\n\
         material = \"neo-hookean\"\nyoung = { \"body of rubber\" = 2e5 }\npoisson = 0.4\n\
         density = 1000\nfixed = [\"clamp\", \"edge\"]\n\
         [soft.box.membrane]\ntriangles = \"3\"\nstiffness = { clamp = 1, default = 2 }\n\
         [soft.box.regions]\nhold = { group = \"clamp\" }\nball = { sphere = { center = [0.04, 0, 0], radius = 0.03 } }\n",
    );
    let body = &scene.model.soft[0];
    let rest = scene.model.get("soft.box.rest_position").unwrap();
    let x: Vec<f64> = rest.chunks(3).map(|p| p[0]).collect();
    assert_eq!(x.iter().copied().fold(f64::INFINITY, f64::min), -0.04);
    assert_eq!(x.iter().copied().fold(f64::NEG_INFINITY, f64::max), 0.04);
    assert_eq!(body.regions["hold"], body.regions["clamp"]);
    assert!(!body.regions["clamp"].triangles.is_empty());
    let membrane = body.membrane.as_ref().unwrap();
    let stiffness = scene.model.get("soft.box.membrane.stiffness").unwrap();
    for (i, s) in stiffness.iter().enumerate() {
        let in_clamp = body.regions["clamp"].triangles.contains(&(i as u32));
        assert_eq!(*s, if in_clamp { 1.0 } else { 2.0 });
    }
    assert_eq!(stiffness.len(), membrane.triangles.len());
    let young = scene.model.get("soft.box.young").unwrap();
    assert_eq!(young.len(), body.tetrahedra.as_ref().unwrap().indices.len());
    assert!(young.iter().all(|&e| e == 2e5));
    assert!(body.regions["ball"].vertices.len() > 1);
}

#[test]
fn laws_of_the_users_own() {
    let scene = scene(
        "[soft.b]\ngrid = { cells = [1, 1, 1], size = [1, 1, 1], split = \"six\" }\n\
         material = \"mooney\"\nparameters = { c10 = 1e4, c01 = [1, 2, 3, 4, 5, 6] }\nmass = 2\n\
         activation_input = \"muscle\"\nactivation = 0.1\n\
         [soft.b.path.hand]\nat = [0, 1]\n",
    );
    let material = &scene.model.soft[0].tetrahedra.as_ref().unwrap().material;
    assert_eq!((material.law.as_str(), material.view), ("mooney", ElasticView::Own));
    assert_eq!(scene.model.get("soft.b.c01").unwrap()[5], 6.0);
    assert_eq!(scene.model.get("soft.b.mass").unwrap(), [2.0]);
    let inputs: Vec<String> = scene.model.inputs().into_iter().map(|c| c.name).collect();
    assert_eq!(inputs, ["soft.b.path.hand", "soft.b.activation.muscle"]);
}
