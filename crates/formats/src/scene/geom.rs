//! Static geoms of a scene file.

use super::{locate, soft};
use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section};
use costate_model::{GeomBuilder, Model, Shape};

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
    builder = read_contact(geom, builder)?;
    geom.finish()?;
    builder.build(model).map_err(|e| locate::translate(geom.file(), e))
}

fn read_contact(geom: &Section<'_>, mut builder: GeomBuilder) -> Result<GeomBuilder> {
    let laws = [("smooth", "smooth"), ("warp", "warp"), ("warp-shape", "warp-shape")];
    let law = geom.or("contact", "smooth", |n| n.choice(&laws))?;
    builder = builder.law(law);
    if let Some(k) = geom.opt("stiffness", Node::number)? {
        builder = builder.stiffness(k);
    }
    if let Some(d) = geom.opt("damping", Node::number)? {
        builder = builder.damping(d);
    }
    if let Some(mu) = geom.opt("friction", Node::number)? {
        builder = builder.friction(mu);
    }
    geom.exclusive(&["slip_speed", "friction_damping"])?;
    if let Some(speed) = geom.opt("slip_speed", Node::number)? {
        builder = builder.slip_speed(speed);
    } else if let Some(kf) = geom.opt("friction_damping", Node::number)? {
        builder = builder.friction_damping(kf);
    } else if law != "smooth" {
        builder = builder.friction_damping(WARP_FRICTION_DAMPING);
    }
    if let Some(ramp) = geom.opt("ramp", Node::number)? {
        builder = builder.ramp(ramp);
    }
    Ok(builder)
}
