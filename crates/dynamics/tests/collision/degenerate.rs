//! Places where normals, nearest points or features are not unique: every pair gives finite contacts with finite
//! derivatives.

use std::sync::Arc;

use costate_dynamics::rigid::GeomKind;
use costate_dynamics::rigid::collision::Shape;
use costate_model::rigid::{HeightField, Hull};
use costate_num::{Mat3, Quat, Vec3};

use crate::cases::Case;
use crate::derivatives::{direction, duals};

const KINDS: [GeomKind; 8] = [
    GeomKind::Plane,
    GeomKind::HeightField,
    GeomKind::Sphere,
    GeomKind::Capsule,
    GeomKind::Ellipsoid,
    GeomKind::Cylinder,
    GeomKind::Box,
    GeomKind::Mesh,
];

fn cube() -> Hull {
    let side = |n: usize, bit: usize| if n & bit != 0 { 0.1 } else { -0.1 };
    let corners: Vec<[f64; 3]> = (0..8).map(|n| [side(n, 1), side(n, 2), side(n, 4)]).collect();
    Hull::new(&corners).expect("a cube has volume")
}

fn flat() -> HeightField {
    HeightField {
        name: "flat".into(),
        rows: 3,
        columns: 3,
        heights: Arc::new(vec![0.0; 9]),
        half: [0.5, 0.5],
        depth: 0.2,
    }
}

/// Turns by quarters, a half, an eighth, and none.
fn turns() -> Vec<Mat3<f64>> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let about = |x: f64, y: f64, z: f64| Quat::from_rotation_vector(Vec3::new(x, y, z)).to_matrix();
    vec![
        Mat3::identity(),
        about(quarter, 0.0, 0.0),
        about(0.0, 2.0 * quarter, 0.0),
        about(0.0, 0.0, 0.5 * quarter),
        about(1e-9, 0.0, 0.0),
    ]
}

#[test]
fn every_pair_is_finite_where_it_is_degenerate() {
    let offsets = [
        [0.0, 0.0, 0.0],
        // Faces that touch.
        [0.0, 0.0, 0.2],
        [0.2, 0.0, 0.0],
        // Overlapping along an axis, along a diagonal, to one side.
        [0.0, 0.0, 0.15],
        [0.1, 0.1, 0.0],
        [0.1, 0.1, 0.1],
        [0.05, 0.0, 0.19],
        [0.0, 0.0, 1e-12],
        [0.0, 0.0, -0.15],
    ];
    let mut contacts = 0;
    for (i, &first) in KINDS.iter().enumerate() {
        for &second in KINDS[i..].iter().filter(|k| **k as usize > 1) {
            for (t, turn) in turns().into_iter().enumerate() {
                for (o, offset) in offsets.into_iter().enumerate() {
                    let size = Vec3::new(0.1, 0.1, 0.1);
                    let still = Shape { position: Vec3::zero(), axes: Mat3::identity(), size };
                    let moved = Shape { position: Vec3::from_array(offset), axes: turn, size };
                    let hull = |kind| (kind == GeomKind::Mesh).then(cube);
                    let case = Case {
                        name: format!("{first:?} {second:?} turn {t} offset {o}"),
                        kinds: [first, second],
                        shapes: [still, moved],
                        hulls: [hull(first), hull(second)],
                        field: (first == GeomKind::HeightField).then(flat),
                        margin: 0.01,
                        aligned: true,
                        contacts: Vec::new(),
                        tangents: Vec::new(),
                    };
                    for touch in case.find(&duals(&case.shapes, &direction(o))) {
                        contacts += 1;
                        let [x, y] = touch.tangents();
                        for v in [touch.position, touch.normal, x, y] {
                            for x in v.to_array() {
                                let finite = x.value.is_finite() && x.tangent[0].is_finite();
                                assert!(finite, "{}: {touch:?}", case.name);
                            }
                        }
                        let length = touch.normal.norm().value;
                        assert!((length - 1.0).abs() < 1e-9, "{}: {touch:?}", case.name);
                        let distance = touch.distance;
                        assert!(distance.value <= 0.01 && distance.value > -0.5, "{}", case.name);
                        assert!(distance.tangent[0].is_finite(), "{}", case.name);
                    }
                }
            }
        }
    }
    assert!(contacts > 1000, "{contacts}");
}
