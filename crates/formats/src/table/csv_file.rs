//! CSV with a header.

use super::{Column, Fault, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::text::{parse_number, shown};
use crate::write::write_atomically;
use std::path::Path;

pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<Table> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(bytes))
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .has_headers(true)
        .from_reader(bytes);
    let fail = |kind| Error::new(kind).in_file(file);
    let header = reader.byte_headers().map_err(|e| translate(file, bytes, &e))?.clone();
    let header_line = header.position().map_or(1, |p| line_of(bytes, p));
    if header.is_empty() {
        return Err(fail(ErrorKind::Missing)
            .at_line(1)
            .expected("a header line with column names")
            .found("an empty file"));
    }
    if header.iter().all(|cell| parse_number(cell).is_some()) {
        return Err(fail(ErrorKind::Missing)
            .at_line(header_line)
            .expected("a header line with column names")
            .found("numbers only")
            .advice("put the names of the columns into a first line"));
    }
    let mut columns = Vec::with_capacity(header.len());
    for (i, cell) in header.iter().enumerate() {
        let name = std::str::from_utf8(cell).ok().filter(|n| !n.is_empty()).ok_or_else(|| {
            fail(ErrorKind::Syntax)
                .at_line(header_line)
                .element(format!("column {}", i + 1))
                .expected("a name in UTF-8")
                .found(if cell.is_empty() { "an empty cell".into() } else { shown(cell) })
        })?;
        columns.push(Column { name: name.to_owned(), values: Vec::new(), fault: None });
    }
    let mut lines = Vec::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|e| translate(file, bytes, &e))? {
        let line = record.position().map_or(0, |p| line_of(bytes, p) as u32);
        lines.push(line);
        for (cell, column) in record.iter().zip(&mut columns) {
            let value = if missing(cell) {
                f64::NAN
            } else {
                match parse_number(cell).filter(|x| x.is_finite()) {
                    Some(x) => x,
                    None => {
                        column.fault.get_or_insert_with(|| Fault {
                            line,
                            expected: "a finite number, or an empty cell",
                            found: shown(cell),
                        });
                        f64::NAN
                    }
                }
            };
            column.values.push(value);
        }
    }
    let rows = lines.len();
    Table::new(file, columns, rows, lines).map_err(|e| e.at_line(header_line))
}

/// The line that a record starts in. The reader's own position lies before the comments and blank
/// lines that it reads over.
fn line_of(bytes: &[u8], position: &csv::Position) -> usize {
    let mut line = position.line() as usize;
    let mut rest = bytes.get(position.byte() as usize..).unwrap_or_default();
    while let [first, ..] = rest {
        let end = rest.iter().position(|&b| b == b'\n');
        if *first != b'#' && !matches!(rest, [b'\n', ..] | [b'\r', b'\n', ..]) {
            break;
        }
        let Some(end) = end else { break };
        line += 1;
        rest = &rest[end + 1..];
    }
    line
}

fn missing(cell: &[u8]) -> bool {
    cell.is_empty() || cell.eq_ignore_ascii_case(b"nan") || cell.eq_ignore_ascii_case(b"na")
}

/// What separates the cells: a comma, or what the header has instead.
fn delimiter(bytes: &[u8]) -> u8 {
    let lines = bytes.split(|&b| b == b'\n');
    let header = lines.into_iter().find(|l| !l.trim_ascii().is_empty() && l[0] != b'#');
    let header = header.unwrap_or_default();
    if header.contains(&b',') {
        b','
    } else {
        [b';', b'\t'].into_iter().find(|d| header.contains(d)).unwrap_or(b',')
    }
}

fn translate(file: &Path, bytes: &[u8], e: &csv::Error) -> Error {
    let error = match e.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            Error::new(ErrorKind::WrongLength)
                .expected(format!("{expected_len} cells as in the header"))
                .found(format!("{len}"))
        }
        _ => Error::new(ErrorKind::Syntax).found(e.to_string()),
    };
    let error = error.in_file(file);
    match e.position() {
        Some(p) => error.at_line(line_of(bytes, p)),
        None => error,
    }
}

/// Writes columns of equal length as CSV; NaN becomes an empty cell, every number as many digits
/// as give the same bits again. The file appears only when it is complete.
///
/// # Errors
/// Columns of different lengths, or a file that cannot be written.
pub fn write_csv(path: &Path, columns: &[(&str, &[f64])]) -> Result<()> {
    let rows = columns.first().map_or(0, |c| c.1.len());
    if let Some((name, values)) = columns.iter().find(|c| c.1.len() != rows) {
        return Err(Error::new(ErrorKind::WrongLength)
            .in_file(path)
            .element(format!("column \"{name}\""))
            .expected(format!("{rows} values as in the first column"))
            .found(format!("{}", values.len())));
    }
    write_atomically(path, |w| {
        // A single column with a missing value would be a blank line, which readers drop.
        let mut writer = csv::WriterBuilder::new().from_writer(w);
        writer.write_record(columns.iter().map(|c| c.0))?;
        let mut cells: Vec<String> = vec![String::new(); columns.len()];
        for row in 0..rows {
            for (cell, column) in cells.iter_mut().zip(columns) {
                let x = column.1[row];
                cell.clear();
                if !x.is_nan() {
                    use std::fmt::Write;
                    // Writing to a String cannot fail.
                    let _ = write!(cell, "{x:?}");
                }
            }
            writer.write_record(&cells)?;
        }
        writer.flush()
    })
}
