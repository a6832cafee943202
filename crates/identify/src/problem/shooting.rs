//! Multiple shooting: recordings cut into windows with states of their own at their starts, tied by the gaps
//! between the end of one and the start of the next (Bock, *Recent advances in parameter identification
//! techniques for O.D.E.*, 1983).

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use costate_dynamics::rollout::{Observer, Run, Seeds};
use costate_dynamics::{Constants, DynamicsError, System};
use costate_model::State;
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::bind::Problem;
use super::fit::{FitProblem, failed};
use super::recording::BoundRecording;
use crate::error::IdentifyError;
use crate::least_squares::{
    Block, Chained, Chains, Failed, LeastSquares, Loss, Picture, Structure,
};

/// States with more numbers than this are not cut free.
const MOST_NUMBERS: usize = 300;

/// How the fitted recordings are cut, and how large their states' numbers are.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// Per fitted recording, the steps of each window.
    pub steps: Vec<Vec<Range<usize>>>,
    /// Per fitted recording, the size of each number of a state: positions, velocities, activations.
    pub sizes: Vec<Vec<f64>>,
    chains: Chains,
}

impl Windows {
    /// Cuts the fitted recordings into windows of about `length` seconds.
    ///
    /// # Errors
    /// Systems whose states cannot be cut free: with orientations among their coordinates, with
    /// controllers that remember, or too large.
    pub fn new(
        problem: &Problem,
        length: f64,
        sizes: Vec<Vec<f64>>,
    ) -> Result<Self, IdentifyError> {
        let system = &*problem.system;
        let refuse = |what: String| Err(IdentifyError::invalid("method.shooting", what));
        if system.position_len() != system.dof() {
            return refuse(
                "the states of free and ball joints cannot be cut into windows; leave `shooting` out".into(),
            );
        }
        let own = system.articulated().map_or(0, |a| a.tree().na);
        if system.activation_len() > own {
            return refuse(
                "a controller or drive that remembers (held, delayed or earlier values, bristles, play) cannot \
                 be cut into windows; leave `shooting` out"
                    .into(),
            );
        }
        let n = state_len(system);
        if n > MOST_NUMBERS {
            return refuse(format!(
                "a state has {n} numbers, more than the {MOST_NUMBERS} that windows may start from; leave \
                 `shooting` out"
            ));
        }
        let each = (length / system.timestep()).round().max(1.0) as usize;
        let mut steps = Vec::new();
        let mut states = Vec::new();
        let mut at = problem.structure.len();
        for &r in &problem.fitted {
            let total = problem.recordings[r].steps();
            let count = ((total as f64 / each as f64).round() as usize).max(1);
            let cut = |w: usize| w * total / count;
            steps.push((0..count).map(|w| cut(w)..cut(w + 1)).collect());
            let first = at;
            at += (count - 1) * n;
            states.push((0..count - 1).map(|w| first + w * n..first + (w + 1) * n).collect());
        }
        // The last block holds priors of shared unknowns.
        states.push(Vec::new());
        let chains = Chains { outer: problem.structure.clone(), states };
        Ok(Self { steps, sizes, chains })
    }

    /// Where the state at the start of window `w` > 0 of fitted recording `b` lies among all unknowns.
    pub fn state(&self, b: usize, w: usize) -> Range<usize> {
        self.chains.states[b][w - 1].clone()
    }

    /// Number of all unknowns, states included.
    pub fn len(&self) -> usize {
        self.chains.len()
    }
}

/// How many numbers a state has.
fn state_len(system: &System) -> usize {
    2 * system.dof() + system.activation_len()
}

/// A state from its numbers, at the start of `step`.
fn unpack(system: &System, x: &[f64], step: usize) -> State {
    let n = system.dof();
    State {
        time: step as f64 * system.timestep(),
        q: x[..n].to_vec(),
        v: x[n..2 * n].to_vec(),
        act: x[2 * n..].to_vec(),
    }
}

/// The numbers of a state.
fn pack(state: &State) -> Vec<f64> {
    [&*state.q, &*state.v, &*state.act].concat()
}

/// What all windows of a recording have in common.
pub(crate) struct Prepared<'a> {
    pub system: &'a System,
    pub recording: &'a BoundRecording,
    pub constants: Constants,
    pub observer: Vec<f64>,
    theta: Vec<f64>,
}

/// A window's end, its samples with their values, and their derivatives by the links and by the state at its
/// start.
pub(crate) struct Shot {
    pub samples: Vec<usize>,
    pub y: Vec<f64>,
    pub end: Vec<f64>,
    /// Samples by columns; empty without derivatives.
    pub y_dot: DMatrix<f64>,
    /// Numbers of the end by columns.
    pub end_dot: DMatrix<f64>,
}

/// A window by its recording among the fitted ones and its number, and its shot.
type Placed = ((usize, usize), Shot);

impl<'a> Prepared<'a> {
    pub fn new(problem: &'a Problem, r: usize, p: &[f64]) -> Result<Self, DynamicsError> {
        let (system, recording) = (&*problem.system, &problem.recordings[r]);
        let (theta, observer) = recording.parameters(&problem.unknowns, p);
        let constants = system.derive(&theta)?;
        Ok(Self { system, recording, constants, observer, theta })
    }

    fn run<'b>(&'b self, fit: &FitProblem<'b>, initial: Option<&'b State>) -> Run<'b> {
        let run = Run::new(self.system, &self.constants, &self.recording.inputs);
        Run { interrupt: fit.interrupt(), initial, ..run }
    }

    /// The numbers of the state where the recording starts.
    pub fn start(&self, fit: &FitProblem) -> Vec<f64> {
        pack(&self.run(fit, None).start())
    }

    fn samples(y: &[f64]) -> Vec<usize> {
        (0..y.len()).filter(|&i| !y[i].is_nan()).collect()
    }

    /// Simulates the steps of a window from a state, or from where the recording starts.
    pub fn shoot(
        &self,
        fit: &FitProblem,
        steps: Range<usize>,
        start: Option<&[f64]>,
    ) -> Result<Shot, DynamicsError> {
        let state = start.map(|x| unpack(self.system, x, steps.start));
        let observer = &self.recording.observer;
        let mut y = vec![f64::NAN; observer.len()];
        let run = self.run(fit, state.as_ref());
        let end = run.observe_over(steps, observer, &self.observer, &mut y)?;
        let samples = Self::samples(&y);
        let none = DMatrix::zeros(0, 0);
        let y = samples.iter().map(|&i| y[i]).collect();
        Ok(Shot { samples, y, end: pack(&end), y_dot: none.clone(), end_dot: none })
    }

    /// Directions of the linked unknowns.
    pub fn seeds(&self, fit: &FitProblem, p: &[f64]) -> Seeds {
        let (run, unknowns) = (self.run(fit, None), &fit.problem.unknowns);
        self.recording.seeds(&run, unknowns, p, &self.theta, &self.observer)
    }

    /// As [`shoot`](Self::shoot), with derivatives: by the seeds' columns, then by the state given.
    pub fn linearise(
        &self,
        fit: &FitProblem,
        steps: Range<usize>,
        start: Option<&[f64]>,
        seeds: &Seeds,
    ) -> Result<Shot, DynamicsError> {
        let state = start.map(|x| unpack(self.system, x, steps.start));
        let observer = &self.recording.observer;
        let mut y = vec![f64::NAN; observer.len()];
        let run = self.run(fit, state.as_ref());
        let mut seeds = seeds.clone();
        if state.is_some() {
            let links = seeds.columns;
            seeds.columns += state_len(self.system);
            seeds.c.resize(seeds.columns * self.constants.values.len(), 0.0);
            seeds.p.resize(seeds.columns * self.observer.len(), 0.0);
            let mut initial = self.system.zero_tangents(seeds.columns);
            let (n, na) = (self.system.dof(), self.system.activation_len());
            for i in 0..n {
                initial.q[(links + i) * n + i] = 1.0;
                initial.v[(links + n + i) * n + i] = 1.0;
            }
            for i in 0..na {
                initial.act[(links + 2 * n + i) * na + i] = 1.0;
            }
            seeds.initial = Some(initial);
        }
        let part = run.sensitivities_over(steps, observer, &self.observer, &seeds, &[], &mut y)?;
        let samples = Self::samples(&y);
        let (n, na, all) = (self.system.dof(), self.system.activation_len(), observer.len());
        let tangents = &part.end_tangents;
        let end_dot = DMatrix::from_fn(2 * n + na, seeds.columns, |i, k| match i {
            i if i < n => tangents.q[k * n + i],
            i if i < 2 * n => tangents.v[k * n + i - n],
            i => tangents.act[k * na + i - 2 * n],
        });
        let y_dot = DMatrix::from_fn(samples.len(), seeds.columns, |row, k| {
            part.y_dot[k * all + samples[row]]
        });
        let y = samples.iter().map(|&i| y[i]).collect();
        Ok(Shot { samples, y, end: pack(&part.end), y_dot, end_dot })
    }
}

/// The fit of a problem by windows, at one tolerance of the gaps.
pub(crate) struct ShootingFit<'a> {
    pub fit: FitProblem<'a>,
    pub windows: &'a Windows,
    /// σ of a gap, as a share of the size of the state's number.
    pub tolerance: f64,
    bounds: Vec<(f64, f64)>,
    limits: Vec<f64>,
    floors: Vec<f64>,
    /// Sizes of all numbers of all states.
    sizes: Vec<f64>,
    shots: AtomicUsize,
}

impl<'a> ShootingFit<'a> {
    pub fn new(fit: FitProblem<'a>, windows: &'a Windows, tolerance: f64) -> Self {
        let sizes: Vec<f64> = windows
            .steps
            .iter()
            .zip(&windows.sizes)
            .flat_map(|(steps, sizes)| sizes.repeat(steps.len() - 1))
            .collect();
        let extended = |own: &[f64], rest: f64| {
            let mut all = own.to_vec();
            all.resize(windows.len(), rest);
            all
        };
        let mut bounds = fit.bounds().to_vec();
        bounds.resize(windows.len(), (f64::NEG_INFINITY, f64::INFINITY));
        let limits = extended(fit.step_limits(), f64::INFINITY);
        let mut floors = fit.floors().to_vec();
        floors.extend(&sizes);
        let shots = AtomicUsize::new(0);
        Self { fit, windows, tolerance, bounds, limits, floors, sizes, shots }
    }

    /// Windows simulated so far, as recordings.
    pub fn runs(&self) -> usize {
        let windows: usize = self.windows.steps.iter().map(Vec::len).sum();
        self.shots.load(Ordering::Relaxed).div_ceil(windows.max(1)) * self.windows.steps.len()
    }

    /// Every window: its recording among the fitted ones, and its number.
    fn tasks(&self) -> Vec<(usize, usize)> {
        let counts = self.windows.steps.iter().map(Vec::len).enumerate();
        counts.flat_map(|(b, count)| (0..count).map(move |w| (b, w))).collect()
    }

    fn prepared(&self, p: &[f64]) -> Result<Vec<Prepared<'a>>, Failed> {
        let problem = self.fit.problem;
        let each = problem.fitted.iter().map(|&r| Prepared::new(problem, r, p));
        each.collect::<Result<_, _>>().map_err(|e| failed(&e))
    }

    fn start<'b>(&self, p: &'b [f64], b: usize, w: usize) -> Option<&'b [f64]> {
        (w > 0).then(|| &p[self.windows.state(b, w)])
    }

    /// Whitened residuals of a window: its data, then its gap and, in the first one, priors.
    fn whitened(&self, p: &[f64], b: usize, w: usize, shot: &Shot) -> (Vec<f64>, usize) {
        let problem = self.fit.problem;
        let recording = &problem.recordings[problem.fitted[b]];
        let mut out: Vec<f64> = (shot.samples.iter().zip(&shot.y))
            .map(|(&i, &y)| recording.difference(i, y) / self.fit.sigma[b][i])
            .collect();
        let data = out.len();
        if w + 1 < self.windows.steps[b].len() {
            let next = &p[self.windows.state(b, w + 1)];
            for ((end, next), size) in shot.end.iter().zip(next).zip(&self.windows.sizes[b]) {
                out.push((end - next) / (self.tolerance * size));
            }
        }
        if w == 0 {
            let own = self.fit.problem.priors(problem.structure.local_range(b), p);
            out.extend(own.iter().map(|x| x.1));
        }
        let priors = out.len() - data;
        (out, priors)
    }

    fn block(&self, p: &[f64], b: usize, w: usize, shot: &Shot) -> Block {
        let problem = self.fit.problem;
        let recording = &problem.recordings[problem.fitted[b]];
        let (residuals, priors) = self.whitened(p, b, w, shot);
        let columns: Vec<usize> = self.windows.chains.columns(b, w).collect();
        let mut jacobian = DMatrix::zeros(residuals.len(), columns.len());
        let data = shot.samples.len();
        let last = w + 1 == self.windows.steps[b].len();
        let sizes = &self.windows.sizes[b];
        let gap = |j: usize| self.tolerance * sizes[j];
        let mut fill = |at: usize, k: usize| {
            for (row, &i) in shot.samples.iter().enumerate() {
                jacobian[(row, at)] = shot.y_dot[(row, k)] / self.fit.sigma[b][i];
            }
            for j in 0..if last { 0 } else { sizes.len() } {
                jacobian[(data + j, at)] = shot.end_dot[(j, k)] / gap(j);
            }
        };
        let links = recording.links.len();
        let before = if w == 0 { 0 } else { sizes.len() };
        for j in 0..before {
            fill(j, links + j);
        }
        let outer = self.fit.problem.structure.len();
        for (k, link) in recording.links.iter().enumerate() {
            let Some(at) = columns.iter().position(|&c| c == link.unknown && c < outer) else {
                continue;
            };
            fill(at, k);
        }
        if !last {
            for j in 0..sizes.len() {
                jacobian[(data + j, before + j)] = -1.0 / gap(j);
            }
        }
        if w == 0 {
            let own = self.fit.problem.priors(problem.structure.local_range(b), p);
            let first = residuals.len() - own.len();
            for (j, &(unknown, _, slope)) in own.iter().enumerate() {
                if let Some(at) = columns.iter().position(|&c| c == unknown) {
                    jacobian[(first + j, at)] = slope;
                }
            }
        }
        Block { residuals, jacobian, priors }
    }

    fn shots(&self, p: &[f64], derivatives: bool) -> Result<Vec<Placed>, Failed> {
        let prepared = self.prepared(p)?;
        let seeds: Vec<Seeds> = if derivatives {
            prepared.par_iter().map(|one| one.seeds(&self.fit, p)).collect()
        } else {
            Vec::new()
        };
        self.tasks()
            .into_par_iter()
            .map(|(b, w)| {
                self.shots.fetch_add(1, Ordering::Relaxed);
                let (steps, start) = (self.windows.steps[b][w].clone(), self.start(p, b, w));
                let shot = match seeds.get(b) {
                    Some(seeds) => prepared[b].linearise(&self.fit, steps, start, seeds),
                    None => prepared[b].shoot(&self.fit, steps, start),
                };
                Ok(((b, w), shot.map_err(|e| failed(&e))?))
            })
            .collect()
    }

    /// Predicted value of every sample of every fitted recording, and the largest gap, as a share of the
    /// state's size.
    pub fn predict(&self, p: &[f64]) -> Result<(Vec<Vec<f64>>, f64), Failed> {
        let problem = self.fit.problem;
        let length = |&r: &usize| problem.recordings[r].measured.len();
        let mut y: Vec<Vec<f64>> =
            problem.fitted.iter().map(|r| vec![f64::NAN; length(r)]).collect();
        let mut largest = 0.0f64;
        for ((b, w), shot) in self.shots(p, false)? {
            for (&i, &value) in shot.samples.iter().zip(&shot.y) {
                y[b][i] = value;
            }
            if w + 1 < self.windows.steps[b].len() {
                let next = &p[self.windows.state(b, w + 1)];
                for ((end, next), size) in shot.end.iter().zip(next).zip(&self.windows.sizes[b]) {
                    largest = largest.max((end - next).abs() / size);
                }
            }
        }
        Ok((y, largest))
    }

    /// The linearisation with the states following the other unknowns, as the blocks of the problem without
    /// windows: samples in their order, gaps and priors behind them.
    pub fn condensed(&self, p: &[f64]) -> Result<Vec<Block>, Failed> {
        let shots = self.shots(p, true)?;
        let blocks: Vec<Block> =
            shots.iter().map(|((b, w), shot)| self.block(p, *b, *w, shot)).collect();
        let mut all = blocks.clone();
        all.push(self.fit.problem.shared_priors(p));
        let picture = Chained::new(&self.windows.chains, &all, self.loss(), &self.sizes);
        let mut out = Vec::new();
        let mut next = shots.iter().zip(&blocks).peekable();
        for (b, &r) in self.fit.problem.fitted.iter().enumerate() {
            let following = picture.following(b);
            let width = self.fit.problem.structure.columns(b).count();
            let samples = self.fit.problem.recordings[r].measured.len();
            let (mut residuals, mut jacobian) =
                (vec![0.0; samples], DMatrix::zeros(samples, width));
            let mut behind: Vec<(f64, DMatrix<f64>)> = Vec::new();
            while let Some((((_, w), shot), block)) = next.next_if(|(((own, _), _), _)| *own == b) {
                let n = self.windows.sizes[b].len();
                let before = if *w == 0 { 0 } else { n };
                let after = if following.len() > *w { n } else { 0 };
                let mut total = block.jacobian.columns(before + after, width).into_owned();
                if before > 0 {
                    total += block.jacobian.columns(0, n) * &following[w - 1];
                }
                if after > 0 {
                    total += block.jacobian.columns(before, n) * &following[*w];
                }
                for (row, &residual) in block.residuals.iter().enumerate() {
                    match shot.samples.get(row) {
                        Some(&i) => {
                            residuals[i] = residual;
                            jacobian.set_row(i, &total.row(row));
                        }
                        None => behind.push((residual, total.rows(row, 1).into_owned())),
                    }
                }
            }
            let priors = behind.len();
            let mut whole = jacobian.resize_vertically(samples + priors, 0.0);
            for (j, (residual, row)) in behind.into_iter().enumerate() {
                residuals.push(residual);
                whole.set_row(samples + j, &row.row(0));
            }
            out.push(Block { residuals, jacobian: whole, priors });
        }
        out.push(self.fit.problem.shared_priors(p));
        Ok(out)
    }
}

impl LeastSquares for ShootingFit<'_> {
    fn structure(&self) -> &Structure {
        &self.windows.chains.outer
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
        self.fit.loss()
    }
    fn data_norm2(&self) -> f64 {
        self.fit.data_norm2()
    }
    fn residuals(&self, p: &[f64]) -> Result<Vec<(Vec<f64>, usize)>, Failed> {
        let shots = self.shots(p, false)?;
        let mut out: Vec<_> =
            shots.iter().map(|((b, w), shot)| self.whitened(p, *b, *w, shot)).collect();
        let shared = self.fit.problem.shared_priors(p);
        out.push((shared.residuals, shared.priors));
        Ok(out)
    }
    fn linearise(&self, p: &[f64]) -> Result<Vec<Block>, Failed> {
        let shots = self.shots(p, true)?;
        let mut out: Vec<Block> =
            shots.iter().map(|((b, w), shot)| self.block(p, *b, *w, shot)).collect();
        out.push(self.fit.problem.shared_priors(p));
        if out.iter().all(|b| b.residuals.iter().all(|r| r.is_finite())) {
            Ok(out)
        } else {
            Err(Failed::Rejected("a residual is not finite".into()))
        }
    }
    fn picture(&self, blocks: &[Block]) -> Box<dyn Picture> {
        Box::new(Chained::new(&self.windows.chains, blocks, self.loss(), &self.sizes))
    }
}
