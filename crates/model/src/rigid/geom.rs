//! Geoms: shapes on bodies that give mass and touch each other.

use std::sync::Arc;

use costate_num::{Quat, Vec3};

use super::Articulation;
use super::hull::{Hull, HullError};
use super::joint::{SOLIMP_DEFAULT, SOLREF_DEFAULT};
use super::leaves::{Maker, SOLIMP, SOLREF, mass_bounds};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// The shape of a geom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// An infinite plane, normal along z; no size.
    Plane,
    /// A sphere; size: radius.
    #[default]
    Sphere,
    /// A capsule along z; size: radius, half length of the cylinder part.
    Capsule,
    /// An ellipsoid; size: three half axes.
    Ellipsoid,
    /// A cylinder along z; size: radius, half length.
    Cylinder,
    /// A box; size: three half lengths.
    Box,
    /// A mesh, by its place in [`Articulation::meshes`]; no size.
    Mesh(usize),
    /// A height field, by its place in [`Articulation::fields`]; no size.
    HeightField(usize),
}

impl Form {
    /// How many numbers its size has.
    pub const fn size_len(self) -> usize {
        match self {
            Self::Plane | Self::Mesh(_) | Self::HeightField(_) => 0,
            Self::Sphere => 1,
            Self::Capsule | Self::Cylinder => 2,
            Self::Ellipsoid | Self::Box => 3,
        }
    }
    /// MJCF's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Sphere => "sphere",
            Self::Capsule => "capsule",
            Self::Ellipsoid => "ellipsoid",
            Self::Cylinder => "cylinder",
            Self::Box => "box",
            Self::Mesh(_) => "mesh",
            Self::HeightField(_) => "hfield",
        }
    }
}

/// Position and orientation of a frame in its body's (a body's: in its parent's) frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// Position, `pos`, m, and quaternion w x y z, `quat`, normalised before use.
    Pose {
        /// Position.
        pos: LeafId,
        /// Orientation.
        quat: LeafId,
    },
    /// By the two end points of its z axis, `fromto`, m: the position is the middle, z runs from the
    /// second point to the first by the shortest turn, and half the distance is the last number of
    /// the size; `size` then holds only the first, which is that of the other directions too.
    FromTo {
        /// The end points, six numbers.
        ends: LeafId,
    },
}

/// A [`Placement`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum PlacementSettings {
    /// Position and orientation.
    Pose {
        /// Position, m.
        pos: [f64; 3],
        /// Quaternion w x y z.
        quat: [f64; 4],
    },
    /// End points of the z axis, m.
    FromTo([f64; 6]),
}

impl Default for PlacementSettings {
    fn default() -> Self {
        Self::Pose { pos: [0.0; 3], quat: [1.0, 0.0, 0.0, 0.0] }
    }
}

impl PlacementSettings {
    pub(super) fn leaves(&self, make: &mut Maker<'_>) -> Result<Placement, ModelError> {
        Ok(match self {
            Self::Pose { pos, quat } => {
                Placement::Pose { pos: make.pos(*pos, "position")?, quat: make.quat(*quat)? }
            }
            Self::FromTo(ends) => Placement::FromTo {
                ends: make.vector("fromto", ends, "m", "end points of the shape's z axis")?,
            },
        })
    }
}

/// What gives a geom its mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeomMass<T> {
    /// Mass per volume, kg/m³ (per area, kg/m², for a shell), `density`.
    Density(T),
    /// Mass, kg, `mass`.
    Mass(T),
}

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Geom {
    /// Name; leaves are `geom.NAME.…`.
    pub name: String,
    /// Index of its body.
    pub body: usize,
    /// Shape.
    pub form: Form,
    /// Position and orientation.
    pub placement: Placement,
    /// Size, as its [`Form`] says, less what `fromto` gives, `size`, m; none where nothing is left.
    pub size: Option<LeafId>,
    /// Mass or density.
    pub mass: GeomMass<LeafId>,
    /// Whether the mass is on the surface rather than in the volume.
    pub shell: bool,
    /// Whether it counts for its body's inertia (it lies in the file's range of groups).
    pub in_inertia: bool,
    /// Its own kinds, one bit each.
    pub contype: u32,
    /// The kinds that it touches, one bit each.
    pub conaffinity: u32,
    /// Dimension of its contacts: 1, 3, 4 or 6.
    pub condim: u8,
    /// Whose contact parameters win.
    pub priority: i32,
    /// Sliding, torsional and rolling friction, `friction`.
    pub friction: LeafId,
    /// Weight of its contact parameters in a mixture, `solmix`.
    pub solmix: LeafId,
    /// Constraint of its contacts, `solref`.
    pub solref: LeafId,
    /// Impedance of its contacts, `solimp`.
    pub solimp: LeafId,
    /// Distance at which contacts start to push, `margin`, m.
    pub margin: LeafId,
    /// Distance beyond the margin at which contacts are found, `gap`, m.
    pub gap: LeafId,
    /// Coefficients of blunt, slender and angular drag, of Kutta's and Magnus' lift, where a fluid acts on it as an
    /// ellipsoid, `fluidcoef`.
    pub fluid: Option<LeafId>,
    /// Group, for pictures.
    pub group: i32,
    /// Colour, for pictures: red, green, blue, opacity.
    pub rgba: [f32; 4],
}

/// A [`Geom`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct GeomSettings {
    /// Name.
    pub name: String,
    /// Shape.
    pub form: Form,
    /// Position and orientation.
    pub placement: PlacementSettings,
    /// Size; numbers beyond those of the shape are not used.
    pub size: [f64; 3],
    /// Mass or density.
    pub mass: GeomMass<f64>,
    /// Whether the mass is on the surface.
    pub shell: bool,
    /// Whether it counts for its body's inertia.
    pub in_inertia: bool,
    /// Its own kinds.
    pub contype: u32,
    /// The kinds that it touches.
    pub conaffinity: u32,
    /// Dimension of its contacts.
    pub condim: u8,
    /// Whose contact parameters win.
    pub priority: i32,
    /// Sliding, torsional and rolling friction.
    pub friction: [f64; 3],
    /// Weight of its contact parameters in a mixture.
    pub solmix: f64,
    /// Constraint of its contacts.
    pub solref: [f64; 2],
    /// Impedance of its contacts.
    pub solimp: [f64; 5],
    /// Distance at which contacts start to push, m.
    pub margin: f64,
    /// Distance beyond the margin at which contacts are found, m.
    pub gap: f64,
    /// Coefficients of the fluid's forces on it as an ellipsoid, if it is one for the fluid.
    pub fluid: Option<[f64; 5]>,
    /// Group.
    pub group: i32,
    /// Colour.
    pub rgba: [f32; 4],
}

impl Default for GeomSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            form: Form::Sphere,
            placement: PlacementSettings::default(),
            size: [0.0; 3],
            mass: GeomMass::Density(1000.0),
            shell: false,
            in_inertia: true,
            contype: 1,
            conaffinity: 1,
            condim: 3,
            priority: 0,
            friction: [1.0, 0.005, 0.0001],
            solmix: 1.0,
            solref: SOLREF_DEFAULT,
            solimp: SOLIMP_DEFAULT,
            margin: 0.0,
            gap: 0.0,
            fluid: None,
            group: 0,
            rgba: [0.5, 0.5, 0.5, 1.0],
        }
    }
}

/// A triangle mesh, with its mass properties at density one.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Name.
    pub name: String,
    /// Vertices in the frame of the file, scaled, m.
    pub vertices: Arc<Vec<[f64; 3]>>,
    /// Triangles.
    pub triangles: Arc<Vec<[u32; 3]>>,
    /// Volume, m³, or for a shell area, m².
    pub volume: f64,
    /// Centre of mass in the frame of the file, m.
    pub center: [f64; 3],
    /// Inertia about the centre at density one in the axes of the file: xx, yy, zz, xy, xz, yz.
    pub inertia: [f64; 6],
    /// Orientation of the principal axes, largest inertia first: the frame that a geom's pose
    /// means is at `center` with these axes.
    pub quat: [f64; 4],
}

impl Mesh {
    /// The convex hull of its vertices in the frame that a geom's pose means: about the centre of mass, in
    /// principal axes.
    ///
    /// # Errors
    /// Vertices in one plane.
    pub fn hull(&self) -> Result<Hull, HullError> {
        let [w, x, y, z] = self.quat;
        let back = Quat::new(w, x, y, z).conjugate();
        let center = Vec3::from_array(self.center);
        let moved = |v: &[f64; 3]| back.rotate(Vec3::from_array(*v) - center).to_array();
        Hull::new(&self.vertices.iter().map(moved).collect::<Vec<_>>())
    }
}

impl Articulation {
    /// Adds a geom to body `body` and returns its index.
    ///
    /// # Errors
    /// A size that is not positive, a name that is taken, a negative mass or density.
    pub fn add_geom(
        &mut self,
        leaves: &mut Leaves,
        body: usize,
        s: &GeomSettings,
    ) -> Result<usize, ModelError> {
        let mut make = Maker::new(leaves, "geom", &s.name);
        let placement = s.placement.leaves(&mut make)?;
        let by_ends = matches!(placement, Placement::FromTo { .. });
        let count = if by_ends { s.form.size_len().min(1) } else { s.form.size_len() };
        let size = if count == 0 {
            None
        } else {
            let about = "radius and half length, or half lengths";
            Some(make.bounded("size", &s.size[..count], "m", Bounds::POSITIVE, about)?)
        };
        let mass = match s.mass {
            GeomMass::Density(density) => {
                let (unit, about) = if s.shell {
                    ("kg/m^2", "mass per area")
                } else {
                    ("kg/m^3", "mass per volume")
                };
                let bounds = mass_bounds(density);
                GeomMass::Density(make.scalar("density", density, unit, bounds, about)?)
            }
            GeomMass::Mass(mass) => {
                GeomMass::Mass(make.scalar("mass", mass, "kg", mass_bounds(mass), "mass")?)
            }
        };
        let bounds = Bounds::NON_NEGATIVE;
        let about = "sliding, torsional (m) and rolling (m) friction";
        let friction = make.bounded("friction", &s.friction, "", bounds, about)?;
        let about = "weight of the contact parameters in a mixture";
        let solmix = make.scalar("solmix", s.solmix, "", bounds, about)?;
        let solref = make.vector("solref", &s.solref, "", SOLREF)?;
        let solimp = make.vector("solimp", &s.solimp, "", SOLIMP)?;
        let about = "distance at which contacts start to push";
        let margin = make.scalar("margin", s.margin, "m", Bounds::ANY, about)?;
        let about = "distance beyond the margin at which contacts are found";
        let gap = make.scalar("gap", s.gap, "m", Bounds::ANY, about)?;
        let about =
            "blunt, slender, angular drag, Kutta's and Magnus' lift of an ellipsoid in a fluid";
        let fluid = match &s.fluid {
            Some(values) => Some(make.bounded("fluidcoef", values, "", bounds, about)?),
            None => None,
        };
        self.geoms.push(Geom {
            name: s.name.clone(),
            body,
            form: s.form,
            placement,
            size,
            mass,
            shell: s.shell,
            in_inertia: s.in_inertia,
            contype: s.contype,
            conaffinity: s.conaffinity,
            condim: s.condim,
            priority: s.priority,
            friction,
            solmix,
            solref,
            solimp,
            margin,
            gap,
            fluid,
            group: s.group,
            rgba: s.rgba,
        });
        Ok(self.geoms.len() - 1)
    }
}
