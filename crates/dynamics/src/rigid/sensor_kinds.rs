//! What sensors are about and measure.

use std::ops::Range;

use costate_model::rigid::ContactSensor;

/// A frame that a sensor is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorObject {
    /// The inertial frame of a body.
    Body(usize),
    /// The frame of a body (`xbody`).
    BodyFrame(usize),
    /// A geom.
    Geom(usize),
    /// A site.
    Site(usize),
}

/// What a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorKind {
    /// Proper acceleration at a site, in its axes.
    Accelerometer(usize),
    /// Linear velocity of a site, in its axes.
    Velocimeter(usize),
    /// Angular velocity of a site, in its axes.
    Gyro(usize),
    /// Force between a site's body and its parent, in the site's axes.
    Force(usize),
    /// Moment between a site's body and its parent about the site, in its axes.
    Torque(usize),
    /// The magnetic flux of the world, in a site's axes.
    Magnetometer(usize),
    /// A scalar joint's coordinate.
    JointPosition(usize),
    /// A scalar joint's velocity.
    JointVelocity(usize),
    /// A tendon's length.
    TendonPosition(usize),
    /// A tendon's velocity.
    TendonVelocity(usize),
    /// An actuator's length.
    ActuatorPosition(usize),
    /// An actuator's velocity.
    ActuatorVelocity(usize),
    /// An actuator's force.
    ActuatorForce(usize),
    /// Total force of actuators on a scalar joint.
    JointActuatorForce(usize),
    /// Total force of actuators on a tendon.
    TendonActuatorForce(usize),
    /// A ball joint's quaternion.
    BallQuaternion(usize),
    /// A ball joint's angular velocity, in the axes of the moved body.
    BallAngularVelocity(usize),
    /// Distance of a joint from its limit.
    JointLimitPosition(usize),
    /// Velocity of a joint from its limit.
    JointLimitVelocity(usize),
    /// Force of a joint's limit.
    JointLimitForce(usize),
    /// Distance of a tendon from its limit.
    TendonLimitPosition(usize),
    /// Velocity of a tendon from its limit.
    TendonLimitVelocity(usize),
    /// Force of a tendon's limit.
    TendonLimitForce(usize),
    /// Position of a frame.
    FramePosition(SensorObject, Option<SensorObject>),
    /// Orientation of a frame.
    FrameQuaternion(SensorObject, Option<SensorObject>),
    /// An axis (0, 1, 2) of a frame.
    FrameAxis(SensorObject, Option<SensorObject>, usize),
    /// Linear velocity of a frame.
    FrameLinearVelocity(SensorObject, Option<SensorObject>),
    /// Angular velocity of a frame.
    FrameAngularVelocity(SensorObject, Option<SensorObject>),
    /// Proper linear acceleration of a frame in world axes.
    FrameLinearAcceleration(SensorObject),
    /// Angular acceleration of a frame in world axes.
    FrameAngularAcceleration(SensorObject),
    /// Centre of mass of a body and what hangs on it.
    SubtreeCenter(usize),
    /// Linear velocity of that centre.
    SubtreeLinearVelocity(usize),
    /// Angular momentum about that centre.
    SubtreeAngularMomentum(usize),
    /// Potential energy.
    PotentialEnergy,
    /// Kinetic energy.
    KineticEnergy,
    /// Time.
    Clock,
    /// Sum of the normal forces of contacts inside a site's shape.
    Touch(usize),
    /// Contacts.
    Contact(ContactSensor),
}

/// A sensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensor {
    /// What it measures.
    pub kind: SensorKind,
    /// Its numbers among all sensor data.
    pub data: Range<usize>,
}
