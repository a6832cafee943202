//! Views of a body's inertia: given numbers instead of geoms, a mass that scales the inertia, the ten
//! parameters of the pseudo-inertia.

use costate_num::{Quat, SymMat3, Vec3};

use super::body::{FULL, IPOS, MASS};
use super::leaves::mass_bounds;
use super::{Articulation, Form, GeomMass, Inertial, Placement, Tensor, extent, principal};
use crate::error::ModelError;
use crate::leaf::{Leaf, LeafId, Leaves};
use crate::model::Model;

/// Which view of a body's inertia a leaf belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// `mass`: alone.
    Mass,
    /// `ipos`: in any view but that of the geoms and the pseudo-inertia.
    Center,
    /// `fullinertia`.
    Full,
    /// `diaginertia`, `iquat`.
    Diagonal,
    /// `scaledmass`: with the inertia in proportion.
    Scaled,
    /// `pseudoinertia`.
    Pseudo,
    /// `mass`, `density` or `size` of a geom that the body's inertia is made of.
    Geoms,
}

impl Choice {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "mass" => Self::Mass,
            "ipos" => Self::Center,
            "fullinertia" => Self::Full,
            "diaginertia" | "iquat" => Self::Diagonal,
            "scaledmass" => Self::Scaled,
            "pseudoinertia" => Self::Pseudo,
            _ => return None,
        })
    }

    /// Whether two leaves can stand beside each other.
    fn fits(self, other: Self) -> bool {
        use Choice::{Center, Diagonal, Full, Geoms, Mass, Pseudo, Scaled};
        match (self, other) {
            (a, b) if a == b => true,
            (Pseudo | Geoms, _) | (_, Pseudo | Geoms) => false,
            (Mass, Scaled) | (Scaled, Mass) | (Full, Diagonal) | (Diagonal, Full) => false,
            (Mass | Center | Full | Diagonal | Scaled, _) => true,
        }
    }
}

/// Mass, centre of mass and inertia about it in the body's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in the body's frame, m.
    pub center: [f64; 3],
    /// xx, yy, zz, xy, xz, yz about the centre, kg m².
    pub full: [f64; 6],
}

impl Model {
    /// Replaces the primary leaves of bodies' inertias by the views that `paths` ask for.
    pub(crate) fn choose_inertials(&mut self, paths: &[&str]) -> Result<(), ModelError> {
        let Some(mut a) = self.articulation.take() else { return Ok(()) };
        let result = choose(&mut a, &mut self.leaves, paths);
        self.articulation = Some(a);
        result
    }
}

fn choose(a: &mut Articulation, leaves: &mut Leaves, paths: &[&str]) -> Result<(), ModelError> {
    let mut chosen: Vec<(&str, usize, Choice)> = Vec::new();
    for &path in paths {
        let Some((body, choice)) = target(a, path) else { continue };
        let clash = chosen.iter().find(|(_, b, other)| *b == body && !other.fits(choice));
        if let Some((first, ..)) = clash {
            return Err(ModelError::ConflictingViews {
                first: (*first).into(),
                second: path.into(),
            });
        }
        chosen.push((path, body, choice));
    }
    for (path, body, choice) in chosen {
        if choice != Choice::Geoms && leaves.find(path).is_err() {
            set_view(a, leaves, body, choice)?;
        }
    }
    Ok(())
}

/// The body whose inertia a path belongs to, and how.
fn target(a: &Articulation, path: &str) -> Option<(usize, Choice)> {
    let (element, name) = path.rsplit_once('.')?;
    if let Some(body) = element.strip_prefix("body.") {
        let body = a.body(body).filter(|b| *b > 0)?;
        return Some((body, Choice::of(name)?));
    }
    let geom = a.geom(element.strip_prefix("geom.")?)?;
    let geom = &a.geoms[geom];
    let weighs = matches!(name, "mass" | "density") && geom.in_inertia;
    weighs.then_some((geom.body, Choice::Geoms))
}

fn set_view(
    a: &mut Articulation,
    leaves: &mut Leaves,
    body: usize,
    choice: Choice,
) -> Result<(), ModelError> {
    let name = a.bodies[body].name.clone();
    let path = |leaf: &str| format!("body.{name}.{leaf}");
    let old = a.bodies[body].inertial.clone();
    let p = a.mass_properties(leaves, body)?;
    if p.mass <= 0.0 {
        return Err(ModelError::invalid(
            format!("body.{name}"),
            "it has no mass, so there is no other view of it",
        ));
    }
    let mass_leaf = |leaf: &str, about: &str| {
        Leaf::scalar(path(leaf), p.mass, "kg", mass_bounds(p.mass), about)
    };
    const SCALED: &str = "mass of the body, its inertia in proportion";
    let new = match (choice, old) {
        (Choice::Scaled, Inertial::FromGeoms) => {
            Inertial::GeomsScaled { mass: leaves.add(mass_leaf("scaledmass", SCALED))? }
        }
        (Choice::Scaled, Inertial::Given { mass, ipos, tensor }) => {
            leaves.replace(mass, mass_leaf("scaledmass", SCALED))?;
            Inertial::Proportional { mass, ipos, tensor, reference: p.mass }
        }
        (Choice::Mass, Inertial::Proportional { mass, ipos, tensor, reference })
            if reference == p.mass =>
        {
            leaves.replace(mass, mass_leaf("mass", MASS))?;
            Inertial::Given { mass, ipos, tensor }
        }
        (Choice::Full, Inertial::Given { mass, ipos, tensor }) => {
            Inertial::Given { mass, ipos, tensor: to_full(leaves, &name, &tensor, p)? }
        }
        (Choice::Full, Inertial::Proportional { mass, ipos, tensor, reference }) => {
            let tensor = to_full(leaves, &name, &tensor, p)?;
            Inertial::Proportional { mass, ipos, tensor, reference }
        }
        (Choice::Mass | Choice::Center | Choice::Full, old) => {
            retire(leaves, &old);
            let mass = leaves.add(mass_leaf("mass", MASS))?;
            let ipos = Leaf::array(path("ipos"), p.center.to_vec(), vec![3], "m", IPOS);
            let ipos = leaves.add(ipos)?;
            let full = Leaf::array(path("fullinertia"), p.full.to_vec(), vec![6], "kg m^2", FULL);
            let full = leaves.add(full)?;
            Inertial::Given { mass, ipos, tensor: Tensor::Full { full } }
        }
        (Choice::Pseudo, old) => {
            retire(leaves, &old);
            let about = "log-Cholesky parameters of the pseudo-inertia: alpha, d1, d2, d3, s12, \
                         s23, s13, t1, t2, t3";
            let values = log_cholesky(&name, p)?.to_vec();
            let leaf = Leaf::array(path("pseudoinertia"), values, vec![10], "", about);
            Inertial::PseudoInertia { parameters: leaves.add(leaf)? }
        }
        (Choice::Diagonal | Choice::Scaled, _) => {
            return Err(ModelError::invalid(
                format!("body.{name}"),
                "its inertia cannot be given in this way; choose fullinertia or pseudoinertia",
            ));
        }
        (Choice::Geoms, old) => old,
    };
    if !matches!(new, Inertial::FromGeoms | Inertial::GeomsScaled { .. }) {
        a.geoms.iter_mut().filter(|g| g.body == body).for_each(|g| g.in_inertia = false);
    }
    a.bodies[body].inertial = new;
    Ok(())
}

fn to_full(
    leaves: &mut Leaves,
    name: &str,
    tensor: &Tensor,
    p: MassProperties,
) -> Result<Tensor, ModelError> {
    match tensor {
        Tensor::Full { full } => Ok(Tensor::Full { full: *full }),
        Tensor::Diagonal { diagonal, iquat } => {
            let path = format!("body.{name}.fullinertia");
            let leaf = Leaf::array(path, p.full.to_vec(), vec![6], "kg m^2", FULL);
            leaves.replace(*diagonal, leaf)?;
            leaves.retire(*iquat);
            Ok(Tensor::Full { full: *diagonal })
        }
    }
}

/// Takes out the leaves of a body's inertia; geoms keep theirs.
fn retire(leaves: &mut Leaves, inertial: &Inertial) {
    match inertial {
        Inertial::FromGeoms => {}
        Inertial::GeomsScaled { mass } => leaves.retire(*mass),
        Inertial::PseudoInertia { parameters } => leaves.retire(*parameters),
        Inertial::Given { mass, ipos, tensor }
        | Inertial::Proportional { mass, ipos, tensor, .. } => {
            leaves.retire(*mass);
            leaves.retire(*ipos);
            match tensor {
                Tensor::Full { full } => leaves.retire(*full),
                Tensor::Diagonal { diagonal, iquat } => {
                    leaves.retire(*diagonal);
                    leaves.retire(*iquat);
                }
            }
        }
    }
}

/// The log-Cholesky parameters of a body (Rucker and Wensing 2022).
fn log_cholesky(name: &str, p: MassProperties) -> Result<[f64; 10], ModelError> {
    let [xx, yy, zz, xy, xz, yz] = p.full;
    let half = (xx + yy + zz) / 2.0;
    // Second moments per mass about the centre: S = U Uᵀ with U upper triangular.
    let s = |x: f64| x / p.mass;
    let (sxx, syy, szz) = (s(half - xx), s(half - yy), s(half - zz));
    let (sxy, sxz, syz) = (s(-xy), s(-xz), s(-yz));
    let u33 = szz.max(0.0).sqrt();
    let (u13, u23) = (sxz / u33, syz / u33);
    let u22 = (syy - u23 * u23).max(0.0).sqrt();
    let u12 = (sxy - u13 * u23) / u22;
    let u11 = (sxx - u12 * u12 - u13 * u13).max(0.0).sqrt();
    let [t1, t2, t3] = p.center;
    let parameters = [p.mass.ln() / 2.0, u11.ln(), u22.ln(), u33.ln(), u12, u23, u13, t1, t2, t3];
    if parameters.iter().all(|x| x.is_finite()) {
        return Ok(parameters);
    }
    Err(ModelError::invalid(
        format!("body.{name}.pseudoinertia"),
        "the inertia is that of a flat or impossible body, which has no such parameters",
    ))
}

impl Articulation {
    /// Mass properties of a body for the present values of the leaves, before the rules of
    /// [`InertiaRules`](super::InertiaRules).
    ///
    /// # Errors
    /// A parametrisation that has no value.
    pub fn mass_properties(
        &self,
        leaves: &Leaves,
        body: usize,
    ) -> Result<MassProperties, ModelError> {
        let values = |id: LeafId| &leaves.get(id).values;
        let vec = |id: LeafId| [0, 1, 2].map(|i| leaves.get(id).at(i));
        Ok(match &self.bodies[body].inertial {
            Inertial::FromGeoms => self.of_geoms(leaves, body),
            Inertial::GeomsScaled { mass } => {
                let mut p = self.of_geoms(leaves, body);
                let scale = leaves.get(*mass).at(0) / p.mass;
                p.mass *= scale;
                p.full = p.full.map(|x| x * scale);
                p
            }
            Inertial::Given { mass, ipos, tensor } => MassProperties {
                mass: values(*mass)[0],
                center: vec(*ipos),
                full: self.tensor(leaves, tensor),
            },
            Inertial::Proportional { mass, ipos, tensor, reference } => {
                let mass = values(*mass)[0];
                let full = self.tensor(leaves, tensor).map(|x| x * mass / reference);
                MassProperties { mass, center: vec(*ipos), full }
            }
            Inertial::PseudoInertia { parameters } => {
                let v = values(*parameters);
                let mass = (2.0 * v[0]).exp();
                let (u11, u22, u33) = (v[1].exp(), v[2].exp(), v[3].exp());
                let (u12, u23, u13) = (v[4], v[5], v[6]);
                let sxx = mass * (u11 * u11 + u12 * u12 + u13 * u13);
                let syy = mass * (u22 * u22 + u23 * u23);
                let szz = mass * u33 * u33;
                let sxy = mass * (u12 * u22 + u13 * u23);
                let (sxz, syz) = (mass * u13 * u33, mass * u23 * u33);
                let full = [syy + szz, sxx + szz, sxx + syy, -sxy, -sxz, -syz];
                MassProperties { mass, center: [v[7], v[8], v[9]], full }
            }
        })
    }

    fn tensor(&self, leaves: &Leaves, tensor: &Tensor) -> [f64; 6] {
        match tensor {
            Tensor::Full { full } => [0, 1, 2, 3, 4, 5].map(|i| leaves.get(*full).at(i)),
            Tensor::Diagonal { diagonal, iquat } => {
                let d = [0, 1, 2].map(|i| leaves.get(*diagonal).at(i));
                let q = [0, 1, 2, 3].map(|i| leaves.get(*iquat).at(i));
                let q = Quat::new(q[0], q[1], q[2], q[3]).normalize();
                full_order(turned(SymMat3::from_diagonal(Vec3::from_array(d)), q))
            }
        }
    }

    /// The sum over the geoms of a body that count.
    fn of_geoms(&self, leaves: &Leaves, body: usize) -> MassProperties {
        let (mut mass, mut first) = (0.0, Vec3::zero());
        let mut about_origin = SymMat3::zero();
        for geom in self.geoms.iter().filter(|g| g.body == body && g.in_inertia) {
            let at = |id: LeafId, i: usize| leaves.get(id).values.get(i).copied().unwrap_or(0.0);
            let mut size = [0, 1, 2].map(|i| geom.size.map_or(0.0, |id| at(id, i)));
            let (pos, quat) = match &geom.placement {
                Placement::Pose { pos, quat } => {
                    let q = [0, 1, 2, 3].map(|i| at(*quat, i));
                    let p = Vec3::from_array([0, 1, 2].map(|i| at(*pos, i)));
                    (p, Quat::new(q[0], q[1], q[2], q[3]).normalize())
                }
                Placement::FromTo { ends } => {
                    let a = Vec3::from_array([0, 1, 2].map(|i| at(*ends, i)));
                    let b = Vec3::from_array([3, 4, 5].map(|i| at(*ends, i)));
                    let (axis, length) = (a - b).normalize();
                    match geom.form {
                        Form::Box | Form::Ellipsoid => (size[1], size[2]) = (size[0], length / 2.0),
                        _ => size[1] = length / 2.0,
                    }
                    ((a + b) * 0.5, turn_of_z(axis))
                }
            };
            let (own_mass, center, inertia) = match geom.form {
                Form::Mesh(mesh) => {
                    let mesh = &self.meshes[mesh];
                    let mass = match geom.mass {
                        GeomMass::Density(id) => at(id, 0) * mesh.volume,
                        GeomMass::Mass(id) => at(id, 0),
                    };
                    let [xx, yy, zz, xy, xz, yz] = mesh.inertia.map(|x| x * mass / mesh.volume);
                    let tensor = SymMat3::from_array([xx, xy, yy, xz, yz, zz]);
                    (mass, pos + quat.rotate(Vec3::from_array(mesh.center)), turned(tensor, quat))
                }
                form => {
                    let mass = match geom.mass {
                        GeomMass::Density(id) => at(id, 0) * extent(form, geom.shell, size),
                        GeomMass::Mass(id) => at(id, 0),
                    };
                    let diagonal = principal(form, geom.shell, size) * mass;
                    (mass, pos, turned(SymMat3::from_diagonal(diagonal), quat))
                }
            };
            mass += own_mass;
            first += center * own_mass;
            about_origin += inertia + point(center, own_mass);
        }
        if mass <= 0.0 {
            return MassProperties { mass: 0.0, center: [0.0; 3], full: [0.0; 6] };
        }
        let center = first * (1.0 / mass);
        let full = full_order(about_origin - point(center, mass));
        MassProperties { mass, center: center.to_array(), full }
    }
}

fn turned(m: SymMat3<f64>, q: Quat<f64>) -> SymMat3<f64> {
    m.congruence(q.to_matrix().transpose())
}

/// Inertia of a point mass about the origin.
fn point(r: Vec3<f64>, mass: f64) -> SymMat3<f64> {
    let (xx, yy, zz) = (mass * r.x * r.x, mass * r.y * r.y, mass * r.z * r.z);
    let (xy, xz, yz) = (mass * r.x * r.y, mass * r.x * r.z, mass * r.y * r.z);
    SymMat3::from_array([yy + zz, -xy, xx + zz, -xz, -yz, xx + yy])
}

/// MJCF's order xx, yy, zz, xy, xz, yz.
fn full_order(m: SymMat3<f64>) -> [f64; 6] {
    let [xx, xy, yy, xz, yz, zz] = m.to_array();
    [xx, yy, zz, xy, xz, yz]
}

/// The shortest turn of z into an axis.
fn turn_of_z(axis: Vec3<f64>) -> Quat<f64> {
    let sine = (axis.x * axis.x + axis.y * axis.y).sqrt();
    if sine < 1e-10 {
        return if axis.z > 0.0 { Quat::identity() } else { Quat::new(0.0, 1.0, 0.0, 0.0) };
    }
    let half = sine.atan2(axis.z) / 2.0;
    let scale = half.sin() / sine;
    Quat::new(half.cos(), -axis.y * scale, axis.x * scale, 0.0)
}
