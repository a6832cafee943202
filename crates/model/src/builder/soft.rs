//! Building soft bodies.

use std::collections::BTreeMap;

use super::settings::{
    HingeSettings, MaterialParameter, MembraneSettings, SpringSettings, TetrahedraSettings,
};
use crate::error::ModelError;
use crate::model::Model;
use crate::soft::{Load, Path, Region, boundary_triangles};

/// A soft body in the making. Vertices are given in the body's frame.
#[derive(Clone, Debug)]
pub struct SoftBuilder {
    pub(super) name: String,
    pub(super) vertices: Vec<[f64; 3]>,
    pub(super) position: [f64; 3],
    pub(super) rotation: [f64; 4],
    pub(super) velocity: [f64; 3],
    pub(super) angular_velocity: [f64; 3],
    pub(super) start_position: Option<Vec<f64>>,
    pub(super) start_velocity: Option<Vec<f64>>,
    pub(super) vertex_mass: Option<Vec<f64>>,
    pub(super) mass_damping: f64,
    pub(super) radius: Vec<f64>,
    pub(super) tetrahedra: Vec<[u32; 4]>,
    pub(super) tetrahedra_settings: Option<TetrahedraSettings>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) membrane_settings: Option<MembraneSettings>,
    pub(super) hinges: Vec<[u32; 4]>,
    pub(super) hinge_settings: Option<HingeSettings>,
    pub(super) springs: Vec<[u32; 2]>,
    pub(super) spring_law: Option<(String, Vec<MaterialParameter>)>,
    pub(super) spring_settings: Option<SpringSettings>,
    pub(super) point_masses: Vec<(String, Vec<u32>, f64)>,
    pub(super) loads: Vec<Load>,
    pub(super) paths: Vec<Path>,
    pub(super) fixed: Vec<u32>,
    pub(super) regions: BTreeMap<String, Region>,
}

impl SoftBuilder {
    /// A body of loose vertices (m).
    pub fn new(name: &str, vertices: Vec<[f64; 3]>) -> Self {
        Self {
            name: name.into(),
            vertices,
            position: [0.0; 3],
            rotation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            start_position: None,
            start_velocity: None,
            vertex_mass: None,
            mass_damping: 0.0,
            radius: vec![0.0],
            tetrahedra: vec![],
            tetrahedra_settings: None,
            triangles: vec![],
            membrane_settings: None,
            hinges: vec![],
            hinge_settings: None,
            springs: vec![],
            spring_law: None,
            spring_settings: None,
            point_masses: vec![],
            loads: vec![],
            paths: vec![],
            fixed: vec![],
            regions: BTreeMap::new(),
        }
    }
    /// The vertices, m, body frame.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }
    /// The tetrahedra so far, by vertex indices.
    pub fn tetrahedra_so_far(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }
    /// The membrane triangles so far, by vertex indices.
    pub fn triangles_so_far(&self) -> &[[u32; 3]] {
        &self.triangles
    }
    /// The hinges so far, by vertex indices (opposite, opposite, edge, edge).
    pub fn hinges_so_far(&self) -> &[[u32; 4]] {
        &self.hinges
    }
    /// Where the body's frame starts, m.
    pub fn position(mut self, position: [f64; 3]) -> Self {
        self.position = position;
        self
    }
    /// How the body is turned at the start, quaternion w x y z.
    pub fn rotation(mut self, quat: [f64; 4]) -> Self {
        self.rotation = quat;
        self
    }
    /// Velocity at the start, m/s.
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity = velocity;
        self
    }
    /// Angular velocity at the start about the frame's origin, rad/s.
    pub fn angular_velocity(mut self, omega: [f64; 3]) -> Self {
        self.angular_velocity = omega;
        self
    }
    /// Start position of every vertex where it differs from the rest shape, 3 per vertex, body
    /// frame, m.
    pub fn start_position(mut self, positions: Vec<f64>) -> Self {
        self.start_position = Some(positions);
        self
    }
    /// Velocity of every vertex at the start, added to the rigid one, 3 per vertex, m/s.
    pub fn start_velocity(mut self, velocities: Vec<f64>) -> Self {
        self.start_velocity = Some(velocities);
        self
    }
    /// Mass per vertex, kg (one number or one per vertex), added to what the elements weigh.
    pub fn vertex_mass(mut self, mass: Vec<f64>) -> Self {
        self.vertex_mass = Some(mass);
        self
    }
    /// Mass-proportional damping, 1/s.
    pub fn mass_damping(mut self, rate: f64) -> Self {
        self.mass_damping = rate;
        self
    }
    /// Contact radius, m (one number or one per vertex).
    pub fn radius(mut self, radius: Vec<f64>) -> Self {
        self.radius = radius;
        self
    }
    /// Tetrahedra by vertex indices.
    pub fn with_tetrahedra(mut self, indices: Vec<[u32; 4]>) -> Self {
        self.tetrahedra = indices;
        self
    }
    /// Material, damping and mass of the tetrahedra.
    pub fn tetrahedra(mut self, settings: TetrahedraSettings) -> Self {
        self.tetrahedra_settings = Some(settings);
        self
    }
    /// Membrane triangles by vertex indices.
    pub fn with_triangles(mut self, indices: Vec<[u32; 3]>) -> Self {
        self.triangles = indices;
        self
    }
    /// The boundary of the tetrahedra as membrane triangles.
    pub fn with_surface_triangles(mut self) -> Self {
        self.triangles = boundary_triangles(&self.tetrahedra);
        self
    }
    /// Stiffness, damping, drag, lift and mass of the membrane.
    pub fn membrane(mut self, settings: MembraneSettings) -> Self {
        self.membrane_settings = Some(settings);
        self
    }
    /// Hinges by vertex indices (opposite, opposite, edge, edge).
    pub fn with_hinges(mut self, indices: Vec<[u32; 4]>) -> Self {
        self.hinges = indices;
        self
    }
    /// A hinge over every interior edge of the triangles.
    pub fn with_all_hinges(mut self) -> Self {
        self.hinges = super::hinges::interior_hinges(&self.triangles);
        self
    }
    /// Bending law and parameters.
    pub fn hinges(mut self, settings: HingeSettings) -> Self {
        self.hinge_settings = Some(settings);
        self
    }
    /// Springs by their ends.
    pub fn with_springs(mut self, indices: Vec<[u32; 2]>, settings: SpringSettings) -> Self {
        self.springs = indices;
        self.spring_settings = Some(settings);
        self
    }
    /// A law of one's own for the springs, with its parameters in its order; they have no stiffness then.
    pub fn spring_law(mut self, name: &str, parameters: Vec<MaterialParameter>) -> Self {
        self.spring_law = Some((name.into(), parameters));
        self
    }
    /// A mass (kg) shared equally by some vertices.
    pub fn point_mass(mut self, name: &str, vertices: Vec<u32>, mass: f64) -> Self {
        self.point_masses.push((name.into(), vertices, mass));
        self
    }
    /// A force input shared equally by some vertices.
    pub fn load(mut self, name: &str, vertices: Vec<u32>) -> Self {
        self.loads.push(Load { name: name.into(), vertices });
        self
    }
    /// Vertices moved on a prescribed path.
    pub fn path(mut self, name: &str, vertices: Vec<u32>) -> Self {
        self.paths.push(Path { name: name.into(), vertices });
        self
    }
    /// Vertices that do not move.
    pub fn fix(mut self, vertices: &[u32]) -> Self {
        self.fixed.extend_from_slice(vertices);
        self
    }
    /// A named part.
    pub fn region(mut self, name: &str, region: Region) -> Self {
        self.regions.insert(name.into(), region);
        self
    }
    /// A named part: the vertices for which `inside` holds and the elements made of them.
    pub fn region_where(self, name: &str, inside: impl Fn([f64; 3]) -> bool) -> Self {
        let region = self.select(inside);
        self.region(name, region)
    }
    /// The vertices (body frame) for which `inside` holds, and the elements made of them.
    pub fn select(&self, inside: impl Fn([f64; 3]) -> bool) -> Region {
        let holds: Vec<bool> = self.vertices.iter().map(|&x| inside(x)).collect();
        let at = |&v: &u32| holds.get(v as usize).copied().unwrap_or(false);
        let indices = |n: usize, f: &dyn Fn(usize) -> bool| {
            (0..n).filter(|&i| f(i)).map(|i| i as u32).collect::<Vec<u32>>()
        };
        Region {
            vertices: indices(holds.len(), &|i| holds[i]),
            tetrahedra: indices(self.tetrahedra.len(), &|i| self.tetrahedra[i].iter().all(at)),
            triangles: indices(self.triangles.len(), &|i| self.triangles[i].iter().all(at)),
        }
    }

    /// Adds the body and its leaves to a model.
    ///
    /// # Errors
    /// Taken names, indices out of range, inverted, degenerate or duplicate elements, vertices
    /// without mass that are neither fixed nor on a path, values out of bounds.
    pub fn build(self, model: &mut Model) -> Result<(), ModelError> {
        if model.soft_body(&self.name).is_some() {
            return Err(ModelError::DuplicateName { path: format!("soft.{}", self.name) });
        }
        super::checks::check(&self)?;
        let body = self.into_body(&mut model.leaves)?;
        model.soft.push(body);
        Ok(())
    }
}
