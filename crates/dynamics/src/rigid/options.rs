//! Settings of steps and of the constraint solver.

/// How a step advances the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Semi-implicit Euler, damping of joints implicit.
    Euler,
    /// Runge-Kutta of fourth order.
    Rk4,
    /// Implicit in velocity, with the derivatives of Coriolis forces.
    Implicit,
    /// Implicit in velocity, without them (but for the rotation of free bodies), symmetric.
    ImplicitFast,
    /// Damping and stiffness inside the metric of the constraint solver.
    Discrete,
}

/// Settings of the step and of the constraint solver; not physical, not identified.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Time step, s.
    pub timestep: f64,
    /// How a step advances the state.
    pub integrator: Integrator,
    /// Whether Euler takes joint damping implicitly (the default).
    pub implicit_damping: bool,
    /// Whether friction cones are elliptic, not pyramidal.
    pub elliptic: bool,
    /// Ratio of frictional to normal impedance of elliptic cones.
    pub impedance_ratio: f64,
    /// Whether the diagonal of J M⁻¹ Jᵀ is exact, not that at the reference pose.
    pub exact_diagonal: bool,
    /// Whether solref's time constant is kept at two time steps or more (the default).
    pub safe_reference: bool,
    /// Width over which contacts are relaxed, m; zero for none. They reach a hundred times as far then.
    pub relaxation: f64,
    /// Stationarity at which the constraint solver stops.
    pub tolerance: f64,
    /// The most iterations of the constraint solver.
    pub iterations: usize,
    /// Slope at which its line search stops.
    pub line_search_tolerance: f64,
    /// The most iterations of its line search.
    pub line_search_iterations: usize,
    /// Whether gravity acts.
    pub gravity: bool,
    /// Whether a surrounding fluid acts.
    pub fluid: bool,
    /// Whether springs act.
    pub springs: bool,
    /// Whether dampers act.
    pub dampers: bool,
    /// Whether actuators act.
    pub actuation: bool,
    /// Whether controls are clamped to their range.
    pub clamp_control: bool,
    /// Whether constraints act at all.
    pub constraints: bool,
    /// Whether equality constraints act.
    pub equality: bool,
    /// Whether dry friction of joints and tendons acts.
    pub friction_loss: bool,
    /// Whether limits act.
    pub limits: bool,
    /// Whether contacts act.
    pub contacts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timestep: 0.002,
            integrator: Integrator::Euler,
            implicit_damping: true,
            elliptic: false,
            impedance_ratio: 1.0,
            exact_diagonal: false,
            safe_reference: true,
            relaxation: 0.0,
            tolerance: 1e-12,
            iterations: 100,
            line_search_tolerance: 0.01,
            line_search_iterations: 50,
            gravity: true,
            fluid: false,
            springs: true,
            dampers: true,
            actuation: true,
            clamp_control: true,
            constraints: true,
            equality: true,
            friction_loss: true,
            limits: true,
            contacts: true,
        }
    }
}
