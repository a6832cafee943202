//! Forces of contacts from those of their rows.

use super::build::{Item, Source};
use super::law::Law;
use super::stage::ConstraintStage;

impl ConstraintStage {
    /// What a contact does to its second geom, at the contact's point and in its frame: force along the
    /// normal and the tangents, N, then torque about them, N m. None for rows of anything else.
    pub fn contact_force(&self, item: &Item) -> Option<[f64; 6]> {
        let Source::Contact(i) = item.source else { return None };
        let parameters = &self.constraints.contacts.get(i)?.parameters;
        let law = *self.constraints.rows.law.get(item.row)?;
        let rows = self.solver.force.get(item.row..item.row + item.count)?;
        let mut out = [0.0; 6];
        if law == Law::Elliptic || parameters.dim == 1 {
            for (slot, force) in out.iter_mut().zip(rows) {
                *slot = *force;
            }
        } else {
            // Edge k of the pyramid is the normal and ± friction times direction k.
            out[0] = rows.iter().sum();
            for (k, pair) in rows.chunks_exact(2).enumerate() {
                out[1 + k] = parameters.friction[k] * (pair[0] - pair[1]);
            }
        }
        Some(out)
    }
}
