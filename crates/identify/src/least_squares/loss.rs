//! Robust losses ρ(s) of the squared whitened residual s = r².

use serde::{Deserialize, Serialize};

/// How much a residual costs; `scale` is in units of σ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// ρ = s: least squares.
    #[default]
    Squares,
    /// Huber: squares within `scale`, linear beyond.
    Huber(f64),
    /// Cauchy: ρ = c² ln(1 + s/c²); outliers hardly count.
    Cauchy(f64),
}

impl Loss {
    /// ρ(s).
    pub fn value(self, s: f64) -> f64 {
        match self {
            Self::Squares => s,
            Self::Huber(c) => {
                if s <= c * c {
                    s
                } else {
                    2.0 * c * s.sqrt() - c * c
                }
            }
            Self::Cauchy(c) => c * c * (s / (c * c)).ln_1p(),
        }
    }
    /// ρ′(s): the weight of the residual in the normal equations.
    pub fn weight(self, s: f64) -> f64 {
        match self {
            Self::Squares => 1.0,
            Self::Huber(c) => {
                if s <= c * c {
                    1.0
                } else {
                    c / s.sqrt()
                }
            }
            Self::Cauchy(c) => 1.0 / (1.0 + s / (c * c)),
        }
    }
    /// Derivative of ψ(r) = r ρ′(r²), which the scale of the covariance of a robust fit needs.
    pub fn curvature(self, s: f64) -> f64 {
        match self {
            Self::Squares => 1.0,
            Self::Huber(c) => f64::from(u8::from(s <= c * c)),
            Self::Cauchy(c) => {
                let u = s / (c * c);
                (1.0 - u) / ((1.0 + u) * (1.0 + u))
            }
        }
    }
    /// Half the summed loss of residuals of which the last `priors` count in full.
    pub fn cost(self, residuals: &[f64], priors: usize) -> f64 {
        let data = residuals.len() - priors;
        let robust: f64 = residuals[..data].iter().map(|r| self.value(r * r)).sum();
        let plain: f64 = residuals[data..].iter().map(|r| r * r).sum();
        0.5 * (robust + plain)
    }
}
