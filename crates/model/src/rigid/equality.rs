//! Equality constraints.

use super::Articulation;
use super::joint::{SOLIMP_DEFAULT, SOLREF_DEFAULT};
use super::leaves::{Maker, SOLIMP, SOLREF};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// What a [`EqualityKind::Connect`] or [`EqualityKind::Weld`] acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Two bodies; the world is body 0.
    Bodies([usize; 2]),
    /// Two sites.
    Sites([usize; 2]),
}

/// Kind of an equality constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum EqualityKind {
    /// Two points coincide.
    Connect {
        /// The two frames.
        place: Place,
        /// The point in the first body's frame, `anchor`, m; none between sites. Where it is in the
        /// second body follows from the reference pose.
        anchor: Option<LeafId>,
    },
    /// Two frames coincide.
    Weld {
        /// The two frames.
        place: Place,
        /// The point in the *second* body's frame, `anchor`, m; none between sites.
        anchor: Option<LeafId>,
        /// Pose of the second body in the first's frame, `relpose`: position and quaternion; from the
        /// reference pose where absent.
        relpose: Option<LeafId>,
        /// Weight of the rotation against the translation, `torquescale`, m.
        torquescale: LeafId,
    },
    /// A joint follows another by a polynomial, or is held.
    Joint {
        /// The joint that follows.
        joint: usize,
        /// The joint that it follows.
        other: Option<usize>,
        /// Coefficients of order 0 to 4, `polycoef`.
        polycoef: LeafId,
    },
    /// A tendon follows another by a polynomial, or is held.
    Tendon {
        /// The tendon that follows.
        tendon: usize,
        /// The tendon that it follows.
        other: Option<usize>,
        /// Coefficients of order 0 to 4, `polycoef`.
        polycoef: LeafId,
    },
}

/// An equality constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Equality {
    /// Name; leaves are `equality.NAME.…`.
    pub name: String,
    /// Kind.
    pub kind: EqualityKind,
    /// Whether it is in force.
    pub active: bool,
    /// Constraint, `solref`.
    pub solref: LeafId,
    /// Impedance, `solimp`.
    pub solimp: LeafId,
}

/// An [`EqualityKind`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum EqualityKindSettings {
    /// Two points coincide.
    Connect {
        /// The two frames.
        place: Place,
        /// The point in the first body's frame, m; between bodies only.
        anchor: [f64; 3],
    },
    /// Two frames coincide.
    Weld {
        /// The two frames.
        place: Place,
        /// The point in the second body's frame, m; between bodies only.
        anchor: [f64; 3],
        /// Position and quaternion of the second body in the first's frame.
        relpose: Option<[f64; 7]>,
        /// Weight of the rotation, m.
        torquescale: f64,
    },
    /// A joint follows another, or is held.
    Joint {
        /// The joint that follows.
        joint: usize,
        /// The joint that it follows.
        other: Option<usize>,
        /// Coefficients of order 0 to 4.
        polycoef: [f64; 5],
    },
    /// A tendon follows another, or is held.
    Tendon {
        /// The tendon that follows.
        tendon: usize,
        /// The tendon that it follows.
        other: Option<usize>,
        /// Coefficients of order 0 to 4.
        polycoef: [f64; 5],
    },
}

/// An [`Equality`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct EqualitySettings {
    /// Name.
    pub name: String,
    /// Whether it is in force.
    pub active: bool,
    /// Constraint.
    pub solref: [f64; 2],
    /// Impedance.
    pub solimp: [f64; 5],
}

impl Default for EqualitySettings {
    fn default() -> Self {
        Self { name: String::new(), active: true, solref: SOLREF_DEFAULT, solimp: SOLIMP_DEFAULT }
    }
}

impl Articulation {
    /// Adds an equality constraint and returns its index.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn add_equality(
        &mut self,
        leaves: &mut Leaves,
        s: &EqualitySettings,
        kind: &EqualityKindSettings,
    ) -> Result<usize, ModelError> {
        let mut make = Maker::new(leaves, "equality", &s.name);
        let mut anchor = |place: &Place, anchor: &[f64; 3], about: &str| match place {
            Place::Bodies(_) => make.vector("anchor", anchor, "m", about).map(Some),
            Place::Sites(_) => Ok(None),
        };
        let kind = match kind {
            EqualityKindSettings::Connect { place, anchor: point } => EqualityKind::Connect {
                place: *place,
                anchor: anchor(place, point, "the common point in the first body's frame")?,
            },
            EqualityKindSettings::Weld { place, anchor: point, relpose, torquescale } => {
                let anchor = anchor(place, point, "the common point in the second body's frame")?;
                let about = "weight of the rotation against the translation";
                let torquescale =
                    make.scalar("torquescale", *torquescale, "m", Bounds::ANY, about)?;
                let relpose = match relpose {
                    Some(pose) => {
                        let about = "pose of the second body in the first's frame: position (m), \
                                     quaternion w x y z";
                        Some(make.vector("relpose", pose, "", about)?)
                    }
                    None => None,
                };
                EqualityKind::Weld { place: *place, anchor, relpose, torquescale }
            }
            EqualityKindSettings::Joint { joint, other, polycoef } => EqualityKind::Joint {
                joint: *joint,
                other: *other,
                polycoef: make.vector("polycoef", polycoef, "", POLYNOMIAL)?,
            },
            EqualityKindSettings::Tendon { tendon, other, polycoef } => EqualityKind::Tendon {
                tendon: *tendon,
                other: *other,
                polycoef: make.vector("polycoef", polycoef, "", POLYNOMIAL)?,
            },
        };
        let solref = make.vector("solref", &s.solref, "", SOLREF)?;
        let solimp = make.vector("solimp", &s.solimp, "", SOLIMP)?;
        self.equalities.push(Equality {
            name: s.name.clone(),
            kind,
            active: s.active,
            solref,
            solimp,
        });
        Ok(self.equalities.len() - 1)
    }
}

const POLYNOMIAL: &str = "coefficients of order 0 to 4 of the law that it follows";
