//! Scenes around a robot of its own file.

use super::control;
use crate::error::{Error, ErrorKind, Result};
use crate::mjcf::read_mjcf;
use crate::toml_reader::{Node, Section};
use crate::urdf::read_urdf;
use costate_model::Model;

/// Reads the robot that `robot` names, its options and values, and the control.
pub(super) fn read(root: &Section<'_>, robot: &Node<'_>) -> Result<Model> {
    for other in ["soft", "geom"] {
        if let Some(node) = root.get(other) {
            return Err(node
                .error(ErrorKind::Unsupported)
                .expected("a robot alone")
                .found(format!("[{other}] beside `robot`")));
        }
    }
    let path = robot.file_path()?;
    let urdf = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf"));
    let mut model = if urdf { read_urdf(path)? } else { read_mjcf(path)? };
    if let Some(mut a) = model.articulation.take() {
        a.add_initial_state(&mut model.leaves, None).map_err(|e| {
            Error::new(ErrorKind::Conflict).in_file(root.file().path()).found(e.to_string())
        })?;
        model.articulation = Some(a);
    }
    if let Some(option) = root.section("option")? {
        model.options.timestep = option.or("timestep", model.options.timestep, Node::positive)?;
        model.options.duration = option.or("duration", model.options.duration, Node::positive)?;
        model.options.saltation = option.or("saltation", false, Node::boolean)?;
        option.finish()?;
    }
    for (path, node) in root.entries("values")? {
        let values = if node.is_array() { node.numbers()? } else { vec![node.number()?] };
        let set = model.leaves.find(&path).and_then(|id| model.leaves.set(id, &values));
        set.map_err(|e| node.error(ErrorKind::OutOfBounds).found(e.to_string()))?;
    }
    control::read(root, &mut model)?;
    Ok(model)
}

/// Where the file says a leaf of the control or a value of the robot's.
pub(super) fn leaf<'a>(root: &Section<'a>, path: &str) -> Option<Node<'a>> {
    if let Some(node) = root.get("values").and_then(|n| n.section().ok()?.get(path)) {
        return Some(node);
    }
    let mut keys = path.split('.');
    let table = root.get(keys.next()?)?.section().ok()?.get(keys.next()?)?.section().ok()?;
    let keys: Vec<&str> = keys.collect();
    match keys.as_slice() {
        [key] => table.get(key).or_else(|| table.get("gains")?.section().ok()?.get(key)),
        [part, key] => table.get(part)?.section().ok()?.get(key),
        _ => None,
    }
}

/// The error of a leaf that only the robot's file holds.
pub(super) fn not_here(root: &Section<'_>, leaf: &str) -> Error {
    Error::new(ErrorKind::Unsupported)
        .in_file(root.file().path())
        .expected("leaves that the scene holds")
        .found(format!("`{leaf}`, which stands in the robot's file"))
        .advice(format!("give it in the scene: [values] \"{leaf}\" = …"))
}
