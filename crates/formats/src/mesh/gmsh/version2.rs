//! Sections of version 2.2.

use super::{Format, Reader};
use crate::error::{ErrorKind, Result};

impl Reader<'_> {
    /// A count in a line of its own, in ASCII also in binary files (version 2).
    fn count(&mut self, what: &str) -> Result<usize> {
        let n = self.cursor.integer(what)?;
        self.cursor.next_line();
        Ok(n)
    }

    pub(super) fn read_nodes(&mut self) -> Result<()> {
        let n = self.count("the number of nodes")?;
        let room = self.cursor.plausible(n, 8);
        self.builder.mesh.vertices.reserve(room);
        self.index_of.reserve(room);
        for _ in 0..n {
            let tag = self.int("the number of a node")? as u64;
            let source = self.source(tag);
            let position = self.position()?;
            self.add_node(tag, position, source)?;
        }
        Ok(())
    }

    pub(super) fn read_elements(&mut self) -> Result<()> {
        let n = self.count("the number of elements")?;
        let mut left = n;
        while left > 0 {
            // ASCII: number, type, tags; binary: type and tag counts once for a run of elements.
            let (shape, run, tags) = if self.format == Format::Ascii {
                (None, 1, 0)
            } else {
                let code = self.int("an element type")?;
                let run = self.int("the number of elements in a run")?;
                let tags = self.int("the number of tags")?;
                let room = self.cursor.remaining() as i64;
                if run < 1 || run > left as i64 || !(0..=room).contains(&tags) {
                    return Err(self
                        .cursor
                        .error(ErrorKind::Syntax)
                        .element("run of elements")
                        .expected(format!("from 1 to {left} elements with their tags"))
                        .found(format!("{run} elements with {tags} tags")));
                }
                (Some(self.shape(code)?), run as usize, tags)
            };
            for _ in 0..run {
                let number = self.int("the number of an element")? as u64;
                let source = self.source(number);
                let (shape, tags) = match shape {
                    Some(shape) => (shape, tags),
                    None => {
                        let code = self.int("an element type")?;
                        (self.shape(code)?, self.int("the number of tags")?)
                    }
                };
                // The first tag is the physical group, 0 for none.
                let mut groups = Vec::new();
                for i in 0..tags {
                    let tag = self.int("a tag of an element")?;
                    if i == 0 && tag != 0 {
                        groups.push(tag);
                    }
                }
                let mut nodes = [0_u64; 4];
                for node in &mut nodes[..shape.vertices()] {
                    *node = self.int("a node of an element")? as u64;
                }
                self.add(shape, &nodes[..shape.vertices()], &groups, source)?;
            }
            left -= run;
        }
        Ok(())
    }
}
