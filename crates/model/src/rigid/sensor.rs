//! Sensors.

use super::{Articulation, ContactSensor, JointKind, TendonPath};

/// A frame that a sensor looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameObject {
    /// The inertial frame of a body (MJCF's `body`).
    Inertial(usize),
    /// The frame of a body (MJCF's `xbody`).
    Body(usize),
    /// The frame of a geom.
    Geom(usize),
    /// The frame of a site.
    Site(usize),
}

/// What a sensor measures. Indices are places in the lists of the articulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SensorKind {
    /// Acceleration of a site less gravity, in its frame (3), m/s².
    Accelerometer(usize),
    /// Velocity of a site in its frame (3), m/s.
    Velocimeter(usize),
    /// Angular velocity of a site in its frame (3), rad/s.
    Gyro(usize),
    /// Force between the bodies of a site and its parent, in its frame (3), N.
    Force(usize),
    /// Torque between the bodies of a site and its parent, in its frame (3), N m.
    Torque(usize),
    /// Sum of normal contact forces inside a site, N.
    Touch(usize),
    /// Contacts: the fields of some of them, one after the other.
    Contact(ContactSensor),
    /// Position of a slide or hinge.
    JointPos(usize),
    /// Velocity of a slide or hinge.
    JointVel(usize),
    /// Length of a tendon.
    TendonPos(usize),
    /// Velocity of a tendon.
    TendonVel(usize),
    /// Length of an actuator.
    ActuatorPos(usize),
    /// Velocity of an actuator.
    ActuatorVel(usize),
    /// Force of an actuator.
    ActuatorFrc(usize),
    /// Sum of actuator forces on a joint.
    JointActuatorFrc(usize),
    /// Sum of actuator forces on a tendon.
    TendonActuatorFrc(usize),
    /// Orientation of a ball joint (4).
    BallQuat(usize),
    /// Angular velocity of a ball joint (3).
    BallAngVel(usize),
    /// Distance to the limit of a joint, less its margin.
    JointLimitPos(usize),
    /// Velocity of that distance.
    JointLimitVel(usize),
    /// Force of a joint's limit.
    JointLimitFrc(usize),
    /// Distance to the limit of a tendon, less its margin.
    TendonLimitPos(usize),
    /// Velocity of that distance.
    TendonLimitVel(usize),
    /// Force of a tendon's limit.
    TendonLimitFrc(usize),
    /// Position of a frame (3), against a reference frame where one is given.
    FramePos(FrameObject, Option<FrameObject>),
    /// Orientation of a frame (4).
    FrameQuat(FrameObject, Option<FrameObject>),
    /// x axis of a frame (3).
    FrameXAxis(FrameObject, Option<FrameObject>),
    /// y axis of a frame (3).
    FrameYAxis(FrameObject, Option<FrameObject>),
    /// z axis of a frame (3).
    FrameZAxis(FrameObject, Option<FrameObject>),
    /// Velocity of a frame (3).
    FrameLinVel(FrameObject, Option<FrameObject>),
    /// Angular velocity of a frame (3).
    FrameAngVel(FrameObject, Option<FrameObject>),
    /// Acceleration of a frame (3).
    FrameLinAcc(FrameObject),
    /// Angular acceleration of a frame (3).
    FrameAngAcc(FrameObject),
    /// Centre of mass of a body and all below it (3).
    SubtreeCom(usize),
    /// Velocity of that centre (3).
    SubtreeLinVel(usize),
    /// Angular momentum about that centre (3).
    SubtreeAngMom(usize),
    /// Potential energy, J.
    PotentialEnergy,
    /// Kinetic energy, J.
    KineticEnergy,
    /// Time, s.
    Clock,
}

impl SensorKind {
    /// How many numbers it gives.
    pub const fn len(self) -> usize {
        match self {
            Self::Contact(of) => of.len(),
            Self::Touch(_)
            | Self::JointPos(_)
            | Self::JointVel(_)
            | Self::TendonPos(_)
            | Self::TendonVel(_)
            | Self::ActuatorPos(_)
            | Self::ActuatorVel(_)
            | Self::ActuatorFrc(_)
            | Self::JointActuatorFrc(_)
            | Self::TendonActuatorFrc(_)
            | Self::JointLimitPos(_)
            | Self::JointLimitVel(_)
            | Self::JointLimitFrc(_)
            | Self::TendonLimitPos(_)
            | Self::TendonLimitVel(_)
            | Self::TendonLimitFrc(_)
            | Self::PotentialEnergy
            | Self::KineticEnergy
            | Self::Clock => 1,
            Self::BallQuat(_) | Self::FrameQuat(..) => 4,
            Self::Accelerometer(_)
            | Self::Velocimeter(_)
            | Self::Gyro(_)
            | Self::Force(_)
            | Self::Torque(_)
            | Self::BallAngVel(_)
            | Self::FramePos(..)
            | Self::FrameXAxis(..)
            | Self::FrameYAxis(..)
            | Self::FrameZAxis(..)
            | Self::FrameLinVel(..)
            | Self::FrameAngVel(..)
            | Self::FrameLinAcc(_)
            | Self::FrameAngAcc(_)
            | Self::SubtreeCom(_)
            | Self::SubtreeLinVel(_)
            | Self::SubtreeAngMom(_) => 3,
        }
    }
    /// Unit of its numbers in a mechanism; "" where they have none, or where a gear or coefficients
    /// decide.
    pub fn unit(self, of: &Articulation) -> &'static str {
        let slides = |joint: usize| of.joints[joint].kind == JointKind::Slide;
        let of_joint = |joint, along, about| if slides(joint) { along } else { about };
        let of_tendon = |tendon: usize, unit| match of.tendons[tendon].path {
            TendonPath::Fixed { .. } => "",
            TendonPath::Spatial { .. } => unit,
        };
        match self {
            Self::JointPos(j) | Self::JointLimitPos(j) => of_joint(j, "m", "rad"),
            Self::JointVel(j) | Self::JointLimitVel(j) => of_joint(j, "m/s", "rad/s"),
            Self::JointActuatorFrc(j) | Self::JointLimitFrc(j) => of_joint(j, "N", "N m"),
            Self::TendonPos(t) | Self::TendonLimitPos(t) => of_tendon(t, "m"),
            Self::TendonVel(t) | Self::TendonLimitVel(t) => of_tendon(t, "m/s"),
            Self::TendonActuatorFrc(t) | Self::TendonLimitFrc(t) => of_tendon(t, "N"),
            Self::Accelerometer(_) | Self::FrameLinAcc(_) => "m/s^2",
            Self::Velocimeter(_) | Self::FrameLinVel(..) | Self::SubtreeLinVel(_) => "m/s",
            Self::Gyro(_) | Self::FrameAngVel(..) | Self::BallAngVel(_) => "rad/s",
            Self::FrameAngAcc(_) => "rad/s^2",
            Self::Force(_) | Self::Touch(_) => "N",
            Self::Torque(_) => "N m",
            Self::FramePos(..) | Self::SubtreeCom(_) => "m",
            Self::SubtreeAngMom(_) => "kg m^2/s",
            Self::PotentialEnergy | Self::KineticEnergy => "J",
            Self::Clock => "s",
            Self::Contact(of) => of.unit(),
            _ => "",
        }
    }
    /// Never: every sensor gives at least one number.
    pub const fn is_empty(self) -> bool {
        false
    }
}

/// A sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Standard deviation of its noise, as a note of the file; 0 where it says nothing.
    pub noise: f64,
    /// Largest magnitude of each value; 0 for no limit.
    pub cutoff: f64,
}
