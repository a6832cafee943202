//! What a soft body must satisfy before it is built.

use std::collections::HashMap;

use super::SoftBuilder;
use super::settings::MassRule;
use crate::error::ModelError;

/// Volume of a tetrahedron relative to its longest edge cubed below which it is degenerate.
const FLAT: f64 = 1e-9;

type Point = [f64; 3];

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Six times the signed volume.
pub(super) fn six_volumes(x: &[Point], t: [u32; 4]) -> f64 {
    let [a, b, c, d] = t.map(|v| x[v as usize]);
    dot(sub(b, a), cross(sub(c, a), sub(d, a)))
}

/// Twice the area.
pub(super) fn two_areas(x: &[Point], t: [u32; 3]) -> f64 {
    let [a, b, c] = t.map(|v| x[v as usize]);
    let n = cross(sub(b, a), sub(c, a));
    dot(n, n).sqrt()
}

fn longest_edge<const N: usize>(x: &[Point], t: [u32; N]) -> f64 {
    let mut longest = 0.0f64;
    for i in 0..N {
        for j in 0..i {
            let e = sub(x[t[i] as usize], x[t[j] as usize]);
            longest = longest.max(dot(e, e));
        }
    }
    longest.sqrt()
}

fn sorted<const N: usize>(mut element: [u32; N]) -> [u32; N] {
    element.sort_unstable();
    element
}

/// A hinge is the same with its opposite vertices, or its edge, the other way round; the edges
/// of one tetrahedron are six hinges over the same four vertices.
fn hinge_key([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    [a.min(b), a.max(b), c.min(d), c.max(d)]
}

/// Checks indices; elements with the same `key` are the same.
fn indices<const N: usize>(
    body: &SoftBuilder,
    kind: &str,
    elements: &[[u32; N]],
    key: fn([u32; N]) -> [u32; N],
) -> Result<(), ModelError> {
    let n = body.vertices.len();
    let mut seen: HashMap<[u32; N], usize> = HashMap::with_capacity(elements.len());
    for (i, element) in elements.iter().enumerate() {
        let name = || format!("soft.{}: {kind} {i}", body.name);
        if let Some(v) = element.iter().find(|&&v| v as usize >= n) {
            return Err(ModelError::invalid(
                name(),
                format!("vertex {v} does not exist; the body has vertices 0 to {}", n as i64 - 1),
            ));
        }
        if sorted(*element).windows(2).any(|w| w[0] == w[1]) {
            return Err(ModelError::invalid(name(), format!("names a vertex twice: {element:?}")));
        }
        if let Some(first) = seen.insert(key(*element), i) {
            return Err(ModelError::invalid(
                name(),
                format!("has the same vertices as {kind} {first}; remove one of them"),
            ));
        }
    }
    Ok(())
}

/// Checks indices, shapes and masses.
pub(super) fn check(body: &SoftBuilder) -> Result<(), ModelError> {
    let x = &body.vertices;
    let name = |what: String| format!("soft.{}: {what}", body.name);
    if x.is_empty() {
        return Err(ModelError::invalid(format!("soft.{}", body.name), "has no vertices"));
    }
    if let Some((i, p)) = x.iter().enumerate().find(|(_, p)| !p.iter().all(|c| c.is_finite())) {
        return Err(ModelError::invalid(name(format!("vertex {i}")), format!("is at {p:?}")));
    }
    if body.rotation.iter().map(|c| c * c).sum::<f64>() < 1e-20 {
        return Err(ModelError::invalid(name("rotation".into()), "a quaternion must not be zero"));
    }
    if !body.tetrahedra.is_empty() && body.tetrahedra_settings.is_none() {
        return Err(ModelError::invalid(
            name("tetrahedra".into()),
            "have no material; give a law, its parameters and a density",
        ));
    }
    indices(body, "tetrahedron", &body.tetrahedra, sorted)?;
    indices(body, "triangle", &body.triangles, sorted)?;
    indices(body, "hinge", &body.hinges, hinge_key)?;
    for (i, s) in body.springs.iter().enumerate() {
        if let Some(v) = s.iter().find(|&&v| v as usize >= x.len()) {
            return Err(ModelError::invalid(
                name(format!("spring {i}")),
                format!("vertex {v} does not exist; the body has {} vertices", x.len()),
            ));
        }
        if s[0] == s[1] {
            return Err(ModelError::invalid(
                name(format!("spring {i}")),
                format!("joins vertex {} to itself", s[0]),
            ));
        }
    }
    for (i, &t) in body.tetrahedra.iter().enumerate() {
        let volume = six_volumes(x, t) / 6.0;
        let size = longest_edge(x, t);
        if volume.abs() <= FLAT * size.powi(3) {
            return Err(ModelError::invalid(
                name(format!("tetrahedron {i}")),
                format!("is flat (volume {volume:e} m^3 for a longest edge of {size} m); remesh"),
            ));
        }
        if volume < 0.0 {
            return Err(ModelError::invalid(
                name(format!("tetrahedron {i}")),
                format!("is inverted (volume {volume:e} m^3); swap two of its vertices {t:?}"),
            ));
        }
    }
    for (i, &t) in body.triangles.iter().enumerate() {
        let area = two_areas(x, t) / 2.0;
        let size = longest_edge(x, t);
        if area <= FLAT * size * size {
            return Err(ModelError::invalid(
                name(format!("triangle {i}")),
                format!("is degenerate (area {area:e} m^2 for a longest edge of {size} m); remesh"),
            ));
        }
    }
    let lists = body
        .point_masses
        .iter()
        .map(|(n, v, _)| ("point mass", n, v))
        .chain(body.loads.iter().map(|l| ("load", &l.name, &l.vertices)))
        .chain(body.paths.iter().map(|p| ("path", &p.name, &p.vertices)));
    let fixed = ("fixed", &String::new(), &body.fixed);
    for (kind, label, vertices) in lists.chain([fixed]) {
        let name = || name(format!("{kind} {label}").trim_end().to_string());
        if vertices.is_empty() && kind != "fixed" {
            return Err(ModelError::invalid(name(), "acts on no vertex; check its region"));
        }
        if let Some(v) = vertices.iter().find(|&&v| v as usize >= x.len()) {
            return Err(ModelError::invalid(
                name(),
                format!("vertex {v} does not exist; the body has {} vertices", x.len()),
            ));
        }
    }
    masses(body)
}

/// Every vertex must weigh something, or be fixed or on a path.
fn masses(body: &SoftBuilder) -> Result<(), ModelError> {
    let x = &body.vertices;
    let mut heavy = vec![false; x.len()];
    for &v in body.fixed.iter().chain(body.paths.iter().flat_map(|p| &p.vertices)) {
        heavy[v as usize] = true;
    }
    if let Some(mass) = &body.vertex_mass {
        for (i, h) in heavy.iter_mut().enumerate() {
            *h |= mass[i.min(mass.len() - 1)] > 0.0;
        }
    }
    for (_, vertices, mass) in &body.point_masses {
        vertices.iter().for_each(|&v| heavy[v as usize] |= *mass > 0.0);
    }
    match body.tetrahedra_settings.as_ref().map(|s| &s.mass) {
        Some(MassRule::GridCell { .. }) => heavy.fill(true),
        Some(MassRule::Density(_) | MassRule::Total(_)) => {
            body.tetrahedra.iter().flatten().for_each(|&v| heavy[v as usize] = true);
        }
        Some(MassRule::None) | None => {}
    }
    if let Some(settings) = &body.membrane_settings {
        for (i, t) in body.triangles.iter().enumerate() {
            if settings.density[i.min(settings.density.len() - 1)] > 0.0 {
                t.iter().for_each(|&v| heavy[v as usize] = true);
            }
        }
    }
    match heavy.iter().position(|h| !h) {
        None => Ok(()),
        Some(i) => Err(ModelError::invalid(
            format!("soft.{}: vertex {i}", body.name),
            "weighs nothing and is neither fixed nor on a path; no element with a density uses \
             it: remove it, fix it, or give it a mass",
        )),
    }
}
