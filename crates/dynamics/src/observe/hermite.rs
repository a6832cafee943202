//! The motion between two steps.

/// Fraction of a step by which rounding may put a time on a step outside the interval.
pub(super) const EDGE: f64 = 1e-7;

/// Weights that make a state inside an interval of the states at its ends, and their rates.
///
/// Positions follow the cubic Hermite polynomial of (x₀, v₀, x₁, v₁): C¹ across steps.
/// Velocities run straight from v₀ to v₁, whose rate is the mean acceleration of the step. The
/// derivative of the polynomial would not do: after a step of semi-implicit Euler
/// (x₁ = x₀ + h v₁) its own rate runs from four times the acceleration to minus twice, and with
/// samples on the steps the derivative of a velocity by a time offset would be four times too
/// large.
///
/// Outside the interval (before the start of a run, or after its end) the motion goes on
/// uniformly: C¹, and at rest where the run starts at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Blend {
    /// Position: weights of x₀, v₀, x₁, v₁.
    pub x: [f64; 4],
    /// Velocity: weights of v₀, v₁.
    pub v: [f64; 2],
    /// Rate of `x` in time.
    pub x_rate: [f64; 4],
    /// Rate of `v` in time.
    pub v_rate: [f64; 2],
}

impl Blend {
    /// At `tau` seconds after the start of an interval of length `h`.
    pub fn new(h: f64, tau: f64) -> Self {
        let s = tau / h;
        if s < -EDGE {
            return Self {
                x: [1.0, tau, 0.0, 0.0],
                v: [1.0, 0.0],
                x_rate: [0.0, 1.0, 0.0, 0.0],
                v_rate: [0.0; 2],
            };
        }
        if s > 1.0 + EDGE {
            return Self {
                x: [0.0, 0.0, 1.0, tau - h],
                v: [0.0, 1.0],
                x_rate: [0.0, 0.0, 0.0, 1.0],
                v_rate: [0.0; 2],
            };
        }
        let r = 1.0 - s;
        let slope = 6.0 * s * r / h;
        Self {
            x: [(1.0 + 2.0 * s) * r * r, s * r * r * h, s * s * (3.0 - 2.0 * s), -s * s * r * h],
            v: [r, s],
            x_rate: [-slope, r * (1.0 - 3.0 * s), slope, s * (3.0 * s - 2.0)],
            v_rate: [-1.0 / h, 1.0 / h],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_and_their_slopes_are_exact() {
        let (h, [a, b, c, d]) = (0.3, [0.7, -1.1, 2.3, 0.9]);
        let x = |t: f64| a + t * (b + t * (c + t * d));
        let v = |t: f64| b + t * (2.0 * c + 3.0 * d * t);
        for i in 0..=20 {
            let t = h * f64::from(i) / 20.0;
            let blend = Blend::new(h, t);
            let ends = [x(0.0), v(0.0), x(h), v(h)];
            let mix =
                |w: &[f64; 4]| -> f64 { w.iter().zip(&ends).map(|(w, e)| w * e).sum::<f64>() };
            assert!((mix(&blend.x) - x(t)).abs() < 1e-14);
            assert!((mix(&blend.x_rate) - v(t)).abs() < 1e-13);
        }
    }

    #[test]
    fn velocities_of_quadratics_are_exact() {
        let (h, v0, acceleration) = (0.3, 0.4, -2.0);
        let blend = Blend::new(h, 0.1);
        let v1 = v0 + h * acceleration;
        assert!((blend.v[0] * v0 + blend.v[1] * v1 - (v0 + 0.1 * acceleration)).abs() < 1e-15);
        assert!((blend.v_rate[0] * v0 + blend.v_rate[1] * v1 - acceleration).abs() < 1e-13);
    }

    #[test]
    fn the_motion_goes_on_smoothly_outside() {
        let (h, ends) = (0.3, [0.7, -1.1, 2.3, 0.9]);
        let at = |tau: f64| {
            let b = Blend::new(h, tau);
            let mix = |w: &[f64; 4]| w.iter().zip(&ends).map(|(w, e)| w * e).sum::<f64>();
            [mix(&b.x), mix(&b.x_rate), b.v[0] * ends[1] + b.v[1] * ends[3]]
        };
        for edge in [0.0, h] {
            let (before, after) = (at(edge - 1e-7), at(edge + 1e-7));
            for k in 0..3 {
                assert!((before[k] - after[k]).abs() < 1e-4, "{before:?} {after:?}");
            }
        }
        assert_eq!(at(-1.0)[0], 0.7 + 1.1);
        assert_eq!(at(-1.0)[1], -1.1);
    }
}
