//! From `solref` and `solimp` to a row's stiffness, damping, impedance and regularisation.
//!
//! MuJoCo's documentation, chapter *Modeling*, section *Solver parameters*; the semantics of 4.0.
//! Everything is generic over [`Scalar`], so that dual lanes give the derivatives. Where a number
//! is outside its range it is clamped and has derivative zero; on the end of the range it has
//! the derivative from inside.

use costate_num::Scalar;

/// The smallest regularisation, and the smallest number to divide by.
const SMALLEST: f64 = 1e-15;
/// Range of the impedances d₀ and d_width and of the midpoint.
const IMPEDANCE: (f64, f64) = (1e-4, 0.9999);
/// MuJoCo's default solref, used where one number is positive and the other is not.
const DEFAULT_REFERENCE: [f64; 2] = [0.02, 1.0];

/// The numbers that shape the response of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParameters<S> {
    /// Time constant (s) and damping ratio; or, both ≤ 0, minus stiffness (1/s²) and minus
    /// damping (1/s) of unit mass.
    pub solref: [S; 2],
    /// d₀, d_width, width (m or rad), midpoint, power.
    pub solimp: [S; 5],
}

/// What a row does at its present position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response<S> {
    /// K, 1/s².
    pub stiffness: S,
    /// B, 1/s.
    pub damping: S,
    /// d, between 0 and 1.
    pub impedance: S,
}

impl<S: Scalar> SolverParameters<S> {
    /// Response of a row at `distance` (position less margin; m or rad).
    ///
    /// With `least_time_constant` above zero (two time steps, MuJoCo's `refsafe`) a positive time
    /// constant is at least that.
    #[inline(always)]
    pub fn response(&self, distance: S, least_time_constant: S) -> Response<S> {
        let (stiffness, damping) = self.stiffness_damping(least_time_constant);
        Response { stiffness, damping, impedance: self.impedance(distance) }
    }

    /// K and B.
    #[inline(always)]
    pub fn stiffness_damping(&self, least_time_constant: S) -> (S, S) {
        let zero = S::zero();
        let [first, second] = self.solref;
        let (positive, second_positive) = (first.gt(zero), second.gt(zero));
        let mixed = (positive & !second_positive) | (second_positive & !positive);
        let first = S::select(mixed, S::splat(DEFAULT_REFERENCE[0]), first);
        let second = S::select(mixed, S::splat(DEFAULT_REFERENCE[1]), second);
        let standard = first.gt(zero);
        // The branch that is not taken is fed ones, so that it stays finite.
        let time = S::select(standard, first.max(least_time_constant), S::one());
        let ratio = S::select(standard, second, S::one());
        let width = clamp(self.solimp[1], IMPEDANCE);
        let smallest = S::splat(SMALLEST);
        let stiffness = (width * width * time * time * ratio * ratio).max(smallest).recip();
        let damping = S::splat(2.0) / (width * time).max(smallest);
        (
            S::select(standard, stiffness, -first / (width * width)),
            S::select(standard, damping, -second / width),
        )
    }

    /// The impedance d at `distance`; even in it.
    #[inline(always)]
    pub fn impedance(&self, distance: S) -> S {
        let (one, zero) = (S::one(), S::zero());
        let start = clamp(self.solimp[0], IMPEDANCE);
        let end = clamp(self.solimp[1], IMPEDANCE);
        let width = self.solimp[2].max(zero);
        let middle = clamp(self.solimp[3], IMPEDANCE);
        let power = self.solimp[4].max(one);
        let flat = width.le(S::splat(SMALLEST));
        let x = distance.abs() / S::select(flat, one, width);
        let at_start = x.le(zero);
        let at_end = x.ge(one);
        let between = !(at_start | at_end);
        let x = S::select(between, x, S::splat(0.5));
        // y = x^p / m^(p−1) up to the midpoint m, point-symmetric to it beyond.
        let first_half = x.le(middle);
        let u = S::select(first_half, x, one - x);
        let m = S::select(first_half, middle, one - middle);
        let y = m * (power * (u / m).ln()).exp();
        let y = S::select(first_half, y, one - y);
        let between_value = start + y * (end - start);
        let value = S::select(at_end, end, S::select(at_start, start, between_value));
        S::select(flat, (start + end) * S::splat(0.5), value)
    }
}

/// R = max(1e-15, (1 − d)/d · diagonal), from the impedance and the (approximate) diagonal entry
/// of J M⁻¹ Jᵀ.
#[inline(always)]
pub fn regularisation<S: Scalar>(impedance: S, diagonal: S) -> S {
    ((S::one() - impedance) * diagonal / impedance).max(S::splat(SMALLEST))
}

/// a_ref = −B v − K d (position − margin).
#[inline(always)]
pub fn reference_acceleration<S: Scalar>(response: Response<S>, velocity: S, distance: S) -> S {
    -(response.damping * velocity) - response.stiffness * response.impedance * distance
}

#[inline(always)]
fn clamp<S: Scalar>(x: S, range: (f64, f64)) -> S {
    x.max(S::splat(range.0)).min(S::splat(range.1))
}
