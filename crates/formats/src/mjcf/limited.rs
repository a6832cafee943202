//! Whether a range is in force.

use super::attributes::Reader;
use super::compiler::Compiler;
use crate::error::{ErrorKind, Result};

/// A range with MJCF's switch for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limited {
    pub range: [f64; 2],
    /// In force, not in force, or (none) where a range is given.
    switch: Option<bool>,
}

impl Limited {
    /// Reads the range and its switch where they are given.
    pub fn read(&mut self, r: &Reader<'_>, range: &str, switch: &str) -> Result<()> {
        r.set(range, &mut self.range)?;
        let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        if let Some(value) = r.choice(switch, &words)? {
            self.switch = value;
        }
        Ok(())
    }

    /// The range where it is in force.
    pub fn in_force(
        &self,
        r: &Reader<'_>,
        compiler: &Compiler,
        range: &str,
        switch: &str,
    ) -> Result<Option<[f64; 2]>> {
        let given = self.range != [0.0; 2];
        if self.switch.is_none() && given && !compiler.autolimits {
            return Err(r
                .wrong(range, ErrorKind::Missing)
                .expected(format!("{switch}=\"true\" or \"false\""))
                .found("a range alone, with autolimits=\"false\" in the compiler section"));
        }
        let [low, high] = self.range;
        if !self.switch.unwrap_or(low < high) {
            return Ok(None);
        }
        if low >= high {
            return Err(r
                .wrong(range, ErrorKind::OutOfBounds)
                .expected(format!("{range} with first < second"))
                .found(format!("{low} {high}")));
        }
        Ok(Some(self.range))
    }
}
