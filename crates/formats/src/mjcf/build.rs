//! The state of reading a model, and what its elements refer to.

use super::attributes::Reader;
use super::classes::{Class, Classes};
use super::compiler::Compiler;
use super::field::FieldAsset;
use super::mesh::MeshAsset;
use super::pose::Pose;
use super::xml::{Document, ElementId};
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{Articulation, Unsupported};
use costate_model::{LeafId, Model};
use std::collections::{HashMap, HashSet};

/// Most elements of one kind that a model may have, replicas included.
pub(super) const MAX_ELEMENTS: usize = 200_000;

/// A model while its file is read.
pub(super) struct Builder<'a> {
    pub document: &'a Document,
    pub compiler: Compiler,
    pub classes: Classes,
    pub model: Model,
    pub articulation: Articulation,
    /// Meshes by name, as the assets say them, with their place in the articulation once used.
    pub meshes: HashMap<String, MeshAsset>,
    /// Height fields by name, likewise.
    pub fields: HashMap<String, FieldAsset>,
    /// Suffixes of the replicas of a name, by kind and name.
    pub replicas: HashMap<(&'static str, String), Vec<String>>,
    /// The element of each kind and name.
    pub origins: HashMap<(&'static str, String), ElementId>,
    /// The frames and replicas around the element that is being added.
    pub frame: Pose,
    /// Those of each kind and name, where there are any.
    pub frames: HashMap<(&'static str, String), Pose>,
    /// Density and viscosity of the surrounding fluid, and its velocity.
    pub fluid: ([f64; 2], [f64; 3]),
    /// Actuators of the file that are left out.
    pub skipped_actuators: usize,
    /// Indices by kind and name.
    names: HashMap<(&'static str, String), usize>,
    /// Names that the file gives, by kind, so that made-up ones stay clear of them.
    given: HashSet<(&'static str, String)>,
}

impl<'a> Builder<'a> {
    pub fn new(document: &'a Document, model: Model) -> Self {
        let mut given = HashSet::new();
        for element in &document.elements {
            if let Some(name) = element.attributes.iter().find(|a| a.name == "name")
                && let Some(kind) = kind_of(&element.name)
            {
                given.insert((kind, name.value.clone()));
            }
        }
        let mut articulation = Articulation::new();
        articulation.inertia = costate_model::rigid::InertiaRules::default();
        let names = HashMap::from([(("body", "world".to_owned()), 0)]);
        Self {
            document,
            compiler: Compiler::default(),
            classes: Classes::new(),
            model,
            articulation,
            meshes: HashMap::new(),
            fields: HashMap::new(),
            replicas: HashMap::new(),
            origins: HashMap::new(),
            frame: Pose::IDENTITY,
            frames: HashMap::new(),
            fluid: ([0.0; 2], [0.0; 3]),
            skipped_actuators: 0,
            names,
            given,
        }
    }

    /// The class of an element.
    pub fn class(&self, r: &Reader<'_>, inherited: &str) -> Result<&Class> {
        self.classes.find(r, "class", inherited)
    }

    /// Notes something that affects motion and is not simulated; the first of each name is kept.
    pub fn unsupported(&mut self, r: &Reader<'_>, name: &str, about: &str) {
        if self.articulation.unsupported.iter().all(|u| u.name != name) {
            self.articulation.unsupported.push(Unsupported {
                name: name.to_owned(),
                place: self.document.place(r.id),
                about: format!("{} {about}", self.document.label(r.id)),
            });
        }
    }

    /// Notes a sensor that is not simulated.
    pub fn skip_sensor(&mut self, r: &Reader<'_>, name: String) -> Result<()> {
        self.articulation.skipped_sensors.push(Unsupported {
            name,
            place: self.document.place(r.id),
            about: format!("sensors of the kind {}", r.tag()),
        });
        Ok(())
    }

    /// The name of an element that becomes number `index` of its kind: its own with the suffix of a
    /// replica, or one made of the kind and the number.
    pub fn name(
        &mut self,
        r: &Reader<'_>,
        kind: &'static str,
        suffix: &str,
        index: usize,
    ) -> String {
        let name = match r.text("name") {
            Some(name) if !name.is_empty() => format!("{name}{suffix}"),
            _ => {
                let mut name = format!("{kind}{index}");
                while self.given.contains(&(kind, name.clone())) {
                    name.push('_');
                }
                name
            }
        };
        self.names.entry((kind, name.clone())).or_insert(index);
        self.origins.entry((kind, name.clone())).or_insert(r.id);
        if self.frame != Pose::IDENTITY {
            self.frames.entry((kind, name.clone())).or_insert(self.frame);
        }
        name
    }

    /// The two numbers of a leaf that holds a range.
    pub fn pair_of(&self, id: LeafId) -> [f64; 2] {
        let leaf = self.model.leaves.get(id);
        [leaf.at(0), leaf.at(leaf.values.len() - 1)]
    }

    fn find(
        &self,
        r: &Reader<'_>,
        attribute: &str,
        kind: &'static str,
        suffix: &str,
    ) -> Result<usize> {
        let name = r.required(attribute)?;
        // Within replicas a name means that of the same replica.
        let find = |name: &str| {
            let own = self.names.get(&(kind, format!("{name}{suffix}")));
            own.or_else(|| self.names.get(&(kind, name.to_owned()))).copied()
        };
        let names = || {
            let known = self.names.keys().filter(|(k, _)| *k == kind).map(|(_, name)| name.clone());
            let mut known: Vec<String> = known.collect();
            known.sort();
            known
        };
        r.lookup(attribute, kind, name, find, &names)
    }

    pub fn body(&self, r: &Reader<'_>, attribute: &str, suffix: &str) -> Result<usize> {
        self.find(r, attribute, "body", suffix)
    }
    pub fn joint(&self, r: &Reader<'_>, attribute: &str, suffix: &str) -> Result<usize> {
        self.find(r, attribute, "joint", suffix)
    }
    pub fn geom(&self, r: &Reader<'_>, attribute: &str, suffix: &str) -> Result<usize> {
        self.find(r, attribute, "geom", suffix)
    }
    pub fn site(&self, r: &Reader<'_>, attribute: &str, suffix: &str) -> Result<usize> {
        self.find(r, attribute, "site", suffix)
    }
    pub fn tendon(&self, r: &Reader<'_>, attribute: &str, suffix: &str) -> Result<usize> {
        self.find(r, attribute, "tendon", suffix)
    }
    pub fn actuator(&self, r: &Reader<'_>, attribute: &str, suffix: &str) -> Result<usize> {
        self.find(r, attribute, "actuator", suffix)
    }

    /// Whether a sensor's actuator may be one that was left out.
    pub fn is_skipped_actuator(&self, r: &Reader<'_>) -> bool {
        let name = r.text("actuator").unwrap_or_default();
        self.skipped_actuators > 0 && !self.names.contains_key(&("actuator", name.to_owned()))
    }

    /// Refuses more elements than a model may have.
    pub fn check_count(&self, r: &Reader<'_>) -> Result<()> {
        let a = &self.articulation;
        let counts = [
            a.bodies.len(),
            a.joints.len(),
            a.geoms.len(),
            a.sites.len(),
            a.tendons.len(),
            a.actuators.len(),
            a.equalities.len(),
            a.sensors.len(),
        ];
        if counts.iter().all(|&n| n <= MAX_ELEMENTS) {
            return Ok(());
        }
        Err(r
            .error(ErrorKind::TooLarge)
            .expected(format!("at most {MAX_ELEMENTS} elements of a kind")))
    }
}

/// The kind of names that an element's name belongs to.
fn kind_of(tag: &str) -> Option<&'static str> {
    Some(match tag {
        "body" => "body",
        "joint" | "freejoint" => "joint",
        "geom" => "geom",
        "site" => "site",
        "fixed" | "spatial" => "tendon",
        "connect" | "weld" => "equality",
        "pair" => "pair",
        "general" | "motor" | "position" | "velocity" | "intvelocity" | "damper" | "cylinder"
        | "muscle" => "actuator",
        _ => return None,
    })
}
