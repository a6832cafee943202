//! The recorded contacts of `tests/data/mujoco/collision`.

use std::sync::Arc;

use costate_dynamics::rigid::GeomKind;
use costate_dynamics::rigid::collision::{Real, Shape, Surface, Touch, collide};
use costate_model::rigid::{HeightField, Hull};
use costate_num::{Quat, Vec3};

/// Two geoms and the contacts that MuJoCo finds between them.
pub struct Case {
    pub name: String,
    pub kinds: [GeomKind; 2],
    pub shapes: [Shape<f64>; 2],
    /// Hulls of meshes.
    pub hulls: [Option<Hull>; 2],
    /// The first one's heights, of a height field.
    pub field: Option<HeightField>,
    pub margin: f64,
    /// Whether both are turned by quarter turns: the order of contacts is rounding's.
    pub aligned: bool,
    pub contacts: Vec<Touch<f64>>,
    /// First tangents of the contacts.
    pub tangents: Vec<Vec3<f64>>,
}

fn kind(name: &str) -> GeomKind {
    match name {
        "plane" => GeomKind::Plane,
        "sphere" => GeomKind::Sphere,
        "capsule" => GeomKind::Capsule,
        "ellipsoid" => GeomKind::Ellipsoid,
        "cylinder" => GeomKind::Cylinder,
        "box" => GeomKind::Box,
        "mesh" => GeomKind::Mesh,
        "hfield" => GeomKind::HeightField,
        other => panic!("{other}"),
    }
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn vector(x: &[f64]) -> Vec3<f64> {
    Vec3::new(x[0], x[1], x[2])
}

fn field(case: &serde_json::Value) -> Option<HeightField> {
    let heights = case["heights"].as_array()?;
    let size = numbers(&case["field_size"]);
    Some(HeightField {
        name: "ground".into(),
        rows: heights.len(),
        columns: heights[0].as_array().unwrap().len(),
        heights: Arc::new(heights.iter().flat_map(numbers).collect()),
        half: [size[0], size[1]],
        depth: size[2],
    })
}

/// All recorded cases of a pair, such as `box_box`.
pub fn all(pair: &str) -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mujoco/collision");
    let path = format!("{folder}/{pair}.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (first, second) = pair.split_once('_').unwrap();
    let kinds = [kind(first), kind(second)];
    let cases = value.as_array().unwrap().iter().enumerate();
    cases
        .map(|(n, case)| {
            let shapes = [0, 1].map(|k| {
                let place = numbers(&case["places"][k]);
                let quat = Quat::new(place[3], place[4], place[5], place[6]).normalize();
                Shape {
                    position: vector(&place),
                    axes: quat.to_matrix(),
                    size: vector(&numbers(&case["sizes"][k])),
                }
            });
            let hulls = ["a", "b"].map(|name| {
                let vertices = case[name].as_array()?;
                let vertices: Vec<[f64; 3]> =
                    vertices.iter().map(|v| vector(&numbers(v)).to_array()).collect();
                Some(Hull::new(&vertices).unwrap())
            });
            let contacts: Vec<Vec<f64>> =
                case["contacts"].as_array().unwrap().iter().map(numbers).collect();
            let touch = |c: &Vec<f64>| Touch {
                position: vector(&c[1..]),
                normal: vector(&c[4..]),
                along: Vec3::zero(),
                distance: c[0],
            };
            Case {
                name: format!("{pair} {n}"),
                kinds,
                shapes,
                hulls,
                field: field(case),
                margin: case["margin"].as_f64().unwrap(),
                aligned: case["aligned"].as_bool().unwrap(),
                contacts: contacts.iter().map(touch).collect(),
                tangents: contacts.iter().map(|c| vector(&c[7..])).collect(),
            }
        })
        .collect()
}

impl Case {
    /// What is found between the two geoms, or others in their place.
    pub fn find<S: Real>(&self, shapes: &[Shape<S>; 2]) -> Vec<Touch<S>> {
        let surface = |k: usize| {
            Surface::new(self.kinds[k], &shapes[k])
                .with(self.hulls[k].as_ref(), self.field.as_ref())
        };
        let mut found = Vec::new();
        assert!(collide(&surface(0), &surface(1), S::splat(self.margin), &mut found));
        found
    }
}
