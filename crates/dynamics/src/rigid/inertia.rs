//! The joint-space inertia matrix by the composite-rigid-body method, and its factors.
//!
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), chapter 6 and section 8.3: M = LᵀDL with L
//! unit lower triangular has no more entries than M, which couples a degree of freedom only with those
//! towards the world.

use costate_num::spatial::{Motion, RigidInertia};
use costate_num::{Scalar, SymMat3, Vec3};

use super::constants::Layout;
use super::constraint::SymmetricRows;
use super::kinematics::Kinematics;
use super::tree::Tree;

/// The inertia of each body about its tree's origin, in world axes.
pub fn body_inertias<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    out: &mut [RigidInertia<S>],
) {
    for b in 1..tree.bodies.len() {
        let at = layout.body_inertia.at(b);
        let local =
            SymMat3::from_array([c[at], c[at + 1], c[at + 2], c[at + 3], c[at + 4], c[at + 5]]);
        let inertia = local.congruence(k.xmat[b].transpose());
        let mass = c[layout.body_mass.at(b)];
        out[b] = about_center(mass, k.xipos[b] - k.origin[b], inertia);
    }
}

/// Of a body with the given mass, centre of mass and inertia about that centre.
#[inline(always)]
fn about_center<S: Scalar>(mass: S, r: Vec3<S>, inertia: SymMat3<S>) -> RigidInertia<S> {
    let (x, y, z) = (r.x * mass, r.y * mass, r.z * mass);
    let (xx, yy, zz) = (x * r.x, y * r.y, z * r.z);
    RigidInertia {
        mass,
        first_moment: Vec3::new(x, y, z),
        inertia: inertia
            + SymMat3 {
                xx: yy + zz,
                xy: -(x * r.y),
                yy: xx + zz,
                xz: -(x * r.z),
                yz: -(y * r.z),
                zz: xx + yy,
            },
    }
}

/// How many degrees of freedom are eliminated at once.
const AT_ONCE: usize = 4;

/// Adds Σ factor · row to `target`, entry by entry in the order of the rows. They are short: two entries at a time
/// is as much as pays.
#[inline(always)]
fn add_parts<S: Scalar, const B: usize>(target: &mut [S], rows: [&[S]; B], factors: [S; B]) {
    let n = target.len();
    let rows = rows.map(|row| &row[..n]);
    let mut j = 0;
    while j < n {
        if n - j >= 2 {
            let mut sums = [target[j], target[j + 1]];
            for b in 0..B {
                let pair = [rows[b][j], rows[b][j + 1]];
                for k in 0..2 {
                    sums[k] += factors[b] * pair[k];
                }
            }
            (target[j], target[j + 1]) = (sums[0], sums[1]);
            j += 2;
        } else {
            for b in 0..B {
                target[j] += factors[b] * rows[b][j];
            }
            j += 1;
        }
    }
}

/// A symmetric matrix with the pattern of the inertia matrix, or its factors: row `i` holds the
/// columns of degree of freedom `i` and of all towards the world ([`Tree::columns`]).
#[derive(Clone, Debug, PartialEq)]
pub struct MassMatrix<S> {
    /// The entries, row after row.
    pub entries: Vec<S>,
}

impl MassMatrix<f64> {
    /// As the constraint solver takes it.
    pub fn symmetric_rows<'a>(&'a self, tree: &'a Tree) -> SymmetricRows<'a> {
        SymmetricRows { rows: &tree.rows, columns: &tree.columns, entries: &self.entries }
    }
}

impl<S: Scalar> MassMatrix<S> {
    /// Zero, for a structure.
    pub fn new(tree: &Tree) -> Self {
        Self { entries: vec![S::zero(); tree.columns.len()] }
    }

    /// The inertia matrix, from the bodies' inertias; `composite` is scratch, one per body.
    pub fn assemble(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        subspace: &[Motion<S>],
        inertias: &[RigidInertia<S>],
        composite: &mut [RigidInertia<S>],
    ) {
        composite.copy_from_slice(inertias);
        for b in (1..tree.bodies.len()).rev() {
            let parent = tree.bodies[b].parent;
            if parent > 0 {
                let own = composite[b];
                composite[parent] += own;
            }
        }
        for i in 0..tree.nv {
            let momentum = composite[tree.dof_body[i]].apply(subspace[i]);
            let row = tree.rows[i].clone();
            let columns = &tree.columns[row.clone()];
            for (entry, &j) in self.entries[row.clone()].iter_mut().zip(columns) {
                *entry = subspace[j].dot(momentum);
            }
            self.entries[row.start] += c[layout.dof_armature.at(i)];
        }
    }

    /// Replaces the matrix by its factors: L below the diagonal, D on it. Returns the first degree of
    /// freedom whose pivot is not positive.
    pub fn factorise(&mut self, tree: &Tree) -> Option<usize> {
        let (mut bad, mut end) = (None, tree.nv);
        while end > 0 {
            let chained = |k: usize| k > 0 && tree.dof_parent[k] == Some(k - 1);
            let run = (1..AT_ONCE).take_while(|n| *n < end && chained(end - n)).count() + 1;
            let (count, found) = match run {
                AT_ONCE => (AT_ONCE, self.eliminate::<AT_ONCE>(tree, end)),
                2.. => (2, self.eliminate::<2>(tree, end)),
                _ => (1, self.eliminate::<1>(tree, end)),
            };
            bad = found.or(bad);
            end -= count;
        }
        bad
    }

    /// Eliminates the `B` degrees of freedom before `end`, each of which hangs on the one before it: what is
    /// towards the world from all of them takes their parts at once, in the order of one after the other.
    fn eliminate<const B: usize>(&mut self, tree: &Tree, end: usize) -> Option<usize> {
        let first = end - B;
        let start = tree.rows[first].start;
        let (above, mut rest) = self.entries.split_at_mut(start);
        let mut rows: [&mut [S]; B] = std::array::from_fn(|b| {
            let (row, others) = std::mem::take(&mut rest).split_at_mut(tree.rows[first + b].len());
            rest = others;
            row
        });
        let (mut bad, mut inverses) = (None, [S::zero(); B]);
        for b in (0..B).rev() {
            let (before, row) = rows.split_at_mut(b);
            let row = &*row[0];
            if !costate_num::Mask::all(row[0].gt(S::zero())) {
                bad = Some(first + b);
            }
            inverses[b] = row[0].recip();
            // Entries of these rows stay undivided while rows towards the world still need them.
            for (a, target) in before.iter_mut().enumerate() {
                let part = &row[b - a..];
                add_parts(target, [part], [-(part[0] * inverses[b])]);
            }
        }
        let towards_world = &tree.columns[start + 1..start + rows[0].len()];
        for (t, &i) in towards_world.iter().enumerate() {
            let parts: [&[S]; B] = std::array::from_fn(|n| &rows[B - 1 - n][t + B - n..]);
            let factors = std::array::from_fn(|n| -(parts[n][0] * inverses[B - 1 - n]));
            add_parts(&mut above[tree.rows[i].clone()], parts, factors);
        }
        for (row, inverse) in rows.into_iter().zip(inverses) {
            for value in &mut row[1..] {
                *value = *value * inverse;
            }
        }
        bad
    }

    /// x ← M⁻¹ x, from the factors.
    pub fn solve(&self, tree: &Tree, x: &mut [S]) {
        for k in (0..tree.nv).rev() {
            let row = tree.rows[k].clone();
            let value = x[k];
            let above = row.start + 1..row.end;
            for (&i, &entry) in tree.columns[above.clone()].iter().zip(&self.entries[above]) {
                x[i] += -(entry * value);
            }
        }
        for k in 0..tree.nv {
            let row = tree.rows[k].clone();
            let mut value = x[k] / self.entries[row.start];
            let above = row.start + 1..row.end;
            for (&i, &entry) in tree.columns[above.clone()].iter().zip(&self.entries[above]) {
                value += -(entry * x[i]);
            }
            x[k] = value;
        }
    }

    /// xᵀ M⁻¹ x from the factors, x being zero but at degree of freedom `last` and those towards the world from it;
    /// x is used up. With L⁻ᵀ x = y it is Σ y²/D, and nothing beside these is touched.
    pub fn inverse_form(&self, tree: &Tree, last: usize, x: &mut [S]) -> S {
        let (mut sum, mut next) = (S::zero(), Some(last));
        while let Some(k) = next {
            let row = tree.rows[k].clone();
            let value = x[k];
            sum += value * value / self.entries[row.start];
            let above = row.start + 1..row.end;
            for (&i, &entry) in tree.columns[above.clone()].iter().zip(&self.entries[above]) {
                x[i] += -(entry * value);
            }
            next = tree.dof_parent[k];
        }
        sum
    }

    /// out ← M x, from the matrix itself.
    pub fn multiply(&self, tree: &Tree, x: &[S], out: &mut [S]) {
        for value in out.iter_mut() {
            *value = S::zero();
        }
        for k in 0..tree.nv {
            let row = tree.rows[k].clone();
            let mut sum = self.entries[row.start] * x[k];
            for at in row.start + 1..row.end {
                let i = tree.columns[at];
                sum += self.entries[at] * x[i];
                out[i] += self.entries[at] * x[k];
            }
            out[k] += sum;
        }
    }

    /// The matrix with all its entries, row by row.
    pub fn to_dense(&self, tree: &Tree) -> Vec<S> {
        let n = tree.nv;
        let mut dense = vec![S::zero(); n * n];
        for i in 0..n {
            for at in tree.rows[i].clone() {
                let j = tree.columns[at];
                dense[i * n + j] = self.entries[at];
                dense[j * n + i] = self.entries[at];
            }
        }
        dense
    }
}
