//! A changed model as the user's own MJCF with only the changed numbers replaced.

use super::xml::{Document, ElementId};
use super::{Read, build_all, parse_mjcf};
use crate::error::{Error, ErrorKind, Result};
use crate::toml_reader::shortest;
use crate::write::edited;
use costate_model::rigid::JointKind;
use costate_model::{Leaf, Model};
use std::ops::Range;
use std::path::Path;

/// The text of an MJCF file with the values of `model`, which has the same structure: only numbers
/// that differ are replaced, comments and layout stay. A number that comes from a default class is
/// written to the element itself. `target` is where the text will stand.
///
/// # Errors
/// A leaf that the file cannot hold in its notation (another view of an inertia, an element in a frame,
/// a replica or an included file), named with its place.
pub fn mjcf_with_values(path: &Path, text: &str, model: &Model, target: &Path) -> Result<String> {
    let document = Document::parse(path, text, "mujoco")?;
    let read = build_all(&document)?;
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (_, leaf) in model.leaves.iter() {
        if is_start(leaf) {
            continue;
        }
        let old = read.model.leaves.find(&leaf.path).map(|id| read.model.leaves.get(id));
        match old {
            Ok(old) if old.values == leaf.values => {}
            Ok(_) => edits.push(edit(&document, &read, text, leaf)?),
            Err(_) => return Err(held(path, leaf, "the file gives this quantity in another view")),
        }
    }
    let out = edited(text, edits);
    verify(model, &parse_mjcf(target, &out)?, target)?;
    Ok(out)
}

/// Whether a leaf is of the state at the start, which is no part of the file.
pub(crate) fn is_start(leaf: &Leaf) -> bool {
    [".qpos", ".qvel", ".act"].iter().any(|name| leaf.path.ends_with(name))
}

pub(crate) fn held(path: &Path, leaf: &Leaf, why: &str) -> Error {
    Error::new(ErrorKind::Unsupported)
        .in_file(path)
        .element(&leaf.path)
        .expected("a leaf that the file can hold")
        .found(why)
        .advice("take its value from the result file")
}

/// The replacement that sets a leaf.
fn edit(
    document: &Document,
    read: &Read,
    text: &str,
    leaf: &Leaf,
) -> Result<(Range<usize>, String)> {
    let path = &document.files[0].path;
    let no = |why: &str| held(path, leaf, why);
    let (kind, rest) = leaf.path.split_once('.').unwrap_or(("", &leaf.path));
    let (name, attribute) = rest.rsplit_once('.').unwrap_or(("", rest));
    let mut values = leaf.values.clone();
    if kind == "option" {
        let Some(option) = document.named(0, "option").last() else {
            let root = document.element(0).start;
            let end = text[root..].find('>').map(|i| root + i + 1);
            let end = end.ok_or_else(|| no("the file has no section for it"))?;
            return Ok((end..end, format!("\n  <option {attribute}=\"{}\"/>", list(&values))));
        };
        return set(document, text, option, attribute, &values, leaf);
    }
    let origin = |(k, n): &&(&'static str, String)| *k == kind && n == name;
    let id = read.origins.iter().find(|(key, _)| origin(key)).map(|(_, &id)| id);
    let id = id.ok_or_else(|| no("the element has no place in the file"))?;
    if read.origins.values().filter(|&&other| other == id).count() > 1 {
        return Err(no("the element is replicated"));
    }
    let (mut id, mut attribute) = (id, attribute);
    if kind == "body"
        && matches!(attribute, "mass" | "ipos" | "iquat" | "diaginertia" | "fullinertia")
    {
        let inertial = document.named(id, "inertial").next();
        id = inertial.ok_or_else(|| no("the body has no inertial of its own"))?;
        attribute = attribute.strip_prefix('i').unwrap_or(attribute);
    }
    if kind == "joint" && read.degree {
        let a = read.model.articulation.as_ref();
        let joint = a.and_then(|a| a.joint(name).map(|j| &a.joints[j]));
        let turns = joint.is_some_and(|j| match attribute {
            "range" => j.limited && matches!(j.kind, JointKind::Hinge | JointKind::Ball),
            "ref" | "springref" => j.kind == JointKind::Hinge,
            _ => false,
        });
        if turns {
            values.iter_mut().for_each(|x| *x *= 180.0 / std::f64::consts::PI);
        }
    }
    set(document, text, id, attribute, &values, leaf)
}

/// Sets an attribute: its first numbers where it is there, else all of it behind the element's name.
pub(crate) fn set(
    document: &Document,
    text: &str,
    id: ElementId,
    attribute: &str,
    values: &[f64],
    leaf: &Leaf,
) -> Result<(Range<usize>, String)> {
    let element = document.element(id);
    if element.file != 0 {
        let file = &document.files[element.file].path;
        return Err(held(file, leaf, "the element stands in an included file"));
    }
    let mut new = list(values);
    if let Some(found) = document.attribute(id, attribute) {
        for kept in text[found.span.clone()].split_ascii_whitespace().skip(values.len()) {
            new += " ";
            new += kept;
        }
        return Ok((found.span.clone(), new));
    }
    let at = element.start + 1 + element.name.len();
    Ok((at..at, format!(" {attribute}=\"{new}\"")))
}

/// Numbers in the shortest words that read back the same.
pub(crate) fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|x| shortest(*x)).collect();
    words.join(" ")
}

/// Compares all leaves of what was written with what they should be; angles in degrees are not the same to
/// the last bit.
pub(crate) fn verify(model: &Model, new: &Model, target: &Path) -> Result<()> {
    for (_, leaf) in model.leaves.iter().filter(|(_, leaf)| !is_start(leaf)) {
        let found = new.get(&leaf.path).unwrap_or(&[]);
        let size = leaf.values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let same = found.len() == leaf.values.len()
            && found.iter().zip(&leaf.values).all(|(a, b)| (a - b).abs() <= 1e-13 * size);
        if !same {
            return Err(held(target, leaf, "its notation there (a frame, say) cannot give it"));
        }
    }
    Ok(())
}
