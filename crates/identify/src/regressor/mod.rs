//! The linear regressor: forces that a recorded motion needs against those that were measured.
//!
//! Positions are filtered (Butterworth, zero phase), velocities and accelerations are their differences,
//! and the balance of forces M a + c − τ of every sample is a residual. It is linear in masses, moments,
//! inertias, damping, dry friction, armature and offsets, so that least squares finds these at once,
//! without a simulation and from any start. Residuals and their derivatives pass through a low-pass
//! together and are decimated, which keeps them independent where the noise is white ("parallel
//! filtering": M. Gautier, "Dynamic identification of robots with power model", ICRA 1997).
//!
//! Parameters that change the forces in the same way cannot be told apart. Of those, the last in the order of
//! the experiment stay at their start, and the others are base parameters: they hold together with it.

mod dependent;
mod filter;
mod recorded;

use std::sync::atomic::{AtomicBool, Ordering};

use costate_dynamics::{Balance, Motion};
use nalgebra::DMatrix;

use crate::error::IdentifyError;
use crate::least_squares::{
    Block, Failed, LeastSquares, LmOptions, LmState, Loss, Status, Structure, minimise,
};
use crate::problem::Problem;
use crate::uncertainty::Series;
use dependent::dependent;
use filter::LowPass;
use recorded::Recorded;

pub(crate) use dependent::Dependence;

/// Passes over the noise of the forces.
const PASSES: usize = 10;
/// The noise has settled when it changes by no more than this.
const SETTLED: f64 = 0.01;
/// Part of half the decimated sampling frequency that the second filter passes.
const KEPT: f64 = 0.8;

/// Where a regression ended.
pub(crate) struct Regression {
    pub p: Vec<f64>,
    pub status: Status,
    pub cost: f64,
    pub cost_initial: f64,
    pub iterations: usize,
    pub failed_trials: usize,
    pub blocks: Vec<Block>,
    pub series: Vec<Series>,
    /// Unknowns that stay at their start, or lie at a bound.
    pub held: Vec<bool>,
    pub dependences: Vec<Dependence>,
    /// Noise of the force on every joint, and the rms of the force itself.
    pub forces: Vec<(String, f64, f64)>,
}

struct Fit<'a> {
    problem: &'a Problem,
    recorded: Vec<Recorded>,
    decimate: usize,
    dofs: usize,
    /// Noise of the balance of each degree of freedom.
    sigma: Vec<f64>,
    held: Vec<bool>,
    bounds: Vec<(f64, f64)>,
    limits: Vec<f64>,
    floors: Vec<f64>,
    interrupt: Option<&'a AtomicBool>,
}

/// Solves an experiment by its linear regressor.
pub(crate) fn regress(
    problem: &Problem,
    interrupt: Option<&AtomicBool>,
) -> Result<Regression, IdentifyError> {
    let mut recorded = Vec::new();
    for &r in &problem.fitted {
        recorded.push(Recorded::new(problem, &problem.recordings[r], problem.method.cutoff)?);
    }
    let unknowns = &problem.unknowns;
    let dofs = problem.system.dof();
    let mut fit = Fit {
        problem,
        recorded,
        decimate: problem.method.decimate,
        dofs,
        sigma: vec![1.0; dofs],
        held: vec![false; unknowns.len()],
        bounds: unknowns.iter().map(|u| u.bounds).collect(),
        limits: unknowns.iter().map(|u| u.transform.step_limit()).collect(),
        floors: unknowns.iter().map(|u| u.floor()).collect(),
        interrupt,
    };
    // Refuses what the balance does not know, before anything is computed.
    Balance::new(&problem.system)?;
    let start = problem.start();
    fit.sigma = fit.deviations(&start)?;
    let blocks = fit.linearise(&start).map_err(failed)?;
    let cost_of = |blocks: &[Block]| -> f64 {
        blocks.iter().map(|b| fit_loss(problem).cost(&b.residuals, b.priors)).sum()
    };
    let dependences = dependent(&problem.structure, &blocks, unknowns);
    for dependence in &dependences {
        fit.held[dependence.unknown] = true;
    }
    let limits = LmOptions {
        max_iterations: problem.method.max_iterations,
        cost_tolerance: problem.method.cost_tolerance,
        step_tolerance: problem.method.step_tolerance,
    };
    let (mut p, mut iterations, mut failed_trials) = (start.clone(), 0, 0);
    let mut found = None;
    for pass in 0..PASSES {
        let one =
            minimise(&fit, LmState::new(p.clone()), &limits, &mut |_, _| {}).map_err(failed)?;
        iterations += one.state.iteration;
        failed_trials += one.state.failed_trials;
        p.clone_from(&one.state.p);
        let interrupted = one.status == Status::Interrupted;
        found = Some(one);
        let next = fit.deviations(&p)?;
        let settled = next.iter().zip(&fit.sigma).all(|(a, b)| (a / b - 1.0).abs() <= SETTLED);
        fit.sigma = next;
        if interrupted || settled || pass + 1 == PASSES {
            break;
        }
    }
    let Some(one) = found else { return Err(IdentifyError::Interrupted) };
    let blocks = fit.linearise(&p).map_err(failed)?;
    let held = fit.held.iter().zip(&one.at_bound).map(|(a, b)| *a || *b).collect();
    let names = (problem.system.model().articulation.iter()).flat_map(|a| &a.joints);
    let forces = names
        .zip(&fit.sigma)
        .enumerate()
        .map(|(i, (joint, &sigma))| (joint.name.clone(), sigma, fit.force_rms(i, &p)))
        .collect();
    let at_start = fit.linearise(&start).map_err(failed)?;
    Ok(Regression {
        cost: cost_of(&blocks),
        cost_initial: cost_of(&at_start),
        series: fit.series(),
        status: one.status,
        iterations,
        failed_trials,
        blocks,
        held,
        dependences,
        forces,
        p,
    })
}

fn fit_loss(problem: &Problem) -> Loss {
    problem.method.loss
}

fn failed(e: Failed) -> IdentifyError {
    match e {
        Failed::Interrupted => IdentifyError::Interrupted,
        Failed::Rejected(message) => {
            IdentifyError::invalid("start", format!("it cannot be evaluated: {message}"))
        }
    }
}

impl Fit<'_> {
    /// Balances of one recording, filtered and decimated: per degree of freedom the values and, column
    /// by column, their derivatives by its links.
    fn balances(
        &self,
        b: usize,
        p: &[f64],
        derivatives: bool,
    ) -> Result<Vec<Vec<Vec<f64>>>, Failed> {
        let problem = self.problem;
        let recording = &problem.recordings[problem.fitted[b]];
        let system = &problem.system;
        let rejected = |e: costate_dynamics::DynamicsError| Failed::Rejected(e.to_string());
        let (theta, _) = recording.parameters(&problem.unknowns, p);
        let c = system.derive(&theta).map_err(rejected)?;
        let mut c_dot = Vec::new();
        let columns = if derivatives { recording.links.len() } else { 0 };
        for link in &recording.links[..columns] {
            let slope = problem.unknowns[link.unknown].transform.slope(p[link.unknown]);
            let mut theta_dot = vec![0.0; theta.len()];
            for &i in &link.theta {
                theta_dot[i] = slope;
            }
            c_dot.extend(system.derive_pushforward(&theta, &c, &theta_dot));
        }
        let mut balance = Balance::new(system).map_err(rejected)?;
        let recorded = &self.recorded[b];
        let (n, dofs) = (recorded.len(), self.dofs);
        let (mut out, mut out_dot) = (vec![0.0; dofs], vec![0.0; dofs * columns]);
        let mut all = vec![vec![Vec::with_capacity(n); columns + 1]; dofs];
        for k in 0..n {
            if k % 512 == 0 && self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(Failed::Interrupted);
            }
            let motion = Motion {
                q: &recorded.q[k],
                v: &recorded.v[k],
                a: &recorded.a[k],
                u: &recorded.u[k],
            };
            balance.evaluate(&c, &c_dot, motion, &mut out, &mut out_dot);
            for i in 0..dofs {
                all[i][0].push(out[i]);
                for column in 0..columns {
                    all[i][column + 1].push(out_dot[column * dofs + i]);
                }
            }
        }
        for lists in &mut all {
            for list in lists {
                *list = self.thinned(list);
            }
        }
        Ok(all)
    }

    /// Through the second filter, decimated, without the ends, where filters know too little.
    fn thinned(&self, x: &[f64]) -> Vec<f64> {
        if self.decimate <= 1 {
            return x.to_vec();
        }
        let filter = LowPass::new(KEPT * 0.5 / self.decimate as f64);
        let trim = (3 * self.decimate).min(x.len() / 10);
        filter.run(x)[trim..x.len() - trim].iter().step_by(self.decimate).copied().collect()
    }

    fn deviations(&self, p: &[f64]) -> Result<Vec<f64>, IdentifyError> {
        let mut squares = vec![0.0; self.dofs];
        let mut count = 0usize;
        for b in 0..self.recorded.len() {
            let all = self.balances(b, p, false).map_err(failed)?;
            for (i, lists) in all.iter().enumerate() {
                squares[i] += lists[0].iter().map(|e| e * e).sum::<f64>();
            }
            count += all.first().map_or(0, |lists| lists[0].len());
        }
        let freedom = count.saturating_sub(self.problem.unknowns.len() / self.dofs.max(1)).max(1);
        let deviation = |s: f64| (s / freedom as f64).sqrt();
        Ok(squares.iter().map(|&s| deviation(s).max(f64::MIN_POSITIVE)).collect())
    }

    /// Root mean square of the force that the motors put on a degree of freedom: what is left of the balance
    /// when the motion is taken out would be its noise.
    fn force_rms(&self, dof: usize, p: &[f64]) -> f64 {
        let mut squares = 0.0;
        let mut count = 0usize;
        let still = |recorded: &Recorded| Recorded {
            step: recorded.step,
            q: recorded.q.clone(),
            v: recorded.v.iter().map(|v| vec![0.0; v.len()]).collect(),
            a: recorded.a.iter().map(|a| vec![0.0; a.len()]).collect(),
            u: recorded.u.clone(),
        };
        let at_rest = Fit {
            recorded: self.recorded.iter().map(still).collect(),
            sigma: self.sigma.clone(),
            held: self.held.clone(),
            bounds: Vec::new(),
            limits: Vec::new(),
            floors: Vec::new(),
            ..*self
        };
        for b in 0..self.recorded.len() {
            let Ok(all) = at_rest.balances(b, p, false) else { continue };
            squares += all[dof][0].iter().map(|e| e * e).sum::<f64>();
            count += all[dof][0].len();
        }
        (squares / count.max(1) as f64).sqrt()
    }

    /// Rows of each block by degree of freedom.
    fn series(&self) -> Vec<Series> {
        let mut out = Vec::new();
        for (block, recorded) in self.recorded.iter().enumerate() {
            let rows = self.thinned(&vec![0.0; recorded.len()]).len();
            for i in 0..self.dofs {
                out.push(Series { block, rows: (i * rows..(i + 1) * rows).collect() });
            }
        }
        out
    }
}

impl LeastSquares for Fit<'_> {
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
        0.0
    }
    fn residuals(&self, p: &[f64]) -> Result<Vec<(Vec<f64>, usize)>, Failed> {
        let mut parts = Vec::new();
        for b in 0..self.recorded.len() {
            let all = self.balances(b, p, false)?;
            let residuals = (all.iter().zip(&self.sigma))
                .flat_map(|(lists, sigma)| lists[0].iter().map(move |e| e / sigma))
                .collect();
            parts.push(self.problem.with_priors(b, p, residuals));
        }
        let shared = self.problem.shared_priors(p);
        parts.push((shared.residuals, shared.priors));
        Ok(parts)
    }
    fn linearise(&self, p: &[f64]) -> Result<Vec<Block>, Failed> {
        let mut blocks = Vec::new();
        for b in 0..self.recorded.len() {
            let all = self.balances(b, p, true)?;
            let rows = all.first().map_or(0, |lists| lists[0].len());
            let links = &self.problem.recordings[self.problem.fitted[b]].links;
            let mut residuals = Vec::with_capacity(rows * self.dofs);
            let mut by_link = DMatrix::zeros(rows * self.dofs, links.len());
            for (i, (lists, sigma)) in all.iter().zip(&self.sigma).enumerate() {
                residuals.extend(lists[0].iter().map(|e| e / sigma));
                for (k, (link, list)) in links.iter().zip(&lists[1..]).enumerate() {
                    if self.held[link.unknown] {
                        continue;
                    }
                    for (row, x) in list.iter().enumerate() {
                        by_link[(i * rows + row, k)] = x / sigma;
                    }
                }
            }
            blocks.push(self.problem.block(b, p, residuals, &by_link));
        }
        blocks.push(self.problem.shared_priors(p));
        Ok(blocks)
    }
}
