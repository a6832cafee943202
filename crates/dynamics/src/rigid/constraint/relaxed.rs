//! Contact penalties relaxed over a width, for derivatives that see a contact before it is made.
//!
//! A row's force obeys f (x + f/D) = D w²/4 instead of f ≥ 0, x + f/D ≥ 0, f (x + f/D) = 0: the point of
//! the central path of an interior-point method, with f = −D (x − √(x² + w²))/2 in closed form
//! (Howell et al., Dojo, 2022; Pang et al., Global planning for contact-rich manipulation via local smoothing
//! of quasi-dynamic contact models, 2023). It pushes at any distance, falls off as w²/x, and is the
//! row's own penalty where w is zero.
//!
//! The penalty of an elliptic cone is D₀/(2 μ²) times the squared distance of (N, T) from the cone N ≥ μ T. In
//! p = (N − μ T)/e and q = (N + T/μ)/e, e² = 1 + μ², that is min(0, p)² + μ² min(0, q)², each term of which is
//! relaxed over the width μ w/e: where T is zero the relaxed penalty is that of a row without friction, and its
//! derivative by T vanishes, so that it is smooth there too.

use costate_num::{DualN, Scalar};

use super::law::MAX_DIM;
use super::rows::Cone;

/// min(0, x) relaxed over a width > 0, and √(x² + w²).
#[inline(always)]
fn soft<S: Scalar>(x: S, width: S) -> (S, S) {
    let root = (x * x + width * width).sqrt();
    let above = x.gt(S::zero());
    // The difference cancels far above; what is not chosen must not divide by zero.
    let sum = S::select(above, x + root, S::one());
    (S::select(above, -(width * width) / sum, x - root).scale(0.5), root)
}

/// ∫ 2 soft, but for a constant.
fn soft_integral(x: f64, width: f64) -> f64 {
    let root = (x * x + width * width).sqrt();
    let log = if x > 0.0 { (x + root).ln() } else { (width * width / (root - x)).ln() };
    0.5 * (x * x - x * root - width * width * log)
}

/// Force of a row.
pub(super) fn force(mass: f64, width: f64, x: f64) -> f64 {
    -mass * soft(x, width).0
}

/// Second derivative of a row's penalty.
pub(super) fn curvature(mass: f64, width: f64, x: f64) -> f64 {
    let (soft, root) = soft(x, width);
    -mass * soft / root
}

/// Derivatives of a row's force by its mass and width.
pub(super) fn by_parameters(mass: f64, width: f64, x: f64) -> (f64, f64) {
    let (soft, root) = soft(x, width);
    (-soft, 0.5 * mass * width / root)
}

/// The penalty of a row, but for a constant.
pub(super) fn cost(mass: f64, width: f64, x: f64) -> f64 {
    0.5 * mass * soft_integral(x, width)
}

/// What a cone's relaxed penalty is a function of.
#[derive(Clone, Copy)]
struct Parameters<S> {
    mass: S,
    width: S,
    mu: S,
    friction: [S; 5],
}

/// p, q, their width and T² of a cone.
struct Polar<S> {
    p: S,
    q: S,
    width: S,
    e: S,
}

impl<S: Scalar> Parameters<S> {
    fn polar(&self, x: &[S]) -> Polar<S> {
        let mut squared = S::zero();
        for (mu, x) in self.friction.iter().zip(&x[1..]) {
            let u = *mu * *x;
            squared += u * u;
        }
        // T has no derivative at zero, and the penalty's by it is zero there.
        let still = squared.equals(S::zero());
        let t = S::select(still, S::zero(), S::select(still, S::one(), squared).sqrt());
        let normal = self.mu * x[0];
        let e = (S::one() + self.mu * self.mu).sqrt();
        Polar {
            p: (normal - self.mu * t) / e,
            q: (normal + t / self.mu) / e,
            width: self.mu * self.width / e,
            e,
        }
    }

    fn forces(&self, x: &[S]) -> [S; MAX_DIM] {
        let Polar { p, q, width, e } = self.polar(x);
        let ((of_p, root_p), (of_q, root_q)) = (soft(p, width), soft(q, width));
        let k = self.mass / (self.mu * self.mu);
        let mut out = [S::zero(); MAX_DIM];
        out[0] = -(self.mass / (self.mu * e)) * (of_p + self.mu * self.mu * of_q);
        // The derivative by T over T, as a sum that does not cancel.
        let along = k * (of_p + of_q) / (root_p + root_q);
        for (j, mu) in self.friction.iter().enumerate().take(x.len() - 1) {
            out[j + 1] = *mu * *mu * x[j + 1] * along;
        }
        out
    }
}

/// Numbers of a cone as constants.
fn constant<S: Scalar>(cone: &Cone, mass: f64, width: f64) -> Parameters<S> {
    Parameters {
        mass: S::splat(mass),
        width: S::splat(width),
        mu: S::splat(cone.mu),
        friction: cone.friction.map(S::splat),
    }
}

impl Cone<f64> {
    /// Relaxed forces at `x`.
    pub(super) fn relaxed_force(&self, mass: f64, width: f64, x: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&constant(self, mass, width).forces(x)[..self.dim]);
    }

    /// Second derivatives of the relaxed penalty, row-major, `dim` × `dim`.
    pub(super) fn relaxed_hessian(
        &self,
        mass: f64,
        width: f64,
        x: &[f64],
        out: &mut [f64; MAX_DIM * MAX_DIM],
    ) {
        type D = DualN<f64, MAX_DIM>;
        let n = self.dim;
        let mut at = [D::zero(); MAX_DIM];
        for j in 0..n {
            at[j] = D::variable(x[j], j);
        }
        let forces = constant::<D>(self, mass, width).forces(&at[..n]);
        for j in 0..n {
            for k in 0..n {
                // Symmetric in theory; the solver takes one triangle.
                out[j * n + k] = -0.5 * (forces[j].tangent[k] + forces[k].tangent[j]);
            }
        }
    }

    /// First and second derivative of the relaxed penalty along `p`, at `at`.
    pub(super) fn relaxed_slope(&self, mass: f64, width: f64, at: &[f64], p: &[f64]) -> (f64, f64) {
        type D = DualN<f64, 1>;
        let mut x = [D::zero(); MAX_DIM];
        for j in 0..self.dim {
            x[j] = D { value: at[j], tangent: [p[j]] };
        }
        let forces = constant::<D>(self, mass, width).forces(&x[..self.dim]);
        let (mut first, mut second) = (0.0, 0.0);
        for j in 0..self.dim {
            first -= forces[j].value * p[j];
            second -= forces[j].tangent[0] * p[j];
        }
        (first, second)
    }

    /// The relaxed penalty, but for a constant.
    pub(super) fn relaxed_cost(&self, mass: f64, width: f64, x: &[f64]) -> f64 {
        let Polar { p, q, width, .. } = constant::<f64>(self, mass, width).polar(&x[..self.dim]);
        let squared = self.mu * self.mu;
        let sum = soft_integral(p, width) + squared * soft_integral(q, width);
        0.5 * mass / squared * sum
    }

    /// Derivatives of the relaxed forces by mass, width, μ and the coefficients: lanes in this order.
    pub(super) fn relaxed_by_parameters(
        &self,
        mass: f64,
        width: f64,
        x: &[f64],
    ) -> [DualN<f64, 8>; MAX_DIM] {
        type D = DualN<f64, 8>;
        let parameters = Parameters {
            mass: D::variable(mass, 0),
            width: D::variable(width, 1),
            mu: D::variable(self.mu, 2),
            friction: std::array::from_fn(|k| D::variable(self.friction[k], 3 + k)),
        };
        let mut at = [D::zero(); MAX_DIM];
        for j in 0..self.dim {
            at[j] = D::constant(x[j]);
        }
        parameters.forces(&at[..self.dim])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cone() -> Cone {
        Cone { row: 0, dim: 4, mu: 0.7, friction: [0.7, 0.5, 0.02, 0.0, 0.0] }
    }

    #[test]
    fn forces_are_those_of_the_central_path() {
        for x in [-300.0, -1.0, -1e-3, 0.0, 1e-3, 2.0, 1e6] {
            let (mass, width) = (3.0, 0.4);
            let f = force(mass, width, x);
            let both = f * (x + f / mass);
            assert!((both - mass * width * width / 4.0).abs() < 1e-12 * (1.0 + f.abs()), "{x}");
            let h = 1e-4 * (1.0 + x.abs());
            let slope = (cost(mass, width, x + h) - cost(mass, width, x - h)) / (2.0 * h);
            assert!((slope + f).abs() < 1e-6 * (1.0 + f), "{x}: {slope} for {f}");
            let bend = (force(mass, width, x - h) - force(mass, width, x + h)) / (2.0 * h);
            let found = curvature(mass, width, x);
            assert!((bend - found).abs() < 1e-5 * (1.0 + found), "{x}: {bend} for {found}");
        }
    }

    /// Forces of a cone are the gradient of its penalty, and without width those of the hard cone.
    #[test]
    fn forces_of_cones_are_gradients() {
        let cone = cone();
        let mass = [5.0, 5.0, 5.0 * 0.25 / 0.49, 5.0 * 4e-4 / 0.49];
        for x in [
            [-1.0, 0.1, 0.2, 0.3],
            [-1.0, 2.0, -1.0, 3.0],
            [2.0, 0.3, 0.1, -4.0],
            [-0.5, 0.0, 0.0, 0.0],
            [1.0, 1e-9, 0.0, 0.0],
        ] {
            for width in [0.3, 1e-9] {
                let mut f = [0.0; 4];
                cone.relaxed_force(mass[0], width, &x, &mut f);
                for j in 0..4 {
                    let moved = |h: f64| {
                        let mut x = x;
                        x[j] += h;
                        cone.relaxed_cost(mass[0], width, &x)
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    assert!((slope + f[j]).abs() < 1e-6, "{x:?} {j}: {slope} for {}", f[j]);
                }
                if width < 1e-6 {
                    let mut hard = [0.0; 4];
                    cone.force(&mass, &x, &mut hard);
                    for j in 0..4 {
                        assert!((f[j] - hard[j]).abs() < 1e-7, "{x:?} {j}: {} {}", f[j], hard[j]);
                    }
                }
            }
        }
    }

    /// Curvatures, slopes and derivatives by parameters are those of the forces; where the cone's T is
    /// zero as well.
    #[test]
    fn derivatives_of_cones_agree_with_differences() {
        let (mass, width) = (5.0, 0.3);
        for x in [[-1.0, 0.1, 0.2, 0.3], [2.0, 0.3, 0.1, -4.0], [-0.5, 0.0, 0.0, 0.0]] {
            let mut hessian = [0.0; MAX_DIM * MAX_DIM];
            cone().relaxed_hessian(mass, width, &x, &mut hessian);
            let forces = |cone: Cone, mass: f64, width: f64, x: [f64; 4]| {
                let mut f = [0.0; 4];
                cone.relaxed_force(mass, width, &x, &mut f);
                f
            };
            let h = 1e-6;
            let along = [0.3, -0.2, 0.5, 0.1];
            let (mut first, mut second) = (0.0, 0.0);
            for k in 0..4 {
                let at = |h: f64| {
                    let mut x = x;
                    x[k] += h;
                    forces(cone(), mass, width, x)
                };
                let (plus, minus) = (at(h), at(-h));
                for j in 0..4 {
                    let wanted = (minus[j] - plus[j]) / (2.0 * h);
                    let got = hessian[4 * j + k];
                    assert!((wanted - got).abs() < 1e-6, "{x:?} {j} {k}: {got} for {wanted}");
                    second += along[j] * along[k] * got;
                }
                first -= along[k] * at(0.0)[k];
            }
            let got = cone().relaxed_slope(mass, width, &x, &along);
            assert!((got.0 - first).abs() < 1e-12 && (got.1 - second).abs() < 1e-12);
            let by = cone().relaxed_by_parameters(mass, width, &x);
            for lane in 0..6 {
                let at = |h: f64| {
                    let (mut cone, mut mass, mut width) = (cone(), mass, width);
                    match lane {
                        0 => mass += h,
                        1 => width += h,
                        2 => cone.mu += h,
                        k => cone.friction[k - 3] += h,
                    }
                    forces(cone, mass, width, x)
                };
                let (plus, minus) = (at(h), at(-h));
                for j in 0..4 {
                    let wanted = (plus[j] - minus[j]) / (2.0 * h);
                    assert!((by[j].tangent[lane] - wanted).abs() < 1e-6, "{x:?} {j} {lane}");
                }
            }
        }
    }
}
