//! The penalties s(x) of constraint rows: their forces, curvatures, and what the line search and
//! the derivatives need of them.
//!
//! Equality: D x²/2. Dry friction: Huber's function, whose force is held within ±loss. Limits,
//! frictionless contacts and edges of a friction pyramid: D min(0, x)²/2. Elliptic cones, in
//! N = μ x₀ and T = |(μⱼ xⱼ)ⱼ|: nothing where N ≥ μ T, the quadratic of all rows where μ N + T ≤ 0,
//! and D₀/(2 μ² (1 + μ²)) (N − μ T)² between (MuJoCo's documentation, chapter *Computation*, section
//! *Constraint solver*). All are convex and continuously differentiable; where the curvature
//! jumps, at a bound or on the surface of a cone, the side without force or with the constant
//! force counts.

use super::factor::Factor;
use super::relaxed;
use super::rows::{Cone, Rows};

/// The penalty of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Holds in both directions.
    Equality,
    /// Dry friction: opposes motion with at most its loss.
    Friction,
    /// Pushes, never pulls: limits, frictionless contacts, edges of pyramids.
    Unilateral,
    /// One of the rows of an elliptic [`Cone`].
    Elliptic,
}

/// Which piece of its penalty a row is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// No force.
    Satisfied,
    /// Force proportional to x.
    Quadratic,
    /// Dry friction at its bound, pushing forward or back (+1, −1).
    Bound(i8),
    /// On a cone's surface.
    Surface,
    /// Anywhere, of a penalty that is relaxed.
    Relaxed,
}

/// Number of rows of the largest cone.
pub(crate) const MAX_DIM: usize = 6;

/// N, T and the zone of a cone at the rows' `x`.
pub(super) struct Polar {
    pub normal: f64,
    pub tangential: f64,
    zone: Zone,
}

impl Cone<f64> {
    #[inline(always)]
    pub(super) fn polar(&self, x: &[f64]) -> Polar {
        let normal = self.mu * x[0];
        let mut squared = 0.0;
        for j in 1..self.dim {
            let u = self.friction[j - 1] * x[j];
            squared += u * u;
        }
        let tangential = squared.sqrt();
        let zone = if normal >= self.mu * tangential {
            Zone::Satisfied
        } else if self.mu * normal + tangential <= 0.0 {
            Zone::Quadratic
        } else {
            Zone::Surface
        };
        Polar { normal, tangential, zone }
    }

    /// D₀/(μ² (1 + μ²)).
    #[inline(always)]
    pub(super) fn surface_mass(&self, mass: f64) -> f64 {
        let squared = self.mu * self.mu;
        mass / (squared * (1.0 + squared))
    }

    /// Forces at `x` into `f`.
    pub(super) fn force(&self, mass: &[f64], x: &[f64], f: &mut [f64]) -> Zone {
        let at = self.polar(x);
        match at.zone {
            Zone::Surface => {
                let pull = self.surface_mass(mass[0]) * (at.normal - self.mu * at.tangential);
                f[0] = -pull * self.mu;
                let along = pull * self.mu / at.tangential;
                for j in 1..self.dim {
                    let mu = self.friction[j - 1];
                    f[j] = along * mu * mu * x[j];
                }
            }
            Zone::Quadratic => {
                for j in 0..self.dim {
                    f[j] = -mass[j] * x[j];
                }
            }
            _ => f[..self.dim].fill(0.0),
        }
        at.zone
    }

    /// Second derivatives of the penalty on the cone's surface, row-major, `dim` × `dim`.
    fn surface_hessian(&self, mass: f64, x: &[f64], out: &mut [f64; MAX_DIM * MAX_DIM]) {
        let n = self.dim;
        let at = self.polar(x);
        let dm = self.surface_mass(mass);
        let inverse = 1.0 / at.tangential;
        // r = N − μ T; its gradient, and r times its second derivative −μ ∇²T.
        let r = at.normal - self.mu * at.tangential;
        let mut unit = [0.0; MAX_DIM];
        let mut gradient = [0.0; MAX_DIM];
        gradient[0] = self.mu;
        for j in 1..n {
            let mu = self.friction[j - 1];
            unit[j] = mu * (mu * x[j]) * inverse;
            gradient[j] = -self.mu * unit[j];
        }
        let bend = -r * self.mu * inverse;
        for j in 0..n {
            for k in 0..n {
                let mut second = gradient[j] * gradient[k];
                if j > 0 && k > 0 {
                    let mu = self.friction[j - 1];
                    let diagonal = if j == k { mu * mu } else { 0.0 };
                    second += bend * (diagonal - unit[j] * unit[k]);
                }
                out[j * n + k] = dm * second;
            }
        }
    }

    /// Second derivatives of the penalty where it couples the cone's rows: on its surface, and relaxed.
    /// Returns whether it does.
    fn hessian(
        &self,
        rows: &Rows,
        zone: Zone,
        x: &[f64],
        out: &mut [f64; MAX_DIM * MAX_DIM],
    ) -> bool {
        let (mass, x) = (rows.mass[self.row], &x[self.row..self.row + self.dim]);
        match zone {
            Zone::Surface => self.surface_hessian(mass, x, out),
            Zone::Relaxed => self.relaxed_hessian(mass, rows.loss[self.row], x, out),
            _ => return false,
        }
        true
    }

    /// First and second derivative of the penalty along `p`, at `x + alpha p`.
    fn slope(&self, mass: &[f64], width: f64, x: &[f64], p: &[f64], alpha: f64) -> (f64, f64) {
        let mut at = [0.0; MAX_DIM];
        for j in 0..self.dim {
            at[j] = x[j] + alpha * p[j];
        }
        if width > 0.0 {
            return self.relaxed_slope(mass[0], width, &at, p);
        }
        let polar = self.polar(&at);
        let (mut first, mut second) = (0.0, 0.0);
        match polar.zone {
            Zone::Surface => {
                let (mut cross, mut square) = (0.0, 0.0);
                for j in 1..self.dim {
                    let mu = self.friction[j - 1];
                    cross += (mu * at[j]) * (mu * p[j]);
                    square += (mu * p[j]) * (mu * p[j]);
                }
                let t_dot = cross / polar.tangential;
                let t_ddot = (square - t_dot * t_dot) / polar.tangential;
                let r = polar.normal - self.mu * polar.tangential;
                let r_dot = self.mu * p[0] - self.mu * t_dot;
                let dm = self.surface_mass(mass[0]);
                first = dm * r * r_dot;
                second = dm * (r_dot * r_dot - r * self.mu * t_ddot);
            }
            Zone::Quadratic => {
                for j in 0..self.dim {
                    first += mass[j] * at[j] * p[j];
                    second += mass[j] * p[j] * p[j];
                }
            }
            _ => {}
        }
        (first, second)
    }

    /// The penalty at `x`.
    fn cost(&self, mass: &[f64], x: &[f64]) -> f64 {
        let at = self.polar(x);
        match at.zone {
            Zone::Surface => {
                let r = at.normal - self.mu * at.tangential;
                0.5 * self.surface_mass(mass[0]) * r * r
            }
            Zone::Quadratic => (0..self.dim).map(|j| 0.5 * mass[j] * x[j] * x[j]).sum(),
            _ => 0.0,
        }
    }
}

/// One row's zone and force, cones excluded.
#[inline(always)]
fn row_force(law: Law, mass: f64, loss: f64, x: f64) -> (Zone, f64) {
    match law {
        Law::Unilateral if loss > 0.0 => (Zone::Relaxed, relaxed::force(mass, loss, x)),
        Law::Equality => (Zone::Quadratic, -mass * x),
        Law::Unilateral if x < 0.0 => (Zone::Quadratic, -mass * x),
        Law::Friction => {
            let f = -mass * x;
            if f >= loss && x < 0.0 {
                (Zone::Bound(1), loss)
            } else if f <= -loss && x > 0.0 {
                (Zone::Bound(-1), -loss)
            } else {
                (Zone::Quadratic, f)
            }
        }
        Law::Unilateral | Law::Elliptic => (Zone::Satisfied, 0.0),
    }
}

/// Second derivative of one row's penalty, cones on their surface or relaxed excluded.
#[inline(always)]
fn curvature(rows: &Rows, zone: Zone, r: usize, x: f64) -> f64 {
    match zone {
        Zone::Quadratic => rows.mass[r],
        Zone::Relaxed => relaxed::curvature(rows.mass[r], rows.loss[r], x),
        _ => 0.0,
    }
}

/// Forces f(x) and zones of all rows.
pub(crate) fn forces(rows: &Rows, x: &[f64], f: &mut [f64], zone: &mut [Zone]) {
    let mut next = 0;
    let mut r = 0;
    while r < rows.len() {
        if let Some(cone) = rows.cone_at(next, r) {
            next += 1;
            let end = r + cone.dim;
            let found = if rows.loss[r] > 0.0 {
                cone.relaxed_force(rows.mass[r], rows.loss[r], &x[r..end], &mut f[r..end]);
                Zone::Relaxed
            } else {
                cone.force(&rows.mass[r..end], &x[r..end], &mut f[r..end])
            };
            zone[r..end].fill(found);
            r = end;
        } else {
            (zone[r], f[r]) = row_force(rows.law[r], rows.mass[r], rows.loss[r], x[r]);
            r += 1;
        }
    }
}

/// s(x), summed over all rows.
pub(crate) fn cost(rows: &Rows, x: &[f64]) -> f64 {
    let mut next = 0;
    let mut total = 0.0;
    let mut r = 0;
    while r < rows.len() {
        if let Some(cone) = rows.cone_at(next, r) {
            next += 1;
            let end = r + cone.dim;
            total += if rows.loss[r] > 0.0 {
                cone.relaxed_cost(rows.mass[r], rows.loss[r], &x[r..end])
            } else {
                cone.cost(&rows.mass[r..end], &x[r..end])
            };
            r = end;
        } else {
            let (mass, loss) = (rows.mass[r], rows.loss[r]);
            total += match row_force(rows.law[r], mass, loss, x[r]).0 {
                Zone::Quadratic => 0.5 * mass * x[r] * x[r],
                Zone::Bound(_) => loss * (x[r].abs() - 0.5 * loss / mass),
                Zone::Relaxed => relaxed::cost(mass, loss, x[r]),
                _ => 0.0,
            };
            r += 1;
        }
    }
    total
}

/// First and second derivative of s(x + α p) by α.
pub(crate) fn slope(rows: &Rows, x: &[f64], p: &[f64], alpha: f64) -> (f64, f64) {
    let mut next = 0;
    let (mut first, mut second) = (0.0, 0.0);
    let mut r = 0;
    while r < rows.len() {
        if let Some(cone) = rows.cone_at(next, r) {
            next += 1;
            let end = r + cone.dim;
            let (a, b) =
                cone.slope(&rows.mass[r..end], rows.loss[r], &x[r..end], &p[r..end], alpha);
            first += a;
            second += b;
            r = end;
        } else {
            let at = x[r] + alpha * p[r];
            let (zone, f) = row_force(rows.law[r], rows.mass[r], rows.loss[r], at);
            first -= f * p[r];
            second += curvature(rows, zone, r, at) * p[r] * p[r];
            r += 1;
        }
    }
    (first, second)
}

/// Whether s is one quadratic function on the way from x to x + p: all rows are in flat zones, which are convex,
/// and in the same ones at both ends.
pub(crate) fn holds(rows: &Rows, x: &[f64], p: &[f64], zone: &[Zone]) -> bool {
    let mut next = 0;
    let mut r = 0;
    while r < rows.len() {
        let (found, end) = if let Some(cone) = rows.cone_at(next, r) {
            next += 1;
            let mut at = [0.0; MAX_DIM];
            for j in 0..cone.dim {
                at[j] = x[r + j] + p[r + j];
            }
            (cone.polar(&at).zone, r + cone.dim)
        } else {
            let loss = rows.loss[r];
            (row_force(rows.law[r], rows.mass[r], loss, x[r] + p[r]).0, r + 1)
        };
        if found != zone[r] || matches!(found, Zone::Surface | Zone::Relaxed) {
            return false;
        }
        r = end;
    }
    true
}

/// s″(x) y for all rows, into `out`.
pub(crate) fn apply_curvature(rows: &Rows, x: &[f64], zone: &[Zone], y: &[f64], out: &mut [f64]) {
    let mut hessian = [0.0; MAX_DIM * MAX_DIM];
    let mut next = 0;
    let mut r = 0;
    while r < rows.len() {
        if let Some(cone) = rows.cone_at(next, r) {
            next += 1;
            let n = cone.dim;
            if cone.hessian(rows, zone[r], x, &mut hessian) {
                for j in 0..n {
                    let mut sum = 0.0;
                    for k in 0..n {
                        sum += hessian[j * n + k] * y[r + k];
                    }
                    out[r + j] = sum;
                }
            } else {
                for j in r..r + n {
                    out[j] = if zone[j] == Zone::Quadratic { rows.mass[j] * y[j] } else { 0.0 };
                }
            }
            r += n;
        } else {
            out[r] = curvature(rows, zone[r], r, x[r]) * y[r];
            r += 1;
        }
    }
}

/// Most rows that are added at once.
const GROUP: usize = 10;

/// Adds Jᵀ s″(x) J.
pub(super) fn add_hessian(rows: &Rows, x: &[f64], zone: &[Zone], h: &mut Factor) {
    let mut hessian = [0.0; MAX_DIM * MAX_DIM];
    let mut next = 0;
    let mut r = 0;
    while r < rows.len() {
        if let Some(cone) = rows.cone_at(next, r) {
            next += 1;
            if cone.hessian(rows, zone[r], x, &mut hessian) {
                let dim = cone.dim;
                h.add_block(rows, r, dim, &hessian[..dim * dim]);
                r += dim;
                continue;
            }
        }
        // Rows of a cone that is not on its surface count one by one; those of the same dofs are added at once.
        let (first, dofs) = (r, rows.row(r).0);
        let mut weights = [0.0; GROUP];
        while r < rows.len()
            && r - first < GROUP
            && (r == first || rows.cone_at(next, r).is_none() && rows.row(r).0 == dofs)
        {
            weights[r - first] = curvature(rows, zone[r], r, x[r]);
            r += 1;
        }
        h.add_rows(rows, first, &weights[..r - first]);
    }
}
