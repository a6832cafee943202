//! NumPy's NPY format, versions 1 to 3 (numpy.lib.format).

/// How the numbers of an array are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Number {
    fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Signed(n) | Self::Unsigned(n) | Self::Float(n) => n,
        }
    }
}

/// An array as `f64` in row-major order.
#[derive(Debug, PartialEq)]
pub(super) struct Array {
    pub shape: Vec<usize>,
    /// The values, or the name of a type that is no number.
    pub values: Result<Vec<f64>, String>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array; the error says what was expected and what was found.
pub(super) fn parse(bytes: &[u8]) -> Result<Array, (&'static str, String)> {
    let header_error = |found: &str| ("a NumPy array (NPY version 1 to 3)", found.to_owned());
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| header_error("no NPY header"))?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        [major, ..] => return Err(header_error(&format!("version {major}"))),
        [] => return Err(header_error("the end of the file")),
    };
    let (header, data) =
        rest.split_at_checked(length).ok_or_else(|| header_error("a header cut short"))?;
    let header = String::from_utf8_lossy(header);
    let header = Header::parse(&header)
        .ok_or_else(|| ("a header with descr, fortran_order and shape", header.into_owned()))?;
    let Some((number, big)) = number(&header.descr) else {
        return Ok(Array { shape: header.shape, values: Err(header.descr) });
    };
    let size = number.bytes();
    let count = header.shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
    if count.and_then(|n| n.checked_mul(size)) != Some(data.len()) {
        return Err((
            "as many bytes as the shape announces",
            format!("{} bytes for the shape {:?} of {}", data.len(), header.shape, header.descr),
        ));
    }
    let mut values: Vec<f64> = data.chunks_exact(size).map(|c| decode(c, number, big)).collect();
    if header.fortran && header.shape.len() > 1 {
        values = to_row_major(&values, &header.shape);
    }
    Ok(Array { shape: header.shape, values: Ok(values) })
}

/// The number type of a `descr` such as `<f8`, and whether its bytes are big-endian.
fn number(descr: &str) -> Option<(Number, bool)> {
    let (order, code) = descr.split_at_checked(1)?;
    let big = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return None,
    };
    let number = match code {
        "b1" => Number::Bool,
        "i1" | "i2" | "i4" | "i8" => Number::Signed(code[1..].parse().ok()?),
        "u1" | "u2" | "u4" | "u8" => Number::Unsigned(code[1..].parse().ok()?),
        "f2" | "f4" | "f8" => Number::Float(code[1..].parse().ok()?),
        _ => return None,
    };
    Some((number, big))
}

fn decode(bytes: &[u8], number: Number, big: bool) -> f64 {
    let n = bytes.len();
    let mut little = [0_u8; 8];
    for (i, slot) in little[..n].iter_mut().enumerate() {
        *slot = if big { bytes[n - 1 - i] } else { bytes[i] };
    }
    let bits = u64::from_le_bytes(little);
    match number {
        Number::Bool => f64::from(bits != 0),
        Number::Unsigned(_) => bits as f64,
        Number::Signed(n) => {
            // Shifting up and down again extends the sign.
            let unused = 64 - 8 * n as u32;
            (((bits << unused) as i64) >> unused) as f64
        }
        Number::Float(2) => half(bits as u16),
        Number::Float(4) => f32::from_bits(bits as u32).into(),
        Number::Float(_) => f64::from_bits(bits),
    }
}

/// IEEE 754 half precision.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2.0_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction) * 2.0_f64.powi(e - 15),
    }
}

fn to_row_major(values: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut strides = vec![1; shape.len()];
    for i in 1..shape.len() {
        strides[i] = strides[i - 1] * shape[i - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut result = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        result.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    result
}

struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads the Python dictionary that NumPy writes.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let body = text.strip_prefix('{')?.strip_suffix('}')?;
        let after = |key: &str| {
            let quoted = [format!("'{key}'"), format!("\"{key}\"")];
            let at = quoted.iter().find_map(|q| body.find(q.as_str()).map(|i| i + q.len()))?;
            body[at..].trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = after("descr")?;
        let descr = match descr.chars().next()? {
            quote @ ('\'' | '"') => descr[1..].split(quote).next()?.to_owned(),
            // A list of fields: a structured type.
            _ => "a structured type".to_owned(),
        };
        let fortran = after("fortran_order")?;
        let fortran = if fortran.starts_with("True") {
            true
        } else if fortran.starts_with("False") {
            false
        } else {
            return None;
        };
        let shape = after("shape")?.strip_prefix('(')?.split(')').next()?;
        let shape: Option<Vec<usize>> = shape
            .split(',')
            .map(str::trim)
            .filter(|d| !d.is_empty())
            .map(|d| d.parse().ok())
            .collect();
        Some(Self { descr, fortran, shape: shape.filter(|s| s.len() <= 32)? })
    }
}

/// The header of a little-endian row-major `f64` array, padded so that the data is aligned.
pub(super) fn header(shape: &[usize]) -> Vec<u8> {
    let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}{comma}), }}",
        dims.join(", ")
    );
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    // 32 dimensions of 20 digits stay far below the 65 535 bytes of version 1.
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}
