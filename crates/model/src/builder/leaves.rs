//! From what the user says to a body and its leaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::SoftBuilder;
use super::checks::{six_volumes, two_areas};
use super::hinges::angle;
use super::settings::{MassRule, MaterialSettings, TetrahedraSettings};
use crate::error::ModelError;
use crate::leaf::{Bounds, Elements, Leaf, LeafId, Leaves};
use crate::soft::{
    ElasticView, Hinges, Material, Membrane, PointMass, Region, SoftBody, SpringLaw, Springs,
    Tetrahedra, TetrahedraDamping, TetrahedraMass, boundary_triangles,
};

/// Adds leaves `soft.BODY.…`.
struct Adder<'a> {
    body: String,
    leaves: &'a mut Leaves,
}

impl Adder<'_> {
    fn path(&self, name: &str) -> String {
        format!("soft.{}.{name}", self.body)
    }
    fn field(
        &mut self,
        name: &str,
        values: Vec<f64>,
        over: &Elements,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        let path = self.path(name);
        self.leaves.add(Leaf::field(path, values, over, unit, bounds, about))
    }
    fn array(
        &mut self,
        name: &str,
        values: Vec<f64>,
        shape: Vec<usize>,
        unit: &'static str,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        let path = self.path(name);
        self.leaves.add(Leaf::array(path, values, shape, unit, about))
    }
    fn scalar(
        &mut self,
        name: &str,
        value: f64,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Result<LeafId, ModelError> {
        let path = self.path(name);
        self.leaves.add(Leaf::scalar(path, value, unit, bounds, about))
    }
}

/// The elements of one kind, with the regions that hold some as groups.
fn elements(
    count: usize,
    element: &'static str,
    regions: &BTreeMap<String, Region>,
    part: impl Fn(&Region) -> &Vec<u32>,
) -> Elements {
    let groups = regions
        .iter()
        .filter(|(_, region)| !part(region).is_empty())
        .map(|(name, region)| (name.clone(), part(region).clone()))
        .collect();
    Elements { count, element, groups: Arc::new(groups) }
}

impl SoftBuilder {
    pub(super) fn into_body(self, leaves: &mut Leaves) -> Result<SoftBody, ModelError> {
        let n = self.vertices.len();
        let mut add = Adder { body: self.name.clone(), leaves };
        let over_vertices = elements(n, "vertex", &self.regions, |r| &r.vertices);
        let flat: Vec<f64> = self.vertices.iter().flatten().copied().collect();
        let rest_position = add.array(
            "rest_position",
            flat,
            vec![n, 3],
            "m",
            "rest shape: position of every vertex in the body's frame",
        )?;
        let position = add.array(
            "position",
            self.position.to_vec(),
            vec![3],
            "m",
            "where the body's frame starts",
        )?;
        let rotation = add.array(
            "rotation",
            self.rotation.to_vec(),
            vec![4],
            "",
            "how the body is turned at the start, quaternion w x y z (normalised before use)",
        )?;
        let velocity =
            add.array("velocity", self.velocity.to_vec(), vec![3], "m/s", "velocity at the start")?;
        let angular_velocity = add.array(
            "angular_velocity",
            self.angular_velocity.to_vec(),
            vec![3],
            "rad/s",
            "angular velocity at the start about the frame's origin, world axes",
        )?;
        let start_position = self
            .start_position
            .clone()
            .map(|x| {
                add.array(
                    "start_position",
                    x,
                    vec![n, 3],
                    "m",
                    "position of every vertex at the start, in the body's frame",
                )
            })
            .transpose()?;
        let start_velocity = self
            .start_velocity
            .clone()
            .map(|v| {
                add.array(
                    "start_velocity",
                    v,
                    vec![n, 3],
                    "m/s",
                    "velocity of every vertex at the start, added to the body's",
                )
            })
            .transpose()?;
        let vertex_mass = self
            .vertex_mass
            .clone()
            .map(|m| {
                add.field(
                    "vertex_mass",
                    m,
                    &over_vertices,
                    "kg",
                    Bounds::NON_NEGATIVE,
                    "mass of a vertex, added to what the elements weigh",
                )
            })
            .transpose()?;
        let mass_damping = add.scalar(
            "mass_damping",
            self.mass_damping,
            "1/s",
            Bounds::NON_NEGATIVE,
            "mass-proportional damping, relative to the world",
        )?;
        let radius = add.field(
            "radius",
            self.radius.clone(),
            &over_vertices,
            "m",
            Bounds::NON_NEGATIVE,
            "contact radius of a vertex",
        )?;
        let tetrahedra = match (&self.tetrahedra_settings, self.tetrahedra.is_empty()) {
            (Some(settings), false) => Some(self.tetrahedra_part(settings, &mut add)?),
            _ => None,
        };
        let membrane = self.membrane_part(&mut add)?;
        let hinges = self.hinges_part(&mut add)?;
        let springs = self.springs_part(&mut add)?;
        let mut point_masses = Vec::new();
        for (name, vertices, mass) in &self.point_masses {
            let leaf = add.scalar(
                &format!("point_mass.{name}"),
                *mass,
                "kg",
                Bounds::NON_NEGATIVE,
                "extra mass shared equally by the vertices it hangs on",
            )?;
            point_masses.push(PointMass {
                name: name.clone(),
                vertices: vertices.clone(),
                mass: leaf,
            });
        }
        let mut surface = boundary_triangles(&self.tetrahedra);
        let mut known: std::collections::HashSet<[u32; 3]> = surface.iter().map(sorted).collect();
        surface.extend(self.triangles.iter().filter(|t| known.insert(sorted(t))));
        let mut fixed = self.fixed;
        fixed.sort_unstable();
        fixed.dedup();
        Ok(SoftBody {
            name: self.name,
            rest_position,
            position,
            rotation,
            velocity,
            angular_velocity,
            start_position,
            start_velocity,
            vertex_mass,
            mass_damping,
            radius,
            tetrahedra,
            membrane,
            hinges,
            springs,
            point_masses,
            loads: self.loads,
            paths: self.paths,
            fixed,
            regions: self.regions,
            surface,
            vertex_count: n,
        })
    }

    fn tetrahedra_part(
        &self,
        settings: &TetrahedraSettings,
        add: &mut Adder,
    ) -> Result<Tetrahedra, ModelError> {
        let over = elements(self.tetrahedra.len(), "tetrahedron", &self.regions, |r| &r.tetrahedra);
        let material = material(&settings.material, &over, add)?;
        let damping = TetrahedraDamping {
            law: settings.damping.law,
            viscosity: add.field(
                "damping",
                settings.damping.viscosity.clone(),
                &over,
                "Pa s",
                Bounds::NON_NEGATIVE,
                "viscosity of the material",
            )?,
            stiffness: add.field(
                "stiffness_damping",
                settings.damping.stiffness.clone(),
                &over,
                "s",
                Bounds::NON_NEGATIVE,
                "stiffness-proportional (Kelvin-Voigt) damping time",
            )?,
        };
        const DENSITY: &str = "mass per volume";
        let mass = match &settings.mass {
            MassRule::Density(density) => TetrahedraMass::Density(add.field(
                "density",
                density.clone(),
                &over,
                "kg/m^3",
                Bounds::POSITIVE,
                DENSITY,
            )?),
            MassRule::Total(mass) => TetrahedraMass::Total {
                mass: add.scalar("mass", *mass, "kg", Bounds::POSITIVE, "mass of the body")?,
                relative: vec![1.0],
            },
            MassRule::GridCell { density, volume } => TetrahedraMass::GridCell {
                density: add.scalar("density", *density, "kg/m^3", Bounds::POSITIVE, DENSITY)?,
                volume: *volume,
            },
            MassRule::None => TetrahedraMass::None,
        };
        let activation = add.field(
            "activation",
            settings.activation.clone(),
            &over,
            "",
            Bounds::ANY,
            "active volumetric stress over lambda; positive contracts",
        )?;
        Ok(Tetrahedra {
            indices: self.tetrahedra.clone(),
            material,
            damping,
            mass,
            activation,
            activation_input: settings.activation_input.clone(),
        })
    }

    fn membrane_part(&self, add: &mut Adder) -> Result<Option<Membrane>, ModelError> {
        let Some(s) = &self.membrane_settings else { return Ok(None) };
        if self.triangles.is_empty() {
            return Ok(None);
        }
        let over = elements(self.triangles.len(), "triangle", &self.regions, |r| &r.triangles);
        let mut field = |name: &str, values: &[f64], unit, bounds, about: &str| {
            add.field(&format!("membrane.{name}"), values.to_vec(), &over, unit, bounds, about)
        };
        let positive = Bounds::NON_NEGATIVE;
        Ok(Some(Membrane {
            triangles: self.triangles.clone(),
            damping_law: s.damping_law,
            stiffness: field("stiffness", &s.stiffness, "N/m", positive, "shear stiffness")?,
            area_stiffness: field(
                "area_stiffness",
                &s.area_stiffness,
                "N/m",
                positive,
                "stiffness against change of area",
            )?,
            damping: field("damping", &s.damping, "N s/m", positive, "viscosity per area")?,
            drag: field("drag", &s.drag, "kg/m^3", positive, "aerodynamic drag coefficient")?,
            lift: field("lift", &s.lift, "kg/m^3", positive, "aerodynamic lift coefficient")?,
            activation: field(
                "activation",
                &s.activation,
                "",
                Bounds::ANY,
                "active area stress over area stiffness; positive contracts",
            )?,
            density: field("density", &s.density, "kg/m^2", positive, "mass per area")?,
        }))
    }

    fn hinges_part(&self, add: &mut Adder) -> Result<Option<Hinges>, ModelError> {
        let Some(s) = &self.hinge_settings else { return Ok(None) };
        if self.hinges.is_empty() {
            return Ok(None);
        }
        let over = elements(self.hinges.len(), "hinge", &BTreeMap::new(), |r| &r.vertices);
        let rest: Vec<f64> = s.rest_angle.clone().unwrap_or_else(|| {
            self.hinges.iter().map(|h| angle(h.map(|v| self.vertices[v as usize]))).collect()
        });
        let (k, d) = if s.law == "warp" { ("N", "N s") } else { ("N m", "N m s") };
        let mut field = |name: &str, values: Vec<f64>, unit, bounds, about: &str| {
            add.field(&format!("bending.{name}"), values, &over, unit, bounds, about)
        };
        Ok(Some(Hinges {
            indices: self.hinges.clone(),
            law: s.law.clone(),
            stiffness: field(
                "stiffness",
                s.stiffness.clone(),
                k,
                Bounds::NON_NEGATIVE,
                "bending stiffness",
            )?,
            damping: field(
                "damping",
                s.damping.clone(),
                d,
                Bounds::NON_NEGATIVE,
                "bending damping",
            )?,
            rest_angle: field("rest_angle", rest, "rad", Bounds::ANY, "angle without moment")?,
        }))
    }

    fn springs_part(&self, add: &mut Adder) -> Result<Option<Springs>, ModelError> {
        let Some(s) = &self.spring_settings else { return Ok(None) };
        if self.springs.is_empty() {
            return Ok(None);
        }
        let over = elements(self.springs.len(), "spring", &BTreeMap::new(), |r| &r.vertices);
        let length = |[a, b]: [u32; 2]| {
            let (a, b) = (self.vertices[a as usize], self.vertices[b as usize]);
            (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
        };
        let rest = s
            .rest_length
            .clone()
            .unwrap_or_else(|| self.springs.iter().map(|&ends| length(ends)).collect());
        let mut field = |name: &str, values: Vec<f64>, unit, about: &str| {
            add.field(&format!("springs.{name}"), values, &over, unit, Bounds::NON_NEGATIVE, about)
        };
        let law = match &self.spring_law {
            None => SpringLaw::Hooke {
                stiffness: field("stiffness", s.stiffness.clone(), "N/m", "spring stiffness")?,
            },
            Some((name, own)) => {
                let mut parameters = Vec::new();
                for p in own {
                    let path = format!("springs.{}", p.name);
                    let about = "parameter of the spring law";
                    let values = p.values.clone();
                    parameters.push(add.field(&path, values, &over, p.unit, p.bounds, about)?);
                }
                SpringLaw::Own { name: name.clone(), parameters }
            }
        };
        let mut field = |name: &str, values: Vec<f64>, unit, about: &str| {
            add.field(&format!("springs.{name}"), values, &over, unit, Bounds::NON_NEGATIVE, about)
        };
        Ok(Some(Springs {
            indices: self.springs.clone(),
            law,
            damping: field("damping", s.damping.clone(), "N s/m", "damping along the spring")?,
            rest_length: field("rest_length", rest, "m", "length without force")?,
        }))
    }

    /// Volumes of the tetrahedra, m³.
    pub fn volumes(&self) -> Vec<f64> {
        self.tetrahedra.iter().map(|&t| six_volumes(&self.vertices, t) / 6.0).collect()
    }

    /// Areas of the membrane triangles, m².
    pub fn areas(&self) -> Vec<f64> {
        self.triangles.iter().map(|&t| two_areas(&self.vertices, t) / 2.0).collect()
    }
}

fn sorted(t: &[u32; 3]) -> [u32; 3] {
    let mut key = *t;
    key.sort_unstable();
    key
}

fn material(
    s: &MaterialSettings,
    over: &Elements,
    add: &mut Adder,
) -> Result<Material, ModelError> {
    let parameters = match s.view {
        ElasticView::Lame => vec![
            add.field(
                "mu",
                s.first.clone(),
                over,
                "Pa",
                Bounds::NON_NEGATIVE,
                "first parameter of the material law (shear modulus where the law is Lamé's)",
            )?,
            add.field(
                "lambda",
                s.second.clone(),
                over,
                "Pa",
                Bounds::ANY,
                "second parameter of the material law (Lamé's lambda where the law is Lamé's)",
            )?,
        ],
        ElasticView::Engineering => vec![
            add.field("young", s.first.clone(), over, "Pa", Bounds::POSITIVE, "Young's modulus")?,
            add.field(
                "poisson",
                s.second.clone(),
                over,
                "",
                Bounds::between(-1.0, 0.5),
                "Poisson's ratio",
            )?,
        ],
        ElasticView::Own => {
            let mut own = Vec::new();
            for p in &s.own {
                own.push(add.field(
                    &p.name,
                    p.values.clone(),
                    over,
                    p.unit,
                    p.bounds,
                    "parameter of the material law",
                )?);
            }
            own
        }
    };
    Ok(Material { law: s.law.clone(), view: s.view, parameters })
}
