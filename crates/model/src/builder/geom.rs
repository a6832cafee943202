//! Building static geoms.

use crate::error::ModelError;
use crate::geom::{ContactMaterial, Geom, Shape};
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
    law: String,
    stiffness: f64,
    damping: f64,
    friction: f64,
    friction_damping: Option<f64>,
    slip_speed: f64,
    ramp: f64,
}

impl GeomBuilder {
    /// A geom at the origin. `size` as [`Shape`] says, m. Contact: the "smooth" law, 1000 N/m,
    /// 10 N s/m, friction 0.5 with a slip speed of 1 cm/s, ramp 1 mm.
    pub fn new(name: &str, shape: Shape, size: &[f64]) -> Self {
        Self {
            name: name.into(),
            shape,
            pos: [0.0; 3],
            quat: [1.0, 0.0, 0.0, 0.0],
            size: size.to_vec(),
            law: "smooth".into(),
            stiffness: 1e3,
            damping: 10.0,
            friction: 0.5,
            friction_damping: None,
            slip_speed: 1e-2,
            ramp: 1e-3,
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
    /// Contact law by name: "smooth", "warp" or "warp-shape".
    pub fn law(mut self, law: &str) -> Self {
        self.law = law.into();
        self
    }
    /// Contact stiffness per vertex, N/m.
    pub fn stiffness(mut self, stiffness: f64) -> Self {
        self.stiffness = stiffness;
        self
    }
    /// Contact damping per vertex, N s/m.
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }
    /// Coulomb coefficient.
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = friction;
        self
    }
    /// Friction grows with slip speed at this slope, N s/m (warp.sim's kf).
    pub fn friction_damping(mut self, kf: f64) -> Self {
        self.friction_damping = Some(kf);
        self
    }
    /// Friction reaches Coulomb's value over this slip speed, m/s.
    pub fn slip_speed(mut self, speed: f64) -> Self {
        self.slip_speed = speed;
        self.friction_damping = None;
        self
    }
    /// Depth over which spring and damping grow, m.
    pub fn ramp(mut self, ramp: f64) -> Self {
        self.ramp = ramp;
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
        let mut scalar = |name: &str, value: f64, unit, bounds, about: &str| {
            leaves.add(Leaf::scalar(path(name), value, unit, bounds, about))
        };
        let contact = ContactMaterial {
            law: self.law.clone(),
            stiffness: scalar(
                "stiffness",
                self.stiffness,
                "N/m",
                Bounds::NON_NEGATIVE,
                "contact stiffness per vertex",
            )?,
            damping: scalar(
                "damping",
                self.damping,
                "N s/m",
                Bounds::NON_NEGATIVE,
                "contact damping per vertex",
            )?,
            friction: scalar(
                "friction",
                self.friction,
                "",
                Bounds::NON_NEGATIVE,
                "Coulomb friction coefficient",
            )?,
            friction_damping: self
                .friction_damping
                .map(|kf| {
                    scalar(
                        "friction_damping",
                        kf,
                        "N s/m",
                        Bounds::NON_NEGATIVE,
                        "slope of the friction force over slip speed below Coulomb's bound",
                    )
                })
                .transpose()?,
            slip_speed: match self.friction_damping {
                Some(_) => None,
                None => Some(scalar(
                    "slip_speed",
                    self.slip_speed,
                    "m/s",
                    Bounds::POSITIVE,
                    "slip speed over which friction reaches Coulomb's value",
                )?),
            },
            ramp: scalar(
                "ramp",
                self.ramp,
                "m",
                Bounds::NON_NEGATIVE,
                "depth over which the contact spring and damping grow",
            )?,
        };
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
