//! How a geom pushes soft vertices back, in numbers.

use crate::error::ModelError;
use crate::geom::ContactMaterial;
use crate::leaf::{Bounds, Leaf, Leaves};

/// A [`ContactMaterial`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// Contact law by name: "smooth", "warp" or "warp-shape".
    pub law: String,
    /// Stiffness per vertex, N/m.
    pub stiffness: f64,
    /// Damping per vertex, N s/m.
    pub damping: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Slope of friction over slip speed, N s/m, where friction does not start by `slip_speed`.
    pub friction_damping: Option<f64>,
    /// Slip speed over which friction reaches Coulomb's value, m/s.
    pub slip_speed: f64,
    /// Depth over which spring and damping grow, m.
    pub ramp: f64,
}

impl Default for ContactSettings {
    /// The "smooth" law, 1000 N/m, 10 N s/m, friction 0.5 with a slip speed of 1 cm/s, ramp 1 mm.
    fn default() -> Self {
        Self {
            law: "smooth".into(),
            stiffness: 1e3,
            damping: 10.0,
            friction: 0.5,
            friction_damping: None,
            slip_speed: 1e-2,
            ramp: 1e-3,
        }
    }
}

impl ContactSettings {
    /// As [`default`](Self::default), but for geoms that move: friction starts with a slope of 10 N s/m. What
    /// a body presses with is not known beforehand, and with a slip speed friction would grow steeper
    /// with it than a stable step could foresee.
    pub fn moving() -> Self {
        Self { friction_damping: Some(10.0), ..Self::default() }
    }

    /// Adds the leaves `PREFIX.stiffness` and so on.
    pub(crate) fn leaves(
        &self,
        prefix: &str,
        leaves: &mut Leaves,
    ) -> Result<ContactMaterial, ModelError> {
        let mut scalar = |name: &str, value: f64, unit, bounds, about: &str| {
            leaves.add(Leaf::scalar(format!("{prefix}.{name}"), value, unit, bounds, about))
        };
        let bounds = Bounds::NON_NEGATIVE;
        let about = "contact stiffness per vertex";
        let stiffness = scalar("stiffness", self.stiffness, "N/m", bounds, about)?;
        let about = "contact damping per vertex";
        let damping = scalar("damping", self.damping, "N s/m", bounds, about)?;
        let about = "Coulomb friction coefficient";
        let friction = scalar("friction", self.friction, "", bounds, about)?;
        let (mut friction_damping, mut slip_speed) = (None, None);
        if let Some(slope) = self.friction_damping {
            let about = "slope of the friction force over slip speed below Coulomb's bound";
            friction_damping = Some(scalar("friction_damping", slope, "N s/m", bounds, about)?);
        } else {
            let about = "slip speed over which friction reaches Coulomb's value";
            let speed = scalar("slip_speed", self.slip_speed, "m/s", Bounds::POSITIVE, about)?;
            slip_speed = Some(speed);
        }
        let about = "depth over which the contact spring and damping grow";
        let ramp = scalar("ramp", self.ramp, "m", bounds, about)?;
        let law = self.law.clone();
        Ok(ContactMaterial {
            law,
            stiffness,
            damping,
            friction,
            friction_damping,
            slip_speed,
            ramp,
        })
    }
}
