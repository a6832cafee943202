//! What can go wrong with a file, said so that its author can mend it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The sort of fault in a file; stable names for programs that read `--json` output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system could not read or write the file.
    Io,
    /// The text does not follow the grammar of its format.
    Syntax,
    /// The file ends, or a section ends, before everything that it announces.
    Truncated,
    /// A format, version, element type or keyword that is not supported.
    Unsupported,
    /// The file is larger than a reader will take.
    TooLarge,
    /// A key that means nothing at its place.
    UnknownKey,
    /// A key or value that must be there is not.
    Missing,
    /// A value of another type than its key takes.
    WrongType,
    /// A number outside its bounds.
    OutOfBounds,
    /// Text that should be a number is none.
    NotANumber,
    /// Lengths of arrays that must agree do not.
    WrongLength,
    /// A name that refers to nothing (group, region, column, law …).
    UnknownName,
    /// Two statements that exclude each other, or the same thing stated twice.
    Conflict,
    /// An index beyond the number of vertices or elements.
    IndexOutOfRange,
    /// An element turned inside out (negative rest volume).
    Inverted,
    /// An element without volume or area.
    Degenerate,
    /// An element that occurs twice.
    Duplicate,
    /// A vertex that no element uses.
    Unreferenced,
}

impl ErrorKind {
    /// The kind's name in `snake_case`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::Syntax => "syntax",
            Self::Truncated => "truncated",
            Self::Unsupported => "unsupported",
            Self::TooLarge => "too_large",
            Self::UnknownKey => "unknown_key",
            Self::Missing => "missing",
            Self::WrongType => "wrong_type",
            Self::OutOfBounds => "out_of_bounds",
            Self::NotANumber => "not_a_number",
            Self::WrongLength => "wrong_length",
            Self::UnknownName => "unknown_name",
            Self::Conflict => "conflict",
            Self::IndexOutOfRange => "index_out_of_range",
            Self::Inverted => "inverted",
            Self::Degenerate => "degenerate",
            Self::Duplicate => "duplicate",
            Self::Unreferenced => "unreferenced",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Default)]
struct Place {
    file: Option<PathBuf>,
    line: Option<usize>,
    column: Option<usize>,
    element: Option<String>,
}

#[derive(Debug)]
struct Details {
    kind: ErrorKind,
    place: Place,
    expected: Option<String>,
    found: Option<String>,
    advice: Option<String>,
    source: Option<std::io::Error>,
}

/// A fault in a file: its kind, where it is, what was expected, what was found and what to do.
///
/// `Display` gives one readable paragraph that starts with `file:line:column`.
#[derive(Debug)]
pub struct Error(Box<Details>);

impl Error {
    /// A fault of the given kind without a place yet.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Details {
            kind,
            place: Place::default(),
            expected: None,
            found: None,
            advice: None,
            source: None,
        }))
    }
    /// A fault that the operating system reports for `file`.
    pub fn io(file: &Path, doing: &str, source: std::io::Error) -> Self {
        let mut e = Self::new(ErrorKind::Io).in_file(file).found(format!("{doing}: {source}"));
        e.0.source = Some(source);
        e
    }
    /// Names the file.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.0.place.file = Some(file.to_path_buf());
        self
    }
    /// Names the line, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.0.place.line = Some(line);
        self
    }
    /// Names line and column, both counted from 1 (columns in characters).
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.0.place.line = Some(line);
        self.0.place.column = Some(column);
        self
    }
    /// Names the element: a TOML path, a mesh element with its number, a column of a table. An
    /// empty name takes a former one away.
    #[must_use]
    pub fn element(mut self, element: impl Into<String>) -> Self {
        self.0.place.element = Some(element.into()).filter(|e: &String| !e.is_empty());
        self
    }
    /// Says what would have been right.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }
    /// Says what is there instead.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.0.found = Some(found.into());
        self
    }
    /// Says what to do about it.
    #[must_use]
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.0.advice = Some(advice.into());
        self
    }

    /// The sort of fault.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
    /// The file with the fault.
    pub fn file(&self) -> Option<&Path> {
        self.0.place.file.as_deref()
    }
    /// The line of the fault, counted from 1; none in binary files.
    pub fn line(&self) -> Option<usize> {
        self.0.place.line
    }
    /// The column of the fault in characters, counted from 1.
    pub fn column(&self) -> Option<usize> {
        self.0.place.column
    }
    /// The element at fault: a TOML path, a mesh element with its number, a column of a table.
    pub fn element_name(&self) -> Option<&str> {
        self.0.place.element.as_deref()
    }
    /// The fault without its place in the file: what `Display` prints after `file:line:column`.
    pub fn message(&self) -> String {
        let d = &self.0;
        let mut text = String::new();
        if let Some(element) = &d.place.element {
            text += element;
        }
        if let Some(expected) = &d.expected {
            if !text.is_empty() {
                text += ": ";
            }
            text += "expected ";
            text += expected;
        }
        if let Some(found) = &d.found {
            if d.expected.is_some() {
                text += ", found ";
            } else if !text.is_empty() {
                text += ": ";
            }
            text += found;
        }
        if let Some(advice) = &d.advice {
            if !text.is_empty() {
                text += "; ";
            }
            text += advice;
        }
        if text.is_empty() {
            text += d.kind.name();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.0.place;
        if let Some(file) = &place.file {
            write!(f, "{}:", file.display())?;
        }
        match (place.line, place.column) {
            (Some(line), Some(column)) => write!(f, "{line}:{column}:")?,
            (Some(line), None) => write!(f, "{line}:")?,
            (None, _) => {}
        }
        if place.file.is_some() || place.line.is_some() {
            f.write_str(" ")?;
        }
        f.write_str(&self.message())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

/// The result of reading or writing a file.
pub type Result<T> = std::result::Result<T, Error>;

/// The name of `candidates` that is closest to `name`, if it is close enough to be a slip of the
/// pen: at most a third of the letters differ (optimal string alignment distance, upper and lower
/// case alike).
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A single letter resembles every other one.
    let length = name.chars().count();
    let limit = if length < 2 { 0 } else { (length / 3).max(1) };
    candidates
        .into_iter()
        .map(|c| (alignment_distance(name, c), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Edit distance in which swapping two neighbours counts once.
fn alignment_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// What to write instead of `name`: the nearest of `candidates`, or all of them.
pub fn suggestion<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(best) = nearest(name, candidates.clone()) {
        return Some(format!("did you mean \"{best}\"?"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    if all.is_empty() { None } else { Some(format!("known here: {}", all.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_paragraph_with_the_place_first() {
        let e = Error::new(ErrorKind::OutOfBounds)
            .in_file(Path::new("beam.toml"))
            .at(7, 9)
            .element("soft.beam.young")
            .expected("a number above 0")
            .found("-3")
            .advice("give Young's modulus in Pa");
        assert_eq!(
            e.to_string(),
            "beam.toml:7:9: soft.beam.young: expected a number above 0, found -3; \
             give Young's modulus in Pa"
        );
        assert_eq!(e.kind().name(), "out_of_bounds");
    }

    #[test]
    fn slips_of_the_pen_are_recognised() {
        assert_eq!(nearest("yuong", ["young", "poisson"]), Some("young"));
        assert_eq!(nearest("Dampin", ["density", "damping"]), Some("damping"));
        assert_eq!(nearest("q", ["young", "poisson"]), None);
        assert_eq!(suggestion("q", ["a1b", "b2c"]).as_deref(), Some("known here: a1b, b2c"));
    }
}
