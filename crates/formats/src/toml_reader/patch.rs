use super::{Node, TomlFile};
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

    /// The text of `file` with all changes. Of changes that overlap, the last one set wins.
    pub fn apply(&self, file: &TomlFile) -> String {
        let text = file.text();
        let mut kept: Vec<&(Range<usize>, String)> = Vec::new();
        for change in self.changes.iter().rev() {
            let r = &change.0;
            let overlaps = |o: &Range<usize>| r.start < o.end && o.start < r.end;
            if text.get(r.clone()).is_some() && !kept.iter().any(|k| overlaps(&k.0)) {
                kept.push(change);
            }
        }
        kept.reverse();
        kept.sort_by_key(|c| c.0.start);
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        for (range, new) in kept {
            result.push_str(&text[done..range.start]);
            result.push_str(new);
            done = range.end;
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
