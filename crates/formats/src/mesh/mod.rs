//! Meshes of tetrahedra and triangles from Gmsh, VTK and OBJ files.
//!
//! Every mesh that a reader returns has been [checked](Mesh::check): all indices are in range, no
//! element is inverted, degenerate or repeated, and every vertex is used.

mod check;
mod gmsh;
mod obj;
mod vtk;

pub use vtk::{VtkFrame, VtkSeries, VtkValues, write_vtk};

use crate::error::{Error, ErrorKind, Result, suggestion};
use crate::text::read_bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where something of a mesh stands in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Line, counted from 1; 0 in binary files.
    pub line: u32,
    /// The number that the file itself gives: Gmsh's tag, else the place in the file's own list
    /// (from 0 in VTK, from 1 in OBJ).
    pub number: u64,
}

/// A named set of elements and vertices of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Indices of tetrahedra, ascending.
    pub tetrahedra: Vec<u32>,
    /// Indices of triangles, ascending.
    pub triangles: Vec<u32>,
    /// Indices of vertices, ascending: all of the group's elements, and those of its lines and
    /// points.
    pub vertices: Vec<u32>,
}

/// A mesh of linear tetrahedra and triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// The file it came from.
    pub file: PathBuf,
    /// Positions in the file's unit of length.
    pub vertices: Vec<[f64; 3]>,
    /// Vertex indices of tetrahedra; positive volume, that is (x1−x0)·((x2−x0)×(x3−x0)) > 0.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Vertex indices of triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Named sets: Gmsh's physical groups (by name, or by number where they have none), OBJ's
    /// groups and objects, and for VTK `array=value` for each value of an integer cell array.
    pub groups: BTreeMap<String, Group>,
    /// Where each vertex stands in the file.
    pub vertex_sources: Vec<Source>,
    /// Where each tetrahedron stands in the file.
    pub tetrahedron_sources: Vec<Source>,
    /// Where each triangle stands in the file.
    pub triangle_sources: Vec<Source>,
}

impl Mesh {
    /// Reads a mesh; the format follows from the file's extension: `.msh`, `.vtk` or `.obj`.
    ///
    /// # Errors
    /// A file that cannot be read, is malformed, holds other elements than linear tetrahedra and
    /// triangles (in OBJ also quadrilaterals, which are split), or fails the
    /// [check](Self::check).
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // An unknown format is said before the file is opened.
        let parse = parser(path)?;
        parse(path, &read_bytes(path)?)
    }

    /// Reads a mesh from bytes; `path` gives the format and is what errors call the file.
    ///
    /// # Errors
    /// As [`Mesh::read`].
    pub fn parse(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Self> {
        let path = path.as_ref();
        parser(path)?(path, bytes)
    }

    /// A group by name.
    ///
    /// # Errors
    /// There is no such group; the error lists those that there are.
    pub fn group(&self, name: &str) -> Result<&Group> {
        self.groups.get(name).ok_or_else(|| {
            let e = Error::new(ErrorKind::UnknownName)
                .in_file(&self.file)
                .expected("the name of a group of the mesh")
                .found(format!("\"{name}\""));
            match suggestion(name, self.groups.keys().map(String::as_str)) {
                Some(advice) => e.advice(advice),
                None => e.advice("the file has no groups"),
            }
        })
    }
}

type Parser = fn(&Path, &[u8]) -> Result<Mesh>;

fn parser(path: &Path) -> Result<Parser> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("msh") => Ok(gmsh::parse),
        Some("vtk") => Ok(vtk::parse),
        Some("obj") => Ok(obj::parse),
        other => Err(Error::new(ErrorKind::Unsupported)
            .in_file(path)
            .expected("a mesh file ending in .msh (Gmsh), .vtk (legacy VTK) or .obj")
            .found(match other {
                Some(e) => format!("the ending .{e}"),
                None => "no ending".to_owned(),
            })),
    }
}

/// A mesh while its file is read.
pub(crate) struct Builder {
    pub mesh: Mesh,
}

impl Builder {
    pub fn new(file: &Path) -> Self {
        Self { mesh: Mesh { file: file.to_path_buf(), ..Mesh::default() } }
    }

    pub fn vertex(&mut self, position: [f64; 3], source: Source) {
        self.mesh.vertices.push(position);
        self.mesh.vertex_sources.push(source);
    }

    /// Adds a tetrahedron and returns its index.
    pub fn tetrahedron(&mut self, vertices: [u32; 4], source: Source) -> u32 {
        self.mesh.tetrahedra.push(vertices);
        self.mesh.tetrahedron_sources.push(source);
        (self.mesh.tetrahedra.len() - 1) as u32
    }

    /// Adds a triangle and returns its index.
    pub fn triangle(&mut self, vertices: [u32; 3], source: Source) -> u32 {
        self.mesh.triangles.push(vertices);
        self.mesh.triangle_sources.push(source);
        (self.mesh.triangles.len() - 1) as u32
    }

    pub fn group(&mut self, name: &str) -> &mut Group {
        if !self.mesh.groups.contains_key(name) {
            self.mesh.groups.insert(name.to_owned(), Group::default());
        }
        self.mesh.groups.entry(name.to_owned()).or_default()
    }

    /// Completes the groups, checks the mesh and hands it over.
    pub fn finish(mut self) -> Result<Mesh> {
        let mesh = &mut self.mesh;
        for group in mesh.groups.values_mut() {
            for list in [&mut group.tetrahedra, &mut group.triangles] {
                list.sort_unstable();
                list.dedup();
            }
            for &t in &group.tetrahedra {
                group.vertices.extend(mesh.tetrahedra[t as usize]);
            }
            for &t in &group.triangles {
                group.vertices.extend(mesh.triangles[t as usize]);
            }
            group.vertices.sort_unstable();
            group.vertices.dedup();
        }
        self.mesh.check()?;
        Ok(self.mesh)
    }
}
