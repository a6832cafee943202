//! Pairs of geoms and bodies with their own rules of contact.

use super::Articulation;
use super::joint::{SOLIMP_DEFAULT, SOLREF_DEFAULT};
use super::leaves::{Maker, SOLIMP, SOLREF};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// Two geoms that touch each other whatever their masks say, with contact parameters of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Name; leaves are `pair.NAME.…`.
    pub name: String,
    /// The two geoms.
    pub geoms: [usize; 2],
    /// Dimension of the contact.
    pub condim: u8,
    /// Friction in the five directions, `friction`.
    pub friction: LeafId,
    /// Constraint along the normal, `solref`.
    pub solref: LeafId,
    /// Constraint along the other directions, `solreffriction`; 0 0 means as along the normal.
    pub solref_friction: LeafId,
    /// Impedance, `solimp`.
    pub solimp: LeafId,
    /// Margin, `margin`, m.
    pub margin: LeafId,
    /// Gap, `gap`, m.
    pub gap: LeafId,
}

/// A [`Pair`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSettings {
    /// Name.
    pub name: String,
    /// Dimension of the contact.
    pub condim: u8,
    /// Friction in the five directions.
    pub friction: [f64; 5],
    /// Constraint along the normal.
    pub solref: [f64; 2],
    /// Constraint along the other directions; 0 0 means as along the normal.
    pub solref_friction: [f64; 2],
    /// Impedance.
    pub solimp: [f64; 5],
    /// Margin, m.
    pub margin: f64,
    /// Gap, m.
    pub gap: f64,
}

impl Default for PairSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            condim: 3,
            friction: [1.0, 1.0, 0.005, 0.0001, 0.0001],
            solref: SOLREF_DEFAULT,
            solref_friction: [0.0; 2],
            solimp: SOLIMP_DEFAULT,
            margin: 0.0,
            gap: 0.0,
        }
    }
}

/// Two bodies whose geoms do not touch each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclude {
    /// Name; empty where it has none.
    pub name: String,
    /// The two bodies.
    pub bodies: [usize; 2],
}

impl Articulation {
    /// Adds a pair of geoms and returns its index.
    ///
    /// # Errors
    /// A name that is taken, a negative friction.
    pub fn add_pair(
        &mut self,
        leaves: &mut Leaves,
        geoms: [usize; 2],
        s: &PairSettings,
    ) -> Result<usize, ModelError> {
        let mut make = Maker::new(leaves, "pair", &s.name);
        let about = "friction along two tangents, of torsion (m) and two of rolling (m)";
        let friction = make.bounded("friction", &s.friction, "", Bounds::NON_NEGATIVE, about)?;
        let solref = make.vector("solref", &s.solref, "", SOLREF)?;
        let solref_friction = make.vector("solreffriction", &s.solref_friction, "", SOLREF)?;
        let solimp = make.vector("solimp", &s.solimp, "", SOLIMP)?;
        let about = "distance at which the contact starts to push";
        let margin = make.scalar("margin", s.margin, "m", Bounds::ANY, about)?;
        let about = "distance beyond the margin at which the contact is found";
        let gap = make.scalar("gap", s.gap, "m", Bounds::ANY, about)?;
        self.pairs.push(Pair {
            name: s.name.clone(),
            geoms,
            condim: s.condim,
            friction,
            solref,
            solref_friction,
            solimp,
            margin,
            gap,
        });
        Ok(self.pairs.len() - 1)
    }
}
