//! Gmsh's MSH format, versions 2.2 and 4.1, ASCII and binary.
//!
//! Written after the Gmsh reference manual, "File formats": "MSH file format" (4.1) and
//! "MSH file format version 2 (Legacy)".

mod elements;
mod version2;
mod version4;

use super::{Builder, Mesh, Source};
use crate::error::{ErrorKind, Result};
use crate::text::Cursor;
use elements::{Shape, shape};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<Mesh> {
    let mut reader = Reader {
        cursor: Cursor::new(file, bytes),
        builder: Builder::new(file),
        format: Format::Ascii,
        version: Version::Two,
        names: BTreeMap::new(),
        physicals: HashMap::new(),
        index_of: HashMap::new(),
        repeated: HashMap::new(),
    };
    reader.read_format()?;
    let mut elements = false;
    while let Some(token) = reader.cursor.next_token() {
        let keyword = token.text;
        if keyword.first() != Some(&b'$') {
            return Err(reader
                .cursor
                .error_token(ErrorKind::Syntax, token)
                .expected("the start of a section such as $Nodes")
                .found(token.shown()));
        }
        reader.cursor.next_line();
        match keyword {
            b"$PhysicalNames" => reader.read_names()?,
            b"$Entities" if reader.version == Version::Four => reader.read_entities()?,
            b"$Nodes" => match reader.version {
                Version::Two => reader.read_nodes()?,
                Version::Four => reader.read_nodes_in_blocks()?,
            },
            b"$Elements" => {
                elements = true;
                match reader.version {
                    Version::Two => reader.read_elements()?,
                    Version::Four => reader.read_elements_in_blocks()?,
                }
            }
            other => {
                // Sections of other content ($Comments, $NodeData, $Periodic …) are read over.
                let mut end = b"$End".to_vec();
                end.extend_from_slice(&other[1..]);
                if !reader.cursor.skip_past(&end) {
                    return Err(reader.cursor.truncated(&String::from_utf8_lossy(&end)));
                }
                continue;
            }
        }
        reader.expect_end(keyword)?;
    }
    if !elements {
        return Err(reader.cursor.truncated("the section $Elements"));
    }
    reader.builder.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Ascii,
    Little,
    Big,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Four,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
    format: Format,
    version: Version,
    /// Names of physical groups by dimension and number.
    names: BTreeMap<(i64, i64), String>,
    /// Physical groups of the entities of version 4 by dimension and tag.
    physicals: HashMap<(i64, i64), Vec<i64>>,
    index_of: HashMap<u64, u32>,
    /// Elements of version 2 by vertices, with their physical groups: the format writes an element
    /// once for each group that it is in.
    repeated: HashMap<Vec<u32>, (u32, Vec<i64>)>,
}

impl Reader<'_> {
    fn read_format(&mut self) -> Result<()> {
        let start = self.cursor.next_token();
        if start.is_none_or(|t| t.text != b"$MeshFormat") {
            let e = self.cursor.error(ErrorKind::Syntax).expected("$MeshFormat at the start");
            return Err(match start {
                Some(t) => e.found(t.shown()),
                None => e.found("the end of the file"),
            });
        }
        let version = self.cursor.next_token().ok_or_else(|| self.cursor.truncated("a version"))?;
        self.version = match version.text {
            b"2.2" | b"2.1" | b"2" => Version::Two,
            b"4.1" => Version::Four,
            _ => {
                return Err(self
                    .cursor
                    .error_token(ErrorKind::Unsupported, version)
                    .expected("MSH version 2.2 or 4.1")
                    .found(version.shown())
                    .advice("export again with Mesh.MshFileVersion = 4.1"));
            }
        };
        let binary: i64 = self.cursor.integer("0 for ASCII or 1 for binary")?;
        let size: i64 = self.cursor.integer("the size of numbers")?;
        if !(0..=1).contains(&binary) || size != 8 {
            return Err(self
                .cursor
                .error(ErrorKind::Unsupported)
                .expected("0 (ASCII) or 1 (binary), then 8 (bytes of a number)")
                .found(format!("{binary} {size}")));
        }
        self.cursor.next_line();
        if binary == 1 {
            let mark = self.cursor.take(4, "the binary 1 that tells the byte order")?;
            self.format = match mark {
                [1, 0, 0, 0] => Format::Little,
                [0, 0, 0, 1] => Format::Big,
                _ => {
                    return Err(self
                        .cursor
                        .error(ErrorKind::Syntax)
                        .expected("the binary integer 1 after the format")
                        .found(format!("the bytes {mark:?}")));
                }
            };
        }
        self.expect_end(b"$MeshFormat")
    }

    fn expect_end(&mut self, section: &[u8]) -> Result<()> {
        let mut end = b"$End".to_vec();
        end.extend_from_slice(&section[1..]);
        let wanted = String::from_utf8_lossy(&end).into_owned();
        match self.cursor.next_token() {
            Some(t) if t.text == end => {
                self.cursor.next_line();
                Ok(())
            }
            Some(t) => Err(self
                .cursor
                .error_token(ErrorKind::Syntax, t)
                .expected(wanted)
                .found(t.shown())
                .advice("is the announced number of entries right?")),
            None => Err(self.cursor.truncated(&wanted)),
        }
    }

    /// An integer: a word in ASCII, 4 bytes in binary.
    fn int(&mut self, what: &str) -> Result<i64> {
        match self.format {
            Format::Ascii => self.cursor.integer(what),
            Format::Little => self.bytes(what).map(|b| i32::from_le_bytes(b).into()),
            Format::Big => self.bytes(what).map(|b| i32::from_be_bytes(b).into()),
        }
    }

    /// A size or tag: a word in ASCII, 8 bytes in binary (version 4).
    fn size(&mut self, what: &str) -> Result<u64> {
        match self.format {
            Format::Ascii => self.cursor.integer(what),
            Format::Little => self.bytes(what).map(u64::from_le_bytes),
            Format::Big => self.bytes(what).map(u64::from_be_bytes),
        }
    }

    fn real(&mut self, what: &str) -> Result<f64> {
        match self.format {
            Format::Ascii => self.cursor.number(what),
            Format::Little => self.bytes(what).map(f64::from_le_bytes),
            Format::Big => self.bytes(what).map(f64::from_be_bytes),
        }
    }

    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let taken = self.cursor.take(N, what)?;
        // take gives exactly N bytes.
        Ok(std::array::from_fn(|i| taken[i]))
    }

    /// The line of what was just read; 0 in binary.
    fn source(&self, number: u64) -> Source {
        let line = if self.format == Format::Ascii { self.cursor.line() as u32 } else { 0 };
        Source { line, number }
    }

    fn read_names(&mut self) -> Result<()> {
        let n: usize = self.cursor.integer("the number of physical names")?;
        self.cursor.next_line();
        for _ in 0..n {
            let dimension: i64 = self.cursor.integer("the dimension of a physical group")?;
            let number: i64 = self.cursor.integer("the number of a physical group")?;
            let line = self.cursor.next_line();
            let line = line.ok_or_else(|| self.cursor.truncated("a quoted name"))?;
            let text = String::from_utf8_lossy(line.text);
            let name = text.trim().strip_prefix('"').and_then(|t| t.strip_suffix('"'));
            let Some(name) = name.filter(|n| !n.is_empty()) else {
                return Err(self
                    .cursor
                    .error_token(ErrorKind::Syntax, line)
                    .expected("a name in quotation marks")
                    .found(line.shown()));
            };
            self.names.insert((dimension, number), name.to_owned());
        }
        Ok(())
    }

    fn add_node(&mut self, tag: u64, position: [f64; 3], source: Source) -> Result<()> {
        let index = self.builder.mesh.vertices.len() as u32;
        if self.index_of.insert(tag, index).is_some() {
            return Err(self
                .cursor
                .error(ErrorKind::Duplicate)
                .element(format!("node {tag}"))
                .expected("every node number once")
                .found("a second node of this number"));
        }
        self.builder.vertex(position, source);
        Ok(())
    }

    fn position(&mut self) -> Result<[f64; 3]> {
        Ok([self.real("x of a node")?, self.real("y of a node")?, self.real("z of a node")?])
    }

    fn shape(&self, code: i64) -> Result<Shape> {
        shape(code).map_err(|name| {
            let advice = if name.contains("order") {
                "mesh with first-order elements (Mesh.ElementOrder = 1)"
            } else {
                "mesh with tetrahedra and triangles, without recombination"
            };
            self.cursor
                .error(ErrorKind::Unsupported)
                .element(format!("element type {code}"))
                .expected("3-node triangles or 4-node tetrahedra")
                .found(name)
                .advice(advice)
        })
    }

    /// Nodes of one element as vertex indices.
    fn corners(&self, element: u64, nodes: &[u64]) -> Result<Vec<u32>> {
        nodes
            .iter()
            .map(|tag| {
                self.index_of.get(tag).copied().ok_or_else(|| {
                    self.cursor
                        .error(ErrorKind::IndexOutOfRange)
                        .element(format!("element {element}"))
                        .expected("numbers of nodes in $Nodes, which comes before $Elements")
                        .found(format!("the node {tag}"))
                })
            })
            .collect()
    }

    fn group_name(&self, dimension: i64, number: i64) -> String {
        let named = self.names.get(&(dimension, number));
        named.cloned().unwrap_or_else(|| number.to_string())
    }

    fn add(&mut self, shape: Shape, nodes: &[u64], groups: &[i64], source: Source) -> Result<()> {
        let corners = self.corners(source.number, nodes)?;
        let mut index = None;
        if self.version == Version::Two && groups.len() == 1 && shape.vertices() > 2 {
            let known = self.repeated.get_mut(&corners);
            match known {
                // In another group: the same element; in the same group: the check finds it.
                Some((first, seen)) if !seen.contains(&groups[0]) => {
                    seen.push(groups[0]);
                    index = Some(*first);
                }
                Some(_) => {}
                None => {
                    let next = match shape {
                        Shape::Triangle => self.builder.mesh.triangles.len(),
                        _ => self.builder.mesh.tetrahedra.len(),
                    };
                    self.repeated.insert(corners.clone(), (next as u32, groups.to_vec()));
                }
            }
        }
        let index = match (index, shape, corners.as_slice()) {
            (Some(index), _, _) => Some(index),
            (None, Shape::Triangle, &[a, b, c]) => Some(self.builder.triangle([a, b, c], source)),
            (None, Shape::Tetrahedron, &[a, b, c, d]) => {
                Some(self.builder.tetrahedron([a, b, c, d], source))
            }
            _ => None,
        };
        for &number in groups {
            let name = self.group_name(shape.dimension(), number);
            let group = self.builder.group(&name);
            match (shape, index) {
                (Shape::Triangle, Some(i)) => group.triangles.push(i),
                (Shape::Tetrahedron, Some(i)) => group.tetrahedra.push(i),
                _ => group.vertices.extend(&corners),
            }
        }
        Ok(())
    }
}
