//! What is to be observed, as plain data.

use std::f64::consts::PI;

/// A point that moves with a body. Places are given in the body's frame, in the rest shape that
/// the model has when the observer is made; what they are attached to is fixed then.
#[derive(Clone, Debug, PartialEq)]
pub enum Point {
    /// A vertex of a soft body, counted from the body's first.
    Vertex {
        /// Name of the body.
        body: String,
        /// The vertex.
        vertex: u32,
    },
    /// A point inside a tetrahedron (or, in a body without any, on a surface triangle), at fixed
    /// barycentric coordinates.
    Embedded {
        /// Name of the body.
        body: String,
        /// Where it is at rest, body frame, m.
        rest: [f64; 3],
    },
    /// A marker that stands off the surface: attached to the nearest point of the nearest
    /// surface triangle, with an offset along the triangle's first edge, across it and along its
    /// normal. The offset turns with the triangle and does not stretch. It is a parameter,
    /// `marker.NAME.offset` (m), whose initial value puts the marker at `rest`.
    Marker {
        /// Name; the same marker may be used in several observations.
        name: String,
        /// Name of the body.
        body: String,
        /// Where it is at rest, body frame, m.
        rest: [f64; 3],
    },
    /// Centre of mass of a body or of a region of it.
    CentreOfMass {
        /// Name of the body.
        body: String,
        /// Name of the region; the whole body without one.
        region: Option<String>,
    },
}

/// Something that can be measured, with one or three components.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Position, m: x, y, z.
    Position(Point),
    /// Velocity, m/s: x, y, z.
    Velocity(Point),
    /// Acceleration, m/s², from the forces on the vertices at that time (in the world's frame:
    /// zero at rest); not of a marker, nor of vertices on a prescribed path.
    Acceleration(Point),
    /// Distance of two points, m.
    Distance(Point, Point),
    /// Angle from 0 to π at the second of three points, rad.
    Angle(Point, Point, Point),
    /// Angle, rad, of the segment between two points against an axis of the model's frame.
    AxisAngle {
        /// Where the segment starts.
        from: Point,
        /// Where it ends.
        to: Point,
        /// The axis, of any length.
        axis: [f64; 3],
        /// With a normal: the signed angle, from −π to π, of the segment's projection along the
        /// normal, counted from the axis' projection anticlockwise about the normal. Without:
        /// the angle from 0 to π in space.
        about: Option<[f64; 3]>,
    },
    /// Rotation vector, rad, of the turn of three points (none a centre of mass) from rest: of
    /// the frame with its first axis from the first point to the second and its third normal to
    /// the plane of all three.
    Orientation(Point, Point, Point),
    /// Kinetic and gravitational energy of all soft vertices and the potential of every force on them that
    /// has one (elements, contact springs), J. That of articulated bodies is measured by their sensors.
    Energy,
    /// Position of a slide (m) or hinge (rad).
    JointPosition {
        /// Name of the joint.
        joint: String,
        /// Whether it is a slide.
        slide: bool,
    },
    /// Velocity of a slide (m/s) or hinge (rad/s).
    JointVelocity {
        /// Name of the joint.
        joint: String,
        /// Whether it is a slide.
        slide: bool,
    },
    /// What a sensor of the articulated bodies measures. Between two steps it runs straight from its
    /// value at the first to that at the second, both under the controls of the step.
    Sensor {
        /// Name of the sensor.
        sensor: String,
        /// How many numbers it gives: 1, 3 or 4.
        components: usize,
        /// Their unit.
        unit: &'static str,
    },
    /// Net force of a geom on the vertices of a body or region, N: x, y, z.
    ContactForce {
        /// Name of the geom.
        geom: String,
        /// Name of the body; all bodies without one.
        body: Option<String>,
        /// Name of a region of the body; all of it without one.
        region: Option<String>,
    },
}

impl Observation {
    /// Number of components.
    pub fn components(&self) -> usize {
        match self {
            Self::Position(_)
            | Self::Velocity(_)
            | Self::Acceleration(_)
            | Self::Orientation(..)
            | Self::ContactForce { .. } => 3,
            Self::Distance(..)
            | Self::Angle(..)
            | Self::AxisAngle { .. }
            | Self::Energy
            | Self::JointPosition { .. }
            | Self::JointVelocity { .. } => 1,
            Self::Sensor { components, .. } => *components,
        }
    }

    /// SI unit of its components.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Position(_) | Self::Distance(..) => "m",
            Self::Velocity(_) => "m/s",
            Self::Acceleration(_) => "m/s^2",
            Self::Angle(..) | Self::AxisAngle { .. } | Self::Orientation(..) => "rad",
            Self::JointPosition { slide, .. } => {
                if *slide {
                    "m"
                } else {
                    "rad"
                }
            }
            Self::JointVelocity { slide, .. } => {
                if *slide {
                    "m/s"
                } else {
                    "rad/s"
                }
            }
            Self::Energy => "J",
            Self::Sensor { unit, .. } => unit,
            Self::ContactForce { .. } => "N",
        }
    }
}

/// One summand of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Factor.
    pub coefficient: f64,
    /// What is observed.
    pub observation: Observation,
    /// Which of its components: 0 for x or for the only one, 1 for y, 2 for z; of a quaternion 0 to 3
    /// for w, x, y, z; of a sensor of contacts the place among all its numbers.
    pub component: usize,
}

impl Term {
    /// For a sensor of two numbers or more than three, which are observed one by one: which one.
    pub(super) fn number(&self) -> Option<usize> {
        match self.observation {
            Observation::Sensor { components, .. } if !matches!(components, 1 | 3) => {
                Some(self.component)
            }
            _ => None,
        }
    }
}

/// How a signal's values compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// As plain numbers.
    #[default]
    None,
    /// As angles in radians: modulo 2π.
    Angle,
}

impl Wrap {
    /// `predicted − measured`, for angles brought to [−π, π]; its derivative by `predicted` is
    /// one.
    pub fn difference(self, predicted: f64, measured: f64) -> f64 {
        let difference = predicted - measured;
        match self {
            Self::None => difference,
            Self::Angle => {
                let turns = (difference / (2.0 * PI)).round();
                difference - 2.0 * PI * turns
            }
        }
    }
}

/// A measured number as a function of time:
/// y = scale · (Σ coefficient · component + constant) + bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Name; its leaves are `signal.NAME.scale` and `signal.NAME.bias`.
    pub name: String,
    /// The summands.
    pub terms: Vec<Term>,
    /// Added to the sum.
    pub constant: f64,
    /// Initial value of the factor.
    pub scale: f64,
    /// Initial value of the bias, in the signal's unit.
    pub bias: f64,
    /// The frame it is measured in, an index into [`SignalSet::frames`]; the model's without one.
    pub frame: Option<usize>,
    /// The clock it is recorded by, an index into [`SignalSet::clocks`]; the model's without one.
    pub clock: Option<usize>,
    /// How its values compare.
    pub wrap: Wrap,
}

impl Signal {
    /// One component of an observation as it is.
    pub fn new(name: impl Into<String>, observation: Observation, component: usize) -> Self {
        Self {
            name: name.into(),
            terms: vec![Term { coefficient: 1.0, observation, component }],
            constant: 0.0,
            scale: 1.0,
            bias: 0.0,
            frame: None,
            clock: None,
            wrap: Wrap::None,
        }
    }

    /// Unit of its bias: that of its terms where all agree, else "".
    pub fn unit(&self) -> &'static str {
        let mut units = self.terms.iter().map(|term| term.observation.unit());
        match units.next() {
            Some(first) if units.all(|unit| unit == first) => first,
            _ => "",
        }
    }
}

/// The frame of a measuring system.
///
/// A position p of the model is measured as scale · R p + translation, with R the turn by the
/// rotation vector. Velocities and accelerations are turned and scaled, forces turned,
/// orientations turned, distances scaled; angles and energies stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name; its leaves are `frame.NAME.rotation`, `frame.NAME.translation` and
    /// `frame.NAME.scale`.
    pub name: String,
    /// Initial rotation vector, rad.
    pub rotation: [f64; 3],
    /// Initial translation, m.
    pub translation: [f64; 3],
    /// Initial length scale.
    pub scale: f64,
}

/// A recorder's clock: what it stamps with time t happens at t + offset in the model.
///
/// A sample that falls before the model's time zero sees the start state in uniform motion at
/// its start velocity (a body that starts at rest stays where it is).
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// Full name of its leaf, `recording.NAME.offset`.
    pub path: String,
    /// Initial offset, s.
    pub offset: f64,
    /// Smallest and largest offset that a run must serve, s; equal where it is known.
    pub bounds: [f64; 2],
}

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Index of the signal in [`SignalSet::signals`].
    pub signal: usize,
    /// Time by the signal's clock, s.
    pub time: f64,
}

/// Signals and when they are sampled: all that one recording sees of a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignalSet {
    /// Frames that signals refer to.
    pub frames: Vec<Frame>,
    /// Clocks that signals refer to.
    pub clocks: Vec<Clock>,
    /// The signals.
    pub signals: Vec<Signal>,
    /// The measurements; the observed value i is that of sample i.
    pub samples: Vec<Sample>,
}
