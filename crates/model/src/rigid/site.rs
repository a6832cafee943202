//! Sites: named frames on bodies.

use super::leaves::Maker;
use super::{Articulation, Form, Placement, PlacementSettings};
use crate::error::ModelError;
use crate::leaf::Leaves;

/// A named frame that is fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Name; leaves are `site.NAME.…`.
    pub name: String,
    /// Index of its body.
    pub body: usize,
    /// Position and orientation in the body's frame.
    pub placement: Placement,
    /// Its shape, which says which contacts a touch sensor counts.
    pub form: Form,
    /// Sizes of the shape as those of geoms, m. Nothing else depends on them, so they are no leaves.
    pub size: [f64; 3],
}

/// A [`Site`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSettings {
    /// Name.
    pub name: String,
    /// Position and orientation in the body's frame.
    pub placement: PlacementSettings,
    /// Its shape.
    pub form: Form,
    /// Sizes of the shape, m.
    pub size: [f64; 3],
}

impl Default for SiteSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            placement: PlacementSettings::default(),
            form: Form::Sphere,
            size: [0.005; 3],
        }
    }
}

impl Articulation {
    /// Adds a site to body `body` and returns its index.
    ///
    /// # Errors
    /// A name that is taken.
    pub fn add_site(
        &mut self,
        leaves: &mut Leaves,
        body: usize,
        settings: &SiteSettings,
    ) -> Result<usize, ModelError> {
        let mut make = Maker::new(leaves, "site", &settings.name);
        let placement = settings.placement.leaves(&mut make)?;
        let (form, size) = (settings.form, settings.size);
        self.sites.push(Site { name: settings.name.clone(), body, placement, form, size });
        Ok(self.sites.len() - 1)
    }
}
