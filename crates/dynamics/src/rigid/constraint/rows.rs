//! Constraint rows: what the solver minimises over.

use costate_num::Scalar;

use super::law::Law;

/// A friction cone over several consecutive rows: the normal, then the tangential, torsional and
/// rolling ones that the contact has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone<S = f64> {
    /// Its first row.
    pub row: usize,
    /// How many rows: 3, 4 or 6.
    pub dim: usize,
    /// Friction of the regularised cone: the first tangential coefficient over √impratio.
    pub mu: S,
    /// Coefficient of each row after the first: two tangential ones, torsional (m), two rolling
    /// ones (m).
    pub friction: [S; 5],
}

/// Rows x = J a − a_ref of a convex penalty s(x), with forces f = −∂s/∂x.
///
/// Jacobians are stored by their nonzero entries, degrees of freedom from high to low. Rows of one cone
/// have the same ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<S = f64> {
    /// Law of each row.
    pub law: Vec<Law>,
    /// Reference acceleration a_ref of each row.
    pub reference: Vec<S>,
    /// Constraint mass D = 1/R of each row: the second derivative of its quadratic penalty.
    pub mass: Vec<S>,
    /// Bound of the force of each row of dry friction, ≥ 0; of contacts the width over which they are relaxed
    /// (of a cone, that of its first row), zero for none; unused elsewhere.
    pub loss: Vec<S>,
    /// The cones, in order of rows.
    pub cones: Vec<Cone<S>>,
    /// Where each row's entries begin; one more than there are rows.
    start: Vec<usize>,
    /// Dof of each entry.
    dof: Vec<usize>,
    /// Value of each entry.
    jacobian: Vec<S>,
}

impl<S: Scalar> Default for Rows<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Scalar> Rows<S> {
    /// No rows.
    pub fn new() -> Self {
        Self {
            law: Vec::new(),
            reference: Vec::new(),
            mass: Vec::new(),
            loss: Vec::new(),
            cones: Vec::new(),
            start: vec![0],
            dof: Vec::new(),
            jacobian: Vec::new(),
        }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.law.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.law.is_empty()
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.law.clear();
        self.reference.clear();
        self.mass.clear();
        self.loss.clear();
        self.cones.clear();
        self.start.clear();
        self.start.push(0);
        self.dof.clear();
        self.jacobian.clear();
    }

    /// Adds an entry to the Jacobian of the row that [`push`](Self::push) will finish.
    #[inline]
    pub fn entry(&mut self, dof: usize, value: S) {
        self.dof.push(dof);
        self.jacobian.push(value);
    }

    /// Finishes a row of the entries given since the last one, which may come in any order.
    pub fn push(&mut self, law: Law, reference: S, mass: S, loss: S) {
        self.sort_entries();
        self.law.push(law);
        self.reference.push(reference);
        self.mass.push(mass);
        self.loss.push(loss);
        self.start.push(self.dof.len());
    }

    /// Dofs of all entries, and where each row's begin.
    pub(super) fn pattern(&self) -> (&[usize], &[usize]) {
        (&self.dof, &self.start)
    }

    /// Adds a row whose entries, of which there are no others since the last row, come in order.
    pub(super) fn push_ordered(
        &mut self,
        dofs: impl Iterator<Item = usize>,
        values: impl Iterator<Item = S>,
        law: Law,
        reference: S,
    ) {
        self.dof.extend(dofs);
        self.jacobian.extend(values);
        self.law.push(law);
        self.reference.push(reference);
        self.mass.push(S::one());
        self.loss.push(S::zero());
        self.start.push(self.dof.len());
    }

    /// Adds row `r` of others, on the dofs that `place` gives, which keeps their order.
    pub(super) fn copy(&mut self, from: &Self, r: usize, place: impl Fn(usize) -> usize) {
        let (dofs, values) = from.row(r);
        self.dof.extend(dofs.iter().map(|&dof| place(dof)));
        self.jacobian.extend_from_slice(values);
        self.law.push(from.law[r]);
        self.reference.push(from.reference[r]);
        self.mass.push(from.mass[r]);
        self.loss.push(from.loss[r]);
        self.start.push(self.dof.len());
    }

    /// Brings the entries since the last row into order and sums those of one degree of freedom.
    fn sort_entries(&mut self) {
        let from = self.start[self.start.len() - 1];
        if self.dof[from..].is_sorted_by(|a, b| a > b) {
            return;
        }
        for i in from + 1..self.dof.len() {
            let mut k = i;
            while k > from && self.dof[k - 1] < self.dof[k] {
                self.dof.swap(k - 1, k);
                self.jacobian.swap(k - 1, k);
                k -= 1;
            }
        }
        let mut end = from + 1;
        for k in from + 1..self.dof.len() {
            if self.dof[k] == self.dof[end - 1] {
                let value = self.jacobian[k];
                self.jacobian[end - 1] += value;
            } else {
                self.dof[end] = self.dof[k];
                self.jacobian[end] = self.jacobian[k];
                end += 1;
            }
        }
        self.dof.truncate(end);
        self.jacobian.truncate(end);
    }

    /// Cone number `c`, if row `r` is its first.
    #[inline(always)]
    pub(crate) fn cone_at(&self, c: usize, r: usize) -> Option<&Cone<S>> {
        match self.cones.get(c) {
            Some(cone) if cone.row == r => Some(cone),
            _ => None,
        }
    }

    /// Entries of a row: their dofs and values.
    #[inline(always)]
    pub fn row(&self, r: usize) -> (&[usize], &[S]) {
        let range = self.start[r]..self.start[r + 1];
        (&self.dof[range.clone()], &self.jacobian[range])
    }

    /// Values of a row's entries, to be changed.
    pub fn row_mut(&mut self, r: usize) -> &mut [S] {
        &mut self.jacobian[self.start[r]..self.start[r + 1]]
    }

    /// Where the entries of row `r` lie among all; adjoints of the Jacobian have the same layout.
    #[inline(always)]
    pub fn entries(&self, r: usize) -> std::ops::Range<usize> {
        self.start[r]..self.start[r + 1]
    }

    /// How many entries all rows have.
    pub fn entry_count(&self) -> usize {
        self.dof.len()
    }

    /// (J a)ᵣ.
    #[inline(always)]
    pub fn dot(&self, r: usize, a: &[S]) -> S {
        let (dofs, values) = self.row(r);
        let mut sum = S::zero();
        for (&dof, &value) in dofs.iter().zip(values) {
            sum += value * a[dof];
        }
        sum
    }

    /// Adds `factor` (Jᵀ)ᵣ to `out`.
    #[inline(always)]
    pub fn add_transposed(&self, r: usize, factor: S, out: &mut [S]) {
        let (dofs, values) = self.row(r);
        for (&dof, &value) in dofs.iter().zip(values) {
            out[dof] += value * factor;
        }
    }
}
