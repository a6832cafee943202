//! Height fields of the assets: heights in the model itself, in a picture or in MuJoCo's own binary files.

use std::path::Path;
use std::sync::Arc;

use costate_model::rigid::HeightField;

use super::attributes::Reader;
use super::build::Builder;
use super::xml::ElementId;
use crate::error::{ErrorKind, Result};

/// The most points of a grid.
const MOST: usize = 1 << 26;

/// A height field that geoms may refer to.
#[derive(Clone, Debug)]
pub(super) struct FieldAsset {
    id: ElementId,
    /// Place in the articulation, once a geom uses it.
    index: Option<usize>,
}

/// Notes a height field of an `asset` section.
pub(super) fn note(b: &mut Builder<'_>, r: &Reader<'_>) -> Result<()> {
    let name = match (r.text("name"), r.text("file")) {
        (Some(name), _) => name.to_owned(),
        (None, Some(file)) => {
            Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned()
        }
        (None, None) => {
            return Err(r.error(ErrorKind::Missing).expected("an attribute name or file"));
        }
    };
    if b.fields.insert(name.clone(), FieldAsset { id: r.id, index: None }).is_some() {
        return Err(r
            .error(ErrorKind::Duplicate)
            .expected("a height field name of its own")
            .found(format!("{name:?} a second time")));
    }
    Ok(())
}

impl Builder<'_> {
    /// The height field of a name, read when the first geom asks for it.
    pub fn field(&mut self, r: &Reader<'_>, name: &str) -> Result<usize> {
        let known = || {
            let mut names: Vec<String> = self.fields.keys().cloned().collect();
            names.sort();
            names
        };
        let found = |name: &str| self.fields.get(name).map(|f| f.id);
        let id = r.lookup("hfield", "height field asset", name, found, &known)?;
        if let Some(index) = self.fields.get(name).and_then(|f| f.index) {
            return Ok(index);
        }
        let field = load(self, &Reader::new(self.document, id), name)?;
        self.articulation.fields.push(field);
        let index = self.articulation.fields.len() - 1;
        self.fields.insert(name.to_owned(), FieldAsset { id, index: Some(index) });
        Ok(index)
    }
}

/// Rows, columns, and numbers row after row from the lowest y.
type Grid = (usize, usize, Vec<f64>);

fn load(b: &Builder<'_>, r: &Reader<'_>, name: &str) -> Result<HeightField> {
    let size: [f64; 4] = r.vector("size")?.ok_or_else(|| {
        r.error(ErrorKind::Missing)
            .expected("the attribute size: half lengths along x and y, height, depth")
    })?;
    if let Some(i) = (0..4).find(|&i| size[i] <= 0.0) {
        return Err(r
            .wrong("size", ErrorKind::OutOfBounds)
            .expected("four positive numbers")
            .found(format!("number {i} is {}", size[i])));
    }
    let (rows, columns, numbers) = match r.text("file") {
        Some(file) => from_file(&b.compiler.mesh_path(&b.document.files[0].path, file))
            .map_err(|why| r.wrong("file", ErrorKind::Io).found(why))?,
        None => inline(r)?,
    };
    if rows < 2 || columns < 2 {
        return Err(r
            .error(ErrorKind::OutOfBounds)
            .expected("two rows and two columns or more")
            .found(format!("{rows} rows and {columns} columns")));
    }
    // Heights go from 0 to the given one.
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let range = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    let scale = if range > 1e-15 { size[2] / range } else { 0.0 };
    Ok(HeightField {
        name: name.to_owned(),
        rows,
        columns,
        heights: Arc::new(numbers.into_iter().map(|x| (x - low) * scale).collect()),
        half: [size[0], size[1]],
        depth: size[3],
    })
}

/// Heights in the model itself, the highest y first; all zero where there are none.
fn inline(r: &Reader<'_>) -> Result<Grid> {
    let count = |name: &str| -> Result<usize> {
        let number = r.integer(name)?.ok_or_else(|| {
            r.error(ErrorKind::Missing).expected(format!("the attribute {name}, or a file"))
        })?;
        usize::try_from(number).ok().filter(|n| *n <= MOST).ok_or_else(|| {
            r.wrong(name, ErrorKind::OutOfBounds)
                .expected("a number of points")
                .found(format!("{number}"))
        })
    };
    let (rows, columns) = (count("nrow")?, count("ncol")?);
    let Some(total) = rows.checked_mul(columns).filter(|n| *n <= MOST) else {
        return Err(r
            .wrong("nrow", ErrorKind::TooLarge)
            .expected(format!("at most {MOST} points")));
    };
    let numbers = match r.numbers("elevation")? {
        None => vec![0.0; total],
        Some(numbers) if numbers.len() == total => {
            let from_the_top = numbers.chunks_exact(columns.max(1)).rev();
            from_the_top.flatten().copied().collect()
        }
        Some(numbers) => {
            return Err(r
                .wrong("elevation", ErrorKind::WrongLength)
                .expected(format!("{total} numbers"))
                .found(format!("{}", numbers.len())));
        }
    };
    Ok((rows, columns, numbers))
}

fn from_file(path: &Path) -> std::result::Result<Grid, String> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|e| format!("{shown}: {e}"))?;
    let is_png = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png"));
    let grid = if is_png { from_png(&bytes) } else { from_binary(&bytes) };
    grid.map_err(|why| format!("{shown}: {why}"))
}

/// A grey picture, the highest y first.
fn from_png(bytes: &[u8]) -> std::result::Result<Grid, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    // Palettes and fewer bits become 8 bits, transparency stays out.
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let size =
        reader.output_buffer_size().filter(|n| *n <= 8 * MOST).ok_or("a picture too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    let samples = info.color_type.samples();
    if !matches!(info.color_type, png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha) {
        return Err("a picture in colour; heights are shades of grey".into());
    }
    let (rows, columns) = (info.height as usize, info.width as usize);
    let mut numbers = Vec::with_capacity(rows * columns);
    for row in pixels[..info.buffer_size()].chunks_exact(info.line_size).rev() {
        numbers.extend(row.chunks_exact(samples).map(|pixel| f64::from(pixel[0])));
    }
    Ok((rows, columns, numbers))
}

/// MuJoCo's own files: rows and columns as 32-bit integers, then heights as 32-bit numbers, little-endian, the
/// lowest y first.
fn from_binary(bytes: &[u8]) -> std::result::Result<Grid, String> {
    let words: Vec<[u8; 4]> =
        bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]).collect();
    let expected = "expected rows, columns and as many heights of four bytes each";
    let [rows, columns, heights @ ..] = words.as_slice() else { return Err(expected.into()) };
    let [rows, columns] = [rows, columns].map(|word| i32::from_le_bytes(*word));
    let (Ok(rows), Ok(columns)) = (usize::try_from(rows), usize::try_from(columns)) else {
        return Err(expected.into());
    };
    if rows.checked_mul(columns) != Some(heights.len()) || !bytes.len().is_multiple_of(4) {
        return Err(expected.into());
    }
    let numbers: Vec<f64> =
        heights.iter().map(|word| f64::from(f32::from_le_bytes(*word))).collect();
    if numbers.iter().any(|x| !x.is_finite()) {
        return Err("a height that is not finite".into());
    }
    Ok((rows, columns, numbers))
}
