//! Sites: named frames on bodies.

use super::leaves::Maker;
use super::{Articulation, Placement, PlacementSettings};
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
}

/// A [`Site`] in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteSettings {
    /// Name.
    pub name: String,
    /// Position and orientation in the body's frame.
    pub placement: PlacementSettings,
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
        self.sites.push(Site { name: settings.name.clone(), body, placement });
        Ok(self.sites.len() - 1)
    }
}
