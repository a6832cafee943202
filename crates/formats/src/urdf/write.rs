//! A changed model as the user's own URDF with only the changed numbers replaced.

use crate::write::edited;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use costate_model::{Leaf, Model};

use super::{build, child, origin, parse_urdf};
use crate::error::Result;
use crate::mjcf::attributes::Reader;
use crate::mjcf::tree::turn;
use crate::mjcf::write::{held, is_start, list, set, verify};
use crate::mjcf::xml::{Document, ElementId};

/// What an element is to say: attributes with their numbers, and the leaf that they are of.
type Wishes<'a> = Vec<(&'static str, Vec<f64>, &'a Leaf)>;

/// The text of a URDF file with the values of `model`, which has the same structure: only numbers
/// that differ are replaced, comments and layout stay; an element that is missing (`dynamics` of a joint, say)
/// is added. `target` is where the text will stand.
///
/// # Errors
/// A leaf that URDF cannot hold, named.
pub fn urdf_with_values(path: &Path, text: &str, model: &Model, target: &Path) -> Result<String> {
    let document = Document::parse(path, text, "robot")?;
    let old = build(&document)?;
    let mut wanted: BTreeMap<(ElementId, &'static str), Wishes<'_>> = BTreeMap::new();
    for (_, leaf) in model.leaves.iter().filter(|(_, leaf)| !is_start(leaf)) {
        match old.leaves.find(&leaf.path).map(|id| old.leaves.get(id)) {
            Ok(old) if old.values == leaf.values => {}
            Ok(_) => wish(&document, path, leaf, &mut wanted)?,
            Err(_) => return Err(held(path, leaf, "the file gives this quantity in another view")),
        }
    }
    let mut edits = Vec::new();
    for ((parent, tag), wishes) in &wanted {
        let found = child(&Reader::new(&document, *parent), tag);
        match found {
            Some(found) => {
                for (attribute, values, _) in wishes {
                    edits.push(set(&document, found.id, attribute, values));
                }
            }
            None => edits.push(new_child(&document, text, *parent, tag, wishes)?),
        }
    }
    let out = edited(text, edits);
    verify(model, &parse_urdf(target, &out)?, target)?;
    Ok(out)
}

/// Notes which elements have to say what for a leaf.
fn wish<'a>(
    document: &Document,
    path: &Path,
    leaf: &'a Leaf,
    wanted: &mut BTreeMap<(ElementId, &'static str), Wishes<'a>>,
) -> Result<()> {
    let no = |why: &str| held(path, leaf, why);
    let (kind, rest) = leaf.path.split_once('.').unwrap_or(("", &leaf.path));
    let (name, attribute) = rest.rsplit_once('.').unwrap_or(("", rest));
    let root = Reader::new(document, 0);
    let named =
        |tag: &str| root.children().find(|r| r.tag() == tag && r.text("name") == Some(name));
    let x = &leaf.values;
    let mut want = |parent: ElementId, tag, attribute, values: Vec<f64>| {
        wanted.entry((parent, tag)).or_default().push((attribute, values, leaf));
    };
    match (kind, attribute) {
        ("body", "pos") => {
            let above = root.children().find(|r| {
                let link = child(r, "child");
                r.tag() == "joint" && link.is_some_and(|link| link.text("link") == Some(name))
            });
            let above = above.ok_or_else(|| no("the root of a URDF stands at the origin"))?;
            want(above.id, "origin", "xyz", x.clone());
        }
        ("body", "mass" | "ipos" | "fullinertia") => {
            let link = named("link").ok_or_else(|| no("the file has no such link"))?;
            let inertial = child(&link, "inertial")
                .ok_or_else(|| no("the link has no inertial of its own"))?;
            match attribute {
                "mass" => want(inertial.id, "mass", "value", x.clone()),
                "ipos" => want(inertial.id, "origin", "xyz", x.clone()),
                _ => {
                    // The file's tensor is in the axes of its own origin.
                    let [w, i, j, k] = origin(&inertial)?.quat;
                    let mut full = [0.0; 6];
                    full.copy_from_slice(x);
                    let own = turn(full, [w, -i, -j, -k]);
                    let names = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
                    for (attribute, value) in names.into_iter().zip(own) {
                        want(inertial.id, "inertia", attribute, vec![value]);
                    }
                }
            }
        }
        ("joint", _) => {
            let joint = named("joint").ok_or_else(|| no("the file has no such joint"))?;
            match (attribute, &x[..]) {
                ("damping", [b]) => want(joint.id, "dynamics", "damping", vec![*b]),
                ("frictionloss", [f]) => want(joint.id, "dynamics", "friction", vec![*f]),
                ("axis", _) => want(joint.id, "axis", "xyz", x.clone()),
                ("range", [low, high]) => {
                    want(joint.id, "limit", "lower", vec![*low]);
                    want(joint.id, "limit", "upper", vec![*high]);
                }
                ("actuatorfrcrange", [low, high]) if *low == -*high => {
                    want(joint.id, "limit", "effort", vec![*high]);
                }
                _ => return Err(no("URDF has no such number")),
            }
        }
        _ => return Err(no("URDF has no such number")),
    }
    Ok(())
}

/// A child that is missing, behind the start of its parent.
fn new_child(
    document: &Document,
    text: &str,
    parent: ElementId,
    tag: &str,
    wishes: &Wishes<'_>,
) -> Result<(Range<usize>, String)> {
    let element = document.element(parent);
    let last = element.attributes.iter().map(|a| a.span.end).max();
    let from = last.unwrap_or(element.start + 1 + element.name.len());
    let end = text[from..].find('>').map(|i| from + i);
    let open = end.filter(|&end| !text[..end].ends_with('/'));
    let Some(end) = open else {
        let file = &document.files[element.file].path;
        let leaf = wishes.first().map(|(_, _, leaf)| *leaf);
        let why = format!("the element has no {tag} and nothing in it");
        return Err(leaf.map_or_else(
            || Reader::new(document, parent).error(crate::error::ErrorKind::Unsupported),
            |leaf| held(file, leaf, &why),
        ));
    };
    let mut new = format!("\n    <{tag}");
    for (attribute, values, _) in wishes {
        new += &format!(" {attribute}=\"{}\"", list(values));
    }
    Ok((end + 1..end + 1, new + "/>"))
}
