//! What a user says about the elements of a soft body. Every `Vec<f64>` holds one number for
//! all elements or one for each.

use crate::leaf::Bounds;
use crate::soft::{DampingLaw, ElasticView};

/// Built-in constitutive laws; each takes `mu` and `lambda` (or `young` and `poisson`).
pub const ELASTIC_LAWS: &[&str] =
    &["neo-hookean", "stable-neo-hookean", "st-venant-kirchhoff", "corotated", "warp"];

/// A parameter of a law of the user's own.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialParameter {
    /// Name; the leaf is `soft.BODY.NAME`.
    pub name: String,
    /// SI unit.
    pub unit: &'static str,
    /// Physical bounds.
    pub bounds: Bounds,
    /// Values over tetrahedra.
    pub values: Vec<f64>,
}

/// A constitutive law and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialSettings {
    /// Registered name of the law.
    pub law: String,
    /// Which parameters `first` and `second` are.
    pub view: ElasticView,
    /// μ or E, Pa (unused under [`ElasticView::Own`]).
    pub first: Vec<f64>,
    /// λ, Pa, or ν (unused under [`ElasticView::Own`]).
    pub second: Vec<f64>,
    /// Parameters of a law of the user's own.
    pub own: Vec<MaterialParameter>,
}

impl MaterialSettings {
    /// A built-in law by its Lamé parameters, Pa.
    pub fn lame(law: &str, mu: f64, lambda: f64) -> Self {
        Self {
            law: law.into(),
            view: ElasticView::Lame,
            first: vec![mu],
            second: vec![lambda],
            own: vec![],
        }
    }
    /// A built-in law by Young's modulus, Pa, and Poisson's ratio.
    pub fn engineering(law: &str, young: f64, poisson: f64) -> Self {
        Self {
            law: law.into(),
            view: ElasticView::Engineering,
            first: vec![young],
            second: vec![poisson],
            own: vec![],
        }
    }
    /// A law of the user's own, registered by name.
    pub fn own(law: &str, own: Vec<MaterialParameter>) -> Self {
        Self { law: law.into(), view: ElasticView::Own, first: vec![], second: vec![], own }
    }
}

/// Damping of tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Damping {
    /// The law.
    pub law: DampingLaw,
    /// Viscosity, Pa s.
    pub viscosity: Vec<f64>,
    /// Stiffness-proportional damping time, s.
    pub stiffness: Vec<f64>,
}

impl Default for Damping {
    fn default() -> Self {
        Self { law: DampingLaw::default(), viscosity: vec![0.0], stiffness: vec![0.0] }
    }
}

/// How tetrahedra weigh.
#[derive(Clone, Debug, PartialEq)]
pub enum MassRule {
    /// Density, kg/m³, a quarter of each element's mass to each vertex.
    Density(Vec<f64>),
    /// Total mass, kg.
    Total(f64),
    /// warp.sim's rule for grids: density × cell volume on every vertex.
    GridCell {
        /// Density, kg/m³.
        density: f64,
        /// Cell volume, m³.
        volume: f64,
    },
    /// No mass from tetrahedra.
    None,
}

/// Everything about the tetrahedra of a body but their indices.
#[derive(Clone, Debug, PartialEq)]
pub struct TetrahedraSettings {
    /// Law and parameters.
    pub material: MaterialSettings,
    /// Damping.
    pub damping: Damping,
    /// Mass.
    pub mass: MassRule,
    /// Activation.
    pub activation: Vec<f64>,
    /// Input channel added to the activation.
    pub activation_input: Option<String>,
}

impl TetrahedraSettings {
    /// The given law and density, undamped and inactive.
    pub fn new(material: MaterialSettings, density: f64) -> Self {
        Self {
            material,
            damping: Damping::default(),
            mass: MassRule::Density(vec![density]),
            activation: vec![0.0],
            activation_input: None,
        }
    }
}

/// Everything about membrane triangles but their indices; defaults are warp.sim's.
#[derive(Clone, Debug, PartialEq)]
pub struct MembraneSettings {
    /// Damping law.
    pub damping_law: DampingLaw,
    /// Shear stiffness per area, N/m.
    pub stiffness: Vec<f64>,
    /// Area stiffness, N/m.
    pub area_stiffness: Vec<f64>,
    /// Viscosity per area, N s/m.
    pub damping: Vec<f64>,
    /// Drag coefficient.
    pub drag: Vec<f64>,
    /// Lift coefficient.
    pub lift: Vec<f64>,
    /// Activation.
    pub activation: Vec<f64>,
    /// Mass per area, kg/m².
    pub density: Vec<f64>,
}

impl Default for MembraneSettings {
    fn default() -> Self {
        Self {
            damping_law: DampingLaw::default(),
            stiffness: vec![100.0],
            area_stiffness: vec![100.0],
            damping: vec![10.0],
            drag: vec![0.0],
            lift: vec![0.0],
            activation: vec![0.0],
            density: vec![0.0],
        }
    }
}

/// Everything about hinges but their indices.
#[derive(Clone, Debug, PartialEq)]
pub struct HingeSettings {
    /// "discrete-shells" or "warp".
    pub law: String,
    /// Bending stiffness.
    pub stiffness: Vec<f64>,
    /// Bending damping.
    pub damping: Vec<f64>,
    /// Rest angle, rad; `None` takes the angle of the rest shape.
    pub rest_angle: Option<Vec<f64>>,
}

/// Everything about springs but their ends.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringSettings {
    /// Stiffness, N/m.
    pub stiffness: Vec<f64>,
    /// Damping, N s/m.
    pub damping: Vec<f64>,
    /// Rest length, m; `None` takes the distance in the rest shape.
    pub rest_length: Option<Vec<f64>>,
}
