//! Correlation of residuals in time.
//!
//! Residuals of real data are rarely independent: what the model leaves out changes slowly. An
//! autoregressive model fitted to them (Burg's method, order by the Bayesian information
//! criterion) says how many independent numbers they are worth.

/// An autoregressive model r(t) = Σ aₖ r(t − k) + noise.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoRegression {
    /// a₁, a₂, …; empty for white residuals.
    pub coefficients: Vec<f64>,
    /// Autocovariance over variance at lags 0, 1, …, up to where it has died out.
    pub correlation: Vec<f64>,
}

/// Fewer residuals than this say nothing about their correlation.
const MIN_SAMPLES: usize = 20;
/// Highest order tried.
const MAX_ORDER: usize = 8;
/// Correlations below this are over.
const OVER: f64 = 1e-3;

impl AutoRegression {
    /// Fits the series; residuals keep their mean, which a model that is right makes zero.
    pub fn fit(series: &[f64]) -> Self {
        let n = series.len();
        let power = series.iter().map(|r| r * r).sum::<f64>() / n.max(1) as f64;
        let white = Self { coefficients: vec![], correlation: vec![1.0] };
        if n < MIN_SAMPLES || power == 0.0 || !power.is_finite() {
            return white;
        }
        let (mut forward, mut backward) = (series.to_vec(), series.to_vec());
        let mut a: Vec<f64> = vec![];
        let mut variance = power;
        let criterion =
            |variance: f64, k: usize| n as f64 * variance.ln() + k as f64 * (n as f64).ln();
        let mut best = (criterion(variance, 0), vec![]);
        for order in 1..=MAX_ORDER.min(n / 10) {
            let (mut cross, mut square) = (0.0, 0.0);
            for t in order..n {
                cross += forward[t] * backward[t - 1];
                square += forward[t] * forward[t] + backward[t - 1] * backward[t - 1];
            }
            if square == 0.0 {
                break;
            }
            let k = 2.0 * cross / square;
            let mut next = a.clone();
            for (i, value) in next.iter_mut().enumerate() {
                *value = a[i] - k * a[order - 2 - i];
            }
            next.push(k);
            a = next;
            for t in (order..n).rev() {
                let (f, b) = (forward[t], backward[t - 1]);
                forward[t] = f - k * b;
                backward[t] = b - k * f;
            }
            variance *= 1.0 - k * k;
            if variance <= power * 1e-12 {
                break;
            }
            let value = criterion(variance, order);
            if value < best.0 {
                best = (value, a.clone());
            }
        }
        let coefficients = best.1;
        let correlation = correlation(&coefficients, n);
        Self { coefficients, correlation }
    }

    /// Whether successive residuals are independent as far as can be told.
    pub fn is_white(&self) -> bool {
        self.coefficients.is_empty()
    }
}

/// The autocorrelation that the coefficients imply, by solving the Yule-Walker equations for the
/// first lags and running the recursion for the rest.
fn correlation(a: &[f64], n: usize) -> Vec<f64> {
    let order = a.len();
    if order == 0 {
        return vec![1.0];
    }
    // ρ(k) = Σ aᵢ ρ(|k − i|) for k = 1 … order, with ρ(0) = 1.
    let mut matrix = nalgebra::DMatrix::<f64>::identity(order, order);
    let mut rhs = nalgebra::DVector::<f64>::zeros(order);
    for k in 1..=order {
        for (i, &ai) in a.iter().enumerate() {
            let lag = k.abs_diff(i + 1);
            if lag == 0 {
                rhs[k - 1] += ai;
            } else {
                matrix[(k - 1, lag - 1)] -= ai;
            }
        }
    }
    let Some(first) = matrix.lu().solve(&rhs) else { return vec![1.0] };
    let mut rho = vec![1.0];
    rho.extend(first.iter());
    while rho.len() < n {
        let k = rho.len();
        let next: f64 = a.iter().enumerate().map(|(i, ai)| ai * rho[k - 1 - i]).sum();
        rho.push(next);
        if rho[k + 1 - order.max(2).min(k)..].iter().all(|r| r.abs() < OVER) {
            break;
        }
    }
    rho
}

/// Correlation of successive values; 0 for fewer than three.
pub fn lag_one(series: &[f64]) -> f64 {
    let square: f64 = series.iter().map(|r| r * r).sum();
    if series.len() < 3 || square == 0.0 {
        return 0.0;
    }
    series.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / square
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_first_order_process_is_recognised() {
        let mut random = Random::new(7);
        let mut r = 0.0;
        let series: Vec<f64> = (0..4000)
            .map(|_| {
                r = 0.8 * r + random.normal();
                r
            })
            .collect();
        let model = AutoRegression::fit(&series);
        assert!((model.coefficients[0] - 0.8).abs() < 0.05, "{:?}", model.coefficients);
        let sum: f64 = 1.0 + 2.0 * model.correlation[1..].iter().sum::<f64>();
        assert!((sum / 9.0 - 1.0).abs() < 0.35, "{sum}");
        assert!((lag_one(&series) - 0.8).abs() < 0.05);
    }

    #[test]
    fn white_noise_stays_white() {
        let mut random = Random::new(3);
        let white = (0..50).filter(|_| {
            let series: Vec<f64> = (0..200).map(|_| random.normal()).collect();
            AutoRegression::fit(&series).is_white()
        });
        assert!(white.count() >= 44);
    }

    #[test]
    fn a_ringing_residual_has_an_alternating_correlation() {
        let mut random = Random::new(5);
        let (mut a, mut b) = (0.0, 0.0);
        let series: Vec<f64> = (0..2000)
            .map(|_| {
                let next = 1.5 * a - 0.9 * b + random.normal();
                (a, b) = (next, a);
                next
            })
            .collect();
        let model = AutoRegression::fit(&series);
        assert!((model.coefficients[0] - 1.5).abs() < 0.1);
        assert!((model.correlation[1] - 1.5 / 1.9).abs() < 0.05);
        assert!(model.correlation.iter().any(|r| *r < -0.3));
    }
}
