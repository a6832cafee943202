//! Tables and numbers for people.

/// A table with aligned columns; the first row is the header.
pub fn render(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths).map(|(cell, w)| {
                format!("{cell}{}", " ".repeat(w.saturating_sub(cell.chars().count())))
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
        })
        .collect()
}

/// A number with six significant digits, in scientific notation where that is shorter to read.
pub fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let size = x.abs();
    if !(1e-3..1e7).contains(&size) {
        return format!("{x:.5e}");
    }
    let digits = (5 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// A leaf's values: all of up to four, else the range.
pub fn values(values: &[f64]) -> String {
    match values {
        [one] => number(*one),
        few if few.len() <= 4 => {
            format!("[{}]", few.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "))
        }
        many => {
            let low = many.iter().fold(f64::INFINITY, |a, b| a.min(*b));
            let high = many.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            if low == high {
                format!("{} x {}", many.len(), number(low))
            } else {
                format!("{} values in {} .. {}", many.len(), number(low), number(high))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-9.80665, "-9.80665"),
            (263_824.0, "263824"),
            (1e-4, "1.00000e-4"),
            (0.05, "0.05"),
        ] {
            assert_eq!(number(x), text);
        }
        assert_eq!(values(&[1.0, 2.0]), "[1, 2]");
        assert_eq!(values(&[1.0; 9]), "9 x 1");
    }

    #[test]
    fn columns_align() {
        let rows = [vec!["a".to_string(), "b".into()], vec!["long".into(), "c".into()]];
        assert_eq!(render(&rows), ["a     b", "long  c"]);
    }
}
