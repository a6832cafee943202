//! Actuators.

use super::Articulation;
pub use super::actuator_settings::{ActuatorSettings, LawSettings, MuscleSettings};
use super::leaves::Maker;
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// What an actuator pulls at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// A joint; for ball and free joints the gear is an axis in the frame of the child, or of the
    /// parent.
    Joint {
        /// The joint.
        joint: usize,
        /// Whether rotation axes are given in the parent's frame.
        in_parent: bool,
    },
    /// A tendon.
    Tendon {
        /// The tendon.
        tendon: usize,
    },
    /// A force and torque at a site.
    Site {
        /// The site.
        site: usize,
        /// The site against which lengths are measured.
        reference: Option<usize>,
    },
    /// A slider along the z axis of a site, held at a crank by a rod of the actuator's `cranklength`.
    SliderCrank {
        /// The site at the crank's end of the rod.
        crank: usize,
        /// The site along whose z axis the slider moves.
        slider: usize,
    },
}

/// How activation follows control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DynamicsLaw {
    /// No activation.
    #[default]
    None,
    /// The activation is the integral of the control.
    Integrator,
    /// First-order filter of time constant dynprm\[0\].
    Filter,
    /// The same, integrated exactly.
    FilterExact,
    /// Muscle activation.
    Muscle,
}

/// How force depends on activation or control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GainLaw {
    /// gainprm\[0\].
    #[default]
    Fixed,
    /// gainprm\[0\] + gainprm\[1\] length + gainprm\[2\] velocity.
    Affine,
    /// Muscle force-length-velocity.
    Muscle,
}

/// The part of the force that does not depend on activation or control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BiasLaw {
    /// Nothing.
    #[default]
    None,
    /// biasprm\[0\] + biasprm\[1\] length + biasprm\[2\] velocity.
    Affine,
    /// Muscle passive force.
    Muscle,
}

/// A servo's damping as the file says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServoDamping<T> {
    /// Force per velocity, `kv`.
    Kv(T),
    /// Damping ratio at the reference pose, `dampratio`.
    Ratio(T),
}

/// How an actuator makes force, as the file says it.
#[derive(Clone, Debug, PartialEq)]
pub enum ActuatorLaw {
    /// All parts given: `dynprm`, `gainprm`, `biasprm`, at least three numbers each.
    General {
        /// Law of activation.
        dynamics: DynamicsLaw,
        /// Its parameters.
        dynprm: LeafId,
        /// Law of gain.
        gain: GainLaw,
        /// Its parameters.
        gainprm: LeafId,
        /// Law of bias.
        bias: BiasLaw,
        /// Its parameters.
        biasprm: LeafId,
    },
    /// Force is control.
    Motor,
    /// kp (control − length) − kv velocity, the control filtered where there is a time constant.
    Position {
        /// `kp`.
        kp: LeafId,
        /// `kv` or `dampratio`.
        damping: ServoDamping<LeafId>,
        /// `timeconst`, s.
        timeconst: Option<LeafId>,
    },
    /// kv (control − velocity).
    Velocity {
        /// `kv`.
        kv: LeafId,
    },
    /// kp (activation − length) − kv velocity, the activation being the integral of the control.
    IntVelocity {
        /// `kp`.
        kp: LeafId,
        /// `kv` or `dampratio`.
        damping: ServoDamping<LeafId>,
    },
    /// −kv velocity control.
    Damper {
        /// `kv`.
        kv: LeafId,
    },
    /// Pressure, filtered, times area, with an affine bias.
    Cylinder {
        /// `timeconst`, s.
        timeconst: LeafId,
        /// `area`, m², or `diameter`, m.
        area: LeafId,
        /// Whether `area` holds a diameter.
        by_diameter: bool,
        /// `bias`, three numbers.
        bias: LeafId,
    },
    /// A muscle: `timeconst`, `tausmooth`, and the numbers of [`MuscleSettings`] under their names.
    Muscle {
        /// Time constants of activation and deactivation, s.
        timeconst: LeafId,
        /// Width of the transition between them.
        tausmooth: LeafId,
        /// range (two), force, scale, lmin, lmax, vmax, fpmax, fvmax.
        curve: [LeafId; 8],
    },
}

impl ActuatorLaw {
    /// Numbers in act.
    pub fn activations(&self) -> usize {
        usize::from(self.dynamics() != DynamicsLaw::None)
    }
    /// Its law of activation.
    pub fn dynamics(&self) -> DynamicsLaw {
        match self {
            Self::General { dynamics, .. } => *dynamics,
            Self::Position { timeconst: Some(_), .. } => DynamicsLaw::FilterExact,
            Self::IntVelocity { .. } => DynamicsLaw::Integrator,
            Self::Cylinder { .. } => DynamicsLaw::Filter,
            Self::Muscle { .. } => DynamicsLaw::Muscle,
            Self::Motor | Self::Position { .. } | Self::Velocity { .. } | Self::Damper { .. } => {
                DynamicsLaw::None
            }
        }
    }
    /// Its law of gain.
    pub fn gain(&self) -> GainLaw {
        match self {
            Self::General { gain, .. } => *gain,
            Self::Damper { .. } => GainLaw::Affine,
            Self::Muscle { .. } => GainLaw::Muscle,
            _ => GainLaw::Fixed,
        }
    }
    /// Its law of bias.
    pub fn bias(&self) -> BiasLaw {
        match self {
            Self::General { bias, .. } => *bias,
            Self::Motor | Self::Damper { .. } => BiasLaw::None,
            Self::Muscle { .. } => BiasLaw::Muscle,
            _ => BiasLaw::Affine,
        }
    }
}

/// An actuator.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Name; leaves are `actuator.NAME.…`; its input channel is the same without the number.
    pub name: String,
    /// What it pulls at.
    pub transmission: Transmission,
    /// How it makes force.
    pub law: ActuatorLaw,
    /// Length of the rod of a slider-crank, `cranklength`, m.
    pub crank_length: Option<LeafId>,
    /// Transmission ratio, `gear`: a number, or six for ball and free joints and sites.
    pub gear: LeafId,
    /// Damping that it adds to its joint or tendon, times gear², `damping`: one number, or three with
    /// the terms of second and third order.
    pub damping: LeafId,
    /// Inertia that it adds to its joint or tendon, times gear², `armature`.
    pub armature: LeafId,
    /// Limits of the control, `ctrlrange`, where it is limited.
    pub control_range: Option<LeafId>,
    /// Limits of the force, `forcerange`, where it is limited.
    pub force_range: Option<LeafId>,
    /// Limits of the activation, `actrange`, where it is limited.
    pub activation_range: Option<LeafId>,
    /// Range of lengths, `lengthrange`; muscles.
    pub length_range: Option<LeafId>,
    /// Whether force follows the activation at the end of the step.
    pub early: bool,
    /// Group, by which actuators are switched off.
    pub group: i32,
}

impl Articulation {
    /// Adds an actuator and returns its index.
    ///
    /// # Errors
    /// A name that is taken, a time constant, damping or armature that is negative, a muscle without
    /// a range of lengths.
    pub fn add_actuator(
        &mut self,
        leaves: &mut Leaves,
        transmission: Transmission,
        s: &ActuatorSettings,
    ) -> Result<usize, ModelError> {
        let scalar = match transmission {
            Transmission::Joint { joint, .. } => self.joints[joint].kind.is_scalar(),
            Transmission::Tendon { .. } => true,
            Transmission::SliderCrank { .. } => true,
            Transmission::Site { .. } => false,
        };
        let mut make = Maker::new(leaves, "actuator", &s.name);
        let about = "ratio between the actuator and what it pulls at";
        let gear = if scalar {
            make.scalar("gear", s.gear[0], "", Bounds::ANY, about)?
        } else {
            make.vector("gear", &s.gear, "", about)?
        };
        let bounds = Bounds::NON_NEGATIVE;
        let about = "damping added to its joint or tendon, times the square of the gear";
        let damping = make.polynomial("damping", s.damping, "", bounds, about)?;
        let about = "inertia added to its joint or tendon, times the square of the gear";
        let armature = make.scalar("armature", s.armature, "", bounds, about)?;
        let about = "length of the rod between crank and slider";
        let crank_length = match transmission {
            Transmission::SliderCrank { .. } => {
                let value = s.crank_length;
                Some(make.scalar("cranklength", value, "m", Bounds::POSITIVE, about)?)
            }
            _ => None,
        };
        let mut range = |name: &str, range: Option<[f64; 2]>, about: &str| match range {
            Some(range) => make.vector(name, &range, "", about).map(Some),
            None => Ok(None),
        };
        let control_range = range("ctrlrange", s.control_range, "limits of the control")?;
        let force_range = range("forcerange", s.force_range, "limits of the force")?;
        let activation_range = range("actrange", s.activation_range, "limits of the activation")?;
        let length_range = range("lengthrange", s.length_range, "range of lengths")?;
        let law = add_law(&mut make, &s.law)?;
        let muscle = law.gain() == GainLaw::Muscle || law.bias() == BiasLaw::Muscle;
        if muscle && s.length_range.is_none_or(|[low, high]| low >= high) {
            return Err(ModelError::invalid(
                format!("actuator.{}", s.name),
                "a muscle needs the range of its lengths: give lengthrange with first < second",
            ));
        }
        self.actuators.push(Actuator {
            name: s.name.clone(),
            transmission,
            law,
            crank_length,
            gear,
            damping,
            armature,
            control_range,
            force_range,
            activation_range,
            length_range,
            early: s.early,
            group: s.group,
        });
        Ok(self.actuators.len() - 1)
    }
}

fn add_law(make: &mut Maker<'_>, law: &LawSettings) -> Result<ActuatorLaw, ModelError> {
    const KP: &str = "force per position error";
    const KV: &str = "force per velocity";
    const TIMECONST: &str = "time constant of the activation";
    let any = Bounds::ANY;
    Ok(match law {
        LawSettings::General { dynamics, dynprm, gain, gainprm, bias, biasprm } => {
            let count = |muscle: bool| if muscle { 9 } else { 3 };
            let dynprm = make.vector("dynprm", &dynprm[..3], "", "parameters of the activation")?;
            let n = count(*gain == GainLaw::Muscle);
            let gainprm = make.vector("gainprm", &gainprm[..n], "", "parameters of the gain")?;
            let n = count(*bias == BiasLaw::Muscle);
            let biasprm = make.vector("biasprm", &biasprm[..n], "", "parameters of the bias")?;
            ActuatorLaw::General {
                dynamics: *dynamics,
                dynprm,
                gain: *gain,
                gainprm,
                bias: *bias,
                biasprm,
            }
        }
        LawSettings::Motor => ActuatorLaw::Motor,
        LawSettings::Position { kp, damping, timeconst } => ActuatorLaw::Position {
            kp: make.scalar("kp", *kp, "", any, KP)?,
            damping: servo_damping(make, *damping)?,
            timeconst: if *timeconst == 0.0 {
                None
            } else {
                Some(make.scalar("timeconst", *timeconst, "s", Bounds::POSITIVE, TIMECONST)?)
            },
        },
        LawSettings::Velocity { kv } => {
            ActuatorLaw::Velocity { kv: make.scalar("kv", *kv, "", any, KV)? }
        }
        LawSettings::IntVelocity { kp, damping } => ActuatorLaw::IntVelocity {
            kp: make.scalar("kp", *kp, "", any, KP)?,
            damping: servo_damping(make, *damping)?,
        },
        LawSettings::Damper { kv } => ActuatorLaw::Damper {
            kv: make.scalar("kv", *kv, "", Bounds::NON_NEGATIVE, "damping per control")?,
        },
        LawSettings::Cylinder { timeconst, area, diameter, bias } => {
            let timeconst =
                make.scalar("timeconst", *timeconst, "s", Bounds::POSITIVE, TIMECONST)?;
            let area = match diameter {
                Some(d) => make.scalar("diameter", *d, "m", Bounds::NON_NEGATIVE, "diameter")?,
                None => make.scalar("area", *area, "m^2", any, "area")?,
            };
            let bias =
                make.vector("bias", bias, "", "force without pressure, at length and speed")?;
            ActuatorLaw::Cylinder { timeconst, area, by_diameter: diameter.is_some(), bias }
        }
        LawSettings::Muscle(m) => {
            let timeconst =
                make.bounded("timeconst", &m.timeconst, "s", Bounds::POSITIVE, TIMECONST)?;
            let about = "width of the transition between the time constants";
            let tausmooth =
                make.scalar("tausmooth", m.tausmooth, "", Bounds::NON_NEGATIVE, about)?;
            let about = "operating range, in resting lengths";
            let range = make.vector("range", &m.range, "", about)?;
            let force =
                make.scalar("force", m.force, "N", any, "peak force; negative: by scale")?;
            let about = "peak force times the acceleration that unit force makes";
            let scale = make.scalar("scale", m.scale, "", any, about)?;
            let lmin = make.scalar("lmin", m.lmin, "", any, "shortest length of the curve")?;
            let lmax = make.scalar("lmax", m.lmax, "", any, "longest length of the curve")?;
            let about = "shortening velocity at which force vanishes";
            let vmax = make.scalar("vmax", m.vmax, "1/s", any, about)?;
            let fpmax = make.scalar("fpmax", m.fpmax, "", any, "passive force at lmax")?;
            let about = "force at infinite lengthening velocity";
            let fvmax = make.scalar("fvmax", m.fvmax, "", any, about)?;
            let curve = [range, force, scale, lmin, lmax, vmax, fpmax, fvmax];
            ActuatorLaw::Muscle { timeconst, tausmooth, curve }
        }
    })
}

fn servo_damping(
    make: &mut Maker<'_>,
    damping: ServoDamping<f64>,
) -> Result<ServoDamping<LeafId>, ModelError> {
    Ok(match damping {
        ServoDamping::Kv(kv) => {
            ServoDamping::Kv(make.scalar("kv", kv, "", Bounds::ANY, "force per velocity")?)
        }
        ServoDamping::Ratio(ratio) => {
            let about = "damping ratio at the reference pose";
            ServoDamping::Ratio(make.scalar("dampratio", ratio, "", Bounds::NON_NEGATIVE, about)?)
        }
    })
}
