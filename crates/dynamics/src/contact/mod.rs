//! Contact of soft vertices with static geoms.
//!
//! A vertex of radius r touches where its depth d = r − φ(x) is positive, φ being the geom's
//! signed distance. One file per shape in [`shapes`], one per law in [`laws`].

pub(crate) mod constants;
pub(crate) mod force;
pub mod laws;
mod narrow;
mod onset;
mod pairs;
mod report;
pub mod shapes;

pub use narrow::narrow_geom_warnings;
pub use onset::{OnsetForce, StepEnds, Touch};
pub use report::{ContactMonitor, ContactReport, GeomContacts};

use costate_model::{Geom, Model, Shape};

use self::force::Contact;
use self::laws::{ContactLaw, Smooth, Warp, WarpShape};
use self::shapes::{Capsule, Cuboid, Plane, Sphere};
use crate::error::DynamicsError;
use crate::force::Force;

/// Names of the registered contact laws.
pub const CONTACT_LAWS: [&str; 3] = [Smooth::NAME, Warp::NAME, WarpShape::NAME];

/// The contact forces of a model, one per geom in order; none where nothing is soft.
///
/// # Errors
/// An unknown contact law, a contact without a friction scale.
pub fn forces(model: &Model) -> Result<Vec<Box<dyn Force>>, DynamicsError> {
    if model.vertex_count() == 0 {
        return Ok(Vec::new());
    }
    model.geoms.iter().map(|geom| contact(model, geom)).collect()
}

fn contact(model: &Model, geom: &Geom) -> Result<Box<dyn Force>, DynamicsError> {
    match geom.contact.law.as_str() {
        Smooth::NAME => with_law::<Smooth>(model, geom),
        Warp::NAME => with_law::<Warp>(model, geom),
        WarpShape::NAME => with_law::<WarpShape>(model, geom),
        name => Err(unknown_law(format!("geom.{}", geom.name), name)),
    }
}

/// The error of a contact law that is not registered.
pub(crate) fn unknown_law(element: String, name: &str) -> DynamicsError {
    let known = CONTACT_LAWS.map(String::from).to_vec();
    DynamicsError::UnknownLaw { element, kind: "contact", name: name.into(), known }
}

fn with_law<L: ContactLaw>(model: &Model, geom: &Geom) -> Result<Box<dyn Force>, DynamicsError> {
    Ok(match geom.shape {
        Shape::Plane => Box::new(Contact::<Plane, L>::new(model, geom)?),
        Shape::Sphere => Box::new(Contact::<Sphere, L>::new(model, geom)?),
        Shape::Box => Box::new(Contact::<Cuboid, L>::new(model, geom)?),
        Shape::Capsule => Box::new(Contact::<Capsule, L>::new(model, geom)?),
    })
}
