//! Numbers as people read them.

/// `v` with so many significant digits: plain between 1e-4 and 1e6, with a power of ten outside.
pub(crate) fn significant(v: f64, digits: usize) -> String {
    if v.is_nan() {
        return "–".into();
    }
    if v.is_infinite() {
        return if v > 0.0 { "∞" } else { "−∞" }.into();
    }
    if v == 0.0 {
        return "0".into();
    }
    let digits = digits.max(1);
    // Rounding first: 9.996 to three digits has the exponent of 10.0.
    let scientific = format!("{:.*e}", digits - 1, v);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        minus(&format!("{v:.decimals$}"))
    } else {
        format!("{} × 10{}", minus(mantissa), superscript(exponent))
    }
}

/// An estimate with as many digits as its standard error (two of its own) makes sense of.
pub(crate) fn with_error(v: f64, error: Option<f64>) -> String {
    let magnitude = |x: f64| x.abs().log10().floor();
    match error {
        Some(e) if e > 0.0 && e.is_finite() && v != 0.0 && v.is_finite() => {
            let digits = magnitude(v) - magnitude(e) + 2.0;
            significant(v, digits.clamp(2.0, 12.0) as usize)
        }
        _ => significant(v, 6),
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, if share.abs() < 0.1 { 2 } else { 3 }))
}

/// A time span.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 120.0 || !seconds.is_finite() {
        format!("{} s", significant(seconds, 3))
    } else {
        format!("{} min {:02} s", (seconds / 60.0) as u64, (seconds % 60.0) as u64)
    }
}

/// The power of ten, a multiple of three, that brings numbers up to `largest` into reach of a few
/// digits; zero where they are already.
pub(crate) fn engineering(largest: f64) -> i32 {
    if !(largest.is_finite() && largest > 0.0) || (0.05..2e4).contains(&largest) {
        return 0;
    }
    (largest.log10() / 3.0).floor() as i32 * 3
}

/// A label with unit and power of ten: `height (10⁻³ m)`.
pub(crate) fn label(name: &str, unit: &str, exponent: i32) -> String {
    let power = if exponent == 0 { String::new() } else { format!("10{}", superscript(exponent)) };
    match (power.is_empty(), unit.is_empty()) {
        (true, true) => name.to_string(),
        (true, false) => format!("{name} ({unit})"),
        (false, true) => format!("{name} ({power})"),
        (false, false) => format!("{name} ({power} {unit})"),
    }
}

pub(crate) fn superscript(n: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => {
            let d = other.to_digit(10).unwrap_or(0);
            // 0 and 4 to 9 stand at U+2070 and up.
            char::from_u32(0x2070 + d).unwrap_or(other)
        }
    };
    n.to_string().chars().map(digit).collect()
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_significant() {
        assert_eq!(significant(263_824.3, 4), "263824");
        assert_eq!(significant(-0.012_345, 3), "−0.0123");
        assert_eq!(significant(9.996, 3), "10.0");
        assert_eq!(significant(1.5e-7, 2), "1.5 × 10⁻⁷");
        assert_eq!(significant(2.5e120, 2), "2.5 × 10¹²⁰");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(f64::NAN, 3), "–");
        assert_eq!(significant(f64::NEG_INFINITY, 3), "−∞");
    }

    #[test]
    fn errors_set_the_digits() {
        assert_eq!(with_error(3_000.123_456, Some(0.21)), "3000.12");
        assert_eq!(with_error(3_000.123_456, Some(52.0)), "3000");
        assert_eq!(with_error(3_000.123_456, None), "3000.12");
        assert_eq!(with_error(1.0, Some(f64::INFINITY)), "1.00000");
        assert_eq!(with_error(f64::NAN, Some(1.0)), "–");
    }

    #[test]
    fn scales_are_multiples_of_three() {
        assert_eq!(engineering(0.003), -3);
        assert_eq!(engineering(263_824.0), 3);
        assert_eq!(engineering(12.0), 0);
        assert_eq!(engineering(0.0), 0);
        assert_eq!(engineering(f64::NAN), 0);
        assert_eq!(label("z", "m", -3), "z (10⁻³ m)");
        assert_eq!(label("angle", "", 0), "angle");
    }

    #[test]
    fn times_are_told_in_minutes() {
        assert_eq!(duration(1.234), "1.23 s");
        assert_eq!(duration(150.0), "2 min 30 s");
    }
}
