//! Settings of a simulation of rigid bodies.

use crate::error::ModelError;
use crate::leaf::{Bounds, Leaf, LeafId, Leaves};

/// How a step advances positions and velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Semi-implicit Euler, implicit in joint damping.
    #[default]
    Euler,
    /// Runge-Kutta of order 4.
    RungeKutta4,
    /// Implicit in velocity, with Coriolis terms.
    Implicit,
    /// Implicit in velocity, without Coriolis terms, symmetric.
    ImplicitFast,
    /// Damping and stiffness inside the metric of the constraint solver.
    Discrete,
}

/// Shape of friction cones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cone {
    /// Linearised.
    #[default]
    Pyramidal,
    /// Exact.
    Elliptic,
}

/// Parts of the dynamics that can be switched off or on, as in MJCF's `flag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// All constraints.
    pub constraint: bool,
    /// Equality constraints.
    pub equality: bool,
    /// Dry friction of joints and tendons.
    pub frictionloss: bool,
    /// Limits of joints and tendons.
    pub limit: bool,
    /// Contacts.
    pub contact: bool,
    /// Springs of joints and tendons.
    pub spring: bool,
    /// Dampers of joints and tendons.
    pub damper: bool,
    /// Gravity.
    pub gravity: bool,
    /// Clamping of controls to their ranges.
    pub clampctrl: bool,
    /// Starting the solver from the last solution.
    pub warmstart: bool,
    /// No contacts between a body and its parent.
    pub filterparent: bool,
    /// Actuators.
    pub actuation: bool,
    /// Keeping solref's time constant at two steps or more.
    pub refsafe: bool,
    /// Euler implicit in joint damping.
    pub eulerdamp: bool,
    /// Exact diagonal of J M⁻¹ Jᵀ in the regulariser instead of its approximation.
    pub diagexact: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            constraint: true,
            equality: true,
            frictionloss: true,
            limit: true,
            contact: true,
            spring: true,
            damper: true,
            gravity: true,
            clampctrl: true,
            warmstart: true,
            filterparent: true,
            actuation: true,
            refsafe: true,
            eulerdamp: true,
            diagexact: false,
        }
    }
}

/// A fluid around the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fluid {
    /// Density, `option.density`, kg/m³.
    pub density: LeafId,
    /// Viscosity, `option.viscosity`, Pa s.
    pub viscosity: LeafId,
    /// Velocity, `option.wind`, m/s.
    pub wind: LeafId,
}

impl Fluid {
    /// A fluid with new leaves.
    ///
    /// # Errors
    /// Leaves of a fluid that are there already.
    pub fn new(
        leaves: &mut Leaves,
        density: f64,
        viscosity: f64,
        wind: [f64; 3],
    ) -> Result<Self, ModelError> {
        let scalar = |name: &str, value, unit, about: &str| {
            Leaf::scalar(format!("option.{name}"), value, unit, Bounds::NON_NEGATIVE, about)
        };
        let about = "velocity of the fluid";
        let wind = Leaf::array("option.wind", wind.to_vec(), vec![3], "m/s", about);
        Ok(Self {
            density: leaves.add(scalar("density", density, "kg/m^3", "density of the fluid"))?,
            viscosity: leaves.add(scalar("viscosity", viscosity, "Pa s", "its viscosity"))?,
            wind: leaves.add(wind)?,
        })
    }
}

/// Settings that only rigid bodies have; gravity and the time step are the model's.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidOptions {
    /// Integrator.
    pub integrator: Integrator,
    /// Friction cones.
    pub cone: Cone,
    /// Ratio of friction's impedance to the normal's.
    pub impratio: f64,
    /// Largest number of iterations of the constraint solver.
    pub iterations: usize,
    /// Tolerance of the constraint solver.
    pub tolerance: f64,
    /// Largest number of iterations of its line search.
    pub ls_iterations: usize,
    /// Tolerance of its line search.
    pub ls_tolerance: f64,
    /// Groups of actuators that are switched off, one bit each.
    pub disabled_actuators: u32,
    /// Switches.
    pub flags: Flags,
    /// The fluid around the bodies, if any.
    pub fluid: Option<Fluid>,
}

impl Default for RigidOptions {
    fn default() -> Self {
        Self {
            integrator: Integrator::Euler,
            cone: Cone::Pyramidal,
            impratio: 1.0,
            iterations: 100,
            tolerance: 1e-8,
            ls_iterations: 50,
            ls_tolerance: 0.01,
            disabled_actuators: 0,
            flags: Flags::default(),
            fluid: None,
        }
    }
}

/// Rules by which the compiler completes masses and inertias.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InertiaRules {
    /// Least mass of a body that has joints or children, kg; 0 for none.
    pub boundmass: f64,
    /// Least principal inertia of such a body, kg m²; 0 for none.
    pub boundinertia: f64,
    /// Whether principal inertias that violate A + B ≥ C are set to their mean.
    pub balanceinertia: bool,
    /// Total mass to which all masses and inertias are scaled, kg; none where absent.
    pub settotalmass: Option<f64>,
}
