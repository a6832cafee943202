//! Wavefront OBJ: triangles and quadrilaterals with groups.
//!
//! Follows the specification's appendix B1 ("Object Files", Alias|Wavefront) as far as polygonal
//! faces go; texture, normals and materials are read over.

use super::{Builder, Mesh, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::text::{Cursor, Token, parse_number, shown};
use std::path::Path;

/// Groups that one face can be in.
const MAX_GROUPS: usize = 64;

pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<Mesh> {
    let mut cursor = Cursor::new(file, bytes);
    let mut builder = Builder::new(file);
    let mut active: Vec<String> = Vec::new();
    while let Some(line) = cursor.next_line() {
        let text = line.text.split(|&b| b == b'#').next().unwrap_or_default();
        let words: Vec<&[u8]> =
            text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
        let Some((&keyword, values)) = words.split_first() else { continue };
        let fail = |kind| Error::new(kind).in_file(file).at_line(line.line);
        match keyword {
            b"v" => {
                let position = vertex(values).ok_or_else(|| {
                    fail(ErrorKind::NotANumber)
                        .expected("\"v x y z\" with finite numbers")
                        .found(shown(text))
                })?;
                let number = builder.mesh.vertices.len() as u64 + 1;
                builder.vertex(position, Source { line: line.line as u32, number });
            }
            b"f" => face(&mut builder, &active, values, line)?,
            b"g" | b"o" => {
                // Each face is entered into every group: their number must not be the file's to choose.
                if values.len() > MAX_GROUPS {
                    return Err(fail(ErrorKind::Unsupported)
                        .expected(format!("at most {MAX_GROUPS} group names in a line"))
                        .found(format!("{}", values.len())));
                }
                active = values.iter().map(|w| String::from_utf8_lossy(w).into_owned()).collect();
            }
            b"vt" | b"vn" | b"vp" | b"s" | b"usemtl" | b"mtllib" | b"l" | b"p" | b"mg" => {}
            _ => {
                return Err(fail(ErrorKind::Unsupported)
                    .expected("v, f, g, o, or lines that are read over (vt, vn, s, usemtl …)")
                    .found(shown(keyword)));
            }
        }
    }
    builder.finish()
}

fn vertex(words: &[&[u8]]) -> Option<[f64; 3]> {
    // A weight or a colour may follow.
    let x: Vec<f64> = words.iter().take(3).filter_map(|w| parse_number(w)).collect();
    let x: [f64; 3] = x.try_into().ok()?;
    x.iter().all(|c| c.is_finite()).then_some(x)
}

fn face(builder: &mut Builder, groups: &[String], words: &[&[u8]], line: Token<'_>) -> Result<()> {
    let file = builder.mesh.file.clone();
    let count = builder.mesh.vertices.len();
    let number = builder.mesh.triangles.len() as u64 + 1;
    let fail =
        |kind| Error::new(kind).in_file(&file).at_line(line.line).element(format!("face {number}"));
    let mut corners = Vec::with_capacity(4);
    for word in words {
        let index = word.split(|&b| b == b'/').next().unwrap_or_default();
        let index: i64 =
            std::str::from_utf8(index).ok().and_then(|t| t.parse().ok()).ok_or_else(|| {
                fail(ErrorKind::NotANumber)
                    .expected("vertex indices such as 7 or 7/1/2")
                    .found(shown(word))
            })?;
        // Positive from 1; negative from the last vertex so far.
        let from_zero = if index > 0 { index - 1 } else { index.saturating_add(count as i64) };
        if index == 0 || from_zero < 0 || from_zero >= count as i64 {
            return Err(fail(ErrorKind::IndexOutOfRange)
                .expected(format!("a vertex from 1 to {count}, or -1 to -{count}"))
                .found(format!("{index}")));
        }
        corners.push(from_zero as u32);
    }
    let source = Source { line: line.line as u32, number };
    let triangles: &[[usize; 3]] = match corners.len() {
        3 => &[[0, 1, 2]],
        4 => &[[0, 1, 2], [0, 2, 3]],
        n => {
            return Err(fail(ErrorKind::Unsupported)
                .expected("a triangle or a quadrilateral")
                .found(format!("{n} corners"))
                .advice("triangulate the mesh"));
        }
    };
    for triangle in triangles {
        let index = builder.triangle(triangle.map(|i| corners[i]), source);
        for name in groups {
            builder.group(name).triangles.push(index);
        }
    }
    Ok(())
}
