//! Pairs of geoms and bodies with their own rules of contact.

use super::Articulation;
use super::leaves::{Maker, SOLIMP, SOLREF};
use crate::error::ModelError;
use crate::leaf::{Bounds, LeafId, Leaves};

/// Two geoms that touch each other whatever their masks say. What the file leaves out follows from
/// the two geoms.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Name; leaves are `pair.NAME.…`.
    pub name: String,
    /// The two geoms.
    pub geoms: [usize; 2],
    /// Dimension of the contact.
    pub condim: Option<u8>,
    /// Friction in the five directions, `friction`.
    pub friction: Option<LeafId>,
    /// Constraint along the normal, `solref`.
    pub solref: Option<LeafId>,
    /// Constraint along the other directions, `solreffriction`; 0 0 means as along the normal.
    pub solref_friction: LeafId,
    /// Impedance, `solimp`.
    pub solimp: Option<LeafId>,
    /// Margin, `margin`, m.
    pub margin: Option<LeafId>,
    /// Gap, `gap`, m.
    pub gap: Option<LeafId>,
}

/// A [`Pair`] in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairSettings {
    /// Name.
    pub name: String,
    /// Dimension of the contact.
    pub condim: Option<u8>,
    /// Friction in the five directions.
    pub friction: Option<[f64; 5]>,
    /// Constraint along the normal.
    pub solref: Option<[f64; 2]>,
    /// Constraint along the other directions; 0 0 means as along the normal.
    pub solref_friction: [f64; 2],
    /// Impedance.
    pub solimp: Option<[f64; 5]>,
    /// Margin, m.
    pub margin: Option<f64>,
    /// Gap, m.
    pub gap: Option<f64>,
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
        let friction = match &s.friction {
            Some(friction) => {
                let about = "friction along two tangents, of torsion (m) and two of rolling (m)";
                Some(make.bounded("friction", friction, "", Bounds::NON_NEGATIVE, about)?)
            }
            None => None,
        };
        let solref = match &s.solref {
            Some(solref) => Some(make.vector("solref", solref, "", SOLREF)?),
            None => None,
        };
        let solref_friction = make.vector("solreffriction", &s.solref_friction, "", SOLREF)?;
        let solimp = match &s.solimp {
            Some(solimp) => Some(make.vector("solimp", solimp, "", SOLIMP)?),
            None => None,
        };
        let mut distance = |name: &str, value: Option<f64>, about: &str| match value {
            Some(value) => make.scalar(name, value, "m", Bounds::ANY, about).map(Some),
            None => Ok(None),
        };
        let margin = distance("margin", s.margin, "distance at which the contact starts to push")?;
        let about = "distance beyond the margin at which the contact is found";
        let gap = distance("gap", s.gap, about)?;
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
