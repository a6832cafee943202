//! From the sections of a VTK file to a mesh.

use super::super::{Builder, Mesh, Source};
use super::Reader;
use crate::error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// A cell array with more values than this numbers the cells and does not group them.
const MAX_GROUPS: usize = 256;

impl Reader<'_> {
    pub(super) fn build(self, file: &Path) -> Result<Mesh> {
        let Self { data, points, cells, types, groupings, .. } = self;
        let missing = |what: &str| data.cursor.truncated(what);
        let (points, lines) = points.ok_or_else(|| missing("the section POINTS"))?;
        let cells = cells.ok_or_else(|| missing("the section CELLS"))?;
        let types = types.ok_or_else(|| missing("the section CELL_TYPES"))?;
        let fail = |kind| Error::new(kind).in_file(file);
        if types.len() != cells.len() {
            return Err(fail(ErrorKind::WrongLength)
                .element("CELL_TYPES")
                .expected(format!("{} as in CELLS", cells.len()))
                .found(format!("{}", types.len())));
        }
        let mut builder = Builder::new(file);
        for (i, p) in points.chunks_exact(3).enumerate() {
            let line = lines.get(i).copied().unwrap_or(0);
            builder.vertex([p[0], p[1], p[2]], Source { line, number: i as u64 });
        }
        let mut elements = Vec::with_capacity(types.len());
        for (i, &code) in types.iter().enumerate() {
            let line = cells.lines.get(i).copied().unwrap_or(0);
            let source = Source { line, number: i as u64 };
            let at = |kind| {
                let e = fail(kind).element(format!("cell {i}"));
                if line > 0 { e.at_line(line as usize) } else { e }
            };
            let mut corners = Vec::with_capacity(4);
            for &v in &cells.vertices[cells.offsets[i]..cells.offsets[i + 1]] {
                let inside = u32::try_from(v).ok().filter(|&v| (v as usize) < points.len() / 3);
                corners.push(inside.ok_or_else(|| {
                    at(ErrorKind::IndexOutOfRange)
                        .expected(format!("vertex indices below {}", points.len() / 3))
                        .found(format!("{v}"))
                })?);
            }
            let element = match (code, corners.as_slice()) {
                (1..=4, _) => Element::Other(corners),
                (5, &[a, b, c]) => Element::Triangle(builder.triangle([a, b, c], source)),
                (10, &[a, b, c, d]) => {
                    Element::Tetrahedron(builder.tetrahedron([a, b, c, d], source))
                }
                (5 | 10, wrong) => {
                    return Err(at(ErrorKind::WrongLength)
                        .expected(if code == 5 { "3 vertices" } else { "4 vertices" })
                        .found(format!("{}", wrong.len())));
                }
                _ => {
                    return Err(at(ErrorKind::Unsupported)
                        .expected("triangles (5) and tetrahedra (10)")
                        .found(format!("{} ({code})", cell_name(code)))
                        .advice("mesh with linear tetrahedra and triangles"));
                }
            };
            elements.push(element);
        }
        group_cells(&mut builder, &elements, &groupings);
        builder.finish()
    }
}

enum Element {
    Triangle(u32),
    Tetrahedron(u32),
    Other(Vec<u32>),
}

fn group_cells(builder: &mut Builder, elements: &[Element], groupings: &[(String, Vec<i64>)]) {
    for (name, values) in groupings {
        let mut counts: BTreeMap<i64, String> = BTreeMap::new();
        for &v in values {
            if counts.len() > MAX_GROUPS {
                break;
            }
            counts.entry(v).or_insert_with(|| format!("{name}={v}"));
        }
        if counts.len() > MAX_GROUPS {
            continue;
        }
        for (element, value) in elements.iter().zip(values) {
            let group = builder.group(&counts[value]);
            match element {
                Element::Triangle(i) => group.triangles.push(*i),
                Element::Tetrahedron(i) => group.tetrahedra.push(*i),
                Element::Other(vertices) => group.vertices.extend(vertices),
            }
        }
    }
}

fn cell_name(code: i64) -> &'static str {
    match code {
        0 => "an empty cell",
        6 => "a triangle strip",
        7 => "a polygon",
        8 => "a pixel",
        9 => "a quadrilateral",
        11 => "a voxel",
        12 => "a hexahedron",
        13 => "a wedge",
        14 => "a pyramid",
        21 => "a quadratic edge",
        22 => "a quadratic triangle",
        23 => "a quadratic quadrilateral",
        24 => "a quadratic tetrahedron",
        25 => "a quadratic hexahedron",
        69 => "a Lagrange triangle",
        71 => "a Lagrange tetrahedron",
        76 => "a Bézier triangle",
        78 => "a Bézier tetrahedron",
        _ => "an unknown cell type",
    }
}
