//! Soft bodies: vertices joined by tetrahedra, membranes, hinges and springs.

use std::collections::BTreeMap;

use crate::leaf::LeafId;

/// A named part of a soft body, for selections, loads, attachments and fixing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// Vertices, ascending.
    pub vertices: Vec<u32>,
    /// Tetrahedra all of whose vertices lie in the region, or that a mesh file tags.
    pub tetrahedra: Vec<u32>,
    /// Membrane triangles, likewise.
    pub triangles: Vec<u32>,
}

/// How the two Lamé-like parameters of a material are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElasticView {
    /// `mu` and `lambda` are the leaves.
    Lame,
    /// `young` and `poisson` are; μ = E/2(1+ν), λ = Eν/(1+ν)(1−2ν).
    Engineering,
    /// The law has parameters of its own that no other view is offered for.
    Own,
}

/// A constitutive law by name, with its parameters as leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Registered name of the law: "neo-hookean", "stable-neo-hookean", "warp", …
    pub law: String,
    /// How the first two parameters are given.
    pub view: ElasticView,
    /// Leaves in the order in which the law takes its parameters, fields over tetrahedra. Under
    /// [`ElasticView::Engineering`] the first two are Young's modulus and Poisson's ratio.
    pub parameters: Vec<LeafId>,
}

/// Which damping law the elements of a body follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DampingLaw {
    /// Kelvin-Voigt on the rate of the Green strain: no damping in uniform flight or rotation.
    #[default]
    FrameIndifferent,
    /// warp.sim's law, which brakes rotation and, in tetrahedra, uniform flight.
    Warp,
}

/// Element damping of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetrahedraDamping {
    /// The law that both leaves act through.
    pub law: DampingLaw,
    /// Viscosity `soft.NAME.damping`, Pa s.
    pub viscosity: LeafId,
    /// Stiffness-proportional damping time `soft.NAME.stiffness_damping`, s; must be zero under
    /// [`DampingLaw::Warp`].
    pub stiffness: LeafId,
}

/// How the mass of tetrahedra is given and spread over their vertices.
#[derive(Clone, Debug, PartialEq)]
pub enum TetrahedraMass {
    /// Density of each tetrahedron, kg/m³; a quarter of its mass goes to each vertex.
    Density(LeafId),
    /// Total mass, kg, a view of the density: the densities are proportional to `relative`
    /// (one per tetrahedron, or one for all).
    Total {
        /// The mass of all tetrahedra together.
        mass: LeafId,
        /// Density of each tetrahedron up to a common factor.
        relative: Vec<f64>,
    },
    /// warp.sim's rule for grids: every vertex weighs density × `volume`, on the surface too.
    GridCell {
        /// Density, kg/m³, one number.
        density: LeafId,
        /// Volume of a grid cell, m³.
        volume: f64,
    },
    /// The tetrahedra weigh nothing; masses are given per vertex.
    None,
}

/// The volume elements of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Tetrahedra {
    /// Vertex indices, positively oriented: (x1−x0)·((x2−x0)×(x3−x0)) > 0 at rest.
    pub indices: Vec<[u32; 4]>,
    /// The constitutive law.
    pub material: Material,
    /// Element damping.
    pub damping: TetrahedraDamping,
    /// Mass.
    pub mass: TetrahedraMass,
    /// Activation `soft.NAME.activation`, dimensionless, a field over tetrahedra: an active
    /// volumetric stress of λ·activation, so that a positive one contracts.
    pub activation: LeafId,
    /// Name of an input channel `soft.BODY.activation.NAME` (size 1) added to every activation.
    pub activation_input: Option<String>,
}

/// Membrane triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Membrane {
    /// Vertex indices.
    pub triangles: Vec<[u32; 3]>,
    /// Which law damps.
    pub damping_law: DampingLaw,
    /// Shear stiffness per area (warp.sim's ke), N/m, field over triangles.
    pub stiffness: LeafId,
    /// Area stiffness (warp.sim's ka), N/m.
    pub area_stiffness: LeafId,
    /// Viscosity per area (warp.sim's kd), N s/m.
    pub damping: LeafId,
    /// Drag coefficient, N s²/m⁴ … as in warp.sim.
    pub drag: LeafId,
    /// Lift coefficient, as in warp.sim.
    pub lift: LeafId,
    /// Activation, dimensionless.
    pub activation: LeafId,
    /// Mass per area, kg/m²; a third of a triangle's mass goes to each vertex.
    pub density: LeafId,
}

/// Bending hinges over an interior edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Hinges {
    /// Opposite vertex 1, opposite vertex 2, edge vertex 3, edge vertex 4.
    pub indices: Vec<[u32; 4]>,
    /// Registered name of the law: "discrete-shells" (conservative, default) or "warp".
    pub law: String,
    /// Bending stiffness, field over hinges; unit by law.
    pub stiffness: LeafId,
    /// Bending damping, field over hinges.
    pub damping: LeafId,
    /// Rest angle, rad, field over hinges; any value.
    pub rest_angle: LeafId,
}

/// Springs with dampers along them.
#[derive(Clone, Debug, PartialEq)]
pub struct Springs {
    /// The two ends.
    pub indices: Vec<[u32; 2]>,
    /// What they pull with.
    pub law: SpringLaw,
    /// Damping, N s/m.
    pub damping: LeafId,
    /// Rest length, m; zero is allowed.
    pub rest_length: LeafId,
}

/// The energy of springs.
#[derive(Clone, Debug, PartialEq)]
pub enum SpringLaw {
    /// Proportional to the square of the stretch.
    Hooke {
        /// Stiffness, N/m.
        stiffness: LeafId,
    },
    /// A law of the user's own, by name.
    Own {
        /// Its name.
        name: String,
        /// Its parameters, in its order.
        parameters: Vec<LeafId>,
    },
}

/// An extra mass shared equally by some vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct PointMass {
    /// Name: the leaf is `soft.BODY.point_mass.NAME`.
    pub name: String,
    /// The vertices that carry it.
    pub vertices: Vec<u32>,
    /// Mass, kg.
    pub mass: LeafId,
}

/// A force input shared equally by some vertices: channel `soft.BODY.load.NAME`, 3 × N.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Name.
    pub name: String,
    /// The vertices it acts on.
    pub vertices: Vec<u32>,
}

/// Vertices moved on a prescribed path: channel `soft.BODY.path.NAME`, their displacement from
/// where they start, 3 × m.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Name.
    pub name: String,
    /// The vertices that move together.
    pub vertices: Vec<u32>,
}

/// A soft body: vertices and what joins them.
///
/// Vertex indices everywhere count from the body's first vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftBody {
    /// Name; leaves are `soft.NAME.…`.
    pub name: String,
    /// Rest shape in the body's frame, `soft.NAME.rest_position`, shape [vertices, 3], m.
    pub rest_position: LeafId,
    /// Where the body's frame starts, `soft.NAME.position`, m.
    pub position: LeafId,
    /// How it is turned at the start, `soft.NAME.rotation`, quaternion w x y z (normalised
    /// before use, so that the gradient is orthogonal to it).
    pub rotation: LeafId,
    /// Velocity at the start, `soft.NAME.velocity`, m/s.
    pub velocity: LeafId,
    /// Angular velocity at the start about the body frame's origin, world axes, rad/s.
    pub angular_velocity: LeafId,
    /// Start position of every vertex in the body's frame where it differs from the rest shape,
    /// `soft.NAME.start_position`, shape [vertices, 3], m.
    pub start_position: Option<LeafId>,
    /// Velocity of every vertex at the start, added to the rigid one, world axes,
    /// `soft.NAME.start_velocity`, shape [vertices, 3], m/s.
    pub start_velocity: Option<LeafId>,
    /// Mass given per vertex, `soft.NAME.vertex_mass`, kg, field over vertices, added to what
    /// the elements weigh.
    pub vertex_mass: Option<LeafId>,
    /// Mass-proportional damping, `soft.NAME.mass_damping`, 1/s, relative to the world.
    pub mass_damping: LeafId,
    /// Contact radius of vertices, `soft.NAME.radius`, m, field over vertices.
    pub radius: LeafId,
    /// Volume elements.
    pub tetrahedra: Option<Tetrahedra>,
    /// Membrane elements.
    pub membrane: Option<Membrane>,
    /// Bending elements.
    pub hinges: Option<Hinges>,
    /// Springs.
    pub springs: Option<Springs>,
    /// Extra masses.
    pub point_masses: Vec<PointMass>,
    /// Force inputs.
    pub loads: Vec<Load>,
    /// Prescribed paths.
    pub paths: Vec<Path>,
    /// Vertices that do not move.
    pub fixed: Vec<u32>,
    /// Named parts.
    pub regions: BTreeMap<String, Region>,
    /// Boundary triangles of the tetrahedra, outward, and the membrane's; what is drawn and what
    /// markers attach to.
    pub surface: Vec<[u32; 3]>,
    /// Number of vertices.
    pub vertex_count: usize,
}

/// Boundary triangles of tetrahedra, oriented outward, in order of first appearance.
pub fn boundary_triangles(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut seen: std::collections::HashMap<[u32; 3], Option<usize>> = Default::default();
    let mut faces: Vec<Option<[u32; 3]>> = Vec::new();
    for &[i, j, k, l] in tetrahedra {
        for face in [[i, k, j], [j, k, l], [i, j, l], [i, l, k]] {
            let mut key = face;
            key.sort_unstable();
            match seen.get(&key) {
                Some(Some(at)) => {
                    faces[*at] = None;
                    seen.insert(key, None);
                }
                Some(None) => {}
                None => {
                    seen.insert(key, Some(faces.len()));
                    faces.push(Some(face));
                }
            }
        }
    }
    faces.into_iter().flatten().collect()
}
