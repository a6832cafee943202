//! Soft bodies of a scene file.

use super::fields::Over;
use super::regions::Parts;
use super::shape::{self, Shape};
use super::{check_name, locate};
use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section};
use costate_model::{
    Bounds, Damping, DampingLaw, ELASTIC_LAWS, ElasticView, HingeSettings, MassRule,
    MaterialParameter, MaterialSettings, MembraneSettings, Model, Region, SoftBuilder,
    SpringSettings, TetrahedraSettings,
};
use std::collections::BTreeMap;

const DAMPING_LAWS: [(&str, DampingLaw); 2] =
    [("frame-indifferent", DampingLaw::FrameIndifferent), ("warp", DampingLaw::Warp)];

/// Keys that only bodies with tetrahedra have.
const TETRAHEDRA_KEYS: [&str; 14] = [
    "material",
    "young",
    "poisson",
    "mu",
    "lambda",
    "parameters",
    "density",
    "mass",
    "mass_rule",
    "damping",
    "stiffness_damping",
    "damping_law",
    "activation",
    "activation_input",
];

/// Reads `[soft.NAME]` into the model.
pub(super) fn read(name: &str, body: &Section<'_>, model: &mut Model) -> Result<()> {
    let (mut builder, shape) = shape::read(name, body)?;
    let membrane = body.section("membrane")?;
    if let Some(membrane) = &membrane {
        let own = body.has("triangles") || builder.tetrahedra_so_far().is_empty();
        builder = choose_triangles(membrane, builder, &shape, own)?;
    }
    let regions = Parts::new(&builder, &shape).read_all(body)?;
    builder = read_start(body, builder)?;
    let count = builder.vertices().len();
    let over_vertices = Over::new("vertex", count, &regions, |r| &r.vertices);
    if let Some(mass) = body.opt("vertex_mass", |n| over_vertices.read_masses(n))? {
        builder = builder.vertex_mass(mass);
    }
    builder = builder.radius(over_vertices.or(body, "radius", 0.0)?);
    builder = builder.mass_damping(body.or("mass_damping", 0.0, Node::number)?);
    builder = read_tetrahedra(body, builder, &shape, &regions)?;
    if let Some(membrane) = &membrane {
        builder = read_membrane(membrane, builder, &regions)?;
    }
    if let Some(bending) = body.section("bending")? {
        builder = read_bending(&bending, builder)?;
    }
    if let Some(springs) = body.section("springs")? {
        builder = read_springs(&springs, builder)?;
    }
    builder = read_attachments(body, builder, &shape, &regions)?;
    body.finish()?;
    for (name, region) in regions {
        builder = builder.region(&name, region);
    }
    builder.build(model).map_err(|e| locate::translate(body.file(), e))
}

/// Pose and velocities at the start.
fn read_start(body: &Section<'_>, mut builder: SoftBuilder) -> Result<SoftBuilder> {
    let zero = [0.0; 3];
    let count = builder.vertices().len();
    builder = builder
        .position(body.or("position", zero, Node::vector::<3>)?)
        .rotation(body.or("rotation", [1.0, 0.0, 0.0, 0.0], rotation)?)
        .velocity(body.or("velocity", zero, Node::vector::<3>)?)
        .angular_velocity(body.or("angular_velocity", zero, Node::vector::<3>)?);
    let per_vertex = |node: &Node<'_>| {
        let rows = node.list("an array of [x, y, z], one per vertex", Node::vector::<3>)?;
        if rows.len() != count {
            return Err(node
                .error(ErrorKind::WrongLength)
                .expected(format!("{count} rows, one per vertex"))
                .found(format!("{}", rows.len())));
        }
        Ok(rows.concat())
    };
    if let Some(x) = body.opt("start_position", per_vertex)? {
        builder = builder.start_position(x);
    }
    if let Some(v) = body.opt("start_velocity", per_vertex)? {
        builder = builder.start_velocity(v);
    }
    Ok(builder)
}

/// A rotation: a quaternion w x y z, or `{ axis = [x, y, z], degrees = … }` (or `radians`).
pub(super) fn rotation(node: &Node<'_>) -> Result<[f64; 4]> {
    if !node.is_table() {
        return node.vector::<4>().map_err(|e| {
            e.expected("a quaternion [w, x, y, z], or { axis = [x, y, z], degrees = angle }")
        });
    }
    let table = node.section()?;
    let axis = table.req("axis", direction)?;
    table.exclusive(&["degrees", "radians"])?;
    let angle = match table.opt("radians", Node::number)? {
        Some(angle) => angle,
        None => table.req("degrees", Node::number)?.to_radians(),
    };
    table.finish()?;
    let (s, c) = (angle / 2.0).sin_cos();
    Ok([c, s * axis[0], s * axis[1], s * axis[2]])
}

/// A vector of any length but zero, made a unit vector.
pub(super) fn direction(node: &Node<'_>) -> Result<[f64; 3]> {
    let v = node.vector::<3>()?;
    // Scaled first, so that the squares of large or small components do not leave the range.
    let largest = v.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if largest == 0.0 {
        return Err(node.out_of_bounds("a vector that is not zero"));
    }
    let v = v.map(|c| c / largest);
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    Ok(v.map(|c| c / length))
}

fn read_tetrahedra(
    body: &Section<'_>,
    builder: SoftBuilder,
    shape: &Shape,
    regions: &BTreeMap<String, Region>,
) -> Result<SoftBuilder> {
    let count = builder.tetrahedra_so_far().len();
    if count == 0 {
        for key in TETRAHEDRA_KEYS {
            if body.has(key)
                && let Some(node) = body.get(key)
            {
                return Err(node
                    .error(ErrorKind::Conflict)
                    .expected("a body with tetrahedra, which alone have this")
                    .found("one without")
                    .advice("membranes, hinges and springs have their own tables"));
            }
        }
        return Ok(builder);
    }
    let over = Over::new("tetrahedron", count, regions, |r| &r.tetrahedra);
    let material = read_material(body, &over)?;
    let damping = Damping {
        law: body.or("damping_law", DampingLaw::default(), |n| n.choice(&DAMPING_LAWS))?,
        viscosity: body.or("damping", vec![0.0], |n| {
            if n.is_string() {
                let e = n.unexpected("a viscosity in Pa s");
                return Err(e.advice("the law is another key: damping_law = \"warp\""));
            }
            over.read(n)
        })?,
        stiffness: over.or(body, "stiffness_damping", 0.0)?,
    };
    let activation = over.or(body, "activation", 0.0)?;
    let activation_input = body.opt("activation_input", |n| {
        let name = n.string()?;
        check_name(name, n)?;
        Ok(name.to_owned())
    })?;
    let mass = read_mass(body, &over, shape)?;
    let settings = TetrahedraSettings { material, damping, mass, activation, activation_input };
    Ok(builder.tetrahedra(settings))
}

/// The parameters of a law of the user's own.
fn own_parameters(parameters: &Section<'_>, over: &Over<'_>) -> Result<Vec<MaterialParameter>> {
    let mut own = Vec::new();
    for (name, value) in parameters.all() {
        check_name(&name, &value)?;
        let values = over.read(&value)?;
        own.push(MaterialParameter { name, unit: "", bounds: Bounds::ANY, values });
    }
    Ok(own)
}

fn read_material(body: &Section<'_>, over: &Over<'_>) -> Result<MaterialSettings> {
    let node = body.req("material", |n| Ok(n.clone()))?;
    let law = node.string()?;
    if let Some(parameters) = body.section("parameters")? {
        body.exclusive(&["parameters", "young"])?;
        body.exclusive(&["parameters", "mu"])?;
        return Ok(MaterialSettings::own(law, own_parameters(&parameters, over)?));
    }
    if !ELASTIC_LAWS.contains(&law) {
        let e = node.unknown_name("a material law", ELASTIC_LAWS.iter().copied());
        return Err(e);
    }
    for pair in [["young", "mu"], ["young", "lambda"], ["poisson", "mu"], ["poisson", "lambda"]] {
        body.exclusive(&pair)?;
    }
    let (view, keys) = if body.has("mu") || body.has("lambda") {
        (ElasticView::Lame, ["mu", "lambda"])
    } else {
        (ElasticView::Engineering, ["young", "poisson"])
    };
    let [first, second] = keys.map(|key| {
        body.req(key, |n| over.read(n))
            .map_err(|e| if e.kind() == ErrorKind::Missing { e.advice(PARAMETERS) } else { e })
    });
    Ok(MaterialSettings {
        law: law.to_owned(),
        view,
        first: first?,
        second: second?,
        own: Vec::new(),
    })
}

const PARAMETERS: &str = "give young and poisson, or mu and lambda";

fn read_mass(body: &Section<'_>, over: &Over<'_>, shape: &Shape) -> Result<MassRule> {
    body.exclusive(&["density", "mass"])?;
    let rule = body.get("mass_rule");
    let by_cell = match &rule {
        Some(n) => n.choice(&[("lumped", false), ("grid-cell", true)])?,
        None => false,
    };
    if let (true, Some(node)) = (by_cell, &rule) {
        let Some(volume) = shape.cell_volume else {
            return Err(node
                .error(ErrorKind::Conflict)
                .expected("a body from a grid, for the mass of a cell on every vertex")
                .found("another shape"));
        };
        return Ok(MassRule::GridCell { density: body.req("density", Node::number)?, volume });
    }
    if let Some(mass) = body.opt("mass", Node::number)? {
        return Ok(MassRule::Total(mass));
    }
    match body.opt("density", |n| over.read(n))? {
        Some(density) => Ok(MassRule::Density(density)),
        None => Ok(MassRule::None),
    }
}

/// The triangles that the membrane consists of; by default those that the shape is given by
/// (`own`), or the surface of the tetrahedra.
fn choose_triangles(
    membrane: &Section<'_>,
    builder: SoftBuilder,
    shape: &Shape,
    own: bool,
) -> Result<SoftBuilder> {
    let solid = !builder.tetrahedra_so_far().is_empty();
    let chosen = membrane.get("triangles");
    let name = match &chosen {
        Some(node) => node.string()?,
        None if own => "all",
        None => "surface",
    };
    let triangles = match name {
        "surface" if solid => return Ok(builder.with_surface_triangles()),
        "all" => shape.triangles.clone(),
        name => match (&chosen, shape.groups.get(name)) {
            (_, Some(group)) => {
                group.triangles.iter().map(|&t| shape.triangles[t as usize]).collect()
            }
            (Some(node), None) => {
                let own = if solid { vec!["surface", "all"] } else { vec!["all"] };
                let groups = shape.groups.keys().map(String::as_str);
                let known: Vec<&str> = own.into_iter().chain(groups).collect();
                return Err(node.unknown_name("triangles", known));
            }
            (None, None) => Vec::new(),
        },
    };
    if triangles.is_empty() {
        let e = match &chosen {
            Some(node) => node.error(ErrorKind::Missing),
            None => membrane.error(ErrorKind::Missing),
        };
        return Err(e.expected("triangles for the membrane").found("none"));
    }
    Ok(builder.with_triangles(triangles))
}

fn read_membrane(
    membrane: &Section<'_>,
    builder: SoftBuilder,
    regions: &BTreeMap<String, Region>,
) -> Result<SoftBuilder> {
    let count = builder.triangles_so_far().len();
    let over = Over::new("triangle", count, regions, |r| &r.triangles);
    let default = MembraneSettings::default();
    let field = |key: &str, default: &[f64]| membrane.or(key, default.to_vec(), |n| over.read(n));
    let settings = MembraneSettings {
        damping_law: membrane
            .or("damping_law", DampingLaw::default(), |n| n.choice(&DAMPING_LAWS))?,
        stiffness: field("stiffness", &default.stiffness)?,
        area_stiffness: field("area_stiffness", &default.area_stiffness)?,
        damping: field("damping", &default.damping)?,
        drag: field("drag", &default.drag)?,
        lift: field("lift", &default.lift)?,
        activation: field("activation", &default.activation)?,
        density: membrane.or("density", default.density, |n| over.read_masses(n))?,
    };
    membrane.finish()?;
    Ok(builder.membrane(settings))
}

fn read_bending(bending: &Section<'_>, builder: SoftBuilder) -> Result<SoftBuilder> {
    let vertices = builder.vertices().len();
    let builder = match bending.opt("hinges", |n| shape::rows::<4>(n, vertices))? {
        Some(hinges) => builder.with_hinges(hinges),
        None => builder.with_all_hinges(),
    };
    let count = builder.hinges_so_far().len();
    if count == 0 {
        return Err(bending
            .error(ErrorKind::Missing)
            .expected("hinges, or triangles that share edges")
            .found("none"));
    }
    let over = Over::without_groups("hinge", count);
    let laws = [("discrete-shells", "discrete-shells"), ("warp", "warp")];
    let settings = HingeSettings {
        law: bending.or("law", "discrete-shells", |n| n.choice(&laws))?.to_owned(),
        stiffness: bending.req("stiffness", |n| over.read(n))?,
        damping: over.or(bending, "damping", 0.0)?,
        rest_angle: bending.opt("rest_angle", |n| over.read(n))?,
    };
    bending.finish()?;
    Ok(builder.hinges(settings))
}

fn read_springs(springs: &Section<'_>, builder: SoftBuilder) -> Result<SoftBuilder> {
    let vertices = builder.vertices().len();
    let ends = springs.req("ends", |n| shape::rows::<2>(n, vertices))?;
    let over = Over::without_groups("spring", ends.len());
    let law = springs.opt("law", |n| n.string().map(str::to_owned))?;
    let mut own = Vec::new();
    if law.is_some() {
        springs.exclusive(&["law", "stiffness"])?;
        if let Some(parameters) = springs.section("parameters")? {
            own = own_parameters(&parameters, &over)?;
        }
    }
    let settings = SpringSettings {
        stiffness: match law {
            None => springs.req("stiffness", |n| over.read(n))?,
            Some(_) => Vec::new(),
        },
        damping: over.or(springs, "damping", 0.0)?,
        rest_length: springs.opt("rest_length", |n| over.read(n))?,
    };
    springs.finish()?;
    let builder = builder.with_springs(ends, settings);
    Ok(match law {
        None => builder,
        Some(law) => builder.spring_law(&law, own),
    })
}

/// What holds, moves, weighs down and pushes vertices.
fn read_attachments(
    body: &Section<'_>,
    mut builder: SoftBuilder,
    shape: &Shape,
    regions: &BTreeMap<String, Region>,
) -> Result<SoftBuilder> {
    let here = builder.clone();
    let parts = Parts::new(&here, shape);
    if let Some(fixed) = body.opt("fixed", |n| parts.vertices(regions, n))? {
        builder = builder.fix(&fixed);
    }
    for (name, node) in body.entries("point_mass")? {
        check_name(&name, &node)?;
        let table = node.section()?;
        let vertices = table.req("at", |n| parts.vertices(regions, n))?;
        builder = builder.point_mass(&name, vertices, table.req("mass", Node::non_negative)?);
        table.finish()?;
    }
    for (name, node) in body.entries("load")? {
        check_name(&name, &node)?;
        let table = node.section()?;
        builder = builder.load(&name, table.req("at", |n| parts.vertices(regions, n))?);
        table.finish()?;
    }
    for (name, node) in body.entries("path")? {
        check_name(&name, &node)?;
        let table = node.section()?;
        builder = builder.path(&name, table.req("at", |n| parts.vertices(regions, n))?);
        table.finish()?;
    }
    Ok(builder)
}
