use super::{Node, TomlFile};
use std::collections::BTreeMap;
use std::ops::Range;

/// Changes of single values in a text that leave everything else, comments and layout, as it was.
#[derive(Debug, Default)]
pub struct Patch {
    changes: Vec<(Range<usize>, String)>,
}

impl Patch {
    /// No change yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces a value by a number, written so that reading it gives the same bits.
    pub fn set(&mut self, node: &Node<'_>, value: f64) {
        self.set_text(node.span(), shortest(value));
    }

    /// Replaces a value by an array of numbers.
    pub fn set_array(&mut self, node: &Node<'_>, values: &[f64]) {
        let list: Vec<String> = values.iter().copied().map(shortest).collect();
        self.set_text(node.span(), format!("[{}]", list.join(", ")));
    }

    /// Replaces a stretch of the file; an empty stretch is an insertion.
    pub fn set_text(&mut self, span: Range<usize>, text: String) {
        self.changes.push((span, text));
    }

    /// The text of `file` with all changes. Of changes that overlap, the last one set wins;
    /// insertions at one place keep the order in which they were set.
    pub fn apply(&self, file: &TomlFile) -> String {
        let text = file.text();
        // Replacements by start; none of them overlap.
        let mut kept: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (i, (range, _)) in self.changes.iter().enumerate().rev() {
            if range.is_empty() || text.get(range.clone()).is_none() {
                continue;
            }
            let before = kept.range(..range.end).next_back();
            if before.is_none_or(|(_, &(end, _))| end <= range.start) {
                kept.insert(range.start, (range.end, i));
            }
        }
        let mut order: Vec<(usize, usize, usize)> =
            kept.iter().map(|(&start, &(end, i))| (start, end, i)).collect();
        for (i, (range, _)) in self.changes.iter().enumerate() {
            let inside = |(&start, &(end, _)): (&usize, &(usize, usize))| {
                start < range.start && range.start < end
            };
            let replaced = kept.range(..range.start).next_back().is_some_and(inside);
            if range.is_empty() && text.is_char_boundary(range.start) && !replaced {
                order.push((range.start, range.start, i));
            }
        }
        order.sort_unstable();
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end, i) in order {
            result.push_str(&text[done..start]);
            result.push_str(&self.changes[i].1);
            done = end;
        }
        result.push_str(&text[done..]);
        result
    }
}

/// A number in as few digits as give the same bits again, as a TOML float.
pub fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    // Debug prints the shortest digits that round-trip, always with a point or an exponent.
    format!("{value:?}")
}
