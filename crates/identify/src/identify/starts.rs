//! Several starts, and how rough the cost is around the first.

use crate::experiment::MultiStart;
use crate::least_squares::LeastSquares;
use crate::problem::{FitProblem, Problem};
use crate::random::Random;

/// Start number `k`: the given one first, then draws uniform in p (log-uniform in values under a
/// logarithm) within finite bounds, or within the spread around the start.
pub(super) fn start(problem: &Problem, settings: &MultiStart, k: usize) -> Vec<f64> {
    let mut random = Random::new(settings.seed.wrapping_add(k as u64).wrapping_mul(0x5851_f42d));
    problem
        .unknowns
        .iter()
        .map(|u| {
            let draw = random.uniform();
            if k == 0 {
                return u.start;
            }
            let (mut lower, mut upper) = u.bounds;
            let reach = if u.transform.is_identity() {
                u.start.abs().max(u.floor()) * (settings.spread - 1.0).max(0.0)
            } else {
                settings.spread.ln()
            };
            // Bounds that the user set are finite; those of a quantity as such may be far off.
            if !(lower.is_finite() && upper.is_finite()) || upper - lower > 4.0 * reach {
                lower = lower.max(u.start - reach);
                upper = upper.min(u.start + reach);
            }
            lower + draw * (upper - lower)
        })
        .collect()
}

/// Scans only so many unknowns, at so many points, so far in relative terms.
const SCANNED: usize = 4;
const POINTS: usize = 61;
const REACH: f64 = 0.3;

/// Turning points of the cost along each unknown within 30 % of the start.
pub(super) fn turning_points(fit: &FitProblem, p: &[f64]) -> Vec<(String, usize)> {
    let unknowns = &fit.problem.unknowns;
    if unknowns.len() > SCANNED {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (i, unknown) in unknowns.iter().enumerate() {
        let value = unknown.transform.value(p[i]);
        let mut costs = Vec::new();
        for k in 0..POINTS {
            let factor = 1.0 + REACH * (2.0 * k as f64 / (POINTS - 1) as f64 - 1.0);
            let mut trial = p.to_vec();
            trial[i] = unknown.transform.inverse(value * factor);
            let inside = trial[i] >= unknown.bounds.0 && trial[i] <= unknown.bounds.1;
            if inside && let Ok(parts) = fit.residuals(&trial) {
                costs.push(parts.iter().map(|(r, n)| fit.loss().cost(r, *n)).sum::<f64>());
            }
        }
        let turns = costs
            .windows(3)
            .filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0 && (w[1] - w[0]).abs() > 1e-9 * w[1])
            .count();
        out.push((unknown.name.clone(), turns));
    }
    out
}

/// Above so many turning points within 30 % a cost is called rough.
pub(super) const ROUGH: usize = 3;
