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
fn the_scenes_that_ship() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folders = std::fs::read_dir(examples).unwrap().map(|e| e.unwrap().path());
    let scenes: Vec<PathBuf> =
        folders.map(|f| f.join("scene.toml")).filter(|p| p.exists()).collect();
    assert!(!scenes.is_empty());
    for path in scenes {
        let scene = match Scene::read(&path) {
            Ok(scene) => scene,
            Err(e) => panic!("{e}"),
        };
        assert_eq!(scene.with_values(&scene.model, &path).unwrap(), scene.file().text());
    }
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

const BEAM: &str = "\
costate = 1
# A beam that somebody cares about.
name = 'beam'

[option]            # settings
timestep = 1e-4

[soft.beam]
grid = { cells = [2, 1, 1], size = [0.2, 0.1, 0.1] }   # two cells
material = \"neo-hookean\"
young = 200_000     # Pa, from the data sheet
poisson = 0.45
density = { default = 1000, tip = 1_100.0 }
fixed = { side = \"x-\" }
velocity = [0, 0.5, 0]

[soft.beam.regions]
tip = { box = [[0.1, -inf, -inf], [inf, inf, inf]] }

[soft.beam.point_mass.nut]
at = \"tip\"
mass = 5e-3

[geom.floor]
type = \"plane\"";

fn beam() -> Scene {
    Scene::parse(folder().join("beam.toml"), BEAM).unwrap()
}

/// Writes the model beside the original and reads it again.
fn written(scene: &Scene, model: &costate_model::Model) -> String {
    scene.with_values(model, &folder().join("other.toml")).unwrap()
}

#[test]
fn an_unchanged_model_is_the_same_text() {
    let scene = beam();
    assert_eq!(written(&scene, &scene.model), BEAM);
    let documented = documented();
    let scene = Scene::parse("scene.toml", &documented).unwrap();
    assert_eq!(scene.with_values(&scene.model, Path::new("b.toml")).unwrap(), documented);
}

#[test]
fn only_changed_numbers_are_replaced() {
    let scene = beam();
    let model = scene.model.with("soft.beam.young", &[0.1 + 0.2]).unwrap();
    let model = model.with("soft.beam.velocity", &[0.0, 1.0 / 3.0, 0.0]).unwrap();
    let model = model.with("soft.beam.point_mass.nut", &[5.1e-3]).unwrap();
    let wanted = BEAM
        .replace("200_000", "0.30000000000000004")
        .replace("0.5, 0]", "0.3333333333333333, 0]")
        .replace("5e-3", "0.0051");
    assert_eq!(written(&scene, &model), wanted);
}

#[test]
fn values_at_their_default_are_added() {
    let scene = beam();
    let model = scene.model.with("soft.beam.mass_damping", &[0.25]).unwrap();
    let model = model.with("option.gravity", &[0.0, 0.0, -9.8]).unwrap();
    let model = model.with("geom.floor.friction", &[0.75]).unwrap();
    let text = written(&scene, &model);
    let wanted = BEAM
        .replace("# settings", "# settings\ngravity = [0.0, 0.0, -9.8]")
        .replace("[soft.beam]\n", "[soft.beam]\nmass_damping = 0.25\n")
        .replace("[geom.floor]\n", "[geom.floor]\nfriction = 0.75\n");
    assert_eq!(text, wanted);
    // Without a table, and with tables in one line or through dotted keys.
    let text = "soft.b.vertices = [[0, 0, 0]]\nsoft.b.vertex_mass = 1\n\
                [geom]\nball = { type = \"sphere\", size = 1 }";
    let scene = self::scene(text);
    let model = scene.model.with("option.gravity", &[0.0, 0.0, -1.0]).unwrap();
    let model = model.with("geom.ball.ramp", &[2e-3]).unwrap();
    let model = model.with("soft.b.radius", &[0.125]).unwrap();
    assert_eq!(
        written(&scene, &model),
        "soft.b.radius = 0.125\ncostate = 1\nsoft.b.vertices = [[0, 0, 0]]\n\
         soft.b.vertex_mass = 1\n[geom]\n\
         ball = { ramp = 0.002, type = \"sphere\", size = 1 }\n\n\
         [option]\ngravity = [0.0, 0.0, -1.0]\n"
    );
}

#[test]
fn fields_keep_their_form_where_they_can() {
    let scene = beam();
    let old = scene.model.get("soft.beam.density").unwrap();
    let by_group: Vec<f64> = old.iter().map(|&d| if d == 1000.0 { 900.5 } else { 1e3 }).collect();
    let model = scene.model.with("soft.beam.density", &by_group).unwrap();
    let wanted = BEAM.replace("default = 1000", "default = 900.5").replace("1_100.0", "1000.0");
    assert_eq!(written(&scene, &model), wanted);
    // No longer one value per region: an array.
    let free: Vec<f64> = (0..10).map(|i| 1000.0 + f64::from(i)).collect();
    let model = scene.model.with("soft.beam.density", &free).unwrap();
    let text = written(&scene, &model);
    assert!(text.contains("density = [1000.0, 1001.0, "), "{text}");
    // A number that became a field, and one that was expanded without a change.
    let model = scene.model.with("soft.beam.young", &free).unwrap();
    assert!(written(&scene, &model).contains("young = [1000.0, 1001.0, "));
    let mut model = scene.model.clone();
    let id = model.leaves.find("soft.beam.young").unwrap();
    model.leaves.expand(id).unwrap();
    assert_eq!(written(&scene, &model), BEAM);
}

#[test]
fn other_views_replace_key_and_value() {
    let scene = beam();
    let other = BEAM
        .replace("young = 200_000", "mu = 70000.5")
        .replace("poisson = 0.45", "lambda = -1.5")
        .replace("density = { default = 1000, tip = 1_100.0 }", "mass = 2.5");
    let model = Scene::parse("beam.toml", &other).unwrap().model;
    let e = scene.with_values(&model, &folder().join("other.toml")).unwrap_err();
    assert!(e.to_string().contains("identify the density instead"), "{e}");
    let uneven = "density = { default = 1000, tip = 1_100.0 }";
    let even = BEAM.replace(uneven, "density = 1e3 # wood");
    let scene = Scene::parse(folder().join("beam.toml"), &even).unwrap();
    let text = written(&scene, &model);
    assert_eq!(text, other.replace("mass = 2.5", "mass = 2.5 # wood"));
}

#[test]
fn orientations_replace_what_gave_them() {
    let text = "[soft.b]\nvertices = [[0, 0, 0]]\nvertex_mass = 1\n\
                rotation = { axis = [0, 0, 1], degrees = 90 } # turned\n\
                [geom.g]\ntype = \"plane\"\nnormal = [0, 0.1, 1] # a slope\n";
    let scene = scene(text);
    let model = scene.model.with("geom.g.quat", &[1.0, 0.0, 0.25, 0.0]).unwrap();
    let model = model.with("soft.b.rotation", &[1.0, 0.0, 0.0, 0.5]).unwrap();
    let wanted = text
        .replace("normal = [0, 0.1, 1]", "quat = [1.0, 0.0, 0.25, 0.0]")
        .replace("{ axis = [0, 0, 1], degrees = 90 }", "[1.0, 0.0, 0.0, 0.5]");
    assert_eq!(written(&scene, &model), format!("costate = 1\n{wanted}"));
}

#[test]
fn what_a_scene_cannot_hold_is_refused() {
    let scene = beam();
    let mut rest = scene.model.get("soft.beam.rest_position").unwrap().to_vec();
    rest[4] += 1e-3;
    let model = scene.model.with("soft.beam.rest_position", &rest).unwrap();
    let e = scene.with_values(&model, Path::new("b.toml")).unwrap_err();
    assert!(e.to_string().contains("from a grid or a mesh file"), "{e}");
    // Vertices in the scene file itself can move.
    let scene = self::scene("[soft.b]\nvertices = [[0, 0, 0], [1, 0, 0]]\nvertex_mass = [1, 2]\n");
    let rest = [0.0, 0.0, 0.0, 1.5, 0.0, 0.0];
    let model = scene.model.with("soft.b.rest_position", &rest).unwrap();
    assert!(written(&scene, &model).contains("[[0, 0, 0], [1.5, 0, 0]]"));
}

#[test]
fn meshes_are_found_from_the_new_place() {
    let text = "[soft.box]\nmesh = { file = \"mesh/box_41_ascii.msh\" }\n\
                material = \"neo-hookean\"\nyoung = 1e5\npoisson = 0.4\ndensity = 1000\n";
    let scene = scene(text);
    let model = scene.model.with("soft.box.young", &[2.5e5]).unwrap();
    let target = folder().join("../runs/beam/model.toml");
    let text = scene.with_values(&model, &target).unwrap();
    assert!(text.contains("file = \"../../data/mesh/box_41_ascii.msh\""), "{text}");
    let target = folder().join("mesh/model.toml");
    let text = scene.with_values(&model, &target).unwrap();
    assert!(text.contains("file = \"box_41_ascii.msh\""), "{text}");
    let again = Scene::parse(&target, &text).unwrap();
    assert_eq!(again.model.theta(), model.theta());
}

use proptest::prelude::*;

/// Random values for every leaf that the scene can hold, within its bounds.
fn changed(model: &costate_model::Model, draws: &[f64]) -> costate_model::Model {
    let mut draws = draws.iter().cycle();
    let mut new = model.clone();
    let ids: Vec<_> = model.leaves.iter().map(|(id, _)| id).collect();
    for id in ids {
        let leaf = model.leaves.get(id);
        let from_file = leaf.path.starts_with("soft.cage");
        if leaf.path.ends_with("rest_position") && !from_file {
            continue;
        }
        let mut values = leaf.values.clone();
        for value in &mut values {
            let u = draws.next().unwrap();
            // Bounds are signs and the open interval of Poisson's ratio.
            let candidate = if *value == 0.0 { u.abs() } else { *value * (0.9 + 0.2 * u.abs()) };
            if u.abs() > 0.3 && leaf.bounds.contain(candidate) {
                *value = candidate;
            }
        }
        new.leaves.set(id, &values).unwrap();
    }
    new
}

#[test]
fn what_follows_from_a_changed_value_is_said() {
    let text = "costate = 1\n[soft.cage]\nvertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\nvertex_mass = 1\n\
                [soft.cage.springs]\nends = [[0, 1], [1, 2]]\nstiffness = 10\n";
    let scene = Scene::parse("scene.toml", text).unwrap();
    let rest = [0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 1.0, 0.0];
    let model = scene.model.with("soft.cage.rest_position", &rest).unwrap();
    let text = scene.with_values(&model, Path::new("new.toml")).unwrap();
    let again = Scene::parse("new.toml", &text).unwrap().model;
    let values = |path: &str| again.leaves.get(again.leaves.find(path).unwrap()).values.clone();
    assert_eq!(values("soft.cage.rest_position"), rest);
    assert_eq!(values("soft.cage.springs.rest_length"), [1.0, 2f64.sqrt()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_values_read_back_bit_for_bit(draws in proptest::collection::vec(-1.0..1.0, 7..31)) {
        let scene = Scene::parse("scene.toml", &documented()).unwrap();
        let model = changed(&scene.model, &draws);
        let text = scene.with_values(&model, Path::new("new.toml")).unwrap();
        let again = Scene::parse("new.toml", &text).unwrap();
        for (_, leaf) in model.leaves.iter() {
            let read = again.model.leaves.get(again.model.leaves.find(&leaf.path).unwrap());
            for i in 0..leaf.values.len().max(read.values.len()) {
                prop_assert_eq!(read.at(i).to_bits(), leaf.at(i).to_bits(), "{}", leaf.path);
            }
        }
        // Every comment is still there.
        let comments = |t: &str| t.lines().filter_map(|l| l.split_once('#')).count();
        prop_assert_eq!(comments(&text), comments(&documented()));
    }
}
