//! Tables of numbers: CSV with a header, and NumPy's NPZ and NPY.

mod csv_file;
mod npy;
mod npz;

pub use csv_file::write_csv;
pub use npz::{NamedArray, write_npz};

use crate::error::{Error, ErrorKind, Result, suggestion};
use crate::text::read_bytes;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A column that cannot be used as numbers, and where that shows.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    line: u32,
    expected: &'static str,
    found: String,
}

/// One named column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name in the header. Arrays of more than one dimension give `name[0]`, `name[1]` … (and
    /// `name[0][0]` …) over all dimensions but the first.
    pub name: String,
    /// One value per row; NaN where it is missing.
    pub values: Vec<f64>,
    fault: Option<Fault>,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The file it came from.
    pub file: PathBuf,
    columns: Vec<Column>,
    by_name: HashMap<String, usize>,
    rows: usize,
    /// Line of each row, from 1; empty for NPZ and NPY.
    lines: Vec<u32>,
}

impl Table {
    /// Reads a table; the format follows from the ending: `.npz`, `.npy`, and CSV for all others.
    ///
    /// A CSV file has one header line; cells are separated by commas (or by semicolons or tabs
    /// where the header has no comma), lines that start with `#` are comments, and empty, `NaN`
    /// and `NA` cells are missing. A cell that is no number is an error when its column is asked
    /// for, so that a column of remarks does no harm.
    ///
    /// # Errors
    /// A file that cannot be read or is malformed.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::parse(path, &read_bytes(path)?)
    }

    /// Reads a table from bytes; `path` gives the format and is what errors call the file.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn parse(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Self> {
        let path = path.as_ref();
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("npz") => npz::parse(path, bytes),
            Some("npy") => npz::parse_single(path, bytes),
            Some(ending @ ("xlsx" | "xls" | "ods" | "mat" | "h5" | "hdf5" | "parquet")) => {
                Err(Error::new(ErrorKind::Unsupported)
                    .in_file(path)
                    .expected("a table in CSV, NPZ or NPY")
                    .found(format!("the ending .{ending}"))
                    .advice("save it as CSV"))
            }
            _ => csv_file::parse(path, bytes),
        }
    }

    /// A table of columns made in code; `name` is what errors call it.
    ///
    /// # Errors
    /// Columns of different lengths, a name used twice.
    pub fn from_columns(
        name: impl Into<PathBuf>,
        columns: impl IntoIterator<Item = (String, Vec<f64>)>,
    ) -> Result<Self> {
        let file = name.into();
        let columns: Vec<Column> = columns
            .into_iter()
            .map(|(name, values)| Column { name, values, fault: None })
            .collect();
        let rows = columns.first().map_or(0, |c| c.values.len());
        if let Some(other) = columns.iter().find(|c| c.values.len() != rows) {
            return Err(Error::new(ErrorKind::WrongLength)
                .in_file(&file)
                .element(format!("column \"{}\"", other.name))
                .expected(format!("{rows} values, as in \"{}\"", columns[0].name))
                .found(format!("{}", other.values.len())));
        }
        Self::new(&file, columns, rows, Vec::new())
    }

    fn new(file: &Path, columns: Vec<Column>, rows: usize, lines: Vec<u32>) -> Result<Self> {
        let mut by_name = HashMap::with_capacity(columns.len());
        for (i, column) in columns.iter().enumerate() {
            if by_name.insert(column.name.clone(), i).is_some() {
                return Err(Error::new(ErrorKind::Conflict)
                    .in_file(file)
                    .at_line(1)
                    .element(format!("column \"{}\"", column.name))
                    .expected("every column name once")
                    .found("two columns of this name"));
            }
        }
        Ok(Self { file: file.to_path_buf(), columns, by_name, rows, lines })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of all columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.columns.iter().map(|c| c.name.as_str())
    }

    /// All columns that hold numbers, in order.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| c.fault.is_none())
    }

    /// The column of a name.
    ///
    /// # Errors
    /// No such column (the nearest names are suggested), or a cell of it that is no number, with
    /// its line.
    pub fn column(&self, name: &str) -> Result<&Column> {
        let Some(&i) = self.by_name.get(name) else {
            let e = Error::new(ErrorKind::UnknownName)
                .in_file(&self.file)
                .expected("the name of a column")
                .found(format!("\"{name}\""));
            return Err(match suggestion(name, self.names()) {
                Some(advice) => e.advice(advice),
                None => e.advice("the table has no columns"),
            });
        };
        let column = &self.columns[i];
        match &column.fault {
            None => Ok(column),
            Some(fault) => {
                let e = Error::new(ErrorKind::NotANumber)
                    .in_file(&self.file)
                    .element(format!("column \"{name}\""))
                    .expected(fault.expected)
                    .found(fault.found.as_str());
                Err(if fault.line > 0 { e.at_line(fault.line as usize) } else { e })
            }
        }
    }

    /// The line of a row in the file, counted from 1; none for NPZ and NPY.
    pub fn line(&self, row: usize) -> Option<usize> {
        self.lines.get(row).map(|&l| l as usize)
    }

    /// An error about one row of a column.
    pub fn error(&self, kind: ErrorKind, column: &str, row: usize) -> Error {
        let e = Error::new(kind).in_file(&self.file);
        match self.line(row) {
            Some(line) => e.at_line(line).element(format!("column \"{column}\"")),
            None => e.element(format!("column \"{column}\", row {row}")),
        }
    }
}
