//! Mesh files of robots: STL, OBJ and MuJoCo's MSH, read for their triangles alone.

use crate::error::{Error, ErrorKind, Result};
use crate::text::read_bytes;
use std::collections::HashMap;
use std::path::Path;

/// Vertices and triangles.
pub(crate) type Triangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// Reads a mesh file; the format follows from its ending, or from the content type.
pub(crate) fn read(path: &Path, content: Option<&str>) -> Result<Triangles> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let format = match content {
        Some("model/stl") => "stl",
        Some("model/obj") => "obj",
        Some("model/vnd.mujoco.msh") => "msh",
        _ => ending.as_str(),
    };
    let parse = match format {
        "stl" => stl,
        "obj" => obj,
        "msh" => msh,
        _ => {
            return Err(Error::new(ErrorKind::Unsupported)
                .in_file(path)
                .expected("a mesh file ending in .stl, .obj or .msh")
                .found(format!("the ending .{ending}")));
        }
    };
    let (vertices, triangles) = parse(path, &read_bytes(path)?)?;
    let wrong = |kind| Error::new(kind).in_file(path);
    if triangles.is_empty() {
        return Err(wrong(ErrorKind::Degenerate).expected("triangles").found("none"));
    }
    if let Some(i) = vertices.iter().position(|v| !v.iter().all(|x| x.is_finite())) {
        return Err(wrong(ErrorKind::NotANumber)
            .element(format!("vertex {i}"))
            .expected("finite coordinates"));
    }
    let count = vertices.len();
    if let Some(i) = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
        return Err(wrong(ErrorKind::IndexOutOfRange)
            .element(format!("triangle {i}"))
            .expected(format!("vertices below {count}")));
    }
    Ok((vertices, triangles))
}

fn number(bytes: &[u8], at: usize) -> f64 {
    let four: [u8; 4] = bytes[at..at + 4].try_into().expect("a slice of four bytes has four");
    f64::from(f32::from_le_bytes(four))
}

fn integer(bytes: &[u8], at: usize) -> u32 {
    let four: [u8; 4] = bytes[at..at + 4].try_into().expect("a slice of four bytes has four");
    u32::from_le_bytes(four)
}

/// STL, binary or text; equal corners become one vertex.
fn stl(path: &Path, bytes: &[u8]) -> Result<Triangles> {
    let mut corners: Vec<[f64; 3]> = Vec::new();
    let count = if bytes.len() >= 84 { integer(bytes, 80) as usize } else { 0 };
    if bytes.len() >= 84 && bytes.len() >= 84 + 50 * count && count > 0 && !text_stl(bytes, count) {
        for triangle in 0..count {
            for corner in 0..3 {
                let at = 84 + 50 * triangle + 12 + 12 * corner;
                corners.push([number(bytes, at), number(bytes, at + 4), number(bytes, at + 8)]);
            }
        }
    } else {
        let wrong = |line: usize| Error::new(ErrorKind::Syntax).in_file(path).at_line(line);
        let text = std::str::from_utf8(bytes)
            .ok()
            .filter(|t| t.trim_start().starts_with("solid"))
            .ok_or_else(|| {
                Error::new(ErrorKind::Truncated)
                    .in_file(path)
                    .expected("a binary STL as long as its number of triangles says, or a text one")
            })?;
        for (i, line) in text.lines().enumerate() {
            let mut words = line.split_ascii_whitespace();
            if words.next() == Some("vertex") {
                let mut vertex = [0.0; 3];
                for x in &mut vertex {
                    *x = words
                        .next()
                        .and_then(|w| w.parse::<f32>().ok())
                        .map(f64::from)
                        .ok_or_else(|| wrong(i + 1).expected("vertex x y z"))?;
                }
                corners.push(vertex);
            }
        }
        if !corners.len().is_multiple_of(3) {
            return Err(Error::new(ErrorKind::Truncated)
                .in_file(path)
                .expected("three vertices per facet"));
        }
    }
    let mut vertices = Vec::new();
    let mut known: HashMap<[u64; 3], u32> = HashMap::new();
    let mut indices = Vec::with_capacity(corners.len());
    for corner in corners {
        let index = *known.entry(corner.map(f64::to_bits)).or_insert_with(|| {
            vertices.push(corner);
            (vertices.len() - 1) as u32
        });
        indices.push(index);
    }
    Ok((vertices, indices.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()))
}

/// Whether a file that could be a binary STL is a text one: those begin with `solid`, and few binary
/// ones do too, but then their length fits exactly.
fn text_stl(bytes: &[u8], count: usize) -> bool {
    bytes.starts_with(b"solid") && bytes.len() != 84 + 50 * count
}

/// Wavefront OBJ: `v` and `f`; polygons become fans of triangles.
fn obj(path: &Path, bytes: &[u8]) -> Result<Triangles> {
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut triangles = Vec::new();
    for (i, line) in bytes.split(|&b| b == b'\n').enumerate() {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let wrong =
            |kind, expected: &str| Error::new(kind).in_file(path).at_line(i + 1).expected(expected);
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut vertex = [0.0; 3];
                for x in &mut vertex {
                    *x = words
                        .next()
                        .and_then(|w| w.parse::<f32>().ok())
                        .map(f64::from)
                        .ok_or_else(|| {
                            wrong(ErrorKind::NotANumber, "v x y z with three numbers")
                        })?;
                }
                vertices.push(vertex);
            }
            Some("f") => {
                let mut corners = Vec::with_capacity(4);
                for word in words {
                    let index = word.split('/').next().and_then(|w| w.parse::<i64>().ok());
                    let count = vertices.len() as i64;
                    let zero_based = match index {
                        Some(k) if k > 0 => k - 1,
                        Some(k) if k < 0 => count.saturating_add(k),
                        _ => {
                            return Err(wrong(ErrorKind::NotANumber, "vertex numbers, not zero"));
                        }
                    };
                    if !(0..count).contains(&zero_based) {
                        return Err(wrong(
                            ErrorKind::IndexOutOfRange,
                            &format!("vertex numbers from 1 to {count}"),
                        ));
                    }
                    corners.push(zero_based as u32);
                }
                if corners.len() < 3 {
                    return Err(wrong(ErrorKind::Degenerate, "at least three corners"));
                }
                for k in 1..corners.len() - 1 {
                    triangles.push([corners[0], corners[k], corners[k + 1]]);
                }
            }
            _ => {}
        }
    }
    Ok((vertices, triangles))
}

/// MuJoCo's own binary format: four counts, then vertices, normals, texture coordinates, faces.
fn msh(path: &Path, bytes: &[u8]) -> Result<Triangles> {
    let short = || {
        Error::new(ErrorKind::Truncated)
            .in_file(path)
            .expected("a mesh file of MuJoCo as long as its four counts say")
            .found(format!("{} bytes", bytes.len()))
    };
    if bytes.len() < 16 {
        return Err(short());
    }
    let [vertices, normals, texture, faces] = [0, 4, 8, 12].map(|at| integer(bytes, at) as usize);
    let length = |n: usize, per: usize| n.checked_mul(4 * per);
    let skip = length(normals, 3).zip(length(texture, 2)).and_then(|(a, b)| a.checked_add(b));
    let total = length(vertices, 3)
        .zip(length(faces, 3))
        .and_then(|(a, b)| a.checked_add(b))
        .zip(skip)
        .and_then(|(a, b)| a.checked_add(b))
        .and_then(|n| n.checked_add(16));
    let (Some(skip), Some(total)) = (skip, total) else { return Err(short()) };
    if bytes.len() != total {
        return Err(short());
    }
    let positions =
        (0..vertices).map(|i| [0, 4, 8].map(|k| number(bytes, 16 + 12 * i + k))).collect();
    let start = 16 + 12 * vertices + skip;
    let triangles =
        (0..faces).map(|i| [0, 4, 8].map(|k| integer(bytes, start + 12 * i + k))).collect();
    Ok((positions, triangles))
}
