//! Scenes around a robot of its own file.

use super::{check_name, control, geom, locate, soft};
use crate::error::{Error, ErrorKind, Result};
use crate::mjcf::read_mjcf;
use crate::toml_reader::{Node, Section};
use crate::urdf::read_urdf;
use costate_model::Model;

/// Reads the robot that `robot` names, its options and values, and the control.
pub(super) fn read(root: &Section<'_>, robot: &Node<'_>) -> Result<Model> {
    let path = robot.file_path()?;
    let urdf = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf"));
    let read = if urdf { read_urdf(&path) } else { read_mjcf(&path) };
    let mut model = read.map_err(|e| match (e.kind(), e.line()) {
        // The place of a missing file's name is here.
        (ErrorKind::Io, None) => robot.error(ErrorKind::Io).found(e.to_string()),
        _ => e,
    })?;
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
        if let Some(gravity) = option.opt("gravity", Node::vector::<3>)? {
            let id = model.options.gravity;
            model.leaves.set(id, &gravity).map_err(|e| locate::translate(root.file(), e))?;
        }
        model.options.smoothing = option.or("smoothing", 0.0, Node::non_negative)?;
        option.finish()?;
    }
    for (path, node) in root.entries("values")? {
        if path == "option.gravity" && locate::leaf_of_scene(root.file(), &path).is_some() {
            return Err(node
                .error(ErrorKind::Conflict)
                .expected("gravity in one place")
                .found("a value here and one under [option]"));
        }
        let values = if node.is_array() { node.numbers()? } else { vec![node.number()?] };
        let set = model.leaves.find(&path).and_then(|id| model.leaves.set(id, &values));
        set.map_err(|e| node.error(ErrorKind::OutOfBounds).found(e.to_string()))?;
    }
    control::read(root, &mut model)?;
    Ok(model)
}

/// Reads the soft bodies beside the robot and what they touch.
pub(super) fn read_soft(root: &Section<'_>, robot: &Node<'_>, model: &mut Model) -> Result<()> {
    for (name, node) in root.entries("soft")? {
        check_name(&name, &node)?;
        soft::read(&name, &node.section()?, model)?;
    }
    let geoms = root.entries("geom")?;
    if model.soft.is_empty() {
        return match geoms.first() {
            None => Ok(()),
            Some((name, node)) => Err(node
                .error(ErrorKind::Unsupported)
                .expected("soft bodies that touch it: [soft.NAME]")
                .found(format!("[geom.{name}] beside a robot alone"))
                .advice("geoms that the robot itself touches stand in the robot's file")),
        };
    }
    for (name, node) in &geoms {
        geom::read_beside_robot(name, node, model)?;
    }
    let weightless = model.articulation.as_ref().is_some_and(|a| !a.options.flags.gravity);
    let gravity = model.leaves.get(model.options.gravity);
    if weightless && gravity.values.iter().any(|g| *g != 0.0) {
        return Err(robot
            .error(ErrorKind::Conflict)
            .expected("one gravity for the robot and the soft bodies")
            .found("a robot that switches it off (flag gravity=\"disable\")")
            .advice("leave the flag out and write gravity = [0, 0, 0] under [option]"));
    }
    Ok(())
}

/// Whether a leaf belongs to what the scene's own file holds beside the robot: soft bodies and what they
/// touch.
pub(super) fn in_scene(root: &Section<'_>, path: &str) -> bool {
    let keys: Vec<&str> = path.split('.').collect();
    let fixed = |name: &str| -> Option<bool> {
        let geoms = root.get("geom")?.section().ok()?;
        Some(geoms.get(name)?.section().ok()?.has("type"))
    };
    match keys.as_slice() {
        ["soft", ..] | ["geom", _, "soft", ..] => true,
        ["geom", name, ..] => fixed(name).unwrap_or(false),
        _ => false,
    }
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
