//! Sections of version 4.1.

use super::Reader;
use crate::error::{Error, ErrorKind, Result};

/// Physical groups that one entity can be in.
const MAX_GROUPS: usize = 64;

impl Reader<'_> {
    pub(super) fn read_entities(&mut self) -> Result<()> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = self.size("the number of entities")?;
        }
        for (dimension, count) in (0..).zip(counts) {
            for _ in 0..count {
                let tag = self.int("the tag of an entity")?;
                for _ in 0..if dimension == 0 { 3 } else { 6 } {
                    self.real("the bounding box of an entity")?;
                }
                let mut groups = Vec::new();
                for _ in 0..self.size("the number of physical groups")? {
                    groups.push(self.int("the number of a physical group")?);
                }
                if dimension > 0 {
                    for _ in 0..self.size("the number of bounding entities")? {
                        self.int("the tag of a bounding entity")?;
                    }
                }
                self.physicals.insert((dimension, tag), groups);
            }
        }
        Ok(())
    }

    pub(super) fn read_nodes_in_blocks(&mut self) -> Result<()> {
        let blocks = self.size("the number of node blocks")?;
        for _ in 0..3 {
            self.size("the number, smallest and largest tag of nodes")?;
        }
        for _ in 0..blocks {
            let dimension = self.int("the dimension of an entity")?;
            self.int("the tag of an entity")?;
            let parametric = self.int("whether nodes are parametric")?;
            let n = self.size("the number of nodes in the block")?;
            let mut tags = Vec::new();
            for _ in 0..n {
                tags.push(self.size("the tag of a node")?);
            }
            for tag in tags {
                let position = self.position()?;
                let source = self.source(tag);
                // A negative or large dimension has no meaning; no file can make this loop long.
                for _ in 0..if parametric == 0 { 0 } else { dimension.clamp(0, 3) } {
                    self.real("a parametric coordinate")?;
                }
                self.add_node(tag, position, source)?;
            }
        }
        Ok(())
    }

    pub(super) fn read_elements_in_blocks(&mut self) -> Result<()> {
        let blocks = self.size("the number of element blocks")?;
        for _ in 0..3 {
            self.size("the number, smallest and largest tag of elements")?;
        }
        for _ in 0..blocks {
            let dimension = self.int("the dimension of an entity")?;
            let tag = self.int("the tag of an entity")?;
            let code = self.int("an element type")?;
            let shape = self.shape(code)?;
            let n = self.size("the number of elements in the block")?;
            let groups = self.physicals.get(&(dimension, tag)).cloned().unwrap_or_default();
            // Each element is entered into every group: a bound on what a small file can ask for.
            if groups.len() > MAX_GROUPS {
                return Err(self.too_many_groups(groups.len()));
            }
            for _ in 0..n {
                let number = self.size("the tag of an element")?;
                let source = self.source(number);
                let mut nodes = [0_u64; 4];
                for node in &mut nodes[..shape.vertices()] {
                    *node = self.size("a node of an element")?;
                }
                self.add(shape, &nodes[..shape.vertices()], &groups, source)?;
            }
        }
        Ok(())
    }

    fn too_many_groups(&self, count: usize) -> Error {
        self.cursor
            .error(ErrorKind::Unsupported)
            .expected(format!("at most {MAX_GROUPS} physical groups of one entity"))
            .found(format!("{count}"))
    }
}
