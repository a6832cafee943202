//! Mesh assets: their triangles and what they weigh.

mod files;
mod mass;

use super::attributes::Reader;
use super::build::Builder;
use super::pose::{Pose, normalize, rotate};
use super::xml::ElementId;
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{Hull, Mesh};
use mass::MassRule;
use std::path::Path;
use std::sync::Arc;

/// A mesh of a default class.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshClass {
    scale: [f64; 3],
    rule: MassRule,
}

impl Default for MeshClass {
    fn default() -> Self {
        Self { scale: [1.0; 3], rule: MassRule::Legacy }
    }
}

impl MeshClass {
    pub fn read(&mut self, r: &Reader<'_>) -> Result<()> {
        r.set("scale", &mut self.scale)?;
        let words = [
            ("legacy", MassRule::Legacy),
            ("exact", MassRule::Exact),
            ("shell", MassRule::Shell),
            ("convex", MassRule::Convex),
        ];
        if let Some(rule) = r.choice("inertia", &words)? {
            self.rule = rule;
        }
        Ok(())
    }
}

/// A mesh that geoms may refer to.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    id: ElementId,
    /// Place in the articulation, once a geom uses it.
    index: Option<usize>,
}

/// Notes the meshes of an `asset` section.
pub(super) fn read_assets(b: &mut Builder<'_>, r: &Reader<'_>) -> Result<()> {
    for child in r.children() {
        match child.tag() {
            "mesh" => {
                let name = match (child.text("name"), child.text("file")) {
                    (Some(name), _) => name.to_owned(),
                    (None, Some(file)) => {
                        let stem = Path::new(file).file_stem().unwrap_or_default();
                        stem.to_string_lossy().into_owned()
                    }
                    (None, None) => {
                        return Err(child
                            .error(ErrorKind::Missing)
                            .expected("an attribute name or file"));
                    }
                };
                let asset = MeshAsset { id: child.id, index: None };
                if b.meshes.insert(name.clone(), asset).is_some() {
                    return Err(child
                        .error(ErrorKind::Duplicate)
                        .expected("a mesh name of its own")
                        .found(format!("{name:?} a second time")));
                }
            }
            "hfield" => super::field::note(b, &child)?,
            "model" => b.unsupported(&child, "attach", "models attached to others"),
            _ => {}
        }
    }
    Ok(())
}

impl Builder<'_> {
    /// The mesh of a name, read when the first geom asks for it.
    pub fn mesh(&mut self, r: &Reader<'_>, name: &str) -> Result<usize> {
        let known = || {
            let mut names: Vec<String> = self.meshes.keys().cloned().collect();
            names.sort();
            names
        };
        let found = |name: &str| self.meshes.get(name).map(|m| m.id);
        let id = r.lookup("mesh", "mesh asset", name, found, &known)?;
        if let Some(index) = self.meshes.get(name).and_then(|m| m.index) {
            return Ok(index);
        }
        let mesh = load(self, &Reader::new(self.document, id), name)?;
        self.articulation.meshes.push(mesh);
        let index = self.articulation.meshes.len() - 1;
        self.meshes.insert(name.to_owned(), MeshAsset { id, index: Some(index) });
        Ok(index)
    }
}

fn load(b: &Builder<'_>, r: &Reader<'_>, name: &str) -> Result<Mesh> {
    let mut class = b.class(r, "")?.mesh;
    class.read(r)?;
    for name in ["builtin"] {
        if r.text(name).is_some_and(|t| t != "none") {
            return Err(r.wrong(name, ErrorKind::Unsupported).found("a procedural mesh"));
        }
    }
    let (mut vertices, mut triangles) = match (r.text("file"), r.numbers("vertex")?) {
        (Some(file), None) => {
            let path = b.compiler.mesh_path(&b.document.files[0].path, file);
            files::read(&path, r.text("content_type")).map_err(|e| {
                if e.kind() == ErrorKind::Io {
                    r.wrong("file", ErrorKind::Io).found(format!(
                        "{}: {}",
                        path.display(),
                        e.message()
                    ))
                } else {
                    e
                }
            })?
        }
        (None, Some(numbers)) => inline(r, &numbers)?,
        (Some(_), Some(_)) => {
            return Err(r.wrong("vertex", ErrorKind::Conflict).expected("either file or vertex"));
        }
        (None, None) => {
            return Err(r.error(ErrorKind::Missing).expected("an attribute file or vertex"));
        }
    };
    let pos = r.vector("refpos")?.unwrap_or([0.0; 3]);
    let quat = r.vector("refquat")?.unwrap_or(Pose::IDENTITY.quat);
    if quat.iter().all(|x| *x == 0.0) {
        return Err(r.wrong("refquat", ErrorKind::OutOfBounds).expected("a quaternion, not zero"));
    }
    let [w, x, y, z] = normalize(quat);
    for vertex in &mut vertices {
        let moved = [0, 1, 2].map(|i| vertex[i] - pos[i]);
        let turned = rotate([w, -x, -y, -z], moved);
        *vertex = [0, 1, 2].map(|i| turned[i] * class.scale[i]);
    }
    // A mirrored mesh is turned inside out again.
    if class.scale.iter().product::<f64>() < 0.0 {
        for triangle in &mut triangles {
            triangle.swap(1, 2);
        }
    }
    let weighed = mass::weigh(&vertices, &triangles, class.rule)
        .map_err(|why| r.error(ErrorKind::Degenerate).found(why))?;
    Ok(Mesh {
        name: name.to_owned(),
        vertices: Arc::new(vertices),
        triangles: Arc::new(triangles),
        volume: weighed.volume,
        center: weighed.center,
        inertia: weighed.inertia,
        quat: weighed.quat,
    })
}

/// A mesh whose vertices and faces stand in the model itself.
fn inline(r: &Reader<'_>, numbers: &[f64]) -> Result<files::Triangles> {
    let wrong = |name: &str, what: &str| r.wrong(name, ErrorKind::WrongLength).expected(what);
    if numbers.is_empty() || !numbers.len().is_multiple_of(3) {
        return Err(wrong("vertex", "three numbers per vertex"));
    }
    let vertices: Vec<[f64; 3]> = numbers.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    let Some(faces) = r.numbers("face")? else {
        // The faces are those of the convex hull.
        let hull = Hull::new(&vertices)
            .map_err(|e| r.wrong("vertex", ErrorKind::Degenerate).found(e.to_string()))?;
        return Ok((hull.vertices, hull.triangles));
    };
    if faces.is_empty() || !faces.len().is_multiple_of(3) {
        return Err(wrong("face", "three vertex numbers per face"));
    }
    let mut triangles = Vec::with_capacity(faces.len() / 3);
    for face in faces.chunks_exact(3) {
        let mut triangle = [0u32; 3];
        for (into, &index) in triangle.iter_mut().zip(face) {
            if index < 0.0 || index.fract() != 0.0 || index >= vertices.len() as f64 {
                return Err(r
                    .wrong("face", ErrorKind::IndexOutOfRange)
                    .expected(format!("vertex numbers from 0 to {}", vertices.len() - 1))
                    .found(format!("{index}")));
            }
            *into = index as u32;
        }
        triangles.push(triangle);
    }
    Ok((vertices, triangles))
}
