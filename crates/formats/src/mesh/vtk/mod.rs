//! Legacy VTK unstructured grids, versions 1 to 5, ASCII and binary.
//!
//! Written after "VTK File Formats for VTK 4.2" and the note on version 5.1 in VTK's
//! documentation (offsets and connectivity in arrays of their own).

mod build;
mod data;
mod write;

pub use write::{VtkFrame, VtkSeries, VtkValues, write_vtk};

use super::Mesh;
use crate::error::{ErrorKind, Result};
use crate::text::{Cursor, Token, shown};
use data::{Data, Type};
use std::path::Path;

pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<Mesh> {
    let mut reader = Reader {
        data: Data { cursor: Cursor::new(file, bytes), binary: false },
        new_layout: false,
        points: None,
        cells: None,
        types: None,
        groupings: Vec::new(),
    };
    reader.read_header()?;
    reader.read_sections()?;
    reader.build(file)
}

/// Vertices of all cells one after the other, and where each cell starts.
struct Cells {
    offsets: Vec<usize>,
    vertices: Vec<i64>,
    lines: Vec<u32>,
}

impl Cells {
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

struct Reader<'a> {
    data: Data<'a>,
    /// Version 5: CELLS as offsets and connectivity.
    new_layout: bool,
    /// Coordinates, and in ASCII the line of each point.
    points: Option<(Vec<f64>, Vec<u32>)>,
    cells: Option<Cells>,
    types: Option<Vec<i64>>,
    /// Integer cell arrays by name.
    groupings: Vec<(String, Vec<i64>)>,
}

fn words<'a>(line: &Token<'a>) -> Vec<&'a [u8]> {
    line.text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect()
}

fn count(word: Option<&&[u8]>) -> Option<usize> {
    std::str::from_utf8(word?).ok()?.parse().ok()
}

impl<'a> Reader<'a> {
    fn expect_line(&mut self, expected: &str) -> Result<Token<'a>> {
        self.data.line().ok_or_else(|| self.data.cursor.truncated(expected))
    }

    fn read_header(&mut self) -> Result<()> {
        let first = self.data.cursor.next_line();
        let version = first.and_then(|l| {
            let text = std::str::from_utf8(l.text).ok()?;
            text.trim().strip_prefix("# vtk DataFile Version ")?.trim().parse::<f64>().ok()
        });
        let Some(version) = version else {
            let e = self.data.cursor.error(ErrorKind::Syntax).at_line(1);
            return Err(e
                .expected("\"# vtk DataFile Version x.y\" in the first line (legacy VTK)")
                .found(first.map_or("an empty file".to_owned(), |l| l.shown()))
                .advice("XML files (.vtu) are not read: save as legacy VTK"));
        };
        self.new_layout = version >= 5.0;
        self.data.cursor.next_line();
        let mode = self.expect_line("ASCII or BINARY")?;
        self.data.binary = match mode.text.trim_ascii().to_ascii_uppercase().as_slice() {
            b"ASCII" => false,
            b"BINARY" => true,
            _ => return Err(self.data.syntax(mode, "ASCII or BINARY")),
        };
        let set = self.expect_line("DATASET UNSTRUCTURED_GRID")?;
        match words(&set).as_slice() {
            [b"DATASET", b"UNSTRUCTURED_GRID"] => Ok(()),
            [b"DATASET", other, ..] => Err(self
                .data
                .cursor
                .error_token(ErrorKind::Unsupported, set)
                .expected("an UNSTRUCTURED_GRID")
                .found(shown(other))),
            _ => Err(self.data.syntax(set, "DATASET UNSTRUCTURED_GRID")),
        }
    }

    fn read_sections(&mut self) -> Result<()> {
        // What the data arrays that follow belong to: their number, and whether to cells.
        let mut tuples = 0;
        let mut of_cells = false;
        while let Some(line) = self.data.line() {
            let w = words(&line);
            let keyword = w.first().map(|k| k.to_ascii_uppercase()).unwrap_or_default();
            match keyword.as_slice() {
                b"POINTS" => self.read_points(line, &w)?,
                b"CELLS" if self.new_layout => self.read_cells_5(line, &w)?,
                b"CELLS" => self.read_cells(line, &w)?,
                b"CELL_TYPES" => {
                    let n = count(w.get(1));
                    let n = n.ok_or_else(|| self.data.syntax(line, "CELL_TYPES n"))?;
                    self.types = Some(self.data.integers(n, Type::I32, "cell types")?);
                }
                b"POINT_DATA" | b"CELL_DATA" => {
                    let n = count(w.get(1));
                    tuples = n.ok_or_else(|| self.data.syntax(line, "a number of tuples"))?;
                    of_cells = keyword == b"CELL_DATA";
                }
                b"METADATA" => {
                    // Ends at the first blank line.
                    while self.data.cursor.next_line().is_some_and(|l| !l.text.is_empty()) {}
                }
                b"FIELD" => self.read_field(line, &w, of_cells)?,
                b"SCALARS" => {
                    let kind = self.type_of(line, w.get(2))?;
                    let components = count(w.get(3)).unwrap_or(1);
                    let table = self.expect_line("LOOKUP_TABLE name")?;
                    if words(&table).first() != Some(&b"LOOKUP_TABLE".as_slice()) {
                        return Err(self.data.syntax(table, "LOOKUP_TABLE name"));
                    }
                    self.read_array(w.get(1), kind, components, tuples, of_cells)?;
                }
                b"VECTORS" | b"NORMALS" => self.skip_typed(line, w.get(2), tuples, 3)?,
                b"TENSORS" => self.skip_typed(line, w.get(2), tuples, 9)?,
                b"TENSORS6" => self.skip_typed(line, w.get(2), tuples, 6)?,
                b"GLOBAL_IDS" | b"PEDIGREE_IDS" => {
                    self.skip_typed(line, w.get(2), tuples, 1)?;
                }
                b"TEXTURE_COORDINATES" => {
                    let n = count(w.get(2)).unwrap_or(0);
                    self.skip_typed(line, w.get(3), tuples, n)?;
                }
                b"COLOR_SCALARS" => {
                    let n = count(w.get(2)).unwrap_or(0);
                    self.data.skip(tuples.saturating_mul(n), Type::U8, "colours")?;
                }
                b"LOOKUP_TABLE" => {
                    let n = count(w.get(2)).unwrap_or(0);
                    self.data.skip(n.saturating_mul(4), Type::U8, "a lookup table")?;
                }
                _ => return Err(self.data.syntax(line, "POINTS, CELLS, CELL_TYPES or data")),
            }
        }
        Ok(())
    }

    fn type_of(&self, line: Token<'_>, word: Option<&&[u8]>) -> Result<Type> {
        word.and_then(|w| Type::parse(w)).ok_or_else(|| {
            self.data
                .cursor
                .error_token(ErrorKind::Unsupported, line)
                .expected("a number type such as float, double, int or vtktypeint64")
                .found(word.map_or("none".to_owned(), |w| shown(w)))
        })
    }

    fn skip_typed(
        &mut self,
        line: Token<'_>,
        word: Option<&&[u8]>,
        tuples: usize,
        components: usize,
    ) -> Result<()> {
        let kind = self.type_of(line, word)?;
        self.data.skip(tuples.saturating_mul(components), kind, "a data array")
    }

    fn read_array(
        &mut self,
        name: Option<&&[u8]>,
        kind: Type,
        components: usize,
        tuples: usize,
        of_cells: bool,
    ) -> Result<()> {
        let name = String::from_utf8_lossy(name.copied().unwrap_or_default()).into_owned();
        let total = tuples.saturating_mul(components);
        if of_cells && components == 1 && kind.is_integer() {
            let values = self.data.integers(total, kind, &name)?;
            self.groupings.push((name, values));
            return Ok(());
        }
        self.data.skip(total, kind, &name)
    }

    fn read_field(&mut self, line: Token<'_>, w: &[&[u8]], of_cells: bool) -> Result<()> {
        let arrays = count(w.get(2));
        let arrays = arrays.ok_or_else(|| self.data.syntax(line, "FIELD name n"))?;
        for _ in 0..arrays {
            let mut line = self.expect_line("an array of the field")?;
            if line.text.starts_with(b"METADATA") {
                while self.data.cursor.next_line().is_some_and(|l| !l.text.is_empty()) {}
                line = self.expect_line("an array of the field")?;
            }
            let w = words(&line);
            let (Some(components), Some(tuples)) = (count(w.get(1)), count(w.get(2))) else {
                return Err(self.data.syntax(line, "name components tuples type"));
            };
            let kind = self.type_of(line, w.get(3))?;
            self.read_array(w.first(), kind, components, tuples, of_cells)?;
        }
        Ok(())
    }

    fn read_points(&mut self, line: Token<'_>, w: &[&[u8]]) -> Result<()> {
        let n = count(w.get(1)).ok_or_else(|| self.data.syntax(line, "POINTS n type"))?;
        let kind = self.type_of(line, w.get(2))?;
        const WHAT: &str = "coordinates of points";
        if self.data.binary {
            let points = self.data.reals(n.saturating_mul(3), kind, WHAT)?;
            self.points = Some((points, Vec::new()));
            return Ok(());
        }
        let room = self.data.cursor.plausible(n, 6);
        let mut points = Vec::with_capacity(3 * room);
        let mut lines = Vec::with_capacity(room);
        for _ in 0..n {
            points.push(self.data.cursor.number(WHAT)?);
            lines.push(self.data.cursor.line() as u32);
            points.push(self.data.cursor.number(WHAT)?);
            points.push(self.data.cursor.number(WHAT)?);
        }
        self.points = Some((points, lines));
        Ok(())
    }

    /// `CELLS n size`, then for each cell its number of vertices and the vertices.
    fn read_cells(&mut self, line: Token<'_>, w: &[&[u8]]) -> Result<()> {
        let (Some(n), Some(size)) = (count(w.get(1)), count(w.get(2))) else {
            return Err(self.data.syntax(line, "CELLS n size"));
        };
        let mut cells = Cells { offsets: vec![0], vertices: Vec::new(), lines: Vec::new() };
        if self.data.binary {
            let all = self.data.integers(size, Type::I32, "cells")?;
            let mut rest = all.as_slice();
            for i in 0..n {
                let split = rest
                    .split_first()
                    .and_then(|(&k, tail)| tail.split_at_checked(usize::try_from(k).ok()?));
                let Some((vertices, tail)) = split else {
                    return Err(self
                        .data
                        .cursor
                        .error(ErrorKind::Syntax)
                        .element(format!("cell {i}"))
                        .expected("a number of vertices and as many indices within CELLS")
                        .found("the end of the list"));
                };
                cells.vertices.extend(vertices);
                cells.offsets.push(cells.vertices.len());
                rest = tail;
            }
        } else {
            for _ in 0..n {
                let k: usize = self.data.cursor.integer("the number of vertices of a cell")?;
                cells.lines.push(self.data.cursor.line() as u32);
                for _ in 0..k {
                    cells.vertices.push(self.data.cursor.integer("a vertex of a cell")?);
                }
                cells.offsets.push(cells.vertices.len());
            }
        }
        self.cells = Some(cells);
        Ok(())
    }

    /// Version 5: `CELLS n_offsets n_vertices`, `OFFSETS type`, `CONNECTIVITY type`.
    fn read_cells_5(&mut self, line: Token<'_>, w: &[&[u8]]) -> Result<()> {
        let (Some(n), Some(size)) = (count(w.get(1)), count(w.get(2))) else {
            return Err(self.data.syntax(line, "CELLS offsets vertices"));
        };
        let mut arrays = Vec::new();
        for (name, length) in [("OFFSETS", n), ("CONNECTIVITY", size)] {
            let line = self.expect_line(name)?;
            let w = words(&line);
            if w.first() != Some(&name.as_bytes()) {
                return Err(self.data.syntax(line, name));
            }
            let kind = self.type_of(line, w.get(1))?;
            arrays.push(self.data.integers(length, kind, name)?);
        }
        let vertices = arrays.pop().unwrap_or_default();
        let offsets: Option<Vec<usize>> = arrays
            .pop()
            .unwrap_or_default()
            .into_iter()
            .map(|o| usize::try_from(o).ok().filter(|&o| o <= vertices.len()))
            .collect();
        let good = offsets.filter(|o| !o.is_empty() && o.is_sorted());
        let Some(offsets) = good else {
            return Err(self
                .data
                .cursor
                .error_token(ErrorKind::Syntax, line)
                .element("OFFSETS")
                .expected(format!("ascending offsets up to {size}"))
                .found("others"));
        };
        self.cells = Some(Cells { offsets, vertices, lines: Vec::new() });
        Ok(())
    }
}
