//! Geoms of an articulation that soft bodies touch.

use super::{Articulation, Form};
use crate::builder::ContactSettings;
use crate::error::ModelError;
use crate::geom::ContactMaterial;
use crate::leaf::Leaves;
use crate::model::Model;

/// A geom that the vertices of soft bodies touch. Its leaves are `geom.NAME.soft.…`; those that the
/// geom has besides are of its contacts with other geoms.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftContact {
    /// Index of the geom.
    pub geom: usize,
    /// How it pushes vertices back.
    pub contact: ContactMaterial,
}

impl Articulation {
    /// Makes the vertices of soft bodies touch a geom, whatever its masks say.
    ///
    /// # Errors
    /// A shape that vertices cannot touch, a geom that they touch already, a value out of bounds.
    pub fn add_soft_contact(
        &mut self,
        leaves: &mut Leaves,
        geom: usize,
        settings: &ContactSettings,
    ) -> Result<(), ModelError> {
        let Some(g) = self.geoms.get(geom) else {
            return Err(ModelError::invalid(format!("geom {geom}"), "does not exist"));
        };
        let path = format!("geom.{}.soft", g.name);
        if !matches!(g.form, Form::Plane | Form::Sphere | Form::Capsule | Form::Box) {
            return Err(ModelError::invalid(
                path,
                format!(
                    "soft bodies touch planes, spheres, capsules and boxes, and this is a {}; put one of \
                     those in its place, without mass and with contype and conaffinity 0",
                    g.form.name()
                ),
            ));
        }
        let contact = settings.leaves(&path, leaves)?;
        self.soft_contacts.push(SoftContact { geom, contact });
        Ok(())
    }
}

impl Model {
    /// Makes the vertices of soft bodies touch a geom of the articulation, by its name.
    ///
    /// # Errors
    /// No geom has this name; as of [`Articulation::add_soft_contact`].
    pub fn add_soft_contact(
        &mut self,
        geom: &str,
        settings: &ContactSettings,
    ) -> Result<(), ModelError> {
        let known = |a: &Articulation| -> String {
            let names: Vec<&str> = a.geoms.iter().map(|g| &*g.name).collect();
            if names.is_empty() { "none".into() } else { names.join(", ") }
        };
        let path = format!("geom.{geom}.soft");
        let Some(a) = &mut self.articulation else {
            return Err(ModelError::invalid(path, "there is no robot that this geom could be of"));
        };
        let Some(index) = a.geom(geom) else {
            let message = format!("the robot has no geom of this name; known: {}", known(a));
            return Err(ModelError::invalid(path, message));
        };
        a.add_soft_contact(&mut self.leaves, index, settings)
    }
}
