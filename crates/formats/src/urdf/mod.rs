//! URDF, the robot format of ROS, to [`Model`].
//!
//! Links become bodies with their inertia as written, the root a body that is fixed to the world; joints
//! keep their names, with `damping` and `friction` (dry friction) of `<dynamics>`, limits, and the largest
//! effort as the limit of actuator forces. A joint with `<mimic>` follows by an equality constraint; every
//! other one gets a motor of its name, whose input is force or torque. Collision shapes become geoms.
//! Visuals, materials, transmissions and extensions of simulators are read past; an attribute or
//! element that URDF does not have is refused.

mod write;

pub use write::urdf_with_values;

use std::collections::HashMap;
use std::path::Path;

use costate_model::Model;
use costate_model::rigid::{
    ActuatorSettings, Articulation, BodySettings, EqualityKindSettings, EqualitySettings, Form,
    GeomSettings, InertialSettings, JointKind, JointSettings, PlacementSettings, Transmission,
    Unsupported,
};

use crate::error::{ErrorKind, Result};
use crate::mjcf::attributes::Reader;
use crate::mjcf::pose::{Pose, about, product};
use crate::mjcf::tree::{inertia_fault, turn};
use crate::mjcf::xml::{Document, ElementId};

/// Elements with their attributes, and whether what is in them is read.
const ELEMENTS: [(&str, &[&str], bool); 22] = [
    ("robot", &["name", "version"], true),
    ("link", &["name", "type"], true),
    ("inertial", &["name"], true),
    ("origin", &["xyz", "rpy"], true),
    ("mass", &["value"], true),
    ("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"], true),
    ("visual", &["name"], false),
    ("collision", &["name", "group"], true),
    ("geometry", &[], true),
    ("box", &["size"], true),
    ("cylinder", &["radius", "length"], true),
    ("capsule", &["radius", "length"], true),
    ("sphere", &["radius"], true),
    ("mesh", &["filename", "scale"], true),
    ("joint", &["name", "type"], true),
    ("parent", &["link"], true),
    ("child", &["link"], true),
    ("axis", &["xyz"], true),
    ("limit", &["lower", "upper", "effort", "velocity", "acceleration", "jerk"], true),
    ("dynamics", &["damping", "friction"], true),
    ("mimic", &["joint", "multiplier", "offset"], true),
    ("calibration", &["rising", "falling", "reference_position"], true),
];

/// Elements that are read past with all that is in them.
const PASSED: [&str; 8] = [
    "transmission",
    "gazebo",
    "material",
    "safety_controller",
    "sensor",
    "mujoco",
    "verbose",
    "drake",
];

/// Reads a URDF file.
///
/// # Errors
/// Anything wrong with the file, with its place: file, line and column.
pub fn read_urdf(path: impl AsRef<Path>) -> Result<Model> {
    build(&Document::read(path.as_ref(), "robot")?)
}

/// Reads URDF from text; `path` is what errors call it.
///
/// # Errors
/// As [`read_urdf`].
pub fn parse_urdf(path: impl AsRef<Path>, text: &str) -> Result<Model> {
    build(&Document::parse(path.as_ref(), text, "robot")?)
}

fn check(document: &Document) -> Result<()> {
    let mut stack: Vec<ElementId> = vec![0];
    while let Some(id) = stack.pop() {
        let r = Reader::new(document, id);
        if PASSED.contains(&r.tag()) {
            continue;
        }
        let Some((_, allowed, inside)) = ELEMENTS.iter().find(|(name, ..)| *name == r.tag()) else {
            return Err(r.error(ErrorKind::UnknownKey).found("an element that URDF does not have"));
        };
        let attributes = &document.element(id).attributes;
        if let Some(unknown) = attributes.iter().find(|a| !allowed.contains(&a.name.as_str())) {
            return Err(r
                .wrong(&unknown.name, ErrorKind::UnknownKey)
                .found(format!("the unknown attribute {:?}", unknown.name)));
        }
        if *inside {
            stack.extend(document.element(id).children.iter().rev());
        }
    }
    Ok(())
}

/// The first child of a name.
fn child<'a>(r: &Reader<'a>, name: &str) -> Option<Reader<'a>> {
    r.children().find(|c| c.tag() == name)
}

/// The pose that a child `origin` gives.
fn origin(r: &Reader<'_>) -> Result<Pose> {
    let mut pose = Pose::IDENTITY;
    if let Some(o) = child(r, "origin") {
        o.set("xyz", &mut pose.pos)?;
        if let Some([roll, pitch, yaw]) = o.vector("rpy")? {
            let x = about([1.0, 0.0, 0.0], roll);
            let y = about([0.0, 1.0, 0.0], pitch);
            pose.quat = product(about([0.0, 0.0, 1.0], yaw), product(y, x));
        }
    }
    Ok(pose)
}

fn required_number(r: &Reader<'_>, name: &str) -> Result<f64> {
    r.required(name)?;
    Ok(r.number(name)?.unwrap_or(0.0))
}

fn placement(pose: Pose) -> PlacementSettings {
    PlacementSettings::Pose { pos: pose.pos, quat: pose.quat }
}

fn build(document: &Document) -> Result<Model> {
    check(document)?;
    let root = Reader::new(document, 0);
    let name = root.text("name").unwrap_or("robot");
    let mut model = Model::new(name);
    model.options.timestep = 0.002;
    let mut a = Articulation::new();
    let mut links: HashMap<&str, Reader<'_>> = HashMap::new();
    for link in root.children().filter(|r| r.tag() == "link") {
        let name = link.required("name")?;
        if links.insert(name, link).is_some() {
            return Err(link.wrong("name", ErrorKind::Duplicate).expected("a name of its own"));
        }
    }
    // Joints by the link that they hang on, and the joint above each link.
    let mut below: HashMap<&str, Vec<Reader<'_>>> = HashMap::new();
    let mut above: HashMap<&str, Reader<'_>> = HashMap::new();
    for joint in root.children().filter(|r| r.tag() == "joint") {
        let end = |which: &str| -> Result<&str> {
            let end = child(&joint, which).ok_or_else(|| {
                joint.error(ErrorKind::Missing).expected(format!("an element {which}"))
            })?;
            let link = end.required("link")?;
            if links.contains_key(link) {
                return Ok(link);
            }
            Err(end
                .wrong("link", ErrorKind::UnknownName)
                .expected("the name of a link")
                .found(format!("{link:?}")))
        };
        let (parent, link) = (end("parent")?, end("child")?);
        below.entry(parent).or_default().push(joint);
        if above.insert(link, joint).is_some() {
            return Err(joint
                .error(ErrorKind::Conflict)
                .found(format!("a second joint above link {link:?}")));
        }
    }
    let roots: Vec<Reader<'_>> = root
        .children()
        .filter(|r| r.tag() == "link" && r.text("name").is_some_and(|n| !above.contains_key(n)))
        .collect();
    let mut stack: Vec<(Reader<'_>, usize)> = roots.into_iter().rev().map(|r| (r, 0)).collect();
    let mut mimics = Vec::new();
    let mut placed = 0;
    while let Some((link, mut parent)) = stack.pop() {
        let name = link.required("name")?;
        let joint = above.get(name).copied();
        let pose = match joint {
            Some(joint) => origin(&joint)?,
            None => Pose::IDENTITY,
        };
        // A floating joint on the root is a free body of its own.
        let floating = joint.is_some_and(|j| j.text("type") == Some("floating"));
        if floating && a.bodies[parent].parent == 0 && !a.joints.iter().any(|j| j.body == parent) {
            parent = 0;
        }
        let settings = BodySettings {
            name: name.to_owned(),
            placement: placement(pose),
            inertial: inertial(&link)?,
            ..BodySettings::default()
        };
        let body = a.add_body(&mut model.leaves, parent, &settings).map_err(|e| link.refused(e))?;
        if let Some(joint) = joint {
            add_joint(&mut model, &mut a, &joint, body, &mut mimics)?;
        }
        for collision in link.children().filter(|r| r.tag() == "collision") {
            add_collision(&mut model, &mut a, &collision, body)?;
        }
        placed += 1;
        let children = below.get(name).map_or(&[][..], Vec::as_slice);
        for joint in children.iter().rev() {
            let link = child(joint, "child").and_then(|c| c.text("link")).unwrap_or_default();
            if let Some(link) = links.get(link) {
                stack.push((*link, body));
            }
        }
    }
    if placed != links.len() {
        return Err(root
            .error(ErrorKind::Conflict)
            .found("links that hang on each other in a circle"));
    }
    for (r, joint) in mimics {
        follow(&mut model, &mut a, &r, joint)?;
    }
    model.articulation = Some(a);
    Ok(model)
}

fn inertial(link: &Reader<'_>) -> Result<InertialSettings> {
    let Some(r) = child(link, "inertial") else {
        return Ok(InertialSettings::Diagonal {
            mass: 0.0,
            pos: [0.0; 3],
            quat: Pose::IDENTITY.quat,
            diagonal: [0.0; 3],
        });
    };
    let Pose { pos, quat } = origin(&r)?;
    let missing = |what: &str| r.error(ErrorKind::Missing).expected(format!("an element {what}"));
    let mass = child(&r, "mass").ok_or_else(|| missing("mass"))?;
    let mass = required_number(&mass, "value")?;
    let tensor = child(&r, "inertia").ok_or_else(|| missing("inertia"))?;
    let mut full = [0.0; 6];
    for (slot, name) in full.iter_mut().zip(["ixx", "iyy", "izz", "ixy", "ixz", "iyz"]) {
        tensor.set_number(name, slot)?;
    }
    if let Some(fault) = inertia_fault(full, false) {
        return Err(tensor.error(ErrorKind::OutOfBounds).expected(fault));
    }
    Ok(InertialSettings::Full { mass, pos, full: turn(full, quat) })
}

fn add_joint<'a>(
    model: &mut Model,
    a: &mut Articulation,
    r: &Reader<'a>,
    body: usize,
    mimics: &mut Vec<(Reader<'a>, usize)>,
) -> Result<()> {
    let words = [
        ("revolute", Some((JointKind::Hinge, true))),
        ("continuous", Some((JointKind::Hinge, false))),
        ("prismatic", Some((JointKind::Slide, true))),
        ("floating", Some((JointKind::Free, false))),
        ("spherical", Some((JointKind::Ball, false))),
        ("fixed", None),
    ];
    r.required("type")?;
    let Some((kind, limited)) = r.choice("type", &words)?.flatten() else { return Ok(()) };
    let mut s = JointSettings { name: r.required("name")?.to_owned(), kind, ..Default::default() };
    s.axis = [1.0, 0.0, 0.0];
    if let Some(axis) = child(r, "axis") {
        axis.set("xyz", &mut s.axis)?;
    }
    if let Some(dynamics) = child(r, "dynamics") {
        dynamics.set_number("damping", &mut s.damping[0])?;
        dynamics.set_number("friction", &mut s.frictionloss)?;
    }
    if let Some(limit) = child(r, "limit") {
        limit.set_number("lower", &mut s.range[0])?;
        limit.set_number("upper", &mut s.range[1])?;
        s.limited = limited && s.range[0] < s.range[1];
        s.actuator_force_range =
            limit.number("effort")?.filter(|e| *e > 0.0 && kind.is_scalar()).map(|e| [-e, e]);
    }
    let joint = a.add_joint(&mut model.leaves, body, &s).map_err(|e| r.refused(e))?;
    if let Some(mimic) = child(r, "mimic") {
        mimics.push((mimic, joint));
    } else if kind.is_scalar() {
        let at = Transmission::Joint { joint, in_parent: false };
        let motor = ActuatorSettings { name: s.name, ..ActuatorSettings::default() };
        a.add_actuator(&mut model.leaves, at, &motor).map_err(|e| r.refused(e))?;
    }
    Ok(())
}

/// Makes a joint follow another.
fn follow(model: &mut Model, a: &mut Articulation, r: &Reader<'_>, joint: usize) -> Result<()> {
    let other = r.required("joint")?;
    let scalar = |j: usize| a.joints[j].kind.is_scalar();
    let found = a.joint(other).filter(|&o| scalar(o) && scalar(joint) && o != joint);
    let other = found.ok_or_else(|| {
        r.wrong("joint", ErrorKind::UnknownName)
            .expected("the name of another joint with one degree of freedom")
            .found(format!("{other:?}"))
    })?;
    let offset = r.number("offset")?.unwrap_or(0.0);
    let multiplier = r.number("multiplier")?.unwrap_or(1.0);
    let polycoef = [offset, multiplier, 0.0, 0.0, 0.0];
    let settings =
        EqualitySettings { name: a.joints[joint].name.clone(), ..EqualitySettings::default() };
    let kind = EqualityKindSettings::Joint { joint, other: Some(other), polycoef };
    a.add_equality(&mut model.leaves, &settings, &kind).map(|_| ()).map_err(|e| r.refused(e))
}

fn add_collision(
    model: &mut Model,
    a: &mut Articulation,
    r: &Reader<'_>,
    body: usize,
) -> Result<()> {
    let pose = origin(r)?;
    let shape = child(r, "geometry")
        .and_then(|g| g.children().next())
        .ok_or_else(|| r.error(ErrorKind::Missing).expected("an element geometry with a shape"))?;
    let radius = || required_number(&shape, "radius");
    let half_length = || Ok(required_number(&shape, "length")? / 2.0);
    let (form, size) = match shape.tag() {
        "sphere" => (Form::Sphere, [radius()?, 0.0, 0.0]),
        "cylinder" => (Form::Cylinder, [radius()?, half_length()?, 0.0]),
        "capsule" => (Form::Capsule, [radius()?, half_length()?, 0.0]),
        "box" => {
            shape.required("size")?;
            (Form::Box, shape.vector::<3>("size")?.unwrap_or_default().map(|x| x / 2.0))
        }
        _ => {
            if a.unsupported.iter().all(|u| u.name != "mesh") {
                a.unsupported.push(Unsupported {
                    name: "mesh".into(),
                    place: r.document.place(r.id),
                    about: "meshes that collide".into(),
                });
            }
            return Ok(());
        }
    };
    let number = a.geoms.len();
    let name = match r.text("name") {
        Some(name) if !name.is_empty() && a.geom(name).is_none() => name.to_owned(),
        _ => format!("geom{number}"),
    };
    let settings = GeomSettings {
        name,
        form,
        size,
        placement: placement(pose),
        in_inertia: false,
        ..GeomSettings::default()
    };
    a.add_geom(&mut model.leaves, body, &settings).map(|_| ()).map_err(|e| shape.refused(e))
}
