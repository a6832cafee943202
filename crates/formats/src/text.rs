//! Positions in text and shared reading of files.

use crate::error::{Error, ErrorKind, Result};
use std::io::Read;
use std::path::Path;

/// The largest file a reader takes, in bytes (1 GiB).
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// Reads a whole file, refusing one above [`MAX_FILE_BYTES`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path).map_err(|e| Error::io(path, "cannot open", e))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, "cannot read", e))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(Error::new(ErrorKind::TooLarge)
            .in_file(path)
            .expected(format!("at most {MAX_FILE_BYTES} bytes"))
            .found("a larger file"));
    }
    Ok(bytes)
}

/// Reads a whole UTF-8 text file; a byte-order mark at its start is dropped.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read_bytes(path)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..good].iter().filter(|&&b| b == b'\n').count();
        Error::new(ErrorKind::Syntax)
            .in_file(path)
            .at_line(line)
            .expected("UTF-8 text")
            .found(format!("the byte 0x{:02x}", e.as_bytes()[good]))
            .advice("save the file as UTF-8")
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Line and column (from 1, in characters) of a byte offset of a text.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = 1 + before.bytes().filter(|&b| b == b'\n').count();
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (line, 1 + before[start..].chars().count())
}

/// A piece of a file between white space.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub text: &'a [u8],
    pub line: usize,
    pub column: usize,
}

impl Token<'_> {
    pub fn shown(&self) -> String {
        shown(self.text)
    }
}

/// Bytes as an error message shows them: short, printable.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]);
    let mut clean: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if bytes.len() > 40 {
        clean += "…";
    }
    format!("\"{clean}\"")
}

/// Walks through a file of words and numbers, with binary stretches in between.
pub(crate) struct Cursor<'a> {
    pub file: &'a Path,
    bytes: &'a [u8],
    pos: usize,
    line: usize,
    line_start: usize,
    passed_binary: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(file: &'a Path, bytes: &'a [u8]) -> Self {
        Self { file, bytes, pos: 0, line: 1, line_start: 0, passed_binary: false }
    }

    /// Bytes from here to the end of the file.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.pos
    }

    /// The line that is read next, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// A number of items that the file could hold from here on, given the bytes that each takes:
    /// what to reserve for a count that the file merely announces.
    pub fn plausible(&self, announced: usize, bytes_each: usize) -> usize {
        announced.min(self.remaining() / bytes_each + 1)
    }

    /// An error at the current place.
    pub fn error(&self, kind: ErrorKind) -> Error {
        self.error_at(kind, self.line, self.pos - self.line_start + 1)
    }

    /// An error at a token.
    pub fn error_token(&self, kind: ErrorKind, token: Token<'_>) -> Error {
        self.error_at(kind, token.line, token.column)
    }

    fn error_at(&self, kind: ErrorKind, line: usize, column: usize) -> Error {
        let e = Error::new(kind).in_file(self.file);
        // Lines have no meaning beyond a binary stretch.
        if self.passed_binary { e } else { e.at(line, column) }
    }

    /// The file ended where `expected` should come.
    pub fn truncated(&self, expected: &str) -> Error {
        self.error(ErrorKind::Truncated).expected(expected).found("the end of the file")
    }

    /// The rest of the current line without its end; none at the end of the file.
    pub fn next_line(&mut self) -> Option<Token<'a>> {
        if self.pos >= self.bytes.len() {
            return None;
        }
        let rest = &self.bytes[self.pos..];
        let (line, column) = (self.line, self.pos - self.line_start + 1);
        let length = rest.iter().position(|&b| b == b'\n');
        let mut text = &rest[..length.unwrap_or(rest.len())];
        match length {
            Some(n) => {
                self.pos += n + 1;
                self.line += 1;
                self.line_start = self.pos;
            }
            None => self.pos = self.bytes.len(),
        }
        if let [head @ .., b'\r'] = text {
            text = head;
        }
        Some(Token { text, line, column })
    }

    /// The next word, over line ends; none at the end of the file.
    pub fn next_token(&mut self) -> Option<Token<'a>> {
        while let Some(&b) = self.bytes.get(self.pos) {
            if b == b'\n' {
                self.line += 1;
                self.line_start = self.pos + 1;
            } else if !b.is_ascii_whitespace() {
                break;
            }
            self.pos += 1;
        }
        let rest = &self.bytes[self.pos..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if length == 0 {
            return None;
        }
        let token = Token {
            text: &rest[..length],
            line: self.line,
            column: self.pos - self.line_start + 1,
        };
        self.pos += length;
        Some(token)
    }

    /// The next word parsed as an integer of type `T`.
    pub fn integer<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T> {
        let token = self.next_token().ok_or_else(|| self.truncated(what))?;
        std::str::from_utf8(token.text)
            .ok()
            .and_then(|t| t.parse::<i64>().ok())
            .and_then(|i| T::try_from(i).ok())
            .ok_or_else(|| {
                self.error_token(ErrorKind::NotANumber, token)
                    .expected(format!("{what} (an integer)"))
                    .found(token.shown())
            })
    }

    /// The next word parsed as a finite number.
    pub fn number(&mut self, what: &str) -> Result<f64> {
        let token = self.next_token().ok_or_else(|| self.truncated(what))?;
        parse_number(token.text).filter(|x| x.is_finite()).ok_or_else(|| {
            self.error_token(ErrorKind::NotANumber, token)
                .expected(format!("{what} (a finite number)"))
                .found(token.shown())
        })
    }

    /// The next `count` raw bytes.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8]> {
        if count > self.remaining() {
            return Err(self
                .error(ErrorKind::Truncated)
                .element(what)
                .found(format!("{} bytes where {count} are announced", self.remaining())));
        }
        let taken = &self.bytes[self.pos..self.pos + count];
        self.pos += count;
        self.line_start = self.pos;
        self.passed_binary = true;
        Ok(taken)
    }

    /// Moves beyond the next occurrence of `mark`; false if there is none.
    pub fn skip_past(&mut self, mark: &[u8]) -> bool {
        let rest = &self.bytes[self.pos..];
        let Some(at) = rest.windows(mark.len()).position(|w| w == mark) else {
            return false;
        };
        let passed = &rest[..at + mark.len()];
        self.line += passed.iter().filter(|&&b| b == b'\n').count();
        if let Some(last) = passed.iter().rposition(|&b| b == b'\n') {
            self.line_start = self.pos + last + 1;
        }
        self.pos += passed.len();
        true
    }
}

/// Parses a number of a text file; `nan` and `inf` are numbers here.
pub(crate) fn parse_number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
