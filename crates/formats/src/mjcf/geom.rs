//! `geom` and `site`.

use super::attributes::Reader;
use super::build::Builder;
use super::compiler::Compiler;
use super::pose::Pose;
use super::pose::{norm, shortest_turn};
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{Form, GeomMass, GeomSettings, PlacementSettings, SiteSettings};

/// Position, orientation and end points as they are given.
#[derive(Clone, Copy, Debug, Default)]
struct Where {
    pose: Pose,
    fromto: Option<[f64; 6]>,
}

impl Where {
    fn read(&mut self, r: &Reader<'_>, compiler: &Compiler) -> Result<()> {
        self.pose.read(r, compiler)?;
        if let Some(ends) = r.vector("fromto")? {
            self.fromto = Some(ends);
        }
        Ok(())
    }

    /// The placement in the body's frame. End points within a frame become a pose, whose size is
    /// completed: turned end points would give other x and y axes.
    fn place(
        &self,
        r: &Reader<'_>,
        frame: &Pose,
        size: &mut [f64; 3],
        form: Form,
    ) -> Result<PlacementSettings> {
        let Some(ends) = self.fromto else {
            let Pose { pos, quat } = frame.after(&self.pose);
            return Ok(PlacementSettings::Pose { pos, quat });
        };
        let axis = [0, 1, 2].map(|i| ends[i] - ends[i + 3]);
        let length = norm(axis);
        if length < 1e-14 {
            return Err(r
                .wrong("fromto", ErrorKind::Degenerate)
                .expected("two different points")
                .found("the same point twice"));
        }
        if *frame == Pose::IDENTITY {
            return Ok(PlacementSettings::FromTo(ends));
        }
        let middle = [0, 1, 2].map(|i| (ends[i] + ends[i + 3]) / 2.0);
        let inner = Pose { pos: middle, quat: shortest_turn(axis.map(|x| x / length)) };
        let Pose { pos, quat } = frame.after(&inner);
        complete(size, form, length);
        Ok(PlacementSettings::Pose { pos, quat })
    }
}

/// Completes the sizes of a shape between two points.
fn complete(size: &mut [f64; 3], form: Form, length: f64) {
    match form {
        Form::Capsule | Form::Cylinder => size[1] = length / 2.0,
        _ => {
            size[1] = size[0];
            size[2] = length / 2.0;
        }
    }
}

/// A shape as the file names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Sphere,
    Plane,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
    HeightField,
    SignedDistance,
}

const KINDS: [(&str, Kind); 9] = [
    ("plane", Kind::Plane),
    ("hfield", Kind::HeightField),
    ("sphere", Kind::Sphere),
    ("capsule", Kind::Capsule),
    ("ellipsoid", Kind::Ellipsoid),
    ("cylinder", Kind::Cylinder),
    ("box", Kind::Box),
    ("mesh", Kind::Mesh),
    ("sdf", Kind::SignedDistance),
];

/// Blunt, slender and angular drag, Kutta's and Magnus' lift where the file says nothing.
const FLUID_COEFFICIENTS: [f64; 5] = [0.5, 0.25, 1.5, 1.0, 1.0];

/// A geom with its numbers in the file's units.
#[derive(Clone, Debug, Default)]
pub(super) struct GeomClass {
    settings: GeomSettings,
    at: Where,
    kind: Kind,
    mass: Option<f64>,
    density: Option<f64>,
    mesh: Option<String>,
    field: Option<String>,
    surfacevel: [f64; 6],
    adhesion: f64,
    fluid_ellipsoid: bool,
    fluidcoef: Option<[f64; 5]>,
}

impl GeomClass {
    pub fn read(&mut self, r: &Reader<'_>, compiler: &Compiler) -> Result<()> {
        let s = &mut self.settings;
        if let Some(kind) = r.choice("type", &KINDS)? {
            self.kind = kind;
        }
        self.at.read(r, compiler)?;
        r.fill("size", 1, &mut s.size)?;
        if let Some(mass) = r.number("mass")? {
            self.mass = Some(mass);
        }
        if let Some(density) = r.number("density")? {
            self.density = Some(density);
        }
        if let Some(ellipsoid) = r.choice("fluidshape", &[("none", false), ("ellipsoid", true)])? {
            self.fluid_ellipsoid = ellipsoid;
        }
        let mut coefficients = self.fluidcoef.unwrap_or(FLUID_COEFFICIENTS);
        r.fill("fluidcoef", 1, &mut coefficients)?;
        self.fluidcoef = Some(coefficients);
        if let Some(shell) = r.flag("shellinertia")? {
            s.shell = shell;
        }
        for (name, mask) in [("contype", &mut s.contype), ("conaffinity", &mut s.conaffinity)] {
            if let Some(bits) = r.small::<i32>(name)? {
                *mask = bits as u32;
            }
        }
        if let Some(condim) = r.integer("condim")? {
            s.condim = condim_of(r, condim)?;
        }
        if let Some(priority) = r.small("priority")? {
            s.priority = priority;
        }
        r.fill("friction", 1, &mut s.friction)?;
        r.set_number("solmix", &mut s.solmix)?;
        r.fill("solref", 1, &mut s.solref)?;
        r.fill("solimp", 1, &mut s.solimp)?;
        r.set_number("margin", &mut s.margin)?;
        r.set_number("gap", &mut s.gap)?;
        if let Some(group) = r.small("group")? {
            s.group = group;
        }
        if let Some(rgba) = r.vector::<4>("rgba")? {
            s.rgba = rgba.map(|x| x as f32);
        }
        if let Some(mesh) = r.text("mesh") {
            self.mesh = Some(mesh.to_owned());
        }
        if let Some(field) = r.text("hfield") {
            self.field = Some(field.to_owned());
        }
        r.fill("surfacevel", 1, &mut self.surfacevel)?;
        r.set_number("adhesion", &mut self.adhesion)
    }
}

/// The dimension of a contact.
pub(super) fn condim_of(r: &Reader<'_>, value: i64) -> Result<u8> {
    match value {
        1 | 3 | 4 | 6 => Ok(value as u8),
        _ => Err(r
            .wrong("condim", ErrorKind::OutOfBounds)
            .expected("1, 3, 4 or 6")
            .found(format!("{value}"))),
    }
}

/// Adds a geom to a body.
pub(super) fn add(
    b: &mut Builder<'_>,
    r: &Reader<'_>,
    body: usize,
    frame: &Pose,
    class: &str,
    suffix: &str,
) -> Result<()> {
    let mut geom = b.class(r, class)?.geom.clone();
    geom.read(r, &b.compiler)?;
    if geom.surfacevel != [0.0; 6] {
        b.unsupported(r, "surfacevel", "surfaces that move like a conveyor belt");
    }
    if geom.adhesion != 0.0 {
        b.unsupported(r, "adhesion", "geoms that stick to each other");
    }
    if r.document.named(r.id, "plugin").next().is_some() {
        b.unsupported(r, "plugin", "a plugin of MuJoCo");
    }
    let form = match geom.kind {
        Kind::HeightField => {
            let name = geom.field.as_deref().ok_or_else(|| {
                r.error(ErrorKind::Missing)
                    .expected("the attribute hfield of a geom of type hfield")
            })?;
            Form::HeightField(b.field(r, name)?)
        }
        Kind::SignedDistance => {
            b.unsupported(r, "sdf", "shapes given by a signed distance");
            return Ok(());
        }
        Kind::Plane => Form::Plane,
        Kind::Sphere => Form::Sphere,
        Kind::Capsule => Form::Capsule,
        Kind::Ellipsoid => Form::Ellipsoid,
        Kind::Cylinder => Form::Cylinder,
        Kind::Box => Form::Box,
        Kind::Mesh => {
            let name = geom.mesh.as_deref().ok_or_else(|| {
                r.error(ErrorKind::Missing).expected("the attribute mesh of a geom of type mesh")
            })?;
            Form::Mesh(b.mesh(r, name)?)
        }
    };
    if geom.mesh.is_some() && geom.kind != Kind::Mesh {
        return Err(r
            .wrong("mesh", ErrorKind::Unsupported)
            .found("a primitive shape fitted to a mesh")
            .advice("give the size of the shape, or type=\"mesh\""));
    }
    if geom.fluid_ellipsoid && b.articulation.options.fluid.is_some() {
        if matches!(form, Form::Mesh(_) | Form::HeightField(_) | Form::Plane) {
            let about = "forces of the fluid on the ellipsoid of a mesh, height field or plane; the body \
                         counts as a box of its inertia";
            b.unsupported(r, "fluidshape", about);
        } else {
            geom.settings.fluid = geom.fluidcoef;
        }
    }
    let s = &mut geom.settings;
    s.form = form;
    s.placement = geom.at.place(r, frame, &mut s.size, form)?;
    let needed = match s.placement {
        PlacementSettings::FromTo(_) => form.size_len().min(1),
        PlacementSettings::Pose { .. } => form.size_len(),
    };
    if let Some(i) = (0..needed).find(|&i| s.size[i] <= 0.0) {
        return Err(r
            .wrong("size", ErrorKind::OutOfBounds)
            .expected(format!("{needed} positive number(s) for a {}", form.name()))
            .found(format!("size {i} is {}", s.size[i])));
    }
    let group = i64::from(s.group);
    let [low, high] = b.compiler.inertia_groups;
    s.in_inertia = (low..=high).contains(&group)
        && !matches!(form, Form::Plane | Form::HeightField(_))
        && super::tree::counts_geoms(b, body);
    let shell = s.shell;
    s.mass = match (geom.mass, geom.density) {
        (Some(mass), _) => GeomMass::Mass(mass),
        (None, density) => GeomMass::Density(density.unwrap_or(1000.0)),
    };
    if shell && matches!(form, Form::Mesh(_)) {
        return Err(r
            .wrong("shellinertia", ErrorKind::Conflict)
            .found("a mesh")
            .advice("give inertia=\"shell\" to the mesh asset instead"));
    }
    s.name = b.name(r, "geom", suffix, b.articulation.geoms.len());
    let settings = geom.settings;
    b.articulation
        .add_geom(&mut b.model.leaves, body, &settings)
        .map(|_| ())
        .map_err(|e| r.refused(e))
}

/// A site with its numbers in the file's units.
#[derive(Clone, Debug)]
pub(super) struct SiteClass {
    at: Where,
    kind: Kind,
    size: [f64; 3],
}

impl Default for SiteClass {
    fn default() -> Self {
        Self { at: Where::default(), kind: Kind::Sphere, size: SiteSettings::default().size }
    }
}

impl SiteClass {
    pub fn read(&mut self, r: &Reader<'_>, compiler: &Compiler) -> Result<()> {
        if let Some(kind) = r.choice("type", &KINDS)? {
            self.kind = kind;
        }
        r.fill("size", 1, &mut self.size)?;
        self.at.read(r, compiler)
    }
}

/// Adds a site to a body.
pub(super) fn add_site(
    b: &mut Builder<'_>,
    r: &Reader<'_>,
    body: usize,
    frame: &Pose,
    class: &str,
    suffix: &str,
) -> Result<()> {
    let mut site = b.class(r, class)?.site.clone();
    site.read(r, &b.compiler)?;
    let form = match site.kind {
        Kind::Capsule => Form::Capsule,
        Kind::Ellipsoid => Form::Ellipsoid,
        Kind::Cylinder => Form::Cylinder,
        Kind::Box => Form::Box,
        _ => Form::Sphere,
    };
    let placement = site.at.place(r, frame, &mut site.size, form)?;
    if let PlacementSettings::FromTo(ends) = placement {
        complete(&mut site.size, form, norm([0, 1, 2].map(|i| ends[i] - ends[i + 3])));
    }
    let name = b.name(r, "site", suffix, b.articulation.sites.len());
    let settings = SiteSettings { name, placement, form, size: site.size };
    b.articulation
        .add_site(&mut b.model.leaves, body, &settings)
        .map(|_| ())
        .map_err(|e| r.refused(e))
}
