//! NumPy's NPZ archives: a ZIP file of NPY arrays.

use super::npy::{self, Array};
use super::{Column, Fault, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::text::MAX_FILE_BYTES;
use crate::write::write_atomically;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Columns that one table can have.
const MAX_COLUMNS: usize = 1_000_000;

pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<Table> {
    let broken = |e: zip::result::ZipError| {
        Error::new(ErrorKind::Syntax)
            .in_file(file)
            .expected("a ZIP archive of NumPy arrays")
            .found(e.to_string())
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let mut budget = MAX_FILE_BYTES;
    let mut arrays = Vec::new();
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(broken)?;
        let name = entry.name().map_err(broken)?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        let mut content = Vec::new();
        // The size in the archive's directory is not to be trusted: what comes out is counted.
        entry.take(budget + 1).read_to_end(&mut content).map_err(|e| {
            Error::new(ErrorKind::Syntax)
                .in_file(file)
                .element(format!("array \"{name}\""))
                .expected("data that can be unpacked")
                .found(e.to_string())
        })?;
        budget = budget.checked_sub(content.len() as u64).ok_or_else(|| {
            Error::new(ErrorKind::TooLarge)
                .in_file(file)
                .expected(format!("at most {MAX_FILE_BYTES} bytes of unpacked arrays"))
                .found("more")
        })?;
        arrays.push((name.clone(), decode(file, &name, &content)?));
    }
    tabulate(file, arrays)
}

pub(super) fn parse_single(file: &Path, bytes: &[u8]) -> Result<Table> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let array = decode(file, &name, bytes)?;
    tabulate(file, vec![(name, array)])
}

fn decode(file: &Path, name: &str, bytes: &[u8]) -> Result<Array> {
    npy::parse(bytes).map_err(|(expected, found)| {
        Error::new(ErrorKind::Syntax)
            .in_file(file)
            .element(format!("array \"{name}\""))
            .expected(expected)
            .found(found)
    })
}

/// Makes columns of arrays: the first dimension counts rows, a single number stands for all rows.
fn tabulate(file: &Path, arrays: Vec<(String, Array)>) -> Result<Table> {
    let usable = |a: &Array| a.values.is_ok() && !a.shape.is_empty();
    let lead = arrays.iter().find(|(_, a)| usable(a));
    let (rows, lead) = lead.map_or((1, ""), |(name, a)| (a.shape[0], name.as_str()));
    let mut columns = Vec::new();
    for (name, array) in &arrays {
        let values = match &array.values {
            Ok(values) => values,
            Err(descr) => {
                columns.push(Column {
                    name: name.clone(),
                    values: vec![f64::NAN; rows],
                    fault: Some(Fault {
                        line: 0,
                        expected: "an array of numbers",
                        found: format!("an array of {descr}"),
                    }),
                });
                continue;
            }
        };
        let [first, inner @ ..] = array.shape.as_slice() else {
            let values = vec![values[0]; rows];
            columns.push(finite(Column { name: name.clone(), values, fault: None }));
            continue;
        };
        if *first != rows {
            return Err(Error::new(ErrorKind::WrongLength)
                .in_file(file)
                .element(format!("array \"{name}\""))
                .expected(format!("{rows} rows as in \"{lead}\""))
                .found(format!("{first}"))
                .advice("put arrays of other lengths into another file"));
        }
        let width = inner.iter().fold(1_usize, |n, &d| n.saturating_mul(d));
        if columns.len().saturating_add(width) > MAX_COLUMNS {
            return Err(Error::new(ErrorKind::TooLarge)
                .in_file(file)
                .element(format!("array \"{name}\""))
                .expected(format!("at most {MAX_COLUMNS} columns"))
                .found(format!("{width} more in the shape {:?}", array.shape))
                .advice("is time the first dimension?"));
        }
        for column in 0..width {
            let values = (0..rows).map(|r| values[r * width + column]).collect();
            let name = format!("{name}{}", subscript(column, inner));
            columns.push(finite(Column { name, values, fault: None }));
        }
    }
    Table::new(file, columns, rows, Vec::new())
}

/// Refuses infinite values when the column is used.
fn finite(mut column: Column) -> Column {
    if let Some(row) = column.values.iter().position(|x| x.is_infinite()) {
        column.fault = Some(Fault {
            line: 0,
            expected: "finite numbers, or NaN where one is missing",
            found: format!("{} in row {row}", column.values[row]),
        });
    }
    column
}

/// `[i][j]` for a flat index into the inner dimensions.
fn subscript(mut flat: usize, inner: &[usize]) -> String {
    let mut parts = Vec::with_capacity(inner.len());
    for &d in inner.iter().rev() {
        parts.push(format!("[{}]", flat % d));
        flat /= d;
    }
    parts.reverse();
    parts.concat()
}

/// An array to be written, row-major.
#[derive(Clone, Copy, Debug)]
pub struct NamedArray<'a> {
    /// Its name in the archive.
    pub name: &'a str,
    /// Its dimensions; their product is the number of values.
    pub shape: &'a [usize],
    /// Its values, the last dimension innermost.
    pub values: &'a [f64],
}

/// Writes arrays as an NPZ archive that `numpy.load` reads. The file appears only when it is
/// complete.
///
/// # Errors
/// A shape that does not fit its values, or a file that cannot be written.
pub fn write_npz(path: &Path, arrays: &[NamedArray<'_>]) -> Result<()> {
    for array in arrays {
        let announced = array.shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
        if announced != Some(array.values.len()) || array.shape.len() > 32 {
            return Err(Error::new(ErrorKind::WrongLength)
                .in_file(path)
                .element(format!("array \"{}\"", array.name))
                .expected(format!("as many values as the shape {:?} announces", array.shape))
                .found(format!("{}", array.values.len())));
        }
    }
    write_atomically(path, |w| {
        let mut archive = ZipWriter::new(w);
        for array in arrays {
            // Sizes beyond 4 GiB need the large form from the start.
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .large_file(array.values.len() > (1 << 28));
            archive.start_file(format!("{}.npy", array.name), options)?;
            archive.write_all(&npy::header(array.shape))?;
            let mut bytes = Vec::with_capacity(8 * 4096);
            for chunk in array.values.chunks(4096) {
                bytes.clear();
                chunk.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
                archive.write_all(&bytes)?;
            }
        }
        archive.finish()?;
        Ok(())
    })
}
