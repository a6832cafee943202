//! Which elements and attributes there are.

use super::xml::{Document, ElementId};
use crate::error::{ErrorKind, Result, suggestion};
use std::collections::HashMap;

/// Attributes of each kind of element, by its place: `body/joint`, `tendon/fixed/joint`.
struct Schema {
    attributes: HashMap<&'static str, Vec<&'static str>>,
    children: HashMap<&'static str, Vec<&'static str>>,
}

impl Schema {
    fn new() -> Self {
        let mut families: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut schema = Self { attributes: HashMap::new(), children: HashMap::new() };
        for line in include_str!("schema.txt").lines() {
            let Some((place, rest)) = line.split_once(':') else { continue };
            let mut attributes = Vec::new();
            for word in rest.split_ascii_whitespace() {
                match families.get(word) {
                    Some(family) => attributes.extend(family),
                    None => attributes.push(word),
                }
            }
            if place.starts_with('@') {
                families.insert(place, attributes);
                continue;
            }
            schema.attributes.insert(place, attributes);
            let (parent, name) = place.rsplit_once('/').unwrap_or(("", place));
            schema.children.entry(parent).or_default().push(name);
        }
        schema
    }

    fn knows(&self, place: &str) -> Option<&'static str> {
        self.attributes.get_key_value(place).map(|(&key, _)| key)
    }
}

/// The place of a child, given its parent's place. Elements of the kinematic tree nest in each
/// other, and so do default classes.
fn place_of(schema: &Schema, parent: &'static str, name: &str) -> Option<&'static str> {
    let inside = match parent {
        "mujoco" => "",
        "body/frame" | "body/replicate" => "body",
        place => place,
    };
    match (inside, name) {
        ("", "worldbody") => Some("worldbody"),
        ("", "body") => None,
        ("worldbody" | "body", "body") => Some("body"),
        ("default", "default") => Some("default"),
        ("", name) if name != "mujoco" => schema.knows(name),
        ("worldbody", name) => match name {
            "inertial" | "joint" | "freejoint" => None,
            _ => schema.knows(&format!("body/{name}")),
        },
        (inside, name) => schema.knows(&format!("{inside}/{name}")),
    }
}

/// Checks that every element and attribute is one of MJCF's.
///
/// # Errors
/// The first that is not.
pub(super) fn check(document: &Document) -> Result<()> {
    let schema = Schema::new();
    let mut stack: Vec<(ElementId, &'static str)> = vec![(0, "mujoco")];
    while let Some((id, place)) = stack.pop() {
        let element = document.element(id);
        let allowed = if place == "worldbody" {
            &[][..]
        } else {
            schema.attributes.get(place).map_or(&[][..], Vec::as_slice)
        };
        if let Some(attribute) = element.attributes.iter().find(|a| !allowed.contains(&&*a.name)) {
            let e = document
                .error_attribute(id, &attribute.name, ErrorKind::UnknownKey)
                .element(document.label(id))
                .found(format!("the unknown attribute {:?}", attribute.name));
            return Err(match suggestion(&attribute.name, allowed.iter().copied()) {
                Some(advice) => e.advice(advice),
                None => e,
            });
        }
        for &child in element.children.iter().rev() {
            let name = &document.element(child).name;
            let Some(at) = place_of(&schema, place, name) else {
                let e = document
                    .error(child, ErrorKind::UnknownKey)
                    .found(format!("the element is unknown in {}", document.label(id)));
                let parent = match place {
                    "mujoco" => "",
                    "worldbody" | "body/frame" | "body/replicate" => "body",
                    place => place,
                };
                let names = schema.children.get(parent).map_or(&[][..], Vec::as_slice);
                return Err(match crate::error::nearest(name, names.iter().copied()) {
                    Some(best) => e.advice(format!("did you mean \"{best}\"?")),
                    None => e,
                });
            };
            stack.push((child, at));
        }
    }
    Ok(())
}
