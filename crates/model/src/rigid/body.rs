//! Bodies and their inertia.

use super::leaves::{Maker, mass_bounds};
use super::{Articulation, Placement, PlacementSettings};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name; leaves are `body.NAME.…`. The world's is `world`.
    pub name: String,
    /// Index of the parent; the world's is its own.
    pub parent: usize,
    /// Position and orientation in the parent's frame; none for the world.
    pub placement: Option<Placement>,
    /// Fraction of its weight that is compensated, `gravcomp`; none for the world.
    pub gravcomp: Option<LeafId>,
    /// Mass and inertia.
    pub inertial: Inertial,
    /// Whether its pose is prescribed from outside (a static body unless an input moves it).
    pub mocap: bool,
}

/// Where a body's mass and inertia come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Inertial {
    /// From its geoms: the sum over those with [`in_inertia`](super::Geom::in_inertia).
    FromGeoms,
    /// Given: `mass`, `ipos`, and the tensor about the centre of mass.
    Given {
        /// Mass, `mass`, kg.
        mass: LeafId,
        /// Centre of mass in the body's frame, `ipos`, m.
        ipos: LeafId,
        /// Inertia about the centre of mass.
        tensor: Tensor,
    },
    /// Given as the tensor per mass, so that the mass scales it: `scaledmass`, `ipos`.
    Proportional {
        /// Mass, `scaledmass`, kg.
        mass: LeafId,
        /// Centre of mass in the body's frame, `ipos`, m.
        ipos: LeafId,
        /// Inertia about the centre of mass at the mass `reference`.
        tensor: Tensor,
        /// The mass to which the tensor belongs, kg.
        reference: f64,
    },
    /// From its geoms, all scaled to the total mass `scaledmass`.
    GeomsScaled {
        /// Total mass, `scaledmass`, kg.
        mass: LeafId,
    },
    /// Log-Cholesky parameters of the pseudo-inertia, `pseudoinertia`, ten numbers α, d1, d2, d3, s12,
    /// s23, s13, t1, t2, t3: the pseudo-inertia is e^{2α} U Uᵀ with the upper triangular
    /// U = [e^d1 s12 s13 t1; 0 e^d2 s23 t2; 0 0 e^d3 t3; 0 0 0 1] (Rucker and Wensing 2022).
    PseudoInertia {
        /// The ten parameters.
        parameters: LeafId,
    },
}

/// Inertia tensor about the centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub enum Tensor {
    /// Diagonal in a frame of its own: `diaginertia`, kg m², and `iquat`.
    Diagonal {
        /// Principal inertias, `diaginertia`, kg m².
        diagonal: LeafId,
        /// Orientation of the principal axes in the body's frame, `iquat`.
        iquat: LeafId,
    },
    /// In the body's axes, `fullinertia`: xx, yy, zz, xy, xz, yz, kg m².
    Full {
        /// The six numbers.
        full: LeafId,
    },
}

/// A [`Body`] in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodySettings {
    /// Name.
    pub name: String,
    /// Position and orientation in the parent's frame.
    pub placement: PlacementSettings,
    /// Fraction of its weight that is compensated.
    pub gravcomp: f64,
    /// Mass and inertia.
    pub inertial: InertialSettings,
    /// Whether its pose is prescribed from outside.
    pub mocap: bool,
}

/// An [`Inertial`] in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InertialSettings {
    /// From the geoms.
    #[default]
    FromGeoms,
    /// Principal inertias in a frame of their own.
    Diagonal {
        /// Mass, kg.
        mass: f64,
        /// Centre of mass in the body's frame, m.
        pos: [f64; 3],
        /// Orientation of the principal axes.
        quat: [f64; 4],
        /// Principal inertias, kg m².
        diagonal: [f64; 3],
    },
    /// Full tensor in the body's axes.
    Full {
        /// Mass, kg.
        mass: f64,
        /// Centre of mass in the body's frame, m.
        pos: [f64; 3],
        /// xx, yy, zz, xy, xz, yz about the centre of mass, kg m².
        full: [f64; 6],
    },
}

impl Body {
    /// The world.
    pub fn world() -> Self {
        Self {
            name: "world".into(),
            parent: 0,
            placement: None,
            gravcomp: None,
            inertial: Inertial::FromGeoms,
            mocap: false,
        }
    }
}

pub(super) const MASS: &str = "mass of the body";
pub(super) const IPOS: &str = "centre of mass in the body's frame";
pub(super) const FULL: &str = "inertia about the centre of mass in the body's axes: \
                               xx, yy, zz, xy, xz, yz";

impl Articulation {
    /// Adds a body to body `parent` and returns its index. Bodies must come depth first.
    ///
    /// # Errors
    /// A name that is taken, a negative mass or principal inertia.
    pub fn add_body(
        &mut self,
        leaves: &mut Leaves,
        parent: usize,
        settings: &BodySettings,
    ) -> Result<usize, ModelError> {
        let s = settings;
        let mut make = Maker::new(leaves, "body", &s.name);
        let placement = Some(s.placement.leaves(&mut make)?);
        let about = "fraction of the weight that is compensated";
        let gravcomp = Some(make.scalar("gravcomp", s.gravcomp, "", Bounds::ANY, about)?);
        let inertial = match &s.inertial {
            InertialSettings::FromGeoms => Inertial::FromGeoms,
            InertialSettings::Diagonal { mass, pos, quat, diagonal } => {
                let mass = make.scalar("mass", *mass, "kg", mass_bounds(*mass), MASS)?;
                let ipos = make.vector("ipos", pos, "m", IPOS)?;
                let about = "principal inertias about the centre of mass";
                let bounds = Bounds::NON_NEGATIVE;
                let diagonal = make.bounded("diaginertia", diagonal, "kg m^2", bounds, about)?;
                let about = "orientation of the principal axes, quaternion w x y z";
                let iquat = make.vector("iquat", quat, "", about)?;
                Inertial::Given { mass, ipos, tensor: Tensor::Diagonal { diagonal, iquat } }
            }
            InertialSettings::Full { mass, pos, full } => {
                let mass = make.scalar("mass", *mass, "kg", mass_bounds(*mass), MASS)?;
                let ipos = make.vector("ipos", pos, "m", IPOS)?;
                let full = make.vector("fullinertia", full, "kg m^2", FULL)?;
                Inertial::Given { mass, ipos, tensor: Tensor::Full { full } }
            }
        };
        self.bodies.push(Body {
            name: s.name.clone(),
            parent,
            placement,
            gravcomp,
            inertial,
            mocap: s.mocap,
        });
        Ok(self.bodies.len() - 1)
    }
}
