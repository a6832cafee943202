//! Geoms that fit between the vertices of a soft body.

use costate_model::rigid::{Form, Placement};
use costate_model::{Model, Shape, SoftBody};

/// Says of every geom that is narrower than the longest edge of a soft body's surface that the body can pass
/// over it: vertices touch geoms, edges and triangles do not.
pub fn narrow_geom_warnings(model: &Model) -> Vec<String> {
    let mut out = Vec::new();
    for body in &model.soft {
        let edge = longest_edge(model, body);
        let radii = &model.leaves.get(body.radius).values;
        let radius = radii.iter().copied().fold(f64::INFINITY, f64::min);
        for (name, width) in widths(model) {
            if width + 2.0 * radius < edge {
                out.push(format!(
                    "geom.{name}: it is {width:.3} m wide and can slip through the surface of soft.{}, whose vertices \
                     lie up to {edge:.3} m apart: contact acts on vertices, so refine the body or widen the geom",
                    body.name
                ));
            }
        }
    }
    out
}

/// The geoms that soft bodies touch, with the least width of each.
fn widths(model: &Model) -> Vec<(&str, f64)> {
    let smallest = |values: &[f64]| 2.0 * values.iter().copied().fold(f64::INFINITY, f64::min);
    let mut out = Vec::new();
    for geom in &model.geoms {
        let Some(size) = geom.size.map(|id| &model.leaves.get(id).values) else { continue };
        let numbers = match geom.shape {
            Shape::Plane => continue,
            Shape::Sphere | Shape::Capsule => &size[..1],
            Shape::Box => &size[..],
        };
        out.push((geom.name.as_str(), smallest(numbers)));
    }
    for contact in model.articulation.iter().flat_map(|a| &a.soft_contacts) {
        let Some(geom) = model.articulation.as_ref().and_then(|a| a.geoms.get(contact.geom)) else {
            continue;
        };
        let Some(size) = geom.size.map(|id| &model.leaves.get(id).values) else { continue };
        let numbers = match geom.form {
            Form::Sphere | Form::Capsule => &size[..1],
            // Where its ends give its length, the only number left is its half width.
            Form::Box if matches!(geom.placement, Placement::FromTo { .. }) => &size[..1],
            Form::Box => &size[..],
            _ => continue,
        };
        out.push((geom.name.as_str(), smallest(numbers)));
    }
    out
}

/// The longest edge of a body's surface at rest, m; 0 without a surface.
fn longest_edge(model: &Model, body: &SoftBody) -> f64 {
    let rest = model.leaves.get(body.rest_position);
    let along = |a: u32, b: u32| {
        let square = |k: usize| (rest.at(3 * a as usize + k) - rest.at(3 * b as usize + k)).powi(2);
        (0..3).map(square).sum::<f64>().sqrt()
    };
    let edges = body.surface.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    edges.map(|(a, b)| along(a, b)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use costate_model::{
        GeomBuilder, GridSplit, MaterialSettings, SoftBuilder, TetrahedraSettings,
    };

    use super::*;

    #[test]
    fn only_what_fits_between_vertices_is_told() {
        let mut model = Model::new("narrow");
        // Faces of cells have diagonals of 0.14 m.
        SoftBuilder::grid("block", [2, 2, 2], [0.1; 3], GridSplit::Five)
            .tetrahedra(TetrahedraSettings::new(
                MaterialSettings::lame("neo-hookean", 1e3, 1e3),
                1e3,
            ))
            .radius(vec![0.01])
            .build(&mut model)
            .unwrap();
        let sizes: [(&str, Shape, &[f64]); 5] = [
            ("ground", Shape::Plane, &[]),
            ("ball", Shape::Sphere, &[0.05]),
            ("wide", Shape::Sphere, &[0.08]),
            ("needle", Shape::Capsule, &[0.01, 1.0]),
            ("plate", Shape::Box, &[1.0, 1.0, 0.02]),
        ];
        for (name, shape, size) in sizes {
            GeomBuilder::new(name, shape, size).build(&mut model).unwrap();
        }
        let told = narrow_geom_warnings(&model);
        let names: Vec<&str> = told.iter().filter_map(|text| text.split(':').next()).collect();
        assert_eq!(names, ["geom.ball", "geom.needle", "geom.plate"], "{told:?}");
    }
}
