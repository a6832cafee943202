//! Typed arrays of legacy VTK files: words in ASCII, big-endian in binary.

use crate::error::{Error, ErrorKind, Result};
use crate::text::{Cursor, Token};

/// A VTK number type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bit,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Type {
    pub fn parse(name: &[u8]) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_slice() {
            b"bit" => Self::Bit,
            b"char" | b"signed_char" | b"vtktypeint8" => Self::I8,
            b"unsigned_char" | b"vtktypeuint8" => Self::U8,
            b"short" | b"vtktypeint16" => Self::I16,
            b"unsigned_short" | b"vtktypeuint16" => Self::U16,
            // VTK writes ids of its own type as int.
            b"int" | b"vtkidtype" | b"vtktypeint32" => Self::I32,
            b"unsigned_int" | b"vtktypeuint32" => Self::U32,
            b"long" | b"long_long" | b"vtktypeint64" => Self::I64,
            b"unsigned_long" | b"unsigned_long_long" | b"vtktypeuint64" => Self::U64,
            b"float" | b"vtktypefloat32" => Self::F32,
            b"double" | b"vtktypefloat64" => Self::F64,
            _ => return None,
        })
    }

    pub fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64 | Self::Bit)
    }

    fn bytes(self) -> usize {
        match self {
            Self::Bit | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// A legacy VTK file while it is read.
pub(super) struct Data<'a> {
    pub cursor: Cursor<'a>,
    pub binary: bool,
}

impl<'a> Data<'a> {
    /// The next line that is not blank.
    pub fn line(&mut self) -> Option<Token<'a>> {
        loop {
            let line = self.cursor.next_line()?;
            if !line.text.trim_ascii().is_empty() {
                return Some(line);
            }
        }
    }

    pub fn syntax(&self, line: Token<'_>, expected: &str) -> Error {
        self.cursor.error_token(ErrorKind::Syntax, line).expected(expected).found(line.shown())
    }

    /// The raw bytes of `count` binary numbers.
    fn raw(&mut self, count: usize, kind: Type, what: &str) -> Result<&'a [u8]> {
        let bytes = match kind {
            Type::Bit => Some(count.div_ceil(8)),
            kind => count.checked_mul(kind.bytes()),
        };
        self.cursor.take(bytes.unwrap_or(usize::MAX), what)
    }

    /// Reads `count` binary numbers as `f64`; they must be finite.
    pub fn reals(&mut self, count: usize, kind: Type, what: &str) -> Result<Vec<f64>> {
        if kind.is_integer() {
            // Coordinates as integers: exact in f64 up to 2^53.
            return Ok(self.integers(count, kind, what)?.into_iter().map(|i| i as f64).collect());
        }
        let raw = self.raw(count, kind, what)?;
        let values: Vec<f64> = match kind {
            Type::F32 => {
                raw.as_chunks::<4>().0.iter().map(|&b| f32::from_be_bytes(b).into()).collect()
            }
            Type::F64 => raw.as_chunks::<8>().0.iter().map(|&b| f64::from_be_bytes(b)).collect(),
            _ => return Err(self.not_numbers(what)),
        };
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            return Err(self
                .cursor
                .error(ErrorKind::NotANumber)
                .element(format!("{what}, value {i}"))
                .expected("a finite number")
                .found(format!("{}", values[i])));
        }
        Ok(values)
    }

    fn not_numbers(&self, what: &str) -> Error {
        self.cursor.error(ErrorKind::Unsupported).element(what).found("an array of bits")
    }

    /// Reads `count` integers.
    pub fn integers(&mut self, count: usize, kind: Type, what: &str) -> Result<Vec<i64>> {
        if !self.binary {
            let mut values = Vec::with_capacity(self.cursor.plausible(count, 2));
            for _ in 0..count {
                values.push(self.cursor.integer(what)?);
            }
            return Ok(values);
        }
        let raw = self.raw(count, kind, what)?;
        let two = raw.as_chunks::<2>().0.iter();
        let four = raw.as_chunks::<4>().0.iter();
        let eight = raw.as_chunks::<8>().0.iter();
        Ok(match kind {
            Type::I8 => raw.iter().map(|&b| i64::from(b as i8)).collect(),
            Type::U8 => raw.iter().map(|&b| i64::from(b)).collect(),
            Type::I16 => two.map(|&b| i16::from_be_bytes(b).into()).collect(),
            Type::U16 => two.map(|&b| u16::from_be_bytes(b).into()).collect(),
            Type::I32 => four.map(|&b| i32::from_be_bytes(b).into()).collect(),
            Type::U32 => four.map(|&b| u32::from_be_bytes(b).into()).collect(),
            // Ids beyond 2^63 become negative, which every index check refuses.
            Type::I64 | Type::U64 => eight.map(|&b| i64::from_be_bytes(b)).collect(),
            Type::F32 | Type::F64 | Type::Bit => return Err(self.not_numbers(what)),
        })
    }

    /// Reads over `count` values.
    pub fn skip(&mut self, count: usize, kind: Type, what: &str) -> Result<()> {
        if self.binary {
            return self.raw(count, kind, what).map(|_| ());
        }
        for _ in 0..count {
            if self.cursor.next_token().is_none() {
                return Err(self.cursor.truncated(what));
            }
        }
        Ok(())
    }
}
