//! Tendons.

use super::Articulation;
use super::joint::{SOLIMP_DEFAULT, SOLREF_DEFAULT};
use super::leaves::{Maker, SOLIMP, SOLREF};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// One element of a spatial tendon's path.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrap {
    /// Through a site.
    Site(usize),
    /// Around a sphere or cylinder.
    Geom {
        /// The geom.
        geom: usize,
        /// The site that says on which side.
        side: Option<usize>,
    },
    /// What follows counts divided by a number, `divisor` of the tendon at this place.
    Pulley {
        /// Place in the leaf `pulleys`.
        index: usize,
    },
}

/// What a tendon's length is.
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPath {
    /// A sum of joint positions.
    Fixed {
        /// The joints (slides and hinges).
        joints: Vec<usize>,
        /// Their coefficients, `coef`.
        coef: LeafId,
    },
    /// The length of a path through sites.
    Spatial {
        /// The path.
        wraps: Vec<Wrap>,
        /// Divisors of its pulleys, `pulleys`; none where it has none.
        pulleys: Option<LeafId>,
    },
}

/// A tendon.
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// Name; leaves are `tendon.NAME.…`.
    pub name: String,
    /// What its length is.
    pub path: TendonPath,
    /// Stiffness, `stiffness`: one number, or three with the terms of second and third order.
    pub stiffness: LeafId,
    /// Damping, `damping`: one number, or three with the terms of second and third order.
    pub damping: LeafId,
    /// Lengths between which the spring is slack, `springlength`, m; none where the length in the
    /// reference pose of springs is the resting length.
    pub springlength: Option<LeafId>,
    /// Inertia along its length, `armature`, kg.
    pub armature: LeafId,
    /// Dry friction, `frictionloss`, N.
    pub frictionloss: LeafId,
    /// Whether `range` limits it.
    pub limited: bool,
    /// Limits, `range`, m.
    pub range: LeafId,
    /// Distance to the limit at which its constraint starts, `margin`, m.
    pub margin: LeafId,
    /// Constraint of the limit, `solreflimit`.
    pub solref_limit: LeafId,
    /// Impedance of the limit, `solimplimit`.
    pub solimp_limit: LeafId,
    /// Constraint of dry friction, `solreffriction`.
    pub solref_friction: LeafId,
    /// Impedance of dry friction, `solimpfriction`.
    pub solimp_friction: LeafId,
    /// Limits of the sum of actuator forces, `actuatorfrcrange`, N.
    pub actuator_force_range: Option<LeafId>,
}

/// A [`TendonPath`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPathSettings {
    /// Joints with their coefficients.
    Fixed(Vec<(usize, f64)>),
    /// A path.
    Spatial(Vec<WrapSettings>),
}

/// A [`Wrap`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum WrapSettings {
    /// Through a site.
    Site(usize),
    /// Around a geom, on the side of a site.
    Geom(usize, Option<usize>),
    /// What follows counts divided by a number.
    Pulley(f64),
}

/// A [`Tendon`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonSettings {
    /// Name.
    pub name: String,
    /// Stiffness with its terms of second and third order.
    pub stiffness: [f64; 3],
    /// Damping with its terms of second and third order.
    pub damping: [f64; 3],
    /// Lengths between which the spring is slack, m.
    pub springlength: Option<[f64; 2]>,
    /// Inertia along its length, kg.
    pub armature: f64,
    /// Dry friction, N.
    pub frictionloss: f64,
    /// Whether `range` limits it.
    pub limited: bool,
    /// Limits, m.
    pub range: [f64; 2],
    /// Distance to the limit at which its constraint starts, m.
    pub margin: f64,
    /// Constraint of the limit.
    pub solref_limit: [f64; 2],
    /// Impedance of the limit.
    pub solimp_limit: [f64; 5],
    /// Constraint of dry friction.
    pub solref_friction: [f64; 2],
    /// Impedance of dry friction.
    pub solimp_friction: [f64; 5],
    /// Limits of the sum of actuator forces, N.
    pub actuator_force_range: Option<[f64; 2]>,
}

impl Default for TendonSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            stiffness: [0.0; 3],
            damping: [0.0; 3],
            springlength: None,
            armature: 0.0,
            frictionloss: 0.0,
            limited: false,
            range: [0.0; 2],
            margin: 0.0,
            solref_limit: SOLREF_DEFAULT,
            solimp_limit: SOLIMP_DEFAULT,
            solref_friction: SOLREF_DEFAULT,
            solimp_friction: SOLIMP_DEFAULT,
            actuator_force_range: None,
        }
    }
}

impl Articulation {
    /// Adds a tendon and returns its index.
    ///
    /// # Errors
    /// A name that is taken, a negative armature or friction, a coefficient on a joint that is no slide
    /// or hinge, a divisor that is not positive.
    pub fn add_tendon(
        &mut self,
        leaves: &mut Leaves,
        s: &TendonSettings,
        path: &TendonPathSettings,
    ) -> Result<usize, ModelError> {
        let mut make = Maker::new(leaves, "tendon", &s.name);
        let path = match path {
            TendonPathSettings::Fixed(joints) => {
                if let Some((joint, _)) =
                    joints.iter().find(|(j, _)| !self.joints[*j].kind.is_scalar())
                {
                    return Err(ModelError::invalid(
                        format!("tendon.{}", s.name),
                        format!("joint `{}` is no slide or hinge", self.joints[*joint].name),
                    ));
                }
                let coef: Vec<f64> = joints.iter().map(|(_, c)| *c).collect();
                TendonPath::Fixed {
                    joints: joints.iter().map(|(j, _)| *j).collect(),
                    coef: make.vector("coef", &coef, "", "coefficients of the joints")?,
                }
            }
            TendonPathSettings::Spatial(settings) => {
                let mut divisors = Vec::new();
                let mut wraps = Vec::with_capacity(settings.len());
                for wrap in settings {
                    wraps.push(match wrap {
                        WrapSettings::Site(site) => Wrap::Site(*site),
                        WrapSettings::Geom(geom, side) => Wrap::Geom { geom: *geom, side: *side },
                        WrapSettings::Pulley(divisor) => {
                            divisors.push(*divisor);
                            Wrap::Pulley { index: divisors.len() - 1 }
                        }
                    });
                }
                let pulleys = if divisors.is_empty() {
                    None
                } else {
                    let about = "divisors of the pulleys";
                    Some(make.bounded("pulleys", &divisors, "", Bounds::POSITIVE, about)?)
                };
                TendonPath::Spatial { wraps, pulleys }
            }
        };
        let bounds = Bounds::NON_NEGATIVE;
        let stiffness = make.polynomial("stiffness", s.stiffness, "N/m", bounds, "stiffness")?;
        let damping = make.polynomial("damping", s.damping, "N s/m", bounds, "damping")?;
        let springlength = match s.springlength {
            Some(lengths) => {
                let about = "lengths between which the spring is slack";
                Some(make.vector("springlength", &lengths, "m", about)?)
            }
            None => None,
        };
        let about = "inertia along its length";
        let armature = make.scalar("armature", s.armature, "kg", bounds, about)?;
        let frictionloss =
            make.scalar("frictionloss", s.frictionloss, "N", bounds, "dry friction")?;
        let range = make.vector("range", &s.range, "m", "lower and upper limit")?;
        let about = "distance to the limit at which its constraint starts";
        let margin = make.scalar("margin", s.margin, "m", Bounds::ANY, about)?;
        let solref_limit = make.vector("solreflimit", &s.solref_limit, "", SOLREF)?;
        let solimp_limit = make.vector("solimplimit", &s.solimp_limit, "", SOLIMP)?;
        let solref_friction = make.vector("solreffriction", &s.solref_friction, "", SOLREF)?;
        let solimp_friction = make.vector("solimpfriction", &s.solimp_friction, "", SOLIMP)?;
        let actuator_force_range = match s.actuator_force_range {
            Some(range) => {
                let about = "limits of the sum of actuator forces";
                Some(make.vector("actuatorfrcrange", &range, "N", about)?)
            }
            None => None,
        };
        self.tendons.push(Tendon {
            name: s.name.clone(),
            path,
            stiffness,
            damping,
            springlength,
            armature,
            frictionloss,
            limited: s.limited,
            range,
            margin,
            solref_limit,
            solimp_limit,
            solref_friction,
            solimp_friction,
            actuator_force_range,
        });
        Ok(self.tendons.len() - 1)
    }
}
