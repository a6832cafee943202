//! How a column of a table becomes numbers in SI units.

use costate_formats::toml_reader::{Node, Section};
use costate_formats::{ErrorKind, Result};

use crate::experiment::Unit;

/// value = sign · (scale · cell + offset), in `unit`, then in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Conversion {
    pub unit: Option<Unit>,
    pub scale: f64,
    pub offset: f64,
    pub sign: f64,
}

impl Default for Conversion {
    fn default() -> Self {
        Self { unit: None, scale: 1.0, offset: 0.0, sign: 1.0 }
    }
}

impl Conversion {
    /// Reads the keys unit, scale, offset and sign; what is not there stays as in `base`.
    /// `si` is the unit of what the column stands for.
    pub fn read(section: &Section<'_>, base: Self, si: &str) -> Result<Self> {
        let unit = match section.get("unit") {
            None => base.unit,
            Some(node) => Some(unit(&node, si)?),
        };
        Ok(Self {
            unit,
            scale: section
                .or("scale", base.scale, |n| n.bounded("a number other than 0", |x| x != 0.0))?,
            offset: section.or("offset", base.offset, Node::number)?,
            sign: section.or("sign", base.sign, |n| n.bounded("1 or -1", |x| x.abs() == 1.0))?,
        })
    }

    /// SI value of one of the unit.
    pub fn factor(&self) -> f64 {
        self.unit.map_or(1.0, |u| u.factor)
    }

    /// SI value of a cell.
    pub fn apply(&self, cell: f64) -> f64 {
        self.sign * (self.scale * cell + self.offset) * self.factor()
    }
}

/// A unit that can stand for values in `si`.
pub(super) fn unit(node: &Node<'_>, si: &str) -> Result<Unit> {
    let name = node.string()?;
    let Some(unit) = Unit::find(name) else {
        return Err(node.unknown_name("a unit", Unit::names()));
    };
    if unit.fits(si) {
        Ok(unit)
    } else {
        Err(node
            .error(ErrorKind::OutOfBounds)
            .expected(format!("a unit of what is measured in {si}"))
            .found(format!("\"{name}\"")))
    }
}
