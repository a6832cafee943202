//! Units of recorded columns.

/// A unit: the factor to SI and what it measures, as exponents of kg, m, s and A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Name as written.
    pub name: &'static str,
    /// SI value of one of it.
    pub factor: f64,
    /// SI unit that it converts to, "" for pure numbers.
    pub si: &'static str,
}

const fn unit(name: &'static str, factor: f64, si: &'static str) -> Unit {
    Unit { name, factor, si }
}

const DEGREE: f64 = std::f64::consts::PI / 180.0;
const G: f64 = 9.806_65;

/// Every unit that a column may have.
const UNITS: &[Unit] = &[
    unit("m", 1.0, "m"),
    unit("cm", 1e-2, "m"),
    unit("mm", 1e-3, "m"),
    unit("um", 1e-6, "m"),
    unit("in", 0.0254, "m"),
    unit("s", 1.0, "s"),
    unit("ms", 1e-3, "s"),
    unit("us", 1e-6, "s"),
    unit("ns", 1e-9, "s"),
    unit("min", 60.0, "s"),
    unit("rad", 1.0, "rad"),
    unit("deg", DEGREE, "rad"),
    unit("rev", 2.0 * std::f64::consts::PI, "rad"),
    unit("m/s", 1.0, "m/s"),
    unit("mm/s", 1e-3, "m/s"),
    unit("km/h", 1.0 / 3.6, "m/s"),
    unit("rad/s", 1.0, "rad/s"),
    unit("deg/s", DEGREE, "rad/s"),
    unit("rpm", std::f64::consts::PI / 30.0, "rad/s"),
    unit("m/s^2", 1.0, "m/s^2"),
    unit("mm/s^2", 1e-3, "m/s^2"),
    unit("g0", G, "m/s^2"),
    unit("kg", 1.0, "kg"),
    unit("g", 1e-3, "kg"),
    unit("mg", 1e-6, "kg"),
    unit("N", 1.0, "N"),
    unit("mN", 1e-3, "N"),
    unit("kN", 1e3, "N"),
    unit("gf", 1e-3 * G, "N"),
    unit("kgf", G, "N"),
    unit("N m", 1.0, "N m"),
    unit("mN m", 1e-3, "N m"),
    unit("Pa", 1.0, "Pa"),
    unit("kPa", 1e3, "Pa"),
    unit("MPa", 1e6, "Pa"),
    unit("GPa", 1e9, "Pa"),
    unit("bar", 1e5, "Pa"),
    unit("J", 1.0, "J"),
    unit("mJ", 1e-3, "J"),
    unit("V", 1.0, "V"),
    unit("mV", 1e-3, "V"),
    unit("A", 1.0, "A"),
    unit("mA", 1e-3, "A"),
    unit("Hz", 1.0, "1/s"),
    unit("1/s", 1.0, "1/s"),
    unit("", 1.0, ""),
    unit("1", 1.0, ""),
    unit("%", 1e-2, ""),
];

impl Unit {
    /// The unit of a name.
    pub fn find(name: &str) -> Option<Self> {
        UNITS.iter().find(|u| u.name == name).copied()
    }
    /// Names of all units.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        UNITS.iter().map(|u| u.name).filter(|n| !n.is_empty())
    }
    /// Whether a value of this unit can stand for one of the SI unit `other`.
    pub fn fits(&self, other: &str) -> bool {
        self.si == other || self.si.is_empty() || other.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_factors_right() {
        for (i, u) in UNITS.iter().enumerate() {
            assert!(UNITS[..i].iter().all(|v| v.name != u.name), "{}", u.name);
        }
        assert_eq!(Unit::find("deg").unwrap().factor * 180.0, std::f64::consts::PI);
        assert_eq!(Unit::find("kPa").unwrap().factor, 1000.0);
        assert_eq!(Unit::find("furlong"), None);
        assert!(!Unit::find("g").unwrap().fits("m/s^2"));
    }
}
