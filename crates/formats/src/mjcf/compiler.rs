//! The sections that hold for the whole model: `compiler`, `option`, `size`.

use super::attributes::Reader;
use super::build::Builder;
use crate::error::{Error, ErrorKind, Result};
use costate_model::ModelError;
use costate_model::rigid::{Cone, Fluid, InertiaRules, Integrator};
use std::path::{Path, PathBuf};

/// Settings of the compiler.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    pub degree: bool,
    pub eulerseq: [u8; 3],
    pub autolimits: bool,
    /// Whether inertia is from geoms: always, never, or (none) where nothing is given.
    pub inertia_from_geom: Option<bool>,
    pub inertia_groups: [i64; 2],
    pub inertia: InertiaRules,
    pub mesh_directory: PathBuf,
    pub strip_path: bool,
    pub align_free: bool,
    /// Whether lengths of muscles are copied from the limits of their joint or tendon.
    pub length_from_limit: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            degree: true,
            eulerseq: *b"xyz",
            autolimits: true,
            inertia_from_geom: None,
            inertia_groups: [0, 5],
            inertia: InertiaRules::default(),
            mesh_directory: PathBuf::new(),
            strip_path: false,
            align_free: false,
            length_from_limit: false,
        }
    }
}

impl Compiler {
    /// An angle of the file in radians.
    pub fn angle(&self, angle: f64) -> f64 {
        if self.degree { angle * std::f64::consts::PI / 180.0 } else { angle }
    }

    pub fn read(&mut self, r: &Reader<'_>) -> Result<()> {
        if let Some(degree) = r.choice("angle", &[("degree", true), ("radian", false)])? {
            self.degree = degree;
        }
        if r.choice("coordinate", &[("local", true), ("global", false)])? == Some(false) {
            return Err(r
                .wrong("coordinate", ErrorKind::Unsupported)
                .expected("local coordinates")
                .advice("save the model with a version of MuJoCo before 2.3.4 to convert it"));
        }
        if let Some(text) = r.text("eulerseq") {
            let letters: Option<[u8; 3]> = text.as_bytes().try_into().ok();
            self.eulerseq =
                letters.filter(|l| l.iter().all(|c| b"xyzXYZ".contains(c))).ok_or_else(|| {
                    r.wrong("eulerseq", ErrorKind::WrongType)
                        .expected("three letters of x, y, z, X, Y, Z")
                })?;
        }
        if let Some(autolimits) = r.flag("autolimits")? {
            self.autolimits = autolimits;
        }
        let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        if let Some(from_geom) = r.choice("inertiafromgeom", &words)? {
            self.inertia_from_geom = from_geom;
        }
        if let Some([low, high]) = r.vector::<2>("inertiagrouprange")? {
            self.inertia_groups = [low as i64, high as i64];
        }
        let least = |name: &str, into: &mut f64| -> Result<()> {
            r.set_number(name, into)?;
            if *into < 0.0 {
                return Err(r.wrong(name, ErrorKind::OutOfBounds).expected("zero or more"));
            }
            Ok(())
        };
        least("boundmass", &mut self.inertia.boundmass)?;
        least("boundinertia", &mut self.inertia.boundinertia)?;
        if let Some(balance) = r.flag("balanceinertia")? {
            self.inertia.balanceinertia = balance;
        }
        if let Some(total) = r.number("settotalmass")? {
            self.inertia.settotalmass = (total > 0.0).then_some(total);
        }
        for name in ["assetdir", "meshdir"] {
            if let Some(directory) = r.text(name) {
                self.mesh_directory = PathBuf::from(directory);
            }
        }
        if let Some(strip) = r.flag("strippath")? {
            self.strip_path = strip;
        }
        if let Some(align) = r.flag("alignfree")? {
            self.align_free = align;
        }
        for child in r.children() {
            if let Some(limit) = child.flag("uselimit")? {
                self.length_from_limit = limit;
            }
        }
        Ok(())
    }

    /// Where a mesh file is.
    pub fn mesh_path(&self, main: &Path, file: &str) -> PathBuf {
        let file = Path::new(file);
        let name = match file.file_name() {
            Some(name) if self.strip_path => Path::new(name),
            _ => file,
        };
        main.parent().unwrap_or(Path::new("")).join(&self.mesh_directory).join(name)
    }
}

/// Reads an `option` section.
pub(super) fn read_option(b: &mut Builder<'_>, r: &Reader<'_>) -> Result<()> {
    if let Some(h) = r.number("timestep")? {
        if h <= 0.0 {
            return Err(r.wrong("timestep", ErrorKind::OutOfBounds).expected("a number above 0"));
        }
        b.model.options.timestep = h;
    }
    if let Some(gravity) = r.vector::<3>("gravity")? {
        let id = b.model.options.gravity;
        b.model.leaves.set(id, &gravity).map_err(|e| r.refused(e))?;
    }
    for (i, name) in ["density", "viscosity"].into_iter().enumerate() {
        if let Some(x) = r.number(name)? {
            if x < 0.0 {
                return Err(r
                    .wrong(name, ErrorKind::OutOfBounds)
                    .expected("a number of 0 or more"));
            }
            b.fluid.0[i] = x;
        }
    }
    r.set("wind", &mut b.fluid.1)?;
    let o = &mut b.articulation.options;
    r.set_number("impratio", &mut o.impratio)?;
    r.set_number("tolerance", &mut o.tolerance)?;
    r.set_number("ls_tolerance", &mut o.ls_tolerance)?;
    if let Some(n) = r.small("iterations")? {
        o.iterations = n;
    }
    if let Some(n) = r.small("ls_iterations")? {
        o.ls_iterations = n;
    }
    let words = [
        ("Euler", Integrator::Euler),
        ("RK4", Integrator::RungeKutta4),
        ("implicit", Integrator::Implicit),
        ("implicitfast", Integrator::ImplicitFast),
        ("discrete", Integrator::Discrete),
    ];
    if let Some(integrator) = r.choice("integrator", &words)? {
        o.integrator = integrator;
    }
    let words = [("pyramidal", Cone::Pyramidal), ("elliptic", Cone::Elliptic)];
    if let Some(cone) = r.choice("cone", &words)? {
        o.cone = cone;
    }
    if let Some(groups) = r.numbers("actuatorgroupdisable")? {
        for group in groups {
            if !(0.0..=30.0).contains(&group) || group.fract() != 0.0 {
                return Err(r
                    .wrong("actuatorgroupdisable", ErrorKind::OutOfBounds)
                    .expected("integers from 0 to 30"));
            }
            o.disabled_actuators |= 1 << group as u32;
        }
    }
    if r.number("noslip_iterations")?.is_some_and(|n| n > 0.0) {
        b.unsupported(r, "noslip", "the correction of slip after the constraint solver");
    }
    for child in r.children() {
        read_flags(b, &child)?;
    }
    Ok(())
}

/// Adds the fluid that the `option` sections have described, if any.
pub(super) fn add_fluid(b: &mut Builder<'_>) -> Result<()> {
    let ([density, viscosity], wind) = b.fluid;
    if density > 0.0 || viscosity > 0.0 {
        let fluid = Fluid::new(&mut b.model.leaves, density, viscosity, wind);
        let path = &b.document.files[0].path;
        let refused =
            |e: ModelError| Error::new(ErrorKind::Conflict).in_file(path).found(e.to_string());
        b.articulation.options.fluid = Some(fluid.map_err(refused)?);
    }
    Ok(())
}

fn read_flags(b: &mut Builder<'_>, r: &Reader<'_>) -> Result<()> {
    let words = [("enable", true), ("disable", false)];
    let f = &mut b.articulation.options.flags;
    for (name, flag) in [
        ("constraint", &mut f.constraint),
        ("equality", &mut f.equality),
        ("frictionloss", &mut f.frictionloss),
        ("limit", &mut f.limit),
        ("contact", &mut f.contact),
        ("spring", &mut f.spring),
        ("damper", &mut f.damper),
        ("gravity", &mut f.gravity),
        ("clampctrl", &mut f.clampctrl),
        ("warmstart", &mut f.warmstart),
        ("filterparent", &mut f.filterparent),
        ("actuation", &mut f.actuation),
        ("refsafe", &mut f.refsafe),
        ("eulerdamp", &mut f.eulerdamp),
        ("diagexact", &mut f.diagexact),
    ] {
        if let Some(value) = r.choice(name, &words)? {
            *flag = value;
        }
    }
    if !b.articulation.options.flags.filterparent {
        b.unsupported(r, "filterparent", "contacts between a body and its parent");
    }
    for (name, about) in [
        ("override", "contact parameters that replace those of the geoms"),
        ("sleep", "bodies that fall asleep"),
        ("ipc", "incremental potential contact"),
        ("speculative", "speculative contacts"),
    ] {
        if r.choice(name, &words)? == Some(true) {
            b.unsupported(r, name, about);
        }
    }
    Ok(())
}
