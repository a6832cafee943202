//! What pulls on the tree and holds it: tendons, actuators, equality constraints.

use std::ops::Range;

/// What a tendon's length is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TendonPath {
    /// The sum of scalar joints' coordinates times coefficients (`wrap_prm` of the tendon's range).
    Fixed {
        /// The joints.
        joints: Vec<usize>,
    },
    /// The length of a path through sites and around geoms. `wrap_prm` holds, per element, the divisor of a
    /// pulley, and nothing for others.
    Spatial {
        /// What it passes, in order.
        path: Vec<PathElement>,
    },
}

/// What a tendon passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathElement {
    /// A site.
    Site(usize),
    /// A sphere or cylinder between two sites.
    Geom {
        /// The geom.
        geom: usize,
        /// The site that says on which side, or that the path touches from inside.
        side: Option<usize>,
    },
    /// A pulley, which starts another branch.
    Pulley,
}

/// A tendon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tendon {
    /// What its length is.
    pub path: TendonPath,
    /// Its part of `wrap_prm`.
    pub wraps: Range<usize>,
    /// Whether its length is limited.
    pub limited: bool,
    /// Whether the total force of actuators on it is limited.
    pub actuator_force_limited: bool,
}

/// What an actuator pulls at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// A joint; rotations of ball and free joints in the axes of the moved body.
    Joint(usize),
    /// A joint; rotations of ball and free joints in the axes of the parent.
    JointInParent(usize),
    /// A tendon.
    Tendon(usize),
    /// A wrench at a site, in its axes, or in those of and against a reference site.
    Site {
        /// The site.
        site: usize,
        /// The site that it is measured and acts against.
        reference: Option<usize>,
    },
    /// A slider that a rod holds at a crank.
    SliderCrank {
        /// The site at the crank's end of the rod.
        crank: usize,
        /// The site along whose z axis the slider moves.
        slider: usize,
    },
}

/// How an actuator's activation follows its control; numbers in `actuator_dynprm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicsKind {
    /// There is none: the control acts at once.
    None,
    /// ȧ = u.
    Integrator,
    /// ȧ = (u − a)/τ, by Euler's rule.
    Filter,
    /// ȧ = (u − a)/τ, solved exactly over the step.
    FilterExact,
    /// Muscle activation.
    Muscle,
}

/// What multiplies control or activation; numbers in `actuator_gainprm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GainKind {
    /// g₀.
    Fixed,
    /// g₀ + g₁ l + g₂ l̇.
    Affine,
    /// Force, length and velocity curves of a muscle.
    Muscle,
}

/// What is added; numbers in `actuator_biasprm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BiasKind {
    /// Nothing.
    None,
    /// b₀ + b₁ l + b₂ l̇.
    Affine,
    /// The passive force of a muscle.
    Muscle,
}

/// An actuator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actuator {
    /// What it pulls at.
    pub transmission: Transmission,
    /// How its activation follows its control.
    pub dynamics: DynamicsKind,
    /// What multiplies control or activation.
    pub gain: GainKind,
    /// What is added.
    pub bias: BiasKind,
    /// Its place among the activations, where it has one.
    pub activation: Option<usize>,
    /// Whether the force is that of the activation at the end of the step (`actearly`).
    pub early: bool,
    /// Whether its control is limited.
    pub control_limited: bool,
    /// Whether its force is limited.
    pub force_limited: bool,
    /// Whether its activation is limited.
    pub activation_limited: bool,
}

/// What an equality constraint asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqualityKind {
    /// A point of one body is at a point of another: `eq_data` 0..3 and 3..6 are the points.
    Connect {
        /// The first body.
        first: usize,
        /// The second body.
        second: usize,
    },
    /// Two sites are at the same place.
    ConnectSites {
        /// The first site.
        first: usize,
        /// The second site.
        second: usize,
    },
    /// Two bodies do not move against each other: `eq_data` 0..3 is the anchor in the second body,
    /// 3..6 the first's, 6..10 the relative orientation, 10 the scale of torques.
    Weld {
        /// The first body.
        first: usize,
        /// The second body.
        second: usize,
    },
    /// Two sites have the same place and orientation.
    WeldSites {
        /// The first site.
        first: usize,
        /// The second site.
        second: usize,
    },
    /// A scalar joint's coordinate is a polynomial (`eq_data` 0..5) of another's, or constant.
    Joint {
        /// The joint that follows.
        first: usize,
        /// The joint that it follows.
        second: Option<usize>,
    },
    /// A tendon's length is a polynomial of another's, or constant.
    Tendon {
        /// The tendon that follows.
        first: usize,
        /// The tendon that it follows.
        second: Option<usize>,
    },
}

/// An equality constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equality {
    /// What it asks for.
    pub kind: EqualityKind,
    /// Whether it holds.
    pub active: bool,
}
