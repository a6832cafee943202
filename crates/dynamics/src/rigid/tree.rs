//! The structure of articulated bodies: what hangs on what.
//!
//! Integers, flags and settings of the solver only; every physical number is a constant
//! ([`Layout`](super::Layout)).

use std::ops::Range;
use std::sync::Arc;

use costate_model::rigid::{HeightField, Hull};
use thiserror::Error;

pub use super::elements::{
    Actuator, BiasKind, DynamicsKind, Equality, EqualityKind, GainKind, PathElement, Tendon,
    TendonPath, Transmission,
};
pub use super::options::{Integrator, Options};
pub use super::sensor_kinds::{Sensor, SensorKind, SensorObject};

/// What a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Everything: seven coordinates (position, quaternion) and six velocities (linear in world axes,
    /// angular in the body's).
    Free,
    /// All rotations: a quaternion and three velocities in the axes of the moved body.
    Ball,
    /// Translation along an axis.
    Slide,
    /// Rotation about an axis.
    Hinge,
}

impl JointKind {
    /// How many coordinates it has.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Free => 7,
            Self::Ball => 4,
            Self::Slide | Self::Hinge => 1,
        }
    }
    /// How many velocities it has.
    pub fn dofs(self) -> usize {
        match self {
            Self::Free => 6,
            Self::Ball => 3,
            Self::Slide | Self::Hinge => 1,
        }
    }
}

/// A body. Body 0 is the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The body it hangs on; the world hangs on itself.
    pub parent: usize,
    /// The body of its tree that hangs on the world; the world for the world.
    pub root: usize,
    /// The nearest body at or above it that has a joint, or the world: bodies with the same one do
    /// not move against each other.
    pub weld: usize,
    /// Its joints, in the order in which they move it.
    pub joints: Range<usize>,
    /// Its degrees of freedom.
    pub dofs: Range<usize>,
    /// Whether any of its weight is taken off (`gravcomp`).
    pub gravity_compensated: bool,
    /// Whether a fluid acts on ellipsoids of its geoms, not on the box of its inertia.
    pub ellipsoids: bool,
}

/// A joint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    /// What it allows.
    pub kind: JointKind,
    /// The body it moves.
    pub body: usize,
    /// Its first coordinate.
    pub qpos: usize,
    /// Its first degree of freedom.
    pub dof: usize,
    /// Whether its range is limited.
    pub limited: bool,
    /// Whether the total force of actuators on it is limited.
    pub actuator_force_limited: bool,
    /// Whether gravity compensation counts as a force of actuators, not as passive.
    pub actuator_gravity_compensation: bool,
}

/// A frame fixed in a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The body it moves with.
    pub body: usize,
    /// Its shape, by which touch sensors choose contacts.
    pub kind: GeomKind,
    /// Sizes of the shape as those of geoms, m.
    pub size: [f64; 3],
}

/// The shape of a geom, with its number in mjModel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeomKind {
    /// Half space below z = 0 of its frame.
    Plane = 0,
    /// Height field.
    HeightField = 1,
    /// Sphere.
    Sphere = 2,
    /// Capsule along z.
    Capsule = 3,
    /// Ellipsoid.
    Ellipsoid = 4,
    /// Cylinder along z.
    Cylinder = 5,
    /// Box.
    Box = 6,
    /// Mesh.
    Mesh = 7,
}

/// A geometric shape fixed in a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Geom {
    /// Its shape.
    pub kind: GeomKind,
    /// The body it moves with.
    pub body: usize,
    /// Dimension of its contacts: 1, 3, 4 or 6.
    pub condim: u8,
    /// What it is, as bits.
    pub contype: u32,
    /// What it collides with, as bits.
    pub conaffinity: u32,
    /// The contact parameters of the geom with the higher priority win.
    pub priority: i32,
    /// The convex hull of a mesh that may touch others, in the geom's axes.
    pub hull: Option<Arc<Hull>>,
    /// The heights of a height field.
    pub field: Option<Arc<HeightField>>,
    /// Whether a fluid acts on it as an ellipsoid.
    pub ellipsoid: bool,
}

/// Two geoms whose contact has its own parameters, whatever their bits and bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactPair {
    /// The geoms.
    pub geoms: [usize; 2],
    /// Dimension of the contacts: 1, 3, 4 or 6.
    pub condim: u8,
}

/// Articulated bodies: structure without numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Settings.
    pub options: Options,
    /// Bodies, every one after its parent; the first is the world.
    pub bodies: Vec<Body>,
    /// Joints in the order of their bodies.
    pub joints: Vec<Joint>,
    /// Sites.
    pub sites: Vec<Site>,
    /// Geoms.
    pub geoms: Vec<Geom>,
    /// Explicit pairs of geoms that may touch.
    pub pairs: Vec<ContactPair>,
    /// Pairs of bodies whose geoms do not touch.
    pub excludes: Vec<[usize; 2]>,
    /// Tendons.
    pub tendons: Vec<Tendon>,
    /// Actuators.
    pub actuators: Vec<Actuator>,
    /// Equality constraints.
    pub equalities: Vec<Equality>,
    /// Sensors.
    pub sensors: Vec<Sensor>,
    /// How many coordinates.
    pub nq: usize,
    /// How many degrees of freedom.
    pub nv: usize,
    /// How many activations.
    pub na: usize,
    /// Per degree of freedom: the next one towards the world.
    pub dof_parent: Vec<Option<usize>>,
    /// Per degree of freedom: its joint.
    pub dof_joint: Vec<usize>,
    /// Per degree of freedom: its body.
    pub dof_body: Vec<usize>,
    /// Per body: the last degree of freedom at or above it.
    pub last_dof: Vec<Option<usize>>,
    /// Per degree of freedom: where its row of the inertia matrix lies among all
    /// ([`MassMatrix`](super::MassMatrix)).
    pub rows: Vec<Range<usize>>,
    /// The column of each entry of those rows: of a row, the degree of freedom itself, then the ones towards
    /// the world.
    pub columns: Vec<usize>,
}

/// A structure that is no tree.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TreeError {
    /// There is no world.
    #[error("there is no body; the first one must be the world")]
    NoWorld,
    /// A body's parent does not come before it.
    #[error("body {body} hangs on body {parent}, which does not come before it")]
    Order {
        /// The body.
        body: usize,
        /// Its parent.
        parent: usize,
    },
    /// The world has a joint, or joints are not in the order of their bodies.
    #[error(
        "joint {joint} belongs to body {body}: joints must be in the order of their bodies, none on the world"
    )]
    JointOrder {
        /// The joint.
        joint: usize,
        /// Its body.
        body: usize,
    },
    /// A free joint that is not the only joint of a child of the world.
    #[error("free joint {joint} must be the only joint of a body that hangs on the world")]
    FreeJoint {
        /// The joint.
        joint: usize,
    },
    /// A rotation after a ball joint in the same body.
    #[error("joint {joint} rotates a body that a ball joint before it has turned already")]
    RotationAfterBall {
        /// The joint.
        joint: usize,
    },
}

impl Tree {
    /// Fills what follows from the parents of the bodies and the kinds and bodies of the joints:
    /// `root`, `weld`, `joints`, `dofs` of bodies, `qpos` and `dof` of joints, all tables by
    /// degree of freedom, and the pattern of the inertia matrix.
    ///
    /// # Errors
    /// [`TreeError`] where bodies or joints are out of order or joints cannot be combined.
    pub fn index(&mut self) -> Result<(), TreeError> {
        if self.bodies.is_empty() {
            return Err(TreeError::NoWorld);
        }
        self.index_joints()?;
        self.bodies[0].parent = 0;
        self.last_dof = vec![None; self.bodies.len()];
        self.dof_parent = vec![None; self.nv];
        for b in 0..self.bodies.len() {
            let parent = self.bodies[b].parent;
            if b > 0 && parent >= b {
                return Err(TreeError::Order { body: b, parent });
            }
            let dofs = self.bodies[b].dofs.clone();
            let mut last = if b == 0 { None } else { self.last_dof[parent] };
            for dof in dofs {
                self.dof_parent[dof] = last;
                last = Some(dof);
            }
            self.last_dof[b] = last;
            let root = if parent == 0 { b } else { self.bodies[parent].root };
            let weld = if b == 0 || !self.bodies[b].joints.is_empty() {
                b
            } else {
                self.bodies[parent].weld
            };
            self.bodies[b].root = root;
            self.bodies[b].weld = weld;
        }
        self.rows.clear();
        self.columns.clear();
        for dof in 0..self.nv {
            let start = self.columns.len();
            let mut next = Some(dof);
            while let Some(column) = next {
                self.columns.push(column);
                next = self.dof_parent[column];
            }
            self.rows.push(start..self.columns.len());
        }
        Ok(())
    }

    fn index_joints(&mut self) -> Result<(), TreeError> {
        (self.nq, self.nv) = (0, 0);
        self.dof_joint.clear();
        self.dof_body.clear();
        for body in &mut self.bodies {
            (body.joints, body.dofs) = (0..0, 0..0);
        }
        let mut previous = 0;
        for (j, joint) in self.joints.iter_mut().enumerate() {
            let b = joint.body;
            if b == 0 || b < previous || b >= self.bodies.len() {
                return Err(TreeError::JointOrder { joint: j, body: b });
            }
            let body = &mut self.bodies[b];
            let first = b != previous;
            if first {
                (body.joints, body.dofs) = (j..j, self.nv..self.nv);
            }
            let free = |kind| kind == JointKind::Free;
            if free(joint.kind) && (!first || body.parent != 0) {
                return Err(TreeError::FreeJoint { joint: j });
            }
            previous = b;
            (joint.qpos, joint.dof) = (self.nq, self.nv);
            self.nq += joint.kind.coordinates();
            self.nv += joint.kind.dofs();
            body.joints.end = j + 1;
            body.dofs.end = self.nv;
            for _ in 0..joint.kind.dofs() {
                self.dof_joint.push(j);
                self.dof_body.push(b);
            }
        }
        for body in &self.bodies {
            let mut ball = false;
            for j in body.joints.clone() {
                match self.joints[j].kind {
                    JointKind::Free if body.joints.len() > 1 => {
                        return Err(TreeError::FreeJoint { joint: j });
                    }
                    JointKind::Ball | JointKind::Hinge if ball => {
                        return Err(TreeError::RotationAfterBall { joint: j });
                    }
                    kind => ball |= kind == JointKind::Ball,
                }
            }
        }
        Ok(())
    }

    /// Whether body `ancestor` is `body` or above it.
    pub fn is_above(&self, ancestor: usize, mut body: usize) -> bool {
        while body > ancestor {
            body = self.bodies[body].parent;
        }
        body == ancestor
    }
}
