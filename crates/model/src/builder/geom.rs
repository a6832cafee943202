//! Building static geoms.

use super::contact::ContactSettings;
use crate::error::ModelError;
use crate::geom::{Geom, Shape};
use crate::leaf::{Bounds, Leaf};
use crate::model::Model;

/// A static geom in the making.
#[derive(Clone, Debug)]
pub struct GeomBuilder {
    name: String,
    shape: Shape,
    pos: [f64; 3],
    quat: [f64; 4],
    size: Vec<f64>,
    contact: ContactSettings,
}

impl GeomBuilder {
    /// A geom at the origin with the contact of [`ContactSettings::default`]. `size` as [`Shape`] says, m.
    pub fn new(name: &str, shape: Shape, size: &[f64]) -> Self {
        Self {
            name: name.into(),
            shape,
            pos: [0.0; 3],
            quat: [1.0, 0.0, 0.0, 0.0],
            size: size.to_vec(),
            contact: ContactSettings::default(),
        }
    }
    /// Position of the geom's frame, m.
    pub fn pos(mut self, pos: [f64; 3]) -> Self {
        self.pos = pos;
        self
    }
    /// Orientation, quaternion w x y z.
    pub fn quat(mut self, quat: [f64; 4]) -> Self {
        self.quat = quat;
        self
    }
    /// For a plane: the unit normal, by the shortest turn from z.
    pub fn normal(mut self, n: [f64; 3]) -> Self {
        let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
        let [x, y, z] = [n[0] / length, n[1] / length, n[2] / length];
        self.quat = if z > -1.0 + 1e-12 {
            let w = ((1.0 + z) / 2.0).sqrt();
            [w, -y / (2.0 * w), x / (2.0 * w), 0.0]
        } else {
            [0.0, 1.0, 0.0, 0.0]
        };
        self
    }
    /// How it pushes vertices back.
    pub fn contact(mut self, contact: ContactSettings) -> Self {
        self.contact = contact;
        self
    }
    /// Contact law by name: "smooth", "warp" or "warp-shape".
    pub fn law(mut self, law: &str) -> Self {
        self.contact.law = law.into();
        self
    }
    /// Contact stiffness per vertex, N/m.
    pub fn stiffness(mut self, stiffness: f64) -> Self {
        self.contact.stiffness = stiffness;
        self
    }
    /// Contact damping per vertex, N s/m.
    pub fn damping(mut self, damping: f64) -> Self {
        self.contact.damping = damping;
        self
    }
    /// Coulomb coefficient.
    pub fn friction(mut self, friction: f64) -> Self {
        self.contact.friction = friction;
        self
    }
    /// Friction grows with slip speed at this slope, N s/m (warp.sim's kf).
    pub fn friction_damping(mut self, kf: f64) -> Self {
        self.contact.friction_damping = Some(kf);
        self
    }
    /// Friction reaches Coulomb's value over this slip speed, m/s.
    pub fn slip_speed(mut self, speed: f64) -> Self {
        self.contact.slip_speed = speed;
        self.contact.friction_damping = None;
        self
    }
    /// Depth over which spring and damping grow, m.
    pub fn ramp(mut self, ramp: f64) -> Self {
        self.contact.ramp = ramp;
        self
    }
    /// Adds the geom to a model.
    ///
    /// # Errors
    /// A taken name, a wrong number of sizes, a value out of bounds.
    pub fn build(self, model: &mut Model) -> Result<(), ModelError> {
        let path = |leaf: &str| format!("geom.{}.{leaf}", self.name);
        if self.size.len() != self.shape.size_len() {
            return Err(ModelError::WrongLength {
                path: path("size"),
                expected: self.shape.size_len(),
                found: self.size.len(),
            });
        }
        if self.quat.iter().map(|c| c * c).sum::<f64>() < 1e-20 {
            return Err(ModelError::invalid(path("quat"), "a quaternion must not be zero"));
        }
        let leaves = &mut model.leaves;
        let pos = leaves.add(Leaf::array(
            path("pos"),
            self.pos.to_vec(),
            vec![3],
            "m",
            "position of the geom's frame",
        ))?;
        let quat = leaves.add(Leaf::array(
            path("quat"),
            self.quat.to_vec(),
            vec![4],
            "",
            "orientation of the geom's frame, quaternion w x y z (normalised before use)",
        ))?;
        let size = match self.shape.size_len() {
            0 => None,
            n => {
                let mut leaf = Leaf::array(
                    path("size"),
                    self.size.clone(),
                    vec![n],
                    "m",
                    "radius; half lengths of a box; radius and half length of a capsule",
                );
                leaf.bounds = Bounds::POSITIVE;
                Some(leaves.add(leaf)?)
            }
        };
        let contact = self.contact.leaves(&format!("geom.{}", self.name), leaves)?;
        model.geoms.push(Geom {
            name: self.name.clone(),
            shape: self.shape,
            pos,
            quat,
            size,
            contact,
        });
        Ok(())
    }
}
