//! Static geoms of a scene file, and contacts of soft bodies with geoms of a robot.

use super::{locate, soft};
use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section};
use costate_model::{ContactSettings, GeomBuilder, Model, Shape};

const SHAPES: [(&str, Shape); 4] = [
    ("plane", Shape::Plane),
    ("sphere", Shape::Sphere),
    ("box", Shape::Box),
    ("capsule", Shape::Capsule),
];

/// Slope of friction over slip speed that warp.sim's laws start from, N s/m.
const WARP_FRICTION_DAMPING: f64 = 1e3;

/// Reads `[geom.NAME]` into the model.
pub(super) fn read(name: &str, geom: &Section<'_>, model: &mut Model) -> Result<()> {
    let shape = geom.req("type", |n| n.choice(&SHAPES))?;
    let size = match shape.size_len() {
        0 => Vec::new(),
        n => geom.req("size", |node| {
            // One number may stand without brackets.
            let size = if node.is_array() { node.numbers()? } else { vec![node.number()?] };
            if size.len() != n {
                return Err(node
                    .error(ErrorKind::WrongLength)
                    .expected(format!("{n} numbers for a {}", shape.name()))
                    .found(format!("{}", size.len())));
            }
            Ok(size)
        })?,
    };
    let mut builder = GeomBuilder::new(name, shape, &size);
    if let Some(pos) = geom.opt("pos", Node::vector::<3>)? {
        builder = builder.pos(pos);
    }
    if shape == Shape::Plane {
        geom.exclusive(&["quat", "normal"])?;
        let mut up = [0.0; 3];
        up[model.options.up_axis] = 1.0;
        if !geom.has("quat") {
            builder = builder.normal(geom.or("normal", up, soft::direction)?);
        }
    }
    if let Some(quat) = geom.opt("quat", soft::rotation)? {
        builder = builder.quat(quat);
    }
    builder = builder.contact(read_contact(geom, ContactSettings::default())?);
    geom.finish()?;
    builder.build(model).map_err(|e| locate::translate(geom.file(), e))
}

/// Reads `[geom.NAME]` beside a robot: a static geom, or how soft bodies touch a geom of the robot.
pub(super) fn read_beside_robot(name: &str, node: &Node<'_>, model: &mut Model) -> Result<()> {
    let geom = node.section()?;
    if geom.has("type") {
        super::check_name(name, node)?;
        if model.articulation.as_ref().is_some_and(|a| a.geom(name).is_some()) {
            return Err(node
                .error(ErrorKind::Conflict)
                .expected("a name that no geom of the robot has")
                .found(format!("a fixed geom \"{name}\""))
                .advice(format!("to let soft bodies touch the robot's: [geom.{name}.soft]")));
        }
        return read(name, &geom, model);
    }
    let soft = geom.req("soft", |n| Ok(n.clone())).map_err(|e| {
        e.expected("`type` of a fixed geom, or `soft`, a table of how soft bodies touch a geom of the robot")
    })?;
    let contact = soft.section()?;
    let settings = read_contact(&contact, ContactSettings::moving())?;
    contact.finish()?;
    geom.finish()?;
    model.add_soft_contact(name, &settings).map_err(|e| locate::translate(node.file(), e))
}

/// Reads how vertices are pushed back.
fn read_contact(geom: &Section<'_>, default: ContactSettings) -> Result<ContactSettings> {
    let laws = [("smooth", "smooth"), ("warp", "warp"), ("warp-shape", "warp-shape")];
    let law = geom.or("contact", "smooth", |n| n.choice(&laws))?;
    geom.exclusive(&["slip_speed", "friction_damping"])?;
    let slip_speed = geom.opt("slip_speed", Node::number)?;
    let slope =
        if law == "smooth" { default.friction_damping } else { Some(WARP_FRICTION_DAMPING) };
    let given = geom.opt("friction_damping", Node::number)?;
    let friction_damping = if slip_speed.is_some() { None } else { given.or(slope) };
    Ok(ContactSettings {
        law: law.into(),
        stiffness: geom.or("stiffness", default.stiffness, Node::number)?,
        damping: geom.or("damping", default.damping, Node::number)?,
        friction: geom.or("friction", default.friction, Node::number)?,
        friction_damping,
        slip_speed: slip_speed.unwrap_or(default.slip_speed),
        ramp: geom.or("ramp", default.ramp, Node::number)?,
    })
}
