//! Walking a TOML document with errors that point into the file.
//!
//! A [`TomlFile`] keeps the text and the place of every value. [`Section`] reads one table: each
//! key that is asked for becomes a known one, and [`Section::finish`] refuses all others. [`Node`]
//! is one value with its path (`soft.beam.young`), read by a function per type.
//!
//! ```
//! use costate_formats::toml_reader::{Node, TomlFile};
//!
//! let file = TomlFile::parse("beam.toml", "[soft.beam]\nyoung = 2e5\n").unwrap();
//! let root = file.root();
//! for (name, body) in root.entries("soft").unwrap() {
//!     let body = body.section().unwrap();
//!     assert_eq!(name, "beam");
//!     assert_eq!(body.req("young", Node::positive).unwrap(), 2e5);
//!     assert_eq!(body.or("poisson", 0.45, Node::number).unwrap(), 0.45);
//!     body.finish().unwrap();
//! }
//! root.finish().unwrap();
//! ```

mod node;
mod patch;
mod section;

pub use node::Node;
pub use patch::{Patch, shortest};
pub use section::Section;

use crate::error::{Error, ErrorKind, Result};
use crate::text::{line_column, read_text};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml_edit::{Document, TableLike};

/// A parsed TOML file with its text.
#[derive(Debug)]
pub struct TomlFile {
    path: PathBuf,
    document: Document<String>,
}

impl TomlFile {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no UTF-8 or no TOML.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::parse(path, &read_text(path)?)
    }

    /// Parses text; `path` is what errors call the file and what relative paths in it start from.
    ///
    /// # Errors
    /// Text that is no TOML, with the place of the fault.
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let document = Document::parse(text.to_owned()).map_err(|e| {
            let (line, column) = line_column(text, e.span().map_or(0, |s| s.start));
            Error::new(ErrorKind::Syntax)
                .in_file(&path)
                .at(line, column)
                .found(e.message().replace('\n', ", "))
        })?;
        Ok(Self { path, document })
    }

    /// The file's path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        self.document.raw()
    }

    /// A path written in this file: relative ones start from the file's folder.
    pub fn resolve(&self, written: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(written)
    }

    /// The document's top table.
    pub fn root(&self) -> Section<'_> {
        let table: &dyn TableLike = self.document.as_table();
        Section::new(self, table, String::new(), 0..0)
    }

    /// Line and column (from 1) of a byte offset.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        line_column(self.text(), offset)
    }

    pub(crate) fn error(&self, kind: ErrorKind, span: &Range<usize>, element: &str) -> Error {
        let (line, column) = self.position(span.start);
        let e = Error::new(kind).in_file(&self.path).at(line, column);
        if element.is_empty() { e } else { e.element(element) }
    }
}

/// Appends a key to a dotted path, quoting it where TOML would.
fn join(path: &str, key: &str) -> String {
    let bare =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}
