//! MJCF, the robot format of MuJoCo, to [`Model`].
//!
//! Read with the semantics of MuJoCo 4.0: compiler settings, nested default classes, includes, frames,
//! replicas, inertia from geoms and meshes, actuators, sensors, tendons, equality constraints,
//! keyframes. Elements without effect on motion (visual, cameras, lights, materials …) are read past.
//! An element or attribute that MJCF does not have is refused. What affects motion and is not
//! simulated is listed in [`Articulation::unsupported`], for the caller to refuse or to allow by name.
//!
//! Leaves are named by the elements: `body.NAME.mass`, `joint.NAME.damping`. An element without a name
//! gets one of its kind and number: `geom3` is the fourth geom of the compiled model.
//!
//! [`Articulation::unsupported`]: costate_model::rigid::Articulation::unsupported

mod actuator;
pub(crate) mod attributes;
mod build;
mod classes;
mod compiler;
mod contact_sensor;
mod field;
mod geom;
mod joint;
mod limited;
mod mesh;
mod others;
pub(crate) mod pose;
mod schema;
mod sensor;
pub(crate) mod tree;
pub(crate) mod write;
pub(crate) mod xml;

use crate::error::Result;
use attributes::Reader;
use build::Builder;
use costate_model::Model;
use std::collections::HashMap;
use std::path::Path;
pub use write::mjcf_with_values;
use xml::{Document, ElementId};

/// Reads an MJCF file, with all that it includes, and the meshes that its geoms use.
///
/// # Errors
/// Anything wrong with a file, with its place: file, line and column.
pub fn read_mjcf(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    build(&Document::read(path, "mujoco")?)
}

/// Reads MJCF from text; `path` is what errors call it and where relative paths start.
///
/// # Errors
/// As [`read_mjcf`].
pub fn parse_mjcf(path: impl AsRef<Path>, text: &str) -> Result<Model> {
    build(&Document::parse(path.as_ref(), text, "mujoco")?)
}

fn build(document: &Document) -> Result<Model> {
    Ok(build_all(document)?.model)
}

/// A model with where its elements stand.
struct Read {
    model: Model,
    /// The element of each kind and name.
    origins: HashMap<(&'static str, String), ElementId>,
    /// The frames and replicas around each, where there are any.
    frames: HashMap<(&'static str, String), pose::Pose>,
    /// Whether angles are in degrees.
    degree: bool,
}

fn build_all(document: &Document) -> Result<Read> {
    schema::check(document)?;
    let root = Reader::new(document, 0);
    let stem = document.files[0].path.file_stem().unwrap_or_default();
    let name = match root.text("model") {
        Some(name) => name.to_owned(),
        None => stem.to_string_lossy().into_owned(),
    };
    let mut model = Model::new(name);
    // MuJoCo's own default.
    model.options.timestep = 0.002;
    let mut b = Builder::new(document, model);
    let sections = |name: &'static str| document.named(0, name);
    for id in sections("compiler") {
        b.compiler.read(&Reader::new(document, id))?;
    }
    b.articulation.inertia = b.compiler.inertia;
    for id in sections("option") {
        compiler::read_option(&mut b, &Reader::new(document, id))?;
    }
    compiler::add_fluid(&mut b)?;
    for id in sections("default") {
        b.classes.read(document, id, &b.compiler)?;
    }
    for id in sections("asset") {
        mesh::read_assets(&mut b, &Reader::new(document, id))?;
    }
    for (name, word, about) in [("deformable", "flex", "deformable bodies of MuJoCo")] {
        for id in sections(name) {
            if document.named(id, "flex").next().is_some() {
                b.unsupported(&Reader::new(document, id), word, about);
            }
        }
    }
    let worlds: Vec<ElementId> = sections("worldbody").collect();
    tree::read(&mut b, &worlds)?;
    for (section, add) in [
        ("contact", others::add_contact as Add),
        ("tendon", others::add_tendon),
        ("equality", others::add_equality),
        ("actuator", actuator::add),
        ("sensor", sensor::add),
    ] {
        for id in document.named(0, section) {
            for child in Reader::new(document, id).children() {
                add_replicas(&mut b, &child, add)?;
            }
        }
    }
    for id in document.named(0, "keyframe") {
        for child in Reader::new(document, id).children() {
            others::add_key(&mut b, &child)?;
        }
    }
    let Builder { mut model, articulation, origins, frames, compiler, .. } = b;
    model.articulation = Some(articulation);
    Ok(Read { model, origins, frames, degree: compiler.degree })
}

type Add = fn(&mut Builder<'_>, &Reader<'_>, &str) -> Result<()>;

/// Adds an element once, or once for each replica of the elements that it refers to.
fn add_replicas(b: &mut Builder<'_>, r: &Reader<'_>, add: Add) -> Result<()> {
    let suffixes = referred(b, r).cloned();
    let Some(suffixes) = suffixes else { return add(b, r, "") };
    let kind = match r.tag() {
        "fixed" | "spatial" => Some("tendon"),
        "connect" | "weld" | "joint" => Some("equality"),
        "pair" => Some("pair"),
        "motor" | "general" | "position" | "velocity" | "intvelocity" | "damper" | "cylinder"
        | "muscle" => Some("actuator"),
        _ => None,
    };
    for suffix in suffixes {
        add(b, r, &suffix)?;
        if let (Some(kind), Some(name)) = (kind, r.text("name")) {
            b.replicas.entry((kind, name.to_owned())).or_default().push(suffix);
        }
        b.check_count(r)?;
    }
    Ok(())
}

/// The suffixes of the replicas that an element or its children refer to.
fn referred<'b>(b: &'b Builder<'_>, r: &Reader<'_>) -> Option<&'b Vec<String>> {
    const REFERENCES: [(&str, &str); 23] = [
        ("joint", "joint"),
        ("jointinparent", "joint"),
        ("joint1", "joint"),
        ("joint2", "joint"),
        ("body", "body"),
        ("body1", "body"),
        ("body2", "body"),
        ("geom", "geom"),
        ("geom1", "geom"),
        ("geom2", "geom"),
        ("site", "site"),
        ("site1", "site"),
        ("site2", "site"),
        ("refsite", "site"),
        ("sidesite", "site"),
        ("cranksite", "site"),
        ("slidersite", "site"),
        ("tendon", "tendon"),
        ("tendon1", "tendon"),
        ("tendon2", "tendon"),
        ("actuator", "actuator"),
        ("objname", ""),
        ("refname", ""),
    ];
    if b.replicas.is_empty() {
        return None;
    }
    let own = |r: &Reader<'_>| {
        for (attribute, kind) in REFERENCES {
            let Some(name) = r.text(attribute) else { continue };
            let kind = match (kind, attribute) {
                ("", "objname") => type_of(r.text("objtype")),
                ("", _) => type_of(r.text("reftype")),
                (kind, _) => kind,
            };
            if let Some(suffixes) = b.replicas.get(&(kind, name.to_owned())) {
                return Some(suffixes);
            }
        }
        None
    };
    own(r).or_else(|| r.children().find_map(|child| own(&child)))
}

fn type_of(word: Option<&str>) -> &'static str {
    match word {
        Some("geom") => "geom",
        Some("site") => "site",
        _ => "body",
    }
}
