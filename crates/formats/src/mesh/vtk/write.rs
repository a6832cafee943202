//! Writing simulated motion as legacy VTK files.

use crate::error::{Error, ErrorKind, Result};
use crate::write::write_atomically;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Values at the points of a [`VtkFrame`].
#[derive(Clone, Copy, Debug)]
pub enum VtkValues<'a> {
    /// One number per point.
    Scalars(&'a [f64]),
    /// One vector per point.
    Vectors(&'a [[f64; 3]]),
}

impl VtkValues<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Scalars(v) => v.len(),
            Self::Vectors(v) => v.len(),
        }
    }
}

/// One instant of a simulation: positions, elements and values at the points.
#[derive(Clone, Copy, Debug, Default)]
pub struct VtkFrame<'a> {
    /// Positions of the vertices in m.
    pub points: &'a [[f64; 3]],
    /// Tetrahedra by vertex index.
    pub tetrahedra: &'a [[u32; 4]],
    /// Triangles by vertex index.
    pub triangles: &'a [[u32; 3]],
    /// Lines (springs) by vertex index.
    pub lines: &'a [[u32; 2]],
    /// Named values at the points; names without white space.
    pub point_data: &'a [(&'a str, VtkValues<'a>)],
}

/// Writes one frame as a legacy VTK unstructured grid (version 3.0), in `double`s.
///
/// # Errors
/// Indices or lengths that do not fit the points, a name with white space, or a file that cannot
/// be written.
pub fn write_vtk(path: &Path, frame: &VtkFrame<'_>, binary: bool) -> Result<()> {
    let points = frame.points.len();
    let indices = frame.tetrahedra.iter().flatten().chain(frame.triangles.iter().flatten());
    if let Some(v) = indices.chain(frame.lines.iter().flatten()).find(|&&v| v as usize >= points) {
        return Err(Error::new(ErrorKind::IndexOutOfRange)
            .in_file(path)
            .expected(format!("vertex indices below {points}"))
            .found(format!("{v}")));
    }
    for (name, values) in frame.point_data {
        if name.is_empty() || name.contains(char::is_whitespace) || values.len() != points {
            return Err(Error::new(ErrorKind::WrongLength)
                .in_file(path)
                .element(*name)
                .expected(format!("a name without white space and {points} values"))
                .found(format!("{} values", values.len())));
        }
    }
    write_atomically(path, |w| write_frame(&mut Output { w, binary }, frame))
}

struct Output<'a> {
    w: &'a mut BufWriter<File>,
    binary: bool,
}

impl Output<'_> {
    fn reals(&mut self, row: &[f64]) -> std::io::Result<()> {
        if self.binary {
            return row.iter().try_for_each(|x| self.w.write_all(&x.to_be_bytes()));
        }
        let words: Vec<String> = row.iter().map(f64::to_string).collect();
        writeln!(self.w, "{}", words.join(" "))
    }

    fn cell(&mut self, vertices: &[u32]) -> std::io::Result<()> {
        if self.binary {
            self.w.write_all(&(vertices.len() as u32).to_be_bytes())?;
            return vertices.iter().try_for_each(|v| self.w.write_all(&v.to_be_bytes()));
        }
        write!(self.w, "{}", vertices.len())?;
        vertices.iter().try_for_each(|v| write!(self.w, " {v}"))?;
        writeln!(self.w)
    }

    fn kinds(&mut self, kind: u32, count: usize) -> std::io::Result<()> {
        for _ in 0..count {
            if self.binary {
                self.w.write_all(&kind.to_be_bytes())?;
            } else {
                writeln!(self.w, "{kind}")?;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        if self.binary { writeln!(self.w) } else { Ok(()) }
    }
}

fn write_frame(out: &mut Output<'_>, frame: &VtkFrame<'_>) -> std::io::Result<()> {
    let mode = if out.binary { "BINARY" } else { "ASCII" };
    writeln!(out.w, "# vtk DataFile Version 3.0\ncostate\n{mode}\nDATASET UNSTRUCTURED_GRID")?;
    writeln!(out.w, "POINTS {} double", frame.points.len())?;
    frame.points.iter().try_for_each(|p| out.reals(p))?;
    out.end()?;
    let (tets, triangles) = (frame.tetrahedra.len(), frame.triangles.len());
    let lines = frame.lines.len();
    let cells = tets + triangles + lines;
    writeln!(out.w, "CELLS {cells} {}", 5 * tets + 4 * triangles + 3 * lines)?;
    frame.tetrahedra.iter().try_for_each(|c| out.cell(c))?;
    frame.triangles.iter().try_for_each(|c| out.cell(c))?;
    frame.lines.iter().try_for_each(|c| out.cell(c))?;
    out.end()?;
    writeln!(out.w, "CELL_TYPES {cells}")?;
    out.kinds(10, tets)?;
    out.kinds(5, triangles)?;
    out.kinds(3, lines)?;
    out.end()?;
    if !frame.point_data.is_empty() {
        writeln!(out.w, "POINT_DATA {}", frame.points.len())?;
    }
    for (name, values) in frame.point_data {
        match values {
            VtkValues::Scalars(v) => {
                writeln!(out.w, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
                v.iter().try_for_each(|x| out.reals(&[*x]))?;
            }
            VtkValues::Vectors(v) => {
                writeln!(out.w, "VECTORS {name} double")?;
                v.iter().try_for_each(|x| out.reals(x))?;
            }
        }
        out.end()?;
    }
    Ok(())
}

/// A motion as numbered VTK files and one `.vtk.series` file with their times, as ParaView reads.
#[derive(Debug)]
pub struct VtkSeries {
    folder: PathBuf,
    name: String,
    binary: bool,
    frames: Vec<(String, f64)>,
}

impl VtkSeries {
    /// A series `folder/name_00000.vtk` …; the folder must exist.
    pub fn new(folder: impl Into<PathBuf>, name: &str, binary: bool) -> Self {
        Self { folder: folder.into(), name: name.to_owned(), binary, frames: Vec::new() }
    }

    /// Writes the frame at `time` seconds and returns its path.
    ///
    /// # Errors
    /// As [`write_vtk`].
    pub fn push(&mut self, time: f64, frame: &VtkFrame<'_>) -> Result<PathBuf> {
        let name = format!("{}_{:05}.vtk", self.name, self.frames.len());
        let path = self.folder.join(&name);
        write_vtk(&path, frame, self.binary)?;
        self.frames.push((name, time));
        Ok(path)
    }

    /// Writes `folder/name.vtk.series` and returns its path.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<PathBuf> {
        let path = self.folder.join(format!("{}.vtk.series", self.name));
        write_atomically(&path, |w| {
            writeln!(w, "{{\n  \"file-series-version\": \"1.0\",\n  \"files\": [")?;
            let last = self.frames.len();
            for (i, (name, time)) in self.frames.iter().enumerate() {
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                let comma = if i + 1 < last { "," } else { "" };
                writeln!(w, "    {{ \"name\": \"{name}\", \"time\": {time:?} }}{comma}")?;
            }
            writeln!(w, "  ]\n}}")
        })?;
        Ok(path)
    }
}
