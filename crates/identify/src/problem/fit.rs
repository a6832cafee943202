//! The residuals of the fitted recordings as a least-squares problem, and the gradient of their
//! cost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use costate_dynamics::DynamicsError;
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::bind::Problem;
use super::recording::Growth;
use crate::least_squares::{Block, Failed, LeastSquares, Loss, Structure};

/// The fit of a [`Problem`] with given noise.
pub struct FitProblem<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// σ of every sample, per fitted recording.
    pub sigma: Vec<Vec<f64>>,
    bounds: Vec<(f64, f64)>,
    limits: Vec<f64>,
    floors: Vec<f64>,
    data_norm2: f64,
    interrupt: Option<&'a AtomicBool>,
    runs: AtomicUsize,
}

/// The cost, its gradient in p, and the gradient by the values of the unknowns.
#[derive(Clone, Debug)]
pub struct CostGradient {
    /// Half the summed loss, priors included.
    pub cost: f64,
    /// By p.
    pub gradient: Vec<f64>,
}

pub(super) fn failed(e: &DynamicsError) -> Failed {
    match e {
        DynamicsError::Interrupted => Failed::Interrupted,
        other => Failed::Rejected(other.to_string()),
    }
}

impl<'a> FitProblem<'a> {
    /// A fit with σ per sample of every fitted recording.
    pub fn new(
        problem: &'a Problem,
        sigma: Vec<Vec<f64>>,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        let mut data_norm2 = 0.0;
        for (&r, sigma) in problem.fitted.iter().zip(&sigma) {
            for (value, sigma) in problem.recordings[r].measured.iter().zip(sigma) {
                data_norm2 += (value / sigma).powi(2);
            }
        }
        let unknowns = &problem.unknowns;
        Self {
            problem,
            sigma,
            bounds: unknowns.iter().map(|u| u.bounds).collect(),
            limits: unknowns.iter().map(|u| u.transform.step_limit()).collect(),
            floors: unknowns.iter().map(|u| u.floor()).collect(),
            data_norm2,
            interrupt,
            runs: AtomicUsize::new(0),
        }
    }

    /// What stops it.
    pub(crate) fn interrupt(&self) -> Option<&'a AtomicBool> {
        self.interrupt
    }

    /// Simulations of a recording so far (derivatives along count as one).
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// Cost and gradient by one adjoint sweep per recording.
    ///
    /// # Errors
    /// A trial that cannot be evaluated, or an interrupt.
    pub fn cost_gradient(&self, p: &[f64]) -> Result<CostGradient, Failed> {
        let problem = self.problem;
        let loss = problem.method.loss;
        let share = problem.method.memory / rayon::current_num_threads().max(1);
        let parts: Result<Vec<(f64, Vec<f64>)>, Failed> = problem
            .fitted
            .par_iter()
            .enumerate()
            .map(|(b, &r)| {
                let recording = &problem.recordings[r];
                let sigma = &self.sigma[b];
                self.runs.fetch_add(1, Ordering::Relaxed);
                recording
                    .gradient(
                        &problem.system,
                        &problem.unknowns,
                        p,
                        self.interrupt,
                        share,
                        &mut |y| {
                            let mut cost = 0.0;
                            let bar = (0..y.len())
                                .map(|i| {
                                    let r = recording.difference(i, y[i]) / sigma[i];
                                    cost += 0.5 * loss.value(r * r);
                                    loss.weight(r * r) * r / sigma[i]
                                })
                                .collect();
                            (cost, bar)
                        },
                    )
                    .map_err(|e| failed(&e))
            })
            .collect();
        let mut total = CostGradient { cost: 0.0, gradient: vec![0.0; p.len()] };
        for ((cost, bars), &r) in parts?.into_iter().zip(&problem.fitted) {
            total.cost += cost;
            for (link, bar) in problem.recordings[r].links.iter().zip(bars) {
                total.gradient[link.unknown] += bar;
            }
        }
        for (i, r, slope) in problem.priors(0..p.len(), p) {
            total.cost += 0.5 * r * r;
            total.gradient[i] += r * slope;
        }
        Ok(total)
    }

    /// As [`LeastSquares::linearise`], with the growth of tangents per recording.
    pub(crate) fn linearise_with_growth(
        &self,
        p: &[f64],
    ) -> Result<(Vec<Block>, Vec<Growth>), Failed> {
        let problem = self.problem;
        let method = &problem.method;
        let share = method.memory / rayon::current_num_threads().max(1);
        let parts: Result<Vec<_>, Failed> = problem
            .fitted
            .par_iter()
            .enumerate()
            .map(|(b, &r)| {
                self.runs.fetch_add(1, Ordering::Relaxed);
                let recording = &problem.recordings[r];
                let found = recording
                    .linearise(
                        &problem.system,
                        &problem.unknowns,
                        p,
                        self.interrupt,
                        method.derivatives,
                        share,
                    )
                    .map_err(|e| failed(&e))?;
                Ok((self.block(b, r, p, &found.y, &found.jacobian), found.growth))
            })
            .collect();
        let (mut blocks, growth): (Vec<Block>, Vec<_>) = parts?.into_iter().unzip();
        blocks.push(problem.shared_priors(p));
        if blocks.iter().all(|b| b.residuals.iter().all(|r| r.is_finite())) {
            Ok((blocks, growth))
        } else {
            Err(Failed::Rejected("a residual is not finite: a predicted or measured value, or a value over its σ, is too \
                 large"
                    .into()))
        }
    }

    fn block(&self, b: usize, r: usize, p: &[f64], y: &[f64], by_link: &DMatrix<f64>) -> Block {
        let mut scaled = by_link.clone();
        for (i, sigma) in self.sigma[b].iter().enumerate() {
            scaled.row_mut(i).unscale_mut(*sigma);
        }
        self.problem.block(b, p, self.whitened(b, r, y), &scaled)
    }

    fn whitened(&self, b: usize, r: usize, y: &[f64]) -> Vec<f64> {
        let recording = &self.problem.recordings[r];
        y.iter().enumerate().map(|(i, &y)| recording.difference(i, y) / self.sigma[b][i]).collect()
    }
}

impl LeastSquares for FitProblem<'_> {
    fn structure(&self) -> &Structure {
        &self.problem.structure
    }
    fn bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }
    fn step_limits(&self) -> &[f64] {
        &self.limits
    }
    fn floors(&self) -> &[f64] {
        &self.floors
    }
    fn loss(&self) -> Loss {
        self.problem.method.loss
    }
    fn data_norm2(&self) -> f64 {
        self.data_norm2
    }
    fn residuals(&self, p: &[f64]) -> Result<Vec<(Vec<f64>, usize)>, Failed> {
        let problem = self.problem;
        let parts: Result<Vec<_>, Failed> = problem
            .fitted
            .par_iter()
            .enumerate()
            .map(|(b, &r)| {
                self.runs.fetch_add(1, Ordering::Relaxed);
                let y = problem.recordings[r]
                    .predict(&problem.system, &problem.unknowns, p, self.interrupt, true)
                    .map_err(|e| failed(&e))?;
                Ok(problem.with_priors(b, p, self.whitened(b, r, &y)))
            })
            .collect();
        let mut parts = parts?;
        let shared = problem.shared_priors(p);
        parts.push((shared.residuals, shared.priors));
        Ok(parts)
    }
    fn linearise(&self, p: &[f64]) -> Result<Vec<Block>, Failed> {
        Ok(self.linearise_with_growth(p)?.0)
    }
}
