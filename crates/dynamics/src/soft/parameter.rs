//! Where an element's parameter comes from: a leaf, or a view of leaves.

use std::ops::Range;

/// A parameter of every element of a block as a function of θ.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// The same number for all, not a leaf.
    Constant(f64),
    /// One number per element, or one for all, not leaves.
    Constants(Vec<f64>),
    /// A leaf: one value for all elements or one for each.
    Leaf(Range<usize>),
    /// μ = E / 2(1 + ν).
    ShearModulus {
        /// Young's modulus.
        young: Range<usize>,
        /// Poisson's ratio.
        poisson: Range<usize>,
    },
    /// λ = E ν / (1 + ν)(1 − 2ν).
    LameLambda {
        /// Young's modulus.
        young: Range<usize>,
        /// Poisson's ratio.
        poisson: Range<usize>,
    },
    /// A share of a total: `share[e]` (or `share[0]`) times the leaf.
    Share {
        /// The total.
        total: Range<usize>,
        /// Factor per element, or one for all.
        share: Vec<f64>,
    },
}

fn index(range: &Range<usize>, e: usize) -> usize {
    if range.len() == 1 { range.start } else { range.start + e }
}

impl Parameter {
    /// The parts of θ it depends on.
    pub fn sources(&self) -> Vec<Range<usize>> {
        match self {
            Self::Constant(_) | Self::Constants(_) => vec![],
            Self::Leaf(range) => vec![range.clone()],
            Self::ShearModulus { young, poisson } | Self::LameLambda { young, poisson } => {
                vec![young.clone(), poisson.clone()]
            }
            Self::Share { total, .. } => vec![total.clone()],
        }
    }

    /// Whether it is the same number for all elements, whatever θ.
    pub fn is_uniform(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Constants(values) => values.len() == 1,
            Self::Leaf(range) => range.len() == 1,
            Self::ShearModulus { young, poisson } | Self::LameLambda { young, poisson } => {
                young.len() == 1 && poisson.len() == 1
            }
            Self::Share { share, .. } => share.len() == 1,
        }
    }

    /// Value at element `e`.
    pub fn value(&self, theta: &[f64], e: usize) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Constants(values) => values[if values.len() == 1 { 0 } else { e }],
            Self::Leaf(range) => theta[index(range, e)],
            Self::ShearModulus { young, poisson } => {
                let (young, nu) = (theta[index(young, e)], theta[index(poisson, e)]);
                young / (2.0 * (1.0 + nu))
            }
            Self::LameLambda { young, poisson } => {
                let (young, nu) = (theta[index(young, e)], theta[index(poisson, e)]);
                young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
            }
            Self::Share { total, share } => {
                theta[total.start] * if share.len() == 1 { share[0] } else { share[e] }
            }
        }
    }

    /// Derivatives by the entries of θ it depends on: up to two (index, slope) pairs.
    pub fn slopes(&self, theta: &[f64], e: usize) -> [(usize, f64); 2] {
        match self {
            Self::Constant(_) | Self::Constants(_) => [(0, 0.0); 2],
            Self::Leaf(range) => [(index(range, e), 1.0), (0, 0.0)],
            Self::ShearModulus { young, poisson } => {
                let (iy, ip) = (index(young, e), index(poisson, e));
                let (young, nu) = (theta[iy], theta[ip]);
                let one = 1.0 + nu;
                [(iy, 1.0 / (2.0 * one)), (ip, -young / (2.0 * one * one))]
            }
            Self::LameLambda { young, poisson } => {
                let (iy, ip) = (index(young, e), index(poisson, e));
                let (young, nu) = (theta[iy], theta[ip]);
                let d = (1.0 + nu) * (1.0 - 2.0 * nu);
                [(iy, nu / d), (ip, young * (1.0 + 2.0 * nu * nu) / (d * d))]
            }
            Self::Share { total, share } => {
                [(total.start, if share.len() == 1 { share[0] } else { share[e] }), (0, 0.0)]
            }
        }
    }

    /// Tangent at element `e`.
    pub fn tangent(&self, theta: &[f64], theta_dot: &[f64], e: usize) -> f64 {
        let [(i, a), (j, b)] = self.slopes(theta, e);
        let mut sum = 0.0;
        if a != 0.0 {
            sum += a * theta_dot[i];
        }
        if b != 0.0 {
            sum += b * theta_dot[j];
        }
        sum
    }

    /// Adds the adjoint of element `e`'s value to θ̄.
    pub fn pullback(&self, theta: &[f64], bar: f64, theta_bar: &mut [f64], e: usize) {
        let [(i, a), (j, b)] = self.slopes(theta, e);
        if a != 0.0 {
            theta_bar[i] += a * bar;
        }
        if b != 0.0 {
            theta_bar[j] += b * bar;
        }
    }
}
