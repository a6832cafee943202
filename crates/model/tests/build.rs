//! Building bodies: what comes out, and what is refused.

use costate_model::{
    GeomBuilder, GridSplit, MaterialSettings, Model, Shape, SoftBuilder, TetrahedraSettings,
};

fn settings() -> TetrahedraSettings {
    TetrahedraSettings::new(MaterialSettings::lame("neo-hookean", 1e3, 2e3), 100.0)
}

#[test]
fn grids_fill_their_box() {
    for split in [GridSplit::Five, GridSplit::Six] {
        let grid = SoftBuilder::grid("g", [3, 2, 2], [0.1, 0.2, 0.3], split);
        let volumes = grid.volumes();
        assert!(volumes.iter().all(|v| *v > 0.0));
        let total: f64 = volumes.iter().sum();
        assert!((total - 0.3 * 0.4 * 0.6).abs() < 1e-12, "{total}");
        let mut model = Model::new("m");
        grid.tetrahedra(settings()).build(&mut model).unwrap();
        let per_cell = if split == GridSplit::Five { 5 } else { 6 };
        let body = &model.soft[0];
        assert_eq!(body.tetrahedra.as_ref().unwrap().indices.len(), 12 * per_cell);
        assert_eq!(body.surface.len(), 2 * 2 * (6 + 6 + 4));
        // Outward: the surface encloses the volume.
        let x = model.get("soft.g.rest_position").unwrap();
        let at = |v: u32| [0, 1, 2].map(|c| x[3 * v as usize + c]);
        let enclosed: f64 = body
            .surface
            .iter()
            .map(|&[a, b, c]| {
                let (a, b, c) = (at(a), at(b), at(c));
                a[0] * (b[1] * c[2] - b[2] * c[1])
                    + a[1] * (b[2] * c[0] - b[0] * c[2])
                    + a[2] * (b[0] * c[1] - b[1] * c[0])
            })
            .sum::<f64>()
            / 6.0;
        assert!((enclosed - 0.072).abs() < 1e-12, "{enclosed}");
    }
}

#[test]
fn cloth_has_hinges_over_interior_edges() {
    let cloth = SoftBuilder::cloth_grid("c", [2, 2], [0.1, 0.1], false).with_all_hinges();
    let mut model = Model::new("m");
    let hinge = costate_model::HingeSettings {
        law: "discrete-shells".into(),
        stiffness: vec![1.0],
        damping: vec![0.0],
        rest_angle: None,
    };
    cloth
        .vertex_mass(vec![0.01])
        .membrane(costate_model::MembraneSettings::default())
        .hinges(hinge)
        .build(&mut model)
        .unwrap();
    assert_eq!(model.soft[0].hinges.as_ref().unwrap().indices.len(), 8);
    assert!(model.get("soft.c.bending.rest_angle").unwrap().iter().all(|a| a.abs() < 1e-12));
}

#[test]
fn bad_bodies_are_refused_with_the_element() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [5.0; 3]];
    let build = |vertices: usize, tetrahedra: Vec<[u32; 4]>| {
        SoftBuilder::new("b", points[..vertices].to_vec())
            .with_tetrahedra(tetrahedra)
            .tetrahedra(settings())
            .build(&mut Model::new("m"))
    };
    assert!(build(4, vec![[0, 1, 2, 3]]).is_ok());
    for (vertices, tetrahedra, expected) in [
        (4, vec![[0, 2, 1, 3]], "tetrahedron 0: is inverted"),
        (4, vec![[0, 1, 2, 9]], "vertex 9 does not exist"),
        (4, vec![[0, 1, 2, 2]], "names a vertex twice"),
        (4, vec![[0, 1, 2, 3], [1, 2, 0, 3]], "same vertices as tetrahedron 0"),
        (5, vec![[0, 1, 2, 3]], "vertex 4: weighs nothing"),
    ] {
        let text = build(vertices, tetrahedra).unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn geoms_have_their_leaves() {
    let mut model = Model::new("m");
    GeomBuilder::new("floor", Shape::Plane, &[]).normal([0.0, 1.0, 0.0]).build(&mut model).unwrap();
    assert_eq!(model.get("geom.floor.friction").unwrap(), [0.5]);
    assert!(model.with("geom.floor.friction", &[-1.0]).is_err());
    assert!(GeomBuilder::new("b", Shape::Box, &[1.0]).build(&mut model).is_err());
}
