//! From leaves of the model to keys of the file.

use super::robot;
use crate::error::{Error, ErrorKind};
use crate::toml_reader::{Node, Section, TomlFile};
use costate_model::ModelError;

/// Where the file says a leaf: the keys to go through.
///
/// Leaves and keys have the same paths but for the few named here.
pub(super) fn keys(leaf: &str) -> Vec<String> {
    let mut keys: Vec<String> = leaf.split('.').map(str::to_owned).collect();
    if let [soft, _, name] = keys.as_mut_slice()
        && soft == "soft"
        && name == "rest_position"
    {
        *name = "vertices".to_owned();
    }
    if keys.len() == 4 && keys[0] == "soft" && keys[2] == "point_mass" {
        keys.push("mass".to_owned());
    }
    keys
}

/// The table that a path of keys leads to.
fn table<'a>(file: &'a TomlFile, keys: &[String]) -> Option<Section<'a>> {
    let mut section = file.root();
    for key in keys {
        section = section.get(key)?.section().ok()?;
    }
    Some(section)
}

/// The value that the file gives for a leaf, if it gives one.
pub(super) fn leaf<'a>(file: &'a TomlFile, path: &str) -> Option<Node<'a>> {
    let root = file.root();
    if root.has("robot")
        && !robot::in_scene(&root, path)
        && let Some(node) = robot::leaf(&root, path)
    {
        return Some(node);
    }
    leaf_of_scene(file, path)
}

/// The value of a leaf at its own keys, where neither the robot nor its control has them.
pub(super) fn leaf_of_scene<'a>(file: &'a TomlFile, path: &str) -> Option<Node<'a>> {
    let keys = keys(path);
    let (last, tables) = keys.split_last()?;
    let section = table(file, tables)?;
    section.get(last).or_else(|| {
        // A law of the user's own has its parameters in a table.
        section.get("parameters")?.section().ok()?.get(last)
    })
}

/// The place that an element's name in a model error stands for: `soft.beam: tetrahedron 17`.
fn element<'a>(file: &'a TomlFile, name: &str) -> Option<Node<'a>> {
    let (body, what) = name.split_once(": ").unwrap_or((name, ""));
    let keys: Vec<String> = body.split('.').map(str::to_owned).collect();
    let (last, tables) = keys.split_last()?;
    let node = table(file, tables)?.get(last)?;
    let deeper = |path: &[&str], index: Option<usize>| -> Option<Node<'a>> {
        let mut node = node.clone();
        for key in path {
            node = node.section().ok()?.get(key)?;
        }
        match index {
            Some(i) => node.items().ok()?.get(i).cloned(),
            None => Some(node),
        }
    };
    let (kind, label) = what.rsplit_once(' ').unwrap_or((what, ""));
    let index = label.parse().ok();
    let found = match kind {
        "vertex" => deeper(&["vertices"], index),
        "tetrahedron" => deeper(&["tetrahedra"], index),
        "triangle" => deeper(&["triangles"], index),
        "hinge" => deeper(&["bending", "hinges"], index),
        "spring" => deeper(&["springs", "ends"], index),
        "point mass" => deeper(&["point_mass", label], None),
        "load" => deeper(&["load", label], None),
        "path" => deeper(&["path", label], None),
        "rotation" => deeper(&["rotation"], None),
        "fixed" => deeper(&["fixed"], None),
        _ => None,
    };
    Some(found.unwrap_or(node))
}

/// An error of the model with its place in the file.
pub(super) fn translate(file: &TomlFile, error: ModelError) -> Error {
    let (kind, node) = match &error {
        ModelError::OutOfBounds { path, index, .. } => {
            let node = leaf(file, path);
            // The member of an array rather than the array.
            let member = node.as_ref().and_then(|n| n.items().ok()?.get(*index).cloned());
            (ErrorKind::OutOfBounds, member.or(node))
        }
        ModelError::WrongLength { path, .. } => (ErrorKind::WrongLength, leaf(file, path)),
        ModelError::DuplicateName { path } => (ErrorKind::Conflict, leaf(file, path)),
        ModelError::Invalid { element: name, message } => {
            let kind = if message.starts_with("is inverted") {
                ErrorKind::Inverted
            } else if message.starts_with("is flat") || message.starts_with("is degenerate") {
                ErrorKind::Degenerate
            } else if message.starts_with("has the same vertices") {
                ErrorKind::Duplicate
            } else if message.starts_with("weighs nothing") {
                ErrorKind::Unreferenced
            } else {
                ErrorKind::OutOfBounds
            };
            let node = element(file, name).or_else(|| leaf(file, name));
            (kind, node)
        }
        _ => (ErrorKind::Conflict, None),
    };
    let text = error.to_string();
    match node {
        // The model's words name the element themselves.
        Some(node) => node.error(kind).element("").found(text),
        None => Error::new(kind).in_file(file.path()).found(text),
    }
}
