//! Where each compiled constant of articulated bodies lies in one flat array. Tangents and adjoints
//! of the constants have the same layout.

use std::ops::Range;

use super::tree::Tree;

/// An array of equally wide entries within the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it starts.
    pub start: usize,
    /// Numbers per entry.
    pub width: usize,
    /// How many entries.
    pub count: usize,
}

impl Block {
    /// Where entry `i` starts.
    #[inline(always)]
    pub fn at(&self, i: usize) -> usize {
        self.start + i * self.width
    }
    /// Where entry `i` lies.
    #[inline(always)]
    pub fn entry(&self, i: usize) -> Range<usize> {
        self.at(i)..self.at(i + 1)
    }
    /// Where all of it lies.
    #[inline(always)]
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.count * self.width
    }
}

macro_rules! layout {
    ($tree:ident; $($(#[$doc:meta])+ $name:ident: $count:expr, $width:expr;)+) => {
        /// Where each constant lies, by its name in mjModel.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Layout {
            $($(#[$doc])+ pub $name: Block,)+
            /// How many numbers in all.
            pub len: usize,
        }

        impl Layout {
            /// Lays out the constants of a structure.
            pub fn new($tree: &Tree) -> Self {
                let mut len = 0;
                $(
                    let $name = Block { start: len, width: $width, count: $count };
                    len += $name.count * $name.width;
                )+
                Self { $($name,)+ len }
            }

            /// The blocks by name, in the order in which they lie.
            pub fn blocks(&self) -> Vec<(&'static str, Block)> {
                vec![$((stringify!($name), self.$name),)+]
            }
        }
    };
}

layout! { tree;
    /// Gravity, m/s².
    gravity: 1, 3;
    /// Magnetic flux of the world.
    magnetic: 1, 3;
    /// Density of the surrounding fluid, kg/m³.
    density: 1, 1;
    /// Its viscosity, Pa s.
    viscosity: 1, 1;
    /// Its velocity, m/s.
    wind: 1, 3;

    /// Origin of each body in its parent, m. A free joint's coordinates replace it.
    body_pos: tree.bodies.len(), 3;
    /// Orientation of each body in its parent, a unit quaternion w, x, y, z.
    body_quat: tree.bodies.len(), 4;
    /// Mass of each body, kg.
    body_mass: tree.bodies.len(), 1;
    /// Centre of mass of each body in its frame, m.
    body_ipos: tree.bodies.len(), 3;
    /// Inertia tensor of each body about its centre of mass in the axes of its frame, kg m²: xx, xy, yy,
    /// xz, yz, zz, the order of `SymMat3`. (mjModel has principal moments and axes instead, which are not
    /// differentiable where moments are equal.)
    body_inertia: tree.bodies.len(), 6;
    /// Orientation of each body's principal axes in its frame: what sensors of bodies are about. The dynamics
    /// do not read it.
    body_iquat: tree.bodies.len(), 4;
    /// Share of each body's weight that is taken off.
    body_gravcomp: tree.bodies.len(), 1;
    /// Mean inverse inertia of each body's centre of mass at the reference pose: translation, rotation.
    body_invweight0: tree.bodies.len(), 2;

    /// A point of each joint's axis in its body, m.
    jnt_pos: tree.joints.len(), 3;
    /// Axis of each joint in its body, of unit length.
    jnt_axis: tree.joints.len(), 3;
    /// Stiffness of each joint, N/m or N m/rad.
    jnt_stiffness: tree.joints.len(), 1;
    /// Coefficients of the spring's higher terms: force −x (k + k₁|x| + k₂x²).
    jnt_stiffnesspoly: tree.joints.len(), 2;
    /// Limits of each joint, m or rad; a ball joint's angle is at most the second.
    jnt_range: tree.joints.len(), 2;
    /// Distance from the limit at which it acts.
    jnt_margin: tree.joints.len(), 1;
    /// Reference of the limit.
    jnt_solref: tree.joints.len(), 2;
    /// Impedance of the limit.
    jnt_solimp: tree.joints.len(), 5;
    /// Bounds of the total force of actuators on each joint.
    jnt_actfrcrange: tree.joints.len(), 2;

    /// Reference pose.
    qpos0: tree.nq, 1;
    /// Rest positions of springs.
    qpos_spring: tree.nq, 1;
    /// Inertia added on the diagonal, kg or kg m².
    dof_armature: tree.nv, 1;
    /// Damping, N s/m or N m s/rad.
    dof_damping: tree.nv, 1;
    /// Coefficients of the damper's higher terms: force −v (b + b₁|v| + b₂v²).
    dof_dampingpoly: tree.nv, 2;
    /// Dry friction, N or N m.
    dof_frictionloss: tree.nv, 1;
    /// Diagonal of the inverse inertia at the reference pose.
    dof_invweight0: tree.nv, 1;
    /// Reference of dry friction.
    dof_solref: tree.nv, 2;
    /// Impedance of dry friction.
    dof_solimp: tree.nv, 5;

    /// Place of each site in its body, m.
    site_pos: tree.sites.len(), 3;
    /// Orientation of each site in its body.
    site_quat: tree.sites.len(), 4;
    /// Place of each geom in its body, m.
    geom_pos: tree.geoms.len(), 3;
    /// Orientation of each geom in its body.
    geom_quat: tree.geoms.len(), 4;
    /// Size of each geom, m.
    geom_size: tree.geoms.len(), 3;
    /// What a fluid does to each geom as an ellipsoid: blunt, slender and angular drag, Kutta's and Magnus' lift, then
    /// the masses (m³) and moments (m⁵) per density of what moves along. (mjModel has a switch before them.)
    geom_fluid: if tree.options.fluid { tree.geoms.len() } else { 0 }, 11;
    /// Friction of each geom: sliding, torsional (m), rolling (m).
    geom_friction: tree.geoms.len(), 3;
    /// Reference of each geom's contacts.
    geom_solref: tree.geoms.len(), 2;
    /// Impedance of each geom's contacts.
    geom_solimp: tree.geoms.len(), 5;
    /// Weight of each geom where contact parameters are mixed.
    geom_solmix: tree.geoms.len(), 1;
    /// Distance at which a contact acts, m.
    geom_margin: tree.geoms.len(), 1;
    /// Distance beyond the margin at which a contact is found, m.
    geom_gap: tree.geoms.len(), 1;

    /// Friction of each explicit pair: two sliding ones, torsional (m), two rolling ones (m).
    pair_friction: tree.pairs.len(), 5;
    /// Reference of each explicit pair's contacts.
    pair_solref: tree.pairs.len(), 2;
    /// Reference of their friction, where it is not zero.
    pair_solreffriction: tree.pairs.len(), 2;
    /// Impedance of each explicit pair's contacts.
    pair_solimp: tree.pairs.len(), 5;
    /// Distance at which they act, m.
    pair_margin: tree.pairs.len(), 1;
    /// Distance beyond the margin at which they are found, m.
    pair_gap: tree.pairs.len(), 1;

    /// Coefficients of fixed tendons, divisors of pulleys.
    wrap_prm: tree.tendons.iter().map(|t| t.wraps.end).max().unwrap_or(0), 1;
    /// Limits of each tendon's length.
    tendon_range: tree.tendons.len(), 2;
    /// Distance from the limit at which it acts.
    tendon_margin: tree.tendons.len(), 1;
    /// Stiffness of each tendon.
    tendon_stiffness: tree.tendons.len(), 1;
    /// Coefficients of the spring's higher terms.
    tendon_stiffnesspoly: tree.tendons.len(), 2;
    /// Damping of each tendon.
    tendon_damping: tree.tendons.len(), 1;
    /// Coefficients of the damper's higher terms.
    tendon_dampingpoly: tree.tendons.len(), 2;
    /// Inertia of each tendon.
    tendon_armature: tree.tendons.len(), 1;
    /// Dry friction of each tendon.
    tendon_frictionloss: tree.tendons.len(), 1;
    /// Lengths between which a tendon's spring is slack.
    tendon_lengthspring: tree.tendons.len(), 2;
    /// Length at the reference pose.
    tendon_length0: tree.tendons.len(), 1;
    /// Inverse inertia at the reference pose.
    tendon_invweight0: tree.tendons.len(), 1;
    /// Reference of each tendon's limit.
    tendon_solref_lim: tree.tendons.len(), 2;
    /// Impedance of each tendon's limit.
    tendon_solimp_lim: tree.tendons.len(), 5;
    /// Reference of each tendon's dry friction.
    tendon_solref_fri: tree.tendons.len(), 2;
    /// Impedance of each tendon's dry friction.
    tendon_solimp_fri: tree.tendons.len(), 5;
    /// Bounds of the total force of actuators on each tendon.
    tendon_actfrcrange: tree.tendons.len(), 2;

    /// Scale of each actuator's length and force along the transmission.
    actuator_gear: tree.actuators.len(), 6;
    /// Length of the rod of each slider-crank, m; unused elsewhere.
    actuator_cranklength: tree.actuators.len(), 1;
    /// Constants of the activation.
    actuator_dynprm: tree.actuators.len(), 10;
    /// Constants of the gain.
    actuator_gainprm: tree.actuators.len(), 10;
    /// Constants of the bias.
    actuator_biasprm: tree.actuators.len(), 10;
    /// Bounds of the control.
    actuator_ctrlrange: tree.actuators.len(), 2;
    /// Bounds of the force.
    actuator_forcerange: tree.actuators.len(), 2;
    /// Bounds of the activation.
    actuator_actrange: tree.actuators.len(), 2;
    /// Range of the length, for muscles.
    actuator_lengthrange: tree.actuators.len(), 2;
    /// Length of the acceleration by unit force at the reference pose, for muscles.
    actuator_acc0: tree.actuators.len(), 1;

    /// Geometry of each equality constraint.
    eq_data: tree.equalities.len(), 11;
    /// Reference of each equality constraint.
    eq_solref: tree.equalities.len(), 2;
    /// Impedance of each equality constraint.
    eq_solimp: tree.equalities.len(), 5;
}
