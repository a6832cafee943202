//! Derivatives of the forces of constraint rows by the parameters of their penalties: masses, losses or widths,
//! and the numbers of cones.

use super::law::{Law, Zone};
use super::relaxed;
use super::rows::Rows;

/// Derivatives of f at fixed x: by the mass of a row, by its loss, and by a cone's coefficients.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LawTangents {
    /// Of the rows' masses.
    pub mass: Vec<f64>,
    /// Of the rows' losses.
    pub loss: Vec<f64>,
    /// Of each cone's mu.
    pub mu: Vec<f64>,
    /// Of each cone's friction.
    pub friction: Vec<[f64; 5]>,
}

/// y · ∂f/∂(mass, loss, mu, friction) at fixed x, added to `bar`.
pub(crate) fn pull_parameters(
    rows: &Rows,
    x: &[f64],
    zone: &[Zone],
    y: &[f64],
    bar: &mut LawTangents,
) {
    for r in 0..rows.len() {
        match zone[r] {
            Zone::Quadratic => bar.mass[r] -= x[r] * y[r],
            Zone::Bound(sign) => bar.loss[r] += f64::from(sign) * y[r],
            Zone::Relaxed if rows.law[r] != Law::Elliptic => {
                let (by_mass, by_width) = relaxed::by_parameters(rows.mass[r], rows.loss[r], x[r]);
                bar.mass[r] += by_mass * y[r];
                bar.loss[r] += by_width * y[r];
            }
            Zone::Satisfied | Zone::Surface | Zone::Relaxed => {}
        }
    }
    for (c, cone) in rows.cones.iter().enumerate() {
        if zone[cone.row] == Zone::Relaxed {
            let r = cone.row;
            let by = cone.relaxed_by_parameters(rows.mass[r], rows.loss[r], &x[r..r + cone.dim]);
            for (by, y) in by.iter().zip(&y[r..r + cone.dim]) {
                bar.mass[r] += by.tangent[0] * y;
                bar.loss[r] += by.tangent[1] * y;
                bar.mu[c] += by.tangent[2] * y;
                for k in 0..5 {
                    bar.friction[c][k] += by.tangent[3 + k] * y;
                }
            }
        }
        if zone[cone.row] != Zone::Surface {
            continue;
        }
        let (x, y) = (&x[cone.row..cone.row + cone.dim], &y[cone.row..cone.row + cone.dim]);
        let at = cone.polar(x);
        let (mu, t) = (cone.mu, at.tangential);
        let dm = cone.surface_mass(rows.mass[cone.row]);
        // y · f = −Dm μ (N − μ T) (y₀ − Y/T), Y = Σ μⱼ² xⱼ yⱼ, N = μ x₀.
        let mut cross = 0.0;
        for j in 1..cone.dim {
            let f = cone.friction[j - 1];
            cross += f * f * x[j] * y[j];
        }
        let r = at.normal - mu * t;
        let lever = y[0] - cross / t;
        bar.mass[cone.row] -= dm / rows.mass[cone.row] * mu * r * lever;
        // Dm μ (N − μ T) = D₀ (x₀ − T)/(1 + μ²).
        bar.mu[c] += 2.0 * mu / (1.0 + mu * mu) * dm * mu * r * lever;
        let by_t = dm * mu * (mu * lever - r * cross / (t * t));
        let by_cross = dm * mu * r / t;
        for j in 1..cone.dim {
            let f = cone.friction[j - 1];
            bar.friction[c][j - 1] += by_t * f * x[j] * x[j] / t + by_cross * 2.0 * f * x[j] * y[j];
        }
    }
}

/// Tangent of f at fixed x along tangents of the parameters, added to `f_dot`.
pub(crate) fn push_parameters(
    rows: &Rows,
    x: &[f64],
    zone: &[Zone],
    dot: &LawTangents,
    f_dot: &mut [f64],
) {
    for r in 0..rows.len() {
        match zone[r] {
            Zone::Quadratic => f_dot[r] -= x[r] * dot.mass[r],
            Zone::Bound(sign) => f_dot[r] += f64::from(sign) * dot.loss[r],
            Zone::Relaxed if rows.law[r] != Law::Elliptic => {
                let (by_mass, by_width) = relaxed::by_parameters(rows.mass[r], rows.loss[r], x[r]);
                f_dot[r] += by_mass * dot.mass[r] + by_width * dot.loss[r];
            }
            Zone::Satisfied | Zone::Surface | Zone::Relaxed => {}
        }
    }
    for (c, cone) in rows.cones.iter().enumerate() {
        if zone[cone.row] == Zone::Relaxed {
            let r = cone.row;
            let by = cone.relaxed_by_parameters(rows.mass[r], rows.loss[r], &x[r..r + cone.dim]);
            for (by, f_dot) in by.iter().zip(&mut f_dot[r..r + cone.dim]) {
                *f_dot += by.tangent[0] * dot.mass[r]
                    + by.tangent[1] * dot.loss[r]
                    + by.tangent[2] * dot.mu[c];
                for k in 0..5 {
                    *f_dot += by.tangent[3 + k] * dot.friction[c][k];
                }
            }
        }
        if zone[cone.row] != Zone::Surface {
            continue;
        }
        let x = &x[cone.row..cone.row + cone.dim];
        let f_dot = &mut f_dot[cone.row..cone.row + cone.dim];
        let at = cone.polar(x);
        let (mu, t) = (cone.mu, at.tangential);
        let dm = cone.surface_mass(rows.mass[cone.row]);
        // The pull Dm μ (N − μ T) = D₀ (x₀ − T)/(1 + μ²), and its tangent.
        let pull = dm * mu * (at.normal - mu * t);
        let mut t_dot = 0.0;
        for j in 1..cone.dim {
            t_dot += cone.friction[j - 1] * dot.friction[c][j - 1] * x[j] * x[j] / t;
        }
        let pull_dot = pull / rows.mass[cone.row] * dot.mass[cone.row]
            - pull * 2.0 * mu / (1.0 + mu * mu) * dot.mu[c]
            - dm * mu * mu * t_dot;
        f_dot[0] -= pull_dot;
        for j in 1..cone.dim {
            let f = cone.friction[j - 1];
            let f_dot_j = dot.friction[c][j - 1];
            f_dot[j] += (pull_dot * f * f + pull * 2.0 * f * f_dot_j) * x[j] / t
                - pull * f * f * x[j] * t_dot / (t * t);
        }
    }
}
