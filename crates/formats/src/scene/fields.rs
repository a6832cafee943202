//! Values over elements: one for all, one for each, or one for each named group.

use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section};
use costate_model::Region;
use std::collections::BTreeMap;

/// The key that, in a table of groups, gives the value of all elements in no group.
pub(super) const DEFAULT: &str = "default";

/// What values range over.
pub(super) struct Over<'a> {
    /// What one element is called.
    pub element: &'static str,
    /// How many there are.
    pub count: usize,
    /// The groups that a table may name; none where values are not given by group.
    pub groups: BTreeMap<&'a str, &'a [u32]>,
}

impl<'a> Over<'a> {
    pub fn new(
        element: &'static str,
        count: usize,
        regions: &'a BTreeMap<String, Region>,
        part: fn(&Region) -> &Vec<u32>,
    ) -> Self {
        let groups = regions.iter().map(|(n, r)| (n.as_str(), part(r).as_slice())).collect();
        Self { element, count, groups }
    }

    pub fn without_groups(element: &'static str, count: usize) -> Self {
        Self { element, count, groups: BTreeMap::new() }
    }

    /// The values under `key`, or `default` for all.
    pub fn or(&self, section: &Section<'_>, key: &str, default: f64) -> Result<Vec<f64>> {
        section.or(key, vec![default], |n| self.read(n))
    }

    /// One number, or as many as there are elements.
    pub fn read(&self, node: &Node<'_>) -> Result<Vec<f64>> {
        if node.is_table() {
            return self.read_groups(node);
        }
        if !node.is_array() {
            let expected =
                format!("a finite number or an array of one finite number per {}", self.element);
            return Ok(vec![node.number().map_err(|e| e.expected(expected))?]);
        }
        let values = node.numbers()?;
        if values.len() != self.count || values.is_empty() {
            return Err(node
                .error(ErrorKind::WrongLength)
                .expected(format!("{} values, one per {}", self.count, self.element))
                .found(format!("{}", values.len())));
        }
        Ok(values)
    }

    /// As [`read`](Self::read), for masses. The model looks for vertices without mass before it
    /// looks at bounds, and would point to the vertex instead of the number.
    pub fn read_masses(&self, node: &Node<'_>) -> Result<Vec<f64>> {
        let values = self.read(node)?;
        match values.iter().position(|&m| m < 0.0) {
            None => Ok(values),
            Some(i) => Err(node
                .error(ErrorKind::OutOfBounds)
                .expected("at least 0")
                .found(format!("{} for {} {i}", values[i], self.element))),
        }
    }

    fn read_groups(&self, node: &Node<'_>) -> Result<Vec<f64>> {
        if self.groups.is_empty() {
            return Err(node.unexpected(format!(
                "a number or an array of one number per {} (there are no regions to give values by)",
                self.element
            )));
        }
        let table = node.section()?;
        let rest = table.opt(DEFAULT, Node::number)?;
        let mut values = vec![None; self.count];
        for (name, value) in table.all() {
            if name == DEFAULT {
                continue;
            }
            let Some(members) = self.groups.get(name.as_str()) else {
                let known: Vec<&str> = self.groups.keys().copied().collect();
                let e = value.error(ErrorKind::UnknownName).expected("the name of a region");
                let e = e.found(format!("\"{name}\""));
                return Err(match crate::error::suggestion(&name, known) {
                    Some(advice) => e.advice(advice),
                    None => e,
                });
            };
            let number = value.number()?;
            for &i in *members {
                let slot: Option<&mut Option<f64>> = values.get_mut(i as usize);
                // Regions hold indices of existing elements only.
                let Some(slot) = slot else { continue };
                if slot.replace(number).is_some() {
                    return Err(value
                        .error(ErrorKind::Conflict)
                        .expected("regions without common elements")
                        .found(format!("{} {i} in two of them", self.element)));
                }
            }
        }
        let missing = values.iter().position(Option::is_none);
        match (missing, rest) {
            (Some(i), None) => Err(node
                .error(ErrorKind::Missing)
                .expected(format!("a value for every {}", self.element))
                .found(format!("none for {i}, which is in no region of the table"))
                .advice("add default = …")),
            // Elements in no region have the default; with none missing it is not used.
            (_, rest) => {
                let rest = rest.unwrap_or(0.0);
                Ok(values.into_iter().map(|v| v.unwrap_or(rest)).collect())
            }
        }
    }
}
