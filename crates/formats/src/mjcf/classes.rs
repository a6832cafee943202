//! Default classes.

use super::actuator::ActuatorClass;
use super::attributes::Reader;
use super::compiler::Compiler;
use super::geom::{GeomClass, SiteClass};
use super::joint::JointClass;
use super::mesh::MeshClass;
use super::others::{TendonClass, read_equality, read_pair};
use super::xml::{Document, ElementId};
use crate::error::{ErrorKind, Result, suggestion};
use costate_model::rigid::{EqualitySettings, PairSettings};
use std::collections::HashMap;

/// What elements of a class start from.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub joint: JointClass,
    pub geom: GeomClass,
    pub site: SiteClass,
    pub pair: PairSettings,
    pub equality: EqualitySettings,
    pub tendon: TendonClass,
    pub actuator: ActuatorClass,
    pub mesh: MeshClass,
}

impl Class {
    fn read(&mut self, r: &Reader<'_>, compiler: &Compiler) -> Result<()> {
        for child in r.children() {
            match child.tag() {
                "joint" => self.joint.read(&child)?,
                "geom" => self.geom.read(&child, compiler)?,
                "site" => self.site.read(&child, compiler)?,
                "pair" => read_pair(&mut self.pair, &child)?,
                "equality" => read_equality(&mut self.equality, &child)?,
                "tendon" => self.tendon.read(&child)?,
                "mesh" => self.mesh.read(&child)?,
                "general" | "motor" | "position" | "velocity" | "intvelocity" | "damper"
                | "cylinder" | "muscle" => self.actuator.read(&child)?,
                // Nested classes have their turn; the rest does not affect motion.
                _ => {}
            }
        }
        Ok(())
    }
}

/// All default classes by name.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    list: Vec<Class>,
    by_name: HashMap<String, usize>,
}

impl Classes {
    pub fn new() -> Self {
        Self { list: vec![Class::default()], by_name: HashMap::from([("main".into(), 0)]) }
    }

    /// Reads a `default` section.
    pub fn read(&mut self, document: &Document, id: ElementId, compiler: &Compiler) -> Result<()> {
        // Pairs of an element and its class's parent; a class is read before those nested in it.
        let mut stack: Vec<(ElementId, Option<usize>)> = vec![(id, None)];
        while let Some((id, parent)) = stack.pop() {
            let r = Reader::new(document, id);
            let index = match parent {
                None => {
                    if let Some(name) = r.text("class")
                        && name != "main"
                    {
                        self.by_name.entry(name.to_owned()).or_insert(0);
                    }
                    0
                }
                Some(parent) => {
                    let name = r.required("class")?;
                    if self.by_name.contains_key(name) {
                        return Err(r
                            .wrong("class", ErrorKind::Duplicate)
                            .expected("a class name of its own")
                            .found(format!("{name:?} a second time")));
                    }
                    self.list.push(self.list[parent].clone());
                    self.by_name.insert(name.to_owned(), self.list.len() - 1);
                    self.list.len() - 1
                }
            };
            self.list[index].read(&r, compiler)?;
            let first = stack.len();
            stack.extend(document.named(id, "default").map(|child| (child, Some(index))));
            stack[first..].reverse();
        }
        Ok(())
    }

    /// The class that an element names in `attribute`, else the one of the name `otherwise`, else
    /// the main class.
    pub fn find(&self, r: &Reader<'_>, attribute: &str, otherwise: &str) -> Result<&Class> {
        let name = match r.text(attribute) {
            Some(name) => name,
            None if otherwise.is_empty() => return Ok(&self.list[0]),
            None => otherwise,
        };
        match self.by_name.get(name) {
            Some(&index) => Ok(&self.list[index]),
            None => {
                let e = r
                    .wrong(attribute, ErrorKind::UnknownName)
                    .expected("the name of a default class")
                    .found(format!("{name:?}"));
                Err(match suggestion(name, self.by_name.keys().map(String::as_str)) {
                    Some(advice) => e.advice(advice),
                    None => e,
                })
            }
        }
    }
}
