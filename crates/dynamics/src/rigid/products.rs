//! Products s JᵀJ of the rows of tendons and actuators within the pattern of the inertia matrix: entries of two
//! degrees of freedom neither of which is above the other are left out, as MuJoCo has them.

use costate_num::Scalar;

use super::inertia::MassMatrix;
use super::tree::Tree;

/// A row: its degrees of freedom, which may come twice, and its entries.
pub(crate) type Row<'a, S> = (&'a [usize], &'a [S]);

/// Whether two degrees of freedom are one above the other: whether the inertia matrix has their entry.
pub(crate) fn coupled(tree: &Tree, i: usize, j: usize) -> bool {
    let (low, mut high) = (i.min(j), i.max(j));
    while high > low {
        match tree.dof_parent[high] {
            Some(parent) => high = parent,
            None => return false,
        }
    }
    high == low
}

/// Adds s JᵀJ to a matrix with the pattern of the inertia matrix.
pub(crate) fn add_product<S: Scalar>(
    tree: &Tree,
    (dofs, values): Row<S>,
    s: S,
    mass: &mut MassMatrix<S>,
) {
    for (n, &i) in dofs.iter().enumerate() {
        for (m, &j) in dofs.iter().enumerate() {
            if j > i || !coupled(tree, i, j) || (i == j && m > n) {
                continue;
            }
            // A degree of freedom named twice meets itself once in each order.
            let twice = if i == j && m != n { 2.0 } else { 1.0 };
            let row = tree.rows[i].clone();
            let at = row.clone().find(|&at| tree.columns[at] == j).unwrap_or(row.start);
            mass.entries[at] += (s * values[n] * values[m]).scale(twice);
        }
    }
}

/// Adds JᵀJ x to `out`, x being a function of the degree of freedom.
pub(crate) fn multiply_product<S: Scalar>(
    tree: &Tree,
    (dofs, values): Row<S>,
    x: impl Fn(usize) -> S,
    out: &mut [S],
) {
    for (n, &i) in dofs.iter().enumerate() {
        for (m, &j) in dofs.iter().enumerate() {
            if coupled(tree, i, j) {
                out[i] += values[n] * values[m] * x(j);
            }
        }
    }
}

/// yᵀJᵀJ x, and its derivatives by the entries of J times `weight`, which are added to `by_row`.
pub(crate) fn pull_product(
    tree: &Tree,
    (dofs, values): Row<f64>,
    [y, x]: [&[f64]; 2],
    weight: f64,
    by_row: &mut [f64],
) -> f64 {
    let mut sum = 0.0;
    for (n, &i) in dofs.iter().enumerate() {
        for (m, &j) in dofs.iter().enumerate() {
            if coupled(tree, i, j) {
                let both = y[i] * x[j];
                sum += both * values[n] * values[m];
                by_row[n] += weight * both * values[m];
                by_row[m] += weight * both * values[n];
            }
        }
    }
    sum
}
