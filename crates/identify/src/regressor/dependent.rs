//! Which parameters the forces cannot tell apart.

use nalgebra::DVector;

use crate::least_squares::{Block, Structure};
use crate::problem::Unknown;

/// What is left of a column of unit length, once those before it are taken out, when it depends on them.
const DEPENDENT: f64 = 1e-7;
/// Coefficients below this part of the largest are not told.
const SHOWN: f64 = 1e-6;

/// An unknown whose effect is a combination of others'.
#[derive(Clone, Debug)]
pub(crate) struct Dependence {
    /// The unknown.
    pub unknown: usize,
    /// In words.
    pub text: String,
}

/// The unknowns whose columns depend on those before them; one without any effect too.
pub(super) fn dependent(
    structure: &Structure,
    blocks: &[Block],
    unknowns: &[Unknown],
) -> Vec<Dependence> {
    let rows: usize = blocks.iter().map(|b| b.residuals.len()).sum();
    let mut columns = vec![DVector::<f64>::zeros(rows); unknowns.len()];
    let mut first = 0;
    for (b, block) in blocks.iter().enumerate() {
        let count = block.residuals.len();
        for (k, unknown) in structure.columns(b).enumerate() {
            columns[unknown].rows_mut(first, count).copy_from(&block.jacobian.column(k));
        }
        first += count;
    }
    // Gram-Schmidt, each direction with what it is made of.
    let mut basis: Vec<(DVector<f64>, Vec<f64>)> = Vec::new();
    let mut out = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let size = column.norm();
        if size == 0.0 {
            let text = format!("`{}` changes no force on these motions", unknowns[i].name);
            out.push(Dependence { unknown: i, text });
            continue;
        }
        let mut rest = column / size;
        let mut made = vec![0.0; unknowns.len()];
        made[i] = 1.0 / size;
        for _ in 0..2 {
            for (direction, of) in &basis {
                let along = direction.dot(&rest);
                rest -= direction * along;
                for (slot, x) in made.iter_mut().zip(of) {
                    *slot -= along * x;
                }
            }
        }
        let left = rest.norm();
        if left > DEPENDENT {
            made.iter_mut().for_each(|x| *x /= left);
            basis.push((rest / left, made));
            continue;
        }
        let parts: Vec<(usize, f64)> = made
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != i)
            .map(|(k, x)| (k, -x / made[i]))
            .collect();
        let largest = parts.iter().fold(0.0f64, |m, (_, x)| m.max(x.abs()));
        let told: Vec<String> = parts
            .iter()
            .filter(|(_, x)| x.abs() > SHOWN * largest)
            .map(|(k, x)| format!("{x:.4} `{}`", unknowns[*k].name))
            .collect();
        let text = format!(
            "`{}` acts like {}: only the sum is seen; it stays at its start and the estimates of the others \
             hold with it",
            unknowns[i].name,
            told.join(" + ")
        );
        out.push(Dependence { unknown: i, text });
    }
    out
}
