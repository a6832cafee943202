//! A changed model as the user's own MJCF with only the changed numbers replaced.

use super::pose::{product, rotate};
use super::xml::{Document, ElementId};
use super::{Read, build_all, parse_mjcf};
use crate::error::{Error, ErrorKind, Result};
use crate::toml_reader::shortest;
use crate::write::edited;
use costate_model::rigid::JointKind;
use costate_model::{Leaf, Model};
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

/// The text of an MJCF file with the values of `model`, which has the same structure: only numbers
/// that differ are replaced, comments and layout stay. A number that comes from a default class is
/// written to the element itself, one in a frame in that frame's axes. Of included files in which a number changes
/// the contents take the place of their include. `target` is where the text will stand.
///
/// # Errors
/// A leaf that the file cannot hold in its notation (another view of an inertia, replicas with values of their own),
/// named with its place.
pub fn mjcf_with_values(path: &Path, text: &str, model: &Model, target: &Path) -> Result<String> {
    let document = Document::parse(path, text, "mujoco")?;
    let read = build_all(&document)?;
    let mut edits: Vec<Vec<Edit>> = vec![Vec::new(); document.files.len()];
    // Replicas of one element are written once.
    let mut done = HashSet::new();
    for (_, leaf) in model.leaves.iter() {
        if is_start(leaf) {
            continue;
        }
        let old = read.model.leaves.find(&leaf.path).map(|id| read.model.leaves.get(id));
        match old {
            Ok(old) if old.values == leaf.values => {}
            Ok(_) => {
                let (id, attribute, values) = wish(&document, &read, model, leaf)?;
                if done.insert((id, attribute)) {
                    let edit = match id {
                        Some(id) => set(&document, id, attribute, &values),
                        None => new_option(&document, attribute, &values, leaf)?,
                    };
                    edits[id.map_or(0, |id| document.element(id).file)].push(edit);
                }
            }
            Err(_) => return Err(held(path, leaf, "the file gives this quantity in another view")),
        }
    }
    let out = put_together(&document, edits);
    verify(model, &parse_mjcf(target, &out)?, target)?;
    Ok(out)
}

/// The main file with the edits of each file: what includes an edited file gets its contents.
fn put_together(document: &Document, mut edits: Vec<Vec<Edit>>) -> String {
    // A file comes before those that it includes.
    for (n, file) in document.files.iter().enumerate().skip(1).rev() {
        let own = std::mem::take(&mut edits[n]);
        let Some((parent, place)) = file.included.clone() else { continue };
        if !own.is_empty() {
            let from = file.content.start;
            let within = |(range, new): Edit| (range.start - from..range.end - from, new);
            let content =
                edited(&file.text[file.content.clone()], own.into_iter().map(within).collect());
            edits[parent].push((place, content));
        }
    }
    edited(&document.files[0].text, edits.swap_remove(0))
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

/// The element and attribute that a leaf is, and its numbers there; no element for an option of a file that has
/// no section of them.
fn wish<'a>(
    document: &Document,
    read: &Read,
    model: &Model,
    leaf: &'a Leaf,
) -> Result<(Option<ElementId>, &'a str, Vec<f64>)> {
    let path = &document.files[0].path;
    let no = |why: &str| held(path, leaf, why);
    let (kind, rest) = leaf.path.split_once('.').unwrap_or(("", &leaf.path));
    let (name, mut attribute) = rest.rsplit_once('.').unwrap_or(("", rest));
    let mut values = leaf.values.clone();
    if kind == "option" {
        return Ok((document.named(0, "option").last(), attribute, values));
    }
    let origin = |(k, n): &&(&'static str, String)| *k == kind && n == name;
    let found = read.origins.iter().find(|(key, _)| origin(key));
    let Some((key, &(mut id))) = found else {
        return Err(no("the element has no place in the file"));
    };
    if matches!(attribute, "pos" | "quat") && document.attribute(id, "fromto").is_some() {
        return Err(no("the element is placed by its end points, fromto, within a frame"));
    }
    values = in_frame(read, key, attribute, values);
    for (other, _) in read.origins.iter().filter(|(other, place)| **place == id && *other != key) {
        let own = model.get(&format!("{}.{}.{attribute}", other.0, other.1)).unwrap_or(&[]);
        let own = in_frame(read, other, attribute, own.to_vec());
        let size = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let same = own.len() == values.len()
            && own.iter().zip(&values).all(|(a, b)| (a - b).abs() <= 1e-13 * size);
        if !same {
            return Err(no("its replicas differ in it; `tied` makes them one unknown"));
        }
    }
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
    Ok((Some(id), attribute, values))
}

/// A place or direction as seen from the frames and replicas around its element; other numbers as they are.
fn in_frame(
    read: &Read,
    key: &(&'static str, String),
    attribute: &str,
    values: Vec<f64>,
) -> Vec<f64> {
    let Some(frame) = read.frames.get(key) else { return values };
    let back = [frame.quat[0], -frame.quat[1], -frame.quat[2], -frame.quat[3]];
    let point = |p: &[f64]| rotate(back, [0, 1, 2].map(|i| p[i] - frame.pos[i]));
    match (attribute, values.len()) {
        ("pos", 3) => point(&values).to_vec(),
        ("axis", 3) => rotate(back, [values[0], values[1], values[2]]).to_vec(),
        ("quat", 4) => product(back, [values[0], values[1], values[2], values[3]]).to_vec(),
        _ => values,
    }
}

/// A range of a file and what takes its place.
type Edit = (Range<usize>, String);

/// The edit that adds a section of options with one number.
fn new_option(document: &Document, attribute: &str, values: &[f64], leaf: &Leaf) -> Result<Edit> {
    let main = &document.files[0];
    let root = document.element(0).start;
    let end = main.text[root..].find('>').map(|i| root + i + 1);
    let end = end.ok_or_else(|| held(&main.path, leaf, "the file has no section for it"))?;
    Ok((end..end, format!("\n  <option {attribute}=\"{}\"/>", list(values))))
}

/// Sets an attribute: its first numbers where it is there, else all of it behind the element's name. A quaternion
/// takes the place of another notation of an orientation.
pub(crate) fn set(document: &Document, id: ElementId, attribute: &str, values: &[f64]) -> Edit {
    let element = document.element(id);
    let text = &document.files[element.file].text;
    let mut new = list(values);
    if let Some(found) = document.attribute(id, attribute) {
        for kept in text[found.span.clone()].split_ascii_whitespace().skip(values.len()) {
            new += " ";
            new += kept;
        }
        return (found.span.clone(), new);
    }
    if attribute == "quat" {
        for other in ["axisangle", "xyaxes", "zaxis", "euler"] {
            let Some(found) = document.attribute(id, other) else { continue };
            let before = &text[..found.span.start];
            if let Some(start) = before.rfind(other) {
                let between = &before[start + other.len()..];
                return (start..found.span.end, format!("quat{between}{new}"));
            }
        }
    }
    let at = element.start + 1 + element.name.len();
    (at..at, format!(" {attribute}=\"{new}\""))
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
