//! Articulated rigid bodies: a tree of bodies with joints, geoms, sites, tendons, actuators,
//! equality constraints and sensors, with the semantics and the names of MJCF (MuJoCo 4.0).
//!
//! An [`Articulation`] says what a file says: sizes and densities rather than inertias, damping
//! ratios rather than dampers. Defaults, classes, frames and angle units are resolved. It holds
//! structure (indices, types, flags, names); every physical number is a leaf of the model under
//! `body.NAME.…`, `joint.NAME.…`, `geom.NAME.…`, `site.NAME.…`, `tendon.NAME.…`,
//! `actuator.NAME.…`, `equality.NAME.…`, `pair.NAME.…`, named like MJCF's attribute, and `geom.NAME.soft.…`. Angles of leaves
//! are radians whatever the file uses.
//!
//! Each element is made from its `…Settings`, a plain struct of numbers whose `Default` holds
//! MuJoCo's defaults, by an `add_…` function of [`Articulation`].

mod actuator;
mod actuator_settings;
mod body;
mod contact;
mod contact_sensor;
mod equality;
mod field;
mod geom;
mod hull;
mod initial;
mod joint;
mod leaves;
mod options;
mod sensor;
mod shapes;
mod site;
mod soft_contact;
mod tendon;
mod view;

pub use actuator::{
    Actuator, ActuatorLaw, ActuatorSettings, BiasLaw, DynamicsLaw, GainLaw, LawSettings,
    MuscleSettings, ServoDamping, Transmission,
};
pub use body::{Body, BodySettings, Inertial, InertialSettings, Tensor};
pub use contact::{Exclude, Pair, PairSettings};
pub use contact_sensor::{ContactField, ContactReduction, ContactSensor, ContactSide};
pub use equality::{Equality, EqualityKind, EqualityKindSettings, EqualitySettings, Place};
pub use field::HeightField;
pub use geom::{Form, Geom, GeomMass, GeomSettings, Mesh, Placement, PlacementSettings};
pub use hull::{Hull, HullError, HullFace};
pub use initial::InitialState;
pub use joint::{Joint, JointKind, JointSettings};
pub use options::{Cone, Flags, Fluid, InertiaRules, Integrator, RigidOptions};
pub use sensor::{FrameObject, Sensor, SensorKind};
pub use shapes::{extent, principal};
pub use site::{Site, SiteSettings};
pub use soft_contact::SoftContact;
pub use tendon::{Tendon, TendonPath, TendonPathSettings, TendonSettings, Wrap, WrapSettings};
pub use view::MassProperties;

/// An articulated system. Indices between elements are places in these lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Articulation {
    /// Settings of the simulation that only rigid bodies have.
    pub options: RigidOptions,
    /// Rules by which masses and inertias are completed.
    pub inertia: InertiaRules,
    /// Bodies, depth first; body 0 is the world.
    pub bodies: Vec<Body>,
    /// Joints, in the order of their bodies.
    pub joints: Vec<Joint>,
    /// Geoms, in the order of their bodies.
    pub geoms: Vec<Geom>,
    /// Sites, in the order of their bodies.
    pub sites: Vec<Site>,
    /// Meshes that geoms refer to.
    pub meshes: Vec<Mesh>,
    /// Height fields that geoms refer to.
    pub fields: Vec<HeightField>,
    /// Tendons.
    pub tendons: Vec<Tendon>,
    /// Equality constraints.
    pub equalities: Vec<Equality>,
    /// Pairs of geoms with their own contact parameters.
    pub pairs: Vec<Pair>,
    /// Geoms that soft bodies touch.
    pub soft_contacts: Vec<SoftContact>,
    /// Pairs of bodies that do not touch each other.
    pub excludes: Vec<Exclude>,
    /// Actuators; control k drives actuator k.
    pub actuators: Vec<Actuator>,
    /// Sensors.
    pub sensors: Vec<Sensor>,
    /// The state to start from; the reference pose at rest where there are no leaves of it.
    pub initial: Option<InitialState>,
    /// Named states.
    pub keyframes: Vec<Keyframe>,
    /// What the file asks for that affects motion and is not simulated.
    pub unsupported: Vec<Unsupported>,
    /// Names of what may be left out of the simulation although it affects the motion: `contact`
    /// (contacts of shapes that are not simulated), and those of [`unsupported`](Self::unsupported).
    pub allowed: Vec<String>,
    /// Sensors of the file that are not simulated, each under its name; they do not affect motion.
    pub skipped_sensors: Vec<Unsupported>,
}

/// A named state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keyframe {
    /// Name; empty where it has none.
    pub name: String,
    /// Time, s.
    pub time: f64,
    /// Positions; empty means those of the reference pose.
    pub qpos: Vec<f64>,
    /// Velocities; empty means zero.
    pub qvel: Vec<f64>,
    /// Activations; empty means zero.
    pub act: Vec<f64>,
    /// Controls; empty means zero.
    pub ctrl: Vec<f64>,
}

/// Something of a file that affects the motion and is not simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is, a short stable word: `fluid`, `flex`, `plugin` …
    pub name: String,
    /// Where it stands, `robot.xml:17:5`.
    pub place: String,
    /// One sentence: what is left out.
    pub about: String,
}

impl Articulation {
    /// Only the world.
    pub fn new() -> Self {
        Self { bodies: vec![Body::world()], ..Self::default() }
    }
    /// Size of qpos.
    pub fn nq(&self) -> usize {
        self.joints.iter().map(|j| j.kind.nq()).sum()
    }
    /// Size of qvel.
    pub fn nv(&self) -> usize {
        self.joints.iter().map(|j| j.kind.nv()).sum()
    }
    /// Size of act.
    pub fn na(&self) -> usize {
        self.actuators.iter().map(|a| a.law.activations()).sum()
    }
    /// The body of a name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }
    /// The joint of a name.
    pub fn joint(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|j| j.name == name)
    }
    /// The geom of a name.
    pub fn geom(&self, name: &str) -> Option<usize> {
        self.geoms.iter().position(|g| g.name == name)
    }
    /// The site of a name.
    pub fn site(&self, name: &str) -> Option<usize> {
        self.sites.iter().position(|s| s.name == name)
    }
    /// The tendon of a name.
    pub fn tendon(&self, name: &str) -> Option<usize> {
        self.tendons.iter().position(|t| t.name == name)
    }
    /// The actuator of a name.
    pub fn actuator(&self, name: &str) -> Option<usize> {
        self.actuators.iter().position(|a| a.name == name)
    }
    /// The sensor of a name.
    pub fn sensor(&self, name: &str) -> Option<usize> {
        self.sensors.iter().position(|s| s.name == name)
    }
    /// The keyframe of a name, or of a number where none has that name.
    pub fn keyframe(&self, name: &str) -> Option<&Keyframe> {
        let named = self.keyframes.iter().find(|k| k.name == name);
        named.or_else(|| self.keyframes.get(name.parse::<usize>().ok()?))
    }
}
