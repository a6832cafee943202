//! Geoms that bodies touch.

use crate::leaf::LeafId;

/// The shape of a geom, as in MJCF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An infinite plane, normal along the geom's z axis; no size.
    Plane,
    /// A sphere; size: radius.
    Sphere,
    /// A box; size: three half lengths.
    Box,
    /// A capsule along the geom's z axis; size: radius, half length of the cylinder part.
    Capsule,
}

impl Shape {
    /// How many numbers its size has.
    pub const fn size_len(self) -> usize {
        match self {
            Self::Plane => 0,
            Self::Sphere => 1,
            Self::Capsule => 2,
            Self::Box => 3,
        }
    }
    /// MJCF's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Sphere => "sphere",
            Self::Box => "box",
            Self::Capsule => "capsule",
        }
    }
}

/// How a vertex's contact with a geom pushes back; a registered law and its leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactMaterial {
    /// "smooth" (C¹ at onset, default), "warp" (warp.sim's ground) or "warp-shape" (warp.sim's
    /// particle-shape contact).
    pub law: String,
    /// Stiffness per vertex, `geom.NAME.stiffness`, N/m.
    pub stiffness: LeafId,
    /// Damping per vertex, `geom.NAME.damping`, N s/m.
    pub damping: LeafId,
    /// Coulomb coefficient, `geom.NAME.friction`.
    pub friction: LeafId,
    /// How friction starts: slope of the force over slip speed (warp.sim's kf), N s/m,
    /// `geom.NAME.friction_damping`; used where `slip_speed` is `None`.
    pub friction_damping: Option<LeafId>,
    /// Slip speed, `geom.NAME.slip_speed`, m/s, over which friction reaches Coulomb's value.
    pub slip_speed: Option<LeafId>,
    /// Depth over which spring and damping grow, `geom.NAME.ramp`, m ("smooth" only).
    pub ramp: LeafId,
}

/// A static geom.
#[derive(Clone, Debug, PartialEq)]
pub struct Geom {
    /// Name; leaves are `geom.NAME.…`.
    pub name: String,
    /// Shape.
    pub shape: Shape,
    /// Position of its frame, `geom.NAME.pos`, m.
    pub pos: LeafId,
    /// Orientation, `geom.NAME.quat`, w x y z, normalised before use.
    pub quat: LeafId,
    /// Size as its [`Shape`] says, `geom.NAME.size`, m; `None` for a plane.
    pub size: Option<LeafId>,
    /// Contact with soft vertices.
    pub contact: ContactMaterial,
}
