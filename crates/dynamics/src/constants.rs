//! The compiled constants: everything that the step reads.

use std::ops::Range;

/// What [`System::derive`](crate::System::derive) computes from θ, as one flat array; tangents
/// and adjoints of it have the same layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// The numbers.
    pub values: Vec<f64>,
}

/// Where each constant lies.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Gravity, m/s².
    pub gravity: Range<usize>,
    /// Inverse mass per vertex, 1/kg; zero for a vertex that is fixed or on a path.
    pub inverse_mass: Range<usize>,
    /// Mass-proportional damping per soft body, 1/s.
    pub mass_damping: Range<usize>,
    /// Start position of every vertex, m.
    pub start_position: Range<usize>,
    /// Start velocity of every vertex, m/s.
    pub start_velocity: Range<usize>,
    /// Mass of every vertex, kg, of those too that are fixed or on a path.
    pub vertex_mass: Range<usize>,
    /// Constants of each force.
    pub forces: Vec<Range<usize>>,
    /// Constants of the articulation, laid out by [`rigid::Layout`](crate::rigid::Layout).
    pub rigid: Range<usize>,
    /// Start of the articulation: coordinates with unit quaternions, velocities, activations.
    pub rigid_start: [Range<usize>; 3],
    /// Parameters of controllers, drives and friction.
    pub control: Range<usize>,
    /// Contact of soft vertices with articulated bodies: of each geom that they touch its parameters, |g|,
    /// and the radii of the vertices.
    pub coupling: Range<usize>,
    /// How many numbers in all.
    pub len: usize,
}

/// Sizes of what a layout holds of an articulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct RigidSizes {
    /// Constants.
    pub constants: usize,
    /// Coordinates, velocities, activations.
    pub state: [usize; 3],
    /// Parameters of the control.
    pub control: usize,
    /// Constants of the contact of soft vertices with it.
    pub coupling: usize,
}

impl Layout {
    /// Lays out the constants of a system of `vertices` vertices in `bodies` soft bodies.
    pub fn new(
        vertices: usize,
        bodies: usize,
        forces: impl Iterator<Item = usize>,
        rigid: RigidSizes,
    ) -> Self {
        let mut len = 0;
        let mut take = |n: usize| {
            len += n;
            len - n..len
        };
        let gravity = take(3);
        let inverse_mass = take(vertices);
        let mass_damping = take(bodies);
        let start_position = take(3 * vertices);
        let start_velocity = take(3 * vertices);
        let vertex_mass = take(vertices);
        let forces = forces.map(&mut take).collect();
        let rigid_start = rigid.state.map(&mut take);
        let control = take(rigid.control);
        let coupling = rigid.coupling;
        let rigid = take(rigid.constants);
        let coupling = take(coupling);
        Self {
            gravity,
            inverse_mass,
            mass_damping,
            start_position,
            start_velocity,
            vertex_mass,
            forces,
            rigid,
            rigid_start,
            control,
            coupling,
            len,
        }
    }
}
