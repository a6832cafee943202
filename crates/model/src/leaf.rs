//! The tree of leaves: every physical number of a model under a name.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::error::ModelError;

/// Handle of a leaf within its [`Leaves`]; stays valid when leaves are added or expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeafId(u32);

/// The interval in which a physical value makes sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest value (−∞ where there is none).
    pub lower: f64,
    /// Largest value (+∞ where there is none).
    pub upper: f64,
    /// Whether the lower end itself is excluded, as for a mass.
    pub open_below: bool,
    /// Whether the upper end itself is excluded, as for Poisson's ratio.
    pub open_above: bool,
}

impl Bounds {
    /// Any finite number.
    pub const ANY: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        open_below: false,
        open_above: false,
    };
    /// Greater than zero.
    pub const POSITIVE: Self = Self { lower: 0.0, open_below: true, ..Self::ANY };
    /// Zero or greater.
    pub const NON_NEGATIVE: Self = Self { lower: 0.0, ..Self::ANY };
    /// Strictly between two numbers.
    pub const fn between(lower: f64, upper: f64) -> Self {
        Self { lower, upper, open_below: true, open_above: true }
    }
    /// Whether `value` is finite and inside.
    pub fn contain(&self, value: f64) -> bool {
        let above = if self.open_below { value > self.lower } else { value >= self.lower };
        let below = if self.open_above { value < self.upper } else { value <= self.upper };
        value.is_finite() && above && below
    }
}

/// Over what a leaf may vary.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// The leaf's shape is what it is: a scalar, a vector.
    Whole,
    /// One value for all elements, or one for each: `count` elements of the kind `element`
    /// ("tetrahedron", "spring", …), with named groups of element indices.
    Field {
        /// Number of elements.
        count: usize,
        /// What an element is.
        element: &'static str,
        /// Named groups of elements.
        groups: Arc<BTreeMap<String, Vec<u32>>>,
    },
}

/// One named physical quantity: a number or an array of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Full name, `soft.beam.young`.
    pub path: String,
    /// SI unit, "" where dimensionless.
    pub unit: &'static str,
    /// Shape of `values`: empty for a scalar; `[count]` for a field given per element.
    pub shape: Vec<usize>,
    /// Current values, row-major.
    pub values: Vec<f64>,
    /// Physical bounds of each value.
    pub bounds: Bounds,
    /// What the quantity means, in one sentence.
    pub about: String,
    /// Whether and over what the leaf may be expanded.
    pub extent: Extent,
}

impl Leaf {
    /// A scalar leaf.
    pub fn scalar(
        path: impl Into<String>,
        value: f64,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Self {
        Self {
            path: path.into(),
            unit,
            shape: Vec::new(),
            values: vec![value],
            bounds,
            about: about.into(),
            extent: Extent::Whole,
        }
    }
    /// A vector or matrix leaf of the given shape.
    pub fn array(
        path: impl Into<String>,
        values: Vec<f64>,
        shape: Vec<usize>,
        unit: &'static str,
        about: &str,
    ) -> Self {
        Self {
            path: path.into(),
            unit,
            shape,
            values,
            bounds: Bounds::ANY,
            about: about.into(),
            extent: Extent::Whole,
        }
    }
    /// A field over elements: `values` holds one number (uniform) or `count` of them.
    pub fn field(
        path: impl Into<String>,
        values: Vec<f64>,
        over: &Elements,
        unit: &'static str,
        bounds: Bounds,
        about: &str,
    ) -> Self {
        let shape = if values.len() == 1 && over.count != 1 { vec![] } else { vec![values.len()] };
        Self {
            path: path.into(),
            unit,
            shape,
            values,
            bounds,
            about: about.into(),
            extent: Extent::Field {
                count: over.count,
                element: over.element,
                groups: over.groups.clone(),
            },
        }
    }
    /// The value that element `i` of a field has.
    #[inline]
    pub fn at(&self, i: usize) -> f64 {
        if self.values.len() == 1 { self.values[0] } else { self.values[i] }
    }
    /// Whether all elements share one number.
    pub fn is_uniform(&self) -> bool {
        self.values.len() == 1
    }
}

/// What a field leaf ranges over.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// How many there are.
    pub count: usize,
    /// What one of them is called.
    pub element: &'static str,
    /// Named groups of them.
    pub groups: Arc<BTreeMap<String, Vec<u32>>>,
}

/// All leaves of a model, in order; their values laid end to end are θ.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    leaves: Vec<Leaf>,
    offsets: Vec<usize>,
    by_path: HashMap<String, LeafId>,
}

impl Leaves {
    /// No leaves.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a leaf and returns its handle.
    ///
    /// # Errors
    /// A path that is taken, a shape that does not match the values, or a value out of bounds.
    pub fn add(&mut self, leaf: Leaf) -> Result<LeafId, ModelError> {
        check(&leaf)?;
        if self.by_path.contains_key(&leaf.path) {
            return Err(ModelError::DuplicateName { path: leaf.path });
        }
        let id = LeafId(self.leaves.len() as u32);
        self.by_path.insert(leaf.path.clone(), id);
        self.offsets.push(self.theta_len());
        self.leaves.push(leaf);
        Ok(id)
    }
    /// Puts another leaf (another view of the same quantity, or an expanded field) in the place
    /// of `id`.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn replace(&mut self, id: LeafId, leaf: Leaf) -> Result<(), ModelError> {
        check(&leaf)?;
        let old = &self.leaves[id.0 as usize].path;
        if *old != leaf.path && self.by_path.contains_key(&leaf.path) {
            return Err(ModelError::DuplicateName { path: leaf.path });
        }
        self.by_path.remove(old);
        self.by_path.insert(leaf.path.clone(), id);
        self.leaves[id.0 as usize] = leaf;
        self.lay_out();
        Ok(())
    }
    /// Takes a leaf out: another view of its quantity stands elsewhere. Its handle leads to a leaf without
    /// numbers from then on, which has no path and no place among [`iter`](Self::iter).
    pub fn retire(&mut self, id: LeafId) {
        let leaf = &mut self.leaves[id.0 as usize];
        self.by_path.remove(&leaf.path);
        leaf.path.clear();
        leaf.values.clear();
        leaf.shape = vec![0];
        leaf.extent = Extent::Whole;
        self.lay_out();
    }
    fn lay_out(&mut self) {
        let mut offset = 0;
        for (slot, leaf) in self.offsets.iter_mut().zip(&self.leaves) {
            *slot = offset;
            offset += leaf.values.len();
        }
    }
    /// Turns a uniform field into one value per element; does nothing where it already is.
    ///
    /// # Errors
    /// Where the leaf is not a field.
    pub fn expand(&mut self, id: LeafId) -> Result<(), ModelError> {
        let leaf = self.get(id);
        let Extent::Field { count, .. } = leaf.extent else {
            return Err(ModelError::NotAField { path: leaf.path.clone() });
        };
        if leaf.values.len() == count && !leaf.shape.is_empty() {
            return Ok(());
        }
        let mut leaf = leaf.clone();
        leaf.values = vec![leaf.values[0]; count];
        leaf.shape = vec![count];
        self.replace(id, leaf)
    }
    /// The leaf behind a handle.
    #[inline]
    pub fn get(&self, id: LeafId) -> &Leaf {
        &self.leaves[id.0 as usize]
    }
    /// The handle of a path.
    ///
    /// # Errors
    /// An unknown path, with the nearest known ones.
    pub fn find(&self, path: &str) -> Result<LeafId, ModelError> {
        self.by_path.get(path).copied().ok_or_else(|| ModelError::unknown_leaf(path, self))
    }
    /// Where the values of a leaf lie in θ.
    #[inline]
    pub fn range(&self, id: LeafId) -> Range<usize> {
        let start = self.offsets[id.0 as usize];
        start..start + self.leaves[id.0 as usize].values.len()
    }
    /// Sets the values of a leaf; one number sets a whole field.
    ///
    /// # Errors
    /// A wrong count or a value out of bounds.
    pub fn set(&mut self, id: LeafId, values: &[f64]) -> Result<(), ModelError> {
        let mut leaf = self.get(id).clone();
        if values.len() == 1 && matches!(leaf.extent, Extent::Field { .. }) {
            leaf.values.fill(values[0]);
        } else if let Extent::Field { count, .. } = leaf.extent
            && values.len() == count
        {
            leaf.values = values.to_vec();
            leaf.shape = vec![count];
        } else if values.len() == leaf.values.len() {
            leaf.values.copy_from_slice(values);
        } else {
            return Err(ModelError::WrongLength {
                path: leaf.path,
                expected: self.get(id).values.len(),
                found: values.len(),
            });
        }
        self.replace(id, leaf)
    }
    /// Number of values in θ.
    pub fn theta_len(&self) -> usize {
        self.leaves.last().map_or(0, |leaf| self.offsets[self.leaves.len() - 1] + leaf.values.len())
    }
    /// θ: all values, end to end.
    pub fn theta(&self) -> Vec<f64> {
        self.leaves.iter().flat_map(|leaf| leaf.values.iter().copied()).collect()
    }
    /// The same leaves with the values of `theta`.
    ///
    /// # Errors
    /// A wrong length or a value out of its bounds.
    pub fn with_theta(&self, theta: &[f64]) -> Result<Self, ModelError> {
        if theta.len() != self.theta_len() {
            return Err(ModelError::WrongLength {
                path: "theta".into(),
                expected: self.theta_len(),
                found: theta.len(),
            });
        }
        let mut new = self.clone();
        for (leaf, &offset) in new.leaves.iter_mut().zip(&self.offsets) {
            let n = leaf.values.len();
            leaf.values.copy_from_slice(&theta[offset..offset + n]);
            check(leaf)?;
        }
        Ok(new)
    }
    /// All leaves with their handles, in order.
    pub fn iter(&self) -> impl Iterator<Item = (LeafId, &Leaf)> {
        let all = self.leaves.iter().enumerate().map(|(i, leaf)| (LeafId(i as u32), leaf));
        all.filter(|(_, leaf)| !leaf.path.is_empty())
    }
    /// Number of leaves.
    pub fn len(&self) -> usize {
        self.by_path.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }
    /// The leaf and the index within it that position `i` of θ belongs to.
    pub fn locate(&self, i: usize) -> Option<(LeafId, usize)> {
        if i >= self.theta_len() {
            return None;
        }
        let leaf = self.offsets.partition_point(|&o| o <= i) - 1;
        Some((LeafId(leaf as u32), i - self.offsets[leaf]))
    }
}

fn check(leaf: &Leaf) -> Result<(), ModelError> {
    let expected: usize = leaf.shape.iter().product();
    if leaf.values.len() != expected {
        return Err(ModelError::WrongLength {
            path: leaf.path.clone(),
            expected,
            found: leaf.values.len(),
        });
    }
    if let Extent::Field { count, .. } = leaf.extent
        && leaf.values.len() != 1
        && leaf.values.len() != count
    {
        return Err(ModelError::WrongLength {
            path: leaf.path.clone(),
            expected: count,
            found: leaf.values.len(),
        });
    }
    for (index, &value) in leaf.values.iter().enumerate() {
        if !leaf.bounds.contain(value) {
            return Err(ModelError::OutOfBounds {
                path: leaf.path.clone(),
                index,
                value,
                bounds: leaf.bounds,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Leaves, LeafId, LeafId) {
        let elements = Elements { count: 3, element: "spring", groups: Arc::default() };
        let mut leaves = Leaves::new();
        let a = leaves
            .add(Leaf::field("s.k", vec![2.0], &elements, "N/m", Bounds::POSITIVE, "stiffness"))
            .unwrap();
        let b = leaves.add(Leaf::scalar("s.m", 5.0, "kg", Bounds::POSITIVE, "mass")).unwrap();
        (leaves, a, b)
    }

    #[test]
    fn expanding_a_field_moves_what_follows() {
        let (mut leaves, a, b) = two();
        assert_eq!(leaves.theta(), [2.0, 5.0]);
        leaves.expand(a).unwrap();
        assert_eq!(leaves.theta(), [2.0, 2.0, 2.0, 5.0]);
        assert_eq!(leaves.range(b), 3..4);
        assert_eq!(leaves.locate(3), Some((b, 0)));
        assert_eq!(leaves.locate(2), Some((a, 2)));
        assert!(leaves.expand(b).is_err());
    }

    #[test]
    fn bounds_and_names_are_checked() {
        let (mut leaves, a, _) = two();
        assert!(leaves.set(a, &[-1.0]).is_err());
        assert!(leaves.set(a, &[1.0, 2.0]).is_err());
        assert!(leaves.set(a, &[1.0, 2.0, 3.0]).is_ok());
        assert!(leaves.with_theta(&[1.0, 2.0, 3.0, f64::NAN]).is_err());
        let text = leaves.find("s.kk").unwrap_err().to_string();
        assert!(text.contains("s.k"), "{text}");
    }
}
