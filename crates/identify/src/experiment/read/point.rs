//! Observations and the points that they are of.

use costate_dynamics::observe::{Observation, Point};
use costate_formats::toml_reader::{Node, Section};
use costate_formats::{ErrorKind, Result};
use costate_model::Model;
use costate_model::rigid::JointKind;

/// The keys that name an observation.
pub(super) const OBSERVATIONS: &[&str] = &[
    "position",
    "velocity",
    "acceleration",
    "distance",
    "angle",
    "axis_angle",
    "orientation",
    "energy",
    "contact_force",
    "joint_position",
    "joint_velocity",
    "sensor",
];

/// The observation of a section that has exactly one of [`OBSERVATIONS`].
pub(super) fn observation(section: &Section<'_>, model: &Model) -> Result<Observation> {
    section.exclusive(OBSERVATIONS)?;
    let Some((key, node)) = OBSERVATIONS.iter().find_map(|k| Some((*k, section.get(k)?))) else {
        return Err(section
            .error(ErrorKind::Missing)
            .expected(format!("what is observed: {}", OBSERVATIONS.join(", ")))
            .found("none of them"));
    };
    let at = |node: &Node<'_>| point(node, model);
    Ok(match key {
        "position" => Observation::Position(at(&node)?),
        "velocity" => Observation::Velocity(at(&node)?),
        "acceleration" => Observation::Acceleration(at(&node)?),
        "distance" => {
            let [a, b] = node.tuple("an array of two points", at)?;
            Observation::Distance(a, b)
        }
        "angle" => {
            let [a, b, c] = node.tuple("an array of three points", at)?;
            Observation::Angle(a, b, c)
        }
        "orientation" => {
            let [a, b, c] = node.tuple("an array of three points", at)?;
            Observation::Orientation(a, b, c)
        }
        "axis_angle" => {
            let s = node.section()?;
            let found = Observation::AxisAngle {
                from: s.req("from", at)?,
                to: s.req("to", at)?,
                axis: s.req("axis", direction)?,
                about: s.opt("about", direction)?,
            };
            s.finish()?;
            found
        }
        "joint_position" => {
            let (joint, slide) = joint(&node, model)?;
            Observation::JointPosition { joint, slide }
        }
        "joint_velocity" => {
            let (joint, slide) = joint(&node, model)?;
            Observation::JointVelocity { joint, slide }
        }
        "sensor" => sensor(&node, model)?,
        "energy" => {
            if !node.boolean()? {
                return Err(node.out_of_bounds("true, or no such key"));
            }
            Observation::Energy
        }
        _ => {
            let s = node.section()?;
            let geom = s.req("geom", |n| {
                let of_robot = model.articulation.iter().flat_map(|a| {
                    a.soft_contacts.iter().filter_map(|c| Some(&*a.geoms.get(c.geom)?.name))
                });
                let fixed = model.geoms.iter().map(|g| &*g.name);
                let names: Vec<&str> = fixed.chain(of_robot).collect();
                named(n, "a geom", &names)
            })?;
            let body = s.opt("body", |n| body(n, model))?;
            let region = s.opt("region", |n| match &body {
                Some(body) => region(n, model, body),
                None => Err(n
                    .error(ErrorKind::Missing)
                    .expected("the key \"body\" beside a region")
                    .found("none")),
            })?;
            s.finish()?;
            Observation::ContactForce { geom, body, region }
        }
    })
}

fn direction(node: &Node<'_>) -> Result<[f64; 3]> {
    let v = node.vector::<3>()?;
    if v == [0.0; 3] { Err(node.out_of_bounds("a direction other than zero")) } else { Ok(v) }
}

fn named(node: &Node<'_>, what: &str, known: &[&str]) -> Result<String> {
    let name = node.string()?;
    if known.contains(&name) {
        Ok(name.to_owned())
    } else {
        Err(node.unknown_name(what, known.iter().copied()))
    }
}

/// The name of a slide or hinge, and whether it is a slide.
fn joint(node: &Node<'_>, model: &Model) -> Result<(String, bool)> {
    let joints =
        || model.articulation.iter().flat_map(|a| &a.joints).filter(|j| j.kind.is_scalar());
    let names: Vec<&str> = joints().map(|j| &*j.name).collect();
    let name = named(node, "a slide or hinge", &names)?;
    let slide = joints().any(|j| j.name == name && j.kind == JointKind::Slide);
    Ok((name, slide))
}

/// A sensor of the robot's file by name.
fn sensor(node: &Node<'_>, model: &Model) -> Result<Observation> {
    let sensors = || model.articulation.iter().flat_map(|a| &a.sensors);
    let names: Vec<&str> = sensors().map(|s| &*s.name).collect();
    let sensor = named(node, "a sensor", &names)?;
    let found =
        model.articulation.as_ref().and_then(|a| Some((a, a.sensors[a.sensor(&sensor)?].kind)));
    let (components, unit) = found.map_or((1, ""), |(a, kind)| (kind.len(), kind.unit(a)));
    Ok(Observation::Sensor { sensor, components, unit })
}

fn body(node: &Node<'_>, model: &Model) -> Result<String> {
    let names: Vec<&str> = model.soft.iter().map(|b| &*b.name).collect();
    named(node, "a soft body", &names)
}

fn region(node: &Node<'_>, model: &Model, body: &str) -> Result<String> {
    let regions = model.soft_body(body).map(|(_, b)| &b.regions);
    let names: Vec<&str> = regions.iter().flat_map(|r| r.keys().map(String::as_str)).collect();
    named(node, "a region", &names)
}

/// `{ body, vertex }`, `{ body, rest }`, `{ body, rest, marker }` or `{ body, region }`; the body
/// may be left out where there is only one.
fn point(node: &Node<'_>, model: &Model) -> Result<Point> {
    let s = node.section()?;
    let body = match s.get("body") {
        Some(node) => body(&node, model)?,
        None => match model.soft.as_slice() {
            [only] => only.name.clone(),
            _ => return Err(s.missing("body")),
        },
    };
    s.exclusive(&["vertex", "rest"])?;
    s.exclusive(&["vertex", "region"])?;
    s.exclusive(&["rest", "region"])?;
    let vertex = s.opt("vertex", |n| {
        let i = n.count()?;
        let count = model.soft_body(&body).map_or(0, |(_, b)| b.vertex_count);
        if i < count {
            Ok(i as u32)
        } else {
            Err(n
                .error(ErrorKind::IndexOutOfRange)
                .expected(format!("a vertex from 0 to {}", count as i64 - 1))
                .found(format!("{i}")))
        }
    })?;
    let rest = s.opt("rest", Node::vector::<3>)?;
    let marker = s.opt("marker", |n| n.string().map(str::to_owned))?;
    let region = s.opt("region", |n| region(n, model, &body))?;
    s.finish()?;
    match (vertex, rest, marker) {
        (Some(vertex), _, None) => Ok(Point::Vertex { body, vertex }),
        (_, Some(rest), None) => Ok(Point::Embedded { body, rest }),
        (_, Some(rest), Some(name)) => Ok(Point::Marker { name, body, rest }),
        (_, None, Some(_)) => Err(s.missing("rest")),
        (None, None, None) => Ok(Point::CentreOfMass { body, region }),
    }
}
